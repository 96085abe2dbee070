// SPDX-License-Identifier: MIT
// Euler equations on an unstructured grid of cells with four faces: the step that is stable for each
// cell, fluxes through its faces, one stage of a Runge-Kutta step. Variables lie array by array, cells
// of neighbours anywhere: compute_flux gathers.
#include "portable.h"

#define FACES 4
#define GAMMA 1.4f

typedef struct {
    float density, x, y, z, energy;
} Cell;

typedef struct {
    float x, y, z;
} Vector;

DEVICE Cell load(GLOBAL const float* variables, int i, int cells) {
    Cell c;
    c.density = variables[i];
    c.x = variables[i + cells];
    c.y = variables[i + 2 * cells];
    c.z = variables[i + 3 * cells];
    c.energy = variables[i + 4 * cells];
    return c;
}

DEVICE float square_speed(Cell c, Vector* velocity) {
    velocity->x = c.x / c.density;
    velocity->y = c.y / c.density;
    velocity->z = c.z / c.density;
    return FMA(velocity->z, velocity->z, FMA(velocity->y, velocity->y, velocity->x * velocity->x));
}

DEVICE float pressure_of(Cell c, float square) { return (GAMMA - 1.0f) * FMA(-0.5f * c.density, square, c.energy); }

// Fluxes through the sides of a cell: rows of momentum, and energy.
typedef struct {
    Vector x, y, z, energy;
} Flux;

DEVICE Flux flux_of(Cell c, Vector v, float pressure) {
    Flux f;
    const float whole = c.energy + pressure;
    f.x.x = FMA(v.x, c.x, pressure);
    f.x.y = v.x * c.y;
    f.x.z = v.x * c.z;
    f.y.x = f.x.y;
    f.y.y = FMA(v.y, c.y, pressure);
    f.y.z = v.y * c.z;
    f.z.x = f.x.z;
    f.z.y = f.y.z;
    f.z.z = FMA(v.z, c.z, pressure);
    f.energy.x = v.x * whole;
    f.energy.y = v.y * whole;
    f.energy.z = v.z * whole;
    return f;
}

DEVICE float dot(float ax, float ay, float az, Vector n) { return FMA(n.z, az, FMA(n.y, ay, n.x * ax)); }

// A grid to work on: cells in a row, neighbours near by in it and a row (`width` cells) away; -1 is a
// wall, -2 the far field.
KERNEL(192, 1, 1) cfd_grid(GLOBAL int* neighbours, int cells, int width ROOM) {
    const int i = GLOBAL_X;
    if (i >= cells) return;
    neighbours[i] = i % width == 0 ? -1 : i - 1;
    neighbours[i + cells] = i % width == width - 1 || i == cells - 1 ? -1 : i + 1;
    neighbours[i + 2 * cells] = i < width ? -2 : i - width;
    neighbours[i + 3 * cells] = i + width >= cells ? -2 : i + width;
}

// A gas to begin with, whose pressure is positive everywhere.
KERNEL(192, 1, 1) cfd_state(GLOBAL const float* noise, GLOBAL float* variables, int cells ROOM) {
    const int i = GLOBAL_X;
    if (i >= cells) return;
    variables[i] = FMA(0.125f, noise[i], 1.25f);
    for (int k = 1; k < 4; ++k) variables[i + k * cells] = FMA(0.5f, noise[i + k * cells], 0.25f);
    variables[i + 4 * cells] = FMA(0.25f, noise[i + 4 * cells], 2.5f);
}

KERNEL(192, 1, 1) compute_step_factor(GLOBAL const float* variables, GLOBAL const float* areas, GLOBAL float* step_factors, int cells ROOM) {
    const int i = GLOBAL_X;
    if (i >= cells) return;
    const Cell c = load(variables, i, cells);
    Vector v;
    const float square = square_speed(c, &v);
    const float pressure = pressure_of(c, square);
    const float sound = SQRT(GAMMA * pressure / c.density);
    step_factors[i] = 0.5f / (SQRT(areas[i]) * (SQRT(square) + sound));
}

