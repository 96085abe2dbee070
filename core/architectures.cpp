// SPDX-License-Identifier: MIT
#include "core/architectures.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe {
namespace {

constexpr std::int64_t kib = 1024;

constexpr MachineCode turing = {.uniform_registers = 63,
                                .memory_descriptors = false,
                                .written_descriptors = false,
                                .optional_descriptors = false,
                                .short_atomic_offsets = false,
                                .scattered_targets = false,
                                .transaction_barriers = false,
                                .system_shared = 0};

constexpr MachineCode ampere = [] {
    MachineCode code = turing;
    code.memory_descriptors = true;
    return code;
}();

constexpr MachineCode hopper = [] {
    MachineCode code = ampere;
    code.written_descriptors = true;
    code.scattered_targets = true;
    code.transaction_barriers = true;
    code.system_shared = kib;
    return code;
}();

constexpr MachineCode blackwell = [] {
    MachineCode code = hopper;
    code.uniform_registers = 255;
    code.optional_descriptors = true;
    code.short_atomic_offsets = true;
    return code;
}();

constexpr ConstantBank turing_bank = {.parameters = 0x160,
                                      .block = 0,
                                      .grid = 0xc,
                                      .descriptor = 0x118,
                                      .stack = 0x28,
                                      .environment = 0x88,
                                      .dynamic_shared = 0x2c,
                                      .shared_window = 0x18,
                                      .local_window = 0x20,
                                      .bank_3 = 0x50,
                                      .system_memory = {},
                                      .clusters = {},
                                      .cluster_bytes = 0};

constexpr ConstantBank ampere_bank = [] {
    ConstantBank bank = turing_bank;
    bank.system_memory = 0x124;
    return bank;
}();

constexpr ConstantBank hopper_bank = {.parameters = 0x210,
                                      .block = 0,
                                      .grid = 0xc,
                                      .descriptor = 0x208,
                                      .stack = 0x28,
                                      .environment = 0x40,
                                      .dynamic_shared = 0x2c,
                                      .shared_window = {},
                                      .local_window = 0x20,
                                      .bank_3 = 0xd0,
                                      .system_memory = 0x6c,
                                      .clusters = ConstantBank::Clusters{.is_explicit = 0x140,
                                                                         .shape = 0x144,
                                                                         .inverse = 0x150,
                                                                         .count = 0x15c,
                                                                         .groups = 0x188},
                                      .cluster_bytes = 0};

constexpr ConstantBank blackwell_bank = {.parameters = 0x380,
                                         .block = 0x360,
                                         .grid = 0x370,
                                         .descriptor = 0x358,
                                         .stack = 0x37c,
                                         .environment = 0x250,
                                         .dynamic_shared = 0x2ac,
                                         .shared_window = {},
                                         .local_window = 0x2f8,
                                         .bank_3 = 0x120,
                                         .system_memory = 0x27c,
                                         .clusters = ConstantBank::Clusters{.is_explicit = 0x36c,
                                                                            .shape = 0x2a0,
                                                                            .inverse = 0x2b0,
                                                                            .count = 0x2c0,
                                                                            .groups = 0x2cc},
                                         .cluster_bytes = 0xa0};

// Limits: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability";
// granularities and barriers: cuda_occupancy.h of CUDA 13.0. In their order: architecture, warps,
// groups, shared memory (core, group, reserved, unit), barriers.
constexpr Architecture table[] = {
    {75, "Turing", "sm_75", {75, 32, 16, 64 * kib, 64 * kib, 0, 256, {}}, turing, turing_bank},
    {80, "Ampere", "sm_80", {80, 64, 32, 164 * kib, 163 * kib, kib, 128, {}}, ampere, ampere_bank},
    {86, "Ampere", "sm_86", {86, 48, 16, 100 * kib, 99 * kib, kib, 128, {}}, ampere, ampere_bank},
    {89, "Ada", "sm_89", {89, 48, 24, 100 * kib, 99 * kib, kib, 128, {}}, ampere, ampere_bank},
    {90, "Hopper", "sm_90a", {90, 64, 32, 228 * kib, 227 * kib, kib, 128, 64}, hopper, hopper_bank},
    {100,
     "Blackwell",
     "sm_100a",
     {100, 64, 32, 228 * kib, 227 * kib, kib, 128, 64},
     blackwell,
     blackwell_bank},
    {103,
     "Blackwell",
     "sm_103a",
     {103, 64, 32, 228 * kib, 227 * kib, kib, 128, 64},
     blackwell,
     blackwell_bank},
    {120,
     "Blackwell",
     "sm_120a",
     {120, 48, 24, 100 * kib, 99 * kib, kib, 128, 24},
     blackwell,
     blackwell_bank},
    {121,
     "Blackwell",
     "sm_121a",
     {121, 48, 24, 100 * kib, 99 * kib, kib, 128, 24},
     blackwell,
     blackwell_bank},
};

// Kepler to Volta, and those between that no file of ours was checked for. CUDA's nvcc
// documentation, "GPU Feature List", and its releases before.
constexpr int only_named[] = {30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 87, 88, 101, 110};

}  // namespace

std::span<const Architecture> architectures() { return table; }

const Architecture* find_architecture(int number) {
    const auto* found = std::ranges::find(table, number, &Architecture::number);
    return found == std::end(table) ? nullptr : found;
}

const Architecture& architecture_like(int number) {
    const auto* above = std::ranges::upper_bound(table, number, {}, &Architecture::number);
    return above == std::begin(table) ? *above : *std::prev(above);
}

bool names_architecture(int number) {
    return find_architecture(number) != nullptr ||
           std::ranges::find(only_named, number) != std::end(only_named);
}

std::string architectures_in_words() {
    std::string words;
    for (const Architecture& one : table)
        words += fmt::format("{}{}",
                             &one == table                 ? "sm_"
                             : &one == std::end(table) - 1 ? " and "
                                                           : ", ",
                             one.number);
    return words;
}

}  // namespace occupipe
