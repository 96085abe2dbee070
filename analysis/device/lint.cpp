// SPDX-License-Identifier: MIT
#include "analysis/device/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <type_traits>

#include "core/claimed_clock.h"
#include "core/field_quantities.h"
#include "core/profile_fields.h"

namespace occupipe::analysis {
namespace {

using Lines = std::vector<std::string>;

void add_estimate(Lines& lines, const std::string& key, const Estimate& estimate) {
    // A share may be 0.
    if (estimate.value > 0 && estimate.std_error.value_or(0) > estimate.value) {
        lines.push_back(fmt::format("{}: the standard error {} is larger than the value {}", key,
                                    *estimate.std_error, estimate.value));
    }
    if (is_doubtful(estimate)) {
        std::string why = estimate.note;
        if (why.empty())
            for (const Doubt& doubt : estimate.doubts)
                why += (why.empty() ? "" : "; ") + doubt_text(doubt);
        lines.push_back(fmt::format("{}: {}", key, why));
    }
    if (estimate.kind == Estimate::Kind::undetermined) {
        lines.push_back(
            fmt::format("{}: not identifiable, but the direction of the bound is not given", key));
    }
}

void add_timing(Lines& lines, const GpuProfile& profile, const InstructionTiming& timing) {
    const std::string key = "instructions." + timing.name;
    if (timing.latency && timing.latency->value < timing.cpi.value) {
        lines.push_back(fmt::format("{}: Λ = {} is below λ = {}", key, timing.latency->value,
                                    timing.cpi.value));
    }
    if (has_doubt(timing.cpi, Doubt::Kind::at_issue_limit))
        lines.push_back(fmt::format("{}.cpi: {}", key, sentence_of(Doubt::Kind::at_issue_limit)));
    const double per_core = profile.cpi_per_core(timing).value;
    if (const double most = most_starts_per_cycle(profile.warp_size); per_core * most < 1)
        lines.push_back(
            fmt::format("{}: λ = {} per core starts {:.4g} warps a cycle, and no core starts more "
                        "than {:g}",
                        key, per_core, 1 / per_core, most));
    // A little slack: fitted values scatter around 1/IL where the issue limit binds.
    if (profile.issue.limit && per_core * *profile.issue.limit < 0.95) {
        lines.push_back(
            fmt::format("{}: λ = {} per core is below 1/issue.limit = {}: the subsystem can never "
                        "be kept busy",
                        key, per_core, 1 / *profile.issue.limit));
    }
}

std::int64_t barriers(const std::vector<KernelItem>& items) {
    std::int64_t total = 0;
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item)) {
            total += repeat->count * barriers(repeat->body);
        } else {
            const auto& instruction = std::get<KernelInstruction>(item);
            const InstructionKind kind = instruction.kind.value_or(kind_of(instruction.op));
            total += kind == InstructionKind::barrier ? 1 : 0;
        }
    }
    return total;
}

// Numbers of no device, most of them in another unit, and such that contradict each other.
void add_match(Lines& lines, const MatchDevice& m) {
    const auto value = [](const auto& number) -> std::optional<double> {
        if (!number) return std::nullopt;
        if constexpr (std::is_same_v<std::decay_t<decltype(*number)>, Estimate>) {
            if (!number->identifiable()) return std::nullopt;
            return number->value;
        } else {
            return static_cast<double>(*number);
        }
    };
    struct Number {
        const char* key;
        std::optional<double> value;
        double least;
        double most;
    };
    const Number numbers[] = {
        {"processors", value(m.processors), 1, 1e6},
        {"flops_per_second", value(m.flops_per_second), 1e7, 1e13},
        {"f32_flops_per_second", value(m.f32_flops_per_second), 1e7, 1e13},
        {"fast_bytes", value(m.fast_bytes), 1024, 1e11},
        {"line_bytes", value(m.line_bytes), 16, 1024},
        {"fast_bytes_per_second", value(m.fast_bytes_per_second), 1e8, 1e15},
        {"fast_latency_seconds", value(m.fast_latency_seconds), 1e-11, 1e-5},
        {"slow_bytes_per_second", value(m.slow_bytes_per_second), 1e8, 1e14},
        {"slow_latency_seconds", value(m.slow_latency_seconds), 1e-9, 1e-4},
        {"synchronisation_seconds", value(m.synchronisation_seconds), 1e-10, 1e-2}};
    for (const Number& n : numbers)
        if (n.value && (*n.value < n.least || *n.value > n.most))
            lines.push_back(fmt::format("match.{}: {} is unusual ({} to {})", n.key, *n.value,
                                        n.least, n.most));
    const auto above = [&](const char* one, const auto& a, const char* other, const auto& b) {
        if (value(a) && value(b) && *value(a) > *value(b))
            lines.push_back(fmt::format("match.{}: {} is above match.{}: {}", one, *value(a), other,
                                        *value(b)));
    };
    above("slow_bytes_per_second", m.slow_bytes_per_second, "fast_bytes_per_second",
          m.fast_bytes_per_second);
    above("fast_latency_seconds", m.fast_latency_seconds, "slow_latency_seconds",
          m.slow_latency_seconds);
    above("flops_per_second", m.flops_per_second, "f32_flops_per_second", m.f32_flops_per_second);
    above("line_bytes", m.line_bytes, "fast_bytes", m.fast_bytes);
}

}  // namespace

