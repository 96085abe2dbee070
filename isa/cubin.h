// SPDX-License-Identifier: MIT
// NVIDIA machine code as a file (cubin: ELF64), Volta and later: the kernels in it and what the
// assembler notes about them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "isa/word.h"

namespace occupipe::isa {

struct Parameter {
    int ordinal = 0;
    std::int64_t offset = 0;  // from the first parameter, bytes
    std::int64_t size = 0;    // bytes

    bool operator==(const Parameter&) const = default;
};

struct Kernel {
    std::string name;
    std::vector<Word> code;                    // subroutines of the kernel included
    std::optional<int> registers;              // per thread; absent where the file does not tell
    std::optional<std::int64_t> stack_bytes;   // per thread: spilled registers and local arrays
    std::int64_t shared_bytes = 0;             // per group, known when it was compiled
    std::optional<std::int64_t> bank_0_base;   // where the parameters begin in constant bank 0
    std::optional<std::int64_t> bank_0_bytes;  // that the parameters take there
    std::vector<Parameter> parameters;         // by ordinal
};

struct Cubin {
    std::optional<int> architecture;  // 75, 80, …; absent where the header does not tell
    std::vector<Kernel> kernels;      // in the file's order
    // Constant memory that is the module's (3), a kernel's literals (2) or addresses (4): the bytes
    // by section name, ".nv.constant3", ".nv.constant2.NAME".
    std::map<std::string, std::string> constants;

    // Throws InputError where no kernel has this name, with those that there are.
    const Kernel& kernel(std::string_view name) const;
};

// Throws InputError on anything that is not a cubin.
Cubin read_cubin(std::string_view bytes);

// The instructions, registers and stack of one kernel alone. Throws InputError.
Kernel read_kernel(std::string_view bytes, std::string_view name);

}  // namespace occupipe::isa
