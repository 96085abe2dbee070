// SPDX-License-Identifier: MIT
// A managed variable: the host writes where kernels read, and the reverse, without a call.
#include "check.h"

__managed__ int factor;
__managed__ int result;

__global__ void use(int* out) { *out = 10 * factor; }
__global__ void tell(const int* in) { result = *in; }

int main() {
    int *out, got = 0;
    OK(cudaMalloc(&out, sizeof(int)));
    for (int value = 1; value < 6; ++value) {
        factor = value / 2;
        for (int i = 0; i < 2; ++i) use<<<1, 1>>>(out);
        OK(cudaMemcpy(&got, out, sizeof(int), cudaMemcpyDeviceToHost));
        EXPECT(got == 10 * (value / 2));
        result = 0;
        for (int i = 0; i < 2; ++i) tell<<<1, 1>>>(out);
        OK(cudaDeviceSynchronize());
        EXPECT(result == got);
    }
    return passed();
}
