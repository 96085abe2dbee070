// SPDX-License-Identifier: MIT
// Writes tests/core/recorded/occupancy.csv: what NVIDIA's occupancy calculator answers.
//   g++ -I CUDA/include tools/record_occupancy.cpp -o /tmp/record && /tmp/record >
//   tests/core/recorded/occupancy.csv
// The properties of the devices are those of the CUDA C++ Programming Guide.
#include <cuda_occupancy.h>

#include <cstdio>
#include <cstring>
#include <random>

struct Device {
    int architecture, threads;
    size_t shared, optin, reserved;
};
constexpr Device devices[] = {{75, 1024, 64, 64, 0},   {80, 2048, 164, 163, 1},
                              {86, 1536, 100, 99, 1},  {89, 1536, 100, 99, 1},
                              {90, 2048, 228, 227, 1}, {100, 2048, 228, 227, 1},
                              {120, 1536, 100, 99, 1}};

int main() {
    std::mt19937 random(1);
    const auto between = [&](int low, int high) {
        return static_cast<int>(low + random() % static_cast<unsigned>(high - low + 1));
    };
    std::puts(
        "architecture,group_threads,registers,shared_bytes,barriers,groups,by_warps,by_groups,"
        "by_registers,by_shared_memory,by_barriers");
    for (const Device& device : devices) {
        cudaOccDeviceProp properties;
        std::memset(&properties, 0, sizeof properties);
        properties.computeMajor = device.architecture / 10;
        properties.computeMinor = device.architecture % 10;
        properties.maxThreadsPerBlock = 1024;
        properties.maxThreadsPerMultiprocessor = device.threads;
        properties.regsPerBlock = properties.regsPerMultiprocessor = 65536;
        properties.warpSize = 32;
        properties.sharedMemPerBlock = 48 * 1024;
        properties.sharedMemPerMultiprocessor = device.shared * 1024;
        properties.numSms = 1;
        properties.sharedMemPerBlockOptin = device.optin * 1024;
        properties.reservedSharedMemPerBlock = device.reserved * 1024;
        for (int i = 0; i < 150; ++i) {
            const int threads = i % 3 != 0 ? 32 * between(1, 32) : between(1, 1024);
            const int registers = i % 2 == 0 ? between(16, 80) : between(1, 255);
            const int shared =
                i % 4 == 0 ? 0
                           : between(0, static_cast<int>(device.optin) * (i % 4 == 1 ? 1024 : 100));
            const int barriers = i % 5 == 0 ? between(1, 16) : i % 2;
            cudaOccFuncAttributes attributes;
            std::memset(&attributes, 0, sizeof attributes);
            attributes.maxThreadsPerBlock = 1024;
            attributes.numRegs = registers;
            attributes.maxDynamicSharedSizeBytes = device.optin * 1024;
            attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
            attributes.numBlockBarriers = barriers;
            cudaOccDeviceState state;
            std::memset(&state, 0, sizeof state);
            state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
            cudaOccResult result;
            std::memset(&result, 0, sizeof result);
            if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
                                                        threads, static_cast<size_t>(shared)) !=
                CUDA_OCC_SUCCESS)
                return 1;
            std::printf("%d,%d,%d,%d,%d,%d", device.architecture, threads, registers, shared,
                        barriers, result.activeBlocksPerMultiprocessor);
            for (const int limit :
                 {result.blockLimitWarps, result.blockLimitBlocks, result.blockLimitRegs,
                  result.blockLimitSharedMem, result.blockLimitBarriers}) {
                if (limit == 2147483647)
                    std::printf(",");
                else
                    std::printf(",%d", limit);
            }
            std::puts("");
        }
    }
}
