// SPDX-License-Identifier: MIT
// Reuse of sectors in caches that allocate lines and fill them sector by sector, for every capacity
// at once; least recently used, fully associative, written back.
//
// A sector is found by a cache of C lines if its line never left the cache since the sector was
// touched: if no touch of the line since then, this one included, came C or more other lines after
// the one before it. The greatest of these distances, plus one, is the capacity that it needs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/memory_use.h"
#include "extract/huge_pages.h"
#include "extract/stack_distance.h"

namespace occupipe::extract {

// Lines of the smallest cache that finds a sector, rounded up to 1 … 16 times a power of two, so
// that a cache is never said to find more than it does; or none: no cache does.
class NeededLines {
public:
    constexpr NeededLines() = default;  // none
    constexpr explicit NeededLines(std::uint64_t lines) : bin_(bin_of(lines)) {}
    static constexpr NeededLines of_bin(std::uint32_t bin) {
        NeededLines needed;
        needed.bin_ = static_cast<std::uint8_t>(bin);
        return needed;
    }

    // Whether a cache of so many lines, itself 1 … 16 times a power of two, finds the sector.
    constexpr bool found_in(std::uint64_t lines) const {
        return bin_ != none && bin_ <= bin_of(lines);
    }
    constexpr std::uint8_t bin() const { return bin_; }

    // Ascends with the lines: 1 … 15, then eight to an octave: 16, 18, … 30, 32, 36, …
    static constexpr std::uint8_t bin_of(std::uint64_t lines) {
        if (lines < 16) return static_cast<std::uint8_t>(lines);
        const int shift = static_cast<int>(std::bit_width(lines)) - 4;
        const std::uint64_t rounded = (lines + (std::uint64_t{1} << shift) - 1) >> shift;  // 8 … 16
        return static_cast<std::uint8_t>(static_cast<std::uint64_t>(shift) * 8 + rounded);
    }
    static double lines_of(std::size_t bin);

    static constexpr std::uint8_t none = 255;  // a bin of more than 2^30 lines

private:
    std::uint8_t bin_ = none;
};

class SectorReuse {
public:
    // Of lines 0 … lines − 1. `earlier`: by line, so many other lines were touched between it and
    // the first touch here, since an earlier touch left it valid; 0 and beyond the last: none did.
    explicit SectorReuse(std::size_t lines, std::vector<std::uint64_t> earlier = {})
        : earlier_(std::move(earlier)), states_(zeros_in_large_pages<State>(lines)) {}

    // Four sectors of a line: bit s of `sectors` for sector s.
    // Calls needed(lines, of) for them all, `of` being those that need so many.
    template <typename Needed>
    [[gnu::always_inline]] void read(std::uint32_t line, std::uint32_t sectors,
                                     const Needed& needed) {
        State& state = touch(line);
        tell(state.valid, sectors, needed);
    }

    // A written sector is valid, and dirty until its line leaves the cache. needed(lines, of): of
    // the smallest cache in which it was dirty already.
    template <typename Needed>
    [[gnu::always_inline]] void write(std::uint32_t line, std::uint32_t sectors,
                                      const Needed& needed) {
        State& state = touch(line);
        tell(state.dirty, sectors, needed);
        state.valid &= ~bytes_of[sectors];
    }

    // Atomic operations: both.
    template <typename Read, typename Written>
    [[gnu::always_inline]] void read_and_write(std::uint32_t line, std::uint32_t sectors,
                                               const Read& read, const Written& written) {
        State& state = touch(line);
        tell(state.valid, sectors, read);
        tell(state.dirty, sectors, written);
    }

    // That this line will be touched some ten references later.
    void expect(std::uint32_t line) const { __builtin_prefetch(&states_[line], 1); }

    // Different ones, of those touched.
    std::uint64_t lines() const { return distances_.names(); }

    // As if nothing had been touched.
    void clear() {
        for (const std::uint32_t line : touched_) states_[line].place = 0;
        touched_.clear();
        distances_.clear();
    }

private:
    static constexpr std::uint32_t each = 0x01010101;
    // A byte for each sector.
    static constexpr std::array<std::uint32_t, 16> bytes_of = [] {
        std::array<std::uint32_t, 16> bytes{};
        for (std::uint32_t sectors = 0; sectors < bytes.size(); ++sectors)
            for (std::uint32_t i = 0; i < 4; ++i)
                bytes[sectors] |= (sectors >> i & 1) * (std::uint32_t{0xFF} << 8 * i);
        return bytes;
    }();
    struct State {
        LastReferences::Place place = 0;
        std::uint32_t valid = 0;  // by sector the bin of the capacity needed by now
        std::uint32_t dirty = 0;
    };

    [[gnu::always_inline]] State& touch(std::uint32_t line) {
        State& state = states_[line];
        if (distances_.full()) renumber();
        if (state.place == 0) {
            touched_.push_back(line);
            std::uint32_t valid = NeededLines::none;
            if (line < earlier_.size() && earlier_[line] > 0)
                valid = NeededLines::bin_of(earlier_[line] + distances_.names());
            state = {.place = distances_.enter(),
                     .valid = valid * each,
                     .dirty = NeededLines::none * each};
            return state;
        }
        raise(state, NeededLines::bin_of(std::uint64_t{distances_.touch(state.place)} + 1));
        return state;
    }

    // No sector of the line needs less than this bin from now on.
    [[gnu::always_inline]] static void raise(State& state, std::uint32_t bin) {
        using Bytes [[gnu::vector_size(8)]] = std::uint8_t;
        const auto bytes =
            std::bit_cast<Bytes>(std::array<std::uint32_t, 2>{state.valid, state.dirty});
        const auto least =
            std::bit_cast<Bytes>(std::array<std::uint32_t, 2>{bin * each, bin * each});
        const auto raised =
            std::bit_cast<std::array<std::uint32_t, 2>>(bytes > least ? bytes : least);
        state.valid = raised[0];
        state.dirty = raised[1];
    }

    template <typename Needed>
    [[gnu::always_inline]] static void tell(std::uint32_t& bytes, std::uint32_t sectors,
                                            const Needed& needed) {
        if (bytes == (bytes & 0xFF) * each) {
            needed(NeededLines::of_bin(bytes & 0xFF), sectors);
        } else {
            for (std::uint32_t i = 0; i < 4; ++i)
                if ((sectors >> i & 1) != 0)
                    needed(NeededLines::of_bin(bytes >> 8 * i & 0xFF), std::uint32_t{1} << i);
        }
        bytes &= ~bytes_of[sectors];
    }

    void renumber() {
        distances_.renumber([&](const auto& of) {
            for (const std::uint32_t line : touched_) of(states_[line].place);
        });
    }

    LastReferences distances_;
    std::vector<std::uint64_t> earlier_;
    std::vector<State> states_;
    std::vector<std::uint32_t> touched_;  // lines, in the order of first touches
};

// How many sectors needed which capacity.
class ReuseCounts {
public:
    ReuseCounts() = default;

    void add(NeededLines lines, std::uint32_t sectors = 1) {
        if (counts_.empty()) counts_.resize(NeededLines::none + std::size_t{1});
        counts_[lines.bin()] += sectors;
    }
    ReuseCounts& operator+=(const ReuseCounts& other);
    ReuseCounts& operator*=(std::uint64_t times);

    std::uint64_t total() const;

    // Points that add less than one part in two hundred are left to the next. `line_bytes`: what
    // one of the counted lines stands for.
    Reuse reuse(double line_bytes) const;

private:
    std::vector<std::uint64_t> counts_;  // by bin; empty: of nothing
};

}  // namespace occupipe::extract
