// SPDX-License-Identifier: MIT
#include "analysis/kernel_memory.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <optional>

namespace occupipe::analysis {
namespace {

using UseOf = std::function<std::optional<MemoryUse>(const std::string& id)>;

void tell(std::vector<KernelItem>& items, const UseOf& use_of) {
    for (KernelItem& item : items) {
        if (auto* repeat = std::get_if<Repeat>(&item)) {
            tell(repeat->body, use_of);
            continue;
        }
        auto& one = std::get<KernelInstruction>(item);
        one.memory = use_of(one.id);
    }
}

}  // namespace

void tell_memory(KernelIn& in, const extract::MemoryTrace& trace, int cores,
                 std::int64_t shared_bytes) {
    Kernel& kernel = in.extracted.kernel;
    kernel.memory = MemoryContext{.cores = cores,
                                  .concurrent_groups = in.occupancy.groups,
                                  .group_shared_bytes = shared_bytes};
    const std::vector<bool> passes = extract::passing_first_level(*in.code);
    const extract::MemoryReuse reuse = extract::reuse_of(trace, *kernel.memory, passes);
    std::map<std::uint32_t, std::optional<MemoryUse>> uses;  // by instruction of the code
    for (std::size_t i = 0; i < kernel.warps.size(); ++i) {
        const auto& nodes = in.extracted.nodes[i];
        tell(kernel.warps[i].instructions, [&](const std::string& id) -> std::optional<MemoryUse> {
            const extract::StreamInstruction what = nodes.at(id);
            const auto [use, fresh] = uses.try_emplace(what.code);
            if (fresh) use->second = extract::memory_use(trace, reuse, passes, what.code);
            if (use->second && what.active == 0) return MemoryUse{};  // it asks for nothing
            return use->second;
        });
    }
    if (trace.one_line_in() > 1)
        in.assumptions.push_back(fmt::format(
            "reuse was found for one in {} of the launch's cache lines, chosen by a hash",
            trace.one_line_in()));
}

}  // namespace occupipe::analysis
