// SPDX-License-Identifier: MIT
// The architectures of NVIDIA GPUs whose machine code is read and executed: THE TABLE, one row
// each.
//   find_architecture(90)->code.scattered_targets
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/occupancy.h"

namespace occupipe {

// How the machine code differs from that of others.
struct MachineCode {
    int uniform_registers;       // of a warp that are none of the constant one
    bool memory_descriptors;     // addresses of global memory have one beside them
    bool written_descriptors;    // the vendor's disassembler always writes it
    bool optional_descriptors;   // an atomic operation's bits say whether it has one
    bool short_atomic_offsets;   // they keep one bit of the offset for something else
    bool scattered_targets;      // the lowest eight bits of a branch's distance stand elsewhere
    bool transaction_barriers;   // in shared memory, arrivals count bytes too
    std::int64_t system_shared;  // of the system, before the kernel's own shared memory [bytes]
};

// What stands where in constant bank 0 when a kernel begins, found in compiled kernels [bytes].
struct ConstantBank {
    struct Clusters {
        std::size_t is_explicit, shape, inverse, count, groups;
    };
    std::size_t parameters, block, grid, descriptor, stack;
    std::size_t environment;     // its registers
    std::size_t dynamic_shared;  // size
    // Where these lie in the generic address space; shared memory: absent where code does not ask.
    std::optional<std::size_t> shared_window;
    std::size_t local_window, bank_3;
    // Where cooperative groups finds room in the system's shared memory (PTX,
    // %reserved_smem_offset_1).
    std::optional<std::size_t> system_memory;
    std::optional<Clusters> clusters;
    // Code subtracts this times SR_CgaSize, which is 1, from the offsets of what it asks of
    // clusters and of environment registers, but for `is_explicit`; 0: it does not.
    std::size_t cluster_bytes;
};

struct Architecture {
    int number;              // 75, 80, …
    const char* generation;  // "Turing"
    const char* target;      // for compilers, with what this architecture alone has: "sm_90a"
    OccupancyLimits limits;
    MachineCode code;
    ConstantBank bank;
};

std::span<const Architecture> architectures();  // ascending

const Architecture* find_architecture(int number);  // nullptr: not in the table
// Of a number that is not in the table, the one before it, or the first.
const Architecture& architecture_like(int number);

// NVIDIA's numbers of architectures whose code is not read, so that it can be called by its name.
bool names_architecture(int number);  // of the table or not

// "sm_75, 80, 86, 89, 90, 100, 103, 120 and 121"
std::string architectures_in_words();

}  // namespace occupipe
