// SPDX-License-Identifier: MIT
#include "sim/launch_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/error.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t max_resident_warps = 1 << 16;

template <class Program>
std::vector<double> shares_of(const std::vector<Program>& programs) {
    std::vector<double> shares;
    for (const Program& program : programs) shares.push_back(program.share);
    return shares;
}

}  // namespace

std::vector<int> assign_programs(std::span<const double> shares, int group_warps) {
    const std::size_t programs = shares.size();
    std::vector<int> counts(programs);
    std::vector<long long> remainders(programs);  // [10^-9 warps]: equal shares must tie
    int left = group_warps;
    for (std::size_t p = 0; p < programs; ++p) {
        // The tolerance keeps 0.1·30 at 3 although the product in binary lies just below.
        const double wanted = shares[p] * group_warps;
        counts[p] = std::min(left, static_cast<int>(std::floor(wanted + 1e-9)));
        remainders[p] = std::llround((wanted - counts[p]) * 1e9);
        left -= counts[p];
    }
    std::vector<std::size_t> order(programs);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
    for (std::size_t i = 0; left > 0; i = (i + 1) % programs, --left) ++counts[order[i]];

    std::vector<int> program_of;
    for (std::size_t p = 0; p < programs; ++p)
        program_of.insert(program_of.end(), counts[p], static_cast<int>(p));
    return program_of;
}

std::vector<int> assign_programs(const Kernel& kernel, int group_warps) {
    return assign_programs(shares_of(kernel.warps), group_warps);
}

LaunchGroups::LaunchGroups(const ResolvedKernel& kernel, const Launch& launch)
    : LaunchGroups(kernel.name, shares_of(kernel.programs), kernel.groups, launch) {}

LaunchGroups::LaunchGroups(const Kernel& kernel, const Launch& launch)
    : LaunchGroups(kernel.name, shares_of(kernel.warps), kernel.groups, launch) {}

LaunchGroups::LaunchGroups(const std::string& kernel, std::span<const double> shares,
                           const std::optional<GroupKinds>& groups, const Launch& launch)
    : groups_(launch.groups), programs_(shares.size()) {
    if (!groups) {
        const std::vector<int> programs = assign_programs(shares, launch.group_warps);
        kinds_.emplace_back(programs.begin(), programs.end());
        kind_ = {0};
        end_ = {1};
        return;
    }
    const GroupKinds& all = *groups;
    const std::size_t warps = all.kinds.front().size();
    if (std::cmp_not_equal(warps, launch.group_warps))
        throw InputError(
            fmt::format("kernel '{}': it tells of groups of {} warps what each warp executes, so "
                        "groups of {} cannot be predicted",
                        kernel, warps, launch.group_warps));
    std::vector<std::int32_t> number(all.kinds.size(), -1);
    std::int64_t end = 0;
    for (const GroupKinds::Run& run : all.order) {
        if (end >= launch.groups) break;
        std::int32_t& kind = number[static_cast<std::size_t>(run.kind)];
        if (kind < 0) {
            const auto& programs = all.kinds[static_cast<std::size_t>(run.kind)];
            const auto same = std::ranges::find(kinds_, programs);
            kind = static_cast<std::int32_t>(same - kinds_.begin());
            if (same == kinds_.end()) kinds_.push_back(programs);
        }
        end += run.groups;
        kind_.push_back(kind);
        end_.push_back(end);
    }
}

std::int32_t LaunchGroups::kind_of(std::int64_t group) const {
    const auto run = std::ranges::upper_bound(end_, group % end_.back());
    return kind_[static_cast<std::size_t>(run - end_.begin())];
}

std::vector<double> LaunchGroups::kind_counts(std::int64_t begin, std::int64_t end) const {
    std::vector<double> counts(kinds_.size());
    // Of the groups before `end`, so many times.
    const auto add = [&](std::int64_t before, double times) {
        const std::int64_t rounds = before / end_.back(), rest = before % end_.back();
        std::int64_t first = 0;
        for (std::size_t run = 0; run < end_.size(); first = end_[run++])
            counts[static_cast<std::size_t>(kind_[run])] +=
                times *
                static_cast<double>(rounds * (end_[run] - first) +
                                    std::clamp<std::int64_t>(rest - first, 0, end_[run] - first));
    };
    add(end, 1);
    add(begin, -1);
    return counts;
}

std::vector<double> LaunchGroups::kind_shares() const {
    std::vector<double> shares = kind_counts(0, groups_);
    for (double& share : shares) share /= static_cast<double>(groups_);
    return shares;
}

std::vector<double> LaunchGroups::program_shares() const {
    const std::vector<double> of_kind = kind_shares();
    std::vector<double> shares(programs_);
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind)
        for (const std::int32_t program : kinds_[kind])
            shares[static_cast<std::size_t>(program)] +=
                of_kind[kind] / static_cast<double>(kinds_[kind].size());
    return shares;
}

void validate(const Launch& launch) {
    if (launch.group_warps < 1 || launch.concurrent_groups < 1 || launch.groups < 1)
        throw InputError(
            fmt::format("a launch needs at least one warp, one concurrent group and one group, "
                        "not {}, {} and {}",
                        launch.group_warps, launch.concurrent_groups, launch.groups));
    if (launch.groups > most_groups)
        throw InputError(fmt::format("a launch of {} groups is above the simulator's limit of {}",
                                     launch.groups, most_groups));
    if (std::int64_t{launch.group_warps} * launch.concurrent_groups > max_resident_warps)
        throw InputError(
            fmt::format("{} groups of {} warps at once are more than the simulator's "
                        "limit of {} warps",
                        launch.concurrent_groups, launch.group_warps, max_resident_warps));
}

}  // namespace occupipe::sim
