// SPDX-License-Identifier: MIT
// Reuse of sectors in caches that allocate lines and fill them sector by sector, for every capacity
// at once; least recently used, fully associative, written back.
//
// A sector is found by a cache of C lines if its line never left the cache since the sector was
// touched: if no touch of the line since then, this one included, came C or more other lines after
// the one before it. The greatest of these distances, plus one, is the capacity that it needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/memory_use.h"
#include "extract/stack_distance.h"

namespace occupipe::extract {

// Lines of the smallest cache that finds a sector; none: no cache does.
using NeededLines = std::optional<std::uint64_t>;

class SectorReuse {
public:
    // Four sectors of a line: bit s of `sectors` for sector s.
    // Calls needed(lines) for each of them.
    template <typename Needed>
    void read(std::uint64_t line, std::uint32_t sectors, const Needed& needed) {
        State& state = touch(line);
        for_each(state.valid, sectors, needed);
    }

    // A written sector is valid, and dirty until its line leaves the cache. needed(lines): of the
    // smallest cache in which it was dirty already.
    template <typename Needed>
    void write(std::uint64_t line, std::uint32_t sectors, const Needed& needed) {
        State& state = touch(line);
        for_each(state.dirty, sectors, needed);
        for_each(state.valid, sectors, [](const NeededLines&) {});
    }

    // Atomic operations: both.
    template <typename Read, typename Written>
    void read_and_write(std::uint64_t line, std::uint32_t sectors, const Read& read,
                        const Written& written) {
        State& state = touch(line);
        for_each(state.valid, sectors, read);
        for_each(state.dirty, sectors, written);
    }

    // That this line will be touched some ten references later.
    void expect(std::uint64_t line) const { distances_.expect(line); }

    std::uint64_t lines() const { return distances_.names(); }

private:
    static constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
    using OfSectors = std::array<std::uint32_t, 4>;  // capacity needed by now
    struct State {
        OfSectors valid{never, never, never, never};
        OfSectors dirty{never, never, never, never};
    };

    State& touch(std::uint64_t line) {
        const StackDistances::Touch touch = distances_.touch(line);
        if (!touch.distance) return states_.emplace_back();
        State& state = states_[touch.number];
        const auto lines = static_cast<std::uint32_t>(*touch.distance + 1);
        for (std::uint32_t& needed : state.valid) needed = std::max(needed, lines);
        for (std::uint32_t& needed : state.dirty) needed = std::max(needed, lines);
        return state;
    }

    template <typename Needed>
    static void for_each(OfSectors& of_sectors, std::uint32_t sectors, const Needed& needed) {
        for (std::size_t i = 0; i < of_sectors.size(); ++i) {
            if ((sectors >> i & 1) == 0) continue;
            needed(of_sectors[i] == never ? NeededLines{} : NeededLines{of_sectors[i]});
            of_sectors[i] = 0;
        }
    }

    StackDistances distances_;
    std::vector<State> states_;  // by number of the line
};

// How many sectors needed which capacity.
class ReuseCounts {
public:
    void add(const NeededLines& lines) {
        ++total_;
        if (lines) ++counts_[bin(*lines)];
    }
    ReuseCounts& operator+=(const ReuseCounts& other);

    std::uint64_t total() const { return total_; }

    // Capacities are rounded up to 1 … 16 lines times a power of two, so that a cache is never said
    // to find more than it does. Points that add less than one part in two hundred are left to the
    // next. `line_bytes`: what one of the counted lines stands for.
    Reuse reuse(double line_bytes) const;

private:
    static std::size_t bin(std::uint64_t lines);
    static double lines_of(std::size_t bin);

    std::array<std::uint64_t, 8 * 64> counts_{};
    std::uint64_t total_ = 0;
};

}  // namespace occupipe::extract
