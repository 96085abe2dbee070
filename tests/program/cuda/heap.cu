// SPDX-License-Identifier: MIT
// Memory that kernels allocate: lists that one launch makes and another one takes apart, and what
// happens where there is none left.
#include <cuda_runtime.h>

#include "check.h"

struct Node {
    int value;
    Node* next;
};

__global__ void build(Node** heads, int length) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    heads[i] = nullptr;
    for (int k = 0; k < length; ++k) heads[i] = new Node{10 * i + k, heads[i]};
}

__global__ void sum(Node** heads, int* sums) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = 0;
    for (Node* node = heads[i]; node != nullptr;) {
        sums[i] += node->value;
        Node* const next = node->next;
        delete node;
        node = next;
    }
}

__global__ void ask_for(size_t bytes, int* got) {
    char* const all = static_cast<char*>(malloc(bytes));
    *got = all != nullptr;
    if (all != nullptr) all[bytes - 1] = 1;
    free(all);
}

// One group's memory after the other's: no race.
__global__ void in_turn(int* sums) {
    int* const own = new int(blockIdx.x);
    sums[blockIdx.x] = *own;
    delete own;
}

struct alignas(64) Wide {
    int value[16];
};

__global__ void wide(int* sums) {
    char* const other = new char;
    Wide* const all = new Wide;
    sums[threadIdx.x] = static_cast<int>(reinterpret_cast<size_t>(all) % alignof(Wide));
    delete all;
    delete other;
}

__global__ void free_twice() {
    void* const one = malloc(8);
    free(one);
    free(one);
}

int main(int count, char**) {
    constexpr int n = 256;
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    Node** heads;
    int* sums;
    OK(cudaMalloc(&heads, n * sizeof *heads));
    OK(cudaMallocManaged(&sums, n * sizeof *sums));
    // Far more than the heap has, if nothing were given back; and no launch is like the one before.
    for (int again = 0; again < 60; ++again) {
        build<<<4, n / 4>>>(heads, 5);
        sum<<<4, n / 4>>>(heads, sums);
        OK(cudaDeviceSynchronize());
        for (int i = 0; i < n; ++i) EXPECT(sums[i] == 50 * i + 10);
    }
    for (const size_t bytes : {size_t{1}, size_t{1} << 20, (size_t{1} << 20) + 1}) {
        ask_for<<<1, 1>>>(bytes, sums);
        OK(cudaDeviceSynchronize());
        EXPECT(sums[0] == (bytes <= size_t{1} << 20));
    }
    in_turn<<<n, 1>>>(sums);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(sums[i] == i);
    wide<<<1, n>>>(sums);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(sums[i] == 0);
    EXPECT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20) == cudaErrorInvalidValue);
    cudaGetLastError();
    if (count > 1) {
        free_twice<<<1, 1>>>();
        EXPECT(cudaDeviceSynchronize() != cudaSuccess);
        OK(cudaDeviceReset());
        OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
        OK(cudaMallocManaged(&sums, sizeof *sums));
        ask_for<<<1, 1>>>(32 << 20, sums);
        OK(cudaDeviceSynchronize());
        EXPECT(*sums == 1);
    }
    return passed();
}
