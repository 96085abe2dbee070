// SPDX-License-Identifier: MIT
// The engine for sets of any size; it takes the same steps as the one in inner_loop.cpp.
#include <algorithm>

#include "core/error.h"
#include "sim/engine/event_engine.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {
namespace {

// A warp that stalls has no next stream: CoreState::next_in_order while it does, and back.
constexpr std::int32_t stalled(std::int32_t stream) { return -1 - stream; }

}  // namespace

// Whether the warp stalls after this issue, which is not its last one.
bool EventEngine::stalls(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const std::int16_t queue = w.streams[stream].stall_queue;
    if (queue < 0) return false;
    push(queue, warp, stream, state_.now + layout_.queues[queue].delay);
    return true;
}

void EventEngine::end_stall(std::int32_t warp) {
    const Warp& w = warps_[warp];
    const std::int32_t next = stalled(state_.next_in_order[warp]);
    state_.next_in_order[warp] = next;
    if (satisfied_wide(w, next)) make_ready(w, warp, next);
}

bool EventEngine::step_wide() {
    const auto turn = std::min_element(state_.scheduler_next.begin(), state_.scheduler_next.end());
    const bool completes = state_.next_completion <= *turn;
    const std::int64_t next = completes ? state_.next_completion : *turn;
    if (next > max_ticks) {
        if (next == CompletionQueue::never) {
            if (observer_) report_last_waits();
            return false;
        }
        throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
    }
    if (observer_ && next > state_.now) note_waits();
    state_.now = next;
    if (!completes) {
        issue_round(next);
        return true;
    }
    while (state_.next_completion == next) {
        const std::int32_t due = state_.next_queue;
        CompletionQueue& queue = state_.queues[due];
        while (queue.next_time() == next) complete_wide(queue.pop(), layout_.queues[due]);
        state_.queue_next[due] = queue.next_time();
        find_next_completion();
    }
    if (!finished_slots_.empty()) retire_finished_groups();
    return true;
}

std::int64_t EventEngine::next_wide_issue(std::int32_t scheduler) const {
    std::int64_t first = CompletionQueue::never;
    for (std::int32_t subsystem = 0; subsystem < subsystems_; ++subsystem) {
        const std::uint64_t* const words = ready_warps(scheduler, subsystem);
        if (std::any_of(words, words + warp_words_, [](auto word) { return word != 0; }))
            first = std::min(first, state_.subsystem_free_at[scheduler * units_ + subsystem]);
    }
    if (first == CompletionQueue::never) return first;
    return first_open(scheduler, std::max(first, state_.now));
}

// The schedulers propose, the core grants, what is granted issues.
void EventEngine::issue_round(std::int64_t now) {
    proposals_.clear();
    for (std::int32_t scheduler = 0; scheduler < schedulers_; ++scheduler) {
        if (state_.scheduler_next[scheduler] > now) continue;
        if (const auto proposal = propose(scheduler, now))
            proposals_.push_back(*proposal);
        else
            state_.scheduler_next[scheduler] = next_wide_issue(scheduler);
    }
    grants_.clear();
    for (const Proposal& p : proposals_)
        if (granted(p)) grants_.push_back(p);
    for (const Proposal& p : grants_) {
        issue_wide(warps_[p.warp], p.warp, p.stream, now);
        state_.last_warp[p.scheduler] = p.warp;
        state_.last_subsystem[p.scheduler] = p.subsystem;
        state_.last_to[p.scheduler * units_ + p.subsystem] = p.warp;
        state_.last_grant[p.subsystem] = p.scheduler;
    }
    for (const Proposal& p : proposals_)
        state_.scheduler_next[p.scheduler] = next_wide_issue(p.scheduler);
}

// Of the proposals to a unit that the schedulers share, the first in the ring is granted.
bool EventEngine::granted(const Proposal& proposal) const {
    if (layout_.machine.subsystems[proposal.subsystem].per_scheduler()) return true;
    const std::int32_t last = state_.last_grant[proposal.subsystem];
    const auto distance = [&](const Proposal& p) {
        return p.scheduler > last ? p.scheduler - last : p.scheduler - last + schedulers_;
    };
    return std::none_of(proposals_.begin(), proposals_.end(), [&](const Proposal& other) {
        return other.subsystem == proposal.subsystem && distance(other) < distance(proposal);
    });
}

