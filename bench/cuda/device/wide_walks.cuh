// SPDX-License-Identifier: MIT
// An access of several words: one is the next address, the others go into a sum that is awaited
// and stored with it, so that the assembler cannot narrow the access.

template <typename Address> struct WalkOf {
    Address address;
    uint sink;
    __device__ __forceinline__ WalkOf(Address start) : address(start), sink((uint)start) {}
    __device__ __forceinline__ operator uint() const { return (uint)address + sink; }
};
typedef WalkOf<uint> Walk;
typedef WalkOf<ulong> WideWalk;
#define WALK_2(load, x) asm volatile("{ .reg .b32 t; " load "{%0, t}, [%0]; xor.b32 %1, %1, t; }" : "+r"((x).address), "+r"((x).sink) :: "memory")
#define WALK_4(load, x) asm volatile("{ .reg .b32 t, u, v; " load "{%0, t, u, v}, [%0]; xor.b32 t, t, u; xor.b32 t, t, v; xor.b32 %1, %1, t; }" : "+r"((x).address), "+r"((x).sink) :: "memory")
#define LD_SHARED_V2_U32(x) WALK_2("ld.shared.v2.u32 ", x)
#define LD_SHARED_V4_U32(x) WALK_4("ld.shared.v4.u32 ", x)
#define TABLE_UPPER_HALF "r"((uint)((ulong)in >> 32))
#define TABLE_WALK_1(load, x) asm volatile("{ .reg .b64 p; mov.b64 p, {%0, %1}; " load "%0, [p]; }" : "+r"(x) : TABLE_UPPER_HALF : "memory")
#define LD_GLOBAL_CG_U32(x) TABLE_WALK_1("ld.global.cg.u32 ", x)
#define LD_GLOBAL_NA_U32(x) TABLE_WALK_1("ld.global.L1::no_allocate.u32 ", x)
#define LD_GLOBAL_NC_U32(x) TABLE_WALK_1("ld.global.nc.u32 ", x)

// These words are whole addresses: a load's result is the next address as it stands.
#define WIDE_CHASE_START(lane, chains, chain) ((ulong)in + ((((start + (WARP * (chains) + (chain)) * CHASE_SPACING(chains)) & (TABLE_LINES - 1)) * LINE_WORDS) + (lane)) * 4)
#define WIDE_WALK_2(load, x) asm volatile(load "%0, [%0];" : "+l"((x).address) :: "memory")
#define WIDE_WALK_4(load, x) asm volatile("{ .reg .b64 t; .reg .b32 u, v; " load "{%0, t}, [%0]; mov.b64 {u, v}, t; xor.b32 u, u, v; xor.b32 %1, %1, u; }" : "+l"((x).address), "+r"((x).sink) :: "memory")
#define LD_GLOBAL_U64(x) WIDE_WALK_2("ld.global.u64 ", x)
#define LD_GLOBAL_V2_U64(x) WIDE_WALK_4("ld.global.v2.u64 ", x)
#define LD_GLOBAL_CG_U64(x) WIDE_WALK_2("ld.global.cg.u64 ", x)
#define LD_GLOBAL_CG_V2_U64(x) WIDE_WALK_4("ld.global.cg.v2.u64 ", x)

#define STREAM_1(load, x, step) asm volatile("{ .reg .f32 t; " load "t, [%1+%2]; add.rn.f32 %0, %0, t; }" : "+f"(x) : "l"(p), "n"((step) * 4 * WARP_SIZE) : "memory")
#define STREAM_2(load, x, step) asm volatile("{ .reg .f32 t, u; " load "{t, u}, [%1+%2]; add.rn.f32 %0, %0, t; add.rn.f32 %0, %0, u; }" : "+f"(x) : "l"(p), "n"((step) * 8 * WARP_SIZE) : "memory")
#define STREAM_4(load, x, step) asm volatile("{ .reg .f32 t, u, v, w; " load "{t, u, v, w}, [%1+%2]; add.rn.f32 t, t, u; add.rn.f32 v, v, w; add.rn.f32 t, t, v; add.rn.f32 %0, %0, t; }" : "+f"(x) : "l"(p), "n"((step) * 16 * WARP_SIZE) : "memory")
#define LD_GLOBAL_CG_F32(x, step) STREAM_1("ld.global.cg.f32 ", x, step)
#define LD_GLOBAL_CG_V4_F32(x, step) STREAM_4("ld.global.cg.v4.f32 ", x, step)
#define LD_GLOBAL_V2_F32(x, step) STREAM_2("ld.global.v2.f32 ", x, step)
#define LD_GLOBAL_V4_F32(x, step) STREAM_4("ld.global.v4.f32 ", x, step)
#define ST_GLOBAL_F32(x, step) asm volatile("st.global.f32 [%1+%2], %0;" :: "f"(x), "l"(p), "n"((step) * 4 * WARP_SIZE) : "memory")
#define ST_GLOBAL_F32_SPREAD(x, step, spread) asm volatile("st.global.f32 [%1+%2], %0;" :: "f"(x), "l"(p), "n"((step) * 4 * WARP_SIZE * (spread)) : "memory")
#define ST_GLOBAL_V4_F32(x, step) asm volatile("st.global.v4.f32 [%1+%2], {%0, %0, %0, %0};" :: "f"(x), "l"(p), "n"((step) * 16 * WARP_SIZE) : "memory")

// A texture of words: each is the index of the next one. The texture's handle lies behind the table,
// at a place that the assembler knows to be the same for all lanes.
struct TextureWalk {
    uint index;
    ulong texture;
    __device__ __forceinline__ operator uint() const { return index; }
};
#define TEXTURE_CHASE_START(lane, chains, chain) {(((start + (WARP * (chains) + (chain)) * CHASE_SPACING(chains)) & (TABLE_LINES - 1)) * LINE_WORDS) + (lane), *(const ulong*)((const char*)operands + TABLE_END)}
#define TEX_1D_U32(x) asm volatile("{ .reg .b32 t, u, v; tex.1d.v4.u32.s32 {%0, t, u, v}, [%1, {%0}]; }" : "+r"((x).index) : "l"((x).texture) : "memory")

// Constant memory: a word holds the distance of the next one from the ring's beginning.
#define CONSTANT_RING(words) __constant__ uint constant_ring[words]
#define CONSTANT_START(chains, chain) (((LOCAL_WARP * (chains) + (chain)) & 63) * 4)
#define LD_CONST_U32(x) asm volatile("{ .reg .b64 p, q; mov.u64 p, constant_ring; cvt.u64.u32 q, %0; add.u64 p, p, q; ld.const.u32 %0, [p]; }" : "+r"(x) :: "memory")

// Each thread goes back and forth between two words, so that the threads of a full core fit the
// first-level cache. An array of two would be kept in registers.
#define LOCAL_RING(one) uint local_ring[32]; _Pragma("unroll 1") for (uint w = 0; w < 32; ++w) local_ring[w] = (uint)__cvta_generic_to_local(local_ring) + 4 * (w ^ (one))
#define LOCAL_START(chain) ((uint)__cvta_generic_to_local(local_ring) + 4 * ((chain) & 1))
#define LD_LOCAL_U32(x) asm volatile("ld.local.u32 %0, [%0];" : "+r"(x) :: "memory")
