// SPDX-License-Identifier: MIT
// Integers, bits, selections and predicates, with 128-bit arithmetic where it is plainer.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "tests/isa/machine/formulas.h"

namespace occupipe::isa::test {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

std::int32_t s(std::uint32_t value) { return static_cast<std::int32_t>(value); }

bool together(const Case& of, bool first, bool second) {
    return of.has("AND") ? first && second : of.has("OR") ? first || second : first != second;
}

// A summand with its sign, as an adder sees it: -x is ~x + 1, which carries where x is 0.
Wide summand(const Lane& lane, std::size_t i, int bits) {
    const Operand& operand = *lane.whole().sources[i];
    const Wide ones = (Wide{1} << bits) - 1;
    const Wide raw = bits == 64 ? Wide{lane.raw64(i)} : Wide{lane.raw(i)};
    if (operand.negated) return (~raw & ones) + 1;
    return operand.inverted ? ~raw & ones : raw;
}

// Which of two carries is written where is not known; their sum is.
void write_carries(Lane& lane, int carries) {
    const bool first = lane.has_predicate(81, true), second = lane.has_predicate(84, true);
    if (carries == 0 || carries == 2) {
        lane.set(81, carries == 2);
        lane.set(84, carries == 2);
        if (carries == 2 && !(first && second)) lane.leave_open(81), lane.leave_open(84);
        return;
    }
    // One carry: the first one where there is one place.
    lane.set(81, true);
    lane.set(84, !first);
    if (second) lane.leave_open(81), lane.leave_open(84);
    if (carries > 2) lane.leave_open(81), lane.leave_open(84);
}

bool add_three(Case& of) {
    const int bits = of.has("64") ? 64 : 32;
    each_lane_of(of, [&](Lane& lane) {
        Wide sum = 0;
        for (std::size_t i = 0; i < of.sources.size(); ++i) sum += summand(lane, i, bits);
        if (of.has("X")) sum += Wide{lane.predicate(87)} + Wide{lane.predicate(77)};
        lane.write(static_cast<std::uint32_t>(sum));
        if (bits == 64) lane.write64(static_cast<std::uint64_t>(sum));
        write_carries(lane, static_cast<int>(sum >> bits));
    });
    return true;
}

bool add_two(Case& of) {
    for (const char* packed : {"16x2", "S16x2", "U8x4", "S8x4"}) {
        if (!of.has(packed)) continue;
        const int width = std::string_view(packed).find("x4") != std::string_view::npos ? 8 : 16;
        each_lane_of(of, [&](Lane& lane) {
            std::uint32_t result = 0;
            const std::uint32_t ones = (1u << width) - 1;
            for (int at = 0; at < 32; at += width) {
                const auto part = [&](std::size_t i) {
                    const std::uint32_t value = lane.raw(i) >> at;
                    return of.sources[i]->negated ? 0 - value : value;
                };
                result |= ((part(0) + part(1)) & ones) << at;
            }
            lane.write(result);
        });
        return true;
    }
    each_lane_of(of, [&](Lane& lane) {
        if (of.has("64")) {
            const Wide in = of.has("X") && lane.predicate(87) ? 1 : 0;
            const Wide sum = summand(lane, 0, 64) + summand(lane, 1, 64) + in;
            lane.write64(static_cast<std::uint64_t>(sum));
            lane.set(81, sum >> 64 != 0);
        } else {
            lane.write(lane.integer(0) + lane.integer(1));
        }
    });
    return true;
}

SignedWide extended(std::uint32_t value, bool is_signed) {
    return is_signed ? SignedWide{s(value)} : SignedWide{value};
}

bool multiply_add(Case& of) {
    const bool is_signed = !of.has("U32");
    each_lane_of(of, [&](Lane& lane) {
        const SignedWide product =
            extended(lane.raw(0), is_signed) * extended(lane.raw(1), is_signed);
        if (!of.has("WIDE") && !of.has("HI")) {
            const auto low = static_cast<std::uint32_t>(product);
            lane.write(low + lane.integer(2) + (of.has("X") ? lane.predicate(87) : 0));
            return;
        }
        const Wide low = static_cast<Wide>(product) & ~std::uint64_t{0};
        const Wide sum = low + summand(lane, 2, 64) + (of.has("X") ? Wide{lane.predicate(87)} : 0);
        if (of.has("HI")) {
            lane.write(static_cast<std::uint32_t>(sum >> 32));
        } else {
            lane.write64(static_cast<std::uint64_t>(sum));
        }
        lane.set(81, sum >> 64 != 0);
    });
    return true;
}

bool shifted_add(Case& of) {
    const bool high = of.has("HI");
    if (of.sources[0]->negated && (high || of.has("X"))) return false;
    each_lane_of(of, [&](Lane& lane) {
        const std::uint32_t a = lane.raw(0);
        const std::size_t last = of.sources.size() - 1;
        const std::uint32_t shift = lane.raw(last) & 31;
        std::uint32_t part = 0;
        if (high) {
            const std::uint32_t above = of.has("SX32") ? (s(a) < 0 ? ~0u : 0) : lane.raw(2);
            const std::uint64_t both = a | std::uint64_t{above} << 32;
            part = static_cast<std::uint32_t>((both << shift) >> 32);
        } else {
            part = a << shift;
        }
        Wide first = part;
        if (of.sources[0]->negated) first = Wide{~part} + 1;
        if (of.sources[0]->inverted) first = static_cast<std::uint32_t>(~part);
        const Wide sum =
            first + summand(lane, 1, 32) + (of.has("X") ? Wide{lane.predicate(87)} : 0);
        lane.write(static_cast<std::uint32_t>(sum));
        lane.set(81, sum >> 32 != 0);
        if (sum >> 33 != 0 || of.sources[0]->negated) lane.leave_open(81);
    });
    return true;
}

bool logic(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const std::uint32_t table = lane.raw(3);
        std::uint32_t result = 0;
        for (int bit = 0; bit < 32; ++bit) {
            const std::uint32_t row = (lane.raw(0) >> bit & 1) << 2 |
                                      (lane.raw(1) >> bit & 1) << 1 | (lane.raw(2) >> bit & 1);
            result |= (table >> row & 1) << bit;
        }
        lane.write(result);
        const bool some = result != 0, other = lane.predicate(87);
        lane.set(81, of.has("PAND") ? some && other : some || other);
    });
    return true;
}

