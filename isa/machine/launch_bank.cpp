// SPDX-License-Identifier: MIT
// What stands in constant bank 0 when a kernel begins. Offsets were found in compiled kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/machine/launch.h"

namespace occupipe::isa {
namespace {

struct Layout {
    std::size_t parameters, block, grid, descriptor, stack;
};

// Where nothing lies, for bank 3 of a module that has none: kernels compare addresses with it.
constexpr std::uint64_t nowhere = 0x0000'4f00'0000'0000;

Layout layout_of(int architecture) {
    if (architecture >= 100) {
        return {.parameters = 0x380,
                .block = 0x360,
                .grid = 0x370,
                .descriptor = 0x358,
                .stack = 0x37c};
    }
    if (architecture >= 90) {
        return {.parameters = 0x210, .block = 0, .grid = 0xc, .descriptor = 0x208, .stack = 0x28};
    }
    return {.parameters = 0x160, .block = 0, .grid = 0xc, .descriptor = 0x118, .stack = 0x28};
}

}  // namespace

LaunchBank::LaunchBank(const Kernel& kernel, int architecture, const LaunchShape& shape,
                       std::span<const std::byte> parameters, std::uint32_t local_bytes,
                       std::uint64_t bank_3_address) {
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
