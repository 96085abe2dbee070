// SPDX-License-Identifier: MIT
// What stands in constant bank 0 when a kernel begins.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/machine/launch.h"

namespace occupipe::isa {
namespace {

// Where nothing lies, for bank 3 of a module that has none: kernels compare addresses with it.
constexpr std::uint64_t nowhere = 0x0000'4f00'0000'0000;

}  // namespace

LaunchBank::LaunchBank(const Kernel& kernel, int architecture, const LaunchShape& shape,
                       std::span<const std::byte> parameters, std::uint32_t local_bytes,
                       std::uint64_t bank_3_address, std::uint64_t grid_workspace) {
    const ConstantBank& layout = architecture_like(architecture).bank;
    const std::size_t base =
        kernel.bank_0_base
            ? static_cast<std::size_t>(std::max<std::int64_t>(*kernel.bank_0_base, 0))
            : layout.parameters;
    bytes_.resize(std::max(base + parameters.size(), layout.parameters));
    known_.resize(bytes_.size());
    std::ranges::copy(parameters, bytes_.begin() + static_cast<std::ptrdiff_t>(base));
    std::fill(known_.begin() + static_cast<std::ptrdiff_t>(base),
              known_.begin() + static_cast<std::ptrdiff_t>(base + parameters.size()),
              std::uint8_t{1});
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
    if (layout.shared_window)
        put_address(*layout.shared_window, std::uint64_t{shared_window} << 32);
    put_address(layout.local_window, std::uint64_t{local_window} << 32);
    put_address(layout.bank_3, bank_3_address != 0 ? bank_3_address : nowhere);
    // Environment registers 1 (the upper half) and 2.
    const std::size_t environment = layout.environment - layout.cluster_bytes;
    put(environment + 4, static_cast<std::uint32_t>(grid_workspace >> 32));
    put(environment + 8, static_cast<std::uint32_t>(grid_workspace));
    // The room in the system's shared memory lies before the kernel's own, or else behind it.
    const auto own = static_cast<std::uint32_t>(kernel.shared_bytes) + shape.dynamic_shared_bytes;
    if (layout.system_memory)
        put(*layout.system_memory - layout.cluster_bytes,
            architecture_like(architecture).code.system_shared > 0 ? 0 : (own + 127) / 128 * 128);
    put(layout.dynamic_shared - layout.cluster_bytes, shape.dynamic_shared_bytes);
    if (layout.clusters) put_clusters(layout, shape, kernel.cluster.has_value());
}

// A launch without clusters is one of clusters of one group (PTX, %cluster_nctaid).
void LaunchBank::put_clusters(const ConstantBank& layout, const LaunchShape& shape,
                              bool is_explicit) {
    const ConstantBank::Clusters& at = *layout.clusters;
    const std::size_t less = layout.cluster_bytes;
    put(at.is_explicit, is_explicit ? 1 : 0);
    put(at.groups - less, 1);
    for (std::size_t i = 0; i < 3; ++i) {
        put(at.shape - less + 4 * i, 1);
        put(at.inverse - less + 4 * i, std::bit_cast<std::uint32_t>(1.0F));
        put(at.count - less + 4 * i, shape.grid[i]);
    }
}

bool LaunchBank::names_grid_workspace(const Instruction& instruction, int architecture) {
    const ConstantBank& layout = architecture_like(architecture).bank;
    const auto place = static_cast<std::int64_t>(layout.environment);
    return std::ranges::any_of(instruction.operands, [&](const Operand& operand) {
        return operand.kind == Operand::Kind::constant && operand.bank == 0 &&
               operand.number.has_value() == (layout.cluster_bytes > 0) &&
               (operand.value == place + 4 || operand.value == place + 8);
    });
}

bool LaunchBank::known(std::size_t offset, std::size_t size) const {
    if (offset + size > known_.size()) return false;
    const auto begin = known_.begin() + static_cast<std::ptrdiff_t>(offset);
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(size),
                       [](std::uint8_t one) { return one != 0; });
}

void LaunchBank::put_address(std::size_t offset, std::uint64_t value) {
    put(offset, static_cast<std::uint32_t>(value));
    put(offset + 4, static_cast<std::uint32_t>(value >> 32));
}

void LaunchBank::put(std::size_t offset, std::uint32_t value) {
    if (offset + 4 > bytes_.size()) return;
    std::memcpy(bytes_.data() + offset, &value, 4);
    std::fill_n(known_.begin() + static_cast<std::ptrdiff_t>(offset), 4, std::uint8_t{1});
}

}  // namespace occupipe::isa