Lines oddities(const GpuProfile& profile) {
    Lines lines;
    // GPU clocks are around 10^9 Hz; a number far from that is in MHz or kHz.
    if (profile.clock_hz < 1e7 || profile.clock_hz > 1e10) {
        lines.push_back(fmt::format("clock_hz: {} Hz is an unusual clock", profile.clock_hz));
    }
    if (profile.limits.warps && profile.limits.group_warps &&
        *profile.limits.group_warps > *profile.limits.warps) {
        lines.emplace_back("limits.group_warps: a group may be larger than limits.warps");
    }
    // What AutoMatch asks for is enough of a profile.
    if (profile.instructions.empty() && profile.match == MatchDevice{}) {
        lines.emplace_back("instructions: is empty");
    }
    add_match(lines, profile.match);
    if (profile.issue.limit && *profile.issue.limit < profile.issue.schedulers) {
        lines.push_back(fmt::format(
            "issue.limit: with {} for {} schedulers, a scheduler has cycles in which it may issue "
            "nothing, which delays its first instruction and lengthens latencies",
            *profile.issue.limit, profile.issue.schedulers));
    }
    for (const Subsystem& subsystem : profile.subsystems) {
        const bool used =
            std::any_of(profile.instructions.begin(), profile.instructions.end(),
                        [&](const InstructionTiming& t) { return t.subsystem == subsystem.name; });
        if (!used) {
            lines.push_back(fmt::format("subsystems.{}: no instruction uses it", subsystem.name));
        }
    }
    each_quantity(profile, {}, [&](const Keys& keys, const Estimate& estimate) {
        add_estimate(lines, key_path(keys), estimate);
    });
    for (const InstructionTiming& timing : profile.instructions) {
        add_timing(lines, profile, timing);
    }
    return lines;
}

Lines oddities(const Kernel& kernel) {
    Lines lines;
    std::set<std::int64_t> counts;
    for (const WarpProgram& program : kernel.warps) {
        counts.insert(barriers(program.instructions));
        if (kernel.launch) {
            const double warps = program.share * kernel.launch->group_warps;
            if (std::abs(warps - std::round(warps)) > 1e-3) {
                lines.push_back(fmt::format("warps.share: {} of {} warps is not a whole number",
                                            program.share, kernel.launch->group_warps));
            }
        }
    }
    if (counts.size() > 1) {
        lines.push_back(
            fmt::format("warps: some warps pass {} barriers, others {}: a group may never finish",
                        *counts.begin(), *counts.rbegin()));
    }
    return lines;
}

Lines oddities(const MeasurementFile& file) {
    Lines lines;
    for (const char* key : {"device_name", "cores", "warp_size", "clock_hz"}) {
        if (file.context.find(key) == file.context.end()) {
            lines.push_back(fmt::format("context.{}: is missing; a profile needs it", key));
        }
    }
    if (const auto clock = file.context.find("clock_hz"); clock != file.context.end()) {
        if (const auto fault = fault_of_claimed_clock(clock->second))
            lines.push_back(fmt::format("context.clock_hz: {}", *fault));
    }
    for (const char* key : {"incomplete", "clock_deviation", "clock_warning"}) {
        const auto said = file.context.find(key);
        if (said == file.context.end()) continue;
        lines.push_back(fmt::format("context.{}: {}", key, said->second));
    }
    if (file.rows.empty()) {
        lines.emplace_back("benchmarks: is empty");
    }
    std::set<std::pair<std::string, int>> seen;
    std::vector<std::string> repeated;
    double slowest = 0;
    double fastest = 0;
    for (const MeasurementRow& row : file.rows) {
        if (!seen.insert({row.name(), row.repetition}).second) {
            repeated.push_back(fmt::format("{} repetition {}", row.name(), row.repetition));
        }
        if (row.clock_hz) {
            slowest = slowest > 0 ? std::min(slowest, *row.clock_hz) : *row.clock_hz;
            fastest = std::max(fastest, *row.clock_hz);
        }
    }
    if (const std::size_t n = repeated.size(); n > 0) {
        constexpr std::size_t named = 3;
        repeated.resize(std::min(n, named));
        lines.push_back(fmt::format("benchmarks: {} row{} a repetition that is there already: {}{}",
                                    n, n == 1 ? " has" : "s have", fmt::join(repeated, ", "),
                                    n > named ? ", …" : ""));
    }
    if (fastest > 1.05 * slowest) {
        lines.push_back(
            fmt::format("benchmarks: the clock varied between {} and {} Hz", slowest, fastest));
    }
    return lines;
}

}  // namespace occupipe::analysis
