// SPDX-License-Identifier: MIT
// What the best parallel version of a sequential program costs on a device (Helal et al. 2017,
// equations 1 to 5), literally and mended. docs/background/automatch.md has the formulas.
//
//   const Cost cost = execution_cost(workload, device, CostModel::literal);
//   cost.seconds        // 0.0123; absent where the model says nothing, and `silent` says why
//   cost.memory         // of them, T_mem
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "automatch/device.h"
#include "automatch/workload.h"

namespace occupipe::automatch {

enum class CostModel : std::uint8_t {
    literal,    // the paper's five equations, word for word
    corrected,  // vectors by Amdahl, pairs that can fuse, latency where there is a miss, lines
    bound,      // only what no implementation can beat
};

struct CostModelName {
    CostModel model;
    std::string_view name;     // "automatch-corrected"
    std::string_view meaning;  // for people
};
// The table of models; a new one is a row here and a function in execution_cost.cpp.
std::span<const CostModelName> cost_models();
// Throws InputError naming near ones. "all" is none of them.
CostModel cost_model(std::string_view name);
std::string_view to_string(CostModel model);

struct Cost {
    double computation = 0;            // T_comp [s]
    double memory = 0;                 // T_mem [s]
    double synchronisation = 0;        // T_syn [s]
    std::optional<double> seconds;     // of the whole
    std::string silent;                // why there is none
    std::vector<std::string> remarks;  // what was assumed

    // The greatest of the three: "computation", "memory", "synchronisation".
    std::string_view bottleneck() const;
};

Cost execution_cost(const Workload& workload, const Device& device, CostModel model);

// What the cost depends on, by how much: d ln(seconds) / d ln(number).
struct Sensitivity {
    std::string_view symbol;
    double exponent = 0;
    std::optional<double> std_error;  // [s], through this number's own standard error
};
// By central differences of 1 %. Empty where there is no cost.
std::vector<Sensitivity> sensitivity(const Workload& workload, const GpuProfile& profile,
                                     CostModel model);
// One standard error of the seconds [s]; absent where a number that matters has none.
std::optional<double> standard_error(const std::vector<Sensitivity>& all);

// Shares of a divisible workload that end at the same time: inverse to the costs (section IV-C).
struct Split {
    std::vector<double> shares;  // one per cost, sum 1
    double seconds = 0;          // of the whole, split so
    double gain = 0;             // over equal shares
};
// Throws std::invalid_argument: no costs, or one that is not positive and finite.
Split split(std::span<const double> costs);

}  // namespace occupipe::automatch
