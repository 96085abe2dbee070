// SPDX-License-Identifier: MIT
// How often each byte occurs: a table of 256 counters in shared memory for every two warps, atomic
// additions that meet when the bytes are equal, and the tables added to global memory.
#include "portable.h"

#define THREADS 128
#define TABLES 2

KERNEL(128, 1, 1) histogram(GLOBAL const unsigned* words, GLOBAL unsigned* counts, int n ROOM) {
    SHARED unsigned table[TABLES * 256];
    const int t = LOCAL_X, own = t / 64 * 256;
    for (int i = t; i < TABLES * 256; i += THREADS) table[i] = 0;
    BARRIER();
    for (int i = GLOBAL_X; i < n; i += GROUPS_X * THREADS) {
        const unsigned word = words[i];
        LOCAL_ADD(&table[own + (word & 255u)], 1u);
        LOCAL_ADD(&table[own + (word >> 8 & 255u)], 1u);
        LOCAL_ADD(&table[own + (word >> 16 & 255u)], 1u);
        LOCAL_ADD(&table[own + (word >> 24)], 1u);
    }
    BARRIER();
    for (int i = t; i < 256; i += THREADS) GLOBAL_ADD(&counts[i], table[i] + table[256 + i]);
}