bool predicate_logic(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const std::uint32_t row = std::uint32_t{lane.predicate(87)} << 2 |
                                  std::uint32_t{lane.predicate(77)} << 1 |
                                  std::uint32_t{lane.predicate(68)};
        // Two tables, one for each result.
        lane.set(81, (lane.raw(0) >> row & 1) != 0);
        lane.set(84, (lane.raw(1) >> row & 1) != 0);
    });
    return true;
}

bool compare(Case& of) {
    const bool is_signed = !of.has("U32") && !of.has("U64");
    const bool wide = of.has("U64") || of.has("S64");
    each_lane_of(of, [&](Lane& lane) {
        SignedWide x = extended(lane.raw(0), is_signed), y = extended(lane.raw(1), is_signed);
        if (wide) {
            x = is_signed ? SignedWide{static_cast<std::int64_t>(lane.raw64(0))}
                          : SignedWide{lane.raw64(0)};
            y = is_signed ? SignedWide{static_cast<std::int64_t>(lane.raw64(1))}
                          : SignedWide{lane.raw64(1)};
        }
        bool less = x < y, equal = x == y;
        if (of.has("EX")) {
            // The lower words were compared in the same way: their outcome decides where the upper
            // ones are equal.
            const bool below = lane.predicate(68);
            const bool holds = of.has("LT") || of.has("LE")   ? x < y || (equal && below)
                               : of.has("GT") || of.has("GE") ? x > y || (equal && below)
                               : of.has("EQ")                 ? equal && below
                               : of.has("NE")                 ? !equal || below
                                                              : of.has("T");
            lane.set(81, together(of, holds, lane.predicate(87)));
            lane.set(84, together(of, !holds, lane.predicate(87)));
            return;
        }
        const bool holds = of.has("LT")   ? less
                           : of.has("EQ") ? equal
                           : of.has("LE") ? less || equal
                           : of.has("GT") ? !less && !equal
                           : of.has("NE") ? !equal
                           : of.has("GE") ? !less
                                          : of.has("T");
        lane.set(81, together(of, holds, lane.predicate(87)));
        lane.set(84, together(of, !holds, lane.predicate(87)));
    });
    return true;
}

