// SPDX-License-Identifier: MIT
// Eight threads of the host, with streams of their own, then OpenMP where the compiler has it.
#include <thread>
#include <vector>

#include "check.h"

__global__ void fill(int* x, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value + i;
}

static bool works(int value) {
    constexpr int n = 2000;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int* x;
    OK(cudaMalloc(&x, n * sizeof(int)));
    bool right = true;
    for (int turn = 0; turn < 5; ++turn) {
        fill<<<(n + 127) / 128, 128, 0, stream>>>(x, n, value + turn);
        std::vector<int> host(n);
        OK(cudaMemcpyAsync(host.data(), x, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
        OK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n; ++i) right = right && host[i] == value + turn + i;
    }
    OK(cudaFree(x));
    OK(cudaStreamDestroy(stream));
    return right;
}

int main() {
    std::vector<std::thread> threads;
    int right[8] = {};
    for (int i = 0; i < 8; ++i) threads.emplace_back([&right, i] { right[i] = works(1000 * i); });
    for (std::thread& one : threads) one.join();
    for (const int one : right) EXPECT(one == 1);
    int wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < 8; ++i) wrong += works(-1000 * i) ? 0 : 1;
    EXPECT(wrong == 0);
    return passed();
}
