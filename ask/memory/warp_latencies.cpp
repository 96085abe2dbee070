// SPDX-License-Identifier: MIT
#include "ask/memory/warp_latencies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "ask/memory/memory_costs.h"

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
        : kernel_(kernel), profile_(profile) {
        for (const auto& [op, parts] : by_op)
            if (parts.size() > 1 &&
                parts.back().second.value > (1 + few) * parts.front().second.value)
                by_op_.emplace(op, &parts);
    }

    void run() {
        if (!kernel_.launch || by_op_.empty()) return;
        parts_ = std::min(most_parts, kernel_.launch->group_warps);
        if (!kernel_.groups) {
            // Each program needs a warp for every part.
            double least = 1;
            for (const WarpProgram& program : kernel_.warps) least = std::min(least, program.share);
            parts_ = std::min(parts_,
                              static_cast<int>(std::lround(least * kernel_.launch->group_warps)));
        }
        if (parts_ < 2 || !any_varies()) return;
        std::vector<WarpProgram> warps;
        for (const WarpProgram& program : kernel_.warps)
            for (part_ = 0; part_ < parts_; ++part_) {
                WarpProgram& own = warps.emplace_back(program);
                own.share /= parts_;
                loads_ = 0;
                vary(own.instructions, true);
            }
        kernel_.warps = std::move(warps);
        if (!kernel_.groups) return;
        for (std::vector<std::int32_t>& kind : kernel_.groups->kinds)
            for (std::size_t warp = 0; warp < kind.size(); ++warp)
                kind[warp] = kind[warp] * parts_ + static_cast<std::int32_t>(warp) % parts_;
    }

private:
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

    bool any_varies() {
        part_ = no_part;
        return std::ranges::any_of(
            kernel_.warps, [&](WarpProgram& program) { return vary(program.instructions, true); });
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
            if (!awaited || found == by_op_.end()) continue;
            any = true;
            if (part_ == no_part) return true;
            // Other warps are the slowest ones of the next load.
            constexpr double golden = 0.6180339887498949;
            const int turn = static_cast<int>(std::fmod(++loads_ * golden, 1) * parts_);
            one.op = op_of(found->first, *found->second, (part_ + turn) % parts_);
        }
        return any;
    }

    std::string op_of(const std::string& op, const LatencyParts& parts, int part) {
        std::string name = fmt::format("{}~{}of{}", op, part + 1, parts_);
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
    std::map<std::string, const LatencyParts*> by_op_;  // that differ
    int parts_ = 1;
    int part_ = no_part;
    int loads_ = 0;
};

}  // namespace

void vary_latencies(Kernel& kernel, GpuProfile& profile,
                    const std::map<std::string, LatencyParts>& by_op) {
    Variation(kernel, profile, by_op).run();
}

}  // namespace occupipe::analysis
