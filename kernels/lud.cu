// SPDX-License-Identifier: MIT
// LU decomposition in place by tiles of 16×16: the tile on the diagonal, then its row and its column of
// tiles (perimeter), then all tiles right of and below them (internal).
#include "portable.h"

#define B 16

KERNEL(16, 1, 1) lud_diagonal(GLOBAL float* m, int n, int at ROOM) {
    SHARED float s[B][B];
    const int t = LOCAL_X;
    for (int i = 0; i < B; ++i) s[i][t] = m[(at + i) * n + at + t];
    BARRIER();
    for (int i = 0; i < B - 1; ++i) {
        if (t > i) {
            for (int j = 0; j < i; ++j) s[t][i] = FMA(-s[t][j], s[j][i], s[t][i]);
            s[t][i] = s[t][i] / s[i][i];
        }
        BARRIER();
        if (t > i) {
            for (int j = 0; j < i + 1; ++j) s[i + 1][t] = FMA(-s[i + 1][j], s[j][t], s[i + 1][t]);
        }
        BARRIER();
    }
    for (int i = 1; i < B; ++i) m[(at + i) * n + at + t] = s[i][t];
}

// The first 16 threads take a tile of the row, the others one of the column.
KERNEL(32, 1, 1) lud_perimeter(GLOBAL float* m, int n, int at ROOM) {
    SHARED float diagonal[B][B];
    SHARED float row[B][B];
    SHARED float column[B][B];
    const int t = LOCAL_X % B, right = at + (GROUP_X + 1) * B;
    const int of_row = LOCAL_X < B;
    for (int i = of_row ? 0 : B / 2; i < (of_row ? B / 2 : B); ++i) diagonal[i][t] = m[(at + i) * n + at + t];
    if (of_row) {
        for (int i = 0; i < B; ++i) row[i][t] = m[(at + i) * n + right + t];
    } else {
        for (int i = 0; i < B; ++i) column[i][t] = m[(right + i) * n + at + t];
    }
    BARRIER();
    if (of_row) {
        for (int i = 1; i < B; ++i) {
            for (int j = 0; j < i; ++j) row[i][t] = FMA(-diagonal[i][j], row[j][t], row[i][t]);
        }
    } else {
        for (int i = 0; i < B; ++i) {
            for (int j = 0; j < i; ++j) column[t][i] = FMA(-column[t][j], diagonal[j][i], column[t][i]);
            column[t][i] = column[t][i] / diagonal[i][i];
        }
    }
    BARRIER();
    if (of_row) {
        for (int i = 1; i < B; ++i) m[(at + i) * n + right + t] = row[i][t];
    } else {
        for (int i = 0; i < B; ++i) m[(right + i) * n + at + t] = column[i][t];
    }
}

KERNEL(16, 16, 1) lud_internal(GLOBAL float* m, int n, int at ROOM) {
    SHARED float row[B][B];
    SHARED float column[B][B];
    const int tx = LOCAL_X, ty = LOCAL_Y;
    const int x = at + (GROUP_X + 1) * B + tx, y = at + (GROUP_Y + 1) * B + ty;
    row[ty][tx] = m[(at + ty) * n + x];
    column[ty][tx] = m[y * n + at + tx];
    BARRIER();
    float sum = m[y * n + x];
    for (int i = 0; i < B; ++i) sum = FMA(-column[ty][i], row[i][tx], sum);
    m[y * n + x] = sum;
}
