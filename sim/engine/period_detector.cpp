// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "sim/engine/period.h"

namespace occupipe::sim {
namespace {

constexpr std::int32_t max_watched_depth = 4;
constexpr std::int64_t words_per_look = 64;  // stopping the inner loop and starting it again
constexpr std::int64_t words_per_event = sizeof(CompletionEvent) / sizeof(std::int64_t);

std::int64_t words_of(const CoreLayout& layout) {
    const std::int64_t queues =
        static_cast<std::int64_t>(layout.queues.size() + layout.waiting_lines.size());
    return std::int64_t{4} * layout.stream_count + layout.credit_count + layout.word_count +
           64 * words_per_event * queues + 16 * std::int64_t{layout.warps()};
}

std::int64_t events_of(const CoreState& state) {
    std::size_t events = 0;
    for (const auto* queues : {&state.queues, &state.waiting})
        for (const CompletionQueue& queue : *queues) events += queue.size();
    return static_cast<std::int64_t>(events);
}

}  // namespace

PeriodDetector::PeriodDetector(const CoreLayout& layout)
    : layout_(layout),
      few_(4 * std::int64_t{layout.stream_count} + 64),
      state_words_(words_of(layout)) {
    std::int32_t deepest = 0;
    for (const ProgramLayout& program : layout.programs)
        for (const ProgramLayout::Stream& stream : program.streams)
            deepest = std::max<std::int32_t>(deepest, stream.depth);
    for (std::int32_t depth = 1; depth <= std::min(deepest, max_watched_depth); ++depth)
        loops_.push_back({.depth = depth, .next_choice = few_});
}

// The state cannot be the remembered one where the ready heads of one warp differ, until it is time
// to remember another.
const std::vector<Watch>& PeriodDetector::watches() {
    watches_.clear();
    if (rest_until_ > 0) return watches_;
    for (const LoopWatch& watch : loops_) {
        watches_.push_back({.head = watch.marker, .warp = watch.warp});
        if (!watch.search.remembered) continue;
        watches_.back().ready = watch.search.remembered->ready[layout_.first_word[watch.warp]];
        watches_.back().passes = watch.search.patience - watch.search.looks - 1;
    }
    return watches_;
}

std::int64_t PeriodDetector::next_choice() const {
    if (rest_until_ > 0) return rest_until_;
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (const LoopWatch& watch : loops_) next = std::min(next, watch.next_choice + 1);
    return next;
}

// Nothing is looked at until the run has gone on far enough. What is remembered stays: the cycle
// search may leave out looks.
void PeriodDetector::rest() { rest_until_ = budget_.rested_at() + skipped_; }

void PeriodDetector::end_rest(const CoreState& state) {
    rest_until_ = 0;
    budget_.rested();
    budget_.spend(words_per_look);
    looked_ = true;
    watched_group_ = state.group[0];
    for (LoopWatch& watch : loops_) {
        const std::int64_t issued = state.heads[watch.marker].issued;
        if (issued < watch.issued) watch.search = {};
        watch.issued = issued;
        watch.next_choice = state.issued_total + watch.wait;
    }
}

void PeriodDetector::look_at_wave(CoreState& state) {
    looked_ = true;
    if (state.group[0] != no_group) advance(waves_, state);
    watched_group_ = state.group[0];
}

// Issues of the marker that did not stop the run were looks, too.
void PeriodDetector::look_at_loop(LoopWatch& watch, CoreState& state, bool at_marker) {
    looked_ = true;
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
    budget_.set_simulated(state.issued_total - skipped_);
    budget_.spend(words_per_look);
    if (search.remembered) {
        const std::int64_t times = repetitions(layout_, *search.remembered, state, budget_);
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
        if (!budget_.spend_if_left(state_words_ + words_per_event * events_of(state))) return false;
        search.remembered = state;
        search.looks = 0;
        search.patience *= 2;
    }
    return false;
}

// The busiest loop of the first warp that is in one and did not stand still since the last choice,
// older groups first: a stream that has begun and has the most instances left.
void PeriodDetector::choose_marker(LoopWatch& watch, const CoreState& state) {
    budget_.spend(layout_.stream_count);
    watch.search = {};
    watch.wait = std::max(few_, 2 * watch.wait);
    watch.next_choice = state.issued_total + watch.wait;
    const bool first = watch.issued_then.empty();
    watch.issued_then.resize(layout_.stream_count);
    bool found = false;
    for (const std::int32_t slot : state.age_order)
        for (int index = 0; index < layout_.group_warps; ++index) {
            const int warp = slot * layout_.group_warps + index;
            const auto& streams = layout_.programs[layout_.program_of[warp]].streams;
            const std::size_t begin = layout_.first_stream[warp];
            std::int64_t most_left = 1;
            for (std::size_t s = 0; s < streams.size() && !found; ++s) {
                const std::int64_t issued = state.heads[begin + s].issued;
                const std::int64_t left = streams[s].instances - issued;
                const bool there =
                    std::min<std::int32_t>(streams[s].depth, max_watched_depth) == watch.depth;
                const bool moved = first || issued != watch.issued_then[begin + s];
                if (!there || issued == 0 || !moved || left <= most_left) continue;
                most_left = left;
                watch.marker = begin + s;
            }
            if (most_left == 1) continue;
            found = true;
            watch.warp = warp;
            watch.issued = state.heads[watch.marker].issued;
        }
    for (std::size_t h = 0; h < watch.issued_then.size(); ++h)
        watch.issued_then[h] = state.heads[h].issued;
    // A marker that has moved gets time for a few rounds of its own.
    const std::int64_t elapsed = state.issued_total - watch.chosen_at;
    if (found && !first) watch.wait = std::max(few_, std::min(watch.wait, 4 * elapsed));
    watch.chosen_at = state.issued_total;
}

}  // namespace occupipe::sim
