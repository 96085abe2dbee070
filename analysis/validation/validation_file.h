// SPDX-License-Identifier: MIT
// Files of a validation: its curves, so that it can go on where it was ended, and launches for
// another machine to time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/validation/validation.h"

namespace occupipe::analysis {

inline constexpr std::string_view curve_format = "occupipe-validation/1";

// A curve that report::to_json(curve, …) wrote; absent where `made_of`, the hash of all that it
// was made from, is another one. Throws InputError.
std::optional<ValidationCurve> parse_curve(const std::string& text, const std::string& file_name,
                                           const std::string& made_of,
                                           const std::vector<std::string>& models);

// The curves of a folder that `validate` wrote (its curves/*.json), by name, whatever they were
// made of, with the models of all.
struct SavedCurves {
    std::vector<std::string> models;
    std::vector<ValidationCurve> curves;
};
SavedCurves read_curves(const std::filesystem::path& folder);

// One launch of a dump: a kernel as its launch file launches it, with as much dynamic shared memory
// as leaves `concurrent_groups` of them on a core.
struct TimedLaunch {
    std::string kernel;
    int concurrent_groups = 0;
    std::uint32_t shared_bytes = 0;  // dynamic
};

// Occupancies that shared memory alone can choose, most groups first: not every number of groups is
// possible, nor is one group where half of the shared memory is more than a group may have.
std::vector<TimedLaunch> timed_launches(const ReadyKernel& ready);

// The shared memory that makes an occupancy is taken from the first-level cache where both share
// one memory: tells it to the launches' kernels.
void tell_shared_memory(const ReadyKernel& ready, std::vector<ToldLaunch>& told);

// "kernel,group_warps,concurrent_groups,groups,shared_bytes,cycles": a header and a line a launch,
// cycles empty.
std::string launches_to_time(const std::vector<ReadyKernel>& kernels);

struct TimedRuns {
    Launch launch;
    double cycles = 0;                    // median
    std::set<std::int64_t> shared_bytes;  // dynamic, of each run
};

// The same table with cycles: by kernel, the launches in order of occupancy. Throws InputError
// naming the line; also where a line has no cycles.
using TimedCurves = std::map<std::string, std::vector<TimedRuns>>;
TimedCurves parse_timed_launches(const std::string& text, const std::string& file_name);

// Fills in what was timed, on `cores` cores. Curve and table have to have the same launches.
void apply_times(ValidationCurve& curve, const std::vector<std::pair<Launch, double>>& times,
                 int cores);

}  // namespace occupipe::analysis
