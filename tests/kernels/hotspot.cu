// SPDX-License-Identifier: MIT
// Temperatures of a chip (in the style of Rodinia's hotspot): several time steps within a group, on
// a tile that shrinks by a border per step, so that groups need not wait for each other.

#define SIDE 16

extern "C" __global__ void hotspot(const float* power, const float* before, float* after, int columns, int rows,
                                   int steps, float rx, float ry, float rz, float step_over_capacity) {
    __shared__ float now[SIDE][SIDE], next[SIDE][SIDE], heat[SIDE][SIDE];
    const int useful = SIDE - 2 * steps, tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * useful - steps + tx, y = blockIdx.y * useful - steps + ty;
    const bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
    now[ty][tx] = inside ? before[y * columns + x] : 0.0f;
    heat[ty][tx] = inside ? power[y * columns + x] : 0.0f;
    __syncthreads();
    // Neighbours, clamped to the chip and to the tile.
    const int north = y > 0 ? max(ty - 1, 0) : ty, south = y < rows - 1 ? min(ty + 1, SIDE - 1) : ty;
    const int west = x > 0 ? max(tx - 1, 0) : tx, east = x < columns - 1 ? min(tx + 1, SIDE - 1) : tx;
    const float over_x = 1 / rx, over_y = 1 / ry, over_z = 1 / rz;
    bool computed = false;
    for (int i = 0; i < steps; ++i) {
        computed = tx >= i + 1 && tx <= SIDE - 2 - i && ty >= i + 1 && ty <= SIDE - 2 - i && inside;
        if (computed) {
            const float t = now[ty][tx];
            next[ty][tx] = t + step_over_capacity * (heat[ty][tx] + (now[south][tx] + now[north][tx] - 2.0f * t) * over_y +
                                                     (now[ty][east] + now[ty][west] - 2.0f * t) * over_x + (80.0f - t) * over_z);
        }
        __syncthreads();
        if (i == steps - 1) break;
        if (computed) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) after[y * columns + x] = next[ty][tx];
}
