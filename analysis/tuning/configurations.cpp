// SPDX-License-Identifier: MIT
#include "analysis/tuning/configurations.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "ask/what_if.h"
#include "core/parallel.h"
#include "sim/engine/run_progress.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {

HeldAgainst held_against(const TuningSpace& space, const MeasuredRuns& runs,
                         std::span<const std::size_t> drawn, const GpuProfile& profile,
                         const HeldOptions& options) {
    GpuProfile asked = profile;
    apply_what_ifs(options.changes.what_ifs, asked);
    HeldAgainst held{.gpu = profile.device.name,
                     .device = runs.device,
                     .clock_hz = asked.clock_hz,
                     .models = find_models(options.models)};
    held.excluded = runs.excluded;
    for (const MeasuredRun& run : runs.runs) ++(run.seconds ? held.valid : held.failed);
    held.rows.resize(drawn.size());
    Predictor predictor(space, profile,
                        {.changes = options.changes,
                         .memory = options.memory,
                         .run = options.run,
                         .models = held.models,
                         .max_simulated = options.max_simulated,
                         .cache = options.cache,
                         .stop = options.stop});
    std::mutex telling;
    std::atomic<bool> stopped = false;
    parallel_for(
        held.rows.size(),
        [&](std::size_t i) {
            const MeasuredRun& run = runs.runs[drawn[i]];
            PredictedConfiguration& row = held.rows[i];
            row = {predictor.predict(run.configuration), *run.seconds};
            if (row.refused == Refusal::stopped) {
                stopped = true;
                return;
            }
            if (row.at_limit) throw LimitReached(row.refusal);
            const std::scoped_lock lock(telling);
            if (options.done) options.done(row);
        },
        options.threads);
    held.stopped = stopped;
    return held;
}

std::optional<ScoredTime> scored(const PredictedConfiguration& row, std::size_t model) {
    if (!row.predicted[model]) return std::nullopt;
    ScoredTime time{.measured = row.measured, .predicted = *row.predicted[model]};
    if (model == 0 && row.interval) {
        time.low = row.interval->low;
        time.high = row.interval->high;
    }
    return time;
}

std::vector<ScoredTime> scored(const HeldAgainst& held, std::size_t model) {
    std::vector<ScoredTime> times;
    for (const PredictedConfiguration& row : held.rows)
        if (const auto time = scored(row, model)) times.push_back(*time);
    return times;
}

}  // namespace occupipe::analysis
