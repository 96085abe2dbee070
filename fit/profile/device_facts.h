// SPDX-License-Identifier: MIT
// The device of measurement files, from their contexts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe {

struct DeviceFacts {
    DeviceIdentity device;
    std::string backend;  // "cuda", "opencl", "model"; empty when the files do not say
    int cores = 0;
    int warp_size = 0;
    double clock_hz = 0;
    std::optional<double> clock_spread;  // (largest - smallest) / median of the witnessed clocks
    Limits limits;
    std::optional<std::int64_t> last_cache_bytes;  // as the driver states
    std::vector<std::string> notes;

    bool is_model() const { return backend == "model"; }
};

// Throws InputError, naming file and key, when a required fact is missing or is not a number, or
// when the files are of different devices.
DeviceFacts device_facts(std::span<const MeasurementFile> files);

}  // namespace occupipe
