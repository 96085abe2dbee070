// SPDX-License-Identifier: MIT
// How the engine begins, and who stops it.
#include "sim/engine/event_engine.h"

#include <algorithm>

#include "sim/machine/bits.h"

namespace occupipe::sim {

EventEngine::EventEngine(const CoreLayout& layout, bool detect_periods, Observer* observer)
    : layout_(layout),
      observer_(observer),
      tells_instructions_(observer && observer->hears_instructions()),
      state_(layout),
      schedulers_(layout.machine.schedulers),
      subsystems_(static_cast<std::int32_t>(layout.machine.subsystems.size())),
      units_(layout.unit_pitch),
      warp_words_(layout.warp_words()),
      in_order_(layout.order == Order::in_order),
      by_subsystem_(layout.select == Select::subsystem),
      window_(layout.machine.window ? &*layout.machine.window : nullptr) {
    for (std::int32_t warp = 0; warp < layout.warps(); ++warp) {
        const ProgramLayout& program = layout.programs[layout.program_of[warp]];
        warps_.push_back({.streams = program.streams.data(),
                          .users = program.users.data(),
                          .credit_steps = program.credit_steps.data(),
                          .subsystem_streams = program.subsystem_streams.data(),
                          .open_streams = program.open_streams.data(),
                          .heads = state_.heads.data() + layout.first_stream[warp],
                          .credits = state_.credits.data() + layout.first_credit[warp],
                          .ready = state_.ready.data() + layout.first_word[warp],
                          .words = program.words,
                          .scheduler = layout.scheduler_of[warp],
                          .slot = warp / layout.group_warps,
                          .unfinished = &state_.unfinished[warp / layout.group_warps],
                          .layout = &program});
    }
    if (observer_) {
        units_now_ = {state_.subsystem_free_at.data(), state_.open_at.data()};
        waits_.resize(warps_.size());
        ready_at_.resize(state_.subsystem_free_at.size());
        bound_.resize(ready_at_.size());
    }
    lists_ready_ = layout.narrow && (layout.many_streams || lists_pay());
    if (lists_ready_) {
        ready_lists_.resize(warps_.size() * units_);
        for (std::size_t warp = 0; warp < warps_.size(); ++warp)
            warps_[warp].lists = ready_lists_.data() + warp * units_;
    }
    place_warps();
    finished_slots_.reserve(layout.slots);
    state_.age_order.reserve(layout.slots);
    proposals_.reserve(schedulers_);
    grants_.reserve(schedulers_);
    for (std::int32_t slot = 0; slot < layout.slots && state_.launched < layout.groups; ++slot)
        launch_group(slot, next_kind());
    if (!detect_periods || observer || layout.kinds.size() > 1) return;
    periods_.emplace(layout);
    watch(periods_->watches());
}

std::unique_ptr<Engine> EventEngine::clone() const {
    auto copy = std::make_unique<EventEngine>(layout_, false);
    copy->state_ = state_;
    copy->ready_lists_ = ready_lists_;
    copy->listed_at_ = listed_at_;
    for (std::size_t i = 0; i < warps_.size(); ++i) {
        Warp& w = copy->warps_[i];
        w = warps_[i];
        w.heads = copy->state_.heads.data() + layout_.first_stream[i];
        w.credits = copy->state_.credits.data() + layout_.first_credit[i];
        w.ready = copy->state_.ready.data() + layout_.first_word[i];
        w.unfinished = &copy->state_.unfinished[static_cast<std::size_t>(w.slot)];
        if (w.lists != nullptr) w.lists = copy->ready_lists_.data() + i * units_;
    }
    return copy;
}

// Whether it is faster to keep the ready heads in order than to look for the first one. An observer
// is told of the first one whenever another may be the first; four schedulers pick more often than
// they issue.
bool EventEngine::lists_pay() const {
    std::size_t streams = 0;
    for (const ProgramLayout& program : layout_.programs)
        streams = std::max(streams, program.streams.size());
    return streams > (observer_ ? 8 : schedulers_ > 1 ? 32 : 64);
}

bool EventEngine::run(std::int64_t until) {
    while (true) {
        const std::int64_t last = until + skipped();
        if (state_.issued_total >= last) return false;
        if (!advance(periods_ ? std::min(last, periods_->next_choice()) : last)) return true;
        if (periods_ && periods_->observe(state_, stopped_at())) watch(periods_->watches());
    }
}

void EventEngine::watch(const std::vector<Watch>& watches) {
    if (!layout_.narrow) return;
    for (const Watch& watch : watches_) warps_[watch.warp].watched = 0;
    watches_ = watches;
    for (const Watch& watch : watches_)
        warps_[watch.warp].watched |=
            bit(static_cast<std::int32_t>(watch.head - layout_.first_stream[watch.warp]));
}

bool EventEngine::stops_after(std::int32_t warp, std::int32_t stream) {
    const std::size_t head = layout_.first_stream[warp] + stream;
    stopped_at_ = 0;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
        Watch& watch = watches_[i];
        if (watch.head != head) continue;
        if (watch.passes > 0 && watch.ready != state_.ready[layout_.first_word[warp]])
            --watch.passes;
        else
            stopped_at_ |= bit(static_cast<std::int32_t>(i));
    }
    return stopped_at_ != 0;
}

// Anew, where somebody has changed the state.
void EventEngine::list_ready_heads() {
    if (listed_at_ == state_.issued_total) return;
    for (ReadyList& list : ready_lists_) list.clear();
    for (const Warp& w : warps_)
        for (int word = 0; word < w.words; ++word)
            for_each_bit(w.ready[word], [&](int in_word) {
                const std::int32_t stream = 64 * word + in_word;
                w.lists[w.streams[stream].subsystem].insert(w.heads[stream].index, stream);
            });
    listed_at_ = state_.issued_total;
}

}  // namespace occupipe::sim
