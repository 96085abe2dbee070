// SPDX-License-Identifier: MIT
// A kernel as an instruction dependence graph (IDG), in two forms: `Kernel`, compact, with
// loops, as files hold it; `Idg`, flat, loops replicated, as the model defines it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/instruction.h"
#include "core/launch.h"
#include "core/memory_use.h"

namespace occupipe {

// One entry of `after`. With iterations_back = N > 0 (written NAME@-N) it means NAME's last
// instance in the iteration N before this one, of the innermost repeat that holds both the user and
// NAME; dropped in that repeat's first N iterations. With 0 the most recent instance of NAME before
// the user.
struct Dependence {
    std::string id;
    std::int64_t iterations_back = 0;

    bool operator==(const Dependence&) const = default;
};

// As files write it: NAME or NAME@-N.
std::string to_string(const Dependence& dependence);

struct KernelInstruction {
    std::string id;                       // unique in its list
    std::string op;                       // an instruction name of the profile
    std::optional<InstructionKind> kind;  // absent = what the profile or name says
    std::vector<Dependence> after;
    std::string at;  // line of source code that it comes from, "FILE:LINE"; empty: not told
    // Machine code's own delay: cycles from its issue to the issue of the warp's next instruction,
    // at least 1; absent: not told.
    std::optional<int> stall;
    std::optional<MemoryUse> memory;  // absent: not told
    SourcePosition where;

    bool operator==(const KernelInstruction& o) const {
        return id == o.id && op == o.op && kind == o.kind && after == o.after && at == o.at &&
               stall == o.stall && memory == o.memory;
    }
};

struct Repeat;
using KernelItem = std::variant<KernelInstruction, Repeat>;

struct Repeat {
    std::int64_t count = 1;  // trip count, at least 1
    std::vector<KernelItem> body;
    SourcePosition where = {};

    bool operator==(const Repeat&) const;  // ignores its position in a file
};

inline constexpr int most_stall_cycles = 15;  // that machine code can say

// The instruction list that a share of the warps runs.
struct WarpProgram {
    double share = 1;  // of a group's warps; shares sum to 1
    std::vector<KernelItem> instructions;

    bool operator==(const WarpProgram&) const = default;
};

// Which instructions of one warp may issue.
enum class Order : std::uint8_t {
    dataflow,  // any whose predecessors have completed, lowest program index first
    in_order,  // only the next one in program order
};

std::string_view to_string(Order order);

constexpr auto words(std::type_identity<Order>) {
    return std::array{Order::dataflow, Order::in_order};
}

// Groups of a launch that differ, each warp at its place in its group. Group n of a launch is the
// n-th of `order`, which begins again where the launch has more.
struct GroupKinds {
    // So many groups of the launch, one after another, are of this kind.
    struct Run {
        std::int32_t kind = 0;  // into kinds
        std::int64_t groups = 1;

        bool operator==(const Run&) const = default;
    };
    std::vector<std::vector<std::int32_t>> kinds;  // per warp of the group: into Kernel::warps
    std::vector<Run> order;

    bool operator==(const GroupKinds&) const = default;
};

struct Kernel {
    std::string name;
    std::vector<WarpProgram> warps;  // one entry unless warps diverge
    std::optional<Launch> launch;
    std::optional<Order> order;           // how it is meant to be predicted; absent: nothing said
    std::optional<MemoryContext> memory;  // present where an instruction's memory tells of reuse
    // The share of the executed instructions that a cache of so many bytes of machine code holds
    // when they are executed again; empty: not told, or all fit in a small one.
    Reuse code = {};
    // Present only with a launch, whose groups are as large. Absent: each group has warps of all
    // programs, by their shares.
    std::optional<GroupKinds> groups = {};

    bool operator==(const Kernel&) const = default;
};

// Calls `visit` with every instruction of the text, in order, once whatever the trip counts.
template <typename Visit>
void for_each_instruction(const std::vector<KernelItem>& items, const Visit& visit) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item))
            for_each_instruction(repeat->body, visit);
        else
            visit(std::get<KernelInstruction>(item));
    }
}

template <typename Visit>
void for_each_instruction(const Kernel& kernel, const Visit& visit) {
    for (const WarpProgram& program : kernel.warps)
        for_each_instruction(program.instructions, visit);
}

// Flat graph of one warp. Node order is program order; edges point backwards.
struct Idg {
    struct Node {
        std::int32_t op = 0;                 // index into ops
        std::int32_t first_predecessor = 0;  // into predecessors
        std::int32_t predecessor_count = 0;
        std::int32_t stall = 0;  // KernelInstruction::stall; 0: not told
    };
    struct Op {
        std::string name;
        std::optional<InstructionKind> kind;
    };
    std::vector<Op> ops;  // distinct (name, kind)
    std::vector<Node> nodes;
    std::vector<std::int32_t> predecessors;  // node indices, each smaller than its user's
};

// Number of instructions one warp executes. Throws InputError on overflow of 2^62.
std::int64_t instruction_count(const WarpProgram& program);

// Replicates loops. Throws InputError when the graph would have more than max_nodes nodes.
Idg expand(const WarpProgram& program, std::int64_t max_nodes = 50'000'000);

// Throws InputError: names used before they are defined, @-1 outside a repeat, duplicate ids,
// shares that do not sum to 1, counts below 1, nothing to execute, more than 2^62 instructions.
// `file_name` only goes into the message.
void validate(const Kernel& kernel, const std::string& file_name = {});

}  // namespace occupipe
