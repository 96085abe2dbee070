// SPDX-License-Identifier: MIT
// The numbers of a device that an execution cost is made of (Helal et al. 2017, Table I).
//
//   const Device k20x = device_of(profile);
//   k20x.processors * k20x.flops   // 1.13e12: Π = n_p π0 [FLOP/s]
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/gpu_profile.h"

namespace occupipe::automatch {

struct Device {
    std::string name;
    double processors = 0;               // n_p
    double flops = 0;                    // π0 [FLOP/s of one processor], double precision
    double fast_bytes = 0;               // Z
    double line_bytes = 0;               // L
    double fast_bandwidth = 0;           // β_f [B/s]
    double fast_latency = 0;             // α_f [s]
    double slow_bandwidth = 0;           // β_s [B/s]
    double slow_latency = 0;             // α_s [s]
    double synchronisation = 0;          // s0 [s]
    std::optional<double> vector_width;  // doubles; absent: not known
    std::optional<double> f32_flops;     // π0 in single precision; absent: not known
};

// One number of a device: how it is called, and where its value and error stand.
struct DeviceNumber {
    std::string_view symbol;  // "π0"
    std::string_view key;     // in the profile's `match`
    double Device::*value;
    std::optional<Estimate> MatchDevice::*estimate = nullptr;   // null: a count without error
    std::optional<std::int64_t> MatchDevice::*count = nullptr;  // where there is no estimate
};

// In the order of Table I.
const std::array<DeviceNumber, 9>& device_numbers();

// Throws InputError that names every number that the profile lacks, and where they come from.
Device device_of(const GpuProfile& profile);

}  // namespace occupipe::automatch
