// SPDX-License-Identifier: MIT
// Which of up to 64 warps is due first: buckets of equal width, a set of warps in each.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "sim/machine/bits.h"

namespace occupipe::sim {

class WakeTimes {
public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    // Fastest where no warp is put in later than `longest` after the present time, and that is
    // fewer ticks than there are buckets.
    explicit WakeTimes(std::int64_t longest) {
        while ((longest >> shift_) > buckets - 2) ++shift_;
    }

    std::int64_t next() const { return next_; }  // never: none is in

    // `time` > `now`; neither `now` nor what take() returned goes back.
    void put(std::int32_t warp, std::int64_t time, std::int64_t now) {
        time_[warp] = time;
        if (time < next_) next_ = time;
        if ((time >> shift_) - (now >> shift_) < buckets) [[likely]]
            put_near(warp, time);
        else
            far_ |= bit(warp);
    }

    // Takes out those that are due at next(): a set.
    std::uint64_t take() {
        const std::int64_t now = next_;
        const std::int64_t bucket = (now >> shift_) & (buckets - 1);
        std::uint64_t due = set_[bucket];
        if (shift_ != 0) due = due_among(due, now);
        set_[bucket] &= ~due;
        if (set_[bucket] == 0) {
            std::uint64_t& word = filled_[bucket >> 6];
            word &= ~bit(static_cast<std::int32_t>(bucket));
            if (word == 0) filled_words_ &= ~(std::uint32_t{1} << (bucket >> 6));
        }
        if (far_ != 0) [[unlikely]] {
            const std::uint64_t also = due_among(far_, now);
            due |= also;
            far_ &= ~also;
        }
        find_next(now);
        return due;
    }

    void clear() {
        set_ = {};
        filled_ = {};
        filled_words_ = 0;
        far_ = 0;
        next_ = never;
    }

private:
    static constexpr std::int64_t words = 32;
    static constexpr std::int64_t buckets = 64 * words;

    void put_near(std::int32_t warp, std::int64_t time) {
        const std::int64_t bucket = (time >> shift_) & (buckets - 1);
        set_[bucket] |= bit(warp);
        filled_[bucket >> 6] |= bit(static_cast<std::int32_t>(bucket));
        filled_words_ |= std::uint32_t{1} << (bucket >> 6);
    }

    std::uint64_t due_among(std::uint64_t set, std::int64_t now) const {
        std::uint64_t due = 0;
        for_each_bit(set, [&](int warp) {
            if (time_[warp] == now) due |= bit(warp);
        });
        return due;
    }

    std::int64_t least_of(std::uint64_t set) const {
        std::int64_t least = never;
        for_each_bit(set, [&](int warp) { least = time_[warp] < least ? time_[warp] : least; });
        return least;
    }

    // All that are in are later than `now`, those in buckets by less than one round of them.
    void find_next(std::int64_t now) {
        if (far_ != 0) [[unlikely]]
            bring_near(now);
        if (filled_words_ == 0) {
            next_ = least_of(far_);
            return;
        }
        const std::int64_t first = (now >> shift_) & (buckets - 1);
        std::int64_t word = first >> 6;
        std::uint64_t found = filled_[word] & (~std::uint64_t{0} << (first & 63));
        if (found == 0) {
            const auto start = static_cast<int>(word) + 1;
            word = (start + std::countr_zero(std::rotr(filled_words_, start))) & (words - 1);
            found = filled_[word];
        }
        const std::int64_t bucket = 64 * word + lowest_bit(found);
        if (shift_ == 0)
            next_ = now + ((bucket - first) & (buckets - 1));
        else
            next_ = least_of(set_[bucket]);
    }

    void bring_near(std::int64_t now) {
        for_each_bit(far_, [&](int warp) {
            if ((time_[warp] >> shift_) - (now >> shift_) >= buckets) return;
            far_ &= ~bit(warp);
            put_near(warp, time_[warp]);
        });
    }

    int shift_ = 0;  // a bucket is 2^shift ticks wide
    std::int64_t next_ = never;
    std::uint64_t far_ = 0;           // due after more than one round
    std::uint32_t filled_words_ = 0;  // of `filled_`
    std::array<std::uint64_t, words> filled_{};
    std::array<std::int64_t, 64> time_{};       // per warp
    std::array<std::uint64_t, buckets> set_{};  // per bucket
};

}  // namespace occupipe::sim
