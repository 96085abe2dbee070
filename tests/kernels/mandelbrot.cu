// SPDX-License-Identifier: MIT
// How soon points leave the Mandelbrot set: neighbouring threads leave their loop at very different
// times. Once in float, once in double, whose image is compared with the first by ballots.

template <typename Real>
__device__ int steps_of(Real cx, Real cy, int most) {
    Real x = 0, y = 0;
    int steps = 0;
    while (steps < most && x * x + y * y <= (Real)4) {
        const Real next = x * x - y * y + cx;
        y = (Real)2 * x * y + cy;
        x = next;
        ++steps;
    }
    return steps;
}

extern "C" __global__ void mandelbrot(unsigned char* image, int width, int height, float x0, float y0, float pixel, int most) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    image[y * width + x] = (unsigned char)steps_of<float>(x0 + x * pixel, y0 + y * pixel, most);
}

// A bit per pixel: do both agree? Width is a multiple of 32.
extern "C" __global__ void mandelbrot_compare(const unsigned char* image, unsigned* agree, int width, double x0, double y0, double pixel, int most) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    const bool same = steps_of<double>(x0 + x * pixel, y0 + y * pixel, most) == image[y * width + x];
    const unsigned word = __ballot_sync(0xffffffffu, same);
    if (threadIdx.x % 32 == 0) agree[(y * width + x) / 32] = word;
}
