// SPDX-License-Identifier: MIT
// Matrices in shared memory, without swizzling: core matrices of 8 rows of 16 bytes lie one after
// the other.

#define SHARED_FILL(bytes, value) for (uint w = threadIdx.x; w < (bytes) / 4; w += blockDim.x) shared[w] = (uint)(value); SHARED_FILL_FENCE __syncthreads()
#if __CUDA_ARCH__ >= 900
#define SHARED_FILL_FENCE asm volatile("fence.proxy.async;" ::: "memory");
#else
#define SHARED_FILL_FENCE
#endif
#define MATRIX_DESCRIPTOR(offset) ((ulong)(((SHARED_ADDRESS + (offset)) & 0x3ffff) >> 4) | (ulong)(128 >> 4) << 16 | (ulong)(256 >> 4) << 32)
