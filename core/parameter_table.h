// SPDX-License-Identifier: MIT
// What a profile contains besides one λ and one Λ per instruction: tables where a parameter is a
// function and not a number, the levels of the memory hierarchy, and costs outside instructions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/estimate.h"

namespace occupipe {

// λ and Λ at one position of a table's axis; at least one of them is present.
struct TableRow {
    double at = 0;
    std::optional<Estimate> cpi;      // λ, per scheduler where the subsystem is
    std::optional<Estimate> latency;  // Λ

    bool operator==(const TableRow&) const = default;
};

// λ and Λ of an instruction as a function of something that its name does not say.
struct ParameterTable {
    std::string over;  // "shape_n", "conflict_degree", "bytes_in_flight", "in_flight", …
    std::string note;
    std::vector<TableRow> rows;  // `at` ascends

    bool operator==(const ParameterTable&) const = default;
};

// Working sets with one latency. The level's capacity lies between `last_bytes` and the next
// level's `first_bytes`.
struct MemoryLevel {
    std::string instruction;  // what was measured; need not be among the instructions
    Estimate latency;         // per dependent access [core cycles]
    double first_bytes = 0;
    double last_bytes = 0;
    std::optional<double> edge_confidence;  // 0 … 1, of the edge after it; absent for the last

    bool operator==(const MemoryLevel&) const = default;
};

// Costs that belong to no instruction; an absent one is unknown, not zero.
struct Overheads {
    std::optional<Estimate> launch_seconds;          // per kernel launch
    std::optional<Estimate> awaited_launch_seconds;  // per launch that the host waits for
    std::optional<Estimate> graph_launch_seconds;    // per launch inside a graph of launches
    std::optional<Estimate> kernel_seconds;          // an empty kernel, on the GPU
    std::optional<Estimate> group_seconds;           // per group of a launch
    std::optional<Estimate> loop_cycles;             // per iteration of an empty loop

    bool operator==(const Overheads&) const = default;
};

}  // namespace occupipe
