// SPDX-License-Identifier: MIT
// Bitonic sort of keys: parts of 512 in shared memory, wider distances one launch each in global memory.
#include "portable.h"

#define PART 512
#define THREADS 256

// Sorts parts of 512, neighbours in opposite directions (width 2 to 512); or ends a merge of `width`.
KERNEL(256, 1, 1) bitonic(GLOBAL unsigned* keys, int from_width, int width ROOM) {
    SHARED unsigned s[PART];
    const int t = LOCAL_X, first = GROUP_X * PART;
    s[t] = keys[first + t];
    s[t + THREADS] = keys[first + t + THREADS];
    for (int w = from_width; w <= width; w *= 2) {
        for (int distance = (w < PART ? w : PART) / 2; distance > 0; distance /= 2) {
            BARRIER();
            const int at = 2 * t - (t & (distance - 1));
            const unsigned a = s[at], b = s[at + distance];
            if ((a > b) == (((first + at) & w) == 0)) {
                s[at] = b;
                s[at + distance] = a;
            }
        }
    }
    BARRIER();
    keys[first + t] = s[t];
    keys[first + t + THREADS] = s[t + THREADS];
}

KERNEL(256, 1, 1) bitonic_global(GLOBAL unsigned* keys, int width, int distance ROOM) {
    const int t = GLOBAL_X, at = 2 * t - (t & (distance - 1));
    const unsigned a = keys[at], b = keys[at + distance];
    if ((a > b) == ((at & width) == 0)) {
        keys[at] = b;
        keys[at + distance] = a;
    }
}
