// SPDX-License-Identifier: MIT
// Second hand. Every atomic operation, on shared and on global memory, used so that the outcome is the same in any order:
// commutative integers, sums of floating-point numbers that are exact, exchanges whose chain is conserved, and loops
// around compare-and-swap. What an operation returned goes into sums that do not depend on the order either.

typedef unsigned long long u64;

static __device__ void swap_loop_max(float* where, float v) {
    int* word = reinterpret_cast<int*>(where);
    int seen = *reinterpret_cast<volatile int*>(word);
    while (__int_as_float(seen) < v) {
        const int before = atomicCAS(word, seen, __float_as_int(v));
        if (before == seen)
            break;
        seen = before;
    }
}

static __device__ void swap_loop_product(u64* where, u64 v) {
    u64 seen = *where, before;
    do {
        before = seen;
        seen = atomicCAS(where, before, before * (v | 1u));
    } while (seen != before);
}

// Beginnings on which a minimum, a maximum and a conjunction have something to do.
extern "C" __global__ void atomic_prepare(unsigned* table, u64* wide, float* sums) {
    const unsigned t = threadIdx.x;
    if (t < 208u)
        table[t] = t >= 48u && t < 64u ? 0xffffffffu : t >= 80u && t < 96u ? 0x7fffffffu : t >= 96u && t < 112u ? 0x80000000u : t >= 112u && t < 128u ? 0xffffffffu : 0u;
    if (t < 160u)
        wide[t] = t >= 16u && t < 32u ? ~0ULL : t >= 48u && t < 64u ? ~0ULL >> 1 : t >= 64u && t < 80u ? 1ULL << 63 : t >= 80u && t < 96u ? ~0ULL : t >= 128u && t < 144u ? 1ULL : 0ULL;
    if (t < 32u)
        sums[t] = t < 16u ? 0.0f : -1.0f;
}

// table: 16 places of 32 bits for each of 13 operations; wide: 16 of 64 bits for each of 10; tickets: what was returned.
extern "C" __global__ void atomic_global(const unsigned* in, unsigned* table, u64* wide, float* sums, double* double_sums, u64* tickets) {
    const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned v = in[at], place = (v >> 9) & 15u;
    const u64 w = (u64)v * 0x9e3779b97f4a7c15ULL;
    const unsigned ticket = atomicAdd(&table[place], 1u);
    atomicAdd(&tickets[0], (u64)ticket);
    atomicAdd((int*)&table[16 + place], -(int)(v & 0xffffu));
    atomicSub(&table[32 + place], v);
    atomicMin(&table[48 + place], v);
    atomicMax(&table[64 + place], v);
    atomicMin((int*)&table[80 + place], (int)v);
    atomicMax((int*)&table[96 + place], (int)v);
    atomicAnd(&table[112 + place], v | 0x00ff00ffu);
    atomicOr(&table[128 + place], v & 0x0f0f0f0fu);
    atomicXor(&table[144 + place], v);
    // counts up modulo 7 and down modulo 11; with n uses the end is n mod 7, whichever thread came when
    const unsigned up = atomicInc(&table[160 + place], 6u);
    const unsigned down = atomicDec(&table[176 + place], 10u);
    if (up > 6u || down > 10u)
        atomicAdd(&tickets[1], 1ULL);

    atomicAdd(&wide[place], w);
    atomicMin(&wide[16 + place], w);
    atomicMax(&wide[32 + place], w);
    atomicMin((long long*)&wide[48 + place], (long long)w);
    atomicMax((long long*)&wide[64 + place], (long long)w);
    atomicAnd(&wide[80 + place], w | 0xffULL << (place * 3u));
    atomicOr(&wide[96 + place], w & 0x1111111111111111ULL);
    atomicXor(&wide[112 + place], w);
    swap_loop_product(&wide[128 + place], w);

    atomicAdd(&sums[place], (float)(v & 255u));
    swap_loop_max(&sums[16 + place], (float)(v >> 8));
    atomicAdd(&double_sums[place], (double)(v >> 4) * 0.0625);

    // a chain of exchanges: all that was put in comes out once, save the last, which stays
    const unsigned old = atomicExch(&table[192 + place], v);
    atomicAdd(&tickets[2], (u64)old);
    const u64 wide_old = atomicExch(&wide[144 + place], w);
    atomicXor(&tickets[3], wide_old);
}

