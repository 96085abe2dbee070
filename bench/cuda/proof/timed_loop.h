// SPDX-License-Identifier: MIT
// Finds the timed loop in a kernel's machine code, counts what is in it and follows the dependences
// through one iteration.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/cuda/proof/machine_code.h"

namespace occupipe::bench {

// Positions in the instruction list; [first, last] is the loop, last its backward branch.
struct TimedLoop {
    std::size_t clock_start = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t clock_stop = 0;
    std::set<std::size_t> control;  // the loop's own counter, comparison and branch
    // Checkpointed kernels: the loop around it that reads the clock between its parts, from its
    // first instruction to its backward branch.
    struct Segments {
        std::size_t first = 0;
        std::size_t last = 0;
    };
    std::optional<Segments> segments;
};

// Throws InputError saying what is wrong: not exactly two readings of the core clock, or not
// exactly one loop between them. `checkpointed`: three readings, the middle one in a loop of its
// own around the timed one.
TimedLoop find_timed_loop(const std::vector<Instruction>& code, bool checkpointed = false);

// What a checkpoint costs: instructions, and the stall cycles that the assembler counts behind
// them, between one run of the timed loop and the next.
struct CheckpointCost {
    int instructions = 0;
    int stall_cycles = 0;
};
CheckpointCost checkpoint_cost(const std::vector<Instruction>& code, const TimedLoop& loop);

// Operations of the loop by name, its control given apart.
struct LoopCount {
    std::map<std::string, int> operations;
    std::map<std::string, int> control;
};
LoopCount count_loop(const std::vector<Instruction>& code, const TimedLoop& loop);

// Between the clocks, but outside the loop.
int count_outside(const std::vector<Instruction>& code, const TimedLoop& loop,
                  const std::vector<std::string>& keys);

// Dependences among the instructions named in `keys`.
struct Dependences {
    // per_level[d] = how many keys have exactly d + 1 keys on their longest path of dependences
    // from the loop's start, themselves included. c unbroken chains of n steps: n levels of c.
    std::vector<int> per_level;
    // Registers at the loop's end that hold a value of the last level and that the clock's second
    // reading waits for.
    int awaited_results = 0;
    // Cycles that the assembler counts from a key's issue to the issue of the next one that needs
    // its result, and how often; what is in between, on the chain or beside it, is included.
    // Empty where a scoreboard is awaited on the way, where several keys are at one level, and
    // where a branch leads over part of the body.
    std::map<int, int> step_cycles;
    // Other operations that need a key's result and lead to another one's operand, in one iteration
    // that others precede and follow.
    std::map<std::string, int> on_chain;
};
// Instructions outside of the loop that empty caches and may be executed between the untimed pass
// and the timed one: reached from the second reading of the clock, and leading to the first. Those
// that only a call reaches are counted, too.
int count_cache_control(const std::vector<Instruction>& code, const TimedLoop& loop);

Dependences follow_dependences(const std::vector<Instruction>& code, const TimedLoop& loop,
                               const std::vector<std::string>& keys);

}  // namespace occupipe::bench
