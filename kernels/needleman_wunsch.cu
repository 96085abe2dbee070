// SPDX-License-Identifier: MIT
// Needleman-Wunsch: alignment scores of two sequences. A launch computes one diagonal of 16×16 tiles, a
// group one tile in shared memory, along its diagonals: 31 steps with a barrier each, 1 to 16 threads.
#include "portable.h"

#define TILE 16

// Tiles (x, diagonal - x) for x from `first` on. Row and column 0 of `score` are there before.
KERNEL(16, 1, 1) nw_kernel1(GLOBAL const int* similarity, GLOBAL int* score, int columns, int penalty, int diagonal, int first ROOM) {
    SHARED int s[TILE + 1][TILE + 1];
    SHARED int alike[TILE][TILE];
    const int t = LOCAL_X, tile_x = first + GROUP_X, tile_y = diagonal - tile_x;
    const int corner = columns * TILE * tile_y + TILE * tile_x;
    if (t == 0) s[0][0] = score[corner];
    for (int y = 0; y < TILE; ++y) alike[y][t] = similarity[corner + columns * (y + 1) + t + 1];
    BARRIER();
    s[t + 1][0] = score[corner + columns * (t + 1)];
    s[0][t + 1] = score[corner + t + 1];
    BARRIER();
    for (int m = 0; m < TILE; ++m) {
        if (t <= m) {
            const int x = t + 1, y = m - t + 1;
            s[y][x] = MAX(s[y - 1][x - 1] + alike[y - 1][x - 1], MAX(s[y][x - 1] - penalty, s[y - 1][x] - penalty));
        }
        BARRIER();
    }
    for (int m = TILE - 2; m >= 0; --m) {
        if (t <= m) {
            const int x = t + TILE - m, y = TILE - t;
            s[y][x] = MAX(s[y - 1][x - 1] + alike[y - 1][x - 1], MAX(s[y][x - 1] - penalty, s[y - 1][x] - penalty));
        }
        BARRIER();
    }
    for (int y = 0; y < TILE; ++y) score[corner + columns * (y + 1) + t + 1] = s[y + 1][t + 1];
}
