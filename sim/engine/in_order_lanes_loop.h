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
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "sim/engine/in_order_engine.h"
#include "sim/engine/in_order_lanes.h"
#include "sim/machine/bits.h"

namespace occupipe::sim {

// Has InOrderEngine's own access to it.
template <typename Vectors>
struct InOrderEngine::LaneLoop {
    using Vector = typename Vectors::Vector;
    using Eight = typename Vectors::Eight;  // tables of subsystems
    using Part = Lanes::Part;

    // How the warp is found, see InOrderEngine::Choice.
    enum class Pick { ring_per_subsystem, by_age, one_ring, one_by_age };
    struct Kind {
        int schedulers;
        int lanes;  // of each
        Pick pick;
        constexpr bool subsystem_first() const {
            return pick == Pick::ring_per_subsystem || pick == Pick::by_age;
        }
        constexpr int vectors() const { return lanes / Vectors::width; }
    };

    // A scheduler's part of Lanes in registers. A load of a whole vector would have to wait for the
    // store of one number in it, so that what is looked up by number stands apart.
    template <Kind kind>
    struct Own {
        Vector wake[kind.vectors()];  // std::array warns of vectors' attributes
        Vector unit[kind.vectors()];
        typename Eight::Vector free_at;
        typename Eight::Vector ring;
    };

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void load(
        const Part& q, Own<kind>& own) {
        for (int i = 0; i < kind.vectors(); ++i) {
            own.wake[i] = Vectors::load(&q.wake[i * Vectors::width]);
            own.unit[i] = Vectors::load(&q.unit[i * Vectors::width]);
        }
        own.free_at = Eight::load(q.free_at.data());
        own.ring = Eight::load(q.ring.data());
    }

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void store(
        Part& q, const Own<kind>& own) {
        for (int i = 0; i < kind.vectors(); ++i) {
            Vectors::store(&q.wake[i * Vectors::width], own.wake[i]);
            Vectors::store(&q.unit[i * Vectors::width], own.unit[i]);
        }
        Eight::store(q.free_at.data(), own.free_at);
        if constexpr (kind.pick == Pick::ring_per_subsystem) Eight::store(q.ring.data(), own.ring);
    }

    // The least key of the scheduler's lanes but one, if it may not issue before `open`.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline std::uint32_t select(
        const Lanes& l, const Part& q, const Own<kind>& own, std::uint32_t open,
        std::uint32_t after, std::uint32_t without) {
        typename Eight::Vector free = own.free_at;
        if constexpr (kind.schedulers > 1)
            free = Eight::max(free, Eight::load(l.shared_free_at.data()));
        const Vector from = Vectors::all(open);
        const Vector out = Vectors::all(without);
        const Vector lane_mask = Vectors::all(kind.lanes - 1);
        const Vector first = Vectors::all(q.first);
        [[maybe_unused]] const typename Eight::Vector turns = Eight::load(l.turns[after].data());
        Vector best = Vectors::all(~std::uint32_t{0});
        for (int i = 0; i < kind.vectors(); ++i) {
            const Vector unit = own.unit[i];
            const Vector lane = Vectors::counting_from(i * Vectors::width);
            Vector key =
                Vectors::max(Vectors::max(own.wake[i], from), Vectors::look_up(free, unit));
            Vector rest = Vectors::equal(lane, out);
            if constexpr (kind.pick == Pick::ring_per_subsystem)
                rest = Vectors::either(
                    rest, Vectors::both(Vectors::minus(lane, Vectors::look_up(own.ring, unit)),
                                        lane_mask));
            else if constexpr (kind.pick == Pick::one_ring)
                rest = Vectors::either(rest, Vectors::both(Vectors::minus(lane, first), lane_mask));
            else
                rest = Vectors::either(rest,
                                       Vectors::but_not(Vectors::load(&q.rank[i * Vectors::width]),
                                                        Vectors::equal(lane, first)));
            if constexpr (kind.subsystem_first())
                rest = Vectors::either(rest, Vectors::look_up(turns, unit));
            best = Vectors::min(best, Vectors::either(key, rest));
        }
        return Vectors::least(best);
    }

