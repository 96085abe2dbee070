// SPDX-License-Identifier: MIT
// Variables by name, kernels that are templates, attributes and occupancy.
#include "check.h"

__constant__ float weights[4];
__device__ int counter;
__device__ double in_place = 0.5;

template <typename T, int times>
__global__ void __launch_bounds__(256) weigh(T* x, int n) {
    extern __shared__ float room[];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    room[threadIdx.x] = weights[i % 4];
    __syncthreads();
    if (i < n) x[i] = static_cast<T>(x[i] + times * room[threadIdx.x]);
    if (i < n) atomicAdd(&counter, 1);
}

int main() {
    constexpr int n = 600;
    const float host[4] = {1, 2, 3, 4};
    OK(cudaMemcpyToSymbol(weights, host, sizeof host));
    OK(cudaMemcpyToSymbol(weights, host, sizeof(float), 3 * sizeof(float)));
    double* x;
    OK(cudaMalloc(&x, n * sizeof(double)));
    OK(cudaMemset(x, 0, n * sizeof(double)));
    weigh<double, 3><<<3, 256, 256 * sizeof(float)>>>(x, n);
    weigh<double, 2><<<3, 256, 256 * sizeof(float)>>>(x, n);
    OK(cudaGetLastError());
    double last[4];
    OK(cudaMemcpy(last, x + n - 4, sizeof last, cudaMemcpyDeviceToHost));
    EXPECT(last[0] == 5 && last[1] == 10 && last[2] == 15 && last[3] == 5);
    int counted = 0;
    OK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    EXPECT(counted == 2 * n);
    double half = 0;
    OK(cudaMemcpyFromSymbol(&half, in_place, sizeof half));
    EXPECT(half == 0.5);
    void* address = nullptr;
    size_t size = 0;
    OK(cudaGetSymbolAddress(&address, weights));
    OK(cudaGetSymbolSize(&size, weights));
    EXPECT(address != nullptr && size == sizeof host);
    EXPECT(cudaMemcpyToSymbol(weights, host, sizeof host, 4) == cudaErrorInvalidValue);

    cudaFuncAttributes of{};
    OK(cudaFuncGetAttributes(&of, weigh<double, 3>));
    EXPECT(of.numRegs > 0 && of.maxThreadsPerBlock >= 256 && of.binaryVersion >= 75);
    int blocks = 0, grid = 0, block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, weigh<double, 3>, 256, 1024));
    EXPECT(blocks >= 1);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, weigh<double, 3>, 0, 256));
    EXPECT(grid > 0 && block > 0 && block % 32 == 0);
    OK(cudaFuncSetAttribute(weigh<double, 3>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    weigh<double, 3><<<3, 256, 60000>>>(x, n);
    OK(cudaDeviceSynchronize());
    weigh<double, 2><<<3, 256, 60000>>>(x, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    weigh<double, 2><<<3, 2048>>>(x, n);
    EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
    cudaDeviceProp device{};
    OK(cudaGetDeviceProperties(&device, 0));
    int cores = 0;
    OK(cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(device.multiProcessorCount == cores && device.warpSize == 32);
    int bus_bits = 0;
    OK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    EXPECT(device.memoryBusWidth == bus_bits && bus_bits > 0);
    std::printf("%s: %d.%d, %d SMs, %zu bytes\n", device.name, device.major, device.minor, cores,
                device.totalGlobalMem);
    return passed();
}
