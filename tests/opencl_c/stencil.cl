// SPDX-License-Identifier: MIT
// One step of heat on a plane: five points, edges copied.
__kernel void stencil(__global const float* in, __global float* out, int width, int height, float rate) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height) return;
    const int i = y * width + x;
    if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
        out[i] = in[i];
        return;
    }
    const float around = in[i - 1] + in[i + 1] + in[i - width] + in[i + width];
    out[i] = fma(rate, fma(-4.0f, in[i], around), in[i]);
}
