// SPDX-License-Identifier: MIT
// What --check and --on-error are to find, by the first argument; "clean" has nothing of it.
#include <cstring>
#include <string>
#include <vector>

#include "check.h"

constexpr int threads = 64, groups = 8, n = threads * groups;

__global__ void sum_pairs(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[2 * i] + in[2 * i + 1];
}

__global__ void add_unwritten_shared(float* out) {
    __shared__ float part[threads + 1];
    part[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = part[threadIdx.x + 1];
}

__global__ void mirror(float* out, bool waits) {
    __shared__ float part[threads];
    part[threadIdx.x] = threadIdx.x;
    if (waits) __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = part[threads - 1 - threadIdx.x];
}

__global__ void mirror_unordered(float* out) {
    __shared__ float part[threads];
    part[threadIdx.x] = threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = part[(threads - 1) ^ threadIdx.x];
}

__global__ void shift_in_place(float* x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float next = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    x[i] = next;
}

__global__ void last_one(int* out) {
    if (threadIdx.x == 0) out[0] = blockIdx.x;
}

__global__ void outside(float* x, int m) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i < m ? x[i] + 1 : x[i + 1000];
}

__global__ void misaligned(char* x, double* out) {
    out[threadIdx.x] = *reinterpret_cast<double*>(x + 4 + 8 * threadIdx.x);
}

__global__ void outside_atomic(int* x) { atomicAdd(&x[threadIdx.x], 1); }

__global__ void outside_shared(int* out, int i) {
    __shared__ int part[threads];
    part[threadIdx.x] = 1;
    part[threadIdx.x + i] = 2;
    __syncthreads();
    out[threadIdx.x] = part[threadIdx.x];
}

// No race, and no read of anything unwritten.
__global__ void flags(int* same, unsigned char* bytes, int* counter, int* orders) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    same[0] = 7;                                 // by all, and all the same
    bytes[i * groups % n + i * groups / n] = i;  // groups share words, and no byte
    atomicAdd(counter, 1);
    orders[atomicAdd(counter + 1, 1)] = i;
}
__global__ void volatile_flag(volatile int* flag) {
    if (flag[0] == 0) flag[0] = blockIdx.x + 1;
}
__global__ void last_adds_up(float* parts, unsigned* done, float* out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = blockIdx.x;
        __threadfence();
        is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    float sum = 0;
    for (int i = 0; i < gridDim.x; ++i) sum += parts[i];
    out[0] = sum;
}

__device__ float zeros[n];
__device__ float ones[n];
__managed__ float managed[2 * n];

static float* filled(size_t count) {
    float* x = nullptr;
    OK(cudaMalloc(&x, count * sizeof(float)));
    OK(cudaMemset(x, 0, count * sizeof(float)));
    return x;
}

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "clean";
    float* out = filled(n);
    if (what == "clean") {
        float* in = nullptr;
        OK(cudaMalloc(&in, 2 * n * sizeof(float)));
        static float host[2 * n];
        OK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
        sum_pairs<<<groups, threads>>>(in, out);
        float* copy = nullptr;
        OK(cudaMalloc(&copy, 2 * n * sizeof(float)));
        OK(cudaMemcpy(copy, in, sizeof host, cudaMemcpyDeviceToDevice));
        sum_pairs<<<groups, threads>>>(copy, out);
        OK(cudaMemcpyToSymbol(ones, host, sizeof ones));
        void* at = nullptr;
        OK(cudaGetSymbolAddress(&at, zeros));
        sum_pairs<<<groups / 2, threads>>>(static_cast<float*>(at), out);
        sum_pairs<<<groups, threads>>>(managed, out);
        // What one launch has written the next one may read, in its own groups.
        sum_pairs<<<groups / 2, threads>>>(out, copy);
        sum_pairs<<<groups / 4, threads>>>(copy, out);
        mirror<<<groups, threads>>>(out, true);
        int* counter = reinterpret_cast<int*>(filled(2));
        int* orders = nullptr;
        OK(cudaMalloc(&orders, n * sizeof(int)));
        flags<<<groups, threads>>>(reinterpret_cast<int*>(out),
                                   reinterpret_cast<unsigned char*>(copy), counter, orders);
        volatile_flag<<<groups, threads>>>(reinterpret_cast<int*>(filled(1)));
        float* parts = nullptr;
        OK(cudaMalloc(&parts, groups * sizeof(float)));
        last_adds_up<<<groups, threads>>>(parts, reinterpret_cast<unsigned*>(filled(1)), out);
    }
    if (what == "unwritten") {
        float* in = nullptr;
        OK(cudaMalloc(&in, 2 * n * sizeof(float)));
        OK(cudaMemset(in, 0, 2 * n * sizeof(float) - 8));
        sum_pairs<<<groups, threads>>>(in, out);
        sum_pairs<<<groups, threads>>>(in, out);
    }
    if (what == "copied") {
        float *in = nullptr, *copy = filled(2 * n);
        OK(cudaMalloc(&in, 2 * n * sizeof(float)));
        OK(cudaMemcpy(copy, in, 16, cudaMemcpyDeviceToDevice));
        sum_pairs<<<groups, threads>>>(copy, out);
    }
    if (what == "unwritten_shared") add_unwritten_shared<<<groups, threads>>>(out);
    if (what == "race_shared") mirror_unordered<<<groups, threads>>>(out);
    if (what == "race_read") shift_in_place<<<groups, threads>>>(out);
    if (what == "race_write") last_one<<<groups, threads>>>(reinterpret_cast<int*>(out));
    if (what == "outside") {
        outside<<<groups, threads>>>(out, n - 10);
        std::vector<float> host(n);
        OK(cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; ++i) EXPECT(host[i] == (i < n - 10 ? 1 : 0));
    }
    if (what == "misaligned") {
        misaligned<<<1, 32>>>(reinterpret_cast<char*>(out), reinterpret_cast<double*>(filled(64)));
        OK(cudaDeviceSynchronize());
    }
    if (what == "atomic") {
        outside_atomic<<<1, threads>>>(reinterpret_cast<int*>(out) + n - 32);
        int last = 0;
        OK(cudaMemcpy(&last, out + n - 1, 4, cudaMemcpyDeviceToHost));
        EXPECT(last == 1);
    }
    if (what == "shared") {
        outside_shared<<<1, threads>>>(reinterpret_cast<int*>(out), 1 << 20);
        int last = 0;
        OK(cudaMemcpy(&last, out, 4, cudaMemcpyDeviceToHost));
        EXPECT(last == 1);
    }
    if (what == "free") {
        OK(cudaFree(out));
        cudaFree(out);
    }
    OK(cudaDeviceSynchronize());
    return passed();
}
