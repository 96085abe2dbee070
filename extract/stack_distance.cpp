// SPDX-License-Identifier: MIT
#include "extract/stack_distance.h"

#include <algorithm>
#include <array>

#include "core/error.h"
#include "extract/huge_pages.h"

namespace occupipe::extract {
namespace {

constexpr std::size_t fan_out = 16;
constexpr std::size_t least_places = 1024;

// From entry 15 − i on: 16 words, all bits of those after the i-th.
constexpr auto after = [] {
    std::array<std::uint32_t, 2 * fan_out> words{};
    for (std::size_t i = fan_out; i < words.size(); ++i) words[i] = ~std::uint32_t{0};
    return words;
}();

}  // namespace

LastReferences::LastReferences() { make_places(least_places); }

void LastReferences::refuse() { throw InputError("a trace of more than 2^29 different names"); }

void LastReferences::make_places(std::size_t count) {
    end_ = count;
    marked_ = zeros_in_large_pages<std::uint64_t>(count / 64 + 1);  // one past the end
    levels_.clear();
    std::size_t all = 0;
    for (std::size_t nodes = marked_.size(); nodes > 1; nodes = (nodes + fan_out - 1) / fan_out) {
        levels_.push_back(all);
        all += (nodes + fan_out - 1) / fan_out * fan_out;
    }
    counts_ = zeros_in_large_pages<std::uint32_t>(all);
}

void LastReferences::count_word(std::size_t word) {
    const std::uint32_t here = ones(marked_[word]);
    for (const std::size_t level : levels_) {
        counts_[level + word] += here;
        word /= fan_out;
    }
}

void LastReferences::count_unmarked() {
    std::size_t node = unmarked_word_;
    for (const std::size_t level : levels_) {
        counts_[level + node] -= unmarked_;
        node /= fan_out;
    }
    unmarked_ = 0;
}

// Of every level the nodes after the place's own in its block; none is marked after the last place.
std::uint32_t LastReferences::counted_after(Place place) const {
    std::size_t node = place / 64;
    std::uint32_t sum = ones(marked_[node] & ~through(place));
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
    return sum + ones(marked_[next_ / 64]) + here[0] + here[1] + here[2] + here[3];
}

void LastReferences::count_before_words() {
    before_.resize(marked_.size());
    std::uint32_t sum = 1;
    for (std::size_t word = 0; word < marked_.size(); ++word) {
        before_[word] = sum;
        sum += ones(marked_[word]);
    }
}

LastReferences::Place LastReferences::numbered(Place place) const {
    const std::uint64_t earlier = (std::uint64_t{1} << (place % 64)) - 1;
    return before_[place / 64] + ones(marked_[place / 64] & earlier);
}

// The places 1, 2, … are those of the names.
void LastReferences::fill() {
    next_ = names_ + 1;
    std::size_t count = end_;
    while (count < 4 * std::size_t{names_}) count *= 2;
    make_places(count);
    unmarked_ = 0;
    recent_ = 0;
    after_recent_ = names_;
    for (std::size_t word = 0; word <= next_ / 64; ++word) marked_[word] = ~std::uint64_t{0};
    marked_[0] &= ~std::uint64_t{1};
    marked_[next_ / 64] &= (std::uint64_t{1} << (next_ % 64)) - 1;
    for (std::size_t word = 0; word < next_ / 64; ++word) count_word(word);
}

void LastReferences::clear() {
    std::ranges::fill(marked_, 0);
    std::ranges::fill(counts_, 0);
    unmarked_ = 0;
    recent_ = 0;
    after_recent_ = 0;
    next_ = 1;
    names_ = 0;
}

}  // namespace occupipe::extract
