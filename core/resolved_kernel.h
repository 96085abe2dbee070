// SPDX-License-Identifier: MIT
// A kernel with its names replaced by numbers, once: what validate() checks, expand() unrolls and
// the models walk through.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/kernel.h"

namespace occupipe {

struct ResolvedProgram {
    struct Dependence {
        std::int32_t producer = 0;      // into instructions
        std::int64_t back = 0;          // the instance this many iterations ago
        std::int32_t common_loop = -1;  // innermost loop that holds both; -1: none
    };
    struct Instruction {
        std::string id;
        std::int32_t op = 0;     // into ResolvedKernel::ops
        std::int32_t loop = -1;  // the innermost around it; -1: none
        std::int32_t stall = 0;  // KernelInstruction::stall; 0: not told
        std::vector<Dependence> after;
    };
    struct Loop {
        std::int32_t parent = -1;
        std::int64_t count = 1;
        SourcePosition where;
        std::int32_t first = 0;  // instructions [first, last)
        std::int32_t last = 0;
        std::vector<std::int32_t> path;  // the loops around it, outermost first, and itself
    };
    double share = 1;                       // of a group's warps
    std::vector<Instruction> instructions;  // in text order
    std::vector<Loop> loops;                // in text order

    std::int32_t size() const { return static_cast<std::int32_t>(instructions.size()); }
    // Those around an instruction or, with itself, a loop; outermost first.
    const std::vector<std::int32_t>& loops_around(const Instruction& instruction) const {
        return path_of(instruction.loop);
    }
    const std::vector<std::int32_t>& path_of(std::int32_t loop) const {
        static const std::vector<std::int32_t> none;
        return loop < 0 ? none : loops[static_cast<std::size_t>(loop)].path;
    }
};

struct ResolvedKernel {
    // A distinct instruction.
    struct Op {
        std::string name;
        std::optional<InstructionKind> kind;  // absent = what the profile or name says
        SourcePosition where;                 // of its first use
    };
    std::string name;
    std::optional<Order> order;
    std::vector<Op> ops;  // in order of first use
    std::vector<ResolvedProgram> programs;
    std::optional<GroupKinds> groups;
};

// Throws like validate(), which does the same.
ResolvedKernel resolve(const Kernel& kernel, const std::string& file_name = {});

// Replaces the names of one program after the other.
class NameResolver {
public:
    explicit NameResolver(const std::string& file_name) : file_name_(file_name) {}

    // The program must outlive the resolver. Throws InputError for names used before they are
    // defined, `@-1` outside a repeat, duplicate ids.
    ResolvedProgram resolve(const WarpProgram& program);
    std::vector<ResolvedKernel::Op> take_ops() { return std::move(ops_); }

private:
    std::int32_t op_of(const KernelInstruction& instruction);

    const std::string& file_name_;
    std::vector<ResolvedKernel::Op> ops_;
    std::map<std::pair<std::string_view, std::optional<InstructionKind>>, std::int32_t> number_;
};

// Instructions [first, last) of a program, which stand in `loop` or in loops inside it, as a
// program of their own, without the dependences on what is outside. Ops keep their numbers.
ResolvedProgram part_of(const ResolvedProgram& program, std::int32_t loop, std::int32_t first,
                        std::int32_t last);

// The kernel that consists of this program alone, with the ops that it uses; `used` tells which of
// the kernel's these are.
ResolvedKernel alone(const ResolvedKernel& kernel, ResolvedProgram program,
                     std::vector<std::int32_t>& used);

// Visits what stands in `loop` (-1: in no loop) between `first` and `last`, in text order:
// instructions and whole loops, by number.
template <class OnInstruction, class OnLoop>
void for_each_item(const ResolvedProgram& program, std::int32_t loop, std::int32_t first,
                   std::int32_t last, const OnInstruction& on_instruction, const OnLoop& on_loop) {
    const std::size_t depth = program.path_of(loop).size();
    for (std::int32_t i = first; i < last;) {
        const auto& around =
            program.loops_around(program.instructions[static_cast<std::size_t>(i)]);
        if (around.size() == depth) {
            on_instruction(i++);
            continue;
        }
        const std::int32_t inner = around[depth];
        on_loop(inner);
        i = program.loops[static_cast<std::size_t>(inner)].last;
    }
}

template <class OnInstruction, class OnLoop>
void for_each_item(const ResolvedProgram& program, std::int32_t loop,
                   const OnInstruction& on_instruction, const OnLoop& on_loop) {
    if (loop < 0) return for_each_item(program, loop, 0, program.size(), on_instruction, on_loop);
    const auto& own = program.loops[static_cast<std::size_t>(loop)];
    for_each_item(program, loop, own.first, own.last, on_instruction, on_loop);
}

// Calls visit(op, times) with every instruction of the text and how often one warp executes it,
// times `times`.
template <class Visit>
void for_each_execution(const ResolvedProgram& program, double times, const Visit& visit,
                        std::int32_t loop = -1) {
    for_each_item(
        program, loop,
        [&](std::int32_t i) { visit(program.instructions[static_cast<std::size_t>(i)].op, times); },
        [&](std::int32_t inner) {
            const auto& of = program.loops[static_cast<std::size_t>(inner)];
            for_each_execution(program, times * static_cast<double>(of.count), visit, inner);
        });
}

}  // namespace occupipe
