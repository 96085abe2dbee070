// SPDX-License-Identifier: MIT
// Begins at a step of the global timer, so that the interval is known to one step.

extern "C" __global__ void occupipe_witness(ulong* __restrict__ out, ulong nanoseconds)
{
    const ulong before = wall_clock();
    ulong wall = before;
    for (int look = 0; look < 50 * PATIENCE && wall == before; ++look) wall = wall_clock();
    const ulong wall_begin = wall;
    const ulong clock_begin = core_clock();
    ulong clock_end = clock_begin;
    ulong tick = wall - before;
    for (int look = 0; look < 50 * PATIENCE && wall - wall_begin < nanoseconds; ++look) {
        const ulong now = wall_clock();
        clock_end = core_clock();
        if (now != wall && now - wall < tick) tick = now - wall;
        wall = now;
    }
    out[0] = clock_end - clock_begin;
    out[1] = wall - wall_begin;
    out[2] = tick;
}
