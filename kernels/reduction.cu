// SPDX-License-Identifier: MIT
// The sum of many floats: every thread adds with a stride, the group by a tree in shared memory whose last
// five steps stay in a warp (CUDA: shuffles; OpenCL: shared memory), the groups' sums by a second launch.
#include "portable.h"

#define THREADS 256

KERNEL(256, 1, 1) reduction(GLOBAL const float* in, GLOBAL float* out, int n ROOM) {
    SHARED float part[THREADS];
    const int t = LOCAL_X;
    float sum = 0;
    for (int i = GLOBAL_X; i < n; i += GROUPS_X * THREADS) sum = sum + in[i];
    part[t] = sum;
    BARRIER();
#ifdef __OPENCL_VERSION__
    for (int half_size = THREADS / 2; half_size > 0; half_size /= 2) {
        if (t < half_size) part[t] = part[t] + part[t + half_size];
        BARRIER();
    }
    if (t == 0) out[GROUP_X] = part[0];
#else
    for (int half_size = THREADS / 2; half_size >= 32; half_size /= 2) {
        if (t < half_size) part[t] = part[t] + part[t + half_size];
        BARRIER();
    }
    if (t < 32) {
        sum = part[t];
        for (int step = 16; step > 0; step /= 2) sum = sum + __shfl_down_sync(0xffffffffu, sum, step);
        if (t == 0) out[GROUP_X] = sum;
    }
#endif
}
