// SPDX-License-Identifier: MIT
#include "extract/stack_distance.h"

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace occupipe::extract {
namespace {

constexpr std::size_t fan_out = 16;
constexpr std::uint64_t most_names = std::uint64_t{1} << 29;

std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 32;
    value *= 0x9E3779B97F4A7C15;
    return value ^ (value >> 29);
}

// Without the processor's own instruction, which is not in every x86-64, a call would cost more.
std::uint64_t ones(std::uint64_t word) {
    word -= (word >> 1) & 0x5555555555555555;
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F;
    return (word * 0x0101010101010101) >> 56;
}

}  // namespace

StackDistances::StackDistances() : table_(256) { make_slots(1024); }

std::size_t StackDistances::place_of(std::uint64_t name) const {
    const std::size_t last = table_.size() - 1;
    // Names that lie side by side stand side by side, since traces often go through them in order.
    const std::uint64_t block = mixed(name / 8);
    std::size_t place = ((block * 8) | ((name ^ (block >> 40)) % 8)) & last;
    while (table_[place].slot != 0 && table_[place].name != name) place = (place + 1) & last;
    return place;
}

void StackDistances::grow_table() {
    std::vector<Entry> old(table_.size() * 2);
    std::swap(old, table_);
    for (const Entry& entry : old) {
        if (entry.slot == 0) continue;
        const std::size_t place = place_of(entry.name);
        table_[place] = entry;
        place_of_slot_[entry.slot] = static_cast<std::uint32_t>(place);
    }
}

void StackDistances::make_slots(std::size_t count) {
    place_of_slot_.assign(count, 0);
    marked_.assign(count / 64 + 1, 0);  // one past the end
    counts_.clear();
    for (std::size_t nodes = marked_.size(); nodes > 1; nodes = (nodes + fan_out - 1) / fan_out)
        counts_.emplace_back((nodes + fan_out - 1) / fan_out * fan_out, 0);
}

// The counts learn of a word when it is full.
void StackDistances::mark(std::uint32_t slot) {
    const std::size_t word = slot / 64;
    marked_[word] |= std::uint64_t{1} << (slot % 64);
    if (slot % 64 == 63) count_word(word);
}

void StackDistances::count_word(std::size_t word) {
    const auto here = static_cast<std::uint32_t>(ones(marked_[word]));
    for (auto& level : counts_) {
        level[word] += here;
        word /= fan_out;
    }
}

void StackDistances::unmark(std::uint32_t slot) {
    std::size_t node = slot / 64;
    marked_[node] &= ~(std::uint64_t{1} << (slot % 64));
    if (node == next_ / 64) return;
    for (auto& level : counts_) {
        --level[node];
        node /= fan_out;
    }
}

std::uint64_t StackDistances::marks_after(std::uint32_t slot) const {
    std::size_t node = slot / 64;
    std::size_t end = next_ / 64;
    std::uint64_t sum = ones(marked_[node] >> (slot % 64) >> 1);
    if (node == end) return sum;
    sum += ones(marked_[end]);  // not counted yet
    for (const auto& level : counts_) {
        const std::size_t last = std::min(node | (fan_out - 1), end);
        std::uint32_t here = 0;
        for (std::size_t i = node + 1; i <= last; ++i) here += level[i];
        sum += here;
        node /= fan_out;
        end /= fan_out;
        if (node == end) break;
    }
    return sum;
}

// Gives the marked slots new numbers from 1 on, in their order.
void StackDistances::compact() {
    std::vector<std::uint32_t> places;
    places.reserve(names_);
    for (std::size_t word = 0; word < marked_.size(); ++word) {
        for (std::uint64_t rest = marked_[word]; rest != 0; rest &= rest - 1) {
            const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(rest));
            places.push_back(place_of_slot_[slot]);
        }
    }
    std::size_t count = place_of_slot_.size();
    while (count < 4 * places.size()) count *= 2;
    make_slots(count);
    next_ = 1;
    for (const std::uint32_t place : places) {
        table_[place].slot = next_;
        place_of_slot_[next_] = place;
        marked_[next_ / 64] |= std::uint64_t{1} << (next_ % 64);
        ++next_;
    }
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
    if (next_ == place_of_slot_.size()) compact();
    table_[place].slot = next_;
    place_of_slot_[next_] = static_cast<std::uint32_t>(place);
    mark(next_++);
    return touch;
}

}  // namespace occupipe::extract
