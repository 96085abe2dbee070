// SPDX-License-Identifier: MIT
// A layer of a quantised network: 3×3 convolution over four channels of bytes by dot products of four
// bytes, scaled, rounded and cut to bytes again; then the largest of each 2×2.

#define SIDE 16

extern "C" __global__ void quantised_layer(const int* image, const int* weights, const float* scales, signed char* out, int width, int height) {
    __shared__ int tile[SIDE + 2][SIDE + 2];
    const int x0 = blockIdx.x * SIDE, y0 = blockIdx.y * SIDE, filter = blockIdx.z;
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < (SIDE + 2) * (SIDE + 2); i += SIDE * SIDE) {
        const int x = x0 + i % (SIDE + 2) - 1, y = y0 + i / (SIDE + 2) - 1;
        tile[i / (SIDE + 2)][i % (SIDE + 2)] = x >= 0 && x < width && y >= 0 && y < height ? image[y * width + x] : 0;
    }
    __syncthreads();
    int sum = 64;
#pragma unroll
    for (int k = 0; k < 9; ++k) sum = __dp4a(tile[threadIdx.y + k / 3][threadIdx.x + k % 3], weights[filter * 9 + k], sum);
    const unsigned magnitude = __dp4a(0x01020304u, (unsigned)sum, 7u) & 3;
    const int pairs = __dp2a_lo(tile[threadIdx.y][threadIdx.x], sum, (int)magnitude);
    float scaled = fminf(fmaxf((float)sum * scales[filter], -128.0f), 127.0f);
    int result = __float2int_rn(scaled);
    if (result < 0) result = result / 8 + (pairs & 1);
    // The largest of four neighbours.
    result = max(result, __shfl_xor_sync(0xffffffffu, result, 1));
    result = max(result, __shfl_xor_sync(0xffffffffu, result, SIDE));
    if (((threadIdx.x | threadIdx.y) & 1) == 0) {
        const int x = (x0 + threadIdx.x) / 2, y = (y0 + threadIdx.y) / 2;
        if (x < width / 2 && y < height / 2) out[(filter * (height / 2) + y) * (width / 2) + x] = (signed char)min(max(result, -128), 127);
    }
}
