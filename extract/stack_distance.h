// SPDX-License-Identifier: MIT
// Exact LRU stack distances of a trace of any names: cache lines, sectors, elements.
//   StackDistances s;
//   for (char c : "acdbcegedd") s.touch(c).distance   none none none none 2 none none 1 4 0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace occupipe::extract {

// A fully associative LRU cache of C entries hits exactly the references whose distance is below C,
// for every C at once (Mattson et al. 1970). Time per reference grows with the logarithm of its
// distance; memory is proportional to the different names (50 to 100 bytes each).
class StackDistances {
public:
    struct Touch {
        // Different other names since the last reference to this one; none: the first reference.
        std::optional<std::uint64_t> distance;
        std::uint32_t number = 0;  // of the name: 0, 1, … in the order of first references
    };

    StackDistances();

    // Throws InputError when there are more than 2^29 different names.
    Touch touch(std::uint64_t name);

    // That this name will be touched some ten references later.
    void expect(std::uint64_t name) const;

    std::uint64_t names() const { return names_; }

private:
    struct Entry {
        std::uint64_t name = 0;
        std::uint32_t slot = 0;  // 0: free
        std::uint32_t number = 0;
    };

    std::size_t first_place_of(std::uint64_t name) const;
    std::size_t place_of(std::uint64_t name) const;
    void grow_table();
    std::uint64_t marks_after(std::uint32_t slot) const;
    void mark(std::uint32_t slot);
    void count_word(std::size_t word);
    void unmark(std::uint32_t slot);
    void count_unmarked();
    void make_slots(std::size_t count);
    void compact();
    void fill_slots();

    // Open addressing: a name's last slot. Slots are numbered in the order of references; the last
    // reference to each name is marked.
    std::vector<Entry> table_;
    int table_shift_ = 0;  // of a hash, for the block of eight entries
    std::size_t slots_ = 0;
    std::vector<std::uint64_t> marked_;  // a bit per slot
    // Marks in words, in 16 words, in 256, …: one level after the other, in blocks of 16.
    std::vector<std::uint32_t> counts_;
    std::vector<std::size_t> levels_;  // where each begins
    // Unmarked in one word and counted as marked still: loops unmark a word's slots one by one.
    std::size_t unmarked_word_ = 0;
    std::uint32_t unmarked_ = 0;
    std::uint32_t next_ = 1;  // slot of the next reference
    std::uint64_t names_ = 0;
};

}  // namespace occupipe::extract
