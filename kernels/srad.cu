// SPDX-License-Identifier: MIT
// Speckle-reducing anisotropic diffusion of an image, column by column in memory: srad1 takes differences
// and the coefficient of diffusion, srad2 their divergence. Neighbours come from tables of indices.
#include "portable.h"

KERNEL(256, 1, 1) srad_neighbours(GLOBAL int* north, GLOBAL int* south, GLOBAL int* west, GLOBAL int* east, int rows, int columns ROOM) {
    const int i = GLOBAL_X;
    if (i < rows) {
        north[i] = i == 0 ? 0 : i - 1;
        south[i] = i == rows - 1 ? i : i + 1;
    }
    if (i < columns) {
        west[i] = i == 0 ? 0 : i - 1;
        east[i] = i == columns - 1 ? i : i + 1;
    }
}

KERNEL(256, 1, 1) srad1(int rows, int pixels, GLOBAL const int* north, GLOBAL const int* south, GLOBAL const int* west,
                        GLOBAL const int* east, GLOBAL float* dn, GLOBAL float* ds, GLOBAL float* dw, GLOBAL float* de, float q0_square,
                        GLOBAL float* c, GLOBAL const float* image ROOM) {
    const int i = GLOBAL_X;
    if (i >= pixels) return;
    const int row = i % rows, column = i / rows;
    const float here = image[i];
    const float n = image[north[row] + rows * column] - here, s = image[south[row] + rows * column] - here;
    const float w = image[row + rows * west[column]] - here, e = image[row + rows * east[column]] - here;
    const float gradient = FMA(e, e, FMA(w, w, FMA(s, s, n * n))) / (here * here);
    const float laplacian = (n + s + w + e) / here;
    const float above = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
    const float below = FMA(0.25f, laplacian, 1.0f);
    const float q_square = above / (below * below);
    const float ratio = (q_square - q0_square) / (q0_square * (1.0f + q0_square));
    float k = 1.0f / (1.0f + ratio);
    if (k < 0.0f) k = 0.0f;
    if (k > 1.0f) k = 1.0f;
    dn[i] = n;
    ds[i] = s;
    dw[i] = w;
    de[i] = e;
    c[i] = k;
}

KERNEL(256, 1, 1) srad2(float quarter_lambda, int rows, int pixels, GLOBAL const int* south, GLOBAL const int* east,
                        GLOBAL const float* dn, GLOBAL const float* ds, GLOBAL const float* dw, GLOBAL const float* de,
                        GLOBAL const float* c, GLOBAL float* image ROOM) {
    const int i = GLOBAL_X;
    if (i >= pixels) return;
    const int row = i % rows, column = i / rows;
    const float here = c[i], cs = c[south[row] + rows * column], ce = c[row + rows * east[column]];
    float divergence = here * dn[i];
    divergence = FMA(cs, ds[i], divergence);
    divergence = FMA(here, dw[i], divergence);
    divergence = FMA(ce, de[i], divergence);
    image[i] = FMA(quarter_lambda, divergence, image[i]);
}
