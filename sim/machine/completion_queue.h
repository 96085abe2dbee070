// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace occupipe::sim {

struct UserEdge;  // core_layout.h

struct CompletionEvent {
    std::int64_t time = 0;  // [ticks]
    std::int32_t warp = 0;
    std::int32_t stream = 0;  // of the warp's program
    // Who may wait for it: a part of ProgramLayout::users.
    const UserEdge* first_user = nullptr;
    const UserEdge* last_user = nullptr;

    bool operator==(const CompletionEvent&) const = default;
};

// Events of non-decreasing time, first in, first out. Allocates only when it outgrows itself: what
// is in flight is bounded by latency over issue spacing.
class CompletionQueue {
public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    CompletionQueue() : ring_(64) { ring_[0].time = never; }

    // The first event's; `never` when empty.
    std::int64_t next_time() const { return ring_[head_].time; }
    std::size_t size() const { return (tail_ - head_) & mask_; }
    std::int64_t last_time() const { return ring_[(tail_ - 1) & mask_].time; }  // not empty
    const CompletionEvent& at(std::size_t i) const { return ring_[(head_ + i) & mask_]; }

    void push(const CompletionEvent& event) {
        if (((tail_ + 1) & mask_) == head_) grow();
        ring_[tail_] = event;
        tail_ = (tail_ + 1) & mask_;
        ring_[tail_].time = never;
    }

    const CompletionEvent& pop() {
        const CompletionEvent& event = ring_[head_];
        head_ = (head_ + 1) & mask_;
        return event;
    }

    void shift(std::int64_t ticks) {
        for (std::size_t i = head_; i != tail_; i = (i + 1) & mask_) ring_[i].time += ticks;
    }

    // Drops the events of warps [first, last).
    void remove_warps(std::int32_t first, std::int32_t last) {
        const std::size_t end = tail_;
        tail_ = head_;
        for (std::size_t i = head_; i != end; i = (i + 1) & mask_) {
            const CompletionEvent event = ring_[i];
            if (event.warp >= first && event.warp < last) continue;
            ring_[tail_] = event;
            tail_ = (tail_ + 1) & mask_;
        }
        ring_[tail_].time = never;
    }

private:
    void grow() {
        std::vector<CompletionEvent> larger(2 * ring_.size());
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = at(i);
        ring_ = std::move(larger);
        mask_ = ring_.size() - 1;
        head_ = 0;
        tail_ = count;
    }

    std::vector<CompletionEvent> ring_;  // the place behind the last event holds `never`
    std::size_t mask_ = 63;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

}  // namespace occupipe::sim
