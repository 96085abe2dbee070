// SPDX-License-Identifier: MIT
// Temperatures of a chip from the power that its parts take, after Rodinia's HotSpot: explicit
// steps on a grid, nothing flows through the edges.
#include "workload.h"

static const struct Sizes sizes = {"ROWS COLUMNS STEPS", 3, {24, 20, 3}, {1024, 1024, 2}};

struct Chip {
    real by_power;  // step / capacity [K/W]
    real along_x, along_y, upwards;
    real ambient;  // [K]
};

static inline real point(const struct Chip* chip, real here, real north, real south, real west,
                         real east, real power) {
    return here +
           (chip->by_power * power + chip->along_y * (north + south - (here + here)) +
            chip->along_x * (west + east - (here + here)) + chip->upwards * (chip->ambient - here));
}

// After an even number of steps the result is in a, else in b.
void hotspot(int rows, int columns, int steps, const struct Chip* chip, const real* power, real* a,
             real* b) {
    const size_t row = (size_t)columns;
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
        for (int r = 0; r < rows; ++r) {
            const real* const here = a + r * row;
            const real* const north = r == 0 ? here : here - row;
            const real* const south = r == rows - 1 ? here : here + row;
            const real* const p = power + r * row;
            real* const out = b + r * row;
            const int last = columns - 1;
            out[0] = point(chip, here[0], north[0], south[0], here[0], here[last > 0], p[0]);
            for (int c = 1; c < last; ++c)
                out[c] = point(chip, here[c], north[c], south[c], here[c - 1], here[c + 1], p[c]);
            if (last > 0)
                out[last] = point(chip, here[last], north[last], south[last], here[last - 1],
                                  here[last], p[last]);
        }
        real* const swap = a;
        a = b;
        b = swap;
    }
}

static const struct Chip chip = {(real)0.34, (real)0.05, (real)0.06, (real)1e-4, (real)353};
static int shape[3];
static real *start, *watts, *first, *second;

static void make_input(const int* size) {
    memcpy(shape, size, sizeof shape);
    results = (size_t)size[0] * size[1];
    start = reals(results), watts = reals(results), first = reals(results), second = reals(results);
    for (size_t i = 0; i < results; ++i) start[i] = uniform(323, 343);
    for (size_t i = 0; i < results; ++i) watts[i] = uniform(0, 0.1);
    input[0] = start, inputs[0] = results;
    input[1] = watts, inputs[1] = results;
    result = size[2] % 2 == 0 ? first : second;
}

static void restore(void) { memcpy(first, start, results * sizeof(real)); }
static void run(void) { hotspot(shape[0], shape[1], shape[2], &chip, watts, first, second); }
