// SPDX-License-Identifier: MIT
// LU decomposition in place, no pivots, after Rodinia's LUD: a column of factors, then all that is
// right of and below it.
#include "workload.h"

static const struct Sizes sizes = {"N", 1, {48}, {512}};

void lud(int n, real* m) {
    const size_t row = (size_t)n;
    for (int k = 0; k < n - 1; ++k) {
        const real* const pivots = m + k * row;
        const real pivot = 1 / pivots[k];
#pragma omp parallel for
        for (int i = k + 1; i < n; ++i) {
            real* const own = m + i * row;
            const real factor = own[k] * pivot;
            own[k] = factor;
            for (int j = k + 1; j < n; ++j) own[j] -= factor * pivots[j];
        }
    }
}

static int side;
static real *start, *matrix;

static void make_input(const int* size) {
    side = size[0];
    results = (size_t)side * side;
    start = reals(results);
    result = matrix = reals(results);
    for (size_t i = 0; i < results; ++i) start[i] = uniform(0, 1);
    for (int i = 0; i < side; ++i) start[(size_t)i * side + i] += (real)side;  // pivots are large
    input[0] = start, inputs[0] = results;
}

static void restore(void) { memcpy(matrix, start, results * sizeof(real)); }
static void run(void) { lud(side, matrix); }
