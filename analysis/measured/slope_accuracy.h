// SPDX-License-Identifier: MIT
// How well a fresh profile predicts, through the Pipeline simulation, the file that it was fitted
// to. Compared are cycles per instruction as slopes over depth, so that the fixed cost of a launch,
// which the model leaves out, does not enter.
#pragma once

#include <map>
#include <string>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe::analysis {

// |predicted - measured| / measured over the shapes of one subject.
struct SlopeErrors {
    int shapes = 0;
    double mean = 0;
    double worst = 0;  // the one furthest from zero, signed
};

struct SlopeAccuracy {
    std::map<std::string, SlopeErrors> fitted;  // instructions
    // Their times the fit has not used: of mixes it takes only which subsystems there are.
    std::map<std::string, SlopeErrors> mixes;
};

// Shapes with one depth, and with an instruction that could not be fitted, are left out.
SlopeAccuracy slope_accuracy(const MeasurementFile& file, const GpuProfile& profile);

}  // namespace occupipe::analysis
