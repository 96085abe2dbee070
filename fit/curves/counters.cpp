// SPDX-License-Identifier: MIT
#include "fit/curves/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/row_dependence.h"
#include "core/statistics.h"
#include "fit/tables/full_rates.h"

namespace occupipe {
namespace {

bool whole_from_one(double value) { return value >= 1 && value == std::floor(value); }

}  // namespace

std::optional<double> counter(const MeasurementRow& row, std::string_view name) {
    return row.counters.find(name);
}

std::optional<std::string> counter_fault(const MeasurementRow& row) {
    const auto fault = [&](const char* name, const char* rule) {
        return fmt::format("{} must be {}", name, rule);
    };
    for (const char* name :
         {shape_n_counter, conflict_degree_counter, body_counter, warps_per_instruction_counter})
        if (const auto v = counter(row, name); v && !whole_from_one(*v))
            return fault(name, "a whole number of at least 1");
    for (const char* name : {bytes_in_flight_counter, access_bytes_counter})
        if (const auto v = counter(row, name); v && !(*v > 0 && std::isfinite(*v)))
            return fault(name, "positive");
    const auto all = counter(row, loop_instructions_counter);
    const auto others = counter(row, other_instructions_counter);
    if (others && !(*others >= 0 && (!all || *others < *all)))
        return fault(other_instructions_counter, "at least 0 and less than loop_instructions");
    for (const char* name : {other_stall_counter, start_skew_counter})
        if (const auto v = counter(row, name); v && !(*v >= 0 && std::isfinite(*v)))
            return fault(name, "at least 0");
    if (const auto v = counter(row, off_core_counter); v && *v != 0 && *v != 1)
        return fault(off_core_counter, "0 or 1");
    if (const auto v = counter(row, dependent_counter); v && *v != 0 && *v != 1)
        return fault(dependent_counter, "0 or 1");
    if (const auto v = counter(row, busiest_scheduler_counter);
        v && !(whole_from_one(*v) && *v <= row.shape.warps()))
        return fault(busiest_scheduler_counter, "a whole number from 1 to the warps of the shape");
    return std::nullopt;
}

CurveCounters curve_counters(const MeasurementRow& row) {
    CurveCounters out;
    const auto n = counter(row, shape_n_counter);
    if (n && whole_from_one(*n)) out.shape_n = n;
    const auto degree = counter(row, conflict_degree_counter);
    if (degree && whole_from_one(*degree) && *degree > 1) out.conflict_degree = degree;
    return out;
}

std::optional<double> loop_share(const MeasurementRow& row) {
    const auto all = counter(row, loop_instructions_counter);
    const auto others = counter(row, other_instructions_counter);
    if (!all || !others) return std::nullopt;
    return *others / (*all - *others);
}

bool leaves_core(const MeasurementRow& row) {
    if (const auto said = counter(row, off_core_counter)) return *said != 0;
    const std::string& name = row.subject;
    const bool global = name.find(".global") != std::string::npos;
    return global && name.find(".global.l1.") == std::string::npos;
}

namespace {

bool has_clock(const MeasurementRow& row) {
    return !row.error && row.clock_hz && *row.clock_hz > 0 && row.cycles && *row.cycles > 0;
}

// Of few rows nothing is said.
double interval_error(const MeasurementFile& file, double hz) {
    constexpr std::size_t fewest = 100;
    std::vector<std::pair<double, double>> all;  // seconds, their error
    for (const MeasurementRow& row : file.rows) {
        if (!has_clock(row)) continue;
        const double seconds = *row.cycles / hz;
        all.emplace_back(seconds, std::abs(*row.cycles / *row.clock_hz - seconds));
    }
    std::ranges::sort(all);
    all.resize(all.size() / 4);
    if (all.size() < fewest) return 0;
    std::ranges::sort(all, {}, &std::pair<double, double>::second);
    return all[(all.size() - 1) * 99 / 100].second;
}

}  // namespace

std::optional<ReferenceClock> reference_clock(const MeasurementFile& file) {
    const auto type = file.context.find("device_type");
    if (type == file.context.end() || type->second != "gpu") return std::nullopt;
    if (const auto said = file.context.find("reference_clock_hz"); said != file.context.end()) {
        char* end = nullptr;
        const double hz = std::strtod(said->second.c_str(), &end);
        if (end != said->second.c_str() && hz > 0 && std::isfinite(hz))
            return ReferenceClock{hz, interval_error(file, hz)};
    }
    std::vector<double> clocks;
    for (const MeasurementRow& row : file.rows)
        if (!row.error && row.clock_hz) clocks.push_back(*row.clock_hz);
    if (clocks.empty()) return std::nullopt;
    const double hz = median(std::move(clocks));
    return ReferenceClock{hz, interval_error(file, hz)};
}

bool at_another_clock(const MeasurementRow& row, const std::optional<ReferenceClock>& reference) {
    double ratio = 1;  // of the reference to the row's clock, as of intervals
    if (const auto said = counter(row, clock_deviation_counter))
        ratio = 1 / (1 + *said);
    else if (reference && row.clock_hz)
        ratio = reference->hz / *row.clock_hz;
    double allowed = largest_clock_deviation;
    if (reference && has_clock(row))
        allowed += reference->interval_error_seconds * reference->hz / *row.cycles;
    return std::abs(ratio - 1) > allowed;
}

bool belongs_elsewhere(const MeasurementRow& row) {
    static constexpr std::array names{full_counter,           working_set_counter,
                                      launches_counter,       awaited_launches_counter,
                                      graph_launches_counter, launch_groups_counter,
                                      loop_iterations_counter};
    for (const char* name : names)
        if (row.counters.contains(name)) return true;
    return false;
}

}  // namespace occupipe
