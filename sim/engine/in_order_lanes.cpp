// SPDX-License-Identifier: MIT
// Between the in-order engine's state and its lanes.
#include "sim/engine/in_order_lanes.h"

#include <algorithm>
#include <bit>

#include "sim/engine/in_order_engine.h"
#include "sim/machine/bits.h"
#include "sim/machine/core_state.h"

namespace occupipe::sim {

bool has_wide_vectors() {
#ifdef __x86_64__
    static const bool there = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                              __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    return there;
#else
    return false;
#endif
}

bool has_wider_vectors() {
#ifdef __x86_64__
    static const bool there = has_wide_vectors() && __builtin_cpu_supports("avx512f") &&
                              __builtin_cpu_supports("avx512vl") &&
                              __builtin_cpu_supports("avx512dq") &&
                              __builtin_cpu_supports("avx512bw");
    return there;
#else
    return false;
#endif
}

bool InOrderEngine::fits_lanes(const CoreLayout& layout) {
    if (!layout.waiting_lines.empty()) return false;
    for (const MachineOp& op : layout.machine.ops)
        if (op.latency > Lanes::longest || op.cpi > Lanes::longest) return false;
    if (!layout.machine.window) return true;
    const IssueWindow& window = *layout.machine.window;
    if (window.cycle() > Lanes::longest) return false;
    return window.always_open() || window.period().value_or(max_ticks) <= Lanes::longest;
}

void InOrderEngine::make_lanes(bool may_be_wide) {
    Lanes& l = lanes_.emplace();
    for (const Timing& timing : timings_)
        l.ops.push_back({static_cast<std::uint32_t>(timing.cpi),
                         static_cast<std::uint32_t>(timing.latency),
                         static_cast<std::uint32_t>(timing.finish)});
    const int warps = layout_.warps();
    l.schedulers = std::min(schedulers_, warps);
    const int most = (warps + schedulers_ - 1) / schedulers_;
    l.per_scheduler = std::max(8, static_cast<int>(std::bit_ceil(static_cast<unsigned>(most))));
    l.wide = may_be_wide && has_wider_vectors() && l.per_scheduler >= 16;
    for (Lanes::Part& q : l.parts) q.wake.fill(Lanes::idle);  // also those that have no warps
    for (int after = 0; after < Lanes::units; ++after)
        for (int s = 0; s < Lanes::units; ++s)
            l.turns[after][s] = static_cast<std::uint32_t>((s - after - 1) & (Lanes::units - 1))
                                << 7;
    for (int warp = 0; warp < warps; ++warp) {
        Warp& w = warps_[warp];
        const int lane = warp / schedulers_;
        l.lane_of[warp] = static_cast<std::uint8_t>(lane);
        l.parts[w.scheduler].warp_of[lane] = static_cast<std::uint8_t>(warp);
    }
}

void InOrderEngine::look_ahead(Warp& w, std::int32_t head) {
    w.current = w.instructions[head];
    w.next = w.instructions[head + 1];
}

// All of it from the state, times from now on.
void InOrderEngine::enter_lanes() {
    Lanes& l = *lanes_;
    l.base = s_.now;
    l.last_ahead = static_cast<std::uint32_t>(std::min(Lanes::rebase_at, max_ticks - s_.now));
    l.greedy = layout_.policy == Policy::gto;
    for (int j = 0; j < l.schedulers; ++j) {
        Lanes::Part& q = l.parts[j];
        q.wake.fill(Lanes::idle);
        q.open = l.of(s_.open_at[j]);
        q.window_end = s_.window_end[j];
        q.window_left = s_.window_left[j];
        q.after = static_cast<std::uint32_t>(s_.last_subsystem[j]);
        q.first = Lanes::no_lane;
        const std::int32_t last = s_.last_warp[j];
        if (last != no_warp && l.greedy) {
            q.first = l.lane_of[last];
            q.lane_at[0] = l.lane_of[last];
        }
        if (layout_.policy == Policy::lrr)
            q.first = last == no_warp ? 0 : static_cast<std::uint32_t>(l.lane_of[last] + 1);
        for (int s = 0; s < units; ++s) {
            // The ring is that of all warps; the scheduler's own are every k-th.
            const std::uint64_t to_try = s_.ring[j * units + s];
            const int before = to_try == 0 ? 64 : lowest_bit(to_try);  // positions not to try first
            q.ring[s] = static_cast<std::uint32_t>((before + schedulers_ - 1 - j) / schedulers_);
            const bool shared = l.schedulers > 1 && (shared_ >> s & 1) != 0;
            const std::uint32_t free = l.of(s_.free_at[j * units + s]);
            q.free_at[s] = shared ? 0 : free;
            l.shared_free_at[s] = shared ? free : 0;
        }
        q.free_of = q.free_at;
        q.ring_of = q.ring;
    }
    l.shared_free_of = l.shared_free_at;
    for (int warp = 0; warp < layout_.warps(); ++warp) {
        Warp& w = warps_[warp];
        Lanes::Part& q = l.parts[w.scheduler];
        const std::uint8_t lane = l.lane_of[warp];
        if (s_.wake[warp] < pending) q.wake[lane] = l.of(s_.wake[warp]);
        if (s_.wake[warp] != never) look_ahead(w, s_.head[warp]);
        q.unit[lane] = w.current.subsystem;
        q.rank[lane] = static_cast<std::uint32_t>(s_.position[warp] + 1);
        q.lane_at[q.rank[lane]] = lane;
    }
}

// Of a warp that the loop does not issue for: the first of its program, or behind a barrier.
void InOrderEngine::begin_lane(std::int32_t warp) {
    Warp& w = warps_[warp];
    const std::int32_t head = s_.head[warp];
    look_ahead(w, head);
    s_.wake[warp] = last_lookup(w, head);
    Lanes::Part& q = lanes_->parts[w.scheduler];
    q.wake[lanes_->lane_of[warp]] = lanes_->of(s_.wake[warp]);
    q.unit[lanes_->lane_of[warp]] = w.current.subsystem;
}

bool InOrderEngine::run_lanes(std::int64_t until) {
    enter_lanes();
    bool done = false;
#ifdef __x86_64__
    done = lanes_->wide ? run_avx512(until) : run_avx2(until);
#endif
    leave_lanes();
    return done;
}

// What the loop does not keep up to date.
void InOrderEngine::leave_lanes() {
    const Lanes& l = *lanes_;
    const auto time = [&](std::uint32_t since) { return l.base + (since >> Lanes::time_shift); };
    for (int j = 0; j < l.schedulers; ++j) {
        const Lanes::Part& q = l.parts[j];
        s_.last_subsystem[j] = q.after;
        s_.open_at[j] = time(q.open);
        s_.window_end[j] = q.window_end;
        s_.window_left[j] = q.window_left;
        // Lane i is warp i·k + j.
        const auto warp = [&](std::uint32_t lane) {
            return static_cast<std::int32_t>(lane) * schedulers_ + j;
        };
        if (l.greedy) s_.last_warp[j] = q.first == Lanes::no_lane ? no_warp : warp(q.first);
        if (choice_ == Choice::warp_first && layout_.policy == Policy::lrr)
            s_.last_warp[j] = q.first == 0 ? no_warp : warp(q.first - 1);
        for (int s = 0; s < units; ++s) {
            if (choice_ == Choice::ring_per_subsystem && q.ring_of[s] != 0)
                s_.ring[j * units + s] = ~std::uint64_t{1} << warp(q.ring_of[s] - 1);
            s_.free_at[j * units + s] = time(q.free_of[s]);
        }
    }
    for (int j = 0; j < schedulers_; ++j)
        for (int s = 0; s < units; ++s)
            if ((shared_ >> s & 1) != 0)
                s_.free_at[j * units + s] =
                    time(l.schedulers > 1 ? l.shared_free_of[s] : l.parts[0].free_of[s]);
    s_.ready.fill(0);
    for (Warp& w : std::span(warps_).first(layout_.warps())) {
        w.unit = w.first_unit + w.current.subsystem;
        const auto warp = static_cast<std::size_t>(&w - warps_.data());
        if (s_.wake[warp] <= s_.now) s_.ready[w.unit] |= w.position;
    }
}

}  // namespace occupipe::sim