// The last one of a place hands in what stayed: run after atomic_global.
extern "C" __global__ void atomic_settle(unsigned* table, u64* wide, u64* tickets) {
    const unsigned t = threadIdx.x;
    if (t < 16u) {
        atomicAdd(&tickets[2], (u64)atomicExch(&table[192 + t], 0u));
        atomicXor(&tickets[3], atomicExch(&wide[144 + t], 0ULL));
    }
}

extern "C" __global__ void atomic_shared(const unsigned* in, unsigned* out, u64* wide_out) {
    __shared__ unsigned bin[8][32];
    __shared__ u64 wide[4][32];
    __shared__ float fbin[32];
    __shared__ unsigned ticket_sum, order[256];
    const unsigned t = threadIdx.x;
    for (unsigned i = t; i < 8u * 32u; i += blockDim.x)
        bin[i / 32u][i % 32u] = i / 32u == 2u ? 0xffffffffu : 0u;
    for (unsigned i = t; i < 4u * 32u; i += blockDim.x)
        wide[i / 32u][i % 32u] = i / 32u == 1u ? 1u : 0u;
    if (t < 32u)
        fbin[t] = -1.0f;
    if (t == 0u)
        ticket_sum = 0u;
    __syncthreads();
    const unsigned v = in[blockIdx.x * blockDim.x + t], place = v & 31u;
    const unsigned mine = atomicAdd(&bin[0][place], 1u);
    atomicAdd(&ticket_sum, mine);
    atomicMax(&bin[1][place], v);
    atomicMin(&bin[2][place], v);
    atomicXor(&bin[3][place], v);
    atomicOr(&bin[4][place], 1u << (v >> 27));
    atomicInc(&bin[5][place], 4u);
    atomicSub((int*)&bin[6][place], (int)(v >> 16));
    atomicAdd(&wide[0][place], (u64)v << 20);
    swap_loop_product(&wide[1][place], v);
    atomicMax(&wide[2][place], (u64)v << 7);
    atomicXor(&wide[3][place], ~(u64)v);
    swap_loop_max(&fbin[place], (float)(v & 0xfffffu));
    // a bit set of who was first is not determined; that exactly one was is
    if (atomicCAS(&bin[7][place], 0u, t + 1u) == 0u)
        atomicAdd(&ticket_sum, 0x10000u);
    // tickets give every thread a place of its own: a permutation, of which the sum of squares is determined
    __shared__ unsigned next;
    if (t == 0u)
        next = 0u;
    __syncthreads();
    order[atomicAdd(&next, 1u)] = t;
    __syncthreads();
    unsigned moved = order[t] * order[t];
    for (int d = 16; d > 0; d >>= 1)
        moved += __shfl_xor_sync(0xffffffffu, moved, d);
    if ((t & 31u) == 0u)
        atomicAdd(&ticket_sum, moved << 4);
    __syncthreads();
    if (t < 32u) {
        for (unsigned k = 0; k < 7u; ++k)
            out[(blockIdx.x * 9u + k) * 32u + t] = bin[k][t];
        out[(blockIdx.x * 9u + 7u) * 32u + t] = (unsigned)__float_as_int(fbin[t]);
        out[(blockIdx.x * 9u + 8u) * 32u + t] = bin[7][t] != 0u ? ticket_sum : 0u;
        for (unsigned k = 0; k < 4u; ++k)
            wide_out[(blockIdx.x * 4u + k) * 32u + t] = wide[k][t];
    }
}
