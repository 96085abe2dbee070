// SPDX-License-Identifier: MIT
// Exact LRU stack distances of a trace of any names: cache lines, sectors, elements.
//   LastReferences order;
//   auto a = order.enter(), b = order.enter();   a b
//   order.touch(a)   1                           a b a
//   order.touch(a)   0                           a b a a
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace occupipe::extract {

// The last references to all names in the order of time: how many are later than a name's own is
// the number of other names that were referred to since.
//
// A fully associative LRU cache of C entries hits exactly the references whose distance is below C,
// for every C at once (Mattson et al. 1970). Names keep their place themselves.
// Places are bits in words; a reference marks the next bit and unmarks its name's former one. Time
// per reference: next to the place of the reference before it, or to the latest, a few words are
// counted; elsewhere it grows with the logarithm of the number of names.
class LastReferences {
public:
    using Place = std::uint32_t;  // 0: of no name

    LastReferences();

    // A name's first reference: its place. Throws InputError when there are more than 2^29 names.
    // Not when full().
    [[gnu::always_inline]] Place enter() {
        if (names_ == most_names) refuse();
        ++names_;
        const Place place = next_;
        mark_next();
        return place;
    }

    // How many other names were referred to since; the place becomes the latest. Not when full().
    [[gnu::always_inline]] std::uint32_t touch(Place& place) {
        const Place at = place;
        if (at == next_ - 1) return 0;
        const std::uint32_t distance = later_than(at);
        recent_ = at;
        after_recent_ = distance;
        unmark(at);
        place = next_;
        mark_next();
        return distance;
    }

    std::uint32_t names() const { return names_; }

    // No place is left: the next call has to be renumber.
    bool full() const { return next_ == end_; }

    // places(of) calls of(place) once with the place of each name.
    template <typename Places>
    void renumber(const Places& places) {
        if (next_ != names_ + 1) {
            count_before_words();
            places([this](Place& place) { place = numbered(place); });
        }
        fill();
    }

    // Forgets all names.
    void clear();

private:
    static constexpr std::uint32_t most_names = std::uint32_t{1} << 29;

    // Without the processor's own instruction, which is not in every x86-64, a call would cost
    // more.
    static std::uint32_t ones(std::uint64_t word) {
        word -= (word >> 1) & 0x5555555555555555;
        word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
        word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
        return static_cast<std::uint32_t>((word * 0x0101010101010101) >> 56);
    }

    // Bits up to this place's own, in its word.
    [[gnu::always_inline]] static std::uint64_t through(Place place) {
        return (std::uint64_t{2} << (place % 64)) - 1;
    }

    // A word's counts learn of its marks when it is full.
    [[gnu::always_inline]] void mark_next() {
        const std::size_t word = next_ / 64;
        marked_[word] |= std::uint64_t{1} << (next_ % 64);
        ++after_recent_;
        if (++next_ % 64 == 0) count_word(word);
    }

    [[gnu::always_inline]] void unmark(Place place) {
        const std::size_t word = place / 64;
        marked_[word] &= ~(std::uint64_t{1} << (place % 64));
        if (word == next_ / 64) return;
        if (word != unmarked_word_) {
            count_unmarked();
            unmarked_word_ = word;
        }
        ++unmarked_;
    }

    // Marks later than this place, which is marked and not the latest.
    [[gnu::always_inline]] std::uint32_t later_than(Place place) const {
        if (place == recent_ + 1) return after_recent_ - 1;
        const std::size_t word = place / 64, recent = recent_ / 64;
        if (word == recent) {
            if (place > recent_)
                return after_recent_ - ones(marked_[word] & through(place) & ~through(recent_));
            return after_recent_ + ones(marked_[word] & through(recent_) & ~through(place));
        }
        if (word == recent + 1)
            return after_recent_ - ones(marked_[recent] & ~through(recent_)) -
                   ones(marked_[word] & through(place));
        const std::size_t last = next_ / 64;
        if (last - word > few_words) return counted_after(place);
        std::uint32_t sum = ones(marked_[word] & ~through(place));
        for (std::size_t i = word + 1; i <= last; ++i) sum += ones(marked_[i]);
        return sum;
    }

    // So many words are counted one by one in place of a walk through the levels.
    static constexpr std::size_t few_words = 4;

    [[noreturn]] static void refuse();
    std::uint32_t counted_after(Place place) const;
    void count_word(std::size_t word);
    void count_unmarked();
    void make_places(std::size_t count);
    void count_before_words();
    Place numbered(Place place) const;
    void fill();

    std::size_t end_ = 0;                // of the places
    std::vector<std::uint64_t> marked_;  // a bit per place
    // Marks in words, in 16 words, in 256, …: one level after the other, in blocks of 16.
    std::vector<std::uint32_t> counts_;
    std::vector<std::size_t> levels_;  // where each begins
    // Unmarked in one word and counted as marked still: loops unmark a word's places one by one.
    std::size_t unmarked_word_ = 0;
    std::uint32_t unmarked_ = 0;
    // The place that the latest touch left, and the marks that are later than it.
    Place recent_ = 0;
    std::uint32_t after_recent_ = 0;
    Place next_ = 1;  // of the next reference
    std::uint32_t names_ = 0;
    std::vector<std::uint32_t> before_;  // marks in the words before, while names are renumbered
};

}  // namespace occupipe::extract
