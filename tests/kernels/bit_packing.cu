// SPDX-License-Identifier: MIT
// Whole numbers in as few bits as their block needs: a group finds the widest of its numbers, packs
// all of them with that width, and a second launch reads them back, sign and all.

__device__ __forceinline__ int width_of(int value) { return 33 - __clz(value < 0 ? ~value : value); }

// The lowest `width` bits set; their sign extended.
__device__ __forceinline__ unsigned mask_of(int width) {
#ifdef __CUDACC__
    unsigned mask;
    asm("bmsk.clamp.b32 %0, 0, %1;" : "=r"(mask) : "r"(width));
    return mask;
#else
    return width >= 32 ? 0xffffffffu : (1u << width) - 1;
#endif
}
__device__ __forceinline__ int with_sign(unsigned bits, int width) {
#ifdef __CUDACC__
    int value;
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(value) : "r"((int)bits), "r"(width));
    return value;
#else
    return width >= 32 ? (int)bits : (int)(bits << (32 - width)) >> (32 - width);
#endif
}

// Packed: a word with the width, then up to 128 words, for each block of 128 numbers.
extern "C" __global__ void bit_pack(const int* in, unsigned* packed, int n) {
    __shared__ int widest;
    __shared__ unsigned words[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    const int value = i < n ? in[i] : 0;
    if (t == 0) widest = 1;
    words[t] = 0;
    __syncthreads();
    atomicMax(&widest, width_of(value));
    __syncthreads();
    const int width = widest, at = t * width;
    const unsigned bits = (unsigned)value & mask_of(width);
    atomicOr(&words[at >> 5], bits << (at & 31));
    if ((at & 31) + width > 32) atomicOr(&words[(at >> 5) + 1], bits >> (32 - (at & 31)));
    __syncthreads();
    packed[blockIdx.x * 129 + 1 + t] = words[t];
    if (t == 0) packed[blockIdx.x * 129] = width;
}

extern "C" __global__ void bit_unpack(const unsigned* packed, int* out, unsigned char* nibbles, int n) {
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    const unsigned* block = packed + blockIdx.x * 129;
    const int width = block[0], at = t * width;
    if (i >= n) return;
    const unsigned low = block[1 + (at >> 5)];
    const unsigned high = (at & 31) + width > 32 ? block[2 + (at >> 5)] : 0;
    const int value = with_sign(__funnelshift_r(low, high, at & 31) & mask_of(width), width);
    out[i] = value;
    // Sums of sign-extended nibbles and of 12-bit fields.
    int sum = 0;
    for (int k = 0; k < 8; ++k) sum += value << (28 - 4 * k) >> 28;
    sum ^= (value << 8 >> 20) + (value << 20 >> 20);
    nibbles[i] = (unsigned char)(sum + (signed char)(value >> 3));
}
