// SPDX-License-Identifier: MIT
// The counters of a measurement row that the fitter uses, besides the shape and the times
// (docs/reference/file-formats/, "Counters that `fit` uses").
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/measurement.h"
#include "fit/curves/curve.h"

namespace occupipe {

inline constexpr const char* busiest_scheduler_counter = "busiest_scheduler_warps";
inline constexpr const char* warps_per_instruction_counter = "warps_per_instruction";
inline constexpr const char* off_core_counter = "off_core";
inline constexpr const char* start_skew_counter = "start_skew_cycles";
inline constexpr const char* clock_deviation_counter = "clock_deviation";
inline constexpr const char* body_counter = "unroll";
inline constexpr const char* loop_instructions_counter = "loop_instructions";
inline constexpr const char* other_instructions_counter = "other_instructions";
inline constexpr const char* other_stall_counter = "other_stall_cycles";
inline constexpr const char* shape_n_counter = "shape_n";
inline constexpr const char* conflict_degree_counter = "conflict_degree";
inline constexpr const char* bytes_in_flight_counter = "bytes_in_flight";
inline constexpr const char* access_bytes_counter = "access_bytes";
inline constexpr const char* least_core_counter = "cycles_min";
inline constexpr const char* greatest_core_counter = "cycles_max";
inline constexpr const char* lower_quartile_counter = "core_cycles_q1";
inline constexpr const char* upper_quartile_counter = "core_cycles_q3";
inline constexpr const char* working_set_counter = "working_set_bytes";
inline constexpr const char* launches_counter = "launches";
inline constexpr const char* awaited_launches_counter = "awaited_launches";
inline constexpr const char* graph_launches_counter = "graph_launches";
inline constexpr const char* launch_groups_counter = "launch_groups";
inline constexpr const char* loop_iterations_counter = "loop_iterations";

std::optional<double> counter(const MeasurementRow& row, std::string_view name);

// Why a counter's value is impossible; nullopt if all are in range.
std::optional<std::string> counter_fault(const MeasurementRow& row);

// The counters that set curves of one subject apart; values out of range stay
// out, and so does degree 1, which is the ordinary case.
CurveCounters curve_counters(const MeasurementRow& row);

// other_instructions over the rest of loop_instructions; nullopt if the row lacks one of them.
std::optional<double> loop_share(const MeasurementRow& row);

// Whether a row's time depends on what has another clock than the core: by its counter, else by
// its name.
bool leaves_core(const MeasurementRow& row);

// A row counts as measured at another clock when it is off by more than this, relative.
inline constexpr double largest_clock_deviation = 0.02;

// nullopt where rows may have any clock (CPUs, models, imports that do not say "gpu").
std::optional<ReferenceClock> reference_clock(const MeasurementFile& file);

// By the row's own mark, else by its clock; beyond what the interval's error explains.
bool at_another_clock(const MeasurementRow& row, const std::optional<ReferenceClock>& reference);

// Rows of working-set curves and of overheads' lines are no points of a hull.
bool belongs_elsewhere(const MeasurementRow& row);

}  // namespace occupipe
