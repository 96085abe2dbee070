// SPDX-License-Identifier: MIT
// Second hand. Double precision with its errors kept: sums after Kahan and Neumaier, dot products after Ogita, Rump and Oishi
// (2005), and numbers of two doubles with products, quotients and square roots; fused multiply-adds are explicit.

struct Two {
    double head, tail;
};

static __device__ __forceinline__ Two two_sum(double a, double b) {
    const double s = a + b, bb = s - a;
    return Two{s, (a - (s - bb)) + (b - bb)};
}
static __device__ __forceinline__ Two quick(double a, double b) {
    const double s = a + b;
    return Two{s, b - (s - a)};
}
static __device__ __forceinline__ Two two_product(double a, double b) {
    const double p = a * b;
    return Two{p, fma(a, b, -p)};
}
static __device__ __noinline__ Two add(Two a, Two b) {
    Two s = two_sum(a.head, b.head);
    const Two t = two_sum(a.tail, b.tail);
    s = quick(s.head, s.tail + t.head);
    return quick(s.head, s.tail + t.tail);
}
static __device__ __noinline__ Two multiply(Two a, Two b) {
    Two p = two_product(a.head, b.head);
    p.tail += a.head * b.tail + a.tail * b.head;
    return quick(p.head, p.tail);
}
static __device__ __noinline__ Two divide(Two a, Two b) {
    const double q1 = a.head / b.head;
    Two r = add(a, multiply(b, Two{-q1, 0.0}));
    const double q2 = r.head / b.head;
    r = add(r, multiply(b, Two{-q2, 0.0}));
    const double q3 = r.head / b.head;
    const Two q = quick(q1, q2);
    return add(q, Two{q3, 0.0});
}
static __device__ __noinline__ Two root(Two a) {
    const double x = sqrt(a.head);
    const Two square = two_product(x, x);
    const Two rest = add(a, Two{-square.head, -square.tail});
    return quick(x, rest.head / (2.0 * x));
}

// Each thread: a strided slice; then the block adds the slices in a tree of fixed shape.
extern "C" __global__ void compensated_sums(const double* in, int count, double* out) {
    __shared__ double head[64], tail[64];
    const int t = threadIdx.x;
    double kahan = 0.0, c = 0.0, neumaier = 0.0, lost = 0.0;
    Two exact = {0.0, 0.0};
    volatile double plain = 0.0;
    for (int i = t; i < count; i += 64) {
        const double big = in[i] * ((i & 3) == 0 ? 1e12 : 1.0) * ((i & 4) == 0 ? -1.0 : 1.0);
        const double y = big - c, s = kahan + y;
        c = (s - kahan) - y;
        kahan = s;
        const double n = neumaier + big;
        lost += fabs(neumaier) >= fabs(big) ? (neumaier - n) + big : (big - n) + neumaier;
        neumaier = n;
        exact = add(exact, Two{big, 0.0});
        plain = plain + big;
    }
    head[t] = exact.head;
    tail[t] = exact.tail;
    for (int half = 32; half > 0; half >>= 1) {
        __syncthreads();
        if (t < half) {
            const Two s = add(Two{head[t], tail[t]}, Two{head[t + half], tail[t + half]});
            head[t] = s.head;
            tail[t] = s.tail;
        }
    }
    __syncthreads();
    double* mine = out + 6 * (blockIdx.x * 64 + t);
    mine[0] = kahan;
    mine[1] = neumaier + lost;
    mine[2] = plain;
    mine[3] = exact.head + exact.tail;
    mine[4] = head[t & 1];
    mine[5] = tail[0];
}

extern "C" __global__ void two_doubles(const double* in, int count, double* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const Two a = quick(in[me] + 3.0, in[me] * 1e-17), b = quick(in[(me + 1) % count] * 7.0 + 0.1, in[(me + 2) % count] * 1e-18);
    const Two p = multiply(a, b), q = divide(a, b), r = root(Two{fabs(p.head), p.head < 0.0 ? -p.tail : p.tail});
    // the quotient again by Newton from single precision, to see conversions between the widths
    double x = static_cast<double>(1.0f / static_cast<float>(b.head));
    for (int k = 0; k < 3; ++k)
        x = fma(x, fma(-b.head, x, 1.0), x);
    double* o = out + 8 * me;
    o[0] = p.head;
    o[1] = p.tail;
    o[2] = q.head;
    o[3] = q.tail;
    o[4] = r.head;
    o[5] = r.tail;
    o[6] = x;
    o[7] = static_cast<double>(sqrtf(static_cast<float>(fabs(p.head)))) / 3.0 + floor(q.head * 16.0) + static_cast<double>(static_cast<long long>(q.head * 1048576.0));
}
