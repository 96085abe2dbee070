// SPDX-License-Identifier: MIT
// Sparse matrix times vector, compressed rows, a thread per row: rows of different lengths keep a warp's
// lanes waiting, and the vector is gathered.
#include "portable.h"

// Where each row begins: the sums of the lengths before it. One thread, for the set-up.
KERNEL(1, 1, 1) spmv_starts(GLOBAL const int* lengths, GLOBAL int* starts, int rows ROOM) {
    int sum = 0;
    for (int r = 0; r < rows; ++r) {
        starts[r] = sum;
        sum += lengths[r];
    }
    starts[rows] = sum;
}

KERNEL(128, 1, 1) spmv(GLOBAL const int* starts, GLOBAL const int* columns, GLOBAL const float* values, GLOBAL const float* x,
                       GLOBAL float* y, int rows ROOM) {
    const int r = GLOBAL_X;
    if (r >= rows) return;
    float sum = 0;
    const int end = starts[r + 1];
    for (int i = starts[r]; i < end; ++i) sum = FMA(values[i], x[columns[i]], sum);
    y[r] = sum;
}
