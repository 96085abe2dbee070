// SPDX-License-Identifier: MIT
// Exact period detection (docs/background/pipeline-model.md, "Skipping repetitions"). What a core
// does next depends on its state relative to the present time and to the iterations its warps are
// in. When that relative state recurs, so does everything between, as long as no loop and no wave
// of groups ends; the repetitions are then added up instead of run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/engine/detection_budget.h"
#include "sim/machine/core_layout.h"
#include "sim/machine/core_state.h"

namespace occupipe::sim {

// How many times what happened from `before` to `now` will happen again, exactly alike; 0 when the
// relative states differ, nothing is left to repeat, or `budget` does not suffice to tell.
std::int64_t repetitions(const CoreLayout& layout, const CoreState& before, const CoreState& now,
                         DetectionBudget& budget);

// Adds `times` repetitions of what happened from `before` to `state`.
void repeat(const CoreState& before, CoreState& state, std::int64_t times);

// A stream after whose issues EventEngine::advance() stops; but up to `passes` times it goes on
// where its warp's ready heads differ from `ready`.
struct Watch {
    std::size_t head = 0;  // into CoreState::heads
    std::int32_t warp = 0;
    std::uint64_t ready = 0;
    std::int64_t passes = 0;
};

// Watches a run at points of its own choice and skips what repeats.
class PeriodDetector {
public:
    explicit PeriodDetector(const CoreLayout& layout);

    // To be called between any two steps, with EventEngine::stopped_at(); cheap but for a few of
    // them. True where what watches() says has changed.
    bool observe(CoreState& state, std::uint64_t stopped_at) {
        if (state.issued_total < rest_until_) return false;
        looked_ = false;
        if (rest_until_ > 0) end_rest(state);
        if (state.group[0] != watched_group_) look_at_wave(state);
        for (LoopWatch& watch : loops_) {
            if (state.heads[watch.marker].issued != watch.issued ||
                state.issued_total > watch.next_choice)
                look_at_loop(watch, state, (stopped_at & 1) != 0);
            stopped_at >>= 1;
        }
        if (looked_) {
            budget_.set_simulated(state.issued_total - skipped_);
            if (budget_.exhausted()) rest();
        }
        return looked_;
    }

    std::int64_t skipped() const { return skipped_; }  // instructions
    std::int64_t work() const { return budget_.spent(); }

    // When to call observe(), if not after every step: when one of these stops the run, when a
    // group ends, and when so many instructions have issued in all.
    const std::vector<Watch>& watches();
    std::int64_t next_choice() const;

private:
    // Brent's cycle search: one remembered state, replaced after 1, 2, 4, … looks.
    struct Search {
        std::optional<CoreState> remembered;
        std::int64_t looks = 0;
        std::int64_t patience = 1;
    };

    // Looks whenever the marker issues: one stream of one warp, in a loop of the given depth. Loops
    // at different depths are watched apart, since an inner one recurs within an outer one.
    struct LoopWatch {
        std::int32_t depth = 1;
        std::size_t marker = 0;        // into CoreState::heads
        std::int32_t warp = 0;         // its warp
        std::int64_t issued = 0;       // of the marker, at the last look
        std::int64_t next_choice = 0;  // choose another marker once so many have issued in all
        std::int64_t wait = 0;         // instructions to wait for the marker
        std::vector<std::int64_t> issued_then;  // per head, at the last choice
        std::int64_t chosen_at = 0;             // instructions in all, at the last choice
        Search search;
    };

    void rest();
    void end_rest(const CoreState& state);
    void look_at_wave(CoreState& state);
    void look_at_loop(LoopWatch& watch, CoreState& state, bool at_marker);
    bool advance(Search& search, CoreState& state);
    void choose_marker(LoopWatch& watch, const CoreState& state);

    const CoreLayout& layout_;
    std::int64_t few_;          // instructions: a few rounds of all streams of all warps
    std::int64_t state_words_;  // of a state with empty queues
    DetectionBudget budget_;
    std::int64_t rest_until_ = 0;  // so many have issued in all, as the budget is used up
    bool looked_ = false;
    std::int64_t watched_group_ = 0;
    Search waves_;  // looks whenever slot 0 takes a new group
    std::vector<LoopWatch> loops_;
    std::int64_t skipped_ = 0;
    std::vector<Watch> watches_;
};

}  // namespace occupipe::sim
