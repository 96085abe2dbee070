// SPDX-License-Identifier: MIT
// Managed, pinned, mapped, registered, pitched and stream-ordered memory.
#include <cstdint>
#include <vector>

#include "check.h"

__managed__ int shared_count = 3;
__managed__ float table[4] = {1, 2, 3, 4};

__global__ void twice(float* x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
    if (i == 0) shared_count += 4;
}

__global__ void from_host(const float* x, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + 1;
}

__global__ void rows(float* x, size_t pitch, int width, int height) {
    const int column = threadIdx.x, row = blockIdx.x;
    if (column < width && row < height)
        reinterpret_cast<float*>(reinterpret_cast<char*>(x) + row * pitch)[column] += row;
}

__global__ void sum_table(const float* at, float* out) {
    *out = at[0] + at[1] + at[2] + table[3];
}

int main() {
    constexpr int n = 1000;
    float *managed, *pinned, *mapped, *of_mapped;
    OK(cudaMallocManaged(&managed, n * sizeof(float)));
    OK(cudaMallocHost(&pinned, n * sizeof(float)));
    OK(cudaHostAlloc(&mapped, n * sizeof(float), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&of_mapped, mapped, 0));
    for (int i = 0; i < n; ++i) managed[i] = pinned[i] = mapped[i] = static_cast<float>(i);
    twice<<<4, 256>>>(managed, n);
    twice<<<4, 256>>>(of_mapped, n);
    constexpr int many = 1 << 20;
    float *on_host, *on_device;
    OK(cudaMallocHost(&on_host, many * sizeof(float)));
    OK(cudaMalloc(&on_device, many * sizeof(float)));
    on_host[many - 1] = 6;
    from_host<<<many / 256, 256>>>(on_host, on_device, many);
    float last = 0;
    OK(cudaMemcpy(&last, on_device + many - 1, sizeof last, cudaMemcpyDeviceToHost));
    EXPECT(last == 7);
    std::vector<float> registered(n, 1.5f);
    OK(cudaHostRegister(registered.data(), n * sizeof(float), cudaHostRegisterDefault));
    twice<<<4, 256>>>(registered.data(), n);
    OK(cudaDeviceSynchronize());
    OK(cudaHostUnregister(registered.data()));
    for (int i = 0; i < n; ++i)
        EXPECT(managed[i] == 2 * i && mapped[i] == 2 * i && registered[i] == 3);
    EXPECT(shared_count == 15);

    cudaPointerAttributes of{};
    OK(cudaPointerGetAttributes(&of, managed));
    EXPECT(of.type == cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&of, &n));
    EXPECT(of.type == cudaMemoryTypeUnregistered);

    float* out;
    OK(cudaMallocAsync(&out, sizeof(float), 0));
    sum_table<<<1, 1>>>(table, out);
    float sum = 0;
    OK(cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDefault));
    EXPECT(sum == 10);
    OK(cudaFreeAsync(out, 0));

    constexpr int width = 100, height = 7;
    float* pitched;
    size_t pitch = 0;
    OK(cudaMallocPitch(&pitched, &pitch, width * sizeof(float), height));
    EXPECT(pitch >= width * sizeof(float));
    std::vector<float> host(width * height, 1.0f);
    OK(cudaMemcpy2D(pitched, pitch, host.data(), width * sizeof(float), width * sizeof(float),
                    height, cudaMemcpyHostToDevice));
    rows<<<height, 128>>>(pitched, pitch, width, height);
    OK(cudaMemcpy2D(host.data(), width * sizeof(float), pitched, pitch, width * sizeof(float),
                    height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < width * height; ++i) EXPECT(host[i] == 1 + i / width);

    cudaPitchedPtr box{};
    const cudaExtent extent = make_cudaExtent(30, 3, 4);
    OK(cudaMalloc3D(&box, extent));
    OK(cudaMemset3D(box, 7, extent));
    std::vector<char> bytes(30 * 3 * 4);
    cudaMemcpy3DParms of_box{};
    of_box.srcPtr = box;
    of_box.dstPtr = make_cudaPitchedPtr(bytes.data(), 30, 30, 3);
    of_box.extent = extent;
    of_box.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&of_box));
    for (const char byte : bytes) EXPECT(byte == 7);

    size_t before = 0, after = 0, all = 0;
    OK(cudaMemGetInfo(&before, &all));
    float* large;
    OK(cudaMalloc(&large, 1 << 20));
    OK(cudaMemGetInfo(&after, &all));
    EXPECT(before - after == 1 << 20);
    OK(cudaFree(large));
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
    OK(cudaFreeHost(mapped));
    OK(cudaFree(nullptr));
    EXPECT(cudaMemcpy(pitched, host.data(), all, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    return passed();
}
