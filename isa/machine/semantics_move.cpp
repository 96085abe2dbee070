// SPDX-License-Identifier: MIT
// Moves, choices, special registers, predicates as bits.
#include <fmt/format.h>

#include "isa/machine/launch.h"
#include "isa/machine/semantics.h"

namespace occupipe::isa {
namespace {

template <int words>
struct Move {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const from = raw(warp, step, 0);
        Lanes* const into = &destination(warp, step);
        // Both before either: the pairs may overlap.
        const Lanes first = from[0];
        if constexpr (words == 2) assign(into[1], written(step, active), from[1]);
        assign(into[0], written(step, active), first);
    }
};

Handler bind_move(const Instruction& one, int, Step&, std::string&) {
    return one.has("64") ? handler_of<Move<2>>() : handler_of<Move<1>>();
}

template <int words>
struct Choose {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes* const a = raw(warp, step, 0);
        const Lanes* const b = raw(warp, step, 1);
        Lanes* const into = &destination(warp, step);
        const Mask first = predicate(warp, step, 0);
        Lanes chosen[words];
        for (int w = 0; w < words; ++w) {
            each_lane(
                [&](int i) { chosen[w][i] = (first & lane_bits[i]) != 0 ? a[w][i] : b[w][i]; });
        }
        for (int w = 0; w < words; ++w) assign(into[w], written(step, active), chosen[w]);
    }
};

Handler bind_choose(const Instruction& one, int, Step&, std::string&) {
    return one.has("64") ? handler_of<Choose<2>>() : handler_of<Choose<1>>();
}

// ---- special registers

namespace special {
constexpr int lane = 0, clock = 1, thread_packed = 32, thread_x = 33, thread_y = 34, thread_z = 35,
              group_x = 37, group_y = 38, group_z = 39, local_window_high = 46,
              shared_window_high = 47, equal_mask = 56, less_mask = 57, less_equal_mask = 58,
              greater_mask = 59, greater_equal_mask = 60, clock_low = 80, clock_high = 81,
              timer_low = 82, timer_high = 83, rank_in_cluster = 136, cluster_size = 138,
              zero = 255;
}

template <int number>
OCCUPIPE_INLINE std::uint32_t special_value(const Warp& warp, int i) {
    const Group& group = *warp.group;
    const auto bit = std::uint32_t{1} << i;
    switch (number) {
        case special::lane:
            return static_cast<std::uint32_t>(i);
        case special::thread_x:
            return warp.thread_x[i];
        case special::thread_y:
            return warp.thread_y[i];
        case special::thread_z:
            return warp.thread_z[i];
        case special::thread_packed:
            return warp.thread_x[i] | warp.thread_y[i] << 16 | warp.thread_z[i] << 26;
        case special::group_x:
            return group.place[0];
        case special::group_y:
            return group.place[1];
        case special::group_z:
            return group.place[2];
        case special::local_window_high:
            return local_window;
        case special::shared_window_high:
            return shared_window;
        case special::equal_mask:
            return bit;
        case special::less_mask:
            return bit - 1;
        case special::less_equal_mask:
            return bit | (bit - 1);
        case special::greater_mask:
            return ~(bit | (bit - 1));
        case special::greater_equal_mask:
            return ~(bit - 1);
        case special::cluster_size:
            return 1;
        default:
            return 0;
    }
}

template <int number, int words>
struct ReadSpecial {
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        Lanes* const into = &destination(warp, step);
        const Mask mask = written(step, active);
        assign(into[0], mask, [&](int i) { return special_value<number>(warp, i); });
        if constexpr (words == 2) assign(into[1], mask, [](int) { return 0U; });
    }
};

// A clock that counts the group's warp-instructions: it grows, and says nothing of time.
template <int words, bool high>
struct ReadClock {
    static void run(Warp& warp, const Step& step, Mask active) {
        const std::uint64_t now = ++warp.group->clock;
        Lanes* const into = &destination(warp, step);
        const Mask mask = written(step, active);
        assign(into[0], mask,
               [&](int) { return static_cast<std::uint32_t>(high ? now >> 32 : now); });
        if constexpr (words == 2) {
            assign(into[1], mask, [&](int) { return static_cast<std::uint32_t>(now >> 32); });
        }
    }
};

template <int words>
Handler special_handler(std::int64_t number) {
    using namespace special;
#define OCCUPIPE_CASE(name) \
    case name:              \
        return handler_of<ReadSpecial<name, words>>();
    switch (number) {
        OCCUPIPE_CASE(lane)
        OCCUPIPE_CASE(thread_packed)
        OCCUPIPE_CASE(thread_x)
        OCCUPIPE_CASE(thread_y)
        OCCUPIPE_CASE(thread_z)
        OCCUPIPE_CASE(group_x)
        OCCUPIPE_CASE(group_y)
        OCCUPIPE_CASE(group_z)
        OCCUPIPE_CASE(local_window_high)
        OCCUPIPE_CASE(shared_window_high)
        OCCUPIPE_CASE(equal_mask)
        OCCUPIPE_CASE(less_mask)
        OCCUPIPE_CASE(less_equal_mask)
        OCCUPIPE_CASE(greater_mask)
        OCCUPIPE_CASE(greater_equal_mask)
        OCCUPIPE_CASE(rank_in_cluster)
        OCCUPIPE_CASE(cluster_size)
        OCCUPIPE_CASE(zero)
        case clock:
        case clock_low:
        case timer_low:
            return handler_of<ReadClock<words, false>>();
        case clock_high:
        case timer_high:
            return handler_of<ReadClock<words, true>>();
        default:
            return nullptr;
    }
#undef OCCUPIPE_CASE
}

