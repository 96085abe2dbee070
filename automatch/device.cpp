// SPDX-License-Identifier: MIT
#include "automatch/device.h"

#include <fmt/format.h>

#include "core/error.h"

namespace occupipe::automatch {

const std::array<DeviceNumber, 9>& device_numbers() {
    using D = Device;
    using M = MatchDevice;
    static const std::array<DeviceNumber, 9> all = {{
        {"n_p", "processors", &D::processors, nullptr, &M::processors},
        {"π0", "flops_per_second", &D::flops, &M::flops_per_second},
        {"Z", "fast_bytes", &D::fast_bytes, nullptr, &M::fast_bytes},
        {"L", "line_bytes", &D::line_bytes, nullptr, &M::line_bytes},
        {"β_f", "fast_bytes_per_second", &D::fast_bandwidth, &M::fast_bytes_per_second},
        {"α_f", "fast_latency_seconds", &D::fast_latency, &M::fast_latency_seconds},
        {"β_s", "slow_bytes_per_second", &D::slow_bandwidth, &M::slow_bytes_per_second},
        {"α_s", "slow_latency_seconds", &D::slow_latency, &M::slow_latency_seconds},
        {"s0", "synchronisation_seconds", &D::synchronisation, &M::synchronisation_seconds},
    }};
    return all;
}

Device device_of(const GpuProfile& profile) {
    const MatchDevice& m = profile.match;
    Device device;
    device.name = profile.device.name;
    std::string missing;
    const auto lacks = [&](const DeviceNumber& number, const char* why = "") {
        missing += fmt::format("{}match.{} ({}{})", missing.empty() ? "" : ", ", number.key,
                               number.symbol, why);
    };
    for (const DeviceNumber& number : device_numbers()) {
        if (number.estimate != nullptr) {
            const std::optional<Estimate>& estimate = m.*number.estimate;
            if (!estimate)
                lacks(number);
            else if (!estimate->identifiable())
                lacks(number, ", of which only a bound is known");
            else
                device.*number.value = estimate->value;
            continue;
        }
        const std::optional<std::int64_t>& count = m.*number.count;
        if (count)
            device.*number.value = static_cast<double>(*count);
        else
            lacks(number);
    }
    if (!missing.empty())
        throw InputError(
            fmt::format("the profile of {} lacks what AutoMatch asks of a device: {}; "
                        "docs/background/automatch.md says where "
                        "these numbers come from",
                        profile.device.name, missing));
    if (m.vector_width) device.vector_width = static_cast<double>(*m.vector_width);
    if (m.f32_flops_per_second && m.f32_flops_per_second->identifiable())
        device.f32_flops = m.f32_flops_per_second->value;
    return device;
}

}  // namespace occupipe::automatch