bool shift(Case& of) {
    const bool wide = of.has("U64") || of.has("S64");
    const bool is_signed = of.has("S32") || of.has("S64");
    each_lane_of(of, [&](Lane& lane) {
        const std::uint64_t both = lane.raw(0) | static_cast<std::uint64_t>(lane.raw(2)) << 32;
        const std::uint32_t most = wide ? 64 : 32;
        std::uint32_t by = lane.raw(1);
        by = of.has("W") ? by & (most - 1) : std::min(by, most);
        SignedWide value =
            is_signed ? SignedWide{static_cast<std::int64_t>(both)} : SignedWide{both};
        value = of.has("L") ? static_cast<SignedWide>(static_cast<Wide>(value) << by) : value >> by;
        const auto result = static_cast<std::uint64_t>(value);
        lane.write(static_cast<std::uint32_t>(of.has("HI") ? result >> 32 : result));
    });
    return true;
}

bool extend(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t bits = lane.raw(1);
        bits = of.has("W") ? bits & 31 : std::min(bits, 32u);
        std::uint32_t result = 0;
        for (std::uint32_t i = 0; i < 32; ++i) {
            std::uint32_t from = i < bits ? lane.raw(0) >> i & 1 : 0;
            if (i >= bits && bits > 0 && !of.has("U32")) from = lane.raw(0) >> (bits - 1) & 1;
            result |= from << i;
        }
        lane.write(result);
    });
    return true;
}

bool bit_mask(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint64_t first = lane.raw(0), count = lane.raw(1);
        if (of.has("W")) first &= 31, count &= 31;
        std::uint32_t result = 0;
        for (std::uint64_t i = 0; i < 32; ++i) {
            if (i >= first && i < first + count) result |= 1u << i;
        }
        lane.write(result);
    });
    return true;
}

bool leading(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t value = lane.integer(0);
        if (!of.has("U32") && s(value) < 0) value = ~value;
        std::uint32_t found = ~0u;
        for (std::uint32_t i = 0; i < 32; ++i) {
            if ((value >> i & 1) != 0) found = i;
        }
        if (of.has("SH") && found != ~0u) found = 31 - found;
        lane.write(found);
        lane.leave_open(81);
    });
    return true;
}

bool reverse(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t result = 0;
        for (int i = 0; i < 32; ++i) result |= (lane.raw(0) >> i & 1) << (31 - i);
        lane.write(result);
    });
    return true;
}

bool population(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        lane.write(static_cast<std::uint32_t>(std::popcount(lane.integer(0))));
    });
    return true;
}

bool absolute(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const std::uint32_t value = lane.raw(0);
        lane.write(s(value) < 0 ? 0 - value : value);
    });
    return true;
}

bool difference(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const bool is_signed = !of.has("U32");
        const SignedWide gap = extended(lane.raw(0), is_signed) - extended(lane.raw(1), is_signed);
        lane.write(static_cast<std::uint32_t>(gap < 0 ? -gap : gap) + lane.raw(2));
    });
    return true;
}

bool byte_differences(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t result = 0, sum = 0;
        for (int i = 0; i < 32; i += 8) {
            const bool is_signed = !of.has("U8");
            const std::uint32_t x = lane.raw(0) >> i & 255, y = lane.raw(1) >> i & 255;
            const int p = is_signed ? static_cast<std::int8_t>(x) : static_cast<int>(x);
            const int q = is_signed ? static_cast<std::int8_t>(y) : static_cast<int>(y);
            const auto gap = static_cast<std::uint32_t>(p > q ? p - q : q - p);
            result |= gap << i;
            sum += gap;
        }
        lane.write(of.has("ACC") ? sum + lane.raw(2) : result);
    });
    return of.has("ACC") ||
           (of.sources[2]->kind == Operand::Kind::registers && !of.sources[2]->number);
}

