// SPDX-License-Identifier: MIT
// Jacobi's iteration on a block of points, seven of them for a new one, after Parboil's STENCIL.
#include "workload.h"

static const struct Sizes sizes = {"NX NY NZ STEPS", 4, {20, 18, 10, 3}, {512, 512, 64, 100}};

// The rim stays. After an even number of steps the result is in a, else in b.
void stencil(int nx, int ny, int nz, int steps, real centre, real neighbour, real* a, real* b) {
    const size_t row = (size_t)nx, plane = row * (size_t)ny;
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
        for (int z = 1; z < nz - 1; ++z)
            for (int y = 1; y < ny - 1; ++y) {
                const real* const in = a + (size_t)z * plane + (size_t)y * row;
                real* const out = b + (size_t)z * plane + (size_t)y * row;
                for (int x = 1; x < nx - 1; ++x)
                    out[x] = neighbour * (((in[x - 1] + in[x + 1]) + (in[x - row] + in[x + row])) +
                                          (in[x - plane] + in[x + plane])) +
                             centre * in[x];
            }
        real* const swap = a;
        a = b;
        b = swap;
    }
}

static int shape[4];
static real *start, *first, *second;

static void make_input(const int* size) {
    memcpy(shape, size, sizeof shape);
    results = (size_t)size[0] * size[1] * size[2];
    start = reals(results), first = reals(results), second = reals(results);
    for (size_t i = 0; i < results; ++i) start[i] = uniform(0, 1);
    input[0] = start, inputs[0] = results;
    result = size[3] % 2 == 0 ? first : second;
}

static void restore(void) {
    memcpy(first, start, results * sizeof(real));
    memcpy(second, start, results * sizeof(real));
}

static void run(void) {
    stencil(shape[0], shape[1], shape[2], shape[3], (real)0.5, (real)(0.5 / 6), first, second);
}
