// SPDX-License-Identifier: MIT
// A block of four 8x8 matrices of halves is 512 bytes: row r of matrix i at 128 i + 16 r. A load's
// result in lane l is the address that lane l gives to the next one: row l of the next block.
// Transposed, the two halves of that address lie in two rows, one above the other.

#define MATRIX_BLOCKS 8
#define MATRIX_RING(transposed) \
    for (uint h = threadIdx.x; h < MATRIX_BLOCKS * 256; h += blockDim.x) { \
        const uint row = h >> 3 & 7, column = h & 7; \
        const uint lane = (transposed) ? column * 4 + row / 2 : row * 4 + column / 2; \
        const uint next = SHARED_ADDRESS + ((h / 256 + 1) % MATRIX_BLOCKS) * 512 + lane * 16; \
        ((ushort*)shared)[h] = (ushort)(((transposed) ? row : column) & 1 ? next >> 16 : next); \
    } \
    __syncthreads()
struct MatrixWalk {
    uint address;
    uint sink;
    __device__ __forceinline__ MatrixWalk(uint block) : address(SHARED_ADDRESS + ((LOCAL_WARP + block) % MATRIX_BLOCKS) * 512 + LANE * 16), sink(block) {}
    __device__ __forceinline__ operator uint() const { return address + sink; }
};
#define LDMATRIX_1(ptx, x) asm volatile(ptx " {%0}, [%0];" : "+r"((x).address) :: "memory")
#define LDMATRIX_2(ptx, x) asm volatile("{ .reg .b32 t; " ptx " {%0, t}, [%0]; xor.b32 %1, %1, t; }" : "+r"((x).address), "+r"((x).sink) :: "memory")
#define LDMATRIX_4(ptx, x) asm volatile("{ .reg .b32 t, u, v; " ptx " {%0, t, u, v}, [%0]; xor.b32 t, t, u; xor.b32 t, t, v; xor.b32 %1, %1, t; }" : "+r"((x).address), "+r"((x).sink) :: "memory")
// Two places in turn for each warp.
struct MatrixStore {
    uint address;
    uint value[4];
    __device__ __forceinline__ MatrixStore(uint bits) : address(SHARED_ADDRESS + (LOCAL_WARP & 3) * 1024 + LANE * 16)
    {
        _Pragma("unroll") for (int i = 0; i < 4; ++i) value[i] = arbitrary(bits + LANE * 4 + i);
    }
    __device__ __forceinline__ operator uint() const { return value[0] + value[1] + value[2] + value[3]; }
};
#define STMATRIX_1(ptx, x, step) asm volatile(ptx " [%0+%1], {%2};" :: "r"((x).address), "n"(((step) & 1) * 512), "r"((x).value[0]) : "memory")
#define STMATRIX_2(ptx, x, step) asm volatile(ptx " [%0+%1], {%2, %3};" :: "r"((x).address), "n"(((step) & 1) * 512), "r"((x).value[0]), "r"((x).value[1]) : "memory")
#define STMATRIX_4(ptx, x, step) asm volatile(ptx " [%0+%1], {%2, %3, %4, %5};" :: "r"((x).address), "n"(((step) & 1) * 512), "r"((x).value[0]), "r"((x).value[1]), "r"((x).value[2]), "r"((x).value[3]) : "memory")
