// SPDX-License-Identifier: MIT
// Exact period detection (docs/model.md, "Skipping repetitions"). What a core does next depends on
// its state relative to the present time and to the iterations its warps are in. When that relative
// state recurs, so does everything between, as long as no loop and no wave of groups ends; the
// repetitions are then added up instead of run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/core_layout.h"
#include "sim/core_state.h"

namespace occupipe::sim {

// How many times what happened from `before` to `now` will happen again, exactly alike; 0 when the
// relative states differ or nothing is left to repeat.
std::int64_t repetitions(const CoreLayout& layout, const CoreState& before, const CoreState& now);

// Adds `times` repetitions of what happened from `before` to `state`.
void repeat(const CoreState& before, CoreState& state, std::int64_t times);

// Watches a run at points of its own choice and skips what repeats.
class PeriodDetector {
public:
    explicit PeriodDetector(const CoreLayout& layout) : layout_(layout) {}

    // To be called between any two steps; cheap but for a few of them.
    void observe(CoreState& state) {
        if (state.group[0] != watched_group_ || state.heads[marker_].issued != marker_issued_ ||
            state.issued_total > next_choice_)
            look(state);
    }

    std::int64_t skipped() const { return skipped_; }  // instructions

private:
    // Brent's cycle search: one remembered state, replaced after 1, 2, 4, … looks.
    struct Search {
        std::optional<CoreState> remembered;
        std::int64_t looks = 0;
        std::int64_t patience = 1;

        void restart() { *this = {}; }
    };

    void look(CoreState& state);
    bool advance(Search& search, CoreState& state);
    void choose_marker(const CoreState& state);
    std::int64_t first_marker_patience() const;

    const CoreLayout& layout_;
    Search waves_;  // looks whenever slot 0 takes a new group
    Search loops_;  // looks whenever the marker, one stream of one warp, issues
    std::int64_t watched_group_ = 0;
    std::size_t marker_ = 0;  // into CoreState::heads
    std::int64_t marker_issued_ = 0;
    std::int64_t next_choice_ = 0;      // choose another marker once so many have issued
    std::int64_t marker_patience_ = 0;  // instructions to wait for the marker
    std::int64_t skipped_ = 0;
};

}  // namespace occupipe::sim
