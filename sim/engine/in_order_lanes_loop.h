// SPDX-License-Identifier: MIT
// The in-order engine's vector loop, compiled once for each kind of vectors: a file that includes
// this one defines OCCUPIPE_LANES_TARGET and, before it, struct Vectors.
//
// A time step costs the same whatever happens in it. Each scheduler looks at all of its warps at
// once, so that there are no lists, no events for warps that wake up and hardly a branch that could
// be foreseen wrongly; what little is found anew each time costs less than one such branch.
#pragma once
#ifdef OCCUPIPE_LANES_TARGET

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/error.h"
#include "sim/engine/in_order_engine.h"
#include "sim/engine/in_order_lanes.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

// Has InOrderEngine's own access to it.
template <typename Vectors>
struct InOrderEngine::LaneLoop {
    using State = InOrderEngine::State;
    using Warp = InOrderEngine::Warp;

    // How the warp is found, see InOrderEngine::Choice.
    enum class Pick { ring_per_subsystem, by_age, one_ring, one_by_age };
    struct Kind {
        int schedulers;
        int lanes;  // of each
        Pick pick;
        constexpr bool subsystem_first() const {
            return pick == Pick::ring_per_subsystem || pick == Pick::by_age;
        }
    };

    InOrderEngine& e;
    Lanes& l;

