// SPDX-License-Identifier: MIT
// Predictions of a space's configurations, and what was measured of them beside.
//   const HeldAgainst held = held_against(space, runs, drawn, profile, {});
//   scores(scored(held, 0))
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/tuning/measured_runs.h"
#include "analysis/tuning/predictor.h"
#include "analysis/tuning/scores.h"
#include "analysis/tuning/space.h"
#include "ask/answer.h"
#include "core/gpu_profile.h"

namespace occupipe::analysis {

struct PredictedConfiguration : ConfigurationPrediction {
    double measured = 0;  // seconds
};

struct HeldAgainst {
    std::string gpu;     // the profile's device
    std::string device;  // the file's; empty: not told
    double clock_hz = 0;
    std::vector<const Model*> models;
    std::vector<PredictedConfiguration> rows;         // as drawn
    bool stopped = false;                             // before all were predicted
    std::size_t valid = 0, failed = 0, excluded = 0;  // of the file
};

struct HeldOptions {
    ProfileChanges changes;
    MemoryQuestion memory;
    RunQuestion run = estimated();
    std::vector<std::string> models = {"pipeline"};
    std::int64_t max_simulated = SimulationOptions().max_simulated;
    CodeCache* cache = nullptr;
    unsigned threads = 0;  // of this machine; 0: one per core
    // Told of each configuration that is done; called by one thread at a time.
    std::function<void(const PredictedConfiguration&)> done = {};
    std::function<bool()> stop = {};  // asked often, by several threads; true: give up the rest
};

// `drawn`: indices into runs. A configuration that is refused is a row with the reason. Throws
// InputError where the space itself cannot be used.
HeldAgainst held_against(const TuningSpace& space, const MeasuredRuns& runs,
                         std::span<const std::size_t> drawn, const GpuProfile& profile,
                         const HeldOptions& options);

// Absent: the model predicts none. With the interval, which is the first model's.
std::optional<ScoredTime> scored(const PredictedConfiguration& row, std::size_t model);
// Of the rows that the model predicts.
std::vector<ScoredTime> scored(const HeldAgainst& held, std::size_t model);

}  // namespace occupipe::analysis
