// SPDX-License-Identifier: MIT
#include "report/text/backend_agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/text/wrap.h"

namespace occupipe::report {
namespace {

constexpr double tolerance = 0.03;

std::string agreement(const GpuProfile& one, const GpuProfile& other) {
    int agree = 0;
    int bounds = 0;
    std::vector<std::string> beyond;
    for (const InstructionTiming& timing : one.instructions) {
        const InstructionTiming* const same = other.find_instruction(timing.name);
        if (!same) continue;
        if (!timing.cpi.identifiable() || !same->cpi.identifiable()) {
            ++bounds;
            continue;
        }
        const double here = one.cpi_per_core(timing).value;
        const double there = other.cpi_per_core(*same).value;
        const double ratio = there / here;
        if (std::abs(ratio - 1) <= tolerance) {
            ++agree;
        } else {
            beyond.push_back(fmt::format("{} {:.4g} and {:.4g} ({:+.1f} %)", timing.name, here,
                                         there, 100 * (ratio - 1)));
        }
    }
    std::string text =
        fmt::format("λ of {} by {} and by {}: {} of {} instructions agree within {:g} %",
                    one.device.name, backend_of(one), backend_of(other), agree,
                    agree + static_cast<int>(beyond.size()), 100 * tolerance);
    if (bounds > 0) text += fmt::format("; {} not compared, one of the two is a bound", bounds);
    text += beyond.empty() ? "." : fmt::format(". Not: {}.", fmt::join(beyond, "; "));
    return wrapped(text, 0);
}

}  // namespace

std::string backend_of(const GpuProfile& profile) {
    for (const AnnotationEntry& entry : profile.provenance.entries)
        if (entry.key == "backend") return entry.value.text;
    return {};
}

std::string backend_agreement(const std::vector<GpuProfile>& profiles) {
    std::string text;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        for (std::size_t j = i + 1; j < profiles.size(); ++j) {
            const std::string one = backend_of(profiles[i]);
            const std::string other = backend_of(profiles[j]);
            const bool same_device = profiles[i].device.name == profiles[j].device.name;
            if (same_device && !one.empty() && !other.empty() && one != other)
                text += agreement(profiles[i], profiles[j]);
        }
    }
    return text;
}

}  // namespace occupipe::report
