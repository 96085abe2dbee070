// SPDX-License-Identifier: MIT
// How far a launch may walk through a table beyond the caches before it comes to a line again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {

// Iterations of the untimed pass on a GPU, or as many as the timed pass has, if these are fewer.
inline constexpr int untimed_iterations = 2;

// Iterations of the timed pass in which `warps` warps, each in its share of the table, touch no
// line twice, those of the untimed pass included: what is read again may come from a cache, how
// much of it only its replacement knows. nullopt where that does not matter: no walk, a table that
// the cache holds, rows that stay in a line, and curves over working sets, which are about coming
// back.
std::optional<std::int64_t> most_fresh_iterations(const KernelPlan& plan, const TableSizes& tables,
                                                  std::int64_t warps);

// Shortens the loop's body and the depths of a walk until no line is touched twice; false where not
// even a short one fits.
bool keep_to_fresh_lines(KernelPlan& plan, std::array<std::int64_t, 3>& depths,
                         const TableSizes& tables, std::int64_t warps);

}  // namespace occupipe::bench
