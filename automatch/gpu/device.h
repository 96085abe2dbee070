// SPDX-License-Identifier: MIT
// A device that runs the kernels of device/numbers.cl.
//
//   const auto gpu = open_probed_device("opencl:0.0");
//   gpu->set_memory(bytes);
//   gpu->run({.kernel = "read_memory", .groups = 64, .items = 256, .mask = 1023, .rounds = 100})
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "bench/cuda/driver/kernel_compiler.h"

namespace occupipe::automatch {

// What is absent, the device does not tell.
struct ProbedFacts {
    std::string id;       // "cuda:0"
    std::string backend;  // "opencl" or "cuda"
    std::string name, vendor, architecture, compute_capability, driver;
    bool cpu = false;
    bool f64 = true;
    int cores = 0;
    int most_items = 0;  // of a group
    int warp_size = 1;
    std::optional<std::int64_t> lanes;         // of all cores: n_p
    std::optional<std::int64_t> line_bytes;    // L
    std::optional<std::int64_t> shared_bytes;  // memory of the groups on a core
    std::optional<std::int64_t> last_cache_bytes;
    std::optional<double> nominal_clock_hz;  // that the device states
    std::int64_t memory_bytes = 0;
    std::string lanes_source;  // where the number of lanes is from
};

// 32-bit lanes of a core of an NVIDIA GPU: results per clock of 32-bit additions in the table
// "Throughput of Native Arithmetic Instructions" of the CUDA C++ Programming Guide. Absent for a
// compute capability that is not in it.
std::optional<int> nvidia_lanes(int major, int minor);

struct ProbeLaunch {
    const char* kernel = "nothing";
    unsigned groups = 1;
    unsigned items = 1;  // of a group
    std::uint32_t mask = 0;
    std::uint32_t rounds = 0;
    unsigned launches = 1;  // one behind the other
};

class ProbedDevice {
public:
    virtual ~ProbedDevice() = default;
    virtual const ProbedFacts& facts() const = 0;
    // What the kernels read, instead of what was there before.
    virtual void set_memory(std::span<const std::byte> bytes) = 0;
    // The first word of the results, where chases begin and end.
    virtual void set_first_result(std::uint32_t word) = 0;
    virtual void read_results(std::span<std::byte> into) = 0;
    // Seconds by the device's own timer, from the first launch's begin to the last one's end.
    virtual double run(const ProbeLaunch& launch) = 0;
};

// Bytes of results that a device has room for: eight for each of 2^20 work-items.
inline constexpr std::size_t probe_result_bytes = std::size_t{1} << 23;

// "opencl:P.D" or "cuda:N". `compiler` of CUDA text: nullptr is NVRTC on this machine. Throws
// InputError for another word, NothingToRunOn where there is no such device, DeviceError.
std::unique_ptr<ProbedDevice> open_probed_device(
    const std::string& id, const std::shared_ptr<const bench::KernelCompiler>& compiler = nullptr);

// The text of the kernels.
std::string probe_kernels();

std::unique_ptr<ProbedDevice> open_probed_cuda(
    int ordinal, const std::shared_ptr<const bench::KernelCompiler>& compiler);
std::unique_ptr<ProbedDevice> open_probed_opencl(int platform, int device);

}  // namespace occupipe::automatch
