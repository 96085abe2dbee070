// SPDX-License-Identifier: MIT
// Many GPUs of one model: which of them differ from the rest, and by how much.
//
//   const Fleet fleet = examine_fleet({{"node1", profile1}, …}, {});
//   fleet.models[0].outliers[0]   // node17: ld.global.f32 λ 4.61, the others 4.02 ± 0.01
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

struct FleetMember {
    std::string name;  // of the node or the file
    GpuProfile profile;
};

struct FleetOptions {
    // The probability that a fleet without any outlier is said to have one: over all quantities of
    // all models, where their errors are normal.
    double false_alarms = 0.05;
    // A smaller relative distance to the median is not called an outlier.
    double relative = 0.02;
};

// One number of one GPU beside those of the others.
struct FleetOutlier {
    std::string member;
    std::string quantity;  // "fma.f32 λ per core [cycles]", "clock [Hz]"
    double value = 0;
    std::optional<double> std_error;
    double median = 0;    // of all members that have the quantity
    double spread = 0;    // robust: 1.4826 times the median distance to the median
    double relative = 0;  // value / median - 1
    std::size_t members = 0;
    // Rosner's statistic where the last outlier of this quantity was found, which makes those found
    // before it outliers, too; and what it had to exceed.
    double distance = 0;
    double critical = 0;
};

// A quantity in which the members differ by far more than their errors, though none, or no further
// one, differs from all others: two batches, say.
struct FleetSpread {
    std::string quantity;
    double least = 0, most = 0;  // of the members that are no outliers
    double deviation = 0;        // their standard deviation
    double error = 0;            // root mean square of their standard errors
    std::size_t members = 0;
};

struct FleetModel {
    std::string device;
    std::vector<std::string> members;
    std::vector<FleetOutlier> outliers;  // by member, the largest relative distance first
    std::vector<FleetSpread> spreads;
    // Counts (cores, warp size, schedulers) that are not most members', and instructions that a
    // member lacks though most have them; a sentence each.
    std::vector<std::string> differences;
    std::size_t quantities = 0;  // that were tested
    std::size_t untested = 0;    // that fewer than 4 members determine
};

struct Fleet {
    std::vector<FleetModel> models;  // by name
    std::size_t quantities = 0;      // of all models
    double level = 0;                // of each test: false_alarms / quantities
};

// Throws InputError where a member's name is given twice.
Fleet examine_fleet(const std::vector<FleetMember>& members, const FleetOptions& options);

}  // namespace occupipe::analysis
