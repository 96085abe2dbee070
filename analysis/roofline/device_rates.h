// SPDX-License-Identifier: MIT
// The rates that other models take as a device's parameters, from a profile's λ and Λ.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

enum class Quantity {
    throughput,  // lanes x amount / λ, of the whole device
    latency,     // Λ
    launch       // of a launch that the host awaits
};

struct Rate {
    std::string_view symbol;
    std::string_view meaning;
    Quantity quantity;
    std::vector<std::string_view> instructions;  // the first that the profile has
    double amount;                               // operations or bytes per lane
    std::string_view unit;
};

const std::vector<Rate>& rates();

struct RateValue {
    double value;
    std::optional<double> std_error;
    std::string from;  // the instruction
};

// From λ of the curve; nullopt where the profile lacks the instructions or does not determine them.
std::optional<RateValue> value_of(const Rate& rate, const GpuProfile& profile);

// As measured at full occupancy (its table over `full_occupancy`), of the instruction that
// value_of() takes; nullopt where that was not measured.
std::optional<RateValue> full_value_of(const Rate& rate, const GpuProfile& profile);

// The profile with λ of this rate's first instruction, so that the rate has this value [in its
// unit]: what a data sheet says and nobody measured. Throws InputError: no such rate, not positive,
// or the profile has the rate.
GpuProfile with_rate(GpuProfile profile, std::string_view symbol, double value);

// What a user of these rates has to know: the two differ by more than 5 %, or the device's lanes
// are work-items of a CPU, whose vector units the rates do not use.
std::vector<std::string> rate_warnings(const GpuProfile& profile);

// Throughput of one instruction on the whole device, in 10⁹ × `amount` per second.
std::optional<RateValue> device_throughput(const GpuProfile& profile, std::string_view instruction,
                                           double amount);

}  // namespace occupipe::analysis
