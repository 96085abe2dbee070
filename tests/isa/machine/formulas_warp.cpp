// SPDX-License-Identifier: MIT
// What lanes do together, and what moves between the files of registers.
#include <bit>

#include "tests/isa/machine/formulas.h"

namespace occupipe::isa::test {
namespace {

std::uint32_t source_of(Case& of, std::size_t i, int lane) { return Lane(of, lane).raw(i); }

// PTX, shfl: where a lane reads, whether that is in range, with b the third source and c the clamp
// and segment of the fourth.
bool shuffle(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const int me = lane.number();
        const int b = static_cast<int>(lane.raw(1) & 31);
        const auto c = static_cast<int>(lane.raw(2));
        const int clamp = c & 31, segment = c >> 8 & 31;
        const int most = (me & segment) | (clamp & ~segment);
        const int least = me & segment;
        int from = me;
        bool inside = false;
        if (of.has("UP")) from = me - b, inside = from >= most;
        if (of.has("DOWN")) from = me + b, inside = from <= most;
        if (of.has("BFLY")) from = me ^ b, inside = from <= most;
        if (of.has("IDX")) from = least | (b & ~segment), inside = from <= most;
        if (!inside) from = me;
        lane.set(81, inside);
        if ((of.active >> from & 1) != 0) {
            lane.write(source_of(of, 0, from));
        } else {  // of a lane that does not take part: undefined
            of.open_registers.insert(&of.after.general.at(static_cast<std::size_t>(
                of.destinations[0]->number.value_or(255)))[static_cast<std::size_t>(me)]);
        }
    });
    return true;
}

bool vote(Case& of) {
    std::uint32_t ballot = 0;
    for (int i = 0; i < 32; ++i) {
        const bool here = (of.active >> i & 1) != 0;
        if (here && Lane(of, i).predicate(87)) ballot |= 1u << i;
    }
    const bool all = ballot == of.active, any = ballot != 0;
    const bool result = of.has("ALL") ? all : of.has("ANY") ? any : all || !any;
    if (of.uniform()) {
        Lane lane(of, 0);
        lane.write(ballot);
        const Lane first(of, std::countr_zero(of.active));
        for (int i = 0; i < 32; ++i) {
            if ((of.active >> i & 1) != 0) Lane(of, i).set(81, result);
        }
        return true;
    }
    each_lane_of(of, [&](Lane& lane) {
        lane.write(ballot);
        lane.set(81, result);
    });
    return true;
}

bool match(Case& of) {
    const bool wide = of.has("U64");
    const auto value = [&](int lane) {
        return wide ? Lane(of, lane).raw64(0) : std::uint64_t{source_of(of, 0, lane)};
    };
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t same = 0;
        for (int i = 0; i < 32; ++i) {
            if ((of.active >> i & 1) != 0 && value(i) == value(lane.number())) same |= 1u << i;
        }
        if (of.has("ANY")) {
            lane.write(same);
        } else {
            lane.write(same == of.active ? same : 0);
            lane.set(81, same == of.active);
        }
    });
    return true;
}

bool reduce(Case& of) {
    if (of.has("MAXABS") || of.has("MINABS")) return false;
    const bool is_signed = of.has("S32");
    bool first = true;
    std::uint32_t result = 0;
    for (int i = 0; i < 32; ++i) {
        if ((of.active >> i & 1) == 0) continue;
        const std::uint32_t value = source_of(of, 0, i);
        const auto less = [&](std::uint32_t x, std::uint32_t y) {
            return is_signed ? static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y) : x < y;
        };
        if (first) {
            result = value;
        } else if (of.has("SUM")) {
            result += value;
        } else if (of.has("OR")) {
            result |= value;
        } else if (of.has("XOR")) {
            result ^= value;
        } else if (of.has("MIN")) {
            result = less(value, result) ? value : result;
        } else if (of.has("MAX")) {
            result = less(result, value) ? value : result;
        } else {
            result &= value;
        }
        first = false;
    }
    Lane(of, 0).write(result);
    return true;
}

// R2UR takes the first active lane's.
bool to_uniform(Case& of) {
    if (of.has("FILL") || of.has("BROADCAST")) return false;
    for (const Operand& operand : of.one.operands) {
        if (operand.kind == Operand::Kind::predicate && operand.number) return false;
    }
    Lane(of, 0).write(source_of(of, 0, std::countr_zero(of.active)));
    return true;
}

bool special(Case& of) {
    if (of.has("64")) return false;
    const auto number = of.sources.at(0)->value;
    if (of.uniform() && number < 37) return false;
    if (of.destinations[0]->count != 1) {
        if (number != 255) return false;
        each_lane_of(of, [&](Lane& lane) { lane.write64(0); });
        return true;
    }
    const bool known = number == 0 || (number >= 33 && number <= 39) ||
                       (number >= 56 && number <= 60) || number == 255;
    if (!known) return false;
    each_lane_of(of, [&](Lane& lane) {
        const auto me = static_cast<std::uint32_t>(lane.number());
        const std::uint32_t own = 1u << me;
        switch (number) {
            case 0:
            case 33:
                return lane.write(me);
            case 56:
                return lane.write(own);
            case 57:
                return lane.write(own - 1);
            case 58:
                return lane.write(own | (own - 1));
            case 59:
                return lane.write(~(own | (own - 1)));
            case 60:
                return lane.write(~(own - 1));
            default:  // one group of 32 threads in a row
                return lane.write(0);
        }
    });
    return true;
}

}  // namespace

std::vector<NamedFormula> warp_formulas() {
    return {{"SHFL", &shuffle}, {"VOTE", &vote},     {"VOTEU", &vote},      {"MATCH", &match},
            {"REDUX", &reduce}, {"CREDUX", &reduce}, {"R2UR", &to_uniform}, {"S2R", &special},
            {"S2UR", &special}, {"CS2R", &special}};
}

}  // namespace occupipe::isa::test
