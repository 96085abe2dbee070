// SPDX-License-Identifier: MIT
// NVIDIA GPUs by architecture, for plans and kernels without such a GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/cuda/placement.h"

namespace occupipe::bench {

struct ArchitectureFacts {
    int number = 0;       // 75
    const char* example;  // the GPU with these cores, caches and clock
    int cores = 0;
    std::int64_t l2_bytes = 0;
    double boost_clock_hz = 0;  // published; 0: not published

    std::string generation() const;  // "Turing"
    CoreLimits limits() const;
};

// Of "sm_75". Throws InputError if it is unknown.
const ArchitectureFacts& architecture_facts(const std::string& name);
std::vector<std::string> known_architectures();  // "sm_70", "sm_75", …

// The purpose of kernels for an absent device.
enum class KernelUse {
    carried,  // other programs launch them: plain ones only
    launched  // this program launches them where the device is: all of them
};

// What sets the sizes of tables in global memory; absent: the example's, and 16 GiB.
struct ArchitectureMemory {
    std::optional<std::int64_t> l2_bytes;
    std::optional<std::int64_t> bytes;
};

// An absent device: it plans and dumps kernels (Carrier), and refuses to launch.
// `cores`, `clock_hz`, `memory`: instead of the example's. Throws InputError when the architecture
// is not known.
std::unique_ptr<Backend> open_architecture(const std::string& name, std::optional<int> cores,
                                           std::optional<double> clock_hz,
                                           KernelUse use = KernelUse::carried,
                                           const ArchitectureMemory& memory = {});

}  // namespace occupipe::bench
