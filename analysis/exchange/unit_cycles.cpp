// SPDX-License-Identifier: MIT
#include "analysis/exchange/unit_cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace occupipe::analysis {
namespace {

constexpr double nearly_a_cycle = 0.95;

int units_for(const GpuProfile& profile, const InstructionTiming& timing,
              std::optional<int> wanted) {
    if (wanted) return *wanted;
    const int copies = profile.copies(timing.subsystem);
    if (copies > 1) return copies;
    return profile.cpi_per_core(timing).value >= nearly_a_cycle ? 1 : profile.issue.schedulers;
}

std::string rounding(double exact, int written) {
    const double percent = 100 * (written / exact - 1);
    return std::abs(percent) < 0.05
               ? fmt::format("{}", written)
               : fmt::format("{:.4g}, written {} ({:+.1f} %)", exact, written, percent);
}

}  // namespace

UnitCycles unit_cycles(const GpuProfile& profile, const InstructionTiming& timing,
                       std::optional<int> wanted, double pipeline_cycles) {
    UnitCycles out;
    out.units = units_for(profile, timing, wanted);
    const double cpi = profile.cpi_per_core(timing).value;
    const double interval = cpi * out.units;
    const double latency = timing.latency->value - pipeline_cycles;
    if (interval < nearly_a_cycle) {
        out.fault = fmt::format(
            "{}: λ {:.4g} per core is {:.4g} cycles for each of {} unit{}, and a unit starts one "
            "instruction a cycle at most; units says how many there are",
            timing.name, cpi, interval, out.units, out.units == 1 ? "" : "s");
        return out;
    }
    if (interval > most_unit_cycles || latency > most_unit_cycles) {
        out.fault = fmt::format("{}: takes more than {} cycles, which a unit cannot", timing.name,
                                most_unit_cycles);
        return out;
    }
    out.initiation = std::max(1, static_cast<int>(std::lround(interval)));
    const int rounded = std::max(1, static_cast<int>(std::lround(latency)));
    out.latency = std::max(out.initiation, rounded);
    out.how = fmt::format("{}: λ {:.4g} per core x {} unit{} = {}; Λ {:.4g}", timing.name, cpi,
                          out.units, out.units == 1 ? "" : "s", rounding(interval, out.initiation),
                          timing.latency->value);
    if (pipeline_cycles > 0)
        out.how += fmt::format(" - {:g} of the simulator's pipeline", pipeline_cycles);
    if (rounded < out.initiation) {
        out.how +=
            fmt::format(", written {}: a unit's latency is not below its interval", out.latency);
    } else if (pipeline_cycles > 0 || latency != rounded) {
        out.how += fmt::format(", written {}", out.latency);
    }
    return out;
}

}  // namespace occupipe::analysis
