// SPDX-License-Identifier: MIT
#include "core/group_shares.h"

#include <fmt/format.h>

#include <cmath>

namespace occupipe {

std::vector<double> shares_of_groups(const GroupKinds& groups, std::size_t programs) {
    std::vector<double> warps(programs);
    double all = 0;
    for (const GroupKinds::Run& run : groups.order) {
        const auto count = static_cast<double>(run.groups);
        for (const std::int32_t program : groups.kinds[static_cast<std::size_t>(run.kind)]) {
            warps[static_cast<std::size_t>(program)] += count;
            all += count;
        }
    }
    for (double& one : warps) one /= all;
    return warps;
}

std::optional<ShareFault> share_fault(const Kernel& kernel) {
    constexpr double noticed = 1e-5;  // shares are written by hand, thirds as 0.333333
    const std::vector<double> told = shares_of_groups(*kernel.groups, kernel.warps.size());
    for (std::size_t i = 0; i < told.size(); ++i)
        if (std::abs(told[i] - kernel.warps[i].share) > noticed)
            return ShareFault{
                i, fmt::format("entry {} of 'warps' has {}, and by 'groups' {:.6g} of the warps "
                               "run it",
                               i, kernel.warps[i].share, told[i])};
    return std::nullopt;
}

}  // namespace occupipe
