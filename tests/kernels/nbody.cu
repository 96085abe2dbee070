// SPDX-License-Identifier: MIT
// Gravity between all pairs of bodies: positions pass through shared memory tile by tile, eight to a
// step. The root and the division are the correctly rounded ones.

#define TILE 64

extern "C" __global__ void nbody(const float4* position, float4* acceleration, float softening, int n) {
    __shared__ float4 tile[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const float4 own = i < n ? position[i] : make_float4(0, 0, 0, 0);
    float3 a = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += TILE) {
        const int j = first + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float square = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, softening)));
            const float pull = other.w / (square * sqrtf(square));
            a.x = fmaf(dx, pull, a.x);
            a.y = fmaf(dy, pull, a.y);
            a.z = fmaf(dz, pull, a.z);
        }
        __syncthreads();
    }
    if (i < n) acceleration[i] = make_float4(a.x, a.y, a.z, own.w);
}
