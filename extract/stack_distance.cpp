// SPDX-License-Identifier: MIT
#include "extract/stack_distance.h"

#include <array>

#include "core/error.h"
#include "extract/huge_pages.h"

namespace occupipe::extract {
namespace {

constexpr std::size_t fan_out = 16;
constexpr std::size_t side_by_side = 8;
constexpr std::uint64_t most_names = std::uint64_t{1} << 29;

// All upper bits depend on all bits of the value.
std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 32;
    return value * 0x9E3779B97F4A7C15;
}

// Without the processor's own instruction, which is not in every x86-64, a call would cost more.
std::uint64_t ones(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555;
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return (word * 0x0101010101010101) >> 56;
}

// From entry 15 − i on: 16 words, all bits of those after the i-th.
constexpr auto after = [] {
    std::array<std::uint32_t, 2 * fan_out> words{};
    for (std::size_t i = fan_out; i < words.size(); ++i) words[i] = ~std::uint32_t{0};
    return words;
}();

}  // namespace

StackDistances::StackDistances() : table_(256), table_shift_(64 - 5) { make_slots(1024); }

// Names that lie side by side stand side by side, since traces often go through them in order.
// Upper bits of the hash choose, so that a larger table has its names in the same order.
std::size_t StackDistances::first_place_of(std::uint64_t name) const {
    const std::uint64_t hash = mixed(name / side_by_side);
    return (hash >> table_shift_) * side_by_side | ((name ^ (hash >> 24)) % side_by_side);
}

std::size_t StackDistances::place_of(std::uint64_t name) const {
    const std::size_t last = table_.size() - 1;
    std::size_t place = first_place_of(name);
    while (table_[place].slot != 0 && table_[place].name != name) place = (place + 1) & last;
    return place;
}

void StackDistances::expect(std::uint64_t name) const {
    __builtin_prefetch(&table_[first_place_of(name)], 1);
}

void StackDistances::grow_table() {
    std::vector<Entry> old = zeros_in_large_pages<Entry>(table_.size() * 2);
    --table_shift_;
    std::swap(old, table_);
    for (const Entry& entry : old)
        if (entry.slot != 0) table_[place_of(entry.name)] = entry;
}

void StackDistances::make_slots(std::size_t count) {
    slots_ = count;
    marked_ = zeros_in_large_pages<std::uint64_t>(count / 64 + 1);  // one past the end
    levels_.clear();
    std::size_t all = 0;
    for (std::size_t nodes = marked_.size(); nodes > 1; nodes = (nodes + fan_out - 1) / fan_out) {
        levels_.push_back(all);
        all += (nodes + fan_out - 1) / fan_out * fan_out;
    }
    counts_ = zeros_in_large_pages<std::uint32_t>(all);
}

// The counts learn of a word when it is full.
void StackDistances::mark(std::uint32_t slot) {
    const std::size_t word = slot / 64;
    marked_[word] |= std::uint64_t{1} << (slot % 64);
    if (slot % 64 == 63) count_word(word);
}

void StackDistances::count_word(std::size_t word) {
    const auto here = static_cast<std::uint32_t>(ones(marked_[word]));
    for (const std::size_t level : levels_) {
        counts_[level + word] += here;
        word /= fan_out;
    }
}

void StackDistances::unmark(std::uint32_t slot) {
    const std::size_t word = slot / 64;
    marked_[word] &= ~(std::uint64_t{1} << (slot % 64));
    if (word == next_ / 64) return;
    if (word != unmarked_word_) {
        count_unmarked();
        unmarked_word_ = word;
    }
    ++unmarked_;
}

void StackDistances::count_unmarked() {
    std::size_t node = unmarked_word_;
    for (const std::size_t level : levels_) {
        counts_[level + node] -= unmarked_;
        node /= fan_out;
    }
    unmarked_ = 0;
}

// Of every level the nodes after the slot's own in its block; none is marked after the last slot.
std::uint64_t StackDistances::marks_after(std::uint32_t slot) const {
    std::size_t node = slot / 64;
    const std::size_t end = next_ / 64;
    std::uint64_t sum = ones(marked_[node] >> (slot % 64) >> 1);
    if (node == end) return sum;
    sum -= unmarked_word_ > node ? unmarked_ : 0;
    std::array<std::uint32_t, 4> here{};
    for (const std::size_t level : levels_) {
        const std::uint32_t* const block = counts_.data() + level + node / fan_out * fan_out;
        const std::uint32_t* const of = after.data() + (fan_out - 1 - node % fan_out);
        for (std::size_t i = 0; i < fan_out; i += here.size())
            for (std::size_t j = 0; j < here.size(); ++j) here[j] += block[i + j] & of[i + j];
        node /= fan_out;
    }
    // The last word is not counted yet.
    return sum + ones(marked_[end]) + here[0] + here[1] + here[2] + here[3];
}

// Gives the marked slots new numbers from 1 on, in their order.
void StackDistances::compact() {
    if (next_ == names_) {  // they have them, all but a new name
        fill_slots();
        return;
    }
    std::vector<std::uint32_t> before(marked_.size());  // marks in the words before
    std::uint32_t sum = 1;
    for (std::size_t word = 0; word < marked_.size(); ++word) {
        before[word] = sum;
        sum += static_cast<std::uint32_t>(ones(marked_[word]));
    }
    for (Entry& entry : table_) {
        if (entry.slot == 0) continue;
        const std::uint64_t lower = (std::uint64_t{1} << (entry.slot % 64)) - 1;
        entry.slot = before[entry.slot / 64] +
                     static_cast<std::uint32_t>(ones(marked_[entry.slot / 64] & lower));
    }
    next_ = sum;
    fill_slots();
}

// All slots before the next one are marked.
void StackDistances::fill_slots() {
    std::size_t count = slots_;
    while (count < 4 * names_) count *= 2;
    make_slots(count);
    unmarked_ = 0;
    for (std::size_t word = 0; word <= next_ / 64; ++word) marked_[word] = ~std::uint64_t{0};
    marked_[0] &= ~std::uint64_t{1};
    marked_[next_ / 64] &= (std::uint64_t{1} << (next_ % 64)) - 1;
    for (std::size_t word = 0; word < next_ / 64; ++word) count_word(word);
}

StackDistances::Touch StackDistances::touch(std::uint64_t name) {
    std::size_t place = place_of(name);
    Touch touch;
    if (Entry& entry = table_[place]; entry.slot != 0) {
        touch.number = entry.number;
        if (entry.slot == next_ - 1) {
            touch.distance = 0;
            return touch;
        }
        touch.distance = marks_after(entry.slot);
        unmark(entry.slot);
    } else {
        if (names_ == most_names) throw InputError("a trace of more than 2^29 different names");
        if (names_ >= table_.size() / 2) {
            grow_table();
            place = place_of(name);
        }
        touch.number = static_cast<std::uint32_t>(names_++);
        table_[place] = {.name = name, .number = touch.number};
    }
    if (next_ == slots_) compact();
    table_[place].slot = next_;
    mark(next_++);
    return touch;
}

}  // namespace occupipe::extract
