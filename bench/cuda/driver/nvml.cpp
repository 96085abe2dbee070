// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/nvml.h"

#include <cstdlib>
#include <vector>

#include "bench/cuda/driver/shared_library.h"

namespace occupipe::bench {

// The subset of nvml.h in use; declared here so that building needs no CUDA toolkit.
struct NvmlCalls {
    explicit NvmlCalls(const std::string& name) : library({name}) {}

    SharedLibrary library;
    int (*start)() = nullptr;
    int (*stop)() = nullptr;
    int (*by_bus_id)(const char*, void**) = nullptr;
    // Each of the following may be missing in an old library.
    int (*clock)(void*, int, unsigned*) = nullptr;                  // MHz
    int (*power)(void*, unsigned*) = nullptr;                       // mW
    int (*temperature)(void*, int, unsigned*) = nullptr;            // degrees Celsius
    int (*throttle_reasons)(void*, unsigned long long*) = nullptr;  // bits
};

namespace {

constexpr int clock_sm = 1, clock_memory = 2;  // nvmlClockType_t
constexpr int sensor_gpu = 0;                  // nvmlTemperatureSensors_t

std::string library_name() {
    const char* named = std::getenv("OCCUPIPE_NVML");
    return named && *named ? named : "libnvidia-ml.so.1";
}

std::unique_ptr<NvmlCalls> open(const std::string& library, const std::string& bus_id,
                                void** device) {
    if (library == "none" || bus_id.empty()) return nullptr;
    auto calls = std::make_unique<NvmlCalls>(library);
    const SharedLibrary& from = calls->library;
    if (!from.load(calls->start, "nvmlInit_v2") || !from.load(calls->stop, "nvmlShutdown") ||
        !from.load(calls->by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") || calls->start() != 0) {
        return nullptr;
    }
    if (calls->by_bus_id(bus_id.c_str(), device) != 0) {
        calls->stop();
        return nullptr;
    }
    from.load(calls->clock, "nvmlDeviceGetClockInfo");
    from.load(calls->power, "nvmlDeviceGetPowerUsage");
    from.load(calls->temperature, "nvmlDeviceGetTemperature");
    // Its newer name says "ClocksEventReasons"; both are there.
    from.load(calls->throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    return calls;
}

}  // namespace

GpuState::GpuState(const std::string& pci_bus_id) : GpuState(pci_bus_id, library_name()) {}

GpuState::GpuState(const std::string& pci_bus_id, const std::string& library)
    : calls_(open(library, pci_bus_id, &device_)) {}

GpuState::~GpuState() {
    if (calls_) calls_->stop();
}

std::map<std::string, double> GpuState::sample(std::chrono::milliseconds interval) {
    std::map<std::string, double> seen;
    const auto now = std::chrono::steady_clock::now();
    const bool first = last_ == std::chrono::steady_clock::time_point();
    if (!calls_ || (!first && now - last_ < interval)) return seen;
    last_ = now;
    unsigned value = 0;
    if (calls_->clock && calls_->clock(device_, clock_sm, &value) == 0) {
        seen["nvml_sm_clock_hz"] = value * 1e6;
    }
    if (calls_->clock && calls_->clock(device_, clock_memory, &value) == 0) {
        seen["nvml_memory_clock_hz"] = value * 1e6;
    }
    if (calls_->power && calls_->power(device_, &value) == 0) seen["nvml_power_w"] = value * 1e-3;
    if (calls_->temperature && calls_->temperature(device_, sensor_gpu, &value) == 0) {
        seen["nvml_temperature_c"] = value;
    }
    unsigned long long reasons = 0;
    if (calls_->throttle_reasons && calls_->throttle_reasons(device_, &reasons) == 0) {
        seen["nvml_throttle_reasons"] = static_cast<double>(reasons);
    }
    return seen;
}

}  // namespace occupipe::bench
