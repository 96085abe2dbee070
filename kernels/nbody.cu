// SPDX-License-Identifier: MIT
// Gravity between all pairs of bodies: positions pass through shared memory 128 at a time. Root and division
// are the correctly rounded ones.
#include "portable.h"

#define TILE 128

KERNEL(128, 1, 1) nbody(GLOBAL const float4* position, GLOBAL float4* acceleration, float softening, int n ROOM) {
    SHARED float4 tile[TILE];
    const int t = LOCAL_X, i = GLOBAL_X;
    const float4 own = position[i < n ? i : n - 1];
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += TILE) {
        tile[t] = first + t < n ? position[first + t] : FLOAT4(0.0f, 0.0f, 0.0f, 0.0f);
        BARRIER();
        for (int k = 0; k < TILE; ++k) {
            const float4 other = tile[k];
            const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
            const float square = FMA(dz, dz, FMA(dy, dy, FMA(dx, dx, softening)));
            const float pull = other.w / (square * SQRT(square));
            ax = FMA(dx, pull, ax);
            ay = FMA(dy, pull, ay);
            az = FMA(dz, pull, az);
        }
        BARRIER();
    }
    if (i < n) acceleration[i] = FLOAT4(ax, ay, az, 0.0f);
}
