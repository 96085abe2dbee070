// SPDX-License-Identifier: MIT
// The groups of a launch, and what each of their warps runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "core/launch.h"
#include "core/resolved_kernel.h"

namespace occupipe::sim {

// Which program each warp of a group runs. Of n warps, program p gets floor(share·n); the warps
// left over go to the programs with the largest remainders, the first on a tie; the warps of
// program 0 come first, then those of program 1, and so on.
std::vector<int> assign_programs(std::span<const double> shares, int group_warps);
std::vector<int> assign_programs(const Kernel& kernel, int group_warps);

// The groups of a launch. Without Kernel::groups all are of one kind, by assign_programs().
class LaunchGroups {
public:
    // Throws InputError where the kernel's own groups have another size than the launch's.
    LaunchGroups(const ResolvedKernel& kernel, const Launch& launch);
    LaunchGroups(const Kernel& kernel, const Launch& launch);

    const std::vector<std::vector<std::int32_t>>& kinds() const { return kinds_; }
    bool alike() const { return kinds_.size() == 1; }
    std::int32_t kind_of(std::int64_t group) const;  // into kinds()
    // Of groups begin … end − 1, by kind.
    std::vector<double> kind_counts(std::int64_t begin, std::int64_t end) const;
    std::vector<double> kind_shares() const;     // of the launch's groups
    std::vector<double> program_shares() const;  // of the launch's warps, by Kernel::warps

private:
    LaunchGroups(const std::string& kernel, std::span<const double> shares,
                 const std::optional<GroupKinds>& groups, const Launch& launch);

    std::vector<std::vector<std::int32_t>> kinds_;  // those that the launch has
    std::vector<std::int32_t> kind_;                // by run of the order
    std::vector<std::int64_t> end_;                 // by run: behind its last group
    std::int64_t groups_ = 1;                       // of the launch
    std::size_t programs_ = 1;
};

// Throws InputError for shapes that cannot be run.
void validate(const Launch& launch);

}  // namespace occupipe::sim
