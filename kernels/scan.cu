// SPDX-License-Identifier: MIT
// Exclusive sums of many integers: a group scans 512 of them in shared memory (up the tree and down again,
// with a gap every 32 words against bank conflicts), the groups' totals are scanned in turn and added.
#include "portable.h"

#define THREADS 256
#define PART 512
#define PLACE(i) ((i) + (i) / 32)

KERNEL(256, 1, 1) scan(GLOBAL const int* in, GLOBAL int* out, GLOBAL int* totals, int n ROOM) {
    SHARED int part[PLACE(PART)];
    const int t = LOCAL_X, first = GROUP_X * PART;
    part[PLACE(t)] = first + t < n ? in[first + t] : 0;
    part[PLACE(t + THREADS)] = first + t + THREADS < n ? in[first + t + THREADS] : 0;
    int distance = 1;
    for (int active = PART / 2; active > 0; active /= 2) {
        BARRIER();
        if (t < active) {
            const int low = distance * (2 * t + 1) - 1, high = distance * (2 * t + 2) - 1;
            part[PLACE(high)] += part[PLACE(low)];
        }
        distance *= 2;
    }
    BARRIER();
    if (t == 0) {
        totals[GROUP_X] = part[PLACE(PART - 1)];
        part[PLACE(PART - 1)] = 0;
    }
    for (int active = 1; active < PART; active *= 2) {
        distance /= 2;
        BARRIER();
        if (t < active) {
            const int low = distance * (2 * t + 1) - 1, high = distance * (2 * t + 2) - 1;
            const int value = part[PLACE(low)];
            part[PLACE(low)] = part[PLACE(high)];
            part[PLACE(high)] += value;
        }
    }
    BARRIER();
    if (first + t < n) out[first + t] = part[PLACE(t)];
    if (first + t + THREADS < n) out[first + t + THREADS] = part[PLACE(t + THREADS)];
}

KERNEL(256, 1, 1) scan_add(GLOBAL int* out, GLOBAL const int* before, int n ROOM) {
    const int first = GROUP_X * PART, add = before[GROUP_X];
    for (int i = first + LOCAL_X; i < n && i < first + PART; i += THREADS) out[i] += add;
}
