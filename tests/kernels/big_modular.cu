// SPDX-License-Identifier: MIT
// Second hand. Numbers of 256 bits in eight words, with the chains of carries written in PTX (add.cc, addc.cc, mad.lo.cc,
// madc.hi.cc): the field of 2^255 - 19, products, inverses by Fermat and the u of the multiples of a point on
// Curve25519 (RFC 7748), as one ladder of 255 steps per thread without a branch on data.

struct Field {
    unsigned w[8];
};

#ifdef __CUDACC__
static __device__ __forceinline__ unsigned add_to(Field& r, const Field& a, const Field& b) {
    unsigned carry;
    asm("add.cc.u32 %0, %9, %17;\n\t"
        "addc.cc.u32 %1, %10, %18;\n\t"
        "addc.cc.u32 %2, %11, %19;\n\t"
        "addc.cc.u32 %3, %12, %20;\n\t"
        "addc.cc.u32 %4, %13, %21;\n\t"
        "addc.cc.u32 %5, %14, %22;\n\t"
        "addc.cc.u32 %6, %15, %23;\n\t"
        "addc.cc.u32 %7, %16, %24;\n\t"
        "addc.u32 %8, 0, 0;"
        : "=&r"(r.w[0]), "=&r"(r.w[1]), "=&r"(r.w[2]), "=&r"(r.w[3]), "=&r"(r.w[4]), "=&r"(r.w[5]), "=&r"(r.w[6]), "=&r"(r.w[7]), "=&r"(carry)
        : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(a.w[4]), "r"(a.w[5]), "r"(a.w[6]), "r"(a.w[7]), "r"(b.w[0]), "r"(b.w[1]),
          "r"(b.w[2]), "r"(b.w[3]), "r"(b.w[4]), "r"(b.w[5]), "r"(b.w[6]), "r"(b.w[7]));
    return carry;
}
static __device__ __forceinline__ unsigned take_from(Field& r, const Field& a, const Field& b) {
    unsigned borrow;
    asm("sub.cc.u32 %0, %9, %17;\n\t"
        "subc.cc.u32 %1, %10, %18;\n\t"
        "subc.cc.u32 %2, %11, %19;\n\t"
        "subc.cc.u32 %3, %12, %20;\n\t"
        "subc.cc.u32 %4, %13, %21;\n\t"
        "subc.cc.u32 %5, %14, %22;\n\t"
        "subc.cc.u32 %6, %15, %23;\n\t"
        "subc.cc.u32 %7, %16, %24;\n\t"
        "subc.u32 %8, 0, 0;"
        : "=&r"(r.w[0]), "=&r"(r.w[1]), "=&r"(r.w[2]), "=&r"(r.w[3]), "=&r"(r.w[4]), "=&r"(r.w[5]), "=&r"(r.w[6]), "=&r"(r.w[7]), "=&r"(borrow)
        : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(a.w[4]), "r"(a.w[5]), "r"(a.w[6]), "r"(a.w[7]), "r"(b.w[0]), "r"(b.w[1]),
          "r"(b.w[2]), "r"(b.w[3]), "r"(b.w[4]), "r"(b.w[5]), "r"(b.w[6]), "r"(b.w[7]));
    return borrow & 1u;
}
// low += a * b; high takes the upper half and the carry.
static __device__ __forceinline__ void row_step(unsigned& low, unsigned& high, unsigned a, unsigned b, unsigned carry) {
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\t"
        "madc.hi.u32 %1, %2, %3, 0;\n\t"
        "add.cc.u32 %0, %0, %5;\n\t"
        "addc.u32 %1, %1, 0;"
        : "=&r"(low), "=&r"(high)
        : "r"(a), "r"(b), "r"(low), "r"(carry));
}
#else
static unsigned add_to(Field& r, const Field& a, const Field& b) {
    unsigned long long c = 0;
    for (int i = 0; i < 8; ++i) {
        c += static_cast<unsigned long long>(a.w[i]) + b.w[i];
        r.w[i] = static_cast<unsigned>(c);
        c >>= 32;
    }
    return static_cast<unsigned>(c);
}
static unsigned take_from(Field& r, const Field& a, const Field& b) {
    unsigned long long c = 0;
    for (int i = 0; i < 8; ++i) {
        c = static_cast<unsigned long long>(a.w[i]) - b.w[i] - c;
        r.w[i] = static_cast<unsigned>(c);
        c = c >> 63;
    }
    return static_cast<unsigned>(c);
}
static void row_step(unsigned& low, unsigned& high, unsigned a, unsigned b, unsigned carry) {
    const unsigned long long t = static_cast<unsigned long long>(a) * b + low + carry;
    low = static_cast<unsigned>(t);
    high = static_cast<unsigned>(t >> 32);
}
#endif

