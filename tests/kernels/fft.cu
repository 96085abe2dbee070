// SPDX-License-Identifier: MIT
// Complex Fourier transforms of 512 points, one per group, radix 2 in shared memory (Stockham: from
// one half of it to the other, no reversal of bits). Roots of unity come from a launch before.

#define N 512

// Root i of n, by squaring: roots[i] = (c + i·s)^i.
extern "C" __global__ void fft_roots(float2* roots, double c, double s, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = 1, y = 0, px = c, py = s;
    for (int k = i; k; k >>= 1) {
        if (k & 1) {
            const double t = x * px - y * py;
            y = x * py + y * px;
            x = t;
        }
        const double t = px * px - py * py;
        py = 2 * px * py;
        px = t;
    }
    roots[i] = make_float2((float)x, (float)y);
}

extern "C" __global__ void fft(const float2* in, float2* out, const float2* roots) {
    extern __shared__ float2 points[];
    const int t = threadIdx.x;  // of N / 2
    float2 *from = points, *to = points + N;
    const float2* own = in + blockIdx.x * N;
    from[t] = own[t];
    from[t + N / 2] = own[t + N / 2];
    __syncthreads();
    for (int ns = 1; ns < N; ns *= 2) {
        const float2 a = from[t], b = from[t + N / 2];
        const float2 w = roots[(t & (ns - 1)) * (N / 2 / ns)];
        const float2 turned = make_float2(fmaf(b.x, w.x, -(b.y * w.y)), fmaf(b.x, w.y, b.y * w.x));
        const int at = (t / ns) * ns * 2 + (t & (ns - 1));
        to[at] = make_float2(a.x + turned.x, a.y + turned.y);
        to[at + ns] = make_float2(a.x - turned.x, a.y - turned.y);
        __syncthreads();
        float2* const swap = from;
        from = to;
        to = swap;
    }
    out[blockIdx.x * N + t] = from[t];
    out[blockIdx.x * N + t + N / 2] = from[t + N / 2];
}
