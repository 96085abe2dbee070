// SPDX-License-Identifier: MIT
// One cache of a known size whose lines a hash assigns to sets, each with so many ways and the
// least recently used line of a set replaced. Lines are allocated and filled sector by sector, and
// written back. Like SectorReuse, which is every fully associative cache at once.
//   SetCache cache(/*lines=*/512, /*ways=*/4, /*seed=*/1);
//   cache.read(line, 0b0011, [](NeededLines found, std::uint32_t of) { … });   1: found; none: not
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/buffer_fill.h"
#include "extract/sector_reuse.h"

namespace occupipe::extract {

class SetCache {
public:
    // As many whole sets as fit into `lines`; one smaller set where not even one fits; nothing is
    // ever found in 0 lines.
    SetCache(std::uint64_t lines, int ways, std::uint64_t seed)
        : ways_(std::min(static_cast<std::uint64_t>(ways), lines)),
          sets_(ways_ == 0 ? 0 : lines / ways_),
          seed_(seed) {
        if (ways < 1) throw std::invalid_argument("a set has at least one way");
        entries_.resize(sets_ * ways_);
    }

    template <typename Needed>
    void read(std::uint64_t line, std::uint32_t sectors, const Needed& needed) {
        Entry& entry = touch(line);
        tell(entry.valid, sectors, needed);
        entry.valid |= sectors;
    }

    template <typename Needed>
    void write(std::uint64_t line, std::uint32_t sectors, const Needed& needed) {
        Entry& entry = touch(line);
        tell(entry.dirty, sectors, needed);
        entry.valid |= sectors;
        entry.dirty |= sectors;
    }

    template <typename Read, typename Written>
    void read_and_write(std::uint64_t line, std::uint32_t sectors, const Read& read,
                        const Written& written) {
        Entry& entry = touch(line);
        tell(entry.valid, sectors, read);
        tell(entry.dirty, sectors, written);
        entry.valid |= sectors;
        entry.dirty |= sectors;
    }

    std::uint64_t sets() const { return sets_; }

private:
    struct Entry {
        std::uint64_t line = 0;
        std::uint32_t valid = 0;  // sectors; none: the entry is free
        std::uint32_t dirty = 0;
    };

    // Most recently used first in its set; a line that was not there has no sectors.
    Entry& touch(std::uint64_t line) {
        if (sets_ == 0) return nowhere_ = {};
        Entry* const set = entries_.data() + random_bits(seed_, line) % sets_ * ways_;
        Entry* at = set;
        while (at != set + ways_ - 1 && (at->line != line || at->valid == 0)) ++at;
        const bool found = at->line == line && at->valid != 0;
        const Entry entry = found ? *at : Entry{.line = line};
        std::move_backward(set, at, at + 1);
        return *set = entry;
    }

    template <typename Needed>
    static void tell(std::uint32_t has, std::uint32_t sectors, const Needed& needed) {
        if ((has & sectors) != 0) needed(NeededLines(1), has & sectors);
        if ((sectors & ~has) != 0) needed(NeededLines(), sectors & ~has);
    }

    std::uint64_t ways_, sets_, seed_;
    std::vector<Entry> entries_;
    Entry nowhere_;
};

}  // namespace occupipe::extract
