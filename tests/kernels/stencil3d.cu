// SPDX-License-Identifier: MIT
// A star of radius 2 in three dimensions (Parboil's and the SDK's way): a group walks along z with
// the column in registers and the plane in shared memory; five coefficients by value.

#define R 2
#define TX 16
#define TY 8

struct Coefficients {
    float c[R + 1];
};

extern "C" __global__ void stencil3d(const float* in, float* out, Coefficients k, int nx, int ny, int nz) {
    __shared__ float plane[TY + 2 * R][TX + 2 * R];
    const int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    const int cx = min(x, nx - 1), cy = min(y, ny - 1), stride = nx * ny;
    const float* column = in + cy * nx + cx;
    float behind[R], current = column[0], ahead[R];
    for (int i = 0; i < R; ++i) {
        behind[i] = 0;
        ahead[i] = i + 1 < nz ? column[(i + 1) * stride] : 0.0f;
    }
    for (int z = 0; z < nz; ++z) {
        plane[threadIdx.y + R][threadIdx.x + R] = current;
        if (threadIdx.x < R) {
            plane[threadIdx.y + R][threadIdx.x] = x >= R ? in[z * stride + cy * nx + x - R] : 0.0f;
            plane[threadIdx.y + R][threadIdx.x + TX + R] = x + TX < nx ? in[z * stride + cy * nx + x + TX] : 0.0f;
        }
        if (threadIdx.y < R) {
            plane[threadIdx.y][threadIdx.x + R] = y >= R ? in[z * stride + (y - R) * nx + cx] : 0.0f;
            plane[threadIdx.y + TY + R][threadIdx.x + R] = y + TY < ny ? in[z * stride + (y + TY) * nx + cx] : 0.0f;
        }
        __syncthreads();
        float sum = k.c[0] * current;
#pragma unroll
        for (int r = 1; r <= R; ++r) {
            const float left = plane[threadIdx.y + R][threadIdx.x + R - r];
            const float right = x + r < nx ? plane[threadIdx.y + R][threadIdx.x + R + r] : 0.0f;
            const float above = plane[threadIdx.y + R - r][threadIdx.x + R];
            const float below = y + r < ny ? plane[threadIdx.y + R + r][threadIdx.x + R] : 0.0f;
            sum = fmaf(k.c[r], (left + right) + (above + below) + (behind[r - 1] + ahead[r - 1]), sum);
        }
        if (x < nx && y < ny) out[z * stride + y * nx + x] = sum;
        __syncthreads();
#pragma unroll
        for (int r = R - 1; r > 0; --r) behind[r] = behind[r - 1];
        behind[0] = current;
        current = ahead[0];
#pragma unroll
        for (int r = 0; r < R - 1; ++r) ahead[r] = ahead[r + 1];
        ahead[R - 1] = z + R + 1 < nz ? column[(z + R + 1) * stride] : 0.0f;
    }
}
