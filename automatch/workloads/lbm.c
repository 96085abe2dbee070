// SPDX-License-Identifier: MIT
// A cavity whose lid moves, by the lattice-Boltzmann method, after Parboil's LBM: 19 populations a
// cell (D3Q19), one relaxation time, walls halfway between cells send populations back.
#include <stddef.h>

#include "workload.h"

static const struct Sizes sizes = {"NX NY NZ STEPS", 4, {8, 7, 6, 4}, {120, 120, 150, 100}};

enum { directions = 19 };

// 0 rests; 1 to 6 go along the axes, 7 to 18 along two of them; 2i - 1 and 2i are opposite.
static const int velocity[directions][3] = {
    {0, 0, 0},  {1, 0, 0},   {-1, 0, 0},  {0, 1, 0},  {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
    {1, 1, 0},  {-1, -1, 0}, {1, -1, 0},  {-1, 1, 0}, {1, 0, 1},  {-1, 0, -1}, {1, 0, -1},
    {-1, 0, 1}, {0, 1, 1},   {0, -1, -1}, {0, 1, -1}, {0, -1, 1}};

struct Cavity {
    int nx, ny, nz;   // cells, with one layer of wall around them
    size_t plane;     // populations of a direction are this far from those of the one before
    int walls;        // populations that come out of a wall
    int *into, *out;  // where they are read from, and what was sent there
    real* push;       // by the lid
};

// What a pair of opposite directions relaxes to; along: the velocity's component along the first.
#define PAIR(plus, minus, weight, along)                           \
    {                                                              \
        const real a = along;                                      \
        const real even = weight * (common + (real)4.5 * (a * a)); \
        const real odd = weight * ((real)3 * a);                   \
        to[plus * far] = keep * f##plus + (even + odd);            \
        to[minus * far] = keep * f##minus + (even - odd);          \
    }

// Takes what flows into a cell, relaxes it, and leaves it there; y and z: to the next cell there.
static inline void cell(const real* from, real* to, ptrdiff_t far, ptrdiff_t y, ptrdiff_t z,
                        real keep, real relax) {
    const real f0 = from[0];
    const real f1 = from[far - 1], f2 = from[2 * far + 1];
    const real f3 = from[3 * far - y], f4 = from[4 * far + y];
    const real f5 = from[5 * far - z], f6 = from[6 * far + z];
    const real f7 = from[7 * far - 1 - y], f8 = from[8 * far + 1 + y];
    const real f9 = from[9 * far - 1 + y], f10 = from[10 * far + 1 - y];
    const real f11 = from[11 * far - 1 - z], f12 = from[12 * far + 1 + z];
    const real f13 = from[13 * far - 1 + z], f14 = from[14 * far + 1 - z];
    const real f15 = from[15 * far - y - z], f16 = from[16 * far + y + z];
    const real f17 = from[17 * far - y + z], f18 = from[18 * far + y - z];
    const real density = f0 + (((f1 + f2) + (f3 + f4)) + ((f5 + f6) + (f7 + f8))) +
                         (((f9 + f10) + (f11 + f12)) + ((f13 + f14) + (f15 + f16))) + (f17 + f18);
    const real per_density = 1 / density;
    const real d7 = f7 - f8, d9 = f9 - f10, d11 = f11 - f12, d13 = f13 - f14, d15 = f15 - f16,
               d17 = f17 - f18;
    const real ux = ((f1 - f2) + (d7 + d9) + (d11 + d13)) * per_density;
    const real uy = ((f3 - f4) + (d7 - d9) + (d15 + d17)) * per_density;
    const real uz = ((f5 - f6) + (d11 - d13) + (d15 - d17)) * per_density;
    const real common = 1 - (real)1.5 * (ux * ux + uy * uy + uz * uz);
    const real share = relax * density;
    const real w0 = share * (real)(1.0 / 3), w1 = share * (real)(1.0 / 18),
               w2 = share * (real)(1.0 / 36);
    to[0] = keep * f0 + w0 * common;
    PAIR(1, 2, w1, ux)
    PAIR(3, 4, w1, uy)
    PAIR(5, 6, w1, uz)
    PAIR(7, 8, w2, ux + uy)
    PAIR(9, 10, w2, ux - uy)
    PAIR(11, 12, w2, ux + uz)
    PAIR(13, 14, w2, ux - uz)
    PAIR(15, 16, w2, uy + uz)
    PAIR(17, 18, w2, uy - uz)
}

static inline void row_of_cells(int cells, const real* restrict from, real* restrict to,
                                ptrdiff_t far, ptrdiff_t y, ptrdiff_t z, real keep, real relax) {
    for (int i = 0; i < cells; ++i) cell(from + i, to + i, far, y, z, keep, relax);
}

// relax: a step over the relaxation time. After an even number of steps the result is in a, else in
// b.
void lbm(const struct Cavity* cavity, int steps, real relax, real* a, real* b) {
    const ptrdiff_t y = cavity->nx + 2, z = y * (cavity->ny + 2);
    const real keep = 1 - relax;
    for (int step = 0; step < steps; ++step) {
#pragma omp parallel for
        for (int w = 0; w < cavity->walls; ++w)
            a[cavity->into[w]] = a[cavity->out[w]] + cavity->push[w];
#pragma omp parallel for
        for (int k = 1; k <= cavity->nz; ++k)
            for (int j = 1; j <= cavity->ny; ++j) {
                const ptrdiff_t at = k * z + j * y + 1;
                row_of_cells(cavity->nx, a + at, b + at, (ptrdiff_t)cavity->plane, y, z, keep,
                             relax);
            }
        real* const swap = a;
        a = b;
        b = swap;
    }
}

static struct Cavity cavity;
static int times_moved;
static real *start, *first, *second;

// Whether a population comes out of a wall when it arrives at (i, j, k).
static int from_wall(const int* c, int i, int j, int k) {
    const int x = i - c[0], y = j - c[1], z = k - c[2];
    return x < 1 || x > cavity.nx || y < 1 || y > cavity.ny || z < 1 || z > cavity.nz;
}

static void make_input(const int* size) {
    const double lid = 0.05;  // along x
    cavity.nx = size[0], cavity.ny = size[1], cavity.nz = size[2], times_moved = size[3];
    const size_t y = (size_t)cavity.nx + 2, z = y * ((size_t)cavity.ny + 2);
    cavity.plane = z * ((size_t)cavity.nz + 2);
    results = directions * cavity.plane;
    start = reals(results), first = reals(results), second = reals(results);
    const size_t most = 2 * 5 *
                        ((size_t)cavity.nx * cavity.ny + (size_t)cavity.nx * cavity.nz +
                         (size_t)cavity.ny * cavity.nz);
    cavity.into = (int*)room(most, sizeof(int)), cavity.out = (int*)room(most, sizeof(int));
    cavity.push = reals(most);
    for (int k = 1; k <= cavity.nz; ++k)
        for (int j = 1; j <= cavity.ny; ++j)
            for (int i = 1; i <= cavity.nx; ++i) {
                const size_t at = k * z + j * y + i;
                const double density = 1 + (double)uniform(-0.01, 0.01);
                for (int q = 0; q < directions; ++q) {
                    const int* const c = velocity[q];
                    const double weight = q == 0 ? 1.0 / 3 : q < 7 ? 1.0 / 18 : 1.0 / 36;
                    start[q * cavity.plane + at] = (real)(weight * density);
                    if (!from_wall(c, i, j, k)) continue;
                    const int opposite = q % 2 == 1 ? q + 1 : q - 1;
                    cavity.into[cavity.walls] =
                        (int)(q * cavity.plane + at - c[0] - c[1] * y - c[2] * z);
                    cavity.out[cavity.walls] = (int)(opposite * cavity.plane + at);
                    cavity.push[cavity.walls++] =
                        (real)(k - c[2] > cavity.nz ? 6 * weight * lid * c[0] : 0);
                }
            }
    input[0] = start, inputs[0] = results;
    result = times_moved % 2 == 0 ? first : second;
}

static void restore(void) {
    memcpy(first, start, results * sizeof(real));
    memcpy(second, start, results * sizeof(real));
}

static void run(void) { lbm(&cavity, times_moved, (real)0.8, first, second); }