std::optional<EventEngine::Proposal> EventEngine::propose(std::int32_t scheduler,
                                                          std::int64_t now) const {
    std::uint64_t free = 0;
    for (std::int32_t subsystem = 0; subsystem < subsystems_; ++subsystem)
        if (state_.subsystem_free_at[scheduler * units_ + subsystem] <= now) free |= bit(subsystem);
    if (!by_subsystem_) {
        const std::int32_t warp = pick_wide_warp(scheduler, free, state_.last_warp[scheduler]);
        if (warp == no_warp) return std::nullopt;
        const std::int32_t stream = pick_wide_stream(warps_[warp], free);
        return Proposal{scheduler, warp, stream, warps_[warp].streams[stream].subsystem};
    }
    const std::int32_t first = state_.last_subsystem[scheduler] + 1;
    for (std::int32_t step = 0; step < subsystems_; ++step) {
        const std::int32_t subsystem =
            first + step < subsystems_ ? first + step : first + step - subsystems_;
        if ((free & bit(subsystem)) == 0) continue;
        const std::int32_t last = layout_.policy == Policy::lrr
                                      ? state_.last_to[scheduler * units_ + subsystem]
                                      : state_.last_warp[scheduler];
        const std::int32_t warp = pick_wide_warp(scheduler, bit(subsystem), last);
        if (warp != no_warp)
            return Proposal{scheduler, warp, pick_wide_stream(warps_[warp], bit(subsystem)),
                            subsystem};
    }
    return std::nullopt;
}

// A word of the set of positions of warps with a ready head for one of the subsystems.
std::uint64_t EventEngine::ready_word(std::int32_t scheduler, std::uint64_t subsystems,
                                      int word) const {
    std::uint64_t set = 0;
    for_each_bit(subsystems,
                 [&](int subsystem) { set |= ready_warps(scheduler, subsystem)[word]; });
    return set;
}

// The first position at or after `from`, or -1.
std::int32_t EventEngine::first_position(std::int32_t scheduler, std::uint64_t subsystems,
                                         std::int32_t from) const {
    int word = from / 64;
    if (word >= warp_words_) return -1;
    std::uint64_t set =
        ready_word(scheduler, subsystems, word) & (~std::uint64_t{0} << (from % 64));
    while (set == 0) {
        if (++word >= warp_words_) return -1;
        set = ready_word(scheduler, subsystems, word);
    }
    return word * 64 + lowest_bit(set);
}

std::int32_t EventEngine::pick_wide_warp(std::int32_t scheduler, std::uint64_t subsystems,
                                         std::int32_t last) const {
    std::int32_t found = -1;
    if (last != no_warp) {
        const std::int32_t position = state_.position[last];
        if (layout_.policy == Policy::gto &&
            (ready_word(scheduler, subsystems, position / 64) & bit(position)) != 0)
            return last;
        if (layout_.policy == Policy::lrr)
            found = first_position(scheduler, subsystems, position + 1);
    }
    if (found < 0) found = first_position(scheduler, subsystems, 0);
    return found < 0 ? no_warp : state_.warp_at[found];
}

// As pick_stream() in inner_loop.cpp.
std::int32_t EventEngine::pick_wide_stream(const Warp& warp, std::uint64_t subsystems) {
    const auto streams_of = [&](int word) {
        std::uint64_t set = 0;
        for_each_bit(subsystems, [&](int subsystem) {
            set |= warp.subsystem_streams[subsystem * warp.words + word];
        });
        return set & warp.ready[word];
    };
    int word = 0;
    std::uint64_t set = streams_of(word);
    while (set == 0) set = streams_of(++word);
    std::int32_t best = word * 64 + lowest_bit(set);
    const std::int32_t end = warp.streams[best].top_end;
    for (; word * 64 < end; ++word)
        for_each_bit(streams_of(word), [&](int in_word) {
            const std::int32_t stream = word * 64 + in_word;
            if (stream < end && warp.heads[stream].index < warp.heads[best].index) best = stream;
        });
    return best;
}

