// SPDX-License-Identifier: MIT
// One core of a GPU, event by event, in continuous time: warps with chains of dependent
// instructions, schedulers that choose among them, issue ports, and one unit for the core or a copy
// per scheduler. It knows no law of W, Λ and λ: what the accuracy table plants comes out of it.
#pragma once

#include <random>
#include <vector>

namespace occupipe::test {

enum class Choice { loose_round_robin, greedy_then_oldest, oldest_first, youngest_first };

struct EventCore {
    double service = 1;  // cycles that a unit is busy with one warp-instruction
    double latency = 1;  // cycles from issue until a dependent instruction may issue
    int schedulers = 1;
    bool copies = false;  // a unit per scheduler, else one for the core
    double port = 0;      // cycles from one issue of a scheduler to its next
    double queueing = 0;  // cycles that every access in flight adds to the next one's latency
    double jitter = 0;    // of the service time: relative standard deviation
    Choice choice = Choice::loose_round_robin;
    double favour = 0;  // probability that the first scheduler goes before the others
    // The loop around the steps: after every `body` rounds over its chains a warp issues so many
    // instructions to the same unit, each loop_spacing cycles after the one before; with none it
    // waits loop_spacing for those of other units.
    int body = 0;  // 0 = no loop
    int loop_instructions = 0;
    double loop_spacing = 0;
};

struct EventRun {
    std::vector<double> stops;  // by warp: when its last result was there [cycles]
    // By warp: when it began the second, third and last quarter of its instructions.
    std::vector<std::vector<double>> checkpoints;
};

// Warps run on scheduler_of[w], start at starts[w], and issue `depth` rounds over `chains` chains.
EventRun run_events(const EventCore& core, int chains, int depth,
                    const std::vector<int>& scheduler_of, const std::vector<double>& starts,
                    std::mt19937_64& random);

}  // namespace occupipe::test
