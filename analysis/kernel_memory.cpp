// SPDX-License-Identifier: MIT
#include "analysis/kernel_memory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "sim/observers/observer.h"

namespace occupipe::analysis {
namespace {

constexpr std::int64_t most_instructions = 20'000'000;  // of a core

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

void tell(KernelIn& in, const std::vector<bool>& passes, const extract::MemoryReuse& reuse) {
    Kernel& kernel = in.extracted.kernel;
    std::map<std::uint32_t, std::optional<MemoryUse>> uses;  // by instruction of the code
    for (std::size_t i = 0; i < kernel.warps.size(); ++i) {
        const auto& nodes = in.extracted.nodes[i];
        tell(kernel.warps[i].instructions, [&](const std::string& id) -> std::optional<MemoryUse> {
            const auto found = nodes.find(id);
            if (found == nodes.end()) return std::nullopt;  // a barrier of a warp that has left
            const extract::StreamInstruction what = found->second;
            const auto [use, fresh] = uses.try_emplace(what.code);
            if (fresh) use->second = extract::memory_use(*in.memory, reuse, passes, what.code);
            if (use->second && what.active == 0) return MemoryUse{};  // it asks for nothing
            return use->second;
        });
    }
}

// Instructions of a warp issue in program order.
class Times : public sim::Observer {
public:
    Times(const Launch& launch, std::int64_t groups, IssueTimes& times)
        : warps_(static_cast<std::size_t>(launch.group_warps)),
          group_in_(static_cast<std::size_t>(launch.concurrent_groups)),
          times_(times) {
        times_.ticks.assign(static_cast<std::size_t>(groups),
                            std::vector<std::vector<std::int64_t>>(warps_));
    }

    void group_started(const sim::GroupEvent& event) override {
        group_in_[static_cast<std::size_t>(event.slot)] = static_cast<std::size_t>(event.group);
    }
    void issued(const sim::IssueEvent& event) override {
        const auto warp = static_cast<std::size_t>(event.warp);
        times_.ticks[group_in_[warp / warps_]][warp % warps_].push_back(event.time);
    }

private:
    std::size_t warps_;
    std::vector<std::size_t> group_in_;  // slot
    IssueTimes& times_;
};

}  // namespace

void tell_memory(KernelIn& in) {
    const std::vector<bool> passes = extract::passing_first_level(*in.code);
    tell(in, passes, extract::reuse_of(*in.memory, *in.extracted.kernel.memory, passes));
}

IssueTimes issue_times(const GpuProfile& profile, const Kernel& kernel,
                       const SimulationOptions& options) {
    IssueTimes times;
    if (order_of(options, kernel) != Order::in_order) {
        times.why_not = "warps may issue out of order";
        return times;
    }
    const std::int64_t count = instruction_count(kernel.warps.front());
    if (!std::ranges::all_of(kernel.warps, [&](const WarpProgram& program) {
            return instruction_count(program) == count;
        })) {
        times.why_not = "warps execute different numbers of instructions";
        return times;
    }
    if (profile.cores != kernel.memory->cores) {
        times.why_not = "the profile's number of cores was changed";
        return times;
    }
    const Launch& launch = *kernel.launch;
    const std::int64_t groups = launch.groups_per_core(profile.cores);
    if (groups > most_instructions || count > most_instructions ||
        groups * launch.group_warps > most_instructions / count) {
        times.why_not = "a core executes more than 20 million instructions";
        return times;
    }
    Times observer(launch, groups, times);
    simulate(profile, kernel, launch, options, observer);
    return times;
}

void tell_memory(KernelIn& in, const IssueTimes& times) {
    MemoryContext& context = *in.extracted.kernel.memory;
    const auto cores = static_cast<std::uint64_t>(context.cores);
    const auto clock_of = [&](const extract::GroupTrace& group, const extract::LineReference& one) {
        const auto& warp = times.ticks[group.group / cores][one.warp];
        return static_cast<std::uint64_t>(warp[std::min(std::size_t{one.step}, warp.size() - 1)]);
    };
    context.order = MemoryOrder::predicted;
    const std::vector<bool> passes = extract::passing_first_level(*in.code);
    tell(in, passes, extract::reuse_of(*in.memory, context, passes, clock_of));
}

}  // namespace occupipe::analysis
