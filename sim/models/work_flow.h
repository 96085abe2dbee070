// SPDX-License-Identifier: MIT
// One warp's program as the models of the WFG kind see it: blocks of computations between accesses
// and barriers, in program order, loops kept. Baghsorkhi et al. 2010 call it the work flow graph;
// Lemeire et al., "Analysis of the analytical performance models for GPUs", section 2.4.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/problem.h"

namespace occupipe {

// A block of computations, or one access or barrier. A block ends at an access, at a barrier, at
// the edge of a loop that holds either, and before a computation that waits for an access for
// which the block has not waited.
struct WorkNode {
    // Waits for the latest instance of an access; with a cell for that of a previous iteration.
    struct Wait {
        int access = 0;
        int cell = -1;
        bool operator==(const Wait&) const = default;
    };
    InstructionKind kind = InstructionKind::compute;  // compute = a block
    double instructions = 1;
    double cpi = 0;         // Σλ, per core [cycles]
    double latency = 0;     // ΣΛ; λ for a store that nothing waits for [cycles]
    double alone = 0;       // of one warp: a block's time by simulation, else Λ [cycles]
    double times = 1;       // how often one warp executes it
    int access = -1;        // number of the access or barrier in text order; -1 for a block
    bool waited = true;     // false for a store that nothing waits for
    int block_before = -1;  // the last block before it in the text
    std::vector<Wait> waits;
};

struct WorkLoop;
using WorkStep = std::variant<int, WorkLoop>;  // int: into WorkFlow::nodes

struct WorkLoop {
    std::int64_t count = 1;
    std::vector<WorkStep> steps;
    std::vector<int> cells;  // filled at the end of each iteration, in this order
};

struct WorkFlow {
    std::vector<WorkNode> nodes;
    // What a cell is filled with: the time of an access, or what another cell holds.
    struct Cell {
        int access = 0;
        int from = -1;  // another cell
    };
    std::vector<Cell> cells;
    int accesses = 0;
    std::vector<WorkStep> steps;
};

// Of a program (an index into ResolvedKernel::programs). `alone`: how a block alone is simulated.
// Throws as simulate().
WorkFlow work_flow(const Problem& problem, std::size_t program,
                   const SimulationOptions& alone = {});

// What a node costs in a walk in program order, one warp alone.
struct NodeCost {
    double advance = 0;   // until the next node may start
    double delay = 0;     // until its result is there
    double occupies = 0;  // until the next access may start
    bool counts = false;  // its instructions are those of an interval
};

// Instructions in a row, then a wait.
struct Interval {
    double instructions = 0;
    double stall = 0;     // [cycles]
    double accesses = 0;  // issued in it
    double times = 1;

    bool operator==(const Interval&) const = default;
};

struct Walk {
    double cycles = 0;
    std::vector<Interval> intervals;
};

// Walks through the flow; costs are per node. Loops are walked until their state repeats, then
// multiplied; one that has not repeated after 4,096 iterations is assumed to continue as before.
Walk walk(const WorkFlow& flow, const std::vector<NodeCost>& costs);

}  // namespace occupipe
