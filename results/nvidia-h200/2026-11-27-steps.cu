// SPDX-License-Identifier: MIT
// Time per step of a stencil's parts, and of loads of rows, as 2026-11-27-steps.txt has it.
#include <cuda_runtime.h>

#include <cstdio>
#define SIDE 16
#define WIDE 18
enum { LDG = 1, ST = 2, COPY = 4, REGCOPY = 8, BARRIERS = 16, WARM = 32, SMEM = 64, ALIGNED = 128 };
__device__ __forceinline__ void copy_word(float* to, const float* from) {
    asm volatile(
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
}
template <int F>
__global__ void __launch_bounds__(256) stencil(const float* in, float* out, int nx, int ny, int nz,
                                               float c0, float c1, long long* clocks) {
    extern __shared__ float dyn[];
    __shared__ float plane[2][WIDE][WIDE];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * SIDE + tx;
    const int x0 = blockIdx.x * SIDE, y0 = blockIdx.y * SIDE;
    const int shift = F & ALIGNED ? 0 : 1;
    const int at = (y0 + ty + shift) * nx + x0 + tx + shift, layer = nx * ny;
    float below = in[at], above = 0;
    for (int i = t; i < WIDE * WIDE; i += SIDE * SIDE) plane[0][0][i] = plane[1][0][i] = 0;
    __syncthreads();
    const long long begin = clock64();
    for (int z = 1; z < nz - 1; ++z) {
        const int now = z & 1;
        if (F & COPY) asm volatile("cp.async.wait_group 0;" ::: "memory");
        if (F & BARRIERS) __syncthreads();
        for (int i = t; i < WIDE * WIDE; i += SIDE * SIDE) {
            const float* from = in + (z + 1) * layer + (y0 + i / WIDE) * nx + x0 + i % WIDE;
            if (F & COPY) copy_word(&plane[now ^ 1][i / WIDE][i % WIDE], from);
            if (F & REGCOPY) plane[now ^ 1][i / WIDE][i % WIDE] = *from;
        }
        if (F & COPY) asm volatile("cp.async.commit_group;" ::: "memory");
        above = F & LDG ? in[at + (z + 1) * layer] : above + 1;
        float sum = above + below, here = below;
        if (F & SMEM) {
            here = plane[now][ty + 1][tx + 1];
            sum = ((plane[now][ty + 1][tx] + plane[now][ty + 1][tx + 2]) +
                   (plane[now][ty][tx + 1] + plane[now][ty + 2][tx + 1])) +
                  (below + above);
        }
        const float r = c1 * sum + c0 * here;
        if (F & ST)
            out[at + z * layer] = r;
        else
            below += r;
        if (F & ST) below = here;
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    const long long end = clock64();
    if (below == 1234.5f) out[0] = dyn[0] + below;
    if (t == 0) clocks[blockIdx.y * gridDim.x + blockIdx.x] = end - begin;
}
template <int F>
void run(const char* name, const float* in, float* out, char* flush, long long* clocks, int groups,
         bool warm) {
    cudaFuncSetAttribute(stencil<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, 120000);
    double mean = 0, most = 0;
    for (int rep = 0; rep < 3; ++rep) {
        if (!warm) cudaMemset(flush, rep, 240 << 20);
        stencil<F><<<dim3(16, groups / 16), dim3(16, 16), 116000>>>(in, out, 258, 258, 130, 0.5f,
                                                                    0.083f, clocks);
    }
    long long host[256];
    if (cudaMemcpy(host, clocks, groups * 8, cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("%s failed %s\n", name, cudaGetErrorString(cudaGetLastError()));
        return;
    }
    for (int i = 0; i < groups; ++i) {
        mean += host[i] / 128.0 / groups;
        if (host[i] / 128.0 > most) most = host[i] / 128.0;
    }
    printf("stencil %-34s %s groups %3d: %7.1f cycles per plane, slowest group %7.1f\n", name,
           warm ? "warm" : "cold", groups, mean, most);
}
#define R(F)                             \
    for (int warm = 0; warm < 2; ++warm) \
        for (int g : {16, 128}) run<(F)>(#F, in, out, flush, clocks, g, warm)
// A chain of dependent loads far apart; and `n` independent chains of one warp each per core.
__global__ void strided(const float* p, float* out, long long* clocks, int iterations,
                        int lane_stride, int step, int warps_apart) {
    float sum = 0;
    const float* at = p + (size_t)blockIdx.x * warps_apart +
                      threadIdx.x / 32 * (size_t)(warps_apart / 4) + threadIdx.x % 32 * lane_stride;
    const long long begin = clock64();
    for (int i = 0; i < iterations; ++i) {
        float v = *(volatile const float*)(at + i * step);
        sum += v;
    }
    const long long end = clock64();
    if (sum == 1234.5f) out[0] = sum;
    if (threadIdx.x == 0) clocks[blockIdx.x] = end - begin;
}
// Loads of the first level, kept, as kmeans_swap makes them: lanes `stride` words apart, word by
// word.
__global__ void swap_like(const float* __restrict__ feature, float* swapped, int points,
                          int features, int per_sm_iterations, int store) {
    for (int base = blockIdx.x * blockDim.x; base < points; base += gridDim.x * blockDim.x) {
        const int i = base + threadIdx.x;
        if (i >= points) return;
        float sum = 0;
        for (int f = 0; f < features; ++f) {
            float v = feature[i * features + f];
            if (store)
                swapped[f * points + i] = v;
            else
                sum += v;
        }
        if (!store && sum == 1234.5f) swapped[i] = sum;
    }
}
int main() {
    float *in, *out;
    char* flush;
    long long* clocks;
    cudaMalloc(&in, 80 << 20);
    cudaMalloc(&out, 80 << 20);
    cudaMalloc(&flush, 240 << 20);
    cudaMalloc(&clocks, 1 << 20);
    cudaMemset(in, 0, 80 << 20);
    cudaMemset(out, 0, 80 << 20);
    R(LDG | ST | COPY | BARRIERS | SMEM);
    R(ST | COPY | BARRIERS | SMEM);
    R(LDG | COPY | BARRIERS | SMEM);
    R(COPY | BARRIERS | SMEM);
    R(COPY | BARRIERS);
    R(LDG | ST);
    R(LDG);
    R(ST | BARRIERS);
    R(LDG | ST | BARRIERS | SMEM);
    R(LDG | ST | REGCOPY | BARRIERS | SMEM);
    R(REGCOPY | BARRIERS);
    R(LDG | ST | COPY | BARRIERS | SMEM | ALIGNED);
    cudaEvent_t a, b;
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    for (int store = 0; store < 2; ++store)
        for (int features : {32, 33, 34, 36, 40})
            for (int per_sm : {2, 4, 6, 8, 12, 16, 24, 32}) {
                const int points = 494020;
                float ms, best = 1e9;
                for (int rep = 0; rep < 3; ++rep) {
                    cudaMemset(flush, rep, 240 << 20);
                    cudaEventRecord(a);
                    swap_like<<<132 * per_sm, 64>>>(in, out, points, features, 0, store);
                    cudaEventRecord(b);
                    cudaEventSynchronize(b);
                    cudaEventElapsedTime(&ms, a, b);
                    if (ms < best) best = ms;
                }
                printf(
                    "swap store %d features %d groups per core %d: %.2f us, %.2f cycles per load "
                    "and core\n",
                    store, features, per_sm, best * 1e3,
                    best * 1e-3 * 1.98e9 / (points / 32.0 * features / 132));
            }
    return 0;
}
