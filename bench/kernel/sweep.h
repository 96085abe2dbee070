// SPDX-License-Identifier: MIT
// Which points form which curve: a pure function of the device's facts and the request.
#pragma once

#include <string>
#include <vector>

#include "bench/backend.h"

namespace occupipe::bench {

struct SweepRequest {
    // Shell-style patterns (* ? []) on instruction names; "mix(A*β,B)" asks for one mix, and any
    // pattern that starts with "mix(" chooses among the default mixes. Empty = everything.
    std::vector<std::string> patterns;
    bool quick = false;  // fewer shapes and repetitions
    // Also mix(A*β,B), β = 1, 2 and 4, of every two instructions that the patterns choose (of a
    // representative list when there are none): which of them share a subsystem.
    bool pairs = false;
    // Also, at full occupancy with several chains, each chosen instruction that a device's rates
    // come from (fma.f32 … ld.global.f32); without patterns these instructions alone.
    bool rates = false;
    // mixbench's experiment: mix(A*β,B) of the multiply-adds A and the streaming loads B that the
    // device has, β = 1 … 64, and `rates`. Takes no patterns.
    bool intensity = false;
};

struct PlannedPoint {
    KernelPlan plan;
    MeasurementShape shape;  // depth is a multiple of plan.unroll
    // Beside the curve, for the rate at full occupancy; the name says so.
    bool full = false;

    // A walk with a working set of its own says so between subject and shape.
    std::string name() const;
};

struct SkippedSubject {
    std::string subject;
    std::string reason;
};

struct SweepPlan {
    std::vector<PlannedPoint> points;
    std::vector<SkippedSubject> skipped;
    int repetitions = 5;
};

// Every shape that the papers sweep: group sizes that are powers of two, every reachable warp count
// (CPU devices: chains instead), three depths each. Throws InputError when a pattern matches
// nothing, or the device's limits are missing.
SweepPlan make_sweep(const Backend& backend, const SweepRequest& request);

// The one point of this name, as a sweep of its own. Throws InputError, naming near ones, if the
// sweep has none.
SweepPlan only_point(SweepPlan sweep, const std::string& name);

// Splits "a,b,mix(c*2,d)" at the commas outside parentheses.
std::vector<std::string> split_patterns(const std::string& text);

}  // namespace occupipe::bench
