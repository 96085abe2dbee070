// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "sim/engine/event_engine.h"

namespace occupipe::sim {

// Where CoreLayout::narrow holds; `lists`: EventEngine::lists_ready_, `observed`: with an observer.
// `units` is CoreLayout::unit_pitch, `max_schedulers` at least the number of schedulers. Between
// load() and store() the most used part of CoreState is here.
template <int units, int max_schedulers, bool lists, bool observed>
class EventEngine::Inner {
public:
    explicit Inner(EventEngine& engine)
        : engine_(engine),
          state_(engine.state_),
          warps_(engine.warps_.data()),
          queues_(engine.state_.queues.data()),
          kinds_(engine.layout_.queues.data()),
          queue_next_(engine.state_.queue_next.data()),
          queue_groups_(static_cast<int>(engine.state_.queue_next.size()) / queue_step),
          warp_at_(engine.state_.warp_at.data()),
          ready_heads_(engine.state_.ready.data()),
          moves_(engine.layout_.policy != Policy::lrr),
          signs_(engine.layout_.credit_signs),
          window_(engine.window_),
          may_close_(engine.window_ && !engine.window_->always_open()),
          by_subsystem_(engine.by_subsystem_),
          rings_(engine.layout_.rings_per_subsystem()),
          in_order_(engine.in_order_) {}

    bool run(std::int64_t until);

private:
    // What changes with every step goes by value or lies in run(), where it can stay in registers;
    // a member would have to be read again after every store.

    // The next completion, and the queue where it is first.
    struct Due {
        std::int64_t time = 0;
        std::int32_t queue = 0;
    };

    void load();
    void store(const Due& due);
    void go_to(std::int64_t now);
    bool end(std::int64_t next, const Due& due);
    // What a scheduler would issue now.
    struct Pick {
        std::int32_t warp = 0;
        std::int32_t stream = 0;
        std::int32_t unit = -1;  // none
    };

    bool issue_alone(std::int64_t now, Due& due);
    bool issue_round(std::int64_t now, Due& due);
    Pick pick(int scheduler, std::int64_t now) const;
    bool take(const Pick& pick, int scheduler, std::int64_t now, Due& due);
    void use_window(int scheduler, std::int64_t now);
    std::int64_t next_issue(int scheduler) const;
    static std::int32_t first_listed(const Warp& warp, std::uint64_t open);
    static std::int32_t pick_stream(const Warp& warp, std::uint64_t set);
    void issue(const Warp& w, std::int32_t warp, std::int32_t stream, int scheduler,
               std::int64_t now, Due& due);
    Due issue_rare(const Warp& w, std::int32_t warp, std::int32_t stream);
    void push(std::int32_t queue, const CompletionEvent& event, Due& due);
    void find_next_in_group(int group);
    Due next_due() const;
    void occupy(const ProgramLayout::Stream& s, int scheduler, std::int64_t now);
    void settle(bool ready, const Warp& w, std::int32_t warp, std::int32_t stream,
                std::int32_t subsystem);
    void pop_due(std::int64_t now, Due& due);
    void complete(const CompletionEvent& event, const QueueKind& kind, std::int64_t now);

    bool satisfied(const Warp& w, std::int32_t stream) const {
        return ((w.credits[2 * stream] | w.credits[2 * stream + 1]) & signs_) == 0;
    }
    static int scheduler_of(const Warp& w) { return max_schedulers == 1 ? 0 : w.scheduler; }

    EventEngine& engine_;
    CoreState& state_;
    const Warp* const warps_;
    CompletionQueue* const queues_;
    const QueueKind* const kinds_;
    std::int64_t* const queue_next_;
    const int queue_groups_;
    const std::int32_t* const warp_at_;
    std::uint64_t* const ready_heads_;
    const bool moves_;
    const std::uint64_t signs_;
    const IssueWindow* const window_;
    const bool may_close_;  // for whole cycles
    const bool by_subsystem_;
    const bool rings_;  // CoreLayout::rings_per_subsystem
    const bool in_order_;
    std::int64_t now_ = 0;
    std::int64_t issued_ = 0;
    // Per `queue_step` queues: the first to complete something, and when.
    std::array<std::int64_t, max_narrow_queues / queue_step> group_next_{};
    std::array<std::int32_t, max_narrow_queues / queue_step> group_queue_{};
    // Per scheduler and unit.
    std::array<std::int64_t, units * max_schedulers> free_at_{};
    std::array<std::uint64_t, units * max_schedulers> ready_{};
    std::array<std::int64_t, units * max_schedulers> busy_{};
    std::array<std::int32_t, units * max_schedulers> last_to_{};
    std::array<std::uint64_t, units * max_schedulers> ring_{};  // positions to try first
    // Per unit.
    std::array<std::int32_t, units> last_grant_{};
    std::uint32_t shared_ = 0;  // set of those of scope core
    // Per scheduler.
    std::array<std::int64_t, max_schedulers> turn_{};
    std::array<std::int64_t, max_schedulers> window_end_{};
    std::array<std::int64_t, max_schedulers> window_left_{};
    std::array<std::int64_t, max_schedulers> open_at_{};
    std::array<std::uint64_t, max_schedulers> try_first_{};  // positions
    std::array<std::int32_t, max_schedulers> last_warp_{};
    std::array<std::int32_t, max_schedulers> last_subsystem_{};
};

}  // namespace occupipe::sim
