// SPDX-License-Identifier: MIT
// The sum of many floats in two launches: a tree in dynamic shared memory, its last steps by
// shuffles within a warp. The order of the additions is fixed, so the sum's bits are.

__device__ float sum_of_warp(float value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

extern "C" __global__ void reduce_sum(const float* in, float* out, int n) {
    extern __shared__ float part[];
    const int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    part[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half >= 32; half >>= 1) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        sum = sum_of_warp(part[t]);
        if (t == 0) out[blockIdx.x] = sum;
    }
}
