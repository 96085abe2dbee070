// SPDX-License-Identifier: MIT
// C = A·B with 8×8 elements per thread: tiles of 128×8 and 8×128 in shared memory, moved and read four
// words at a time; the next tile is fetched into registers while one is multiplied.
#include "portable.h"

#define SIDE 128
#define DEPTH 8

// A is turned: k×m. All sizes are multiples of the tile's.
KERNEL(256, 1, 1) matmul_blocked(GLOBAL const float4* a, GLOBAL const float4* b, GLOBAL float4* c, int m, int n, int k ROOM) {
    SHARED float4 as[DEPTH][SIDE / 4];
    SHARED float4 bs[DEPTH][SIDE / 4];
    const int t = LOCAL_X, tx = t % 16, ty = t / 16;
    const int row0 = GROUP_Y * SIDE, column0 = GROUP_X * SIDE;
    const int from_a = (t / 32) * (m / 4) + row0 / 4 + t % 32, from_b = (t / 32) * (n / 4) + column0 / 4 + t % 32;
    float sum[8][8];
    UNROLL for (int y = 0; y < 8; ++y) {
        UNROLL for (int x = 0; x < 8; ++x) sum[y][x] = 0;
    }
    float4 next_a = a[from_a], next_b = b[from_b];
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        as[t / 32][t % 32] = next_a;
        bs[t / 32][t % 32] = next_b;
        BARRIER();
        if (k0 + DEPTH < k) {
            next_a = a[from_a + (k0 + DEPTH) * (m / 4)];
            next_b = b[from_b + (k0 + DEPTH) * (n / 4)];
        }
        UNROLL for (int i = 0; i < DEPTH; ++i) {
            const float4 l0 = as[i][ty], l1 = as[i][ty + 16], r0 = bs[i][tx], r1 = bs[i][tx + 16];
            const float left[8] = {l0.x, l0.y, l0.z, l0.w, l1.x, l1.y, l1.z, l1.w};
            const float right[8] = {r0.x, r0.y, r0.z, r0.w, r1.x, r1.y, r1.z, r1.w};
            UNROLL for (int y = 0; y < 8; ++y) {
                UNROLL for (int x = 0; x < 8; ++x) sum[y][x] = FMA(left[y], right[x], sum[y][x]);
            }
        }
        BARRIER();
    }
    UNROLL for (int y = 0; y < 8; ++y) {
        const int row = row0 + ty * 4 + y % 4 + y / 4 * 64;
        c[row * (n / 4) + column0 / 4 + tx] = FLOAT4(sum[y][0], sum[y][1], sum[y][2], sum[y][3]);
        c[row * (n / 4) + column0 / 4 + tx + 16] = FLOAT4(sum[y][4], sum[y][5], sum[y][6], sum[y][7]);
    }
}
