// SPDX-License-Identifier: MIT
#include "ask/memory/warp_latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "ask/memory/memory_costs.h"
#include "sim/launch_groups.h"

namespace occupipe::analysis {
namespace {

constexpr int most_parts = 8;  // of a group's warps
constexpr double few = 0.05;   // of Λ, that nobody would miss

// Mean Λ of the executions between the shares `from` and `to` of all.
Estimate mean_between(const LatencyParts& parts, double from, double to) {
    std::vector<std::pair<double, Estimate>> inside;
    double begin = 0;
    for (const auto& [share, latency] : parts) {
        const double end = begin + share;
        const double common = std::min(end, to) - std::max(begin, from);
        if (common > 0) inside.emplace_back(common / (to - from), latency);
        begin = end;
    }
    return weighted(inside);
}

class Variation {
public:
    Variation(Kernel& kernel, GpuProfile& profile, const std::map<std::string, LatencyParts>& by_op)
        : kernel_(kernel), profile_(profile), by_op_(by_op) {}

    void run(int group_warps) {
        const std::vector<int> warps = warps_of_programs(group_warps);
        std::vector<WarpProgram> programs;
        first_.clear();
        for (std::size_t p = 0; p < kernel_.warps.size(); ++p) {
            const WarpProgram& program = kernel_.warps[p];
            first_.push_back(static_cast<std::int32_t>(programs.size()));
            parts_ = parts_of(warps[p]);
            part_ = no_part;
            WarpProgram probe = program;
            if (parts_ < 2 || !vary(probe.instructions, true)) parts_ = 1;
            counts_.push_back(parts_);
            for (part_ = 0; part_ < parts_; ++part_) {
                WarpProgram& own = programs.emplace_back(program);
                own.share /= parts_;
                loads_ = 0;
                if (parts_ > 1) vary(own.instructions, true);
            }
        }
        kernel_.warps = std::move(programs);
        if (kernel_.groups) divide(*kernel_.groups);
    }

private:
    // How many warps of a group run each program; where groups differ, what divides all numbers.
    std::vector<int> warps_of_programs(int group_warps) const {
        std::vector<int> warps(kernel_.warps.size());
        if (!kernel_.groups) {
            for (const int program : sim::assign_programs(kernel_, group_warps))
                ++warps[static_cast<std::size_t>(program)];
            return warps;
        }
        for (std::size_t p = 0; p < warps.size(); ++p)
            for (const std::vector<std::int32_t>& kind : kernel_.groups->kinds)
                warps[p] = std::gcd(warps[p], static_cast<int>(std::ranges::count(
                                                  kind, static_cast<std::int32_t>(p))));
        return warps;
    }

    // Equal ones.
    static int parts_of(int warps) {
        int parts = std::min(most_parts, warps);
        while (parts > 1 && warps % parts != 0) --parts;
        return parts;
    }

    void divide(GroupKinds& groups) const {
        for (std::vector<std::int32_t>& kind : groups.kinds) {
            std::vector<std::int32_t> seen(first_.size(), 0);
            for (std::int32_t& program : kind) {
                const auto p = static_cast<std::size_t>(program);
                program = first_[p] + seen[p]++ % counts_[p];
            }
        }
    }

    bool is_barrier(const KernelInstruction& one) const {
        if (one.kind) return *one.kind == InstructionKind::barrier;
        const InstructionTiming* const row = profile_.find_instruction(one.op);
        return (row ? row->effective_kind() : kind_of(one.op)) == InstructionKind::barrier;
    }

    bool has_barrier(const std::vector<KernelItem>& items) const {
        bool found = false;
        for_each_instruction(
            items, [&](const KernelInstruction& one) { found = found || is_barrier(one); });
        return found;
    }

    // Gives loads the Λ of this part; of no part: only says whether there are any that vary.
    bool vary(std::vector<KernelItem>& items, bool awaited) {
        bool any = false;
        for (KernelItem& item : items) {
            if (auto* const repeat = std::get_if<Repeat>(&item)) {
                any |= vary(repeat->body,
                            awaited && (repeat->count == 1 || has_barrier(repeat->body)));
                continue;
            }
            auto& one = std::get<KernelInstruction>(item);
            const auto found = by_op_.find(one.op);
            if (!awaited || found == by_op_.end() || !differs(found->second)) continue;
            any = true;
            if (part_ == no_part) return true;
            // Other warps are the slowest ones of the next load.
            constexpr double golden = 0.6180339887498949;
            const int turn = static_cast<int>(std::fmod(++loads_ * golden, 1) * parts_);
            one.op = op_of(found->first, found->second, (part_ + turn) % parts_);
        }
        return any;
    }

    bool differs(const LatencyParts& parts) const {
        const double part = 1.0 / parts_;
        return mean_between(parts, 1 - part, 1).value >
               (1 + few) * mean_between(parts, 0, part).value;
    }

    std::string op_of(const std::string& op, const LatencyParts& parts, int part) {
        std::string name = fmt::format("{}~~{}of{}", op, part + 1, parts_);
        if (profile_.find_instruction(name)) return name;
        InstructionTiming timing = *profile_.find_instruction(op);
        timing.name = name;
        timing.latency = mean_between(parts, static_cast<double>(part) / parts_,
                                      static_cast<double>(part + 1) / parts_);
        profile_.instructions.push_back(std::move(timing));
        return name;
    }

    static constexpr int no_part = -1;

    Kernel& kernel_;
    GpuProfile& profile_;
    const std::map<std::string, LatencyParts>& by_op_;
    std::vector<std::int32_t> first_, counts_;  // by program: its first part, and how many
    int parts_ = 1;
    int part_ = no_part;
    int loads_ = 0;
};

}  // namespace

void vary_latencies(Kernel& kernel, GpuProfile& profile,
                    const std::map<std::string, LatencyParts>& by_op, int group_warps) {
    if (!by_op.empty()) Variation(kernel, profile, by_op).run(group_warps);
}

}  // namespace occupipe::analysis
