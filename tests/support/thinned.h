// SPDX-License-Identifier: MIT
// The ordinary run takes a part of an exhaustive test's cases; with OCCUPIPE_FULL=1, as in the
// tests that CTest labels `full`, the same program takes all of them:
//
//     for (const Row& row : rows)
//         if (thinned::taken(number++, 0, 8)) check(row);
//
// Random cases move with the date, so that n days take all of them:
//
//     for (std::uint64_t seed : thinned::seeds(1'000, 800, 8)) compare(seed);
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <ranges>

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

// Which part of the seeds this day takes, counted without end; OCCUPIPE_TURN repeats another day's.
// Printed once, so that the log of a failure says how to have it again.
inline std::uint64_t turn() {
    static const std::uint64_t number = [] {
        const char* const wanted = std::getenv("OCCUPIPE_TURN");
        const std::uint64_t of = wanted != nullptr
                                     ? std::strtoull(wanted, nullptr, 10)
                                     : static_cast<std::uint64_t>(std::time(nullptr)) / 86'400;
        std::fprintf(stderr, "random cases: OCCUPIPE_TURN=%llu\n",
                     static_cast<unsigned long long>(of));
        return of;
    }();
    return number;
}

// Of `count` seeds from `first`, this day's share: one of `parts`.
inline auto seeds(std::uint64_t first, std::uint64_t count, std::uint64_t parts) {
    if (all_cases()) return std::views::iota(first, first + count);
    const std::uint64_t begin = first + turn() % parts * (count / parts);
    return std::views::iota(begin, begin + count / parts);
}

}  // namespace occupipe::thinned
