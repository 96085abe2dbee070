// SPDX-License-Identifier: MIT
// How much machine code lies between two executions of an instruction: what a cache of instructions
// finds (docs/background/memory.md, "Instruction fetch").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/memory_use.h"
#include "extract/fold.h"
#include "extract/graph.h"
#include "isa/instruction.h"

namespace occupipe::extract {

// Adds up over classes of warps. A warp's code begins again with the warp of the next group, so
// what a warp executes once comes again after all the code that it executes.
//   CodeReuse reuse(instructions, code);
//   reuse.add(stream, 0.5);   // half of the warps execute this
//   reuse.points();           [[98304, 1]]: 96 KiB without a loop
class CodeReuse {
public:
    CodeReuse(std::span<const StreamInstruction> instructions,
              std::span<const isa::Instruction> code)
        : instructions_(instructions), code_(code) {}

    void add(std::span<const FoldedItem> stream, double share);

    // Shares of the executed instructions, bytes in steps of 4 KiB. Empty where all come again
    // within 16 KiB, which every GPU holds.
    Reuse points() const;

private:
    std::span<const StreamInstruction> instructions_;
    std::span<const isa::Instruction> code_;
    std::vector<double> executed_;  // by distance in steps
};

}  // namespace occupipe::extract
