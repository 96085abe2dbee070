// SPDX-License-Identifier: MIT
// C = α·A·B + β·C: tiles of 64×16 and 16×64 in shared memory, 4×4 elements per thread in registers, the
// factor A turned while it is stored, so that both are read by rows.
#include "portable.h"

#define SIDE 64
#define DEPTH 16

KERNEL(16, 16, 1) sgemm(GLOBAL const float* a, GLOBAL const float* b, GLOBAL float* c, int n, int k, float alpha, float beta ROOM) {
    SHARED float as[DEPTH][SIDE + 1];
    SHARED float bs[DEPTH][SIDE];
    const int tx = LOCAL_X, ty = LOCAL_Y, t = ty * 16 + tx;
    const int row0 = GROUP_Y * SIDE, column0 = GROUP_X * SIDE;
    float sum[4][4];
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) sum[y][x] = 0;
    }
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        UNROLL for (int i = 0; i < 4; ++i) {
            const int e = t + 256 * i;
            as[e % DEPTH][e / DEPTH] = a[(row0 + e / DEPTH) * k + k0 + e % DEPTH];
            bs[e / SIDE][e % SIDE] = b[(k0 + e / SIDE) * n + column0 + e % SIDE];
        }
        BARRIER();
        UNROLL for (int i = 0; i < DEPTH; ++i) {
            float left[4], right[4];
            UNROLL for (int y = 0; y < 4; ++y) left[y] = as[i][ty + 16 * y];
            UNROLL for (int x = 0; x < 4; ++x) right[x] = bs[i][tx + 16 * x];
            UNROLL for (int y = 0; y < 4; ++y) {
                UNROLL for (int x = 0; x < 4; ++x) sum[y][x] = FMA(left[y], right[x], sum[y][x]);
            }
        }
        BARRIER();
    }
    UNROLL for (int y = 0; y < 4; ++y) {
        UNROLL for (int x = 0; x < 4; ++x) {
            const int at = (row0 + ty + 16 * y) * n + column0 + tx + 16 * x;
            c[at] = FMA(alpha, sum[y][x], beta * c[at]);
        }
    }
}
