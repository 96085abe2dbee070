// SPDX-License-Identifier: MIT
// What AutoMatch found: costs by device, ranks, shares, as tables, JSON and CSV.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "automatch/execution_cost.h"
#include "automatch/workload.h"
#include "core/gpu_profile.h"

namespace occupipe::automatch {

struct MatchCell {
    const GpuProfile* device = nullptr;
    CostModel model = CostModel::literal;
    Cost cost;
    std::vector<Sensitivity> sensitivity;
    std::optional<double> std_error;  // of the seconds [s]; absent: not known
};

// One model's cells, the fastest device first and those without a cost last.
std::vector<MatchCell> ranked(std::vector<MatchCell> cells, CostModel model);

// "NAME", or why there is none: devices within twice the error of their difference, costs missing.
struct Winner {
    std::string device;  // empty: none
    std::string remark;
};
Winner winner(const std::vector<MatchCell>& ranked_cells);

struct MatchOptions {
    bool split = false;
    bool sensitivity = false;
};

// The workload's characteristics; then, per model, a line per device from the fastest on.
std::string to_text(const Workload& workload, const std::vector<MatchCell>& cells,
                    const MatchOptions& options);
std::string to_csv(const Workload& workload, const std::vector<MatchCell>& cells);
// format occupipe-match/1
nlohmann::ordered_json to_json(const Workload& workload, const std::vector<MatchCell>& cells,
                               const MatchOptions& options);

}  // namespace occupipe::automatch
