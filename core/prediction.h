// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/estimate.h"
#include "core/launch.h"

namespace occupipe {

// Utilisation (busy fraction, 0…1) of a subsystem, or of the issue port (name "issue").
struct Bound {
    std::string name;
    double utilisation = 0;

    bool operator==(const Bound&) const = default;
};

// An intermediate result of a model, named as in its paper ("MWP", "memory-bound").
struct ModelValue {
    std::string name;
    double value = 0;

    bool operator==(const ModelValue&) const = default;
};

// What 95 % of the times that GPUs take are expected to lie between [s].
struct PredictionInterval {
    double low = 0;
    double high = 0;
    // What makes it wide: standard deviations of the time's logarithm, the root of the sum of whose
    // squares is that of the whole. "profile", "model", "sample", "estimate".
    std::vector<ErrorTerm> terms;

    bool operator==(const PredictionInterval&) const = default;
};

// The prediction of one model for one kernel on one GPU at one launch.
struct Prediction {
    std::string model;
    Launch launch;
    std::int64_t groups_per_core = 0;
    double cycles = 0;           // core cycles for all groups of one core
    double seconds = 0;          // cycles / clock, and the launch overhead where it is known
    double warps_per_cycle = 0;  // WPC = groups_per_core * group_warps / cycles
    double cycles_per_run = 0;   // CPR = ω / WPC: the warps that are resident at once
    double instructions_per_cycle = 0;
    std::string limited_by;  // a bound's name, or "latency"
    std::vector<Bound> bounds;
    // Bound of the relative error of cycles (0.01: 1 %), where they are extrapolated from a part of
    // the simulation; absent: as exact as the model.
    std::optional<double> estimate_error;
    std::optional<PredictionInterval>
        interval;  // absent: nobody knows how far off the model is here
    std::vector<ModelValue> values;
    std::vector<std::string> assumptions;  // what the model leaves out here, for the reader
};

}  // namespace occupipe
