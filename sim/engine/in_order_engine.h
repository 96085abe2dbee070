// SPDX-License-Identifier: MIT
// The engine for Order::in_order. Only one instruction of a warp may issue, and all that it waits
// for has issued before, so that the time at which it is ready is known when the one before it
// issues: the latest of the times in the warp's scoreboard that it looks up. There is an event per
// instruction, its issue; results are no events.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/engine/detection_budget.h"
#include "sim/engine/engine.h"
#include "sim/engine/in_order_lanes.h"
#include "sim/engine/in_order_program.h"
#include "sim/engine/wake_times.h"
#include "sim/machine/completion_queue.h"
#include "sim/machine/core_layout.h"
#include "sim/observers/observer.h"

namespace occupipe::sim {

class InOrderEngine final : public Engine {
public:
    // There are two run loops, with the same outcome. Schedulers that plan ahead take branches,
    // which are foreseen in short bodies; vectors take none, and their work is always the same.
    enum class Loop {
        by_size,  // the one that is faster for so many instructions
        planned,
        vectors,        // where the processor has them, and fits_lanes()
        short_vectors,  // the same, of 256 bits at most
    };
    // Times are within reach of 22 bits, and no latency grows with a queue.
    static bool fits_lanes(const CoreLayout& layout);

    // In order, at most 64 warps, few subsystems and schedulers, no dependence far back.
    static bool can_run(const CoreLayout& layout);

    // See make_engine(). The layout must be one that can_run().
    InOrderEngine(const CoreLayout& layout, bool detect_periods, Observer* observer = nullptr,
                  Loop loop = Loop::by_size);

    bool run(std::int64_t until) override;
    RunLimits::State progress() const override {
        return {s_.now, s_.issued, skipped_,
                s_.launched - static_cast<std::int64_t>(s_.age_order.size())};
    }
    std::int64_t detection_work() const override { return budget_.spent(); }
    std::int64_t busy(int scheduler, int subsystem) const override;
    std::int64_t free_at(int scheduler, int subsystem) const override;
    std::span<const CompletionQueue> results() const override { return {}; }
    std::span<const CompletionQueue> waiting() const override { return s_.waiting; }

    void start_group(std::int32_t kind) override;
    std::int32_t free_slots() const override {
        return layout_.slots - static_cast<std::int32_t>(s_.age_order.size());
    }
    bool advance(std::int64_t until) override { return !run(until); }
    std::unique_ptr<Engine> clone() const override;

private:
    static constexpr int units = static_cast<int>(max_narrow_subsystems);
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int32_t any_warp = -2;        // the next one that loops
    static constexpr std::int64_t pending = never / 2;  // a barrier that has not opened

    template <typename T>
    using PerUnit = std::array<T, max_narrow_schedulers * max_narrow_subsystems>;
    template <typename T>
    using PerScheduler = std::array<T, max_narrow_schedulers>;

