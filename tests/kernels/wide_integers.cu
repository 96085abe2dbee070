// SPDX-License-Identifier: MIT
// Second hand. Arithmetic of 64 and 128 bits: quotients and remainders of every sign and size, primality by Miller and Rabin
// with the bases that decide below 2^64 (Sorenson and Webster 2015), Montgomery products, square roots of integers.

typedef unsigned long long u64;
typedef long long i64;

struct u128 {
    u64 high, low;
};

static __device__ inline u128 product(u64 a, u64 b) {
    u128 r;
    r.low = a * b;
    r.high = __umul64hi(a, b);
    return r;
}

// high : low modulo m, by shifting in one bit at a time; high < m.
static __device__ __noinline__ u64 remainder(u128 v, u64 m) {
    u64 r = v.high;
    for (int i = 63; i >= 0; --i) {
        const u64 carry = r >> 63;
        r = r << 1 | (v.low >> i & 1u);
        if (carry != 0u || r >= m)
            r -= m;
    }
    return r;
}

struct Montgomery {
    u64 n, minus_inverse, one, square;

    __device__ explicit Montgomery(u64 odd) : n(odd) {
        u64 x = odd * 3u ^ 2u; // 5 bits of the inverse; every step doubles them
        for (int i = 0; i < 4; ++i)
            x *= 2u - odd * x;
        minus_inverse = 0u - x;
        one = (0u - odd) % odd;
        square = remainder(product(one, one), odd);
    }
    __device__ u64 reduce(u128 t) const {
        const u64 q = t.low * minus_inverse;
        const u128 qn = product(q, n);
        const u64 carry = t.low != 0u ? 1u : 0u; // the low halves always cancel
        const u64 s = t.high + qn.high;
        const u64 s2 = s + carry;
        const bool over = s < t.high || s2 < s;
        return over || s2 >= n ? s2 - n : s2;
    }
    __device__ u64 times(u64 a, u64 b) const { return reduce(product(a, b)); }
    __device__ u64 power(u64 base, u64 e) const {
        u64 r = one;
        for (; e != 0u; e >>= 1) {
            if ((e & 1u) != 0u)
                r = times(r, base);
            base = times(base, base);
        }
        return r;
    }
};

static __device__ __noinline__ bool is_prime(u64 n) {
    if (n < 2u)
        return false;
    const unsigned small[12] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
#pragma unroll 1
    for (int i = 0; i < 12; ++i) {
        if (n % small[i] == 0u)
            return n == small[i];
    }
    const Montgomery field(n);
    u64 odd = n - 1u;
    int twos = 0;
    for (; (odd & 1u) == 0u; odd >>= 1)
        ++twos;
    const u64 minus_one = n - field.one;
#pragma unroll 1
    for (int i = 0; i < 12; ++i) {
        u64 x = field.power(field.times(small[i], field.square), odd);
        if (x == field.one || x == minus_one)
            continue;
        bool composite = true;
        for (int k = 1; k < twos; ++k) {
            x = field.times(x, x);
            if (x == minus_one) {
                composite = false;
                break;
            }
        }
        if (composite)
            return false;
    }
    return true;
}

// out: for each pair 6 words: unsigned quotient and remainder, signed quotient and remainder, high halves of both products.
extern "C" __global__ void divide64(const u64* a, const u64* b, int count, u64* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    // a quarter each of full, 32-bit, 16-bit divisors and dividends: the subroutines have paths for them
    const u64 x = a[me] >> (16 * (me & 3)), y = (b[me] >> (16 * (me >> 2 & 3))) | 1u;
    out[6 * me] = x / y;
    out[6 * me + 1] = x % y;
    const i64 sx = (me & 16) != 0 ? -(i64)(x >> 1) : (i64)(x >> 1);
    i64 sy = (me & 32) != 0 ? -(i64)(y >> 1) : (i64)(y >> 1);
    if (sy == 0)
        sy = -5;
    out[6 * me + 2] = (u64)(sx / sy);
    out[6 * me + 3] = (u64)(sx % sy);
    out[6 * me + 4] = __umul64hi(a[me], b[me]);
    out[6 * me + 5] = (u64)__mul64hi((i64)a[me], (i64)b[me]);
}

extern "C" __global__ void primes64(const u64* seeds, int count, unsigned char* prime, u64* next) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const u64 n = seeds[me] >> (me % 57);
    prime[me] = is_prime(n) ? 1 : 0;
    // the next prime at or above an odd number of about 20 bits
    u64 candidate = (n & 0xfffffu) | 1u;
    while (!is_prime(candidate))
        candidate += 2u;
    next[me] = candidate;
}

extern "C" __global__ void roots64(const u64* seeds, int count, unsigned* square_root, unsigned* cube_root) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const u64 n = seeds[me] >> (me & 63);
    // digit by digit
    u64 rest = n, root = 0;
    for (u64 bit = (u64)1 << 62; bit != 0u; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    square_root[me] = (unsigned)root;
    u64 y = 0, left = n;
    for (int s = 63; s >= 0; s -= 3) {
        y += y;
        const u64 b = 3u * y * (y + 1u) + 1u;
        if (left >> s >= b) {
            left -= b << s;
            ++y;
        }
    }
    cube_root[me] = (unsigned)y;
}
