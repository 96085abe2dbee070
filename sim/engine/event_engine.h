// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/period.h"
#include "sim/engine/ready_list.h"
#include "sim/machine/core_layout.h"
#include "sim/machine/core_state.h"
#include "sim/observers/observer.h"

namespace occupipe::sim {

// Runs a CoreState forward, from event to event: issues and results. Sets of warps are single words
// where CoreLayout::narrow holds (inner_loop.cpp), and of any size else (general_loop.cpp).
class EventEngine final : public Engine {
public:
    // See make_engine().
    EventEngine(const CoreLayout& layout, bool detect_periods, Observer* observer = nullptr);

    bool run(std::int64_t until) override;
    RunLimits::State progress() const override {
        return {state_.now, state_.issued_total, skipped(),
                state_.launched - static_cast<std::int64_t>(state_.age_order.size())};
    }
    std::int64_t detection_work() const override { return periods_ ? periods_->work() : 0; }
    std::int64_t busy(int scheduler, int subsystem) const override {
        return state_.subsystem_busy[scheduler * units_ + subsystem];
    }
    std::int64_t free_at(int scheduler, int subsystem) const override {
        return state_.subsystem_free_at[scheduler * units_ + subsystem];
    }
    std::span<const CompletionQueue> results() const override { return state_.queues; }
    std::span<const CompletionQueue> waiting() const override { return state_.waiting; }

    // For whoever looks at the state, and may change it consistently, between two steps.

    // Runs until a watched stream issues, groups end, or `until` instructions have issued in all;
    // it may stop earlier. False once nothing will change any more. Throws InputError when time
    // overflows.
    bool advance(std::int64_t until) override;

    void watch(const std::vector<Watch>& watches);

    void start_group(std::int32_t kind) override;
    std::int32_t free_slots() const override {
        return layout_.slots - static_cast<std::int32_t>(state_.age_order.size());
    }
    std::unique_ptr<Engine> clone() const override;

    // Which of the watches stopped advance(); where it stops after each step, all, maybe without
    // cause.
    std::uint64_t stopped_at() const { return layout_.narrow ? stopped_at_ : ~std::uint64_t{0}; }

    CoreState& state() { return state_; }
    const CoreState& state() const { return state_; }

private:
    // Where one warp's constants and state lie.
    struct alignas(64) Warp {
        const ProgramLayout::Stream* streams = nullptr;
        const UserEdge* users = nullptr;
        const std::uint64_t* credit_steps = nullptr;
        const std::uint64_t* subsystem_streams = nullptr;
        const std::uint64_t* open_streams = nullptr;
        Head* heads = nullptr;
        std::uint64_t* credits = nullptr;
        std::uint64_t* ready = nullptr;
        std::uint64_t place = 0;     // narrow: the set of its position
        std::uint64_t next_try = 0;  // narrow: the positions to try first after this warp
        std::uint64_t watched = 0;   // narrow: set of streams, by their number modulo 64
        ReadyList* lists = nullptr;  // per subsystem
        std::int32_t words = 1;
        std::int32_t scheduler = 0;
        std::int32_t slot = 0;
        std::int64_t* unfinished = nullptr;  // instructions of its group
        const ProgramLayout* layout = nullptr;
    };

    struct Proposal {
        std::int32_t scheduler = 0;
        std::int32_t warp = 0;
        std::int32_t stream = 0;
        std::int32_t subsystem = 0;
    };

    std::int64_t skipped() const { return periods_ ? periods_->skipped() : 0; }

    bool lists_pay() const;
    void launch_group(std::int32_t slot, std::int32_t kind);
    void place_program(Warp& w, std::int32_t program) const;
    std::int32_t next_kind() const {
        return layout_.kind_of.empty() ? 0 : layout_.kind_of[state_.launched];
    }
    bool stalls(const Warp& w, std::int32_t warp, std::int32_t stream);
    void end_stall(std::int32_t warp);
    void retire_finished_groups();
    void rebuild_age_positions();
    void forget_last_warp(std::int32_t slot);
    void place_warps();
    void drop_pending_stores(std::int32_t slot);
    bool stops_after(std::int32_t warp, std::int32_t stream);

    template <int units, int max_schedulers, bool lists, bool observed>
    class Inner;  // inner_loop.h
    template <bool lists, bool observed>
    bool run_inner(std::int64_t until);
    void list_ready_heads();

    // The same for all layouts (general_loop.cpp).
    bool step_wide();
    void issue_round(std::int64_t now);
    bool granted(const Proposal& proposal) const;
    std::optional<Proposal> propose(std::int32_t scheduler, std::int64_t now) const;
    std::int64_t next_wide_issue(std::int32_t scheduler) const;
    std::uint64_t ready_word(std::int32_t scheduler, std::uint64_t subsystems, int word) const;
    std::int32_t pick_wide_warp(std::int32_t scheduler, std::uint64_t subsystems,
                                std::int32_t last) const;
    std::int32_t first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                std::int32_t from) const;
    static std::int32_t pick_wide_stream(const Warp& warp, std::uint64_t subsystems);
    void issue_wide(const Warp& w, std::int32_t warp, std::int32_t stream, std::int64_t now);
    void advance_wide(const Warp& w, std::int32_t warp, std::int32_t stream);
    void complete_wide(const CompletionEvent& event, const QueueKind& kind);
    void settle_wide(bool ready, const Warp& w, std::int32_t warp, std::int32_t stream);
    void make_ready(const Warp& w, std::int32_t warp, std::int32_t stream);
    bool satisfied_wide(const Warp& w, std::int32_t stream) const;
    static bool has_ready(const Warp& w, std::int32_t subsystem);

