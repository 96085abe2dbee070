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

#include "bench/cuda/sass.h"

namespace occupipe::bench {

// Positions in the instruction list; [first, last] is the loop, last its backward branch.
struct TimedLoop {
    std::size_t clock_start = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t clock_stop = 0;
    std::set<std::size_t> control;  // the loop's own counter, comparison and branch
};

// Throws InputError saying what is wrong: not exactly two readings of the core clock, or not
// exactly one loop between them.
TimedLoop find_timed_loop(const std::vector<Instruction>& code);

// Operations of the loop by name, its control given apart.
struct LoopCount {
    std::map<std::string, int> operations;
    std::map<std::string, int> control;
};
LoopCount count_loop(const std::vector<Instruction>& code, const TimedLoop& loop);

// Between the clocks, but outside of the loop.
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
    // Cycles that the assembler counts between a key and the next one that needs it, where each
    // follows its producer directly and all agree: the fixed latency. Absent for operations
    // awaited by a scoreboard.
    std::optional<int> counted_latency;
};
Dependences follow_dependences(const std::vector<Instruction>& code, const TimedLoop& loop,
                               const std::vector<std::string>& keys);

}  // namespace occupipe::bench
