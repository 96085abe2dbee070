// SPDX-License-Identifier: MIT
// What a program may ask of the GPU that a profile describes, and does not find in profiles alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/gpu_profile.h"
#include "core/occupancy.h"

namespace occupipe::program {

struct DeviceFacts {
    std::string name;
    int architecture = 0;  // 86
    int cores = 0;
    double clock_hz = 0;
    OccupancyLimits limits;
    std::uint64_t memory_bytes = 0;
    bool memory_is_assumed = false;               // no data sheet is known here
    std::optional<double> l2_bytes;               // absent: not known
    std::optional<double> dram_bytes_per_second;  // that copies reach
    std::optional<double> dram_peak;              // of the data sheet, if it is known here
    double link_bytes_per_second = 0;             // to the host: the peak of the bus, assumed
    std::string link;                             // "PCIe 4.0 x16"

    int major() const { return architecture / 10; }
    int minor() const { return architecture % 10; }
};

// Throws InputError where code of the profile's architecture is not executed.
DeviceFacts device_facts(const GpuProfile& profile);

}  // namespace occupipe::program
