// SPDX-License-Identifier: MIT
// C = A·B with two buffers in shared memory: while one is multiplied, the next is on its way, by
// asynchronous copies from sm_80 on. Each thread computes 4×4 elements, in registers.

#define BLOCK 64
#define DEPTH 16

// 16 bytes from global to shared memory.
__device__ __forceinline__ void copy_16(float* to, const float* from) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
#else
    *(float4*)to = *(const float4*)from;
#endif
}
__device__ __forceinline__ void commit() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N>
__device__ __forceinline__ void wait_until_pending() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// A is m×k, B is k×n, both row by row; all three are multiples of the tile. 256 threads.
extern "C" __global__ void __launch_bounds__(256) matmul_pipelined(const float* a, const float* b, float* c, int n, int k) {
    __shared__ __align__(16) float as[2][BLOCK][DEPTH];
    __shared__ __align__(16) float bs[2][DEPTH][BLOCK];
    const int t = threadIdx.x, tx = t % 16, ty = t / 16;
    const int row0 = blockIdx.y * BLOCK, column0 = blockIdx.x * BLOCK;
    const float* from_a = a + (row0 + t / 4) * k + t % 4 * 4;
    const float* from_b = b + (t / 16) * n + column0 + t % 16 * 4;
    copy_16(&as[0][t / 4][t % 4 * 4], from_a);
    copy_16(&bs[0][t / 16][t % 16 * 4], from_b);
    commit();
    float sum[4][4] = {};
    const int steps = k / DEPTH;
    for (int step = 0; step < steps; ++step) {
        const int now = step & 1;
        if (step + 1 < steps) {
            copy_16(&as[now ^ 1][t / 4][t % 4 * 4], from_a + (step + 1) * DEPTH);
            copy_16(&bs[now ^ 1][t / 16][t % 16 * 4], from_b + (step + 1) * DEPTH * n);
            commit();
            wait_until_pending<1>();
        } else {
            wait_until_pending<0>();
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            const float4 right = *(const float4*)&bs[now][i][tx * 4];
#pragma unroll
            for (int y = 0; y < 4; ++y) {
                const float left = as[now][ty * 4 + y][i];
                sum[y][0] = fmaf(left, right.x, sum[y][0]);
                sum[y][1] = fmaf(left, right.y, sum[y][1]);
                sum[y][2] = fmaf(left, right.z, sum[y][2]);
                sum[y][3] = fmaf(left, right.w, sum[y][3]);
            }
        }
        __syncthreads();
    }
    for (int y = 0; y < 4; ++y) {
        *(float4*)&c[(row0 + ty * 4 + y) * n + column0 + tx * 4] = make_float4(sum[y][0], sum[y][1], sum[y][2], sum[y][3]);
    }
}
