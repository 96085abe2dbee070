// SPDX-License-Identifier: MIT
// The reports of `predict` that explain a result: stalls, timeline, trace, sensitivity,
// uncertainty.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "analysis/explanation/sensitivity.h"
#include "cli/option.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "sim/engine/simulate.h"
#include "sim/observers/run_views.h"

namespace occupipe::cli {

struct ExplainOptions {
    bool stalls = false;
    bool timeline = false;
    std::string svg;  // file names; empty = none
    std::string trace;
    double window = 100;  // cycles of the timeline, the drawing and the trace
    bool sensitivity = false;
    std::optional<int> uncertainty;  // draws
    std::uint64_t seed = 1;
    bool force = false;

    bool any() const {
        return stalls || timeline || !svg.empty() || !trace.empty() || sensitivity || uncertainty;
    }
};

void add_explain_options(const Command& command, ExplainOptions& options);

// The requested reports, as text and as additional keys of the prediction's JSON.
struct Explanation {
    std::string text;
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

// Kernel and profile before they were made ready, and how that is done.
struct Unprepared {
    Kernel kernel;
    GpuProfile profile;
    analysis::Prepare prepare;
};

// What the reports, and an annotation if there is one, need to see of the launch's run.
sim::RunViews::Wanted wanted_views(const ExplainOptions& options, bool annotates);

// Writes the files that were asked for. `views`: of a run of this launch. `before`: what the kernel
// and the profile were made of, for --uncertainty; null: they are as they were.
Explanation explain(const sim::RunViews& views, const GpuProfile& profile, const Kernel& kernel,
                    const Launch& launch, const SimulationOptions& simulation,
                    const ExplainOptions& options, const Unprepared* before = nullptr);

}  // namespace occupipe::cli
