// SPDX-License-Identifier: MIT
// The hardware's approximations, as its units give them: a softmax by powers of two and logarithms,
// and points turned by sines and cosines. On the host they are the exact values, rounded once.

#ifdef __CUDACC__
__device__ __forceinline__ float power_of_two(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float log_of_two(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float sine(float x) { float y; asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float cosine(float x) { float y; asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float root(float x) { float y; asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float inverse_root(float x) { float y; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float inverse(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float hyperbolic(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
#else
using on_host::power_of_two, on_host::log_of_two, on_host::sine, on_host::cosine, on_host::root, on_host::inverse_root, on_host::inverse,
    on_host::hyperbolic;
#endif

// A row per group of 64 threads.
extern "C" __global__ void softmax(const float* in, float* out, float* log_sums, int columns) {
    __shared__ float parts[2];
    const float* row = in + blockIdx.x * columns;
    const int t = threadIdx.x, lane = t & 31;
    float most = -3.0e38f;
    for (int i = t; i < columns; i += 64) most = fmaxf(most, row[i]);
    for (int step = 16; step; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
    if (lane == 0) parts[t / 32] = most;
    __syncthreads();
    most = fmaxf(parts[0], parts[1]);
    __syncthreads();
    float sum = 0;
    for (int i = t; i < columns; i += 64) {
        const float e = power_of_two((row[i] - most) * 1.442695f);
        out[blockIdx.x * columns + i] = e;
        sum += e;
    }
    for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) parts[t / 32] = sum;
    __syncthreads();
    sum = parts[0] + parts[1];
    const float scale = inverse(sum);
    for (int i = t; i < columns; i += 64) out[blockIdx.x * columns + i] *= scale;
    if (t == 0) log_sums[blockIdx.x] = log_of_two(sum);
}

extern "C" __global__ void turn_points(const float2* points, const float* angles, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float2 p = points[i];
    const float c = cosine(angles[i]), s = sine(angles[i]), square = p.x * p.x + p.y * p.y;
    out[i] = make_float4(p.x * c - p.y * s, p.x * s + p.y * c, root(square) * inverse_root(square + 1.0f), hyperbolic(p.x));
}
