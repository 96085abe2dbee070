// SPDX-License-Identifier: MIT
// Halves divided by one another, and compared with constants: one by one and in pairs.

#include <cuda_fp16.h>

extern "C" __global__ void half_division(const unsigned short* top, const unsigned short* bottom,
                                         unsigned short* quotients, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) quotients[i] = __half_as_ushort(__ushort_as_half(top[i]) / __ushort_as_half(bottom[i]));
}

extern "C" __global__ void half_constants(const __half2* pairs, unsigned* marks, __half2* ones, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const __half2 pair = pairs[i];
    const __half low = __low2half(pair), high = __high2half(pair);
    unsigned mark = 0;
    if (low < __float2half(2.5f)) mark |= 1;
    if (high >= __float2half(-1.1f)) mark |= 2;
    if (-low <= __float2half(3.0f)) mark |= 4;
    if (!(high > __float2half(0.3f))) mark |= 8;
    if (low == __float2half(0.0f)) mark |= 16;
    if (high != __float2half(1.0f)) mark |= 32;
    if (__hbgt2(pair, __floats2half2_rn(-4.5f, 2.0f))) mark |= 64;
    if (__hble2(pair, __floats2half2_rn(0.75f, -0.5f))) mark |= 128;
    marks[i] = mark;
    ones[2 * i] = __hgt2(pair, __floats2half2_rn(2.5f, -1.25f));
    ones[2 * i + 1] = __hle2(pair, __floats2half2_rn(-6.0f, 3.25f));
}
