// SPDX-License-Identifier: MIT
// Temperatures of a stack of chips: a 7-point stencil. A thread walks upwards through the layers and
// keeps the three values of its column in registers; the four neighbours come from global memory.
#include "portable.h"

KERNEL(64, 4, 1) hotspot(GLOBAL const float* power, GLOBAL const float* before, GLOBAL float* after, int nx, int ny, int nz,
                         float ce, float cw, float cn, float cs, float ct, float cb, float cc, float step_over_capacity, float ambient ROOM) {
    const int x = GLOBAL_X, y = GLOBAL_Y;
    if (x >= nx || y >= ny) return;
    const int layer = nx * ny;
    int c = x + y * nx;
    const int w = x == 0 ? 0 : -1, e = x == nx - 1 ? 0 : 1;
    const int n = y == 0 ? 0 : -nx, s = y == ny - 1 ? 0 : nx;
    float below = before[c], here = below;
    for (int z = 0; z < nz; ++z) {
        const float above = z == nz - 1 ? here : before[c + layer];
        float t = cc * here;
        t = FMA(cw, before[c + w], t);
        t = FMA(ce, before[c + e], t);
        t = FMA(cs, before[c + s], t);
        t = FMA(cn, before[c + n], t);
        t = FMA(cb, below, t);
        t = FMA(ct, above, t);
        t = FMA(step_over_capacity, power[c], t);
        after[c] = FMA(ct, ambient, t);
        below = here;
        here = above;
        c += layer;
    }
}
