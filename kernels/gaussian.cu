// SPDX-License-Identifier: MIT
// Gaussian elimination without pivoting, one column per pair of launches: fan1 divides the column,
// fan2 subtracts from all that is right of it. x runs along rows, so that a warp's accesses are strided.
#include "portable.h"

KERNEL(64, 1, 1) fan1(GLOBAL float* factor, GLOBAL const float* a, int size, int t ROOM) {
    const int i = GLOBAL_X;
    if (i >= size - 1 - t) return;
    factor[size * (i + t + 1) + t] = a[size * (i + t + 1) + t] / a[size * t + t];
}

KERNEL(8, 8, 1) fan2(GLOBAL const float* factor, GLOBAL float* a, GLOBAL float* b, int size, int t ROOM) {
    const int x = GLOBAL_X, y = GLOBAL_Y;
    if (x >= size - 1 - t || y >= size - t) return;
    const int row = x + 1 + t;
    a[size * row + y + t] = FMA(-factor[size * row + t], a[size * t + y + t], a[size * row + y + t]);
    if (y == 0) b[row] = FMA(-factor[size * row + t], b[t], b[row]);
}
