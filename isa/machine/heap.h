// SPDX-License-Identifier: MIT
// What malloc and free of device code share out: one buffer of global memory, whose size the
// program may set before (cudaLimitMallocHeapSize).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "isa/machine/launch.h"

namespace occupipe::isa {

class DeviceHeap {
public:
    static constexpr std::uint64_t alignment = 16;

    // As many bytes as `buffer` has.
    explicit DeviceHeap(const GlobalMemory::Buffer& buffer);

    const GlobalMemory::Buffer& buffer() const { return *buffer_; }

    // The lowest place that is free, at a multiple of `align`, a power of two; 0: there is none.
    std::uint64_t allocate(std::uint64_t size, std::uint64_t align = alignment);
    // False: nothing that is allocated begins there.
    bool release(std::uint64_t address);

private:
    const GlobalMemory::Buffer* buffer_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::uint64_t> taken_, free_;  // bytes, by address
};

// As the calling convention has it: size, and what comes back, in R4 and R5; `aligned`: to what, in
// R6 and R7.
void allocate(Warp& warp, Mask lanes, bool aligned);
// The address in R4 and R5. Throws ExecutionError where nothing is allocated there; 0 is nothing.
void release(Warp& warp, const Step& step, Mask lanes);

}  // namespace occupipe::isa
