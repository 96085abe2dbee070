// SPDX-License-Identifier: MIT
// NVIDIA machine code as a file (cubin: ELF64), Volta and later: the kernels in it and what the
// assembler notes about them.
#pragma once

#include <array>
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

// Which line of a source file an instruction was made from (-lineinfo); holds for all instructions
// from its address up to that of the next.
struct SourceLine {
    std::int64_t address = 0;  // bytes
    std::string file;
    int line = 0;
};

// A function in a section of its own whose code stands behind a kernel's.
struct KernelFunction {
    std::string name;
    std::int64_t address = 0;  // in the kernel's code, bytes
    std::uint64_t offset = 0;  // among all functions of the file, bytes
};

struct Kernel {
    std::string name;
    // Subroutines of the kernel included; behind it those functions of the file that have sections
    // of their own (debug builds).
    std::vector<Word> code;
    std::vector<KernelFunction> functions;    // by address
    bool is_function = false;                 // such a function, which cannot be launched
    std::optional<int> registers;             // per thread; absent where the file does not tell
    std::optional<std::uint8_t> barriers;     // named, of a group
    std::optional<std::int64_t> stack_bytes;  // per thread: spilled registers and local arrays
    // Per group, known when it was compiled; from sm_90 on with the first 1024 bytes, which are the
    // system's (own_shared_bytes() is without them).
    std::int64_t shared_bytes = 0;
    std::optional<std::int64_t> bank_0_base;   // where the parameters begin in constant bank 0
    std::optional<std::int64_t> bank_0_bytes;  // that the parameters take there
    std::optional<std::array<std::uint32_t, 3>> cluster;  // groups of one (__cluster_dims__)
    std::optional<std::uint64_t> most_threads;            // of a group (__launch_bounds__)
    std::vector<Parameter> parameters;                    // by ordinal
    std::vector<SourceLine> lines;  // by address; empty where the file does not tell
};

// A name in the file's symbol table that stands for something in one of its sections.
struct CubinSymbol {
    std::string name;
    std::string section;          // ".nv.global", ".text.NAME"
    std::uint64_t value = 0;      // offset in the section
    std::uint64_t size = 0;       // bytes
    bool is_object = false;       // a variable
    bool is_cuda_object = false;  // the same in relocatable code
    // A function that is in no section of this file: the driver knows it (vprintf, malloc).
    bool is_foreign_function = false;
    bool is_entry = false;  // of a kernel
};

// Bytes of a section that depend on where a symbol lies.
struct Relocation {
    std::uint64_t offset = 0;  // in the section
    std::uint32_t type = 0;
    CubinSymbol symbol;
    std::optional<std::int64_t> addend;  // none: it stands in the section's bytes
};

struct Cubin {
    std::string file = "it";          // its name in messages
    std::optional<int> architecture;  // 75, 80, …; absent where it is none whose code is read
    std::optional<int> named_architecture;  // as the header tells, read or not: 61, 87, 90
    std::vector<Kernel> kernels;            // in the file's order
    // Constant memory that is the module's (3), a kernel's literals (2) or addresses (4): the bytes
    // by section name, ".nv.constant3", ".nv.constant2.NAME".
    std::map<std::string, std::string> constants;
    // Variables in global memory: the bytes of ".nv.global.init", zeros for ".nv.global".
    std::map<std::string, std::string> variables;
    std::vector<CubinSymbol> symbols;
    std::map<std::string, std::vector<Relocation>> relocations;  // by section that they change
    std::map<std::string, std::string> also_called;  // kernels by names of the source: "fill<2+2>"

    // Throws InputError where no kernel has this name, with those that there are.
    const Kernel& kernel(std::string_view name) const;
};

// Instructions of the kernel's own section, without the functions behind it.
std::size_t own_instructions(const Kernel& kernel);

// "kernel.cu:12" for an instruction's address; empty where the cubin does not tell.
std::string source_line(const Kernel& kernel, std::int64_t address);

// What the kernel itself declares, as ptxas -v reports it and as occupancy counts it.
std::int64_t own_shared_bytes(const Kernel& kernel, int architecture);

// Throws InputError on anything that is not a cubin.
Cubin read_cubin(std::string_view bytes);

// The instructions, registers and stack of one kernel alone. Throws InputError.
Kernel read_kernel(std::string_view bytes, std::string_view name);

}  // namespace occupipe::isa