    // The same for both.
    void use_window(std::int32_t scheduler, std::int64_t now);
    std::int64_t first_open(std::int32_t scheduler, std::int64_t time) const {
        return window_ ? window_->first_open(scheduler, std::max(time, state_.open_at[scheduler]))
                       : time;
    }
    void issue_rare(const Warp& w, std::int32_t warp, std::int32_t stream);
    void issue_waiting(const Warp& w, std::int32_t warp, std::int32_t stream);
    void arrive_at_barrier(std::int32_t warp, std::int32_t stream);
    void release_barrier(std::int32_t slot, std::int32_t channel);
    void begin_run(const Warp& w, std::int32_t stream) const;
    static std::int32_t following(const Warp& warp, std::int32_t stream);

    static CompletionEvent completion(const Warp& w, std::int32_t warp, std::int32_t stream,
                                      std::int64_t time) {
        const ProgramLayout::Stream& s = w.streams[stream];
        return {time, warp, stream, w.users + s.first_user, w.users + s.last_user};
    }

    void push(std::int32_t queue, std::int32_t warp, std::int32_t stream, std::int64_t time) {
        state_.queues[queue].push(completion(warps_[warp], warp, stream, time));
        // Events of one queue are in order: only the first one counts.
        if (state_.queue_next[queue] != CompletionQueue::never) return;
        state_.queue_next[queue] = time;
        if (time >= state_.next_completion) return;
        state_.next_completion = time;
        state_.next_queue = queue;
    }

    void find_next_completion() {
        const std::int64_t* const next = state_.queue_next.data();
        const auto count = static_cast<std::int32_t>(state_.queue_next.size());
        std::int64_t first = next[0];
        std::int32_t queue = 0;
        for (std::int32_t q = 0; q < count; q += queue_step)
            for (std::int32_t i = q; i < q + queue_step; ++i) {
                queue = next[i] < first ? i : queue;
                first = next[i] < first ? next[i] : first;
            }
        state_.next_completion = first;
        state_.next_queue = queue;
    }

    // What an observer is told (account.cpp).
    void report_issue(std::int32_t warp, std::int32_t stream) const;
    void report_completion(const CompletionEvent& event) const;
    void touch(std::int32_t warp) {
        if (waits_[warp].touched) return;
        waits_[warp].touched = true;
        touched_.push_back(warp);
    }
    void note_bounds();
    void note_waits();
    void report_wait(std::int32_t warp);
    void report_last_waits();
    Wait wait_of(std::int32_t warp);
    std::optional<std::int32_t> first_ready(const Warp& warp) const;
    std::optional<std::int32_t> first_unissued(const Warp& warp, std::int32_t number);
    bool is_outstanding(std::int32_t warp) const;
    WaitReason bound_of(std::int32_t scheduler, std::int32_t subsystem) const;
    Wait wait_of_ready(const Warp& warp, std::int32_t stream) const;
    static Wait wait_of_blocked(const Warp& warp, std::int32_t stream, const Machine& machine);

    std::uint64_t* ready_warps(std::int32_t scheduler, std::int32_t subsystem) {
        return &state_.ready_warps[(scheduler * units_ + subsystem) * warp_words_];
    }
    const std::uint64_t* ready_warps(std::int32_t scheduler, std::int32_t subsystem) const {
        return &state_.ready_warps[(scheduler * units_ + subsystem) * warp_words_];
    }

    const CoreLayout& layout_;
    Observer* observer_;
    bool tells_instructions_;  // Observer::hears_instructions()
    CoreState state_;
    std::optional<PeriodDetector> periods_;
    std::vector<Warp> warps_;
    std::int32_t schedulers_;
    std::int32_t subsystems_;
    std::int32_t units_;  // CoreLayout::unit_pitch
    std::int32_t warp_words_;
    bool in_order_;
    bool by_subsystem_;                         // Select::subsystem
    const IssueWindow* window_;                 // nullptr: no issue limit
    std::vector<Proposal> proposals_;           // of the present round
    std::vector<Proposal> grants_;              // of these
    std::vector<std::int32_t> finished_slots_;  // of the present time
    std::vector<Watch> watches_;
    std::uint64_t stopped_at_ = 0;
    // With an observer, per warp: what it waits for and since when, as far as not told; whether
    // something has happened that may change it; and before which instruction all have issued.
    struct Waiting {
        Wait wait;
        std::int64_t since = 0;  // [ticks]
        bool touched = false;
        std::int32_t unit = -1;         // where it is ready, as in CoreState::subsystem_free_at
        std::int32_t oldest = 0;        // stream
        std::int64_t oldest_index = 0;  // of that instance in program order
    };
    // Where the present values of CoreState::subsystem_free_at and open_at lie.
    struct Units {
        const std::int64_t* free_at = nullptr;
        const std::int64_t* open_at = nullptr;
    };
    Units units_now_;
    std::vector<Waiting> waits_;
    std::vector<std::int32_t> touched_;   // warps
    std::vector<std::int32_t> ready_at_;  // per unit: how many warps wait there ready
    std::vector<WaitReason> bound_;       // per unit: what for
    bool lists_ready_ = false;  // the inner loop finds the first ready head in lists, not in a set
    std::vector<ReadyList> ready_lists_;  // so: per warp and subsystem (unit_pitch each)
    std::int64_t listed_at_ = 0;          // instructions that had issued when the lists were right
};

}  // namespace occupipe::sim
