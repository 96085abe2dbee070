// SPDX-License-Identifier: MIT
// The ordinary run takes a part of an exhaustive test's cases; the same test built into a program
// with the label `full` takes all of them.
#pragma once

#include <cstddef>

namespace occupipe::thinned {

#ifdef OCCUPIPE_FULL
inline constexpr bool all_cases = true;
#else
inline constexpr bool all_cases = false;
#endif

// Whether case `number` belongs to part `part` of `parts`. Every case belongs to one of them.
constexpr bool taken(std::size_t number, std::size_t part, std::size_t parts) {
    return all_cases || number % parts == part % parts;
}

}  // namespace occupipe::thinned
