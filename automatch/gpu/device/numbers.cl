// SPDX-License-Identifier: MIT
// What `automatch measure` times on a device, as OpenCL C and as CUDA.

#ifdef __OPENCL_VERSION__
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define KERNEL __kernel void
#define GLOBAL __global
#define SHARED __local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define ITEM ((uint)get_local_id(0))
#define ITEMS ((uint)get_local_size(0))
#define GROUP ((uint)get_group_id(0))
#define GROUPS ((uint)get_num_groups(0))
#define NO_WORDS (uint4)(0)
#else
typedef unsigned int uint;
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define SHARED __shared__
#define BARRIER() __syncthreads()
#define ITEM threadIdx.x
#define ITEMS blockDim.x
#define GROUP blockIdx.x
#define GROUPS gridDim.x
#define NO_WORDS make_uint4(0, 0, 0, 0)
#endif

// All take the same: memory to read, its number of elements less one, how often, and a place for
// results, of which every work-item has eight bytes.
#define PARAMETERS GLOBAL const uint4 *memory, uint mask, uint rounds, GLOBAL uint *out
#define OWN (GROUP * ITEMS + ITEM)
#define XOR(sum, value) \
    {                   \
        sum.x ^= value.x; \
        sum.y ^= value.y; \
        sum.z ^= value.z; \
        sum.w ^= value.w; \
    }

// Eight chains of multiply-adds; with a factor and a summand of 1 they count how many there were.
#define STEP(type)             \
    a = fma(a, one, one);      \
    b = fma(b, one, one);      \
    c = fma(c, one, one);      \
    d = fma(d, one, one);      \
    e = fma(e, one, one);      \
    f = fma(f, one, one);      \
    g = fma(g, one, one);      \
    h = fma(h, one, one);
#define PEAK(name, type)                                                                    \
    KERNEL name(PARAMETERS) {                                                               \
        const type one = (type)mask;                                                        \
        type a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;                        \
        for (uint i = 0; i < rounds; ++i) {                                                 \
            STEP(type) STEP(type) STEP(type) STEP(type)                                     \
        }                                                                                   \
        ((GLOBAL type *)out)[OWN] = ((a + b) + (c + d)) + ((e + f) + (g + h));              \
    }

PEAK(peak_f32, float)
#if !defined(__OPENCL_VERSION__) || defined(cl_khr_fp64)
PEAK(peak_f64, double)
#endif

// Each group walks through the whole memory, from a place of its own on.
KERNEL read_memory(PARAMETERS) {
    uint4 sum = NO_WORDS;
    uint at = GROUP * (mask / GROUPS + 1) + ITEM & mask;
    for (uint i = 0; i < rounds; ++i) {
        const uint second = at + ITEMS & mask, third = second + ITEMS & mask,
                   fourth = third + ITEMS & mask;
        const uint4 p = memory[at], q = memory[second], r = memory[third], s = memory[fourth];
        XOR(sum, p)
        XOR(sum, q)
        XOR(sum, r)
        XOR(sum, s)
        at = fourth + ITEMS & mask;
    }
    out[OWN] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}

// Eight steps of a chase.
#define WALK \
    at = next[at]; at = next[at]; at = next[at]; at = next[at]; \
    at = next[at]; at = next[at]; at = next[at]; at = next[at];

// One work-item, from where out[0] says; each word is the index of the next one.
KERNEL chase_memory(PARAMETERS) {
    GLOBAL const uint *next = (GLOBAL const uint *)memory;
    uint at = out[0];
    for (uint i = 0; i < rounds; ++i) {
        WALK
    }
    out[0] = at;
}

// The same in memory of the group: 16 KiB.
KERNEL read_shared(PARAMETERS) {
    SHARED uint4 tile[1024];
    for (uint i = ITEM; i < 1024; i += ITEMS) tile[i] = memory[i & mask];
    BARRIER();
    uint4 sum = NO_WORDS;
    uint at = ITEM;
    for (uint i = 0; i < rounds; ++i) {
        const uint4 p = tile[at & 1023], q = tile[at + ITEMS & 1023],
                    r = tile[at + 2 * ITEMS & 1023], s = tile[at + 3 * ITEMS & 1023];
        XOR(sum, p)
        XOR(sum, q)
        XOR(sum, r)
        XOR(sum, s)
        at += 4 * ITEMS;
    }
    out[OWN] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}

// 677 is odd: from each word all others are come by. All fill it, one goes.
KERNEL chase_shared(PARAMETERS) {
    SHARED uint next[4096];
    for (uint i = ITEM; i < 4096; i += ITEMS) next[i] = i + 677 & mask;
    BARRIER();
    if (ITEM != 0) return;
    uint at = out[0];
    for (uint i = 0; i < rounds; ++i) {
        WALK
    }
    out[0] = at;
}

KERNEL nothing(PARAMETERS) {
    if (rounds != 0) out[OWN] = mask;
}
