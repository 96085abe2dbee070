// SPDX-License-Identifier: MIT
// Numbers of eight bits (E4M3, E5M2) from binary32 and binary16 and back, and halves rounded to whole numbers in four
// directions, upper and lower: as instructions where there are such, as formulas where there are none.

static __device__ float power(int exponent) { return __int_as_float((exponent + 127) << 23); }

// The nearest with so many digits behind the point and so small an exponent; what is too large becomes the largest.
static __device__ unsigned by_formula(float value, int digits, int least, float largest, unsigned bias) {
    const unsigned sign = __float_as_int(value) < 0 ? 0x80 : 0;
    float size = fabsf(value);
    if (value != value) return 0x7f;
    if (size > largest) size = largest;
    int exponent = ((__float_as_int(size) >> 23) & 255) - 127;
    if (exponent < least) exponent = least;
    const float unit = power(exponent - digits);
    const float whole = rintf(size / unit);
    const unsigned steps = (unsigned)whole;
    // A carry out of the digits runs into the exponent.
    const unsigned first = 1u << digits;
    const unsigned code = steps < first ? steps : steps - first + ((unsigned)(exponent + (int)bias) << digits);
    const unsigned most = digits == 3 ? 0x7e : 0x7b;
    return sign | (code > most ? most : code);
}

static __device__ unsigned pair_e4m3(float high, float low) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 890
    unsigned short r;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
#else
    return by_formula(high, 3, -6, 448.0f, 7) << 8 | by_formula(low, 3, -6, 448.0f, 7);
#endif
}

static __device__ unsigned pair_e5m2(float high, float low) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 890
    unsigned short r;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
    return r;
#else
    return by_formula(high, 2, -14, 57344.0f, 15) << 8 | by_formula(low, 2, -14, 57344.0f, 15);
#endif
}

static __device__ float value_of(unsigned code, int digits, unsigned bias) {
    const unsigned exponent = (code & 127) >> digits, rest = code & ((1u << digits) - 1);
    const float size = exponent == 0 ? (float)rest * power(1 - (int)bias - digits)
                                     : (float)((1u << digits) + rest) * power((int)(exponent - bias) - digits);
    return (code & 128) != 0 ? -size : size;
}

static __device__ unsigned bits_of_half(float value);

// Codes of numbers alone.
static __device__ unsigned halves_of_e4m3(unsigned codes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 890
    unsigned r;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"((unsigned short)codes));
    return r;
#else
    return bits_of_half(value_of(codes >> 8 & 255, 3, 7)) << 16 | bits_of_half(value_of(codes & 255, 3, 7));
#endif
}

static __device__ unsigned halves_of_e5m2(unsigned codes) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 890
    unsigned r;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"((unsigned short)codes));
    return r;
#else
    return bits_of_half(value_of(codes >> 8 & 255, 2, 15)) << 16 | bits_of_half(value_of(codes & 255, 2, 15));
#endif
}

// Of a number that binary16 holds.
static __device__ unsigned bits_of_half(float value) {
    const unsigned sign = __float_as_int(value) < 0 ? 0x8000 : 0;
    const float size = fabsf(value);
    if (size < power(-14)) return sign | (unsigned)(size * power(24));
    const unsigned pattern = (unsigned)__float_as_int(size);
    return sign | ((pattern - (112u << 23)) >> 13);
}

static __device__ float real_of_half(unsigned bits) {
    const unsigned exponent = bits >> 10 & 31;
    const float size = exponent == 0 ? (float)(bits & 1023) * power(-24)
                                     : (float)(1024 + (bits & 1023)) * power((int)exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

static __device__ unsigned whole(unsigned half, int direction) {
#ifdef __CUDACC__
    unsigned short r, from = (unsigned short)half;
    if (direction == 0) asm("cvt.rni.f16.f16 %0, %1;" : "=h"(r) : "h"(from));
    if (direction == 1) asm("cvt.rmi.f16.f16 %0, %1;" : "=h"(r) : "h"(from));
    if (direction == 2) asm("cvt.rpi.f16.f16 %0, %1;" : "=h"(r) : "h"(from));
    if (direction == 3) asm("cvt.rzi.f16.f16 %0, %1;" : "=h"(r) : "h"(from));
    return r;
#else
    const float value = real_of_half(half);
    const float result = direction == 0 ? rintf(value) : direction == 1 ? floorf(value) : direction == 2 ? ceilf(value) : truncf(value);
    return bits_of_half(fabsf(result)) | (half & 0x8000);
#endif
}

// Words give two numbers of every size that eight bits hold, and some beyond.
extern "C" __global__ void eight_bits(const unsigned* in, unsigned* packed, unsigned* halves, unsigned* wholes) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned word = in[i], other = in[i] * 2654435761u;
    const float high = (float)(int)word * power((int)(other >> 27) - 46), low = (float)(int)other * power((int)(word & 31) - 46);
    packed[2 * i] = pair_e4m3(high, low) | pair_e4m3(low, high) << 16;
    packed[2 * i + 1] = pair_e5m2(high, low) | pair_e5m2(low, high) << 16;
    // Not the codes of NaN and infinity.
    unsigned codes = word & 0xffff;
    if ((codes & 0x7f) == 0x7f) codes ^= 1;
    if ((codes & 0x7f00) == 0x7f00) codes ^= 0x100;
    halves[2 * i] = halves_of_e4m3(codes);
    codes = word >> 16;
    if ((codes & 0x7c) == 0x7c) codes ^= 4;
    if ((codes & 0x7c00) == 0x7c00) codes ^= 0x400;
    halves[2 * i + 1] = halves_of_e5m2(codes);
    // Two finite halves in a word.
    unsigned pair = word;
    if ((pair & 0x7c00) == 0x7c00) pair ^= 0x4000;
    if ((pair & 0x7c000000) == 0x7c000000) pair ^= 0x40000000;
    for (int direction = 0; direction < 4; ++direction) {
        wholes[4 * i + direction] = whole(pair & 0xffff, direction) | whole(pair >> 16, direction) << 16;
    }
}
