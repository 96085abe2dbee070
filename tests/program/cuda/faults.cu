// SPDX-License-Identifier: MIT
// What goes wrong in programs, by the first argument; prints what CUDA reports.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cassert>
#include <cstring>
#include <string>

#include "check.h"

__global__ void store(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 1;
}

__global__ void store_wide(char* x) { *reinterpret_cast<double*>(x) = 1; }

__global__ void claim(const float* x) { assert(x[threadIdx.x] == 0); }

__global__ void __launch_bounds__(64) bounded(float* x) { x[threadIdx.x] = 1; }

__global__ void for_ever(volatile int* x) {
    while (x[0] == 0) x[1] = x[1] + 1;
}

__global__ void take(const float* x, float* to) { to[0] = x[1000]; }

__global__ void look(cudaTextureObject_t from, float* x) { *x = tex1Dfetch<float>(from, 0); }

static void tell(const char* where, cudaError_t error) {
    std::printf("%s: %s\n", where, cudaGetErrorName(error));
}

static void run_store(float* x, int n) {
    store<<<(n + 255) / 256, 256>>>(x, n);
    tell("launch", cudaGetLastError());
    tell("synchronize", cudaDeviceSynchronize());
    float host = 0;
    tell("copy", cudaMemcpy(&host, x, sizeof host, cudaMemcpyDeviceToHost));
    tell("last", cudaGetLastError());
    tell("malloc", cudaMalloc(&x, 4));
}

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "nothing";
    if (what == "nothing") return 0;
    if (what == "exit") return 17;
    float* x = nullptr;
    OK(cudaMalloc(&x, 1000 * sizeof(float)));
    if (what == "outside") run_store(x, 8292);
    if (what == "behind") {
        run_store(x, 1010);
        take<<<1, 1>>>(x, x);
        float behind = 0;
        OK(cudaMemcpy(&behind, x, sizeof behind, cudaMemcpyDeviceToHost));
        std::printf("behind: %g\n", behind);
    }
    if (what == "host") run_store(new float[1000], 1000);
    if (what == "freed") {
        OK(cudaFree(x));
        run_store(x, 1000);
    }
    if (what == "reset") {
        run_store(x, 8292);
        tell("reset", cudaDeviceReset());
        tell("malloc", cudaMalloc(&x, 4));
    }
    if (what == "misaligned") {
        store_wide<<<1, 1>>>(reinterpret_cast<char*>(x) + 4);
        tell("synchronize", cudaDeviceSynchronize());
    }
    if (what == "assert") {
        OK(cudaMemset(x, 1, 4000));
        claim<<<1, 32>>>(x);
        tell("synchronize", cudaDeviceSynchronize());
    }
    if (what == "shape") {
        store<<<1, 2048>>>(x, 1);
        tell("launch", cudaGetLastError());
    }
    if (what == "texture") {
        look<<<1, 1>>>(0, x);
        tell("launch", cudaGetLastError());
    }
    if (what == "endless") {
        OK(cudaMemset(x, 0, 8));
        store<<<4, 256>>>(x + 8, 900);
        for_ever<<<1, 1>>>(reinterpret_cast<int*>(x));
        tell("synchronize", cudaDeviceSynchronize());
    }
    if (what == "twice") {
        tell("free", cudaFree(x));
        tell("again", cudaFree(x));
        tell("last", cudaGetLastError());
    }
    if (what == "huge") {
        float* large = nullptr;
        tell("malloc", cudaMalloc(&large, size_t{1} << 40));
        tell("last", cudaGetLastError());
        run_store(x, 1000);
    }
    if (what == "copy") {
        char host[8] = {};
        tell("copy", cudaMemcpy(x + 999, host, 8, cudaMemcpyHostToDevice));
    }
    if (what == "bounds") {
        bounded<<<1, 64>>>(x);
        tell("launch", cudaGetLastError());
        cudaFuncAttributes attributes;
        tell("attributes", cudaFuncGetAttributes(&attributes, bounded));
        std::printf("threads: %d\n", attributes.maxThreadsPerBlock);
        bounded<<<2, 128>>>(x);
        tell("launch", cudaGetLastError());
    }
    if (what == "graph") {
        cudaGraph_t graph;
        tell("graph", cudaGraphCreate(&graph, 0));
        run_store(x, 1000);
    }
    if (what == "abort" || what == "kill") {
        run_store(x, 1000);
        std::fflush(stdout);
        if (what == "abort") std::abort();
        raise(SIGKILL);
    }
    if (what == "fork") {
        if (fork() == 0) {
            run_store(x, 900);
            std::fflush(stdout);
            _exit(3);
        }
        int status = 0;
        wait(&status);
        std::printf("child: %d\n", WEXITSTATUS(status));
        run_store(x, 1000);
    }
    if (what == "exec") {
        if (fork() == 0) {
            char again[] = "huge";
            char* arguments[] = {words[0], again, nullptr};
            execv(words[0], arguments);
            _exit(126);
        }
        wait(nullptr);
        run_store(x, 1000);
    }
    return 0;
}
