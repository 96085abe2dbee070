// SPDX-License-Identifier: MIT
// What stays the same during a simulation: machine, programs and the places of their state.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/loop_program.h"
#include "sim/machine.h"
#include "sim/simulate.h"

namespace occupipe::sim {

// Completions that lie equally far behind their issue stay in issue order, so that one first-in
// first-out queue per kind and delay replaces a priority queue.
struct QueueKind {
    std::int64_t delay = 0;  // [ticks]
    bool completes = false;  // satisfies dependences
    bool finishes = false;   // counts towards the end of the group
    // Where instructions wait for one another the delay varies, but the results of one instruction
    // on one unit still come in order: a queue for each. -1: fixed delay.
    std::int32_t op = -1;
    std::int32_t unit = -1;

    bool operator==(const QueueKind&) const = default;
};

// One stream of one warp. Its head is the next instance to issue.
struct Head {
    std::int64_t issued = 0;     // instances
    std::int64_t completed = 0;  // instances
    std::int64_t index = 0;      // the head's place in program order
    std::int64_t run_left = 1;   // instances left in this run of the innermost loop, head included
    std::int32_t missing = 0;    // dependences that the head still waits for
};

// One program with what the inner loop needs of it, flat.
struct ProgramLayout {
    struct Stream {
        std::int64_t instances = 1;
        std::int64_t cpi = 0;   // λ [ticks]
        std::int64_t step = 0;  // instructions from one instance to the next, within one run of the
                                // innermost loop
        std::int64_t run = 1;   // instances in one run of the innermost loop
        std::int32_t first_edge = 0;
        std::int32_t last_edge = 0;
        std::int32_t first_user = 0;
        std::int32_t last_user = 0;
        std::int32_t barrier_channel = -1;  // -1: no barrier
        std::int16_t subsystem = 0;
        std::int16_t completion_queue = -1;  // into CoreLayout::queues; -1: nothing waits for it
        std::int16_t finish_queue = -1;      // a store's; -1: finishes when it completes
        std::int16_t depth = 0;              // loops around it
        std::int32_t top_end = 0;
        bool waits = false;  // behind those outstanding in its subsystem; else the delay is fixed
    };
    struct Edge {
        // Instance j of the user needs j · multiplier + offset instances of the producer; 0: the
        // same throughout a run of the innermost loop.
        std::int64_t multiplier = 0;
        std::int64_t offset = 0;
        std::int32_t producer = 0;
    };
    struct UserEdge {
        std::int32_t edge = 0;  // into program.edges
        std::int32_t user = 0;  // stream
    };
    LoopProgram program;
    std::vector<Stream> streams;
    std::vector<Edge> edges;                       // as program.edges
    std::vector<UserEdge> users;                   // by producer
    std::vector<std::uint64_t> subsystem_streams;  // per subsystem: set of streams, `words` each
    std::vector<Head> initial_heads;               // per stream
    std::vector<std::int64_t> initial_required;    // per edge
    std::vector<std::int32_t> initially_ready;     // streams
    int words = 1;                                 // 64-bit words in a set of streams
};

// The outstanding instructions of one kind on one unit, where they lengthen each other's latency.
struct WaitingLine {
    std::int32_t op = 0;  // into Machine::ops
    std::int32_t unit = 0;
};

struct CoreLayout {
    Machine machine;
    Policy policy = Policy::lrr;
    Order order = Order::dataflow;
    std::vector<ProgramLayout> programs;
    std::vector<QueueKind> queues;
    std::vector<WaitingLine> waiting_lines;
    int group_warps = 1;
    int slots = 1;  // groups at once: never more than there are groups
    std::int64_t groups = 1;
    int barrier_channels = 0;
    std::int64_t group_instructions = 0;
    // Per warp of the core.
    std::vector<std::int32_t> program_of;
    std::vector<std::int32_t> scheduler_of;
    std::vector<std::int32_t> first_stream;  // into CoreState::heads
    std::vector<std::int32_t> first_edge;    // into CoreState::required
    std::vector<std::int32_t> first_word;    // into CoreState::ready
    std::int32_t stream_count = 0;
    std::int32_t edge_count = 0;
    std::int32_t word_count = 0;

    int warps() const { return slots * group_warps; }
    int warp_words() const { return (warps() + 63) / 64; }
};

// Throws InputError for what simulate() refuses, but for what happens during the run.
CoreLayout build_layout(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options);

}  // namespace occupipe::sim
