// SPDX-License-Identifier: MIT
#include "program/effects.h"

#include <algorithm>
#include <iterator>

namespace occupipe::program {

std::optional<std::uint64_t> Effects::repeated(const Launch& launch) const {
    const auto known = known_.find(launch);
    if (known == known_.end()) return std::nullopt;
    for (const auto& [buffer, version] : known->second.buffers) {
        const auto now = versions_.find(buffer);
        if ((now == versions_.end() ? 0 : now->second) != version) return std::nullopt;
    }
    return known->second.warp_instructions;
}

void Effects::executed(Launch launch, const isa::Execution& execution,
                       const isa::GlobalMemory& memory, bool alone) {
    for (const std::uint64_t buffer : execution.written) changed(buffer);
    known_.erase(launch);
    constexpr std::size_t most_known = 4096, most_buffers = 256;
    std::vector<std::uint64_t> both;
    std::ranges::set_intersection(execution.read, execution.written, std::back_inserter(both));
    const std::vector<std::uint64_t> buffers = isa::united(execution.read, execution.written);
    if (!alone || !both.empty() || !execution.printed.empty() || buffers.size() > most_buffers)
        return;
    Known known{.warp_instructions = execution.warp_instructions};
    for (const std::uint64_t address : buffers) {
        const isa::GlobalMemory::Buffer* const buffer = memory.find(address, 1);
        // What is on the host, the program changes without a call.
        if (buffer == nullptr || reinterpret_cast<std::uint64_t>(buffer->data) == address) return;
        known.buffers.emplace_back(address, versions_[address]);
    }
    if (known_.size() >= most_known) known_.clear();
    known_[std::move(launch)] = std::move(known);
}

}  // namespace occupipe::program