Handler bind_special(const Instruction& one, int, Step&, std::string& why_not) {
    const Operand& operand = one.operands.back();
    const bool wide = one.opcode.starts_with("CS2") && !one.has("32");
    const Handler found =
        wide ? special_handler<2>(operand.value) : special_handler<1>(operand.value);
    if (!found) why_not = fmt::format("special register {}", operand.value);
    return found;
}

// ---- between the files

// The word of the first lane that runs.
struct ToUniform {  // R2UR
    static void run(Warp& warp, const Step& step, Mask active) {
        const std::uint32_t value = (*raw(warp, step, 0))[std::countr_zero(active)];
        destination(warp, step) = splat(value);
    }
};

// With a predicate and no register: whether the running lanes have different words. That is how
// code looks that asks whether all lanes bring one mask; where they do not, it waits for each mask.
struct DifferentWords {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& values = *raw(warp, step, 0);
        const std::uint32_t first = values[std::countr_zero(active)];
        const Mask other = active & mask_where([&](int i) { return values[i] != first; });
        Mask& place = warp.predicates[step.predicate_out[0]];
        place = (place & ~active) | (other != 0 ? active : 0);
    }
};

// With both: the word of the first lane, and which lanes have another one (.OR: or had, of a word
// before). Code that needs uniform operands and has not got them does what it has to for the lanes
// of one word, and goes on with the others until none is left.
struct ToUniformByWord {
    static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& values = *raw(warp, step, 0);
        const std::uint32_t first = values[std::countr_zero(active)];
        const Mask other = active & mask_where([&](int i) { return values[i] != first; });
        Mask& place = warp.predicates[step.predicate_out[0]];
        place = (step.option[0] != 0 ? place : place & ~active) | other;
        destination(warp, step) = splat(first);
    }
};

Handler bind_to_uniform(const Instruction& one, int, Step& step, std::string& why_not) {
    const bool tests = step.predicate_written[0];
    step.option[0] = one.has("OR");
    if (one.has("FILL") || one.has("BROADCAST") || (one.has("OR") && step.destination_is_zero)) {
        why_not = "with .FILL, .BROADCAST, or .OR alone";
        return nullptr;
    }
    if (tests && !step.destination_is_zero) return handler_of<ToUniformByWord>();
    if (tests) return handler_of<DifferentWords>();
    return handler_of<ToUniform>();
}

// Bits 0 to 6 of a byte are P0 to P6.
struct PredicatesToBits {  // P2R
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& old = *raw(warp, step, 0);
        const Lanes& mask = *raw(warp, step, 1);
        const unsigned shift = step.option[0];
        Lanes bits;
        each_lane([&](int i) {
            std::uint32_t all = 0;
            for (unsigned p = 0; p < 7; ++p) {
                all |= ((warp.predicates[p] & lane_bits[i]) != 0 ? 1U : 0U) << p;
            }
            bits[i] = all << shift;
        });
        assign(destination(warp, step), active, [&](int i) {
            const std::uint32_t chosen = mask[i] << shift;
            return (old[i] & ~chosen) | (bits[i] & chosen);
        });
    }
};

Handler bind_predicates_to_bits(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.source_count != 2) {
        why_not = "with other operands";
        return nullptr;
    }
    step.option[0] = one.has("B1") ? 8 : one.has("B2") ? 16 : one.has("B3") ? 24 : 0;
    return handler_of<PredicatesToBits>();
}

struct BitsToPredicates {  // R2P
    OCCUPIPE_INLINE static void run(Warp& warp, const Step& step, Mask active) {
        const Lanes& bits = *raw(warp, step, 0);
        const Lanes& mask = *raw(warp, step, 1);
        const unsigned shift = step.option[0];
        for (unsigned p = 0; p < 7; ++p) {
            const Mask chosen = active & mask_where([&](int i) { return (mask[i] >> p & 1) != 0; });
            const Mask value = mask_where([&](int i) { return (bits[i] >> (p + shift) & 1) != 0; });
            warp.predicates[p] = (warp.predicates[p] & ~chosen) | (value & chosen);
        }
    }
};

Handler bind_bits_to_predicates(const Instruction& one, int, Step& step, std::string& why_not) {
    if (step.source_count != 2) {
        why_not = "with other operands";
        return nullptr;
    }
    for (const Operand& operand : one.operands) {
        if (operand.part == ".B1") step.option[0] = 8;
        if (operand.part == ".B2") step.option[0] = 16;
        if (operand.part == ".B3") step.option[0] = 24;
    }
    return handler_of<BitsToPredicates>();
}

constexpr Semantics table[] = {
    {"MOV", &bind_move},
    {"UMOV", &bind_move},
    {"SEL", &bind_choose},
    {"USEL", &bind_choose},
    {"S2R", &bind_special},
    {"S2UR", &bind_special},
    {"CS2R", &bind_special},
    {"CS2UR", &bind_special},
    {"R2UR", &bind_to_uniform},
    {"P2R", &bind_predicates_to_bits},
    {"R2P", &bind_bits_to_predicates},
};

}  // namespace

std::span<const Semantics> move_semantics() { return table; }

}  // namespace occupipe::isa