void EventEngine::issue_wide(const Warp& w, std::int32_t warp, std::int32_t stream,
                             std::int64_t now) {
    const ProgramLayout::Stream& s = w.streams[stream];
    const std::int64_t free_at = now + s.cpi;
    state_.subsystem_busy[w.scheduler * units_ + s.subsystem] += s.cpi;
    const bool shared = !layout_.machine.subsystems[s.subsystem].per_scheduler();
    for (std::int32_t scheduler = 0; scheduler < schedulers_; ++scheduler)
        if (shared || scheduler == w.scheduler)
            state_.subsystem_free_at[scheduler * units_ + s.subsystem] = free_at;
    if (window_) use_window(w.scheduler, now);
    ++state_.issued_total;
    if (observer_) {
        report_issue(warp, stream);
        touch(warp);
    }
    if (s.only_queue >= 0)
        push(s.only_queue, warp, stream, now + s.delay);
    else
        issue_rare(w, warp, stream);
    advance_wide(w, warp, stream);
}

void EventEngine::advance_wide(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const ProgramLayout::Stream& s = w.streams[stream];
    Head& head = w.heads[stream];
    ++head.issued;
    if (--head.run_left != 0) {
        head.index += s.step;
        for (std::int32_t c = s.first_credit; c < s.last_credit; ++c)
            w.credits[c] -= w.credit_steps[c];
    } else {
        begin_run(w, stream);
    }
    if (!in_order_) {
        settle_wide(satisfied_wide(w, stream), w, warp, stream);
        return;
    }
    settle_wide(false, w, warp, stream);
    const std::int32_t next = following(w, stream);
    state_.next_in_order[warp] = next;
    if (next == static_cast<std::int32_t>(w.layout->streams.size())) return;
    if (stalls(w, warp, stream))
        state_.next_in_order[warp] = stalled(next);
    else if (satisfied_wide(w, next))
        settle_wide(true, w, warp, next);
}

void EventEngine::complete_wide(const CompletionEvent& event, const QueueKind& kind) {
    const Warp& w = warps_[event.warp];
    if (observer_) touch(event.warp);
    if (kind.releases) {
        end_stall(event.warp);
        return;
    }
    if (kind.completes) {
        std::int64_t& completed = w.heads[event.stream].completed;
        if (observer_) report_completion(event);
        ++completed;
        const ProgramLayout::Stream& s = w.streams[event.stream];
        for (std::int32_t u = s.first_user; u < s.last_user; ++u) {
            const UserEdge& edge = w.users[u];
            w.credits[edge.word] += edge.credit;
            if (in_order_ && state_.next_in_order[event.warp] != edge.user) continue;
            if (satisfied_wide(w, edge.user)) make_ready(w, event.warp, edge.user);
        }
    }
    if (kind.finishes && --state_.unfinished[w.slot] == 0) finished_slots_.push_back(w.slot);
}

// Has the head all that it waits for?
bool EventEngine::satisfied_wide(const Warp& w, std::int32_t stream) const {
    std::uint64_t all = 0;
    for (std::int32_t c = w.streams[stream].first_credit; c < w.streams[stream].last_credit; ++c)
        all |= w.credits[c];
    return (all & layout_.credit_signs) == 0;
}

bool EventEngine::has_ready(const Warp& w, std::int32_t subsystem) {
    const std::uint64_t* const streams = w.subsystem_streams + subsystem * w.words;
    for (int word = 0; word < w.words; ++word)
        if ((w.ready[word] & streams[word]) != 0) return true;
    return false;
}

void EventEngine::settle_wide(bool ready, const Warp& w, std::int32_t warp, std::int32_t stream) {
    const std::int32_t subsystem = w.streams[stream].subsystem;
    const std::int32_t position = state_.position[warp];
    w.ready[stream / 64] &= ~bit(stream);
    if (ready) w.ready[stream / 64] |= bit(stream);
    std::uint64_t& warps = ready_warps(w.scheduler, subsystem)[position / 64];
    warps &= ~bit(position);
    if (has_ready(w, subsystem)) warps |= bit(position);
}

// Between issues: the scheduler's turn may come earlier.
void EventEngine::make_ready(const Warp& w, std::int32_t warp, std::int32_t stream) {
    const std::int32_t subsystem = w.streams[stream].subsystem;
    const std::int32_t position = state_.position[warp];
    w.ready[stream / 64] |= bit(stream);
    if (w.lists != nullptr) w.lists[subsystem].insert(w.heads[stream].index, stream);
    ready_warps(w.scheduler, subsystem)[position / 64] |= bit(position);
    std::int64_t& turn = state_.scheduler_next[w.scheduler];
    turn = std::min(
        turn,
        first_open(w.scheduler, std::max(state_.subsystem_free_at[w.scheduler * units_ + subsystem],
                                         state_.now)));
}

}  // namespace occupipe::sim
