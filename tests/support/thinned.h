// SPDX-License-Identifier: MIT
// The ordinary run takes a part of an exhaustive test's cases; with OCCUPIPE_FULL=1, as in the
// tests that CTest labels `full`, the same program takes all of them:
//
//     for (const Row& row : rows)
//         if (thinned::taken(number++, 0, 8)) check(row);
#pragma once

#include <cstddef>
#include <cstdlib>

namespace occupipe::thinned {

// Whether this run takes all cases.
inline bool all_cases() {
    static const bool all = std::getenv("OCCUPIPE_FULL") != nullptr;
    return all;
}

// Whether case `number` belongs to part `part` of `parts`. Every case belongs to one of them.
inline bool taken(std::size_t number, std::size_t part, std::size_t parts) {
    return all_cases() || number % parts == part % parts;
}

// Of `number` cases in a full run, how many an ordinary one takes.
inline unsigned share(unsigned number, unsigned parts) {
    return all_cases() ? number : number / parts;
}

}  // namespace occupipe::thinned
