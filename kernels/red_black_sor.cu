// SPDX-License-Identifier: MIT
// Successive over-relaxation of Laplace's equation, red and black points in arrays of their own: one
// launch relaxes the points of one colour, whose four neighbours are all of the other.
#include "portable.h"

// Row i, point j of a colour is at column 2j + (i + colour) % 2 of a square with `n` rows.
KERNEL(32, 4, 1) sor(GLOBAL float* own, GLOBAL const float* other, int n, int colour, float omega ROOM) {
    const int half_row = n / 2, j = GLOBAL_X, i = GLOBAL_Y;
    const int shift = (i + colour) % 2;
    const int column = 2 * j + shift;
    if (i < 1 || i >= n - 1 || column < 1 || column >= n - 1) return;
    const int at = i * half_row + j;
    const int left = shift ? at : at - 1;
    const float sum = (other[at - half_row] + other[at + half_row]) + (other[left] + other[left + 1]);
    own[at] = FMA(omega, FMA(0.25f, sum, -own[at]), own[at]);
}