    // The key of one lane, as select() has it.
    template <Kind kind>
    [[gnu::always_inline]] static inline std::uint32_t key_of(
        const Lanes& l, const Part& q, std::uint32_t lane, std::uint32_t wake, std::uint32_t unit,
        std::uint32_t open, std::uint32_t after) {
        std::uint32_t free = q.free_of[unit];
        if constexpr (kind.schedulers > 1) free = std::max(free, l.shared_free_of[unit]);
        std::uint32_t key = std::max(std::max(open, free), wake);
        std::uint32_t rest = 0;
        if constexpr (kind.pick == Pick::ring_per_subsystem)
            rest = (lane - q.ring_of[unit]) & (kind.lanes - 1);
        else if constexpr (kind.pick == Pick::one_ring)
            rest = (lane - q.first) & (kind.lanes - 1);
        else
            rest = lane == q.first ? 0 : q.rank[lane];
        if constexpr (kind.subsystem_first()) rest |= l.turns[after][unit];
        return key | rest;
    }

    // Where a scheduler may find its window closed it waits until that opens, when other units may
    // be free, too.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void wait_for_window(
        const InOrderEngine& e, const Lanes& l, int j, Part& q, const Own<kind>& own) {
        if (!e.may_close_ || q.key >= Lanes::idle) [[likely]]
            return;
        const std::int64_t time = l.base + (q.key >> Lanes::time_shift);
        const std::int64_t first = e.window_->first_open(j, time);
        if (first > time) q.key = select<kind>(l, q, own, l.of(first), q.after, Lanes::no_lane);
    }

    // After the key. With several schedulers that is done as soon as it is known, while others
    // issue; with one there is nothing else to do meanwhile.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void look_up_choice(
        const InOrderEngine& e, const Lanes& l, Part& q) {
        const std::uint32_t position = q.key & 127;
        std::uint32_t subsystem = 0;
        if constexpr (kind.subsystem_first()) subsystem = (q.after + 1 + (q.key >> 7)) & 7;
        std::uint32_t lane = 0;
        if constexpr (kind.pick == Pick::ring_per_subsystem)
            lane = (position + q.ring_of[subsystem]) & (kind.lanes - 1);
        else if constexpr (kind.pick == Pick::one_ring)
            lane = (position + q.first) & (kind.lanes - 1);
        else
            lane = q.lane_at[position];
        const std::uint32_t warp = kind.schedulers == 1 ? lane : q.warp_of[lane];
        const std::uint64_t head = word_of(e.warps_[warp].current);
        if constexpr (!kind.subsystem_first())
            subsystem = static_cast<std::uint32_t>(head >> subsystem_at & 255);
        q.subsystem = subsystem;
        q.lane = lane;
        q.warp = warp;
        q.head = head;
        q.op = l.ops[head >> op_at & 0xffff];
    }

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void plan(
        const InOrderEngine& e, Lanes& l, int j, std::uint32_t time) {
        Part& q = l.parts[j];
        Own<kind> own;
        load<kind>(q, own);
        const std::uint32_t open = std::max(q.open, time << Lanes::time_shift);
        q.key = select<kind>(l, q, own, open, q.after, Lanes::no_lane);
        wait_for_window<kind>(e, l, j, q, own);
        if constexpr (kind.schedulers > 1) look_up_choice<kind>(e, l, q);
    }

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::noinline]] static void plan_all_from(
        const InOrderEngine& e, Lanes& l, std::uint32_t time) {
        for (int j = 0; j < kind.schedulers; ++j) plan<kind>(e, l, j, time);
    }

    [[gnu::always_inline]] static inline void use_window(const InOrderEngine& e, const Lanes& l,
                                                         int j, Part& q, std::int64_t now) {
        if (!e.window_) return;
        std::int64_t end = 0;
        if (e.cycle_mask_ >= 0) [[likely]]
            end = (now | e.cycle_mask_) + 1;
        else if (q.window_end > now)
            end = q.window_end;
        else
            end = e.window_->end_of_cycle(now);
        std::int64_t allowed = e.window_allows_;
        if (allowed == 1 && !e.may_close_) {
            q.window_end = end;
            q.window_left = 0;
            q.open = static_cast<std::uint32_t>(end - l.base) << Lanes::time_shift;
            return;
        }
        if (allowed == 0) [[unlikely]]
            allowed = e.window_->allowed_until(j, end);
        // Without branches, as they would be foreseen wrongly.
        const auto same = -static_cast<std::int64_t>(q.window_end == end);
        const std::int64_t left = (allowed ^ ((allowed ^ q.window_left) & same)) - 1;
        const auto full = -static_cast<std::int64_t>(left == 0);
        q.window_end = end;
        q.window_left = left;
        const std::uint32_t open = static_cast<std::uint32_t>(end - l.base) << Lanes::time_shift;
        q.open ^= (q.open ^ open) & static_cast<std::uint32_t>(full);
        if (!e.may_close_ || left != 0) [[likely]]
            return;
        q.open = l.of(e.window_->first_open(j, end));
    }

    // Barrier, end of a loop, a result in a ring. Returns the next instruction, or -1.
    [[gnu::noinline]] static std::int32_t issue_special(InOrderEngine& e, Lanes& l, Warp& w,
                                                        std::int32_t warp, std::int64_t now) {
        w.timing = e.timings_[w.current.op];
        w.place = w.current.place;
        w.flags = w.current.flags;
        const std::int32_t next = e.InOrderEngine::issue_special(w, warp, now);
        if (next < 0) l.parts[w.scheduler].wake[l.lane_of[warp]] = Lanes::idle;
        return next;
    }
    [[gnu::noinline]] static std::int64_t look_up_all(const Warp& w, std::int32_t head) {
        return last_lookup(w, head);
    }

    // Where parts of an instruction stand in its eight bytes, which are read and written at once.
    static constexpr int place_at = 24;
    static constexpr int op_at = 32;
    static constexpr int subsystem_at = 48;
    static constexpr int flags_at = 56;
    static_assert(std::endian::native == std::endian::little);
    [[gnu::always_inline]] static inline std::uint64_t word_of(
        const InOrderProgram::Instruction& i) {
        return std::bit_cast<std::uint64_t>(i);
    }

    // Else the compiler computes the address anew at each use.
    template <typename T>
    [[gnu::always_inline]] static inline T& kept(T& object) {
        T* at = &object;
        asm("" : "+r"(at));
        return *at;
    }

    // Issues what the scheduler has chosen; the warp's next instruction becomes its head.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void issue(
        InOrderEngine& e, Lanes& l, Own<kind>& own, int j, Part& q, std::uint32_t subsystem,
        std::uint32_t time) {
        State& s = e.s_;
        const std::uint32_t lane = q.lane;
        const auto warp = static_cast<std::int32_t>(q.warp);
        Warp& w = kept(e.warps_[warp]);
        const std::int64_t now = l.base + time;
        const std::uint64_t head = q.head;
        const Lanes::Op op = q.op;
        const std::uint32_t free = (time + op.cpi) << Lanes::time_shift;

        // Unit and rings. Times only grow, so that the greater one is the new one.
        const typename Eight::Vector there =
            Eight::equal(Eight::counting_from(0), Eight::all(subsystem));
        const typename Eight::Vector from = Eight::both(there, Eight::all(free));
        if constexpr (kind.schedulers > 1) {
            // What is not shared is 0 there, and the other way round; without a branch.
            const std::uint32_t shared = std::uint32_t{0} - (e.shared_ >> subsystem & 1);
            l.shared_free_of[subsystem] = free & shared;
            q.free_of[subsystem] = free & ~shared;
            Eight::store(l.shared_free_at.data(),
                         Eight::max(Eight::load(l.shared_free_at.data()),
                                    Eight::both(from, Eight::all(shared))));
            own.free_at = Eight::max(own.free_at, Eight::both(from, Eight::all(~shared)));
        } else {
            q.free_of[subsystem] = free;
            own.free_at = Eight::max(own.free_at, from);
        }
        q.after = subsystem;
        if constexpr (kind.pick == Pick::ring_per_subsystem) {
            const std::uint32_t before = std::exchange(q.ring_of[subsystem], lane + 1);
            own.ring = Eight::differ(own.ring, Eight::both(there, Eight::all(before ^ (lane + 1))));
        } else {
            if constexpr (kind.pick == Pick::one_ring) {
                q.first = lane + 1;
            } else if (l.greedy) {
                q.first = lane;
                q.lane_at[0] = static_cast<std::uint8_t>(lane);
            }
        }
        use_window(e, l, j, q, now);
        ++s.issued;

        std::int32_t next = s.head[warp] + 1;
        std::uint64_t i = word_of(w.next);
        constexpr std::uint64_t rare = std::uint64_t{InOrderProgram::special | InOrderProgram::ends}
                                       << flags_at;
        const bool special = (head & rare) != 0;
        if (special) [[unlikely]] {
            // It changes lanes, also those of other warps.
            store<kind>(q, own);
            next = issue_special(e, l, w, warp, now);
            load<kind>(q, own);
            if (next < 0) {
                plan_all_from<kind>(e, l, time);
                return;
            }
            i = word_of(w.instructions[next]);
        } else {
            w.times[head >> place_at & 255] = now + op.latency;
            std::int64_t& last = *w.last_result;
            last = std::max<std::int64_t>(last, now + op.finish);
        }

        // What the others could do does not need the new head.
        const std::uint32_t open = std::max(q.open, time << Lanes::time_shift);
        const std::uint32_t others = select<kind>(l, q, own, open, subsystem, lane);
        const std::int64_t* const times = w.times;
        std::int64_t ready = std::max({times[i & 255], times[i >> 8 & 255], times[i >> 16 & 255]});
        constexpr std::uint64_t more = std::uint64_t{InOrderProgram::looks_more} << flags_at;
        if ((i & more) != 0) [[unlikely]]
            ready = look_up_all(w, next);
        std::memcpy(static_cast<void*>(&w.current), &i, sizeof i);
        w.next = w.instructions[next + 1];
        s.head[warp] = next;
        s.wake[warp] = ready;
        // As Lanes::of(), but not before now.
        const std::int64_t until = std::max(ready, now) - l.base;
        const std::uint32_t wake =
            static_cast<std::uint32_t>(std::min<std::int64_t>(until, Lanes::last_time))
            << Lanes::time_shift;
        const auto unit = static_cast<std::uint32_t>(i >> subsystem_at & 255);
        const Vector new_wake = Vectors::all(wake);
        const Vector change = Vectors::all(unit ^ subsystem);
        for (int v = 0; v < kind.vectors(); ++v) {
            const Vector here =
                Vectors::equal(Vectors::counting_from(v * Vectors::width), Vectors::all(lane));
            own.wake[v] = Vectors::max(own.wake[v], Vectors::both(here, new_wake));
            own.unit[v] = Vectors::differ(own.unit[v], Vectors::both(here, change));
        }
        q.key = std::min(others, key_of<kind>(l, q, lane, wake, unit, open, subsystem));
        wait_for_window<kind>(e, l, j, q, own);
        if constexpr (kind.schedulers > 1) look_up_choice<kind>(e, l, q);
        if (special) [[unlikely]] {
            // A barrier may have opened.
            store<kind>(q, own);
            plan_all_from<kind>(e, l, time);
        }
    }

    // The proposals that are granted issue; those that are not plan anew.
    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline void issue_round(
        InOrderEngine& e, Lanes& l, std::uint32_t left, std::uint32_t time) {
        while (left != 0) {
            const int j = lowest_bit(left);
            left &= left - 1;
            Part& q = kept(l.parts[j]);
            const std::uint32_t subsystem = q.subsystem;
            // Of a unit that is not shared nobody is.
            const std::uint32_t shared = e.shared_ >> subsystem & 1;
            std::uint32_t rivals = 0;
#pragma GCC unroll 8
            for (int i = 0; i < kind.schedulers; ++i)
                rivals |= static_cast<std::uint32_t>(l.parts[i].subsystem == subsystem) << i;
            rivals &= ~(std::uint32_t{1} << j) & (0 - shared);
            std::int32_t& last = e.s_.last_grant[subsystem];
            if ((rivals & left) != 0) {
                const std::uint32_t all = (rivals & left) | std::uint32_t{1} << j;
                const std::uint32_t after = all & (~std::uint32_t{1} << last);
                if (lowest_bit(after != 0 ? after : all) != j) continue;
                left &= ~rivals;
            }
            last ^= (last ^ j) & -static_cast<std::int32_t>(shared);
            Own<kind> own;
            load<kind>(q, own);
            issue<kind>(e, l, own, j, q, subsystem, time);
            store<kind>(q, own);
            for (; rivals != 0; rivals &= rivals - 1) {
                const int i = lowest_bit(rivals);
                if (l.parts[i].key < l.shared_free_of[subsystem]) plan<kind>(e, l, i, time);
            }
        }
    }

    // Nothing issues before a group ends, at all, or within reach of the lanes' times. False: that
    // was all.
    template <Kind kind>
    [[gnu::noinline]] static bool move_on(InOrderEngine& e, Lanes& l, std::uint32_t least) {
        const bool idle = least >= Lanes::idle;
        if (idle && e.next_end_ == never) return false;
        const std::int64_t now = l.base + (least >> Lanes::time_shift);
        const std::int64_t next = idle ? e.next_end_ : std::min(now, e.next_end_);
        if (next > max_ticks)
            throw InputError("the run takes more than 2^62 ticks; launch fewer groups");
        e.leave_lanes();
        e.s_.now = next;
        if (next == e.next_end_) e.end_groups();
        e.enter_lanes();
        plan_all_from<kind>(e, l, 0);
        return true;
    }

    template <Kind kind>
    [[gnu::target(OCCUPIPE_LANES_TARGET)]] static bool run(InOrderEngine& e, Lanes& l,
                                                           std::int64_t until) {
        constexpr bool alone = kind.schedulers == 1;  // then its part stays in registers
        State& s = e.s_;
        e.attention_ = 0;
        plan_all_from<kind>(e, l, 0);
        Own<kind> own;
        if constexpr (alone) load<kind>(l.parts[0], own);
        while (true) {
            std::uint32_t least = l.parts[0].key;
#pragma GCC unroll 8
            for (int j = 1; j < kind.schedulers; ++j) least = std::min(least, l.parts[j].key);
            const std::uint32_t time = least >> Lanes::time_shift;
            if (least >= Lanes::idle || e.next_end_ <= l.base + time || time > l.last_ahead)
                [[unlikely]] {
                if constexpr (alone) store<kind>(l.parts[0], own);
                const std::int64_t ended = e.progress().ended_groups;
                if (!move_on<kind>(e, l, least)) return true;
                if (e.given_ && e.progress().ended_groups != ended) return false;
                if constexpr (alone) load<kind>(l.parts[0], own);
                continue;
            }
            if constexpr (alone) {
                look_up_choice<kind>(e, l, l.parts[0]);
                issue<kind>(e, l, own, 0, l.parts[0], l.parts[0].subsystem, time);
            } else {
                std::uint32_t proposing = 0;
#pragma GCC unroll 8
                for (int j = 0; j < kind.schedulers; ++j)
                    proposing |=
                        static_cast<std::uint32_t>(l.parts[j].key >> Lanes::time_shift == time)
                        << j;
                issue_round<kind>(e, l, proposing, time);
            }
            s.now = l.base + time;
            if (s.issued >= e.attention_) [[unlikely]] {
                if constexpr (alone) store<kind>(l.parts[0], own);
                const std::int64_t skipped = e.skipped_;
                if (e.detect_periods_) e.look_around();
                if (e.skipped_ != skipped) {
                    plan_all_from<kind>(e, l, 0);
                    if constexpr (alone) load<kind>(l.parts[0], own);
                }
                if (s.issued - e.skipped_ >= until) return false;
                e.attention_ = std::min(until + e.skipped_, e.next_choice_);
            }
        }
    }

    template <int schedulers, int lanes>
    static bool run_with(InOrderEngine& e, Lanes& l, std::int64_t until) {
        switch (e.choice_) {
            case Choice::ring_per_subsystem:
                return run<Kind{schedulers, lanes, Pick::ring_per_subsystem}>(e, l, until);
            case Choice::by_age:
                return run<Kind{schedulers, lanes, Pick::by_age}>(e, l, until);
            case Choice::warp_first:
                break;
        }
        return e.layout_.policy == Policy::lrr
                   ? run<Kind{schedulers, lanes, Pick::one_ring}>(e, l, until)
                   : run<Kind{schedulers, lanes, Pick::one_by_age}>(e, l, until);
    }

    // Of eight lanes only where vectors have no more.
    template <int schedulers, int lanes>
    static bool run_if_any(InOrderEngine& e, Lanes& l, std::int64_t until) {
        if constexpr (lanes >= Vectors::width) return run_with<schedulers, lanes>(e, l, until);
        return false;
    }

    static bool run_all(InOrderEngine& e, Lanes& l, std::int64_t until) {
        if (l.schedulers == 1) {
            if (l.per_scheduler == 8) return run_if_any<1, 8>(e, l, until);
            if (l.per_scheduler == 16) return run_with<1, 16>(e, l, until);
            if (l.per_scheduler == 32) return run_with<1, 32>(e, l, until);
            return run_with<1, 64>(e, l, until);
        }
        if (l.schedulers <= 4) {
            if (l.per_scheduler == 8) return run_if_any<4, 8>(e, l, until);
            if (l.per_scheduler == 16) return run_with<4, 16>(e, l, until);
            return run_with<4, 32>(e, l, until);
        }
        if (l.per_scheduler == 8) return run_if_any<8, 8>(e, l, until);
        return run_with<8, 16>(e, l, until);
    }
};

}  // namespace occupipe::sim

#endif
