// SPDX-License-Identifier: MIT
// Second hand. Games with bits: reversal, counts, leading and lowest ones, byte permutations, funnel shifts, fields, Gray and
// Morton codes, de Bruijn's trick; and the game of life on 32 columns a word, with neighbours counted by adders on words.

static __device__ unsigned spread(unsigned v) {
    v &= 0xffffu;
    v = (v | v << 8) & 0x00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0fu;
    v = (v | v << 2) & 0x33333333u;
    return (v | v << 1) & 0x55555555u;
}

extern "C" __global__ void bit_games(const unsigned* in, int count, unsigned* out) {
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    if (me >= count)
        return;
    const unsigned v = in[me], w = in[(me + 1) % count] >> (me & 31), k = static_cast<unsigned>(me);
    const unsigned long long x = static_cast<unsigned long long>(v) << 32 | w;
    unsigned* o = out + 24 * me;
    o[0] = __brev(v);
    o[1] = static_cast<unsigned>(__popc(v)) | static_cast<unsigned>(__popcll(x)) << 8;
    o[2] = static_cast<unsigned>(__clz(static_cast<int>(w))) | static_cast<unsigned>(__clzll(static_cast<long long>(x >> (me & 63)))) << 8;
    o[3] = static_cast<unsigned>(__ffs(static_cast<int>(w))) | static_cast<unsigned>(__ffsll(static_cast<long long>(x << (me & 63)))) << 8;
    o[4] = __byte_perm(v, w, k & 0x7777u);
    o[5] = __byte_perm(v, w, 0x7531u);
    o[6] = __funnelshift_l(v, w, k);
    o[7] = __funnelshift_r(v, w, k);
    o[8] = __funnelshift_lc(v, w, k & 63u);
    o[9] = __funnelshift_rc(v, w, k & 63u);
    o[10] = v ^ v >> 1;
    unsigned gray = v;
    for (int s = 16; s > 0; s >>= 1)
        gray ^= gray >> s;
    o[11] = gray;
    o[12] = spread(v) | spread(w) << 1;
    o[13] = ((w & (0u - w)) * 0x077cb531u) >> 27;
    o[14] = __umulhi(v, w) ^ static_cast<unsigned>(__mulhi(static_cast<int>(v), static_cast<int>(w)));
    o[15] = static_cast<unsigned>(__mul24(static_cast<int>(v << 8) >> 8, static_cast<int>(w << 8) >> 8));
    o[16] = __sad(static_cast<int>(v >> 1), static_cast<int>(w), 5u) + __usad(v, w, 9u);
    o[17] = static_cast<unsigned>(__hadd(static_cast<int>(v), static_cast<int>(w))) ^ __uhadd(v, w) ^ __urhadd(v, w);
    // fields of run-time place and width, signed and not
    const unsigned from = k & 31u, width = k >> 5 & 31u;
    o[18] = from + width > 31u ? v >> from : v >> from & ((1u << width) - 1u);
    o[19] = static_cast<unsigned>(static_cast<int>(v << (31u - from)) >> (31u - width));
    const unsigned long long r = __brevll(x);
    o[20] = static_cast<unsigned>(r >> 17) ^ static_cast<unsigned>(r);
    o[21] = (v & w) | (~v & k) | ((v ^ w) & ~k);
    o[22] = ((v & w) ^ (w & k) ^ (v & k)) + ((v | w) & k);
    // next number with as many ones
    const unsigned even = (v & 0x7ffffffeu) | 2u, lowest = even & (0u - even), ripple = even + lowest;
    o[23] = ripple | ((even ^ ripple) >> 2) / lowest;
}

// A torus of rows of 32 cells; a word per thread; several generations with the rows exchanged by shared memory.
extern "C" __global__ void life_words(const unsigned* in, int generations, unsigned* out, unsigned* population) {
    extern __shared__ unsigned rows[];
    const int t = threadIdx.x, n = blockDim.x;
    unsigned mine = in[blockIdx.x * n + t];
    for (int g = 0; g < generations; ++g) {
        unsigned* now = rows + (g & 1) * n;
        now[t] = mine;
        __syncthreads();
        const unsigned up = now[t == 0 ? n - 1 : t - 1], down = now[t + 1 == n ? 0 : t + 1];
        const unsigned neighbour[8] = {__funnelshift_l(up, up, 1),     up,   __funnelshift_r(up, up, 1), __funnelshift_l(mine, mine, 1), __funnelshift_r(mine, mine, 1),
                                       __funnelshift_l(down, down, 1), down, __funnelshift_r(down, down, 1)};
        unsigned ones = 0, twos = 0, fours = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const unsigned carry = ones & neighbour[i];
            ones ^= neighbour[i];
            const unsigned carry2 = twos & carry;
            twos ^= carry;
            fours |= carry2; // eight counts as four or more
        }
        mine = twos & ~fours & (ones | mine);
    }
    out[blockIdx.x * n + t] = mine;
    atomicAdd(&population[blockIdx.x], static_cast<unsigned>(__popc(mine)));
}
