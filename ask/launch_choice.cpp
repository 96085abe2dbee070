// SPDX-License-Identifier: MIT
#include "ask/launch_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

constexpr int most_warps = 65'536;  // the simulator's limit

void check_limit(const char* what, std::int64_t value, const std::optional<std::int64_t>& limit,
                 const GpuProfile& profile) {
    if (limit && value > *limit)
        throw InputError(fmt::format("{} {} exceeds the limit of '{}', {}", value, what,
                                     profile.device.name, *limit));
}

void check_limits(const Launch& launch, const GpuProfile& profile) {
    check_limit("warps per group", launch.group_warps, profile.limits.group_warps, profile);
    check_limit("concurrent groups", launch.concurrent_groups, profile.limits.groups, profile);
    check_limit("warps on a core", std::int64_t{launch.group_warps} * launch.concurrent_groups,
                profile.limits.warps, profile);
}

bool has_barrier(const Kernel& kernel, const GpuProfile& profile) {
    bool found = false;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        const InstructionTiming* const timing = profile.find_instruction(instruction.op);
        const InstructionKind kind = instruction.kind ? *instruction.kind
                                     : timing         ? timing->effective_kind()
                                                      : kind_of(instruction.op);
        found = found || kind == InstructionKind::barrier;
    });
    return found;
}

// The kernel file's own launch on a core that holds less: fewer groups at once, and, where no warp
// of a group needs another and all groups are alike, smaller groups of as many warps in all.
// Returns what was changed.
std::string fit_to_limits(Launch& launch, const Kernel& kernel, const GpuProfile& profile) {
    const Launch wanted = launch;
    const auto at_most = [](int value, const std::optional<std::int64_t>& limit) {
        return limit ? static_cast<int>(std::clamp<std::int64_t>(*limit, 1, value)) : value;
    };
    if (!kernel.groups && !has_barrier(kernel, profile)) {
        launch.group_warps = at_most(launch.group_warps, profile.limits.group_warps);
        launch.group_warps = at_most(launch.group_warps, profile.limits.warps);
        const std::int64_t warps = wanted.groups * wanted.group_warps;
        launch.groups = (warps + launch.group_warps - 1) / launch.group_warps;
    }
    launch.concurrent_groups = at_most(launch.concurrent_groups, profile.limits.groups);
    if (profile.limits.warps)
        launch.concurrent_groups =
            at_most(launch.concurrent_groups, *profile.limits.warps / launch.group_warps);
    if (launch == wanted) return {};
    return fmt::format(
        "the kernel file's launch, {} groups of {} warps with {} at once on a core, does not fit "
        "'{}'; replaced by {} groups of {} with {} at once",
        wanted.groups, wanted.group_warps, wanted.concurrent_groups, profile.device.name,
        launch.groups, launch.group_warps, launch.concurrent_groups);
}

int parse_warps(const std::string& list, std::string_view text) {
    int value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || value < 1 || value > most_warps)
        throw InputError(fmt::format("--occupancy {}: '{}' is not a number of warps from 1 to {}",
                                     list, text, most_warps));
    return value;
}

// A range means the multiples of the group size in it; a single number must be one.
void add_range(const std::string& list, std::string_view part, int group_warps,
               std::set<int>& concurrent) {
    const std::size_t dash = part.find('-');
    const int low = parse_warps(list, part.substr(0, dash));
    const int high =
        dash == std::string_view::npos ? low : parse_warps(list, part.substr(dash + 1));
    if (low > high)
        throw InputError(
            fmt::format("--occupancy {}: {} is above {}; write {}-{}", list, low, high, high, low));
    bool any = false;
    for (int warps = low; warps <= high; ++warps) {
        if (warps % group_warps != 0) continue;
        concurrent.insert(warps / group_warps);
        any = true;
    }
    if (!any)
        throw InputError(
            fmt::format("--occupancy {}: '{}' contains no multiple of the group size, "
                        "{} warps",
                        list, part, group_warps));
}

std::set<int> listed_occupancies(const std::string& list, int group_warps) {
    std::set<int> concurrent;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        add_range(list, std::string_view(list).substr(begin, end - begin), group_warps, concurrent);
        begin = end + 1;
    }
    return concurrent;
}

}  // namespace

std::set<int> all_occupancies(int group_warps, const GpuProfile& profile) {
    if (!profile.limits.warps)
        throw InputError(
            fmt::format("profile '{}' has no limits.warps, so that not all occupancies are known; "
                        "list them",
                        profile.device.name));
    std::int64_t most = std::min<std::int64_t>(*profile.limits.warps, most_warps) / group_warps;
    if (profile.limits.groups) most = std::min(most, *profile.limits.groups);
    std::set<int> concurrent;
    for (int groups = 1; groups <= most; ++groups) concurrent.insert(groups);
    if (concurrent.empty())
        throw InputError(fmt::format("no group of {} warps fits a core of '{}'", group_warps,
                                     profile.device.name));
    return concurrent;
}

Launch chosen_launch(const LaunchChoice& choice, const Kernel& kernel, const GpuProfile& profile,
                     std::vector<std::string>& assumptions) {
    Launch from_file = kernel.launch.value_or(Launch());
    if (kernel.launch && choice == LaunchChoice()) {
        const std::string changed = fit_to_limits(from_file, kernel, profile);
        if (!changed.empty()) assumptions.push_back(changed);
    }
    Launch launch;
    launch.group_warps = choice.group_warps.value_or(from_file.group_warps);
    launch.concurrent_groups = choice.concurrent_groups.value_or(from_file.concurrent_groups);
    if (choice.groups)
        launch.groups = *choice.groups;
    else if (kernel.launch)
        launch.groups = from_file.groups;
    else
        launch.groups = std::int64_t{profile.cores} * launch.concurrent_groups;
    check_limits(launch, profile);
    return launch;
}

std::vector<Launch> launches_of(LaunchChoice choice, const std::optional<std::string>& occupancy,
                                const Kernel& kernel, const GpuProfile& profile,
                                std::vector<std::string>& assumptions) {
    if (!occupancy) return {chosen_launch(choice, kernel, profile, assumptions)};
    const int group_warps =
        choice.group_warps.value_or(kernel.launch.value_or(Launch()).group_warps);
    const std::set<int> concurrent = *occupancy == "all"
                                         ? all_occupancies(group_warps, profile)
                                         : listed_occupancies(*occupancy, group_warps);
    std::vector<Launch> result;
    for (const int groups : concurrent) {
        choice.concurrent_groups = groups;
        result.push_back(chosen_launch(choice, kernel, profile, assumptions));
    }
    return result;
}

}  // namespace occupipe::analysis
