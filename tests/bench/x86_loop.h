// SPDX-License-Identifier: MIT
// Reads machine code that PoCL left in its cache: the receipt of an OpenCL CPU measurement.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe::bench::testing {

struct MachineLoop {
    std::vector<std::string> instructions;  // "vaddss %xmm1,%xmm0,%xmm0", blanks made one

    // Instructions whose mnemonic matches the regular expression as a whole and whose operands
    // contain `operand`.
    int count(const std::string& mnemonic_pattern, const std::string& operand = "") const;
};

// Disassembles a shared object with objdump; all loops: from a backward jump's target to the jump.
std::vector<MachineLoop> loops_of(const std::filesystem::path& shared_object);

// Shared objects below a folder, newest last.
std::vector<std::filesystem::path> shared_objects(const std::filesystem::path& folder);

}  // namespace occupipe::bench::testing
