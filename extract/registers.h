// SPDX-License-Identifier: MIT
// Which registers a machine instruction reads and writes.
#pragma once

#include <functional>
#include <vector>

#include "isa/instruction.h"

namespace occupipe::extract {

// A 32-bit register, a predicate, or a barrier of convergence (B0 …).
struct RegisterName {
    enum class File : std::uint8_t { general, predicate, uniform, uniform_predicate, barrier };
    File file = File::general;
    int number = 0;

    auto operator<=>(const RegisterName&) const = default;
};

struct RegisterUse {
    std::vector<RegisterName> read;  // each once; the guard and registers of addresses included
    std::vector<RegisterName> written;
};

// Registers that read as zero or true do not count. Results of an instruction that is known by name
// only are as the decoder lists them.
RegisterUse registers_of(const isa::Instruction& instruction);

}  // namespace occupipe::extract
