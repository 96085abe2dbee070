// SPDX-License-Identifier: MIT
// Forces between particles within a cut-off: space is cut into boxes of 100 particles; a group takes one
// box, and the particles of it and its neighbours pass through shared memory, box by box.
#include "portable.h"

#define PARTICLES 100
#define THREADS 128

// 27 numbers per box: its own, then those of the neighbours, -1 where there is none.
KERNEL(128, 1, 1) lavamd_neighbours(GLOBAL int* neighbours, int side ROOM) {
    const int box = GLOBAL_X;
    if (box >= side * side * side) return;
    const int x = box % side, y = box / side % side, z = box / (side * side);
    int count = 1;
    neighbours[box * 27] = box;
    for (int dz = -1; dz <= 1; ++dz) {
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                const int nx = x + dx, ny = y + dy, nz = z + dz;
                if (dx == 0 && dy == 0 && dz == 0) continue;
                if (nx < 0 || ny < 0 || nz < 0 || nx >= side || ny >= side || nz >= side) continue;
                neighbours[box * 27 + count] = (nz * side + ny) * side + nx;
                ++count;
            }
        }
    }
    for (int i = count; i < 27; ++i) neighbours[box * 27 + i] = -1;
}

// position: x, y, z and half of the square; force: potential, then x, y, z.
KERNEL(128, 1, 1) lavamd(GLOBAL const int* neighbours, GLOBAL const float* position, GLOBAL const float* charge, GLOBAL float* force,
                         float alpha_square ROOM) {
    SHARED float own[PARTICLES][4];
    SHARED float theirs[PARTICLES][4];
    SHARED float charges[PARTICLES];
    const int t = LOCAL_X, box = GROUP_X;
    for (int i = t; i < PARTICLES * 4; i += THREADS) own[i / 4][i % 4] = position[box * PARTICLES * 4 + i];
    float potential = 0, fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < 27; ++k) {
        const int other = neighbours[box * 27 + k];
        if (other < 0) break;
        BARRIER();
        for (int i = t; i < PARTICLES * 4; i += THREADS) theirs[i / 4][i % 4] = position[other * PARTICLES * 4 + i];
        for (int i = t; i < PARTICLES; i += THREADS) charges[i] = charge[other * PARTICLES + i];
        BARRIER();
        if (t < PARTICLES) {
            UNROLL_BY_4 for (int j = 0; j < PARTICLES; ++j) {
                const float product = FMA(own[t][2], theirs[j][2], FMA(own[t][1], theirs[j][1], own[t][0] * theirs[j][0]));
                const float r_square = own[t][3] + theirs[j][3] - product;
                const float v = EXP(-alpha_square * r_square);
                const float pull = 2.0f * v;
                potential = FMA(charges[j], v, potential);
                fx = FMA(charges[j] * pull, own[t][0] - theirs[j][0], fx);
                fy = FMA(charges[j] * pull, own[t][1] - theirs[j][1], fy);
                fz = FMA(charges[j] * pull, own[t][2] - theirs[j][2], fz);
            }
        }
    }
    if (t < PARTICLES) {
        const int at = (box * PARTICLES + t) * 4;
        force[at] = potential;
        force[at + 1] = fx;
        force[at + 2] = fy;
        force[at + 3] = fz;
    }
}
