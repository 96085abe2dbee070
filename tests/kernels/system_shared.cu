// SPDX-License-Identifier: MIT
// Warps that exchange values in the shared memory that the system keeps, as tiles of several warps in cooperative
// groups do, beside static and dynamic memory of their own.

extern "C" __global__ void system_shared(const unsigned* in, unsigned* out) {
    extern __shared__ unsigned dynamic[];
    __shared__ unsigned own[37];
    const unsigned me = threadIdx.x;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    unsigned* room;
    asm("{.reg .u32 at; .reg .u64 wide; mov.u32 at, %%reserved_smem_offset_1; cvt.u64.u32 wide, at; cvta.shared.u64 %0, wide;}"
        : "=l"(room));
#else
    __shared__ unsigned room_of_old[8];
    unsigned* const room = room_of_old;
#endif
    const unsigned value = in[blockIdx.x * blockDim.x + me];
    dynamic[me] = value * 3u;
    if (me < 37u) own[me] = value + me;
    if (me % 32u == 0u) room[me / 32u] = 0u;
    __syncthreads();
    atomicAdd(&room[me / 32u], value);
    __syncthreads();
    out[blockIdx.x * blockDim.x + me] = room[(me / 32u + 1u) % (blockDim.x / 32u)] ^ dynamic[(me + 5u) % blockDim.x] ^ own[me % 37u];
}
