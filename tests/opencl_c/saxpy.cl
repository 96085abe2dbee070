// SPDX-License-Identifier: MIT
// y = a x + y.
__kernel void saxpy(__global const float* x, __global float* y, float a, int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] = fma(a, x[i], y[i]);
}
