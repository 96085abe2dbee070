// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "sim/engine/period.h"

namespace occupipe::sim {
namespace {

constexpr std::int32_t max_watched_depth = 4;

}  // namespace

PeriodDetector::PeriodDetector(const CoreLayout& layout)
    : layout_(layout), few_(4 * std::int64_t{layout.stream_count} + 64) {
    std::int32_t deepest = 0;
    for (const ProgramLayout& program : layout.programs)
        for (const ProgramLayout::Stream& stream : program.streams)
            deepest = std::max<std::int32_t>(deepest, stream.depth);
    for (std::int32_t depth = 1; depth <= std::min(deepest, max_watched_depth); ++depth)
        loops_.push_back({.depth = depth, .next_choice = few_});
}

// The state cannot be the remembered one where the ready heads of one warp differ, until it is time
// to remember another.
const std::vector<Engine::Watch>& PeriodDetector::watches() {
    watches_.clear();
    for (const LoopWatch& watch : loops_) {
        watches_.push_back({.head = watch.marker, .warp = watch.warp});
        if (!watch.search.remembered) continue;
        watches_.back().ready = watch.search.remembered->ready[watch.warp];
        watches_.back().passes = watch.search.patience - watch.search.looks - 1;
    }
    return watches_;
}

std::int64_t PeriodDetector::next_choice() const {
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (const LoopWatch& watch : loops_) next = std::min(next, watch.next_choice + 1);
    return next;
}

void PeriodDetector::look_at_wave(CoreState& state) {
    if (state.group[0] != no_group) advance(waves_, state);
    watched_group_ = state.group[0];
}

// Issues of the marker that did not stop the run were looks, too.
void PeriodDetector::look_at_loop(LoopWatch& watch, CoreState& state, bool at_marker) {
    const std::int64_t issued = state.heads[watch.marker].issued;
    if (issued < watch.issued) {  // a new group took the marker's slot
        watch.search = {};
        watch.wait = few_;
    } else if (issued > watch.issued) {
        watch.search.looks += issued - watch.issued - (at_marker ? 1 : 0);
        if (at_marker && advance(watch.search, state)) watch.wait = few_;
        watch.next_choice = state.issued_total + watch.wait;
    }
    watch.issued = state.heads[watch.marker].issued;
    if (state.issued_total > watch.next_choice) choose_marker(watch, state);
}

// True when it skipped something.
bool PeriodDetector::advance(Search& search, CoreState& state) {
    if (search.remembered) {
        const std::int64_t times = repetitions(layout_, *search.remembered, state);
        const std::int64_t before = state.issued_total;
        // Skipping costs about as much as running a few rounds.
        if (times > 0 && times > few_ / (before - search.remembered->issued_total)) {
            repeat(*search.remembered, state, times);
            skipped_ += state.issued_total - before;
            search = {};
            return true;
        }
    }
    if (!search.remembered || ++search.looks >= search.patience) {
        search.remembered = state;
        search.looks = 0;
        search.patience *= 2;
    }
    return false;
}

// The busiest loop of the oldest group's first warp that is in one: a stream that has begun and has
// the most instances left. A slow marker gets more time at each choice.
void PeriodDetector::choose_marker(LoopWatch& watch, const CoreState& state) const {
    watch.search = {};
    watch.wait = std::max(few_, 2 * watch.wait);
    watch.next_choice = state.issued_total + watch.wait;
    for (const std::int32_t slot : state.age_order)
        for (int index = 0; index < layout_.group_warps; ++index) {
            const int warp = slot * layout_.group_warps + index;
            const auto& streams = layout_.programs[layout_.program_of[warp]].streams;
            const Head* heads = state.heads.data() + layout_.first_stream[warp];
            std::int64_t most_left = 1;
            for (std::size_t s = 0; s < streams.size(); ++s) {
                const std::int64_t left = streams[s].instances - heads[s].issued;
                const bool there =
                    std::min<std::int32_t>(streams[s].depth, max_watched_depth) == watch.depth;
                if (!there || heads[s].issued == 0 || left <= most_left) continue;
                most_left = left;
                watch.marker = layout_.first_stream[warp] + s;
            }
            if (most_left == 1) continue;
            watch.warp = warp;
            watch.issued = state.heads[watch.marker].issued;
            return;
        }
}

}  // namespace occupipe::sim
