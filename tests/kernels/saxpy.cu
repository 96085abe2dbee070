// SPDX-License-Identifier: MIT
// out = a·x + y, a thread per element, in groups that do not divide the length.

extern "C" __global__ void saxpy(const float* x, const float* y, float* out, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = fmaf(a, x[i], y[i]);
}
