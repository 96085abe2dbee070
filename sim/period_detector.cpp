// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sim/period.h"

namespace occupipe::sim {

void PeriodDetector::look(CoreState& state) {
    if (state.group[0] != watched_group_) {
        if (state.group[0] != no_group && advance(waves_, state)) loops_.restart();
        watched_group_ = state.group[0];
    }
    const std::int64_t issued = state.heads[marker_].issued;
    if (issued < marker_issued_) {  // a new group took the marker's slot
        loops_.restart();
        marker_patience_ = first_marker_patience();
    } else if (issued > marker_issued_) {
        if (advance(loops_, state)) marker_patience_ = first_marker_patience();
        next_choice_ = state.issued_total + marker_patience_;
    }
    marker_issued_ = state.heads[marker_].issued;
    if (state.issued_total > next_choice_) choose_marker(state);
}

// A few rounds of all streams of all warps.
std::int64_t PeriodDetector::first_marker_patience() const {
    return 4 * std::int64_t{layout_.stream_count} + 64;
}

// True when it skipped something.
bool PeriodDetector::advance(Search& search, CoreState& state) {
    if (search.remembered) {
        const std::int64_t times = repetitions(layout_, *search.remembered, state);
        if (times > 0) {
            const std::int64_t issued = state.issued_total;
            repeat(*search.remembered, state, times);
            skipped_ += state.issued_total - issued;
            search.restart();
            return true;
        }
    }
    if (!search.remembered || ++search.looks == search.patience) {
        search.remembered = state;
        search.looks = 0;
        search.patience *= 2;
    }
    return false;
}

// The busiest loop of the oldest group's first warp that is in one: a stream that has begun and has
// the most instances left. A slow marker gets more time at each choice.
void PeriodDetector::choose_marker(const CoreState& state) {
    marker_patience_ = std::max(first_marker_patience(), 2 * marker_patience_);
    next_choice_ = state.issued_total + marker_patience_;
    loops_.restart();
    for (const std::int32_t slot : state.age_order)
        for (int index = 0; index < layout_.group_warps; ++index) {
            const int warp = slot * layout_.group_warps + index;
            const auto& streams = layout_.programs[layout_.program_of[warp]].streams;
            const Head* heads = state.heads.data() + layout_.first_stream[warp];
            std::int64_t most_left = 1;
            for (std::size_t s = 0; s < streams.size(); ++s) {
                const std::int64_t left = streams[s].instances - heads[s].issued;
                if (heads[s].issued == 0 || left <= most_left) continue;
                most_left = left;
                marker_ = layout_.first_stream[warp] + s;
            }
            if (most_left == 1) continue;
            marker_issued_ = state.heads[marker_].issued;
            return;
        }
}

}  // namespace occupipe::sim
