// SPDX-License-Identifier: MIT
// Raw measurements: what `occupipe measure` writes and `occupipe fit` reads (Google Benchmark's
// JSON; docs/reference/file-formats/).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/row_counters.h"

namespace occupipe {

struct MeasurementShape {
    int group_warps = 1;
    int concurrent_groups = 1;
    int chains = 1;          // independent dependent chains per warp (ILP)
    std::int64_t depth = 1;  // instructions per chain per warp

    int warps() const { return group_warps * concurrent_groups; }
    auto operator<=>(const MeasurementShape&) const = default;
};

// One row of the file: one repetition of one point.
struct MeasurementRow {
    std::string subject;  // "fma.f32" or "mix(fma.f32*8,cos.approx.f32)"
    MeasurementShape shape;
    std::optional<int> beta;  // mixes only
    int repetition = 0;
    std::optional<double> cycles;      // absent if the device does not report it
    std::optional<double> clock_hz;    // measured during this repetition
    double seconds = 0;                // the device's own event timer
    std::optional<std::string> error;  // the row failed; numbers are meaningless then
    RowCounters counters;              // every counter of the row, the above included
    std::string other_name;            // as in the file, where that is not measurement_name()

    std::string name() const;  // "fma.f32/group_warps:4/…", as in the file
};

struct MeasurementFile {
    std::string path;
    std::string content_hash;                    // "xxh128:…"
    std::map<std::string, std::string> context;  // device facts and provenance, as text
    std::vector<MeasurementRow> rows;
};

// "fma.f32/group_warps:4/concurrent_groups:2/chains:1/depth:1024"
std::string measurement_name(std::string_view subject, const MeasurementShape& shape);

// "mix(A*β,B)"
struct Mix {
    std::string first;
    int beta = 1;
    std::string second;
};
std::string mix_name(const Mix& mix);
std::optional<Mix> parse_mix(std::string_view subject);  // nullopt if the name is not a mix

}  // namespace occupipe
