// SPDX-License-Identifier: MIT
// Jacobi's method for Poisson's equation in double precision; the largest change of a step is found
// by shuffles and an atomic maximum of its bits (positive numbers compare as whole numbers do).

extern "C" __global__ void jacobi(const double* now, double* next, const double* source, unsigned long long* change, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    double moved = 0;
    if (x < width && y < height) {
        const int i = y * width + x;
        double value = now[i];
        if (x > 0 && x < width - 1 && y > 0 && y < height - 1) {
            value = 0.25 * (now[i - 1] + now[i + 1] + now[i - width] + now[i + width] - source[i]);
            moved = fabs(value - now[i]);
        }
        next[i] = value;
    }
    for (int step = 16; step; step >>= 1) moved = fmax(moved, __shfl_down_sync(0xffffffffu, moved, step));
    if (((threadIdx.y * blockDim.x + threadIdx.x) & 31) == 0) atomicMax(change, (unsigned long long)__double_as_longlong(moved));
}
