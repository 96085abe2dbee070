// SPDX-License-Identifier: MIT
// Sparse matrix times vector, compressed rows: first a thread per row, then a warp per row. A launch
// before makes the matrix, with rows of very different lengths.

__device__ __forceinline__ unsigned mix(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

// Row r takes places [starts[r], starts[r + 1]) of the `slots` columns dealt to 32 rows.
extern "C" __global__ void spmv_make(int* starts, int* columns, double* values, int rows, int slots) {
    __shared__ int lengths[32];
    const int r = blockIdx.x * 32 + threadIdx.x;
    const unsigned kind = mix(r) & 7;
    int length = kind == 0 ? 0 : kind == 1 ? slots / 32 * 2 : (int)(mix(r + 77) % (slots / 32));
    lengths[threadIdx.x] = length;
    __syncwarp();
    int first = 0;
    for (int i = 0; i < (int)threadIdx.x; ++i) first += lengths[i];
    const int room = slots - first;
    length = room < 0 ? 0 : min(length, room);
    first = blockIdx.x * slots + min(first, slots);
    starts[2 * r] = first;
    starts[2 * r + 1] = first + length;
    for (int i = 0; i < length; ++i) {
        columns[first + i] = mix(r * 131 + i) % rows;
        values[first + i] = (double)(int)(mix(r * 977 + i) & 0xffff) / 256.0 - 128.0;
    }
}

extern "C" __global__ void spmv_thread(const int* starts, const int* columns, const double* values, const double* x, double* y, int rows) {
    const int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double sum = 0;
    for (int i = starts[2 * r]; i < starts[2 * r + 1]; ++i) sum = fma(values[i], x[columns[i]], sum);
    y[r] = sum;
}

extern "C" __global__ void spmv_warp(const int* starts, const int* columns, const double* values, const double* x, double* y, int rows) {
    const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const int2 range = ((const int2*)starts)[r];
    double sum = 0;
    for (int i = range.x + lane; i < range.y; i += 32) sum += __ldg(&values[i]) * __ldg(&x[__ldg(&columns[i])]);
    for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) y[r] = sum;
}
