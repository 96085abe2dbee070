// SPDX-License-Identifier: MIT
// C = A·B with a tile of 16×16 of each factor in shared memory and a thread per element of C. Sizes need
// not be multiples of the tile.
#include "portable.h"

#define TILE 16

KERNEL(16, 16, 1) matmul_tiled(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* c, int m, int n, int k ROOM) {
    SHARED float as[TILE][TILE];
    SHARED float bs[TILE][TILE];
    const int tx = LOCAL_X, ty = LOCAL_Y, row = GLOBAL_Y, column = GLOBAL_X;
    float sum = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        as[ty][tx] = row < m && k0 + tx < k ? a[row * k + k0 + tx] : 0.0f;
        bs[ty][tx] = k0 + ty < k && column < n ? b[(k0 + ty) * n + column] : 0.0f;
        BARRIER();
        UNROLL for (int i = 0; i < TILE; ++i) sum = FMA(as[ty][i], bs[i][tx], sum);
        BARRIER();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
