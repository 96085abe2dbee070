// SPDX-License-Identifier: MIT
// What stays the same during a simulation: machine, programs and the places of their state.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/machine/machine.h"
#include "sim/program/loop_program.h"

namespace occupipe::sim {

// Completions that lie equally far behind their issue stay in issue order, so that one first-in
// first-out queue per kind and delay replaces a priority queue.
struct QueueKind {
    std::int64_t delay = 0;  // [ticks]
    bool completes = false;  // satisfies dependences
    bool finishes = false;   // counts towards the end of the group
    bool releases = false;   // lets the warp go on that stalls (Stream::stall_queue)
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
    std::int64_t run_left = 1;  // instances left, head included, in this run of the innermost loop;
                                // 1 where the next one's credits are not `credit_steps` less
};

// A dependence, from the side of its producer.
struct UserEdge {
    std::uint64_t credit = 0;    // what a completion adds: one, in the edge's lane
    std::uint64_t head = 0;      // narrow: the set of the user
    std::int32_t word = 0;       // of the warp's credits
    std::int32_t user = 0;       // stream
    std::int32_t subsystem = 0;  // of the user
};

// One program with what the inner loop needs of it, flat.
//
// What a head waits for is kept as credits: for each of its dependences the instances that the
// producer has completed, less those that the head needs. They stand side by side as lanes of a few
// 64-bit words, each with a sign bit, so that one addition serves a producer's completion, one
// subtraction per word the step to the next instance, and one test of all sign bits tells whether
// the head may issue. A negative lane borrows from the one above it; that changes no answer, as the
// lowest negative lane shows its sign anyhow, and the sums stay exact.
struct ProgramLayout {
    struct alignas(64) Stream {
        std::int64_t cpi = 0;   // λ [ticks]
        std::int64_t step = 0;  // instructions from one instance to the next, within one run of the
                                // innermost loop
        std::int64_t instances = 1;
        std::int64_t run = 1;           // instances in one run of the innermost loop
        std::int32_t first_credit = 0;  // words [first_credit, last_credit)
        std::int32_t last_credit = 0;
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
        bool own_unit = false;  // one of its scheduler alone
        // The first instances of each run need fewer credits than their position implies.
        std::int64_t first_of_run = 0;
        // Most instructions: no barrier, one queue, one delay.
        std::int16_t only_queue = -1;
        std::int64_t delay = 0;         // of that queue [ticks]
        std::uint64_t rivals = 0;       // narrow: possible_laggards()
        std::int16_t stall_queue = -1;  // heeds_stalls: where its warp waits to go on; -1: nowhere
    };
    LoopProgram program;
    std::vector<Stream> streams;
    std::vector<UserEdge> users;                   // by producer
    std::vector<std::uint64_t> subsystem_streams;  // per subsystem: set of streams, `words` each
    std::vector<std::uint64_t> open_streams;       // narrow: per set of subsystems, set of streams
    std::vector<Head> initial_heads;               // per stream
    std::vector<std::uint64_t> initial_credits;    // per word
    std::vector<std::uint64_t> credit_steps;       // per word: the next instance's credits are so
                                                   // much less, within a run
    std::vector<std::int32_t> initially_ready;     // streams
    int words = 1;                                 // 64-bit words in a set of streams
};

// The outstanding instructions of one kind on one unit, where they lengthen each other's latency.
struct WaitingLine {
    std::int32_t op = 0;  // into Machine::ops
    std::int32_t unit = 0;
};

// Of CoreLayout::narrow.
inline constexpr std::size_t max_narrow_subsystems = 8;
inline constexpr int max_narrow_schedulers = 8;
inline constexpr std::size_t max_narrow_queues = 32;

struct CoreLayout {
    Machine machine;
    Policy policy = Policy::lrr;
    Select select = Select::subsystem;
    Order order = Order::dataflow;
    std::vector<ProgramLayout> programs;
    std::vector<QueueKind> queues;
    std::vector<WaitingLine> waiting_lines;
    int group_warps = 1;
    int slots = 1;  // groups at once: never more than there are groups
    std::int64_t groups = 1;
    int barrier_channels = 0;
    int lane_bits = 16;              // of a credit
    std::uint64_t credit_signs = 0;  // of all lanes in a word
    // At most 64 warps on the core, in every program two words of credits for each instruction, and
    // few subsystems: the inner loop (inner_loop.cpp) runs it.
    bool narrow = false;
    // In some program more than 64 instructions, so that a set of them is not one word.
    bool many_streams = false;
    int unit_pitch = 0;  // from one scheduler's units to the next one's in CoreState; narrow: 4 or
                         // 8, some unused
    std::int64_t group_instructions = 0;  // of a group of the first kind
    // What groups there are: per kind the program of each warp of the group, and how much they
    // execute together.
    std::vector<std::vector<std::int32_t>> kinds;
    std::vector<std::int64_t> kind_instructions;
    std::vector<std::int32_t> kind_of;  // per group of the core; empty: all of the first kind
    bool heeds_stalls = false;          // SimulationOptions::stall_counts
    // Per warp of the core.
    std::vector<std::int32_t> program_of;  // in a group of the first kind
    std::vector<std::int32_t> scheduler_of;
    std::vector<std::int32_t> first_stream;  // into CoreState::heads
    std::vector<std::int32_t> first_credit;  // into CoreState::credits
    std::vector<std::int32_t> first_word;    // into CoreState::ready
    std::int32_t stream_count = 0;
    std::int32_t credit_count = 0;
    std::int32_t word_count = 0;

    // lrr keeps a memory for each subsystem of each scheduler.
    bool rings_per_subsystem() const {
        return policy == Policy::lrr && select == Select::subsystem;
    }
    // What a warp of the core runs in a group of the core.
    std::int32_t program(std::int32_t warp, std::int64_t group) const {
        if (kind_of.empty()) return program_of[static_cast<std::size_t>(warp)];
        const auto kind = static_cast<std::size_t>(kind_of[static_cast<std::size_t>(group)]);
        return kinds[kind][static_cast<std::size_t>(warp % group_warps)];
    }
    int warps() const { return slots * group_warps; }
    int warp_words() const { return (warps() + 63) / 64; }
};

// Throws InputError for what simulate() refuses, but for what happens during the run. Where the
// launch's groups differ, the core is given none (CoreLayout::groups is 0): which ones it runs is
// known only with the other cores (sim/engine/launch_run.h).
CoreLayout build_layout(const Problem& problem, const SimulationOptions& options);

// What a group of the kind keeps each subsystem busy, all its units together [ticks].
std::vector<double> work_of_group(const CoreLayout& layout, std::size_t kind);

// The busy fractions of a core that runs so many groups of each kind in so many ticks.
std::vector<Bound> bounds_of(const CoreLayout& layout, std::span<const double> groups,
                             std::int64_t ticks);

}  // namespace occupipe::sim
