// SPDX-License-Identifier: MIT
// What lanes of a warp say to each other: votes, shuffles, matches, reductions.
//
// Lanes that run together take part: the compiler puts a WARPSYNC before where more are meant.
#include <algorithm>

#include "isa/machine/semantics.h"
#include "isa/machine/warp.h"

namespace occupipe::isa {
namespace {

enum class Vote : std::uint8_t { all, any, equal };

template <Vote how>
struct VoteOf {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Mask ballot = active & predicate(warp, step, 0);
        const bool result = how == Vote::all   ? ballot == active
                            : how == Vote::any ? ballot != 0
                                               : ballot == active || ballot == 0;
        assign(destination(warp, step), written(step, active), [&](int) { return ballot; });
        set_predicate(warp, step, 0, active, result ? all_lanes : 0);
    }
};

Handler bind_vote(const Instruction& one, int, Step& step, std::string& why_not) {
    if (one.has("ANY")) return handler_of<VoteOf<Vote::any>>();
    if (!step.destination_is_zero && !one.has("ALL")) {
        why_not = "with a register written";
        return nullptr;
    }
    return one.has("ALL") ? handler_of<VoteOf<Vote::all>>() : handler_of<VoteOf<Vote::equal>>();
}

enum class Shuffle : std::uint8_t { index, up, down, butterfly };

// As PTX defines shfl: the third source holds the last lane and, from bit 8 on, which bits of a
// lane's number stay.
template <Shuffle how>
struct ShuffleOf {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes from = *raw(warp, step, 0);
        const Lanes& by = *raw(warp, step, 1);
        const Lanes& bounds = *raw(warp, step, 2);
        Lanes source, inside;
        each_lane([&](int i) {
            const std::int32_t lane = i;
            const auto b = static_cast<std::int32_t>(by[i] & 31);
            const auto last = static_cast<std::int32_t>(bounds[i] & 31);
            const auto kept = static_cast<std::int32_t>(bounds[i] >> 8 & 31);
            const std::int32_t least = lane & kept;
            const std::int32_t most = least | (last & ~kept);
            std::int32_t other = 0;
            bool within = false;
            switch (how) {
                case Shuffle::index:
                    other = least | (b & ~kept);
                    within = other <= most;
                    break;
                case Shuffle::up:
                    other = lane - b;
                    within = other >= most;
                    break;
                case Shuffle::down:
                    other = lane + b;
                    within = other <= most;
                    break;
                case Shuffle::butterfly:
                    other = lane ^ b;
                    within = other <= most;
                    break;
            }
            source[i] = static_cast<std::uint32_t>(within ? other : lane);
            inside[i] = within ? 0xffffffff : 0;
        });
        Lanes result;
        for (int i = 0; i < lane_count; ++i) result[i] = from.v[source[i] & 31];
        assign(destination(warp, step), active, result);
        if (step.predicate_written[0]) set_predicate(warp, step, 0, active, signs_of(inside));
    }
};

Handler bind_shuffle(const Instruction& one, int, Step&, std::string&) {
    if (one.has("IDX")) return handler_of<ShuffleOf<Shuffle::index>>();
    if (one.has("UP")) return handler_of<ShuffleOf<Shuffle::up>>();
    if (one.has("DOWN")) return handler_of<ShuffleOf<Shuffle::down>>();
    return handler_of<ShuffleOf<Shuffle::butterfly>>();
}

OCCUPIPE_INLINE std::uint64_t match_value(const Lanes* value, bool wide, int lane) {
    return wide ? pair(value, lane) : value[0][lane];
}

struct MatchAll {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const value = raw(warp, step, 0);
        const bool wide = step.option[0] != 0;
        const std::uint64_t first = match_value(value, wide, std::countr_zero(active));
        bool same = true;
        each_of(active, [&](int lane) { same &= match_value(value, wide, lane) == first; });
        assign(destination(warp, step), active, [&](int) { return same ? active : 0; });
        set_predicate(warp, step, 0, active, same ? all_lanes : 0);
    }
};

struct MatchAny {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const value = raw(warp, step, 0);
        const bool wide = step.option[0] != 0;
        Lanes result{};
        Mask rest = active;
        while (rest != 0) {
            const std::uint64_t first = match_value(value, wide, std::countr_zero(rest));
            Mask same = 0;
            each_of(rest, [&](int lane) {
                if (match_value(value, wide, lane) == first) same |= Mask{1} << lane;
            });
            each_of(same, [&](int lane) { result[lane] = same; });
            rest &= ~same;
        }
        assign(destination(warp, step), active, result);
    }
};

Handler bind_match(const Instruction& one, int, Step& step, std::string&) {
    step.option[0] = one.has("U64") ? 1 : 0;
    return one.has("ALL") ? handler_of<MatchAll>() : handler_of<MatchAny>();
}

enum class Reduction : std::uint8_t { bit_and, bit_or, bit_xor, sum, min, max };

template <Reduction how, bool is_signed>
struct Reduce {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& value = *raw(warp, step, 0);
        std::uint32_t result = value[std::countr_zero(active)];
        const std::uint32_t turn = is_signed ? 0x80000000 : 0;
        each_of(active & (active - 1), [&](int lane) {
            const std::uint32_t one = value[lane];
            switch (how) {
                case Reduction::bit_and:
                    result &= one;
                    break;
                case Reduction::bit_or:
                    result |= one;
                    break;
                case Reduction::bit_xor:
                    result ^= one;
                    break;
                case Reduction::sum:
                    result += one;
                    break;
                case Reduction::min:
                    result = std::min(result ^ turn, one ^ turn) ^ turn;
                    break;
                case Reduction::max:
                    result = std::max(result ^ turn, one ^ turn) ^ turn;
                    break;
            }
        });
        destination(warp, step) = splat(result);
    }
};

Handler bind_reduce(const Instruction& one, int, Step&, std::string& why_not) {
    if (one.has("MAXABS") || one.has("MINABS")) {
        why_not = "of absolute values";
        return nullptr;
    }
    const bool is_signed = one.has("S32");
    if (one.has("MIN")) {
        return is_signed ? handler_of<Reduce<Reduction::min, true>>()
                         : handler_of<Reduce<Reduction::min, false>>();
    }
    if (one.has("MAX")) {
        return is_signed ? handler_of<Reduce<Reduction::max, true>>()
                         : handler_of<Reduce<Reduction::max, false>>();
    }
    if (one.has("OR")) return handler_of<Reduce<Reduction::bit_or, false>>();
    if (one.has("XOR")) return handler_of<Reduce<Reduction::bit_xor, false>>();
    if (one.has("SUM")) return handler_of<Reduce<Reduction::sum, false>>();
    if (one.opcode == "CREDUX") {
        why_not = "this reduction";
        return nullptr;
    }
    return handler_of<Reduce<Reduction::bit_and, false>>();
}

constexpr Semantics table[] = {
    {"VOTE", &bind_vote},   {"VOTEU", &bind_vote},   {"SHFL", &bind_shuffle},
    {"MATCH", &bind_match}, {"REDUX", &bind_reduce}, {"CREDUX", &bind_reduce},
};

}  // namespace

std::span<const Semantics> collective_semantics() { return table; }

}  // namespace occupipe::isa
