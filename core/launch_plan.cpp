// SPDX-License-Identifier: MIT
#include "core/launch_plan.h"

#include <algorithm>
#include <limits>

namespace occupipe {
namespace {

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t launches_of(const std::vector<PlanStep>& steps) {
    std::uint64_t sum = 0;
    for (const PlanStep& step : steps) {
        std::uint64_t launches = std::holds_alternative<KernelLaunch>(step) ? 1 : 0;
        if (const auto* repeat = std::get_if<RepeatSteps>(&step)) {
            launches = launches_of(repeat->steps);
            launches = launches > most / repeat->times ? most : launches * repeat->times;
        }
        sum = sum > most - launches ? most : sum + launches;
    }
    return sum;
}

}  // namespace

const BufferPlan* LaunchPlan::find_buffer(std::string_view name) const {
    const auto found = std::ranges::find(buffers, name, &BufferPlan::name);
    return found == buffers.end() ? nullptr : &*found;
}

std::uint64_t launch_count(const LaunchPlan& plan) { return launches_of(plan.steps); }

}  // namespace occupipe
