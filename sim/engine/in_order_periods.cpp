// SPDX-License-Identifier: MIT
// Period detection of the in-order engine (docs/background/pipeline-model.md, "Skipping
// repetitions"). A warp's part of the state is where it is and its scoreboard; the state recurs
// when each warp is at the same instruction, at most one of its loops some iterations on, and all
// times are the same relative to the present.
#include <algorithm>

#include "sim/engine/in_order_engine.h"
#include "sim/machine/bits.h"
#include "sim/machine/core_state.h"

namespace occupipe::sim {
namespace {

constexpr std::int64_t words_per_look = 32;
constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max() / 2;

// Times up to the present are all the same: past.
template <typename Times>
bool same_times(const Times& before, std::int64_t then, const Times& now, std::int64_t present) {
    const std::int64_t elapsed = present - then;
    for (std::size_t i = 0; i < now.size(); ++i) {
        const bool past = now[i] <= present;
        if (past != (before[i] <= then)) return false;
        if (past) continue;
        // What is not known moves on with nobody.
        const bool known = now[i] < unknown;
        if (before[i] != (known ? now[i] - elapsed : now[i])) return false;
    }
    return true;
}

}  // namespace

void InOrderEngine::look_around() {
    const std::int64_t simulated = s_.issued - skipped_;
    if (simulated < rest_until_) {
        if (looped_depth_ >= 0) looped_at_ = s_.issued;
        looped_depth_ = -1;
        new_wave_ = false;
        return;
    }
    budget_.set_simulated(simulated);
    if (looped_depth_ >= 0) {
        wait_ = std::max(shortest_wait_, 8 * (s_.issued - looped_at_));
        look(loops_[looped_depth_]);
        // A loop inside begins anew.
        for (std::size_t deeper = looped_depth_ + 1; deeper < loops_.size(); ++deeper) {
            loops_[deeper].begun = false;
            loops_[deeper].patience = 1;
        }
        looped_at_ = s_.issued;
        next_choice_ = s_.issued + wait_;
    }
    if (new_wave_) look(waves_);
    looped_depth_ = -1;
    new_wave_ = false;
    if (s_.issued > next_choice_) {
        choose_marker();
        budget_.spend(words_per_look);
    }
    if (!budget_.exhausted()) return;
    rest_until_ = budget_.rested_at();
    next_choice_ = s_.issued + wait_ + rest_until_ - simulated;
    budget_.rested();
}

void InOrderEngine::look(Search& search) {
    budget_.spend(words_per_look);
    if (lanes_) leave_lanes();
    if (search.begun) {
        const std::int64_t times = repetitions(search.remembered);
        const std::int64_t period = s_.issued - search.remembered.issued;
        // Skipping costs about as much as running a part of a state's size.
        if (times > 0 && times > words_ / 4 / period && budget_.spend_if_left(words_) &&
            same_scoreboards(search.remembered)) {
            repeat(search.remembered, times);
            skipped_ += times * period;
            search.begun = false;
            search.patience = 1;
            return;
        }
    }
    // Copies are few enough to cost little beside what was run.
    const bool affordable = s_.issued - search.remembered_at >= words_ / 8;
    if ((!search.begun || ++search.looks >= search.patience) && affordable &&
        budget_.spend_if_left(words_)) {
        search.remembered = s_;
        search.looks = 0;
        search.patience = search.begun ? 2 * search.patience : 1;
        search.begun = true;
        search.remembered_at = s_.issued;
    }
}

// The next warp that loops, as the present one may have left its loops, or stand still while others
// run.
void InOrderEngine::choose_marker() {
    for (Search& search : loops_) {
        search.begun = false;
        search.patience = 1;
    }
    marker_ = any_warp;
    wait_ = shortest_wait_;
    looped_at_ = s_.issued;
    next_choice_ = s_.issued + wait_;
}

bool InOrderEngine::same_memories(const State& before) const {
    if (choice_ != Choice::warp_first && before.last_subsystem != s_.last_subsystem) return false;
    if (before.ring != s_.ring) return false;
    if (layout_.policy != Policy::oldest && before.last_warp != s_.last_warp) return false;
    if (layout_.policy != Policy::lrr && before.age_order != s_.age_order) return false;
    return schedulers_ == 1 || before.last_grant == s_.last_grant;
}

bool InOrderEngine::same_windows(const State& before) const {
    if (!window_) return true;
    const auto period = window_->period();
    if (!period || (s_.now - before.now) % *period != 0) return false;
    for (int j = 0; j < schedulers_; ++j) {
        const bool used = s_.window_end[j] > s_.now;
        if (used != (before.window_end[j] > before.now)) return false;
        if (used && before.window_left[j] != s_.window_left[j]) return false;
    }
    return true;
}

bool InOrderEngine::same_groups(const State& before) const {
    for (std::size_t slot = 0; slot < s_.group.size(); ++slot)
        if ((before.group[slot] == no_group) != (s_.group[slot] == no_group)) return false;
    return before.unfinished == s_.unfinished && before.ahead == s_.ahead &&
           before.arrivals == s_.arrivals && before.barrier == s_.barrier &&
           same_times(before.last_result, before.now, s_.last_result, s_.now) &&
           same_times(before.group_end, before.now, s_.group_end, s_.now);
}

// Of the outstanding instructions only their times count.
bool InOrderEngine::same_queues(const State& before) const {
    const auto past = [](const CompletionQueue& line, std::int64_t present) {
        std::size_t i = 0;
        while (i < line.size() && line.at(i).time <= present) ++i;
        return i;
    };
    const std::int64_t elapsed = s_.now - before.now;
    for (std::size_t l = 0; l < s_.waiting.size(); ++l) {
        const CompletionQueue& from = before.waiting[l];
        const CompletionQueue& to = s_.waiting[l];
        std::size_t a = past(from, before.now);
        std::size_t b = past(to, s_.now);
        if (from.size() - a != to.size() - b) return false;
        for (; b < to.size(); ++a, ++b)
            if (from.at(a).time + elapsed != to.at(b).time) return false;
    }
    return true;
}

bool InOrderEngine::same_scoreboards(const State& before) const {
    if (!same_times(before.times, before.now, s_.times, s_.now)) return false;
    std::size_t ring = 0;
    for (const Warp& w : std::span(warps_).first(layout_.warps()))
        for (const std::int32_t mask : w.program->ring_masks) {
            if (((before.issues[ring] ^ s_.issues[ring]) & mask) != 0) return false;
            ++ring;
        }
    return true;
}

// How many times what happened since `before` will happen again, exactly alike, if the scoreboards
// are the same, too; 0 when the relative states differ or nothing is left to repeat.
std::int64_t InOrderEngine::repetitions(const State& before) {
    if (before.head != s_.head || before.ready != s_.ready || before.now == s_.now ||
        !same_memories(before) || !same_windows(before) ||
        !same_times(before.free_at, before.now, s_.free_at, s_.now) ||
        !same_times(before.wake, before.now, s_.wake, s_.now) || !same_groups(before) ||
        !same_queues(before))
        return 0;
    budget_.spend(256 + static_cast<std::int64_t>(s_.iteration.size()));
    std::int64_t times = (max_ticks - s_.now) / (s_.now - before.now);
    const std::int64_t launched = s_.launched - before.launched;
    if (launched > 0) times = std::min(times, (layout_.groups - s_.launched) / launched);
    for (int warp = 0; warp < layout_.warps() && times > 0; ++warp)
        times = std::min(times, warp_repetitions(before, warp));
    return times;
}

std::int64_t InOrderEngine::warp_repetitions(const State& before, int warp) const {
    const Warp& w = warps_[warp];
    std::int64_t times = never;
    if (s_.group[w.slot] == no_group) return times;
    const bool same_group = before.group[w.slot] == s_.group[w.slot];
    bool moved = false;
    for (std::size_t l = 0; l < w.program->loops.size(); ++l) {
        const InOrderProgram::Loop& loop = w.program->loops[l];
        const std::int64_t from = before.iteration[w.iterations - s_.iteration.data() + l];
        const std::int64_t to = w.iterations[l];
        if (from == to) continue;
        // A new group must be exactly where the former one was; first iterations are not like the
        // others.
        if (!same_group || moved || to < from || from < loop.settled) return 0;
        moved = true;
        times = (loop.count - 1 - to) / (to - from);
    }
    return times;
}

void InOrderEngine::repeat(const State& before, std::int64_t times) {
    const std::int64_t shift = times * (s_.now - before.now);
    const std::int64_t launched = times * (s_.launched - before.launched);
    const auto add = [times](auto& values, const auto& then) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += times * (values[i] - then[i]);
    };
    const auto move_on = [shift](auto& moments) {
        for (std::int64_t& moment : moments)
            if (moment < pending) moment += shift;
    };
    s_.issued += times * (s_.issued - before.issued);
    add(s_.started, before.started);
    add(s_.iteration, before.iteration);
    for (std::size_t slot = 0; slot < s_.group.size(); ++slot)
        if (s_.group[slot] != before.group[slot]) s_.group[slot] += launched;
    s_.launched += launched;
    s_.now += shift;
    move_on(s_.free_at);
    move_on(s_.window_end);
    move_on(s_.open_at);
    move_on(s_.turn);
    move_on(s_.wake);
    move_on(s_.times);
    move_on(s_.last_result);
    move_on(s_.group_end);
    for (CompletionQueue& line : s_.waiting) line.shift(shift);
    find_group_end();
    if (lanes_) {
        enter_lanes();
        return;
    }
    find_possible();
    wakes_.clear();
    for (int warp = 0; warp < layout_.warps(); ++warp)
        if (s_.wake[warp] > s_.now && s_.wake[warp] < pending)
            wakes_.put(warp, s_.wake[warp], s_.now);
}

}  // namespace occupipe::sim
