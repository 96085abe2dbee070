// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace occupipe::sim {

struct CompletionEvent {
    std::int64_t time = 0;  // [ticks]
    std::int32_t warp = 0;
    std::int32_t stream = 0;  // of the warp's program

    bool operator==(const CompletionEvent&) const = default;
};

// Events of non-decreasing time, first in, first out. Allocates only when it outgrows itself: what
// is in flight is bounded by latency over issue spacing.
class CompletionQueue {
public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    CompletionQueue() { end(); }

    // The first event's; `never` when empty.
    std::int64_t next_time() const { return ring_[head_ & mask_].time; }
    std::size_t size() const { return tail_ - head_; }
    std::int64_t last_time() const { return ring_[(tail_ - 1) & mask_].time; }  // not empty
    const CompletionEvent& at(std::size_t i) const { return ring_[(head_ + i) & mask_]; }

    void push(const CompletionEvent& event) {
        if (tail_ - head_ == mask_) grow();
        ring_[tail_++ & mask_] = event;
        end();
    }

    CompletionEvent pop() { return ring_[head_++ & mask_]; }

    void shift(std::int64_t ticks) {
        for (std::size_t i = head_; i != tail_; ++i) ring_[i & mask_].time += ticks;
    }

    // Drops the events of warps [first, last).
    void remove_warps(std::int32_t first, std::int32_t last) {
        const std::size_t end_before = tail_;
        tail_ = head_;
        for (std::size_t i = head_; i != end_before; ++i) {
            const CompletionEvent& event = ring_[i & mask_];
            if (event.warp < first || event.warp >= last) ring_[tail_++ & mask_] = event;
        }
        end();
    }

private:
    // Marks the place behind the last event.
    void end() { ring_[tail_ & mask_].time = never; }

    void grow() {
        std::vector<CompletionEvent> larger(2 * ring_.size());
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = at(i);
        ring_ = std::move(larger);
        mask_ = ring_.size() - 1;
        head_ = 0;
        tail_ = count;
    }

    std::vector<CompletionEvent> ring_ = std::vector<CompletionEvent>(64);
    std::size_t mask_ = 63;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

}  // namespace occupipe::sim
