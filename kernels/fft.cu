// SPDX-License-Identifier: MIT
// Complex Fourier transforms of 512 points, one per group: nine steps of radix 2 in shared memory, from one
// half of it to the other (Stockham's order, nothing to reverse). Roots of unity come from a table.
#include "portable.h"

#define N 512

// cosine and sine of -2πi/512 for i < 256, by repeated multiplication in double precision.
KERNEL(256, 1, 1) fft_roots(GLOBAL float2* roots, double c, double s ROOM) {
    const int i = GLOBAL_X;
    double x = 1, y = 0;
    for (int k = 0; k < i; ++k) {
        const double t = FMA(x, c, -(y * s));
        y = FMA(x, s, y * c);
        x = t;
    }
    roots[i] = FLOAT2((float)x, (float)y);
}

KERNEL(256, 1, 1) fft(GLOBAL const float2* in, GLOBAL float2* out, GLOBAL const float2* roots ROOM) {
    SHARED float2 points[2 * N];
    const int t = LOCAL_X, first = GROUP_X * N;
    int from = 0;
    points[t] = in[first + t];
    points[t + N / 2] = in[first + t + N / 2];
    BARRIER();
    for (int size = 1; size < N; size *= 2) {
        const int low = t & (size - 1), to = N - from;
        const float2 a = points[from + t], b = points[from + t + N / 2], w = roots[low * (N / 2 / size)];
        const float2 turned = FLOAT2(FMA(b.x, w.x, -(b.y * w.y)), FMA(b.x, w.y, b.y * w.x));
        const int at = to + 2 * (t - low) + low;
        points[at] = FLOAT2(a.x + turned.x, a.y + turned.y);
        points[at + size] = FLOAT2(a.x - turned.x, a.y - turned.y);
        BARRIER();
        from = to;
    }
    out[first + t] = points[from + t];
    out[first + t + N / 2] = points[from + t + N / 2];
}
