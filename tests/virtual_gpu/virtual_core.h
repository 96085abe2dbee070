// SPDX-License-Identifier: MIT
// A core of a GPU, cycle by cycle, that knows nothing of λ, Λ or any law: four schedulers that
// issue one instruction a cycle, units that are busy for so many cycles after each, the assembler's
// stall counts and scoreboards, a branch that takes its time. It runs the machine code of the timed
// loop; what λ and Λ are follows from its units.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/virtual_gpu/timed_code.h"

namespace occupipe::test {

enum class WarpChoice { loose_round_robin, greedy_then_oldest, oldest_first, youngest_first };

// A kind of unit: each scheduler has its own, or the core has one.
struct Unit {
    int interval = 1;      // cycles from one warp-instruction to the next
    bool of_core = false;  // shared by the schedulers
};

struct VirtualCore {
    int schedulers = 4;
    WarpChoice choice = WarpChoice::loose_round_robin;
    std::map<std::string, Unit> units;
    // Operation → the units that can take it (the first that is free does), and the cycles until
    // its scoreboard is lowered. What is not listed takes an issue slot and nothing else.
    struct Operation {
        std::vector<std::string> units;
        int latency = 0;
    };
    std::map<std::string, Operation> operations;
    int branch_cycles = 8;  // from a taken branch to the warp's next instruction
    int clock_step = 1;     // the core clock counts in steps of so many cycles
    // Schedulers are asked in turn which of them may use a unit of the core: the turns begin anew
    // after so many cycles. 0: never; 1: always in the same order; 5: the first of four is
    // preferred a little.
    int turns = 0;

    struct Run {
        std::int64_t cycles = 0;  // last stop less first start, as the warps read the clock
        std::int64_t skew = 0;    // last start less first start
        // By warp, as it read the clock.
        std::vector<std::int64_t> starts{};
        std::vector<std::int64_t> stops{};
        // Checkpointed kernels: the clock as each part of the loop began, the first aside.
        std::vector<std::vector<std::int64_t>> checkpoints{};
    };
    // Warp w runs on scheduler w mod `schedulers` and comes to its first instruction at starts[w].
    Run run(const TimedCode& code, std::int64_t iterations,
            const std::vector<std::int64_t>& starts) const;
};

// 32-lane warps on four schedulers with 16 + 16 lanes for multiply-adds, 16 for the other integer
// and logic instructions, 4 for special functions, 16 for double precision; 32 lanes of load and
// store for the core. As NVIDIA describes GH100.
VirtualCore hopper_like_core();

}  // namespace occupipe::test
