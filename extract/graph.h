// SPDX-License-Identifier: MIT
// A folded stream becomes an instruction dependence graph.
//   LDG R2 ; 3 × [FFMA R4, R2, R2, R4] → node 0; 3 × [node 1 after 0 and 1@-1]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "extract/fold.h"
#include "extract/registers.h"

namespace occupipe::extract {

// What the stream's numbers stand for.
struct StreamInstruction {
    std::uint32_t code = 0;    // index in the kernel's code
    std::uint32_t active = 0;  // lanes that were active and whose guard held
    bool first = false;  // the warp's first execution of it, where that is told (mark_first())

    auto operator<=>(const StreamInstruction&) const = default;
};

struct GraphEdge {
    std::uint32_t node = 0;  // that is waited for
    // In the innermost loop that holds both: 0 the same iteration, 1 the one before.
    std::int32_t iterations_back = 0;

    auto operator<=>(const GraphEdge&) const = default;
};

struct GraphNode {
    std::uint32_t number = 0;  // in program order, from 0; loops counted once
    StreamInstruction what;
    std::vector<GraphEdge> after;  // ascending
};

struct GraphLoop;
using GraphItem = std::variant<GraphNode, GraphLoop>;

struct GraphLoop {
    std::int64_t count = 1;
    std::vector<GraphItem> body;
};

// What the graph has to know of an instruction of the code.
struct CodeFacts {
    RegisterUse registers;
    std::uint32_t place = 0;  // in the machine code, in instructions
    bool barrier = false;     // of the group
    // What a warp executes next waits for it, if it stands elsewhere in the code or the warp's
    // lanes meet here.
    bool branch = false;
    bool meets = false;
    // Asynchronous copies to shared memory: one of them; the end of a group of them; a wait until
    // so many of the newest groups are under way.
    bool copies = false;
    bool ends_group = false;
    std::optional<std::size_t> leaves = {};
};

// Edges, lane by lane: an instruction waits for the last one that wrote a register that it reads,
// in a lane in which it is active; for several where different ones wrote different lanes. A
// barrier waits for the barrier before it; what follows a barrier and does not wait for anything
// behind it waits for the barrier. What a branch leads to waits for the branch, and a wait for
// asynchronous copies for these. The order of issue is not an edge: machine code issues in order.
//
// The first iteration of a loop stands by itself where it waits for the last one of an earlier
// round of the same loop, since a graph cannot say that within the loop.
std::vector<GraphItem> dependence_graph(std::span<const FoldedItem> items,
                                        std::span<const StreamInstruction> instructions,
                                        std::span<const CodeFacts> code);

}  // namespace occupipe::extract
