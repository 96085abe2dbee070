// SPDX-License-Identifier: MIT
// The kinds of access, and what is known about each besides how its kernel is written
// (bench/kernel/kernel_source.cpp).
#pragma once

#include <string_view>

namespace occupipe::bench {

// Shape of the timed loop.
enum class Pattern {
    chain,           // x = op(x, a, b): each instruction needs the one before it
    shared_chase,    // x = ring[x] in local (shared) memory
    global_chase,    // x = table[x] in global memory
    global_stream,   // x += table[next]: loads that do not wait for each other
    global_store,    // table[next] = x
    constant_chase,  // x = ring[x] in constant memory, all lanes at the same word
    local_chase,     // x = ring[x] in a thread's own (local, OpenCL private) memory
    barrier,         // consecutive barriers
    empty_loop,      // an empty loop; a step is an iteration
    launch,          // consecutive empty kernels; a step is a launch
    awaited_launch,  // each awaited by the host before the next
    graph_launch,    // all of them nodes of one CUDA graph, which is launched
    launch_groups    // one empty kernel; a step is a group per resident group
};

// A kernel without a timed loop: the launch itself is what is measured.
constexpr bool measures_launches(Pattern pattern) {
    return pattern == Pattern::launch || pattern == Pattern::awaited_launch ||
           pattern == Pattern::graph_launch || pattern == Pattern::launch_groups;
}

struct PatternFacts {
    Pattern pattern;
    std::string_view shape;     // for people: "consecutive barriers"
    double cycles = 0;          // from step to step, of the right order; 0: as the row says
    bool memory_level = false;  // its plain rows tell the levels of memory apart
};

const PatternFacts& facts_of(Pattern pattern);

}  // namespace occupipe::bench
