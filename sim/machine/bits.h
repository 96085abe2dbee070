// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace occupipe::sim {

// The bit of `index` in its word of a set.
constexpr std::uint64_t bit(std::int32_t index) { return std::uint64_t{1} << (index & 63); }

// The lowest member of a set that is not empty. (std::countr_zero also asks whether it is empty.)
inline int lowest_bit(std::uint64_t set) { return __builtin_ctzll(set); }

// Visits the members of a one-word set, lowest first.
template <typename Visit>
void for_each_bit(std::uint64_t set, const Visit& visit) {
    for (; set != 0; set &= set - 1) visit(lowest_bit(set));
}

}  // namespace occupipe::sim
