// SPDX-License-Identifier: MIT
// What stands in constant bank 0 when a kernel begins. Offsets were found in compiled kernels.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/machine/launch.h"

namespace occupipe::isa {
namespace {

struct Layout {
    std::size_t parameters, block, grid, descriptor, stack, environment;
};

// From sm_100 on code subtracts this times SR_CgaSize, which is 1 here, from the offsets of what it
// asks of clusters and of environment registers.
constexpr std::size_t cluster_bytes = 0xa0;

// Where nothing lies, for bank 3 of a module that has none: kernels compare addresses with it.
constexpr std::uint64_t nowhere = 0x0000'4f00'0000'0000;

Layout layout_of(int architecture) {
    if (architecture >= 100) {
        return {.parameters = 0x380,
                .block = 0x360,
                .grid = 0x370,
                .descriptor = 0x358,
                .stack = 0x37c,
                .environment = 0x250};
    }
    if (architecture >= 90) {
        return {.parameters = 0x210,
                .block = 0,
                .grid = 0xc,
                .descriptor = 0x208,
                .stack = 0x28,
                .environment = 0x40};
    }
    return {.parameters = 0x160,
            .block = 0,
            .grid = 0xc,
            .descriptor = 0x118,
            .stack = 0x28,
            .environment = 0x88};
}

}  // namespace

LaunchBank::LaunchBank(const Kernel& kernel, int architecture, const LaunchShape& shape,
                       std::span<const std::byte> parameters, std::uint32_t local_bytes,
                       std::uint64_t bank_3_address, std::uint64_t grid_workspace) {
    const Layout layout = layout_of(architecture);
    const std::size_t base =
        kernel.bank_0_base
            ? static_cast<std::size_t>(std::max<std::int64_t>(*kernel.bank_0_base, 0))
            : layout.parameters;
    bytes_.resize(std::max(base + parameters.size(), layout.parameters));
    known_.resize(bytes_.size());
    std::ranges::copy(parameters, bytes_.begin() + static_cast<std::ptrdiff_t>(base));
    std::fill(known_.begin() + static_cast<std::ptrdiff_t>(base),
              known_.begin() + static_cast<std::ptrdiff_t>(base + parameters.size()), true);
    for (std::size_t i = 0; i < 3; ++i) {
        put(layout.block + 4 * i, shape.block[i]);
        put(layout.grid + 4 * i, shape.grid[i]);
    }
    // Stacks grow downwards from the end of a thread's local memory.
    put(layout.stack, local_bytes);
    // The descriptor's bits are the driver's; memory does not depend on them here.
    put(layout.descriptor, 0);
    put(layout.descriptor + 4, 0);
    // Where shared, local and constant memory (bank 3) lie in the generic address space.
    if (architecture < 90) put_address(0x18, std::uint64_t{shared_window} << 32);
    put_address(architecture >= 100 ? 0x2f8 : 0x20, std::uint64_t{local_window} << 32);
    const std::size_t constants = architecture >= 100 ? 0x120 : architecture >= 90 ? 0xd0 : 0x50;
    put_address(constants, bank_3_address != 0 ? bank_3_address : nowhere);
    // Environment registers 1 (the upper half) and 2.
    const std::size_t environment = layout.environment - (architecture >= 100 ? cluster_bytes : 0);
    put(environment + 4, static_cast<std::uint32_t>(grid_workspace >> 32));
    put(environment + 8, static_cast<std::uint32_t>(grid_workspace));
    // Where cooperative_groups finds room in the system's shared memory (PTX,
    // %reserved_smem_offset_1), which Ampere has behind the kernel's and Hopper before it.
    const auto own = static_cast<std::uint32_t>(kernel.shared_bytes) + shape.dynamic_shared_bytes;
    if (architecture >= 90)
        put(environment + 44, 0);
    else if (architecture >= 80)
        put(0x124, (own + 127) / 128 * 128);
    put(architecture >= 100 ? 0x2ac - cluster_bytes : 0x2c, shape.dynamic_shared_bytes);
    if (architecture >= 90) put_clusters(architecture, shape, kernel.cluster.has_value());
}

// A launch without clusters is one of clusters of one group (PTX, %cluster_nctaid).
void LaunchBank::put_clusters(int architecture, const LaunchShape& shape, bool is_explicit) {
    struct {
        std::size_t is_explicit, shape, inverse, count, groups;
    } at = {
        .is_explicit = 0x140, .shape = 0x144, .inverse = 0x150, .count = 0x15c, .groups = 0x188};
    if (architecture >= 100)
        at = {.is_explicit = 0x36c,
              .shape = 0x2a0 - cluster_bytes,
              .inverse = 0x2b0 - cluster_bytes,
              .count = 0x2c0 - cluster_bytes,
              .groups = 0x2cc - cluster_bytes};
    put(at.is_explicit, is_explicit ? 1 : 0);
    put(at.groups, 1);
    for (std::size_t i = 0; i < 3; ++i) {
        put(at.shape + 4 * i, 1);
        put(at.inverse + 4 * i, std::bit_cast<std::uint32_t>(1.0F));
        put(at.count + 4 * i, shape.grid[i]);
    }
}

bool LaunchBank::names_grid_workspace(const Instruction& instruction, int architecture) {
    const auto place = static_cast<std::int64_t>(layout_of(architecture).environment);
    return std::ranges::any_of(instruction.operands, [&](const Operand& operand) {
        return operand.kind == Operand::Kind::constant && operand.bank == 0 &&
               operand.number.has_value() == (architecture >= 100) &&
               (operand.value == place + 4 || operand.value == place + 8);
    });
}

bool LaunchBank::known(std::size_t offset, std::size_t size) const {
    if (offset + size > known_.size()) return false;
    const auto begin = known_.begin() + static_cast<std::ptrdiff_t>(offset);
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(size),
                       [](bool one) { return one; });
}

void LaunchBank::put_address(std::size_t offset, std::uint64_t value) {
    put(offset, static_cast<std::uint32_t>(value));
    put(offset + 4, static_cast<std::uint32_t>(value >> 32));
}

void LaunchBank::put(std::size_t offset, std::uint32_t value) {
    if (offset + 4 > bytes_.size()) return;
    std::memcpy(bytes_.data() + offset, &value, 4);
    std::fill_n(known_.begin() + static_cast<std::ptrdiff_t>(offset), 4, true);
}

}  // namespace occupipe::isa
