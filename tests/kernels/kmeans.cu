// SPDX-License-Identifier: MIT
// k-means over whole-number points: each thread finds its nearest centre, sums go into shared and
// then global memory by atomics (exact), and a launch between makes the new centres.

#define K 8
#define D 4

extern "C" __global__ void kmeans_assign(const short* points, const float* centres, int* nearest, int* sums, int* counts, int n) {
    __shared__ float c[K][D];
    __shared__ int part[K][D + 1];
    const int t = threadIdx.x;
    if (t < K * D) c[t / D][t % D] = centres[t];
    for (int i = t; i < K * (D + 1); i += blockDim.x) part[i / (D + 1)][i % (D + 1)] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        const short4 p = ((const short4*)points)[i];
        int best = 0;
        float least = 3.0e38f;
        for (int k = 0; k < K; ++k) {
            const float dx = p.x - c[k][0], dy = p.y - c[k][1], dz = p.z - c[k][2], dw = p.w - c[k][3];
            const float distance = dx * dx + dy * dy + dz * dz + dw * dw;
            if (distance < least) {
                least = distance;
                best = k;
            }
        }
        nearest[i] = best;
        atomicAdd(&part[best][0], (int)p.x);
        atomicAdd(&part[best][1], (int)p.y);
        atomicAdd(&part[best][2], (int)p.z);
        atomicAdd(&part[best][3], (int)p.w);
        atomicAdd(&part[best][D], 1);
    }
    __syncthreads();
    if (t < K) {
        for (int d = 0; d < D; ++d) atomicAdd(&sums[t * D + d], part[t][d]);
        atomicAdd(&counts[t], part[t][D]);
    }
}

extern "C" __global__ void kmeans_update(float* centres, int* sums, int* counts) {
    const int i = threadIdx.x, count = counts[i / D];
    if (count > 0) centres[i] = (float)sums[i] / (float)count;
    __syncthreads();
    sums[i] = 0;
    if (i % D == 0) counts[i / D] = 0;
}
