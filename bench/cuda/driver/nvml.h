// SPDX-License-Identifier: MIT
// NVIDIA's management library, opened if it exists: what the GPU reports about its own state while
// it is measured. Nothing is set, and nothing that names the one GPU is asked.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace occupipe::bench {

struct NvmlCalls;

class GpuState {
public:
    // `pci_bus_id`: as the driver tells it. Without the library, or where it does not know the GPU,
    // there is nothing to sample. `library`: $OCCUPIPE_NVML, else the loader's; "none" = nowhere.
    explicit GpuState(const std::string& pci_bus_id);
    GpuState(const std::string& pci_bus_id, const std::string& library);
    ~GpuState();
    GpuState(const GpuState&) = delete;
    GpuState& operator=(const GpuState&) = delete;

    // Counters for a row: nvml_sm_clock_hz, nvml_memory_clock_hz, nvml_power_w,
    // nvml_temperature_c, nvml_throttle_reasons (NVML's bits). What the GPU does not tell is left
    // out; so is everything when the last sample is younger than `interval`.
    std::map<std::string, double> sample(std::chrono::milliseconds interval = default_interval);

    // A sample costs the host up to milliseconds.
    static constexpr std::chrono::milliseconds default_interval{500};

private:
    void* device_ = nullptr;            // before calls_, whose initialiser sets it
    std::unique_ptr<NvmlCalls> calls_;  // null: not there
    std::chrono::steady_clock::time_point last_;
};

}  // namespace occupipe::bench
