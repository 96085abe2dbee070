// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace occupipe {

// Which share of the warps runs each entry of Kernel::warps, by the kinds of groups and one round
// of their order; sums to 1. Indices must be those of the kernel, kinds and order not empty.
std::vector<double> shares_of_groups(const GroupKinds& groups, std::size_t programs);

// An entry of Kernel::warps whose share is another one than the groups tell: files are refused for
// it. A kernel that is put together may leave its shares, which nobody reads beside groups.
struct ShareFault {
    std::size_t program = 0;
    std::string reason;
};
std::optional<ShareFault> share_fault(const Kernel& kernel);  // with groups

}  // namespace occupipe