static __device__ __forceinline__ Field prime() {
    Field p = {{0xffffffedu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0x7fffffffu}};
    return p;
}

static __device__ __forceinline__ Field small(unsigned v) {
    Field r = {{v, 0, 0, 0, 0, 0, 0, 0}};
    return r;
}

static __device__ __forceinline__ Field choose(bool second, const Field& a, const Field& b) {
    Field r;
#pragma unroll
    for (int i = 0; i < 8; ++i)
        r.w[i] = second ? b.w[i] : a.w[i];
    return r;
}

// Below the prime: at most two subtractions, since the values are below 2^256 < 2p + 38.
static __device__ __noinline__ Field canonical(Field v) {
    for (int i = 0; i < 3; ++i) {
        Field less;
        const unsigned borrow = take_from(less, v, prime());
        v = choose(borrow == 0u, v, less);
    }
    return v;
}

static __device__ __noinline__ Field plus(Field a, Field b) {
    Field r;
    unsigned carry = add_to(r, a, b);
    carry = add_to(r, r, small(38u * carry)); // 2^256 = 38
    add_to(r, r, small(38u * carry));
    return r;
}

static __device__ __noinline__ Field minus(Field a, Field b) {
    Field r;
    unsigned borrow = take_from(r, a, b);
    borrow = take_from(r, r, small(38u * borrow));
    take_from(r, r, small(38u * borrow));
    return r;
}

static __device__ __noinline__ Field times(Field a, Field b) {
    unsigned t[16];
#pragma unroll
    for (int i = 0; i < 16; ++i)
        t[i] = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        unsigned carry = 0;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            unsigned high = 0;
            row_step(t[i + j], high, a.w[i], b.w[j], carry);
            carry = high;
        }
        t[i + 8] = carry;
    }
    // the upper eight words count 38 times
    unsigned carry = 0;
    Field r;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        unsigned high = 0;
        row_step(t[i], high, t[i + 8], 38u, carry);
        carry = high;
        r.w[i] = t[i];
    }
    unsigned over = add_to(r, r, small(38u * carry));
    add_to(r, r, small(38u * over));
    return r;
}

// a^(p-2): p - 2 = 2^255 - 21 has all bits set but 2 and 4.
static __device__ __noinline__ Field inverse(Field a) {
    Field r = small(1u);
    for (int bit = 254; bit >= 0; --bit) {
        r = times(r, r);
        if (bit != 2 && bit != 4)
            r = times(r, a);
    }
    return r;
}

extern "C" __global__ void field_products(const unsigned* a, const unsigned* b, int count, unsigned* product, unsigned* sum, unsigned* unity) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    Field x, y;
    for (int i = 0; i < 8; ++i) {
        x.w[i] = a[8 * me + i];
        y.w[i] = b[8 * me + i];
    }
    const Field xy = canonical(times(x, y)), s = canonical(minus(plus(x, y), times(y, small(3u)))), one = canonical(times(x, inverse(x)));
    for (int i = 0; i < 8; ++i) {
        product[8 * me + i] = xy.w[i];
        sum[8 * me + i] = s.w[i];
        unity[8 * me + i] = one.w[i];
    }
}

extern "C" __global__ void curve_ladder(const unsigned* scalars, const unsigned* base, int count, unsigned* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    Field k, u;
    for (int i = 0; i < 8; ++i) {
        k.w[i] = scalars[8 * me + i];
        u.w[i] = base[i];
    }
    k.w[0] &= ~7u;
    k.w[7] = (k.w[7] & 0x7fffffffu) | 0x40000000u;
    u.w[7] &= 0x7fffffffu;
    Field x2 = small(1u), z2 = small(0u), x3 = u, z3 = small(1u);
    bool swapped = false;
    for (int t = 254; t >= 0; --t) {
        const bool bit = (k.w[t >> 5] >> (t & 31) & 1u) != 0u, turn = bit != swapped;
        swapped = bit;
        const Field x2s = choose(turn, x2, x3), x3s = choose(turn, x3, x2), z2s = choose(turn, z2, z3), z3s = choose(turn, z3, z2);
        const Field a = plus(x2s, z2s), b = minus(x2s, z2s), aa = times(a, a), bb = times(b, b), e = minus(aa, bb);
        const Field da = times(minus(x3s, z3s), a), cb = times(plus(x3s, z3s), b), both = plus(da, cb), apart = minus(da, cb);
        x3 = times(both, both);
        z3 = times(u, times(apart, apart));
        x2 = times(aa, bb);
        z2 = times(e, plus(aa, times(small(121665u), e)));
    }
    const Field x = choose(swapped, x2, x3), z = choose(swapped, z2, z3), r = canonical(times(x, inverse(z)));
    for (int i = 0; i < 8; ++i)
        out[8 * me + i] = r.w[i];
}
