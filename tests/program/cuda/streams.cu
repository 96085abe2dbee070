// SPDX-License-Identifier: MIT
// Two streams and a third that waits for both; events tell predicted time.
#include "check.h"

__global__ void add(float* x, float by, int n, int times) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int k = 0; k < times; ++k) x[i] += by;
}

static void CUDART_CB count(void* at) { ++*static_cast<int*>(at); }

int main() {
    constexpr int n = 4096;
    float *x, *y;
    OK(cudaMalloc(&x, n * sizeof(float)));
    OK(cudaMalloc(&y, n * sizeof(float)));
    cudaStream_t a, b, c;
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithPriority(&c, cudaStreamDefault, -1));
    cudaEvent_t begin, of_a, of_b, end;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&of_a));
    OK(cudaEventCreateWithFlags(&of_b, cudaEventDisableTiming));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin, a));
    OK(cudaMemsetAsync(x, 0, n * sizeof(float), a));
    OK(cudaMemsetAsync(y, 0, n * sizeof(float), b));
    add<<<n / 256, 256, 0, a>>>(x, 1, n, 8);
    OK(cudaEventRecord(of_a, a));
    add<<<n / 256, 256, 0, b>>>(y, 2, n, 64);
    OK(cudaEventRecord(of_b, b));
    OK(cudaStreamWaitEvent(c, of_a, 0));
    OK(cudaStreamWaitEvent(c, of_b, 0));
    add<<<n / 256, 256, 0, c>>>(x, 1, n, 1);
    int calls = 0;
    OK(cudaLaunchHostFunc(c, count, &calls));
    OK(cudaEventRecord(end, c));
    OK(cudaEventSynchronize(end));
    OK(cudaStreamQuery(c));
    EXPECT(calls == 1);
    float short_one = 0, whole = 0;
    OK(cudaEventElapsedTime(&short_one, begin, of_a));
    OK(cudaEventElapsedTime(&whole, begin, end));
    EXPECT(short_one > 0 && whole > short_one && whole < 1);  // milliseconds of a GPU
    EXPECT(cudaEventElapsedTime(&whole, of_b, end) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaSuccess);
    float host[2];
    OK(cudaMemcpyAsync(&host[0], x + n - 1, sizeof(float), cudaMemcpyDeviceToHost, c));
    OK(cudaMemcpyAsync(&host[1], y, sizeof(float), cudaMemcpyDeviceToHost, b));
    OK(cudaDeviceSynchronize());
    EXPECT(host[0] == 9 && host[1] == 128);
    OK(cudaStreamDestroy(a));
    OK(cudaEventDestroy(end));
    return passed();
}
