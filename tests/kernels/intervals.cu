// SPDX-License-Identifier: MIT
// Second hand. Interval arithmetic: every operation rounds its lower end down and its upper end up, by the functions with
// the direction in their names, in single and in double precision. Horner's rule, Newton's steps for a root, a logistic
// map until the interval is wider than a bound.

template <typename T>
struct Interval {
    T low, high;
};

static __device__ __forceinline__ Interval<float> operator+(Interval<float> a, Interval<float> b) {
    return {__fadd_rd(a.low, b.low), __fadd_ru(a.high, b.high)};
}
static __device__ __forceinline__ Interval<double> operator+(Interval<double> a, Interval<double> b) {
    return {__dadd_rd(a.low, b.low), __dadd_ru(a.high, b.high)};
}
template <typename T>
static __device__ __forceinline__ Interval<T> operator-(Interval<T> a, Interval<T> b) {
    return a + Interval<T>{-b.high, -b.low};
}
static __device__ Interval<float> operator*(Interval<float> a, Interval<float> b) {
    const float d0 = __fmul_rd(a.low, b.low), d1 = __fmul_rd(a.low, b.high), d2 = __fmul_rd(a.high, b.low), d3 = __fmul_rd(a.high, b.high);
    const float u0 = __fmul_ru(a.low, b.low), u1 = __fmul_ru(a.low, b.high), u2 = __fmul_ru(a.high, b.low), u3 = __fmul_ru(a.high, b.high);
    const float da = d0 < d1 ? d0 : d1, db = d2 < d3 ? d2 : d3, ua = u0 < u1 ? u1 : u0, ub = u2 < u3 ? u3 : u2;
    return {da < db ? da : db, ua < ub ? ub : ua};
}
static __device__ Interval<double> operator*(Interval<double> a, Interval<double> b) {
    const double d0 = __dmul_rd(a.low, b.low), d1 = __dmul_rd(a.low, b.high), d2 = __dmul_rd(a.high, b.low), d3 = __dmul_rd(a.high, b.high);
    const double u0 = __dmul_ru(a.low, b.low), u1 = __dmul_ru(a.low, b.high), u2 = __dmul_ru(a.high, b.low), u3 = __dmul_ru(a.high, b.high);
    const double da = d0 < d1 ? d0 : d1, db = d2 < d3 ? d2 : d3, ua = u0 < u1 ? u1 : u0, ub = u2 < u3 ? u3 : u2;
    return {da < db ? da : db, ua < ub ? ub : ua};
}
// Of positive intervals.
static __device__ Interval<float> operator/(Interval<float> a, Interval<float> b) { return {__fdiv_rd(a.low, b.high), __fdiv_ru(a.high, b.low)}; }
static __device__ Interval<double> operator/(Interval<double> a, Interval<double> b) { return {__ddiv_rd(a.low, b.high), __ddiv_ru(a.high, b.low)}; }
static __device__ Interval<float> root(Interval<float> a) { return {__fsqrt_rd(a.low), __fsqrt_ru(a.high)}; }
static __device__ Interval<double> root(Interval<double> a) { return {__dsqrt_rd(a.low), __dsqrt_ru(a.high)}; }

template <typename T>
static __device__ void work(T seed, T bound, T* out, int* turns) {
    const Interval<T> x = {seed, seed}, one = {1, 1}, three = {3, 3};
    Interval<T> poly = {static_cast<T>(0.1f), static_cast<T>(0.1f)};
    for (int k = 0; k < 6; ++k)
        poly = poly * x + Interval<T>{static_cast<T>(k - 2), static_cast<T>(k - 2)};
    const Interval<T> square = x * x + one, r = root(square), q = three / (r + one);
    Interval<T> logistic = q / three;
    int n = 0;
    const Interval<T> rate = {static_cast<T>(3.75f), static_cast<T>(3.75f)};
    while (logistic.high - logistic.low < bound && n < 200) {
        logistic = rate * logistic * (one - logistic);
        ++n;
    }
    *turns = n;
    out[0] = poly.low;
    out[1] = poly.high;
    out[2] = r.low;
    out[3] = r.high;
    out[4] = q.low;
    out[5] = q.high;
    out[6] = logistic.low;
    out[7] = logistic.high;
}

extern "C" __global__ void interval_floats(const float* in, int count, float* out, int* turns) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me < count)
        work<float>(in[me], 0.25f, out + 8 * me, turns + me);
}

extern "C" __global__ void interval_doubles(const double* in, int count, double* out, int* turns) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me < count)
        work<double>(in[me], 0.25, out + 8 * me, turns + me);
}

// The directions of the fused operation, and toward zero.
extern "C" __global__ void directed_fma(const float* in, const double* wide, int count, float* out, double* wide_out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const float a = in[me], b = in[(me + 1) % count], c = in[(me + 2) % count] * 1e-5f;
    float* o = out + 6 * me;
    o[0] = __fmaf_rz(a, b, c);
    o[1] = __fmaf_ru(a, b, c);
    o[2] = __fmaf_rd(a, b, -c);
    o[3] = __fadd_rz(a, -c);
    o[4] = __fmul_rz(a, b);
    o[5] = __frcp_rn(a) + __fdiv_rz(b, a);
    const double x = wide[me], y = wide[(me + 1) % count], z = wide[(me + 2) % count] * 1e-12;
    double* w = wide_out + 6 * me;
    w[0] = __fma_rz(x, y, z);
    w[1] = __fma_ru(x, y, z);
    w[2] = __fma_rd(x, y, -z);
    w[3] = __dadd_rz(x, -z);
    w[4] = __dmul_rz(x, y);
    w[5] = __drcp_rd(x) + __ddiv_rz(y, x);
}
