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
                       const isa::GlobalMemory& memory) {
    for (const std::uint64_t buffer : execution.written) changed(buffer);
    constexpr std::size_t most_known = 4096;
    if (known_.size() >= most_known) known_.clear();
    known_.erase(launch);
    std::vector<std::uint64_t> both;
    std::ranges::set_intersection(execution.read, execution.written, std::back_inserter(both));
    // What is on the host, the program changes without a call.
    const auto on_host = [&](std::uint64_t address) {
        const isa::GlobalMemory::Buffer* const buffer = memory.find(address, 1);
        return buffer == nullptr || reinterpret_cast<std::uint64_t>(buffer->data) == address;
    };
    const std::vector<std::uint64_t> buffers = isa::united(execution.read, execution.written);
    constexpr std::size_t most_buffers = 256;
    if (buffers.size() > most_buffers) return;
    Known known{.warp_instructions = execution.warp_instructions};
    for (const std::uint64_t address : buffers) {
        if (on_host(address)) return;
        known.buffers.emplace_back(address, versions_[address]);
    }
    if (both.empty() && execution.printed.empty()) known_[std::move(launch)] = std::move(known);
}

void Effects::forget() { known_.clear(); }

}  // namespace occupipe::program
