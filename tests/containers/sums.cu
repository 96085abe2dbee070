// Each group adds up its part of an array; what this folder's files were made of (record.sh).
__device__ float factor = 2.0f;

extern "C" __global__ void sums(const float* in, float* out, int n) {
    __shared__ float part[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] * factor : 0.f;
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
