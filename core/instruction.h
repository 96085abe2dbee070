// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace occupipe {

// Category of an instruction (docs/background/pipeline-model.md). Stores are memory instructions
// that nothing waits for.
enum class InstructionKind { compute, load, store, barrier };

// The category that a PTX-style name implies: `bar.*` barrier, `st.*` store, `ld.*`
// load, anything else compute.
InstructionKind kind_of(std::string_view instruction_name);

std::string_view to_string(InstructionKind kind);

// 32-bit words that a lane of a load, a store or an atomic operation moves, by the width in its
// name: 1, 2 or 4.
int words_of_lane(std::string_view instruction_name);

// In kernels that come from machine code: an instruction of no unit that profiles measure (moves,
// branches, the uniform datapath). It costs an issue slot.
inline constexpr std::string_view issue_slot = "issue.slot";
// An issue slot after which the warp's next instruction waits: a branch that it takes, or the end
// of one where its lanes meet.
inline constexpr std::string_view taken_branch = "branch";
// The end of a branch where not all lanes come at once: each part of them.
inline constexpr std::string_view branch_in_parts = "branch.parts";
// A branch to addresses in a register that differ between lanes (BRX: a switch statement).
inline constexpr std::string_view indirect_branch = "branch.indirect";
inline bool is_branch(std::string_view op) {
    return op == taken_branch || op == branch_in_parts || op == indirect_branch;
}

// One instruction whose Λ is not the same for all warps is several ops: OP~~1, OP~~2, … What it is
// called for people.
constexpr std::string_view without_part(std::string_view op) { return op.substr(0, op.find("~~")); }

// Executed by no machine code: what a group waits for the place of one that has ended. The first
// instruction of each program has this id where it is one.
inline constexpr std::string_view group_start = "group.start";
inline constexpr std::string_view group_start_id = "~start";

// The ids of the further issue slots that an instruction takes (Subsystem::issue_slots) are its own
// and this.
inline constexpr std::string_view further_slot = "~slot";
constexpr bool is_further_slot(std::string_view id) {
    return id.find(further_slot) != std::string_view::npos;
}
constexpr std::string_view without_slot(std::string_view id) {
    return id.substr(0, id.find(further_slot));
}

}  // namespace occupipe