bool permute(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint8_t bytes[8];
        for (int i = 0; i < 4; ++i) {
            bytes[i] = static_cast<std::uint8_t>(lane.raw(0) >> 8 * i);
            bytes[i + 4] = static_cast<std::uint8_t>(lane.raw(2) >> 8 * i);
        }
        const std::uint32_t selector = lane.raw(1);
        std::uint32_t result = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t low = selector & 3;
            std::uint32_t byte = 0;
            if (of.has("F4E")) {
                byte = bytes[(low + i) & 7];
            } else if (of.has("B4E")) {
                byte = bytes[(low - i) & 7];
            } else if (of.has("RC8")) {
                byte = bytes[low];
            } else if (of.has("ECL")) {
                byte = bytes[std::max(i, low)];
            } else if (of.has("ECR")) {
                byte = bytes[std::min(i, low)];
            } else if (of.has("RC16")) {
                byte = bytes[(selector & 1) * 2 + (i & 1)];
            } else {
                const std::uint32_t nibble = selector >> 4 * i & 15;
                byte = bytes[nibble & 7];
                if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
            }
            result |= byte << 8 * i;
        }
        lane.write(result);
    });
    return true;
}

// Also of three operands and of a sum; packed ones part by part.
SignedWide part_of(std::uint32_t value, int at, int width, bool is_signed) {
    const std::uint32_t bits = width == 32 ? value : value >> at & ((1u << width) - 1);
    const std::uint32_t up = bits << (32 - width);
    return is_signed ? SignedWide{s(up) >> (32 - width)} : SignedWide{bits};
}

bool extreme(Case& of) {
    if (of.has("RELU")) return false;
    const bool packed16 = of.has("U16x2") || of.has("S16x2"),
               packed8 = of.has("U8x4") || of.has("S8x4");
    const int width = packed16 ? 16 : packed8 ? 8 : 32;
    const bool is_signed = !of.has("U32") && !of.has("U16x2") && !of.has("U8x4");
    const bool sum_first = of.one.opcode == "VIADDMNMX";
    if (sum_first && width != 32) return false;
    for (const Operand& operand : of.one.operands) {
        if (operand.kind == Operand::Kind::predicate && operand.written && operand.number)
            return false;
    }
    each_lane_of(of, [&](Lane& lane) {
        const bool least = lane.predicate(87);
        std::uint32_t result = 0;
        for (int at = 0; at < 32; at += width) {
            std::vector<SignedWide> values;
            for (std::size_t i = 0; i < of.sources.size(); ++i) {
                std::uint32_t value = lane.raw(i);
                if (sum_first && i == 1) continue;
                if (sum_first && i == 0) value = lane.integer(0) + lane.integer(1);
                values.push_back(part_of(value, at, width, is_signed));
            }
            const SignedWide best =
                least ? *std::ranges::min_element(values) : *std::ranges::max_element(values);
            const std::uint32_t ones = width == 32 ? ~0u : (1u << width) - 1;
            result |= (static_cast<std::uint32_t>(best) & ones) << at;
        }
        lane.write(result);
    });
    return true;
}

bool dot_product(Case& of) {
    if (!of.has("4A")) return false;
    const bool a_signed = of.one.modifiers[1] == "S8", b_signed = of.one.modifiers[2] == "S8";
    each_lane_of(of, [&](Lane& lane) {
        SignedWide sum = lane.integer(2);
        for (int at = 0; at < 32; at += 8) {
            sum += part_of(lane.raw(0), at, 8, a_signed) * part_of(lane.raw(1), at, 8, b_signed);
        }
        lane.write(static_cast<std::uint32_t>(sum));
    });
    return true;
}

