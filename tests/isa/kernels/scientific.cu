// SPDX-License-Identifier: MIT
// Kernels of the everyday kind: vectors, stencils, tiles, sums.

extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

extern "C" __global__ void stencil(float* out, const float* in, int nx, int ny, int nz) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    const int i = (z * ny + y) * nx + x;
    out[i] = 0.4f * in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] +
                                    in[i - nx * ny] + in[i + nx * ny]);
}

extern "C" __global__ void matmul(float* c, const float* a, const float* b, int n) {
    __shared__ float ta[2][16][17];
    __shared__ float tb[2][16][17];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    ta[0][ty][tx] = a[row * n + tx];
    tb[0][ty][tx] = b[ty * n + column];
    __syncthreads();
    for (int k = 0; k < n; k += 16) {
        const int now = (k / 16) & 1;
        if (k + 16 < n) {
            ta[now ^ 1][ty][tx] = a[row * n + k + 16 + tx];
            tb[now ^ 1][ty][tx] = b[(k + 16 + ty) * n + column];
        }
        for (int j = 0; j < 16; ++j) sum += ta[now][ty][j] * tb[now][j][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void reduce(float* out, const float* in, int n) {
    __shared__ float part[32];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void scan(int* data, int* totals, int n) {
    extern __shared__ int temporary[];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    temporary[t] = i < n ? data[i] : 0;
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        const int before = t >= (int)d ? temporary[t - d] : 0;
        __syncthreads();
        temporary[t] += before;
        __syncthreads();
    }
    if (i < n) data[i] = temporary[t];
    if (t == (int)blockDim.x - 1) totals[blockIdx.x] = temporary[t];
}

extern "C" __global__ void histogram(unsigned* bins, const unsigned char* bytes, int n) {
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[bytes[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i]) atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void transpose(double* out, const double* in, int n) {
    __shared__ double tile[16][17];
    const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    const int u = blockIdx.y * 16 + threadIdx.x, v = blockIdx.x * 16 + threadIdx.y;
    if (u < n && v < n) out[v * n + u] = tile[threadIdx.x][threadIdx.y];
}

struct __align__(16) Body {
    double x, y, z, w;
};

extern "C" __global__ void nbody(Body* acceleration, const Body* body, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const Body me = body[i];
    double ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; ++j) {
        const double dx = body[j].x - me.x, dy = body[j].y - me.y, dz = body[j].z - me.z;
        const double r2 = dx * dx + dy * dy + dz * dz + 1e-3;
        const double f = body[j].w / (r2 * sqrt(r2));
        ax += f * dx;
        ay += f * dy;
        az += f * dz;
    }
    acceleration[i] = {ax, ay, az, 0};
}

extern "C" __global__ void sort_steps(unsigned* key, int n) {
    __shared__ unsigned s[256];
    const unsigned t = threadIdx.x;
    s[t] = (int)t < n ? key[t] : 0xffffffffu;
    __syncthreads();
    for (unsigned k = 2; k <= 256; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            const unsigned other = t ^ j;
            if (other > t) {
                const unsigned a = s[t], b = s[other];
                const bool up = (t & k) == 0;
                if ((a > b) == up) {
                    s[t] = b;
                    s[other] = a;
                }
            }
            __syncthreads();
        }
    }
    if ((int)t < n) key[t] = s[t];
}

extern "C" __global__ void fft8(float2* data, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t * 8 >= n) return;
    float2 v[8];
    for (int i = 0; i < 8; ++i) v[i] = data[t * 8 + i];
    for (int half = 4; half > 0; half /= 2) {
        for (int i = 0; i < 8; ++i) {
            if (i & half) continue;
            const float angle = -3.14159265f * (float)(i % half) / (float)half;
            const float c = cosf(angle), s = sinf(angle);
            const float2 a = v[i], b = v[i + half];
            v[i] = make_float2(a.x + b.x, a.y + b.y);
            const float dx = a.x - b.x, dy = a.y - b.y;
            v[i + half] = make_float2(dx * c - dy * s, dx * s + dy * c);
        }
    }
    for (int i = 0; i < 8; ++i) data[t * 8 + i] = v[i];
}

__constant__ float weights[9];

extern "C" __global__ void convolve(float* out, const float* in, int nx, int ny) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) {
            const int u = min(max(x + i, 0), nx - 1), v = min(max(y + j, 0), ny - 1);
            sum += weights[(j + 1) * 3 + i + 1] * in[v * nx + u];
        }
    if (x < nx && y < ny) out[y * nx + x] = fmaxf(sum, 0.0f);
}
