// SPDX-License-Identifier: MIT
// The local modified SOR method for convection and diffusion in double precision: as red_black_sor.cu,
// but every point has its own coefficients and its own relaxation, computed anew for each use (the
// "re-computation" variant), so that arithmetic weighs more than memory.
#include "portable.h"

KERNEL(32, 4, 1) lmsor(GLOBAL double* own, GLOBAL const double* other, int n, int colour, double reynolds ROOM) {
    const int half_row = n / 2, j = GLOBAL_X, i = GLOBAL_Y;
    const int shift = (i + colour) % 2;
    const int column = 2 * j + shift;
    if (i < 1 || i >= n - 1 || column < 1 || column >= n - 1) return;
    const int at = i * half_row + j;
    const int left = shift ? at : at - 1;
    const double h = 1.0 / (double)(n - 1);
    const double x = (double)column * h, y = (double)i * h;
    const double f = 0.5 * h * reynolds * (2.0 * y - 1.0), g = 0.5 * h * reynolds * (1.0 - 2.0 * x);
    const double west = 0.25 * (1.0 + f), east = 0.25 * (1.0 - f);
    const double south = 0.25 * (1.0 + g), north = 0.25 * (1.0 - g);
    const double radius = FMA(west, east, south * north) * 4.0;
    const double omega = 2.0 / (1.0 + SQRT(ABS(1.0 - radius) + 0.001));
    double sum = west * other[left];
    sum = FMA(east, other[left + 1], sum);
    sum = FMA(south, other[at - half_row], sum);
    sum = FMA(north, other[at + half_row], sum);
    own[at] = FMA(omega, sum - own[at], own[at]);
}
