// SPDX-License-Identifier: MIT
// A kernel that launches another one, which is refused, beside one that does not.
#include "check.h"

__global__ void put(int* x, int value) { *x = value; }

__global__ void launch(int* x) { put<<<1, 1>>>(x, 2); }

int main() {
    int* x = nullptr;
    OK(cudaMalloc(&x, sizeof(int)));
    put<<<1, 1>>>(x, 1);
    int seen = 0;
    OK(cudaMemcpy(&seen, x, sizeof seen, cudaMemcpyDeviceToHost));
    EXPECT(seen == 1);
    launch<<<1, 1>>>(x);
    EXPECT(cudaDeviceSynchronize() == cudaErrorNotSupported);
    return passed();
}
