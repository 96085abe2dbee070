// SPDX-License-Identifier: MIT
#include "sim/engine/period.h"

#include <algorithm>
#include <limits>

namespace occupipe::sim {
namespace {

constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t words_per_pair = 8;          // of streams
constexpr std::int32_t max_compared_streams = 256;  // of one outermost loop, when they drift apart

// How one stream moved on during the period: by `iterations` of its loop at `depth`, all deeper
// loops back where they were, all outer ones where they are.
struct Move {
    std::int64_t instances = 0;
    std::int32_t loop = -1;  // that moved; -1: none
    std::int64_t iterations = 0;
};

// Whether one warp's part of the state recurs, and for how many more periods at most.
class WarpComparison {
public:
    WarpComparison(const LoopProgram& program, const Head* before, const Head* now,
                   DetectionBudget& budget)
        : program_(program),
          before_(before),
          now_(now),
          budget_(budget),
          moves_(program.streams.size()) {
        budget.spend(8 * static_cast<std::int64_t>(program.streams.size()) +
                     4 * static_cast<std::int64_t>(program.edges.size()));
        for (const LoopProgram::Edge& edge : program.edges)
            first_iterations_ = std::max(first_iterations_, edge.back);
    }

    std::int64_t repetitions() {
        for (std::size_t s = 0; s < moves_.size(); ++s)
            if (!find_move(s)) return 0;
        if (!moved_) return unbounded;
        for (const LoopProgram::Edge& edge : program_.edges)
            if (!check_edge(edge)) return 0;
        for (std::size_t s = 0; s < moves_.size();) {
            const auto end = static_cast<std::size_t>(program_.streams[s].top_end);
            if (end == 0) {
                ++s;
                continue;
            }
            if (!check_order(s, end)) return 0;
            s = end;
        }
        return limit_;
    }

private:
    void limit(std::int64_t periods) { limit_ = std::min(limit_, periods); }

    bool find_move(std::size_t s) {
        const std::int64_t from = before_[s].issued;
        const std::int64_t to = now_[s].issued;
        const auto& stream = program_.streams[s];
        // Nobody counts how many of a store have completed that nothing waits for; which ones are
        // under way is in the queues.
        if (stream.user_count > 0 && from - before_[s].completed != to - now_[s].completed)
            return false;
        if (from == to) return true;
        if (stream.loop < 0 || to == stream.instances) return false;
        moved_ = true;
        moves_[s].instances = to - from;
        // Instances per iteration, from the innermost loop outwards.
        std::int64_t unit = 1;
        for (std::int32_t l = stream.loop; l >= 0; l = program_.loops[l].parent) {
            const std::int64_t count = program_.loops[l].count;
            const std::int64_t run = unit * count;
            if (from / run == to / run) return set_move(s, l, unit, count);
            unit = run;
        }
        return false;
    }

    // The innermost loop that did not end is the one that moved.
    bool set_move(std::size_t s, std::int32_t loop, std::int64_t unit, std::int64_t count) {
        const std::int64_t from = before_[s].issued / unit % count;
        const std::int64_t to = now_[s].issued / unit % count;
        // Deeper loops must be in the same phase, and first iterations are not like the others.
        if (moves_[s].instances % unit != 0 || from < first_iterations_) return false;
        moves_[s].loop = loop;
        moves_[s].iterations = to - from;
        limit((count - 1 - to) / (to - from));
        return true;
    }

    // The change in the number of iterations of `loop`, which holds the stream.
    std::int64_t iterations_of(std::size_t s, std::int32_t loop) const {
        if (moves_[s].loop < 0) return 0;
        // Instances per iteration of `loop`.
        std::int64_t unit = 1;
        for (std::int32_t l = program_.streams[s].loop; l != loop; l = program_.loops[l].parent)
            unit *= program_.loops[l].count;
        return now_[s].issued / unit - before_[s].issued / unit;
    }