bool move(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        lane.write(lane.raw(0));
        if (of.has("64")) lane.write(lane.raw(0, 1), 1);
    });
    return true;
}

bool select(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const std::size_t chosen = lane.predicate(87) ? 0 : 1;
        lane.write(lane.raw(chosen));
        if (of.has("64")) lane.write(lane.raw(chosen, 1), 1);
    });
    return true;
}

// The PTX manual's cvt.pack: both saturated, the first in the higher bits, c above both.
bool saturated_pair(Case& of) {
    int bits = 0;
    bool is_signed = false;
    for (const std::string_view name : of.one.modifiers) {
        if (name == "S32" || name == "SAT") continue;
        bits = std::stoi(std::string(name.substr(1)));
        is_signed = name[0] == 'S';
    }
    const double least = is_signed ? -std::exp2(bits - 1) : 0;
    const double most = is_signed ? std::exp2(bits - 1) - 1 : std::exp2(bits) - 1;
    const auto saturated = [&](std::uint32_t word) {
        const double value = static_cast<std::int32_t>(word);
        const auto whole = static_cast<std::int64_t>(std::fmin(std::fmax(value, least), most));
        return static_cast<std::uint64_t>(whole) % (std::uint64_t{1} << bits);
    };
    each_lane_of(of, [&](Lane& lane) {
        const std::uint64_t c = lane.raw(2);
        const std::uint64_t both =
            saturated(lane.integer(0)) * (std::uint64_t{1} << bits) + saturated(lane.integer(1));
        lane.write(static_cast<std::uint32_t>(c * (std::uint64_t{1} << 2 * bits) + both));
    });
    return of.has("SAT") && bits != 0;
}

bool predicates_to_register(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t packed = 0;
        for (std::uint32_t p = 0; p < 7; ++p) {
            packed |= (of.before.predicate[p] >> lane.number() & 1) << p;
        }
        const int at = of.has("B1") ? 8 : of.has("B2") ? 16 : of.has("B3") ? 24 : 0;
        const std::uint32_t mask = lane.raw(2);
        lane.write((lane.raw(1) & ~(mask << at)) | (packed & mask) << at);
    });
    return of.sources.size() == 3;
}

bool register_to_predicates(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const Operand& operand = *of.sources[1];
        const int at = operand.part == ".B1"   ? 8
                       : operand.part == ".B2" ? 16
                       : operand.part == ".B3" ? 24
                                               : 0;
        for (std::uint32_t p = 0; p < 7; ++p) {
            if ((lane.raw(2) >> p & 1) == 0) continue;
            const std::uint32_t bit = 1u << lane.number();
            const bool value = (lane.raw(1) >> at >> p & 1) != 0;
            std::uint32_t& mask = of.after.predicate[p];
            mask = value ? mask | bit : mask & ~bit;
        }
    });
    return of.sources.size() == 3;
}

}  // namespace

std::vector<NamedFormula> integer_formulas() {
    return {{"IADD3", &add_three},
            {"IADD", &add_two},
            {"VIADD", &add_two},
            {"IMAD", &multiply_add},
            {"LEA", &shifted_add},
            {"LOP3", &logic},
            {"PLOP3", &predicate_logic},
            {"ISETP", &compare},
            {"SHF", &shift},
            {"SGXT", &extend},
            {"BMSK", &bit_mask},
            {"FLO", &leading},
            {"BREV", &reverse},
            {"POPC", &population},
            {"IABS", &absolute},
            {"VABSDIFF", &difference},
            {"VABSDIFF4", &byte_differences},
            {"PRMT", &permute},
            {"IMNMX", &extreme},
            {"VIMNMX", &extreme},
            {"VIMNMX3", &extreme},
            {"VIADDMNMX", &extreme},
            {"IDP", &dot_product},
            {"MOV", &move},
            {"SEL", &select},
            {"I2IP", &saturated_pair},
            {"P2R", &predicates_to_register},
            {"R2P", &register_to_predicates}};
}

}  // namespace occupipe::isa::test
