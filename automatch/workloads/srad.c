// SPDX-License-Identifier: MIT
// Speckle-reducing anisotropic diffusion of an image, after Rodinia's SRAD: statistics of the
// whole, a coefficient of diffusion per pixel, and the divergence of the flows.
#include "workload.h"

static const struct Sizes sizes = {"ROWS COLUMNS STEPS", 3, {30, 26, 2}, {512, 512, 100}};

struct Image {
    int rows, columns;
    real* pixels;
    real *north, *south, *west, *east;  // differences to the neighbours
    real* coefficient;
    real *sums, *squares;  // of each row
};

// A row and its neighbours; at the rim the row itself stands in for what is beyond.
struct Row {
    const real *here, *above, *below;
    real *north, *south, *west, *east, *coefficient;
};

static inline real between_0_and_1(real value) { return value < 0 ? 0 : value > 1 ? 1 : value; }

static inline void differences(const struct Row row, int c, int left, int right, real q0_square,
                               real per_q0) {
    const real here = row.here[c];
    const real n = row.above[c] - here, s = row.below[c] - here;
    const real w = row.here[left] - here, e = row.here[right] - here;
    const real by_here = 1 / here;
    const real gradient = (n * n + s * s + w * w + e * e) * (by_here * by_here);
    const real laplacian = (n + s + w + e) * by_here;
    const real above = (real)0.5 * gradient - (real)0.0625 * (laplacian * laplacian);
    const real below = 1 + (real)0.25 * laplacian;
    const real q_square = above / (below * below);
    row.north[c] = n, row.south[c] = s, row.west[c] = w, row.east[c] = e;
    row.coefficient[c] = between_0_and_1(1 / (1 + (q_square - q0_square) * per_q0));
}

void srad(const struct Image* image, int steps, real lambda) {
    const int rows = image->rows, columns = image->columns, last = columns - 1;
    real *const pixels = image->pixels, *const coefficients = image->coefficient;
    real *const norths = image->north, *const souths = image->south;
    real *const wests = image->west, *const easts = image->east;
    real *const sums = image->sums, *const squares = image->squares;
    const real quarter_lambda = (real)0.25 * lambda;
    const real per_pixel = 1 / (real)((long)rows * columns);
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
        for (int r = 0; r < rows; ++r) {
            const real* const row = pixels + (size_t)r * columns;
            real sum = 0, square = 0;
            for (int c = 0; c < columns; ++c) {
                sum += row[c];
                square += row[c] * row[c];
            }
            sums[r] = sum;
            squares[r] = square;
        }
        real sum = 0, square = 0;
        for (int r = 0; r < rows; ++r) {
            sum += sums[r];
            square += squares[r];
        }
        const real mean_square = sum * per_pixel * (sum * per_pixel);
        const real q0_square = (square * per_pixel - mean_square) / mean_square;
        const real per_q0 = 1 / (q0_square * (1 + q0_square));
#pragma omp parallel for
        for (int r = 0; r < rows; ++r) {
            const size_t at = (size_t)r * columns;
            const real* const here = pixels + at;
            const struct Row row = {here,
                                    r == 0 ? here : here - columns,
                                    r == rows - 1 ? here : here + columns,
                                    norths + at,
                                    souths + at,
                                    wests + at,
                                    easts + at,
                                    coefficients + at};
            differences(row, 0, 0, last > 0, q0_square, per_q0);
            for (int c = 1; c < last; ++c) differences(row, c, c - 1, c + 1, q0_square, per_q0);
            if (last > 0) differences(row, last, last - 1, last, q0_square, per_q0);
        }
#pragma omp parallel for
        for (int r = 0; r < rows; ++r) {
            const size_t at = (size_t)r * columns;
            const real* const k = coefficients + at;
            const real* const below = r == rows - 1 ? k : k + columns;
            const real *const n = norths + at, *const s = souths + at;
            const real *const w = wests + at, *const e = easts + at;
            real* const out = pixels + at;
            for (int c = 0; c < last; ++c)
                out[c] +=
                    quarter_lambda * (k[c] * (n[c] + w[c]) + below[c] * s[c] + k[c + 1] * e[c]);
            out[last] += quarter_lambda * (k[last] * (n[last] + w[last]) + below[last] * s[last] +
                                           k[last] * e[last]);
        }
    }
}

static struct Image image;
static int times_diffused;
static real* start;

static void make_input(const int* size) {
    image.rows = size[0], image.columns = size[1], times_diffused = size[2];
    results = (size_t)size[0] * size[1];
    start = reals(results);
    result = image.pixels = reals(results);
    image.north = reals(results), image.south = reals(results);
    image.west = reals(results), image.east = reals(results), image.coefficient = reals(results);
    image.sums = reals(image.rows), image.squares = reals(image.rows);
    for (size_t i = 0; i < results; ++i) start[i] = uniform(1, 2.7);
    input[0] = start, inputs[0] = results;
}

static void restore(void) { memcpy(image.pixels, start, results * sizeof(real)); }
static void run(void) { srad(&image, times_diffused, (real)0.5); }