    // Does the edge hold back its user in the coming periods exactly as it did in this one?
    bool check_edge(const LoopProgram::Edge& edge) {
        const std::int64_t instances = program_.streams[edge.user].instances;
        if (now_[edge.user].issued == instances) return before_[edge.user].issued == instances;
        const std::int64_t produced =
            now_[edge.producer].completed - before_[edge.producer].completed;
        const std::int64_t required_before = edge.required(before_[edge.user].issued);
        const std::int64_t required_now = edge.required(now_[edge.user].issued);
        const std::int64_t needed = required_now - required_before;
        // A dependence dropped in a first iteration is no measure of what is needed: such a stream
        // stays in the same deeper iteration, and its need moves with the others'.
        if (required_before == 0 && required_now == 0) {
            if (moves_[edge.user].loop < 0) return true;
            return moves_[edge.user].loop == moves_[edge.producer].loop &&
                   moves_[edge.user].iterations == moves_[edge.producer].iterations;
        }
        if (produced == needed) return true;
        // Satisfied all the time, and by how much.
        const std::int64_t spare = before_[edge.producer].completed - required_now;
        if (spare >= 0) {
            if (needed > produced) limit(spare / (needed - produced));
            return true;
        }
        // Never satisfied: the user stands still while the producer catches up.
        const std::int64_t lacking = required_now - now_[edge.producer].completed;
        if (moves_[edge.user].loop >= 0 || needed != 0 || lacking <= 0) return false;
        limit((lacking - 1) / produced);
        return true;
    }

    // Program order decides between two ready heads of one outermost loop. It stays as it is when
    // both moved alike, or when one is ahead of the other by whole iterations.
    bool check_order(std::size_t first, std::size_t end) {
        bool alike = true;
        for (std::size_t s = first; s < end && alike; ++s)
            alike = moves_[s].loop == moves_[first].loop &&
                    moves_[s].iterations == moves_[first].iterations;
        if (alike) return true;
        if (end - first > max_compared_streams) return false;
        const auto streams = static_cast<std::int64_t>(end - first);
        if (!budget_.spend_if_left(words_per_pair * streams * streams / 2)) return false;
        for (std::size_t a = first; a < end; ++a)
            for (std::size_t b = a + 1; b < end; ++b)
                if (!check_pair(a, b)) return false;
        return true;
    }

    bool check_pair(std::size_t a, std::size_t b) {
        if (now_[a].issued == program_.streams[a].instances ||
            now_[b].issued == program_.streams[b].instances)
            return true;  // no head to compete
        std::int32_t common = program_.streams[a].loop;
        while (static_cast<std::size_t>(program_.loops[common].last) <= b)
            common = program_.loops[common].parent;
        const std::int64_t moved_a = iterations_of(a, common);
        const std::int64_t moved_b = iterations_of(b, common);
        if (moved_a == moved_b) return true;
        return moved_a > moved_b ? stays_ahead(a, b, common, moved_a - moved_b)
                                 : stays_ahead(b, a, common, moved_b - moved_a);
    }

    // `fast` gains `gain` iterations on `slow` in each period. Either it is ahead all the time, or
    // behind all the time, for so many more periods.
    bool stays_ahead(std::size_t fast, std::size_t slow, std::int32_t loop, std::int64_t gain) {
        if (iteration(before_, fast, loop) > iteration(now_, slow, loop)) return true;
        const std::int64_t distance = iteration(before_, slow, loop) - iteration(now_, fast, loop);
        if (distance <= 0) return false;
        limit((distance - 1) / gain);
        return true;
    }

    std::int64_t iteration(const Head* heads, std::size_t s, std::int32_t loop) const {
        std::int64_t unit = 1;
        for (std::int32_t l = program_.streams[s].loop; l != loop; l = program_.loops[l].parent)
            unit *= program_.loops[l].count;
        return heads[s].issued / unit;
    }