    // The least key of the scheduler's lanes, if it may not issue before `open`.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] inline std::uint32_t select(
        int j, std::uint32_t open) const {
        using Vector = typename Vectors::Vector;
        typename Vectors::Table free = Vectors::table(l.free_at[j].data());
        if constexpr (kind.schedulers > 1)
            free = Vectors::table_max(free, Vectors::table(l.shared_free_at.data()));
        const Vector from = Vectors::all(open);
        const Vector lane_mask = Vectors::all(kind.lanes - 1);
        const Vector first = Vectors::all(l.first[j]);
        [[maybe_unused]] typename Vectors::Table turns{};
        [[maybe_unused]] typename Vectors::Table ring{};
        if constexpr (kind.subsystem_first())
            turns = Vectors::table(l.turns[e.s_.last_subsystem[j]].data());
        if constexpr (kind.pick == Pick::ring_per_subsystem)
            ring = Vectors::table(l.ring[j].data());
        Vector best = Vectors::all(~std::uint32_t{0});
#pragma GCC unroll 8
        for (int i = 0; i < kind.lanes; i += Vectors::width) {
            const int at = j * kind.lanes + i;
            const Vector unit = Vectors::load(&l.unit[at]);
            const Vector wake = Vectors::load(&l.wake[at]);
            Vector key = Vectors::max(Vectors::max(wake, from), Vectors::look_up(free, unit));
            const Vector lane = Vectors::counting_from(i);
            if constexpr (kind.pick == Pick::ring_per_subsystem)
                key = Vectors::either(
                    key,
                    Vectors::both(Vectors::minus(lane, Vectors::look_up(ring, unit)), lane_mask));
            else if constexpr (kind.pick == Pick::one_ring)
                key = Vectors::either(key, Vectors::both(Vectors::minus(lane, first), lane_mask));
            else
                key = Vectors::either(
                    key, Vectors::unless_equal(lane, first, Vectors::load(&l.rank[at])));
            if constexpr (kind.subsystem_first())
                key = Vectors::either(key, Vectors::look_up(turns, unit));
            best = Vectors::min(best, key);
        }
        return Vectors::least(best);
    }

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] inline std::uint32_t plan(
        int j, std::int64_t now) const {
        const std::int64_t open = std::max(e.s_.open_at[j], now);
        const std::uint32_t key =
            select<kind>(j, static_cast<std::uint32_t>(open - l.base) << Lanes::time_shift);
        if (!e.may_close_) [[likely]]
            return key;
        if (key >= Lanes::idle) return key;
        // Until the window opens other units may become free, too.
        const std::int64_t time = l.base + (key >> Lanes::time_shift);
        const std::int64_t first = e.window_->first_open(j, time);
        return first > time ? select<kind>(j, l.of(first)) : key;
    }

    struct Chosen {
        std::uint32_t subsystem;
        int lane;  // of all
    };
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] inline Chosen chosen(
        int j, std::uint32_t key) const {
        const std::uint32_t position = key & 127;
        const auto after = static_cast<std::uint32_t>(e.s_.last_subsystem[j]) + 1;
        const std::uint32_t subsystem = (after + (key >> 7)) & 7;
        const int from = j * kind.lanes;
        if constexpr (kind.pick == Pick::ring_per_subsystem) {
            const std::uint32_t lane = (position + l.ring[j][subsystem]) & (kind.lanes - 1);
            return {subsystem, from + static_cast<int>(lane)};
        } else if constexpr (kind.pick == Pick::by_age) {
            return {subsystem, from + l.lane_at[j][position]};
        } else if constexpr (kind.pick == Pick::one_ring) {
            const std::uint32_t lane = (position + l.first[j]) & (kind.lanes - 1);
            return {l.unit[from + lane], from + static_cast<int>(lane)};
        } else {
            const int lane = from + l.lane_at[j][position];
            return {l.unit[lane], lane};
        }
    }

    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] inline void use_window(
        int j, std::int64_t now) const {
        State& s = e.s_;
        std::int64_t end = 0;
        if (e.cycle_mask_ >= 0) [[likely]]
            end = (now | e.cycle_mask_) + 1;
        else if (s.window_end[j] > now)
            end = s.window_end[j];
        else
            end = e.window_->end_of_cycle(now);
        std::int64_t allowed = e.window_allows_;
        if (allowed == 0) [[unlikely]]
            allowed = e.window_->allowed_until(j, end);
        const std::int64_t left = (s.window_end[j] == end ? s.window_left[j] : allowed) - 1;
        s.window_end[j] = end;
        s.window_left[j] = left;
        s.open_at[j] = left == 0 ? end : s.open_at[j];
        if (e.may_close_ && left == 0) [[unlikely]]
            s.open_at[j] = e.window_->first_open(j, end);
    }

    // Issues what the scheduler has chosen; the warp's next instruction becomes its head.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] inline void issue(
        int j, Chosen what, std::int64_t now) const {
        State& s = e.s_;
        const std::int32_t warp = kind.schedulers == 1 ? what.lane : l.warp_of[what.lane];
        Warp& w = e.warps_[warp];
        const std::uint32_t subsystem = what.subsystem;
        const auto free = static_cast<std::uint32_t>(now + w.timing.cpi - l.base)
                          << Lanes::time_shift;
        const bool shared = kind.schedulers > 1 && (e.shared_ >> subsystem & 1) != 0;
        Vectors::set_in_table(shared ? l.shared_free_at.data() : l.free_at[j].data(), subsystem,
                              free);
        s.last_subsystem[j] = subsystem;
        if constexpr (kind.pick == Pick::ring_per_subsystem) {
            s.ring[j * units + subsystem] = w.next_try;
            Vectors::set_in_table(l.ring[j].data(), subsystem, what.lane - j * kind.lanes + 1);
        } else {
            s.last_warp[j] = warp;
            const std::uint32_t lane = what.lane - j * kind.lanes;
            if constexpr (kind.pick == Pick::one_ring) {
                l.first[j] = lane + 1;
            } else if (e.layout_.policy == Policy::gto) {
                l.first[j] = lane;
                l.lane_at[j][0] = static_cast<std::uint8_t>(lane);
            }
        }
        if (e.window_) use_window(j, now);
        ++s.issued;
        std::int32_t next = s.head[warp] + 1;
        InOrderProgram::Instruction i = w.next;
        if ((w.flags & (InOrderProgram::special | InOrderProgram::ends)) != 0) [[unlikely]] {
            next = e.issue_special(w, warp, now);
            if (next < 0) {
                Vectors::set_lane(l.wake.data(), what.lane, Lanes::idle);
                return;
            }
            i = w.instructions[next];
        } else {
            w.times[w.place] = now + w.timing.latency;
            std::int64_t& last = s.last_result[w.slot];
            last = std::max(last, now + w.timing.finish);
        }
        s.head[warp] = next;
        const std::int64_t* const times = w.times;
        std::int64_t time =
            std::max({times[i.lookups[0]], times[i.lookups[1]], times[i.lookups[2]]});
        if ((i.flags & InOrderProgram::looks_more) != 0) [[unlikely]]
            time = last_lookup(w, next);
        w.timing = e.timings_[i.op];
        w.place = i.place;
        w.flags = i.flags;
        w.unit = w.first_unit + i.subsystem;
        w.next = w.instructions[next + 1];
        s.wake[warp] = time;
        Vectors::set_lane(l.wake.data(), what.lane, l.of(time));
        Vectors::set_lane(l.unit.data(), what.lane, i.subsystem);
    }

    // The proposals that are granted issue.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] inline void issue_round(
        const std::array<std::uint32_t, kind.schedulers>& keys, std::uint32_t proposing,
        std::int64_t now) const {
        std::array<Chosen, kind.schedulers> proposals;
        if constexpr (kind.schedulers == 1) {
            issue<kind>(0, chosen<kind>(0, keys[0]), now);
            return;
        }
#pragma GCC unroll 8
        for (int j = 0; j < kind.schedulers; ++j) proposals[j] = chosen<kind>(j, keys[j]);
        std::uint32_t taken = 0;  // shared units, in this round
        for (std::uint32_t left = proposing; left != 0; left &= left - 1) {
            const int j = lowest_bit(left);
            const std::uint32_t subsystem = proposals[j].subsystem;
            const std::uint32_t unit = std::uint32_t{1} << subsystem & e.shared_;
            if (unit != 0) {
                if ((taken & unit) != 0) continue;
                std::uint32_t rivals = 0;
#pragma GCC unroll 8
                for (int i = 0; i < kind.schedulers; ++i)
                    rivals |= static_cast<std::uint32_t>(proposals[i].subsystem == subsystem) << i;
                rivals &= left;
                const std::uint32_t after =
                    rivals & (~std::uint32_t{1} << e.s_.last_grant[subsystem]);
                if (lowest_bit(after != 0 ? after : rivals) != j) continue;
                taken |= unit;
                e.s_.last_grant[subsystem] = j;
            }
            issue<kind>(j, proposals[j], now);
        }
    }

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET)]] bool run(std::int64_t until) const {
        State& s = e.s_;
        e.attention_ = 0;
        while (true) {
            std::array<std::uint32_t, kind.schedulers> keys;
#pragma GCC unroll 8
            for (int j = 0; j < kind.schedulers; ++j) keys[j] = plan<kind>(j, s.now);
            std::uint32_t least = keys[0];
#pragma GCC unroll 8
            for (int j = 1; j < kind.schedulers; ++j) least = std::min(least, keys[j]);
            const std::uint32_t time = least >> Lanes::time_shift;
            const std::int64_t now = l.base + time;
            if (least >= Lanes::idle || e.next_end_ <= now || time > l.last_ahead) [[unlikely]] {
                const bool idle = least >= Lanes::idle;
                if (idle && e.next_end_ == never) return true;
                const std::int64_t next = idle ? e.next_end_ : std::min(now, e.next_end_);
                if (next > max_ticks) break;
                e.leave_lanes();
                s.now = next;
                if (next == e.next_end_) e.end_groups();
                e.enter_lanes();
                continue;
            }
            s.now = now;
            std::uint32_t proposing = 0;
#pragma GCC unroll 8
            for (int j = 0; j < kind.schedulers; ++j)
                proposing |= static_cast<std::uint32_t>(keys[j] >> Lanes::time_shift == time) << j;
            issue_round<kind>(keys, proposing, now);
            if (s.issued >= e.attention_) [[unlikely]] {
                if (e.detect_periods_) e.look_around();
                if (s.issued - e.skipped_ >= until) return false;
                e.attention_ = std::min(until + e.skipped_, e.next_choice_);
            }
        }
        throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
    }

    template <int schedulers, int lanes>
    [[gnu::target(OCCUPIPE_LANES_TARGET)]] bool run_with(std::int64_t until) const {
        const bool lrr = e.layout_.policy == Policy::lrr;
        switch (e.choice_) {
            case Choice::ring_per_subsystem:
                return run<Kind{schedulers, lanes, Pick::ring_per_subsystem}>(until);
            case Choice::by_age:
                return run<Kind{schedulers, lanes, Pick::by_age}>(until);
            case Choice::warp_first:
                break;
        }
        return lrr ? run<Kind{schedulers, lanes, Pick::one_ring}>(until)
                   : run<Kind{schedulers, lanes, Pick::one_by_age}>(until);
    }

    [[gnu::target(OCCUPIPE_LANES_TARGET)]] bool run_all(std::int64_t until) const {
        const int schedulers = l.schedulers;
        if (schedulers == 1) {
            if (l.per_scheduler == 16) return run_with<1, 16>(until);
            if (l.per_scheduler == 32) return run_with<1, 32>(until);
            return run_with<1, 64>(until);
        }
        if (schedulers <= 4) {
            if (l.per_scheduler == 16) return run_with<4, 16>(until);
            return run_with<4, 32>(until);
        }
        return run_with<8, 16>(until);
    }
};

}  // namespace occupipe::sim

#endif
