// SPDX-License-Identifier: MIT
// Fourier transforms of 256 points in double precision, radix 4, in place: real and imaginary parts
// apart, decimation in frequency, then a permutation of base-4 digits.

#define N 256

extern "C" __global__ void fft_radix4(double* re, double* im, double c, double s) {
    __shared__ double x[N], y[N], wx[N], wy[N];
    const int t = threadIdx.x;  // of N / 4
    for (int i = t; i < N; i += N / 4) {
        x[i] = re[blockIdx.x * N + i];
        y[i] = im[blockIdx.x * N + i];
    }
    // Roots: powers of (c, s), each thread four neighbours.
    double px = 1, py = 0, qx = c, qy = s;
    for (int k = 4 * t; k; k >>= 1) {
        if (k & 1) {
            const double u = px * qx - py * qy;
            py = px * qy + py * qx;
            px = u;
        }
        const double u = qx * qx - qy * qy;
        qy = 2 * qx * qy;
        qx = u;
    }
    for (int i = 0; i < 4; ++i) {
        wx[4 * t + i] = px;
        wy[4 * t + i] = py;
        const double u = px * c - py * s;
        py = px * s + py * c;
        px = u;
    }
    for (int quarter = N / 4; quarter >= 1; quarter /= 4) {
        __syncthreads();
        const int j = t % quarter, base = t / quarter * quarter * 4 + j, turn = N / (4 * quarter) * j;
        double ax[4], ay[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            ax[i] = x[base + i * quarter];
            ay[i] = y[base + i * quarter];
        }
        const double sx = ax[0] + ax[2], sy = ay[0] + ay[2], dx = ax[0] - ax[2], dy = ay[0] - ay[2];
        const double ux = ax[1] + ax[3], uy = ay[1] + ay[3], vx = ax[1] - ax[3], vy = ay[1] - ay[3];
        ax[0] = sx + ux, ay[0] = sy + uy;
        ax[1] = dx + vy, ay[1] = dy - vx;
        ax[2] = sx - ux, ay[2] = sy - uy;
        ax[3] = dx - vy, ay[3] = dy + vx;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const double cx = wx[turn * i], cy = wy[turn * i];
            x[base + i * quarter] = fma(ax[i], cx, -(ay[i] * cy));
            y[base + i * quarter] = fma(ax[i], cy, ay[i] * cx);
        }
    }
    __syncthreads();
    for (int i = t; i < N; i += N / 4) {
        const int pairs = __brev(i) >> 24;
        const int from = (pairs & 0xaa) >> 1 | (pairs & 0x55) << 1;
        re[blockIdx.x * N + i] = x[from];
        im[blockIdx.x * N + i] = y[from];
    }
}
