// SPDX-License-Identifier: MIT
// Prices of options as Black and Scholes have them, with logarithm, exponential and the normal
// distribution as polynomials of our own, so that every step is rounded in a known way.

__device__ float natural_log(float x) {
    const int bits = __float_as_int(x);
    const int exponent = (bits - 0x3f3504f3) >> 23;  // mantissa in [sqrt(1/2), sqrt(2))
    const float m = __int_as_float(bits - (exponent << 23)), z = (m - 1.0f) / (m + 1.0f), s = z * z;
    float p = 0.14285715f;
    p = fmaf(p, s, 0.2f);
    p = fmaf(p, s, 0.33333334f);
    p = fmaf(p, s, 1.0f);
    return fmaf((float)exponent, 0.6931472f, 2.0f * z * p);
}

__device__ float exponential(float x) {
    x = fmaxf(x, -87.0f);
    const float n = rintf(x * 1.442695f);
    const float r = fmaf(n, -0.6931472f, x);
    float p = 0.0013888889f;
    p = fmaf(p, r, 0.008333334f);
    p = fmaf(p, r, 0.041666668f);
    p = fmaf(p, r, 0.16666667f);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return p * __int_as_float((int)n + 127 << 23);
}

__device__ float normal(float d) {
    const float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f);
    float p = 1.3302745f;
    p = fmaf(p, k, -1.8212559f);
    p = fmaf(p, k, 1.7814779f);
    p = fmaf(p, k, -0.35656378f);
    p = fmaf(p, k, 0.31938154f);
    const float tail = 0.39894228f * exponential(-0.5f * d * d) * (p * k);
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void options(const float* spot, const float* strike, const float* years, float2* price, float rate,
                                   float volatility, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const float s = spot[i], x = strike[i], t = years[i], root = sqrtf(t);
        const float d1 = (natural_log(s / x) + fmaf(0.5f * volatility, volatility, rate) * t) / (volatility * root);
        const float d2 = d1 - volatility * root;
        const float discounted = x * exponential(-rate * t);
        price[i] = make_float2(s * normal(d1) - discounted * normal(d2), discounted * normal(-d2) - s * normal(-d1));
    }
}
