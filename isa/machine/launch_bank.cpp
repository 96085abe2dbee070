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
                       std::span<const std::byte> parameters, std::uint32_t local_bytes) {
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
    if (architecture < 90) {
        // Where shared and local memory lie in the generic address space.
        put(0x18, 0);
        put(0x1c, shared_window);
        put(0x20, 0);
        put(0x24, local_window);
    }
}

bool LaunchBank::known(std::size_t offset, std::size_t size) const {
    if (offset + size > known_.size()) return false;
    const auto begin = known_.begin() + static_cast<std::ptrdiff_t>(offset);
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(size),
                       [](bool one) { return one; });
}

void LaunchBank::put(std::size_t offset, std::uint32_t value) {
    if (offset + 4 > bytes_.size()) return;
    std::memcpy(bytes_.data() + offset, &value, 4);
    std::fill_n(known_.begin() + static_cast<std::ptrdiff_t>(offset), 4, true);
}

}  // namespace occupipe::isa
