// SPDX-License-Identifier: MIT
// Reads machine code that PoCL left in its cache: the receipt of an OpenCL CPU measurement.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe::bench {

struct MachineLoop {
    std::vector<std::string> instructions;  // "vaddss %xmm1,%xmm0,%xmm0", blanks made one

    // Instructions that match a regular expression as a whole: by their mnemonic, or, where the
    // expression holds a blank, with their operands. And whose operands contain `operand`.
    int count(const std::string& expression, const std::string& operand = "") const;
};

// Disassembles a shared object with objdump; all loops: from a backward jump's target to the jump.
// Empty where there is no objdump.
std::vector<MachineLoop> loops_of(const std::filesystem::path& shared_object);

// Shared objects below a folder, newest last.
std::vector<std::filesystem::path> shared_objects(const std::filesystem::path& folder);

}  // namespace occupipe::bench
