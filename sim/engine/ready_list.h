// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace occupipe::sim {

// The ready heads of one warp for one subsystem, in program order. Mostly short, and what becomes
// ready later mostly stands later in the program.
class ReadyList {
public:
    struct Entry {
        std::int64_t index = 0;  // in program order
        std::int32_t stream = 0;
    };

    bool empty() const { return first_ == entries_.size(); }
    const Entry& front() const { return entries_[first_]; }

    void insert(std::int64_t index, std::int32_t stream) {
        const Entry entry{index, stream};
        if (empty() || entries_.back().index < index) {
            entries_.push_back(entry);
            return;
        }
        const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_);
        const auto at =
            std::lower_bound(begin, entries_.end(), index,
                             [](const Entry& e, std::int64_t value) { return e.index < value; });
        // The shorter side moves.
        if (first_ > 0 && at - begin < entries_.end() - at) {
            std::move(begin, at, begin - 1);
            *(at - 1) = entry;
            --first_;
        } else {
            entries_.insert(at, entry);
        }
    }

    void pop_front() {
        ++first_;
        if (empty()) {
            clear();
        } else if (first_ >= 64 && 2 * first_ >= entries_.size()) {
            entries_.erase(entries_.begin(),
                           entries_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
    }

    void clear() {
        entries_.clear();
        first_ = 0;
    }

private:
    std::vector<Entry> entries_;
    std::size_t first_ = 0;  // those before are gone
};

}  // namespace occupipe::sim
