// SPDX-License-Identifier: MIT
// Operations of a stretch of code whose levels follow from what went into it: as long as that stays
// the same, so do they, and they are counted as one. Memory of the pass (instrument.cpp):
//   count, operations n | leaves m << 32, n times {level | tree << 32, single}, m leaves
#pragma once

#include "memory.h"
#include "tree.h"

namespace {

u64* pattern_words;
u64 pattern_total;  // words

// What has been counted as one goes to its levels.
COLD void spread(u64* pattern) {
    const u64 times = pattern[0];
    if (times == 0) return;
    pattern[0] = 0;
    const u32 n = static_cast<u32>(pattern[1]);
    for (u32 i = 0; i < n; ++i) {
        const u64 levels = pattern[2 + 2 * i];
        const u64 single = pattern[3 + 2 * i];
        as_written.count_many(static_cast<u32>(levels), single, times);
        if (occupipe_match_trees)
            with_trees.count_many(static_cast<u32>(levels >> 32), single, times);
    }
}

COLD void spread_all() {
    for (u64 at = 0; at < pattern_total;) {
        u64* const pattern = pattern_words + at;
        spread(pattern);
        at += 2 + 2 * (pattern[1] & 0xFFFFFFFF) + (pattern[1] >> 32);
    }
}

}  // namespace
