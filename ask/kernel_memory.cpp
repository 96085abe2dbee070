// SPDX-License-Identifier: MIT
#include "ask/kernel_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
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

bool has_address(const isa::Instruction& one) {
    return std::ranges::any_of(one.operands, [](const isa::Operand& operand) {
        return operand.kind == isa::Operand::Kind::address;
    });
}

void tell(const KernelIn& in, const std::vector<bool>& passes, const extract::MemoryReuse& reuse,
          Kernel& kernel) {
    using extract::Executions;
    // By instruction of the code.
    std::map<std::pair<std::uint32_t, Executions>, std::optional<MemoryUse>> uses;
    for (std::size_t i = 0; i < kernel.warps.size(); ++i) {
        const auto& nodes = in.extracted.nodes[i];
        tell(kernel.warps[i].instructions, [&](const std::string& id) -> std::optional<MemoryUse> {
            const auto found = nodes.find(id);
            if (found == nodes.end()) return std::nullopt;  // a barrier of a warp that has left
            const extract::StreamInstruction what = found->second;
            const bool apart = !in.first_apart.empty() && in.first_apart[what.code];
            const Executions executions = !apart       ? Executions::all
                                          : what.first ? Executions::first
                                                       : Executions::later;
            const auto [use, fresh] = uses.try_emplace({what.code, executions});
            if (fresh)
                use->second = extract::memory_use(*in.memory, reuse, passes, what.code, executions);
            const bool asks = use->second || has_address((*in.code)[what.code]);
            if (asks && what.active == 0) return MemoryUse{};  // for nothing, here
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

// Of the executed groups, what the launch has: how many of them, and how many at once on a core.
struct Followed {
    MemoryContext context;
    std::uint64_t groups = 0, launched = 0;
    std::vector<std::string> said;
};

Followed followed(const KernelIn& in, const Launch& launch, int cores) {
    Followed out{.context = *in.kernel().memory, .groups = 0, .launched = 0, .said = {}};
    out.context.cores = cores;
    const auto executed =
        static_cast<std::int64_t>(std::min<std::uint64_t>(in.seen.groups, in.memory_groups));
    std::int64_t groups = executed;
    if (launch.group_warps == in.occupancy.group_warps) {
        out.context.concurrent_groups = launch.concurrent_groups;
        groups = std::min(launch.groups, executed);
        out.launched = static_cast<std::uint64_t>(launch.groups);
        if (launch.groups > executed)
            out.said.push_back(
                fmt::format("reuse was found for the {} groups that were executed, the launch has "
                            "{}",
                            executed, launch.groups));
    } else {
        out.context.concurrent_groups = std::max(1, launch.warps() / in.occupancy.group_warps);
        out.said.push_back(fmt::format(
            "reuse was found for groups of {} warps, as they were executed, {} at once on a core, "
            "{} in all; the launch has groups of {}, {} at once, {} in all",
            in.occupancy.group_warps, out.context.concurrent_groups, groups, launch.group_warps,
            launch.concurrent_groups, launch.groups));
    }
    out.groups = static_cast<std::uint64_t>(groups);
    return out;
}

}  // namespace

void tell_memory(KernelIn& in) {
    const std::vector<bool> passes = extract::passing_first_level(*in.code);
    tell(in, passes,
         extract::reuse_of(*in.memory, *in.extracted.kernel.memory, passes,
                           {.groups = in.memory_groups,
                            .launched = in.seen.groups,
                            .clock_of = {},
                            .earlier = in.earlier,
                            .threads = 0}),
         in.extracted.kernel);
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
    // All warps execute as many instructions: their times are taken from groups that are alike.
    Kernel alike = kernel;
    alike.groups.reset();
    Times observer(launch, groups, times);
    try {
        simulate(profile, alike, launch, options, observer);
    } catch (const InputError& error) {
        times = {.ticks = {}, .why_not = fmt::format("groups that are alike: {}", error.what())};
    }
    return times;
}

void tell_memory(KernelIn& in, const IssueTimes& times) {
    std::vector<std::string> said;
    in.extracted.kernel = with_memory(in, in.kernel(), *in.kernel().launch,
                                      in.kernel().memory->cores, said, &times, 0);
}

Kernel with_memory(const KernelIn& in, Kernel kernel, const Launch& launch, int cores,
                   std::vector<std::string>& said, const IssueTimes* times, unsigned threads) {
    auto [context, groups, launched, sentences] = followed(in, launch, cores);
    std::ranges::move(sentences, std::back_inserter(said));
    const std::vector<bool> passes = extract::passing_first_level(*in.code);
    extract::ReuseOptions options{.groups = groups,
                                  .launched = launched,
                                  .clock_of = {},
                                  .earlier = in.earlier,
                                  .threads = threads};
    if (times != nullptr) {
        options.clock_of = [&](std::uint64_t row, const extract::Issue& one) {
            const auto& warp = times->ticks[row][one.warp];
            return static_cast<std::uint64_t>(
                warp[std::min(std::size_t{one.step}, warp.size() - 1)]);
        };
        context.order = MemoryOrder::predicted;
    }
    tell(in, passes, extract::reuse_of(*in.memory, context, passes, options), kernel);
    kernel.memory = context;
    if (kernel.launch) kernel.launch->groups = launch.groups;
    return kernel;
}

Kernel with_hashed_caches(const KernelIn& in, Kernel kernel, const Launch& launch, int cores,
                          const CacheSizes& sizes, int ways, std::uint64_t seed) {
    const Followed launched = followed(in, launch, cores);
    const std::vector<bool> passes = extract::passing_first_level(*in.code);
    const auto bytes = [&](Sharer sharer) {
        double sum = 0;
        for (LevelNumber cache = 0; cache < device_memory(); ++cache)
            if (cache_levels()[cache].sharer == sharer) sum += bytes_of(sizes, cache).value_or(0);
        return static_cast<std::uint64_t>(sum);
    };
    const extract::CacheShape shape{.core_bytes = bytes(Sharer::core),
                                    .device_bytes = bytes(Sharer::device),
                                    .ways = ways,
                                    .seed = seed};
    tell(in, passes,
         extract::hashed_reuse(*in.memory, launched.context, passes, shape,
                               {.groups = launched.groups, .launched = launched.launched}),
         kernel);
    kernel.memory = launched.context;
    if (kernel.launch) kernel.launch->groups = launch.groups;
    return kernel;
}

}  // namespace occupipe::analysis
