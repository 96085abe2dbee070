// SPDX-License-Identifier: MIT
// Sparse matrix times vector, again and again, after Parboil's SPMV. The matrix stands in for
// Dubcova3 (146,689 rows, 3,636,643 elements): each point of a grid of 383 by 383 with all within
// two of it, 3,644,281 elements. Each product is the next vector.
#include "workload.h"

static const struct Sizes sizes = {"GRID_SIDE STEPS", 2, {12, 3}, {383, 50}};

struct Matrix {
    int rows;
    int *starts, *columns;  // of row r: elements starts[r] to starts[r + 1]
    real* values;
};

// After an even number of steps the result is in x, else in y.
void spmv(const struct Matrix* matrix, int steps, real* x, real* y) {
    const int rows = matrix->rows;
    const int *const starts = matrix->starts, *const columns = matrix->columns;
    const real* const values = matrix->values;
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
        for (int r = 0; r < rows; ++r) {
            const int end = starts[r + 1];
            real sum = 0;
            for (int i = starts[r]; i < end; ++i) sum += values[i] * x[columns[i]];
            y[r] = sum;
        }
        real* const swap = x;
        x = y;
        y = swap;
    }
}

static struct Matrix matrix;
static int products;
static real *start, *first, *second;

static void make_input(const int* size) {
    const int side = size[0];
    products = size[1];
    matrix.rows = side * side;
    matrix.starts = (int*)room((size_t)matrix.rows + 1, sizeof(int));
    matrix.columns = (int*)room((size_t)matrix.rows * 25, sizeof(int));
    matrix.values = reals((size_t)matrix.rows * 25);
    int count = 0;
    for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
            for (int v = y < 2 ? 0 : y - 2; v <= y + 2 && v < side; ++v)
                for (int u = x < 2 ? 0 : x - 2; u <= x + 2 && u < side; ++u) {
                    matrix.columns[count] = v * side + u;
                    matrix.values[count++] = uniform(0, 0.08);  // rows' sums stay about 1
                }
            matrix.starts[y * side + x + 1] = count;
        }
    results = (size_t)matrix.rows;
    start = reals(results), first = reals(results), second = reals(results);
    for (size_t i = 0; i < results; ++i) start[i] = uniform(0, 1);
    input[0] = matrix.values, inputs[0] = (size_t)count;
    input[1] = start, inputs[1] = results;
    result = products % 2 == 0 ? first : second;
}

static void restore(void) { memcpy(first, start, results * sizeof(real)); }
static void run(void) { spmv(&matrix, products, first, second); }
