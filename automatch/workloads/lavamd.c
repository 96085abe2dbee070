// SPDX-License-Identifier: MIT
// Potential and forces between particles of neighbouring boxes, after Rodinia's LavaMD: a cube of
// boxes of 100 particles, each with its own and up to 26 others.
#include <math.h>

#include "workload.h"

static const struct Sizes sizes = {"BOXES_A_SIDE", 1, {2}, {10}};

enum { per_box = 100, most_neighbours = 27 };

// position: x, y, z and half of the square, for each particle; force: potential, then x, y, z.
// neighbours: of box b from b * 27 on, itself first, -1 ends them.
void lavamd(int boxes, const int* neighbours, const real* position, const real* charge,
            real alpha_square, real* force) {
#pragma omp parallel for schedule(dynamic)
    for (int box = 0; box < boxes; ++box)
        for (int k = 0; k < most_neighbours; ++k) {
            const int other = neighbours[box * most_neighbours + k];
            if (other < 0) break;
            const real* const theirs = position + (size_t)other * per_box * 4;
            const real* const charges = charge + (size_t)other * per_box;
            for (int i = 0; i < per_box; ++i) {
                const real* const own = position + ((size_t)box * per_box + i) * 4;
                real* const sum = force + ((size_t)box * per_box + i) * 4;
                const real x = own[0], y = own[1], z = own[2], half = own[3];
                real potential = sum[0], fx = sum[1], fy = sum[2], fz = sum[3];
                for (int j = 0; j < per_box; ++j) {
                    const real* const at = theirs + 4 * j;
                    const real r_square = half + at[3] - (x * at[0] + y * at[1] + z * at[2]);
                    const real v = charges[j] * (real)exp(-(alpha_square * r_square));
                    const real pull = v + v;
                    potential += v;
                    fx += pull * (x - at[0]);
                    fy += pull * (y - at[1]);
                    fz += pull * (z - at[2]);
                }
                sum[0] = potential, sum[1] = fx, sum[2] = fy, sum[3] = fz;
            }
        }
}

static int count;
static int* others;
static real *places, *charges, *forces;

static void make_input(const int* size) {
    const int side = size[0];
    count = side * side * side;
    others = (int*)room((size_t)count * most_neighbours, sizeof(int));
    for (int box = 0; box < count; ++box) {
        const int x = box % side, y = box / side % side, z = box / (side * side);
        int* const own = others + box * most_neighbours;
        int n = 0;
        own[n++] = box;
        for (int d = 0; d < most_neighbours; ++d) {
            const int u = x + d % 3 - 1, v = y + d / 3 % 3 - 1, w = z + d / 9 - 1;
            if (d == most_neighbours / 2 || u < 0 || v < 0 || w < 0 || u >= side || v >= side ||
                w >= side)
                continue;
            own[n++] = (w * side + v) * side + u;
        }
        if (n < most_neighbours) own[n] = -1;
    }
    const size_t particles = (size_t)count * per_box;
    places = reals(particles * 4), charges = reals(particles);
    results = particles * 4;
    result = forces = reals(results);
    for (size_t i = 0; i < particles * 4; ++i) places[i] = uniform(0.1, 1);
    for (size_t i = 0; i < particles; ++i) charges[i] = uniform(0.1, 1);
    input[0] = places, inputs[0] = particles * 4;
    input[1] = charges, inputs[1] = particles;
}

static void restore(void) { memset(forces, 0, results * sizeof(real)); }
static void run(void) { lavamd(count, others, places, charges, (real)0.5, forces); }
