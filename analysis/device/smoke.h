// SPDX-License-Identifier: MIT
// Whether a short measurement justifies going on: its numbers against what is known of the GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measurement.h"

namespace occupipe::analysis {

// The instructions of a smoke test; a device is asked for those of them that it has.
std::vector<std::string_view> smoke_instructions();

struct SmokeRange {
    double low = 0;
    double high = 0;
    std::string source;  // who says so
};

// λ or Λ [cycles]: a slope over the depth.
struct SmokeFigure {
    std::string instruction;
    std::string quantity;                // "Λ" or "λ"
    std::optional<double> measured;      // absent: `fault` says why
    std::optional<SmokeRange> expected;  // absent: nothing is published, or nothing fits this GPU
    std::string fault;   // impossible, or so far away that something must be wrong; else empty
    std::string notice;  // outside the expected range, which does not stop the run
};

struct SmokeVerdict {
    std::vector<SmokeFigure> figures;
    // What is wrong, the first thing first; empty = go.
    std::vector<std::string> faults;
};

// Never throws on odd numbers: they are faults.
SmokeVerdict judge_smoke(const MeasurementFile& file);

}  // namespace occupipe::analysis
