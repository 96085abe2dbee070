// SPDX-License-Identifier: MIT
#include "ask/prepared_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ask/memory/kernel_memory.h"

namespace occupipe::analysis {
namespace {

// Whether the reuse in the kernel, which is that of its own launch, is this launch's.
bool finds_the_same(const Kernel& told, const Launch& launch, const GpuProfile& profile) {
    return told.launch && launch == *told.launch && told.memory->cores == profile.cores;
}

bool follows(const KernelIn* in, const PrepareOptions& options) {
    return in != nullptr && in->memory && options.pricing != MemoryPricing::none;
}

// Again, with the warps in the order in which the first round's prediction has them issue.
// `profile`: without the prices of memory.
void price_again(const KernelIn& in, const Kernel& told, const GpuProfile& profile,
                 const PrepareOptions& options, PreparedLaunch& one) {
    Kernel launched = one.memory.kernel;
    launched.launch = one.launch;
    IssueTimes times;
    if (one.launch.group_warps == in.occupancy.group_warps)
        times = issue_times(one.memory.profile, launched, *options.again);
    else
        times.why_not = "the launch has groups of another size than were executed";
    if (!times.why_not.empty()) {
        one.said.push_back(
            fmt::format("warps are taken to execute round robin, since {}", times.why_not));
        return;
    }
    std::vector<std::string> same;
    one.told = with_memory(in, told, one.launch, profile.cores, same, &times, options.threads);
    one.memory = price_memory(one.told, profile, options.pricing, options.caches);
    one.said.emplace_back(
        "reuse was found in the order in which a first prediction has the warps issue");
}

}  // namespace

ToldKernel told_for(const KernelIn* in, const Kernel& kernel, const GpuProfile& profile,
                    const Launch& launch, const PrepareOptions& options) {
    ToldKernel told{.kernel = kernel, .said = {}};
    if (in != nullptr && !options.occupancy_asked &&
        launch.concurrent_groups != in->occupancy.groups)
        told.said.push_back(
            fmt::format("{} group{} at once on a core {} predicted, not the {} of "
                        "the code's occupancy",
                        launch.concurrent_groups, launch.concurrent_groups == 1 ? "" : "s",
                        launch.concurrent_groups == 1 ? "is" : "are", in->occupancy.groups));
    if (follows(in, options) && !finds_the_same(kernel, launch, profile))
        told.kernel = with_memory(*in, std::move(told.kernel), launch, profile.cores, told.said,
                                  nullptr, options.threads);
    return told;
}

PreparedLaunch prepared_launch(const KernelIn* in, ToldKernel told, const GpuProfile& profile,
                               const Launch& launch, const PrepareOptions& options) {
    PreparedLaunch one{.launch = launch,
                       .told = std::move(told.kernel),
                       .memory = {},
                       .said = std::move(told.said)};
    one.memory = price_memory(one.told, profile, options.pricing, options.caches);
    const bool followed = follows(in, options);
    if (!followed)
        if (std::string said = other_concurrency(one.told, one.memory, launch, options.pricing);
            !said.empty())
            one.said.push_back(std::move(said));
    if (followed && options.again) {
        const Kernel first = one.told;
        price_again(*in, first, profile, options, one);
    }
    std::ranges::move(one.memory.said, std::back_inserter(one.said));
    return one;
}

std::string other_concurrency(const Kernel& told, const PricedMemory& memory, const Launch& launch,
                              MemoryPricing pricing) {
    const auto& reuse = told.memory;
    if (!reuse || memory.rows.empty() || pricing == MemoryPricing::none ||
        launch.concurrent_groups == reuse->concurrent_groups)
        return {};
    return fmt::format("reuse was found for {} groups at once on a core, the launch has {}",
                       reuse->concurrent_groups, launch.concurrent_groups);
}

std::string other_architecture(const KernelIn& in, const GpuProfile& profile) {
    std::string digits = profile.device.compute_capability;
    std::erase(digits, '.');
    if (digits.empty() || digits == std::to_string(in.architecture)) return {};
    return fmt::format(
        "the code is of sm_{}, '{}' of compute capability {}: instructions and occupancy are those "
        "of the code",
        in.architecture, profile.device.name, profile.device.compute_capability);
}

}  // namespace occupipe::analysis
