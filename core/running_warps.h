// SPDX-License-Identifier: MIT
// How many warps of a core were running for how long: what start and stop of every warp say, as a
// few counters of a measurement's row (docs/reference/file-formats/, "Warps that drift apart").
//
//     running_cycles({0, 0}, {100, 60})   // {100, …, 100, 60, …, 60}: eight sixteenths each
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace occupipe {

inline constexpr std::size_t running_parts = 16;

// Cycles in which at least so many warps ran, averaged over each sixteenth of the warps: the last
// is (nearly) the time in which all ran, the first that in which any did. Descending.
using RunningCycles = std::array<double, running_parts>;

// `starts`, `stops`: of the warps of one core, by the core's clock [cycles]; equally many, at least
// one.
RunningCycles running_cycles(std::span<const double> starts, std::span<const double> stops);

// Kendall's rank correlation between the age of warps and their stops, by scheduler, from -1
// (the youngest stop first) to 1 (the oldest do). Stops that lie within `same` cycles of each other
// tell nothing. nullopt where no pair of warps tells anything. `warps` in the order of their age;
// warp w is on scheduler scheduler_of[w].
struct StopOrder {
    double correlation = 0;
    double telling = 0;  // pairs of one scheduler whose stops differ, over all pairs of one
};
std::optional<StopOrder> stop_order(std::span<const double> stops,
                                    std::span<const int> scheduler_of, double same);

// "running_01" … "running_16"
const std::string& running_counter(std::size_t part);
inline constexpr const char* stop_spread_counter = "stop_spread_cycles";
inline constexpr const char* stop_order_counter = "stop_order";
inline constexpr const char* stops_telling_counter = "stops_telling";
inline constexpr const char* window_cycles_counter = "window_cycles";
inline constexpr const char* window_instructions_counter = "window_instructions";

// What one warp's clock readings say of its way: at its start nothing is done, at each checkpoint
// an equal further part, at its stop all.
struct WarpTimes {
    double start = 0;
    std::vector<double> checkpoints;  // between start and stop, ascending
    double stop = 0;
};

// A stretch of time in which all warps ran, and what they did meanwhile.
struct Window {
    double cycles = 0;
    double instructions = 0;  // of all warps
    // Standard error of that: where a warp was between two of its readings is reckoned as if it had
    // kept its pace, and known no better than its pace from part to part is.
    double instructions_error = 0;
};

// Of all windows from the last warp's k-th reading to the first warp's l-th one, the one whose
// instructions are known best, relatively; start and stop count as readings, but cost a thousandth,
// since what is not the loop is beside them. nullopt where no window is a tenth of the time.
// `warps`: of one core, at least one, all with equally many checkpoints; `instructions`: of one
// warp from start to stop.
std::optional<Window> common_window(std::span<const WarpTimes> warps, double instructions);

// `checkpoints`: of a row whose kernel reads the clock so many times on its way. Such a row's
// cycles contain that; its window is what it is for.
inline constexpr const char* checkpoints_counter = "checkpoints";
inline constexpr const char* checkpoint_instructions_counter = "checkpoint_instructions";
inline constexpr const char* window_error_counter = "window_instructions_error";

// The window's counters; empty where there is none.
std::map<std::string, double> window_counters(std::span<const WarpTimes> warps,
                                              double instructions);

// The counters of one launch: `stop_spread_cycles` always; the others where warps of one scheduler
// stopped apart by more than a hundredth of the time. `ages`: the warps in the order of their age.
// `starts`, `stops` and `scheduler_of` are in that order.
std::map<std::string, double> running_counters(std::span<const double> starts,
                                               std::span<const double> stops,
                                               std::span<const int> scheduler_of);

}  // namespace occupipe
