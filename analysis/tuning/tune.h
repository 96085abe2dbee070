// SPDX-License-Identifier: MIT
// All configurations of a space, or a sample of them, predicted on all cores and in any order; what
// is done is in a journal, which the next run goes on with.
//   const Tuned tuned = tune(space, profile, {.journal = "ranked.json.journal"});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/tuning/measured_runs.h"
#include "analysis/tuning/predictor.h"
#include "analysis/tuning/space.h"
#include "analysis/tuning/stages.h"
#include "core/gpu_profile.h"
#include "core/shard.h"

namespace occupipe::analysis {

// Told when a stage begins, and of each of its predictions.
struct TuneProgress {
    Stage stage = Stage::exact;
    std::size_t done = 0;  // those of the journal included
    std::size_t all = 0;
    std::size_t resumed = 0;          // from the journal
    double seconds = 0;               // since the stage began
    std::optional<double> left = {};  // of the budget, seconds
};

struct TuneOptions {
    std::vector<std::string> models = {"pipeline"};
    MemoryQuestion memory = {};
    ProfileChanges changes = {};
    RunQuestion run = estimated();
    std::int64_t max_simulated = SimulationOptions().max_simulated;
    // Of all of the command, runs before it that ended early included: all configurations coarse,
    // however long that takes, then as many as possible exact. Absent: all exact.
    std::optional<double> budget_seconds = {};
    std::optional<std::size_t> draws = {};  // so many at random; absent: all
    std::uint64_t seed = 1;                 // of the order, and so of the draw
    // These configurations come first, whatever the draw is.
    std::vector<Configuration> first = {};
    Shard shard = {};  // this part of them alone
    // Journals of shards whose configurations need not be predicted again.
    std::vector<std::filesystem::path> join = {};
    CodeCache* cache = nullptr;
    unsigned threads = 0;                // of this machine; 0: one per core
    std::filesystem::path journal = {};  // empty: none
    bool force = false;                  // a journal of something else is replaced
    std::function<void(const TuneProgress&)> progress = {};  // one at a time
    std::function<bool()> stop = {};  // asked often, by several threads; true: give up the rest
};

struct Tuned {
    std::string gpu;  // the profile's device
    double clock_hz = 0;
    std::vector<const Model*> models;
    std::uint64_t combinations = 0;        // of all values
    std::size_t of_space = 0;              // that no condition excludes
    std::size_t asked = 0;                 // of these: all, a draw, or a shard of them
    std::vector<TunedConfiguration> rows;  // that are done, by number
    bool stopped = false;                  // before all that were asked for were done
    std::optional<CoarseScale> scale;      // with a budget
};

// A configuration that is refused is a row with the reason. Throws InputError where space, profile
// or journal cannot be used, DeviceError where there is no compiler, Interrupted where `stop` says
// so before the configurations are counted.
Tuned tune(const TuningSpace& space, const GpuProfile& profile, const TuneOptions& options);

}  // namespace occupipe::analysis
