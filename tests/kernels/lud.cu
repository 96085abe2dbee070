// SPDX-License-Identifier: MIT
// LU decomposition in place, tile by tile (Rodinia's way): the tile on the diagonal, then its row and
// column, then all that is left.

#define B 16

extern "C" __global__ void lud_diagonal(float* m, int n, int at) {
    __shared__ float s[B][B];
    const int t = threadIdx.x;
    float* tile = m + at * n + at;
    for (int i = 0; i < B; ++i) s[i][t] = tile[i * n + t];
    __syncthreads();
    for (int i = 0; i < B - 1; ++i) {
        if (t > i) {
            for (int j = 0; j < i; ++j) s[t][i] -= s[t][j] * s[j][i];
            s[t][i] /= s[i][i];
        }
        __syncthreads();
        if (t > i) {
            for (int j = 0; j < i + 1; ++j) s[i + 1][t] -= s[i + 1][j] * s[j][t];
        }
        __syncthreads();
    }
    for (int i = 1; i < B; ++i) tile[i * n + t] = s[i][t];
}

extern "C" __global__ void lud_perimeter(float* m, int n, int at) {
    __shared__ float diagonal[B][B], row[B][B], column[B][B];
    const int t = threadIdx.x % B, right = at + (blockIdx.x + 1) * B;
    const bool is_row = threadIdx.x < B;
    for (int i = is_row ? 0 : B / 2; i < (is_row ? B / 2 : B); ++i) diagonal[i][t] = m[(at + i) * n + at + t];
    for (int i = 0; i < B; ++i) {
        if (is_row) {
            row[i][t] = m[(at + i) * n + right + t];
        } else {
            column[i][t] = m[(right + i) * n + at + t];
        }
    }
    __syncthreads();
    if (is_row) {
        for (int i = 1; i < B; ++i) {
            for (int j = 0; j < i; ++j) row[i][t] -= diagonal[i][j] * row[j][t];
        }
    } else {
        for (int i = 0; i < B; ++i) {
            for (int j = 0; j < i; ++j) column[t][i] -= column[t][j] * diagonal[j][i];
            column[t][i] /= diagonal[i][i];
        }
    }
    __syncthreads();
    for (int i = 0; i < B; ++i) {
        if (is_row) {
            m[(at + i) * n + right + t] = row[i][t];
        } else {
            m[(right + i) * n + at + t] = column[i][t];
        }
    }
}

extern "C" __global__ void lud_internal(float* m, int n, int at) {
    __shared__ float row[B][B], column[B][B];
    const int x = threadIdx.x, y = threadIdx.y;
    const int gx = at + (blockIdx.x + 1) * B + x, gy = at + (blockIdx.y + 1) * B + y;
    row[y][x] = m[(at + y) * n + gx];
    column[y][x] = m[gy * n + at + x];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int i = 0; i < B; ++i) sum += column[y][i] * row[i][x];
    m[gy * n + gx] -= sum;
}