KERNEL(192, 1, 1) compute_flux(GLOBAL const int* neighbours, GLOBAL const float* normals, GLOBAL const float* variables,
                               GLOBAL const float* far, GLOBAL float* fluxes, int cells ROOM) {
    const int i = GLOBAL_X;
    if (i >= cells) return;
    const Cell own = load(variables, i, cells);
    Vector v;
    const float square = square_speed(own, &v);
    const float speed = SQRT(square);
    const float pressure = pressure_of(own, square);
    const float sound = SQRT(GAMMA * pressure / own.density);
    const Flux mine = flux_of(own, v, pressure);
    Cell sum;
    sum.density = 0;
    sum.x = 0;
    sum.y = 0;
    sum.z = 0;
    sum.energy = 0;
    for (int face = 0; face < FACES; ++face) {
        const int other = neighbours[i + face * cells];
        Vector n;
        n.x = normals[i + (face * 3 + 0) * cells];
        n.y = normals[i + (face * 3 + 1) * cells];
        n.z = normals[i + (face * 3 + 2) * cells];
        const float length = SQRT(FMA(n.z, n.z, FMA(n.y, n.y, n.x * n.x)));
        if (other >= 0) {
            const Cell next = load(variables, other, cells);
            Vector nv;
            const float next_square = square_speed(next, &nv);
            const float next_pressure = pressure_of(next, next_square);
            const float next_sound = SQRT(GAMMA * next_pressure / next.density);
            const Flux theirs = flux_of(next, nv, next_pressure);
            const float factor = -length * 0.2f * 0.5f * (speed + SQRT(next_square) + sound + next_sound);
            sum.density = FMA(factor, own.density - next.density, sum.density);
            sum.energy = FMA(factor, own.energy - next.energy, sum.energy);
            sum.x = FMA(factor, own.x - next.x, sum.x);
            sum.y = FMA(factor, own.y - next.y, sum.y);
            sum.z = FMA(factor, own.z - next.z, sum.z);
            n.x = 0.5f * n.x;
            n.y = 0.5f * n.y;
            n.z = 0.5f * n.z;
            sum.density = sum.density + dot(next.x + own.x, next.y + own.y, next.z + own.z, n);
            sum.energy = sum.energy + dot(theirs.energy.x + mine.energy.x, theirs.energy.y + mine.energy.y, theirs.energy.z + mine.energy.z, n);
            sum.x = sum.x + dot(theirs.x.x + mine.x.x, theirs.x.y + mine.x.y, theirs.x.z + mine.x.z, n);
            sum.y = sum.y + dot(theirs.y.x + mine.y.x, theirs.y.y + mine.y.y, theirs.y.z + mine.y.z, n);
            sum.z = sum.z + dot(theirs.z.x + mine.z.x, theirs.z.y + mine.z.y, theirs.z.z + mine.z.z, n);
        } else if (other == -1) {
            sum.x = FMA(n.x, pressure, sum.x);
            sum.y = FMA(n.y, pressure, sum.y);
            sum.z = FMA(n.z, pressure, sum.z);
        } else {
            const Cell away = load(far, 0, 1);
            Vector av;
            const float away_square = square_speed(away, &av);
            const Flux theirs = flux_of(away, av, pressure_of(away, away_square));
            n.x = 0.5f * n.x;
            n.y = 0.5f * n.y;
            n.z = 0.5f * n.z;
            sum.density = sum.density + dot(away.x + own.x, away.y + own.y, away.z + own.z, n);
            sum.energy = sum.energy + dot(theirs.energy.x + mine.energy.x, theirs.energy.y + mine.energy.y, theirs.energy.z + mine.energy.z, n);
            sum.x = sum.x + dot(theirs.x.x + mine.x.x, theirs.x.y + mine.x.y, theirs.x.z + mine.x.z, n);
            sum.y = sum.y + dot(theirs.y.x + mine.y.x, theirs.y.y + mine.y.y, theirs.y.z + mine.y.z, n);
            sum.z = sum.z + dot(theirs.z.x + mine.z.x, theirs.z.y + mine.z.y, theirs.z.z + mine.z.z, n);
        }
    }
    fluxes[i] = sum.density;
    fluxes[i + cells] = sum.x;
    fluxes[i + 2 * cells] = sum.y;
    fluxes[i + 3 * cells] = sum.z;
    fluxes[i + 4 * cells] = sum.energy;
}

KERNEL(192, 1, 1) time_step(int stages_left, int cells, GLOBAL const float* before, GLOBAL float* variables,
                            GLOBAL const float* step_factors, GLOBAL const float* fluxes ROOM) {
    const int i = GLOBAL_X;
    if (i >= cells) return;
    const float factor = step_factors[i] / (float)stages_left;
    for (int k = 0; k < 5; ++k) variables[i + k * cells] = FMA(factor, fluxes[i + k * cells], before[i + k * cells]);
}
