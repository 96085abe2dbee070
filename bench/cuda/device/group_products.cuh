// SPDX-License-Identifier: MIT
// A and B of a warp group lie in shared memory without swizzling: eight rows of 16 bytes together,
// and every row of A and column of B is 32 bytes, whatever its elements are.

#define MATRIX_FILL(bytes, keep, set) __syncthreads(); for (uint w = threadIdx.x; w < (bytes) / 4; w += blockDim.x) shared[w] = (arbitrary(w) & (keep)) | (set); SHARED_FILL_FENCE __syncthreads()
__device__ __forceinline__ void hold(float& value) { asm volatile("" : "+f"(value)); }
__device__ __forceinline__ void hold(int& value) { asm volatile("" : "+r"(value)); }
__device__ __forceinline__ void hold(uint& value) { asm volatile("" : "+r"(value)); }
// A reduction's result is uniform, which the instruction needs, and is not made anew in the loop,
// where the assembler would put the address's computation.
__device__ __forceinline__ ulong matrix_descriptor(uint offset)
{
    const ulong made = MATRIX_DESCRIPTOR(offset);
#if __CUDA_ARCH__ >= 800
    return (ulong)__reduce_max_sync(0xffffffffu, (uint)made) | made >> 32 << 32;
#else
    return made;
#endif
}
template <typename Element, int count> struct GroupProduct : Fragment<Element, count> {
    ulong left, right;
    __device__ __forceinline__ GroupProduct(uint bits) : Fragment<Element, count>(bits), left(matrix_descriptor(0)), right(matrix_descriptor(2048)) {}
    // What is still in flight has to land first.
    __device__ __forceinline__ operator uint()
    {
#if __CUDA_ARCH_FEAT_SM90_ALL
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
        _Pragma("unroll") for (int i = 0; i < count; ++i) hold(this->element[i]);
        Element sum = this->element[0];
        _Pragma("unroll") for (int i = 1; i < count; ++i) sum = sum + this->element[i];
        return (uint)(int)sum;
    }
};
