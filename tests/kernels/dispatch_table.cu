// SPDX-License-Identifier: MIT
// Second hand. Calls through pointers: a table of device functions in global memory and one in constant memory, chosen by
// data, so that the lanes of a warp call different functions at the same place; functions of 64-bit values and of
// structures too, and a function that takes a function.

typedef unsigned (*Step)(unsigned, unsigned);
typedef long long (*WideStep)(long long, int);

struct Pair {
    unsigned first;
    long long second;
    float third;
};
typedef Pair (*PairStep)(Pair, unsigned);

static __device__ __noinline__ unsigned step_add(unsigned a, unsigned b) { return a + b; }
static __device__ __noinline__ unsigned step_rotate(unsigned a, unsigned b) { return (a << (b & 31u)) | (a >> ((32u - (b & 31u)) & 31u)); }
static __device__ __noinline__ unsigned step_multiply(unsigned a, unsigned b) { return a * (b | 1u); }
static __device__ __noinline__ unsigned step_xor_shift(unsigned a, unsigned b) { return a ^ (b >> 3) ^ (a << 7); }
static __device__ __noinline__ unsigned step_divide(unsigned a, unsigned b) { return a / (b % 1000u + 1u); }
static __device__ __noinline__ unsigned step_collatz(unsigned a, unsigned b) {
    unsigned rounds = 0;
    unsigned v = (a & 0xffffu) + 1u;
    while (v != 1u && rounds < (b & 63u)) {
        v = (v & 1u) != 0u ? 3u * v + 1u : v / 2u;
        ++rounds;
    }
    return a + v * 64u + rounds;
}

static __device__ __noinline__ long long wide_add(long long a, int b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) + static_cast<unsigned long long>(static_cast<long long>(b)));
}
static __device__ __noinline__ long long wide_scale(long long a, int b) {
    return static_cast<long long>(static_cast<unsigned long long>(a) * static_cast<unsigned long long>(static_cast<long long>(b)));
}
static __device__ __noinline__ long long wide_divide(long long a, int b) { return a / ((b & 255) + 3); }

static __device__ __noinline__ Pair pair_swap(Pair p, unsigned k) {
    Pair r;
    r.first = static_cast<unsigned>(p.second) + k;
    r.second = static_cast<long long>(p.first) * 65536 - static_cast<long long>(k);
    r.third = p.third * 0.5f + 1.0f;
    return r;
}
static __device__ __noinline__ Pair pair_weigh(Pair p, unsigned k) {
    p.third = static_cast<float>(k & 1023u) - p.third;
    p.second ^= static_cast<long long>(k) << 17;
    p.first += static_cast<unsigned>(static_cast<int>(p.third));
    return p;
}

__device__ Step steps[6] = {step_add, step_rotate, step_multiply, step_xor_shift, step_divide, step_collatz};
__constant__ WideStep wide_steps[3] = {wide_add, wide_scale, wide_divide};
__device__ PairStep pair_steps[2] = {pair_swap, pair_weigh};

static __device__ __noinline__ unsigned twice(Step f, unsigned a, unsigned b) { return f(f(a, b), b + 1u); }

extern "C" __global__ void dispatch_table(const unsigned* script, int words, unsigned* narrow, long long* wide, unsigned* pairs) {
    const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = me * 40503u + 17u;
    long long w = static_cast<long long>(me) - 100;
    Pair p = {me, -static_cast<long long>(me), static_cast<float>(me) * 0.25f};
    for (int i = 0; i < words; ++i) {
        const unsigned word = script[(static_cast<unsigned>(i) + me) % static_cast<unsigned>(words)];
        a = (word & 0x80000000u) != 0u ? twice(steps[(word ^ me) % 6u], a, word >> 8) : steps[word % 6u](a, word >> 8);
        w = wide_steps[(word >> 4) % 3u](w, static_cast<int>(word >> 20) - 2048);
        if ((word & 0x300u) != 0x100u)
            p = pair_steps[(word >> 11) & 1u](p, word >> 12);
        if (a == 0xffffffffu)
            break;
    }
    narrow[me] = a;
    wide[me] = w;
    pairs[3u * me] = p.first;
    pairs[3u * me + 1u] = static_cast<unsigned>(static_cast<unsigned long long>(p.second) >> 32) ^ static_cast<unsigned>(p.second);
    pairs[3u * me + 2u] = static_cast<unsigned>(static_cast<int>(p.third * 16.0f));
}
