// SPDX-License-Identifier: MIT
// Second hand. The functions of the mathematical library whose results are exact, so that any right implementation gives
// the same bits: remainders, scaling by powers of two, taking apart and putting together, neighbours, roundings.

extern "C" __global__ void exact_floats(const unsigned* in, int count, unsigned* out, int* whole) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    // exponents up to 2^60 and down to subnormal numbers; never infinite
    const unsigned a = in[me], b = in[(me + 1) % count];
    const float x = __int_as_float(static_cast<int>((a & 0x807fffffu) | (a >> 23 & 0x7fu) << 23 | (a & 1u) << 29));
    const float y = __int_as_float(static_cast<int>((b & 0x807fffffu) | (b >> 23 & 0x7fu) << 23));
    const float z = __int_as_float(static_cast<int>((a & 0x807fffffu) | (120u + (a >> 24 & 15u)) << 23));
    int exponent = 0, quotient = 0;
    float fraction_of = 0.0f;
    const float mantissa = frexpf(x, &exponent);
    const float r[16] = {fmodf(x, y),        remainderf(x, y),           ldexpf(y, static_cast<int>(a >> 26) - 20),
                         mantissa,           modff(z, &fraction_of),     fraction_of,
                         nextafterf(x, y),   copysignf(x, y),            rintf(z),
                         roundf(z),          truncf(z * 0.5f),           floorf(z),
                         ceilf(z),           fdimf(x, z),                scalbnf(z, 3 - static_cast<int>(b & 7u)),
                         remquof(z, 3.0f, &quotient)};
    for (int k = 0; k < 16; ++k)
        out[16 * me + k] = static_cast<unsigned>(__float_as_int(r[k]));
    int* w = whole + 6 * me;
    w[0] = exponent;
    w[1] = ilogbf(x);
    w[2] = static_cast<int>(lrintf(z));
    w[3] = static_cast<int>(llroundf(z * 8.0f));
    w[4] = quotient & 7;
    w[5] = (isfinite(x) ? 1 : 0) | (signbit(y) ? 2 : 0) | (isnan(x - x) ? 4 : 0);
}

extern "C" __global__ void exact_doubles(const long long* in, int count, long long* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const long long a = in[me], b = in[(me + 3) % count];
    const long long kept = static_cast<long long>(0x800fffffffffffffULL);
    const double x = __longlong_as_double((a & kept) | (980LL + (a >> 52 & 127)) << 52);
    const double y = __longlong_as_double((b & kept) | (1000LL + (b >> 52 & 31)) << 52);
    const double tiny = __longlong_as_double(b & static_cast<long long>(0x800000ffffffffffULL));
    int exponent = 0;
    double fraction_of = 0.0;
    const double mantissa = frexp(tiny, &exponent);
    const double r[12] = {fmod(x, y),
                          remainder(x, y),
                          ldexp(x, static_cast<int>(b & 63) - 30),
                          mantissa,
                          modf(x, &fraction_of),
                          fraction_of,
                          nextafter(tiny, x),
                          rint(x),
                          round(y),
                          trunc(x) - floor(y),
                          ceil(x) + fdim(y, x),
                          ldexp(tiny, exponent < -1000 ? 60 : -3)};
    for (int k = 0; k < 12; ++k)
        out[14 * me + k] = __double_as_longlong(r[k]);
    out[14 * me + 12] = exponent;
    out[14 * me + 13] = llrint(y * 1024.0) ^ static_cast<long long>(ilogb(x)) << 40;
}
