// SPDX-License-Identifier: MIT
// Reads machine code that PoCL left in its cache: the receipt of an OpenCL CPU measurement.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace occupipe::bench::testing {

struct MachineLoop {
    std::map<std::string, int> mnemonics;   // in the loop, how often each
    std::vector<std::string> instructions;  // as objdump prints them

    // Instructions whose whole mnemonic matches the regular expression.
    int count(const std::string& mnemonic_pattern) const;
};

// Disassembles a shared object with objdump; all loops: from a backward jump's target to the jump.
std::vector<MachineLoop> loops_of(const std::filesystem::path& shared_object);

// Shared objects below a folder, newest last.
std::vector<std::filesystem::path> shared_objects(const std::filesystem::path& folder);

}  // namespace occupipe::bench::testing
