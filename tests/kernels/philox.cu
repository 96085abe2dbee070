// SPDX-License-Identifier: MIT
// Monte Carlo with a counter-based generator (Philox 4x32, 10 rounds): points in a square, how many
// lie in the circle, counted in whole numbers; and the generator's own words for a test.

__device__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned h0 = __umulhi(0xd2511f53u, c.x), l0 = 0xd2511f53u * c.x;
        const unsigned h1 = __umulhi(0xcd9e8d57u, c.z), l1 = 0xcd9e8d57u * c.z;
        c = make_uint4(h1 ^ c.y ^ key.x, l1, h0 ^ c.w ^ key.y, l0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

extern "C" __global__ void philox_words(uint4* out, uint4 first, uint2 key) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    first.x += i;
    out[i] = philox(first, key);
}

extern "C" __global__ void philox_circle(unsigned long long* inside, unsigned long long seed, int rounds) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    const uint2 key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    unsigned count = 0;
    for (int i = 0; i < rounds; ++i) {
        const uint4 r = philox(make_uint4(i, thread, 0, 0), key);
        const unsigned x0 = r.x >> 1, y0 = r.y >> 1, x1 = r.z >> 1, y1 = r.w >> 1;
        count += (unsigned long long)x0 * x0 + (unsigned long long)y0 * y0 < 1ull << 62;
        count += (unsigned long long)x1 * x1 + (unsigned long long)y1 * y1 < 1ull << 62;
    }
#if !defined(__CUDACC__) || __CUDA_ARCH__ >= 800
    count = __reduce_add_sync(0xffffffffu, count);
#else
    for (int step = 16; step; step >>= 1) count += __shfl_xor_sync(0xffffffffu, count, step);
#endif
    if (threadIdx.x % 32 == 0) atomicAdd(inside, (unsigned long long)count);
}