    // Plain data, so that a copy remembers it.
    struct State {
        std::int64_t now = 0;
        std::int64_t issued = 0;
        std::int64_t launched = 0;        // groups
        PerUnit<std::int64_t> free_at{};  // a shared unit's for each scheduler
        PerUnit<std::uint64_t> ready{};   // sets of positions
        PerUnit<std::uint64_t> ring{};    // positions to try first, where each unit has its ring
        std::array<std::int32_t, max_narrow_subsystems> last_grant{};
        PerScheduler<std::int64_t> turn{};    // when it issues next, as far as that is known
        PerScheduler<std::int64_t> choice{};  // the subsystem that it issues to then
        PerScheduler<std::int64_t> window_end{};
        PerScheduler<std::int64_t> window_left{};
        PerScheduler<std::int64_t> open_at{};
        PerScheduler<std::int32_t> last_warp{};  // where that is the policy's memory
        PerScheduler<std::int64_t> last_subsystem{};
        std::array<std::int32_t, 64> head{};  // per warp: its next instruction
        std::array<std::int32_t, 64> position{};
        std::array<std::int32_t, 64> warp_at{};
        std::array<std::int64_t, 64> wake{};    // per warp: when its head is, or was, ready
        std::vector<std::int64_t> times;        // all scoreboards
        std::vector<std::int64_t> issues;       // per warp and ring
        std::vector<std::int64_t> iteration;    // per warp and loop
        std::vector<std::int32_t> ahead;        // per warp and channel: barriers not opened
        std::vector<std::int32_t> barrier;      // per warp and channel: the last one issued
        std::vector<std::int32_t> arrivals;     // per slot and channel
        std::vector<std::int64_t> started;      // per slot and kind: groups
        std::vector<std::int64_t> group;        // per slot: its number, or no_group
        std::vector<std::int32_t> unfinished;   // per slot: warps with instructions left
        std::vector<std::int64_t> last_result;  // per slot: when all that issued has finished
        std::vector<std::int64_t> group_end;    // per slot, once all has issued; else never
        std::vector<std::int32_t> age_order;    // resident slots, oldest group first
        std::vector<CompletionQueue> waiting;   // per CoreLayout::waiting_lines
    };
    struct Timing {
        std::int64_t cpi = 0;      // λ [ticks]
        std::int64_t latency = 0;  // Λ [ticks]
        std::int64_t finish = 0;   // until the group may end [ticks]
    };
    // Where one warp's part lies, and what the issue of its head needs.
    struct alignas(64) Warp {
        Timing timing;
        std::int64_t* times = nullptr;
        std::uint64_t position = 0;  // the set of it
        std::uint64_t next_try = 0;  // the positions to try first after this warp
        std::int32_t unit = 0;
        std::int32_t slot = 0;
        std::uint8_t place = 0;
        std::uint8_t flags = 0;
        std::int32_t scheduler = 0;
        const InOrderProgram::Instruction* instructions = nullptr;
        std::int32_t first_unit = 0;  // its scheduler's
        const InOrderProgram* program = nullptr;
        std::int64_t* issues = nullptr;
        std::int64_t* iterations = nullptr;
        // Only where there are lanes: the head and what follows it in the text.
        InOrderProgram::Instruction current;
        InOrderProgram::Instruction next;
        std::int64_t* last_result = nullptr;  // of its slot
    };
    // Where a warp's part of the state begins.
    struct Part {
        std::size_t times = 0;
        std::size_t issues = 0;
        std::size_t iterations = 0;
    };
    // How a scheduler finds the warp that issues.
    enum class Choice {
        ring_per_subsystem,  // lrr
        by_age,              // the subsystem first, then a warp by age or, with gto, the last one
        warp_first,          // Select::warp
    };
    // The run loop is compiled for each shape of machine, as a loop over what is not there costs
    // time, too.
    struct Shape {
        int subsystems;  // or fewer
        int schedulers;  // or fewer
        Choice choice;
        bool observed;
    };
    // Brent's cycle search: one remembered state, replaced after 1, 2, 4, … looks.
    struct Search {
        State remembered;
        bool begun = false;  // there is a remembered state
        std::int64_t looks = 0;
        std::int64_t patience = 1;
        std::int64_t remembered_at = 0;  // instructions that had issued at the last copy
    };

    static Choice choice_of(const CoreLayout& layout);
    InOrderEngine(const InOrderEngine&) = default;
    void launch_group(std::int32_t slot, std::int32_t kind);
    std::int32_t next_kind() const {
        return layout_.kind_of.empty() ? 0 : layout_.kind_of[s_.launched];
    }
    void point_into_state();
    void end_groups();
    void place_warps();
    void find_group_end();
    void begin_head(std::int32_t warp, std::int64_t now);

    // The run loop (in_order_run.cpp).
    template <Shape shape>
    bool run_as(std::int64_t until);
    template <int subsystems, int schedulers>
    bool run_on(std::int64_t until);
    template <int subsystems, int schedulers, Choice choice>
    bool run_choosing(std::int64_t until);
    template <Shape shape>
    std::int64_t first_turn() const;
    void set_ready(const Warp& w);
    template <Shape shape>
    void take_from_others(std::int64_t subsystem, std::int64_t until);
    template <Shape shape>
    void plan_from(int scheduler, std::int64_t from);
    template <Shape shape>
    void plan(int scheduler, std::int64_t now);
    void plan_all();
    void find_possible();
    template <Shape shape>
    void propose_warp(int scheduler, std::int64_t now);
    template <Shape shape>
    std::uint32_t propose(std::int64_t now);
    template <Shape shape>
    void issue_if_granted(int scheduler, std::uint32_t& left, std::int64_t now);
    template <Shape shape>
    void issue_round(std::int64_t now);
    template <Shape shape>
    std::uint32_t rivals(int scheduler) const;
    template <Shape shape>
    void wake_up(std::int32_t warp, std::int64_t now);
    template <Shape shape>
    std::int32_t choose_warp(int scheduler) const;
    template <Shape shape>
    void issue(int scheduler, std::int64_t now);
    void use_window(int scheduler, std::int64_t now);
    std::int64_t await(Warp& w, std::int32_t warp, std::int32_t head, std::int64_t now);

    // The vector loop, which needs no plans (in_order_lanes.cpp, in_order_lanes_loop.h).
    template <typename Vectors>
    struct LaneLoop;
    void make_lanes(bool may_be_wide);
    void enter_lanes();
    void leave_lanes();
    void begin_lane(std::int32_t warp);
    static void look_ahead(Warp& w, std::int32_t head);
    bool run_lanes(std::int64_t until);
    bool run_avx2(std::int64_t until);
    bool run_avx512(std::int64_t until);