    const LoopProgram& program_;
    const Head* before_;
    const Head* now_;
    DetectionBudget& budget_;
    std::vector<Move> moves_;
    std::int64_t first_iterations_ = 1;  // of a loop, in which dependences may be dropped
    std::int64_t limit_ = unbounded;
    bool moved_ = false;
};

// Times up to the present are all the same: past.
bool same_times(const std::vector<std::int64_t>& before, std::int64_t then,
                const std::vector<std::int64_t>& now, std::int64_t present) {
    for (std::size_t i = 0; i < before.size(); ++i)
        if (std::max<std::int64_t>(0, before[i] - then) !=
            std::max<std::int64_t>(0, now[i] - present))
            return false;
    return true;
}

// What the schedulers and the core remember, as far as anyone asks for it.
bool same_memories(const CoreLayout& layout, const CoreState& before, const CoreState& now) {
    if (layout.select == Select::subsystem && before.last_subsystem != now.last_subsystem)
        return false;
    if (layout.rings_per_subsystem() && before.last_to != now.last_to) return false;
    if (layout.policy != Policy::oldest && !layout.rings_per_subsystem() &&
        before.last_warp != now.last_warp)
        return false;
    return layout.machine.schedulers == 1 || before.last_grant == now.last_grant;
}

// The windows that follow are the same when a whole number of their periods has passed.
bool same_windows(const CoreLayout& layout, const CoreState& before, const CoreState& now) {
    if (!layout.machine.window) return true;
    const auto period = layout.machine.window->period();
    if (!period || (now.now - before.now) % *period != 0) return false;
    for (std::size_t j = 0; j < now.window_end.size(); ++j) {
        const bool used = now.window_end[j] > now.now;
        if (used != (before.window_end[j] > before.now)) return false;
        if (used && before.window_left[j] != now.window_left[j]) return false;
    }
    return true;
}

bool same_queues(const CoreState& before, const CoreState& now) {
    const std::int64_t elapsed = now.now - before.now;
    for (std::size_t q = 0; q < now.queues.size(); ++q)
        if (before.queues[q].size() != now.queues[q].size()) return false;
    for (std::size_t q = 0; q < now.queues.size(); ++q)
        for (std::size_t i = 0; i < now.queues[q].size(); ++i) {
            const CompletionEvent& a = before.queues[q].at(i);
            const CompletionEvent& b = now.queues[q].at(i);
            if (a.time + elapsed != b.time || a.warp != b.warp || a.stream != b.stream)
                return false;
        }
    return true;
}

// Of the outstanding instructions only their times count.
bool same_waiting(const CoreState& before, const CoreState& now) {
    const auto past = [](const CompletionQueue& line, std::int64_t present) {
        std::size_t i = 0;
        while (i < line.size() && line.at(i).time <= present) ++i;
        return i;
    };
    const std::int64_t elapsed = now.now - before.now;
    for (std::size_t q = 0; q < now.waiting.size(); ++q) {
        std::size_t a = past(before.waiting[q], before.now);
        std::size_t b = past(now.waiting[q], now.now);
        if (before.waiting[q].size() - a != now.waiting[q].size() - b) return false;
        for (; b < now.waiting[q].size(); ++a, ++b)
            if (before.waiting[q].at(a).time + elapsed != now.waiting[q].at(b).time) return false;
    }
    return true;
}

// Barriers of a group move on together.
bool same_barriers(const CoreLayout& layout, const CoreState& before, const CoreState& now) {
    if (before.barrier_arrivals != now.barrier_arrivals ||
        before.barrier_stream != now.barrier_stream)
        return false;
    const int channels = layout.barrier_channels;
    for (int warp = 0; warp < layout.warps(); ++warp)
        for (int c = 0; c < channels; ++c) {
            const int own = warp * channels + c;
            const int shared = warp / layout.group_warps * channels + c;
            if (now.barriers_issued[own] - before.barriers_issued[own] !=
                now.barriers_released[shared] - before.barriers_released[shared])
                return false;
        }
    return true;
}

bool same_groups(const CoreState& before, const CoreState& now) {
    for (std::size_t slot = 0; slot < now.group.size(); ++slot) {
        if ((before.group[slot] == no_group) != (now.group[slot] == no_group)) return false;
        // A new group must be exactly where the former one was.
        if (before.group[slot] != now.group[slot] &&
            before.unfinished[slot] != now.unfinished[slot])
            return false;
    }
    return before.age_order == now.age_order;
}

std::int64_t warp_repetitions(const CoreLayout& layout, const CoreState& before,
                              const CoreState& now, int warp, DetectionBudget& budget) {
    const int slot = warp / layout.group_warps;
    if (now.group[slot] == no_group) return unbounded;
    const LoopProgram& program = layout.programs[layout.program_of[warp]].program;
    const Head* then = before.heads.data() + layout.first_stream[warp];
    const Head* present = now.heads.data() + layout.first_stream[warp];
    if (before.group[slot] != now.group[slot]) {
        budget.spend(4 * static_cast<std::int64_t>(program.streams.size()));
        for (std::size_t s = 0; s < program.streams.size(); ++s)
            if (then[s].issued != present[s].issued || then[s].completed != present[s].completed)
                return 0;
        return unbounded;
    }
    return WarpComparison(program, then, present, budget).repetitions();
}

void extrapolate(std::int64_t before, std::int64_t& now, std::int64_t times) {
    now += times * (now - before);
}

void extrapolate(const std::vector<std::int64_t>& before, std::vector<std::int64_t>& now,
                 std::int64_t times) {
    for (std::size_t i = 0; i < now.size(); ++i) extrapolate(before[i], now[i], times);
}

}  // namespace

std::int64_t repetitions(const CoreLayout& layout, const CoreState& before, const CoreState& now,
                         DetectionBudget& budget) {
    budget.spend(1 + static_cast<std::int64_t>(now.ready.size()) / 8);
    if (before.ready != now.ready || !same_memories(layout, before, now) ||
        !same_times(before.subsystem_free_at, before.now, now.subsystem_free_at, now.now) ||
        !same_windows(layout, before, now) || before.next_in_order != now.next_in_order ||
        !same_queues(before, now) || !same_waiting(before, now) || !same_groups(before, now) ||
        !same_barriers(layout, before, now))
        return 0;
    std::int64_t times = (max_ticks - now.now) / (now.now - before.now);
    const std::int64_t launched = now.launched - before.launched;
    if (launched > 0) times = std::min(times, (layout.groups - now.launched) / launched);
    for (int warp = 0; warp < layout.warps() && times > 0; ++warp)
        times = std::min(times, warp_repetitions(layout, before, now, warp, budget));
    return times;
}

void repeat(const CoreState& before, CoreState& state, std::int64_t times) {
    const std::int64_t shift = times * (state.now - before.now);
    const std::int64_t launched = times * (state.launched - before.launched);
    state.now += shift;
    for (Head& head : state.heads) {
        const Head& then = before.heads[&head - state.heads.data()];
        extrapolate(then.issued, head.issued, times);
        extrapolate(then.completed, head.completed, times);
        extrapolate(then.index, head.index, times);
        extrapolate(then.run_left, head.run_left, times);
    }
    // Lane by lane, as none leaves its range.
    for (std::size_t i = 0; i < state.credits.size(); ++i)
        state.credits[i] +=
            static_cast<std::uint64_t>(times) * (state.credits[i] - before.credits[i]);
    extrapolate(before.barriers_issued, state.barriers_issued, times);
    extrapolate(before.barriers_released, state.barriers_released, times);
    extrapolate(before.unfinished, state.unfinished, times);
    extrapolate(before.subsystem_busy, state.subsystem_busy, times);
    extrapolate(before.issued_total, state.issued_total, times);
    state.launched += launched;
    for (std::size_t slot = 0; slot < state.group.size(); ++slot)
        if (state.group[slot] != before.group[slot]) state.group[slot] += launched;
    for (std::int64_t& time : state.subsystem_free_at) time += shift;
    for (std::int64_t& time : state.window_end) time += shift;
    for (std::int64_t& time : state.open_at) time += shift;
    for (std::int64_t& time : state.scheduler_next)
        if (time != CompletionQueue::never) time += shift;
    for (CompletionQueue& queue : state.queues) queue.shift(shift);
    for (CompletionQueue& line : state.waiting) line.shift(shift);
    for (std::int64_t& time : state.queue_next)
        if (time != CompletionQueue::never) time += shift;
    if (state.next_completion != CompletionQueue::never) state.next_completion += shift;
}

}  // namespace occupipe::sim
