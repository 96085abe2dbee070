// SPDX-License-Identifier: MIT
// c = a b, row by row, in tiles of TILE x TILE that lie in local memory, of which the host says the
// size; the order of the sums is k upwards.
#ifndef TILE
#define TILE 8
#endif

__kernel void matmul(__global const float* a, __global const float* b, __global float* c, int m, int n, int k, __local float* left,
                     __local float* right) {
    const int column = get_global_id(0), row = get_global_id(1);
    const int x = get_local_id(0), y = get_local_id(1);
    float sum = 0;
    for (int begin = 0; begin < k; begin += TILE) {
        left[y * TILE + x] = row < m && begin + x < k ? a[row * k + begin + x] : 0;
        right[y * TILE + x] = column < n && begin + y < k ? b[(begin + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < TILE; ++i) sum = fma(left[y * TILE + i], right[i * TILE + x], sum);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
