// SPDX-License-Identifier: MIT
#include "bench/instructions/pattern.h"

#include <algorithm>
#include <array>

namespace occupipe::bench {
namespace {

using enum Pattern;

constexpr std::string_view ring = "a pointer chase through a ring that stays in the nearest memory";
constexpr std::string_view no_loop = "no loop: launches of an empty kernel are timed";

constexpr std::array patterns = {
    PatternFacts{chain, "a chain: each instruction's result is the next one's operand"},
    PatternFacts{shared_chase, ring, 35, true},
    PatternFacts{global_chase,
                 "a pointer chase through a table in global memory, one cycle over all lines", 0,
                 true},
    PatternFacts{global_stream, "consecutive loads that do not wait for each other", 0, true},
    PatternFacts{global_store, "consecutive stores"},
    PatternFacts{constant_chase, ring, 35, true},
    PatternFacts{local_chase, ring, 35, true},
    PatternFacts{barrier, "consecutive barriers", 60},
    PatternFacts{empty_loop, "an empty loop; a step is an iteration", 10},
    PatternFacts{launch, no_loop, 10},
    PatternFacts{awaited_launch, no_loop, 10},
    PatternFacts{graph_launch, no_loop, 10},
    PatternFacts{launch_groups, no_loop, 10},
};

}  // namespace

const PatternFacts& facts_of(Pattern pattern) {
    return *std::ranges::find(patterns, pattern, &PatternFacts::pattern);
}

}  // namespace occupipe::bench
