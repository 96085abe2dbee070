// SPDX-License-Identifier: MIT
// Two versions of a kernel on one GPU: what changed in instructions, stalls and time, by line of
// source code.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explanation/annotation.h"
#include "analysis/explanation/sensitivity.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {

// One of the two. The times of one side's lines are shares of its predicted cycles, so that the
// lines of both sides sum to the predictions, whatever their launches.
struct ComparedKernel {
    std::string file;  // as it was named
    Kernel kernel;
    Launch launch;
    std::map<std::string, std::string> sources;  // texts by file, as `at` names them
};

// A count or a time of each side.
struct BeforeAfter {
    double before = 0;
    double after = 0;

    // Without what rounding leaves of equal sums.
    double difference() const {
        constexpr double rounding = 1e-12;
        const double change = after - before;
        return std::abs(change) > rounding * std::max(std::abs(before), std::abs(after)) ? change
                                                                                         : 0;
    }
};

// How a line of one version stands in the other.
enum class LineFate : std::uint8_t {
    same,     // the same text
    changed,  // other text in the same place
    removed,
    added,
    unknown,  // instructions that say no line, and time in which no instruction waits
};

struct LineChange {
    LineFate fate = LineFate::same;
    std::string before;  // "FILE:LINE"; empty: not there
    std::string after;
    std::string text;        // of the later version that has it; empty: not at hand
    BeforeAfter executions;  // of the launch
    BeforeAfter cycles;      // of the prediction; all lines sum to it
    // Its most frequent reason; none: no time.
    std::optional<sim::WaitReason> before_reason, after_reason;
    std::optional<Interval> difference;  // of cycles, by the profile's errors; absent: none
};

struct KernelComparison {
    std::string before_file, after_file;
    Annotation before, after;
    BeforeAfter cycles;                               // predicted, of the busiest core
    BeforeAfter seconds;                              // of the launch
    std::map<std::string, BeforeAfter> instructions;  // executed by the launch, by op
    std::map<sim::WaitReason, BeforeAfter> reasons;   // cycles of the prediction; sum to it
    std::vector<LineChange> lines;  // in the order of the later version; sum to the prediction
    std::optional<DifferenceUncertainty> uncertainty;
    std::string no_uncertainty;  // why there is none
    int line_draws = 0;          // of the profile, for the intervals of lines; 0: there are none
    std::vector<std::string> notes;
};

// Simulates both. `draws`: of the profile for the uncertainty; 0: none. `prepare`: as for
// difference_uncertainty(). Throws as simulate().
KernelComparison compare_kernels(const GpuProfile& profile, const ComparedKernel& before,
                                 const ComparedKernel& after, const SimulationOptions& options,
                                 int draws, std::uint64_t seed, const Prepare& prepare = {});

// Pairs of equal lines, blanks aside, in order: as many as possible. Indices from 0. What both
// begin and end with is always paired; beyond 4,000 lines that differ only that.
std::vector<std::pair<std::size_t, std::size_t>> equal_lines(const std::vector<std::string>& before,
                                                             const std::vector<std::string>& after);

}  // namespace occupipe::analysis
