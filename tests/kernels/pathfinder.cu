// SPDX-License-Identifier: MIT
// The cheapest way down a grid (Rodinia's pathfinder): a group does several rows at once, on a strip
// that loses a cell on either side per row.

#define STRIP 256

extern "C" __global__ void pathfinder(const int* wall, const int* before, int* after, int columns, int rows, int first_row) {
    __shared__ int now[STRIP], next[STRIP];
    const int t = threadIdx.x, border = rows;
    const int x = blockIdx.x * (STRIP - 2 * border) - border + t;
    const bool inside = x >= 0 && x < columns;
    const int left = x > 0 ? max(t - 1, 0) : t, right = x < columns - 1 ? min(t + 1, STRIP - 1) : t;
    now[t] = inside ? before[x] : 0;
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < rows; ++i) {
        computed = inside && t > i && t < STRIP - 1 - i;
        if (computed) next[t] = min(now[t], min(now[left], now[right])) + wall[(first_row + i) * columns + x];
        __syncthreads();
        if (i == rows - 1) break;
        if (computed) now[t] = next[t];
        __syncthreads();
    }
    if (computed) after[x] = next[t];
}
