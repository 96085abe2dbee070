// SPDX-License-Identifier: MIT
// NVIDIA machine code as a file (cubin: ELF64), Volta and later: the instructions of one kernel
// and what the assembler notes about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace occupipe::bench {

// One 128-bit instruction as it stands in the file.
struct InstructionWord {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    bool operator==(const InstructionWord&) const = default;
};

inline constexpr std::int64_t instruction_bytes = 16;

struct Cubin {
    std::vector<InstructionWord> code;        // subroutines of the kernel included
    std::optional<int> registers;             // per thread; absent where the file does not tell
    std::optional<std::int64_t> stack_bytes;  // per thread: spilled registers and local arrays
};

// Throws InputError on anything that is no cubin or has no kernel of this name.
Cubin read_cubin(std::string_view bytes, std::string_view kernel);

}  // namespace occupipe::bench