    // Not every instruction needs these.
    std::int32_t issue_special(const Warp& w, std::int32_t warp, std::int64_t now);
    void keep_result(const Warp& w, std::int32_t warp, std::int64_t now);
    std::int64_t queued_until(const Warp& w, std::int32_t warp, std::int64_t now);
    static void set_time(const Warp& w, std::int32_t stream, std::int64_t instances_back,
                         std::int64_t time);
    void arrive(const Warp& w, std::int32_t warp, std::int64_t now);
    void open_barrier(std::int32_t slot, std::int32_t channel, std::int64_t now);
    std::int32_t advance_from_end(const Warp& w, std::int32_t warp);
    static std::int64_t look_up(const Warp& w, const InOrderProgram::Lookup& lookup);
    static std::int64_t last_lookup(const Warp& w, std::int32_t stream);

    // What an observer is told (in_order_account.cpp).
    void report_issue(const Warp& w, std::int32_t warp, std::int64_t now);
    void report_result(const Warp& w, std::int32_t warp, std::int64_t result, std::int64_t finish);
    void report_barrier(const Warp& w, std::int32_t warp, std::int32_t channel, std::int64_t time);
    void report_blocked(const Warp& w, std::int32_t warp, std::int64_t until);
    void report_ready(std::int32_t warp, std::int64_t until);
    void report_group_end(std::int32_t slot);
    void report_unused_slots();
    void note_bounds();
    static std::int64_t instance(const Warp& w, std::int32_t stream);

    // Period detection (in_order_periods.cpp).
    void look_around();
    void look(Search& search);
    void choose_marker();
    bool same_memories(const State& before) const;
    bool same_windows(const State& before) const;
    bool same_groups(const State& before) const;
    bool same_queues(const State& before) const;
    std::int64_t repetitions(const State& before);
    std::int64_t warp_repetitions(const State& before, int warp) const;
    bool same_scoreboards(const State& before) const;
    void repeat(const State& before, std::int64_t times);

    const CoreLayout& layout_;
    std::shared_ptr<const std::vector<InOrderProgram>> programs_;
    std::array<Warp, 64> warps_;
    std::vector<Part> parts_;  // per warp
    State s_;
    WakeTimes wakes_;
    int schedulers_;
    int channels_;
    Choice choice_;
    const IssueWindow* window_;
    std::int64_t window_allows_ = 0;  // to a scheduler in a cycle; 0: not always as many
    bool may_close_;                  // a scheduler may find cycles in which it may issue nothing
    std::int64_t cycle_mask_ = -1;    // IssueWindow::cycle_mask(), if there is one
    std::int64_t cycle_end_ = 0;      // of the present cycle, where there is an issue limit
    std::uint32_t shared_ = 0;        // set of subsystems of scope core
    std::int64_t next_end_ = never;   // the least of group_end

    std::optional<Lanes> lanes_;  // none: Loop::planned
    bool given_;                  // groups, by start_group(): run() stops when some end

    std::vector<Timing> timings_;       // per Machine::ops
    PerUnit<std::int64_t> possible_{};  // derived: when it is free; never, if nothing is ready
    // Derived from last_warp and the positions: those to try first, where a scheduler has one ring.
    PerScheduler<std::uint64_t> try_first_{};
    PerScheduler<std::int32_t> proposed_{};  // warps, with Select::warp

    Observer* observer_;
    bool tells_instructions_;  // Observer::hears_instructions()
    // What has not been told yet.
    struct Account {
        std::array<std::int64_t, 64> since{};        // per warp: it waits for its head since then
        std::array<std::int64_t, 64> ready_since{};  // for what bound_ says
        std::array<std::int64_t, 64> last_finish{};
        PerUnit<WaitReason> bound{};         // what holds back the ready warps there
        std::vector<std::int64_t> instance;  // per warp and channel, of the last barrier issued
    };
    Account account_;

    bool detect_periods_;
    std::int64_t attention_ = 0;      // look_around() once so many have issued
    std::int32_t marker_ = any_warp;  // the warp whose loops are watched
    std::int32_t looped_depth_ = -1;  // of the loop of the marker that has just begun anew
    bool new_wave_ = false;
    std::int64_t next_choice_ = 0;  // another marker, once so many have issued without a look
    std::int64_t wait_ = 0;         // instructions to wait for the marker
    std::int64_t shortest_wait_ = 0;
    std::int64_t looped_at_ = 0;   // when it looped last
    std::array<Search, 4> loops_;  // per depth; the last one for all deeper ones, too
    Search waves_;                 // looks whenever slot 0 takes a new group
    DetectionBudget budget_;
    std::int64_t rest_until_ = 0;  // so many have issued one by one, as the budget is used up
    std::int64_t skipped_ = 0;
    std::int64_t words_ = 0;  // size of a state
};

}  // namespace occupipe::sim
