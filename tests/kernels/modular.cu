// SPDX-License-Identifier: MIT
// Arithmetic modulo 64-bit numbers: strong-prime tests (Miller-Rabin) with Montgomery products of the
// upper halves, and remainders by the division of the language.

typedef unsigned long long u64;

__device__ __forceinline__ u64 montgomery(u64 a, u64 b, u64 n, u64 minus_inverse) {
    const u64 low = a * b, high = __umul64hi(a, b);
    const u64 m = low * minus_inverse, back = __umul64hi(m, n);
    u64 r = high + back + (low != 0);
    if (r < high || r >= n) r -= n;
    return r;
}

__device__ bool strong_probable_prime(u64 n, u64 base) {
    u64 inverse = n;  // of n modulo 2^64, by Newton's steps
    for (int i = 0; i < 5; ++i) inverse *= 2 - n * inverse;
    const u64 one = (0ull - n) % n;  // 2^64 mod n
    u64 square = one;                // 2^128 mod n, by doubling
    for (int i = 0; i < 64; ++i) {
        const u64 twice = square + square;
        square = twice < square || twice >= n ? twice - n : twice;
    }
    const u64 minus = n - one, b = montgomery(base % n, square, n, 0 - inverse);
    u64 odd = n - 1;
    const int twos = __ffsll(odd) - 1;
    odd >>= twos;
    u64 x = one;
    for (int bit = 63 - __clzll(odd); bit >= 0; --bit) {
        x = montgomery(x, x, n, 0 - inverse);
        if (odd >> bit & 1) x = montgomery(x, b, n, 0 - inverse);
    }
    if (x == one || x == minus) return true;
    for (int i = 1; i < twos; ++i) {
        x = montgomery(x, x, n, 0 - inverse);
        if (x == minus) return true;
    }
    return false;
}

extern "C" __global__ void modular(const u64* numbers, unsigned char* prime, u64* remainders, u64 divisor, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const u64 x = numbers[i] | 1;
    bool probable = x > 3;
    for (u64 base = 2; probable && base <= 11; base += base == 2 ? 1 : 2) {
        if (base != 9 && x % base != 0) probable = strong_probable_prime(x, base);
    }
    prime[i] = probable;
    remainders[2 * i] = x / divisor;
    remainders[2 * i + 1] = (u64)((long long)x % (long long)(divisor >> 3));
}
