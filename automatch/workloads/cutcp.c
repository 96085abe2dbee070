// SPDX-License-Identifier: MIT
// Cut-off Coulomb potential of water on a grid, after Parboil's CUTCP: each atom adds
// q/r (1 - r^2/c^2)^2 to the points within c of it. The paper's input has 40 Angstrom of water,
// grid points every half Angstrom, and a cut-off of 12.
#include <math.h>

#include "workload.h"

static const struct Sizes sizes = {
    "POINTS_A_SIDE MOLECULES CUTOFF", 3, {16, 17, 4}, {80, 2137, 12}};

struct Atoms {
    int count;
    real *x, *y, *z, *charge;
};

// The first whole number from `at` on, and the last up to it; both at or above 0.
static int from_number(real at) { return at <= 0 ? 0 : (int)at + ((real)(int)at < at); }
static int up_to_number(real at, int most) {
    return at < 0 ? -1 : at > (real)most ? most : (int)at;
}

// points: of a side; spacing and cutoff [Angstrom]. Planes are independent, atoms add in their
// order.
void cutcp(int points, real spacing, real cutoff, const struct Atoms* atoms, real* potential) {
    const real square = cutoff * cutoff;
    const real per_square = 1 / square;
    const real per_spacing = 1 / spacing;
#pragma omp parallel for schedule(dynamic)
    for (int k = 0; k < points; ++k) {
        const real height = spacing * (real)k;
        for (int a = 0; a < atoms->count; ++a) {
            const real dz = atoms->z[a] - height;
            const real left = square - dz * dz;
            if (left <= 0) continue;
            const real x = atoms->x[a], y = atoms->y[a], q = atoms->charge[a];
            const real reach = (real)sqrt(left);
            const int last_j = up_to_number((y + reach) * per_spacing, points - 1);
            for (int j = from_number((y - reach) * per_spacing); j <= last_j; ++j) {
                const real dy = y - spacing * (real)j;
                const real rest = left - dy * dy;
                if (rest <= 0) continue;
                const real away = square - rest;
                const real width = (real)sqrt(rest);
                const int first_i = from_number((x - width) * per_spacing);
                const int last_i = up_to_number((x + width) * per_spacing, points - 1);
                real* const row = potential + ((size_t)k * points + j) * points;
                for (int i = first_i; i <= last_i; ++i) {
                    const real dx = x - spacing * (real)i;
                    const real r_square = away + dx * dx;
                    const real s = 1 - r_square * per_square;
                    row[i] += q / (real)sqrt(r_square) * (s * s);
                }
            }
        }
    }
}

static int side;
static real reach_of_atoms;
static struct Atoms water;
static real* grid;

static void make_input(const int* size) {
    side = size[0];
    reach_of_atoms = (real)size[2];
    const double edge = 0.5 * side;
    water.count = 3 * size[1];
    water.x = reals(water.count), water.y = reals(water.count);
    water.z = reals(water.count), water.charge = reals(water.count);
    for (int m = 0; m < size[1]; ++m) {
        const double at[3] = {uniform(0, edge), uniform(0, edge), uniform(0, edge)};
        for (int i = 0; i < 3; ++i) {  // an oxygen, and two hydrogens about one Angstrom from it
            const double far = i == 0 ? 0 : 0.6;
            water.x[3 * m + i] = (real)at[0] + uniform(-far, far);
            water.y[3 * m + i] = (real)at[1] + uniform(-far, far);
            water.z[3 * m + i] = (real)at[2] + uniform(-far, far);
            water.charge[3 * m + i] = (real)(i == 0 ? -0.834 : 0.417);
        }
    }
    results = (size_t)side * side * side;
    result = grid = reals(results);
    input[0] = water.x, input[1] = water.y, input[2] = water.z, input[3] = water.charge;
    for (int i = 0; i < 4; ++i) inputs[i] = (size_t)water.count;
}

static void restore(void) { memset(grid, 0, results * sizeof(real)); }
static void run(void) { cutcp(side, (real)0.5, reach_of_atoms, &water, grid); }
