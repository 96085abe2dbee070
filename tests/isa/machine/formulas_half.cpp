// SPDX-License-Identifier: MIT
// Packed halves and matrix instructions: in long double, with the part of a sum that it cannot hold
// beside it.
#include <bit>
#include <cmath>
#include <string>

#include "tests/isa/machine/formulas.h"

namespace occupipe::isa::test {
namespace {

struct Kind {
    int fraction, exponents;  // bits
    int largest() const { return (1 << exponents) - 1; }
    std::uint16_t infinity() const { return static_cast<std::uint16_t>(largest() << fraction); }
};
constexpr Kind ieee{10, 5}, brain{7, 8};

bool is_nan(std::uint16_t x, Kind kind) { return (x & 0x7fff) > kind.infinity(); }

long double value_of(std::uint16_t x, Kind kind) {
    const int exponent = (x & 0x7fff) >> kind.fraction;
    const int fraction = x & ((1 << kind.fraction) - 1);
    const long double sign = (x & 0x8000) != 0 ? -1.0L : 1.0L;
    const int bias = kind.largest() / 2;
    if (exponent == kind.largest()) {
        return fraction != 0 ? std::nan("") : sign * std::numeric_limits<long double>::infinity();
    }
    if (exponent == 0) {
        return sign * std::ldexp(static_cast<long double>(fraction), 1 - bias - kind.fraction);
    }
    const int digits = fraction + (1 << kind.fraction);
    return sign * std::ldexp(static_cast<long double>(digits), exponent - bias - kind.fraction);
}

// To nearest even of value + rest, where rest is what the first could not hold.
std::uint16_t nearest(long double value, long double rest, Kind kind) {
    if (std::isnan(value)) return 0x7fff;
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const long double size = std::fabs(value);
    const long double over = std::signbit(value) ? -rest : rest;
    if (std::isinf(size)) return static_cast<std::uint16_t>(sign | kind.infinity());
    int low = 0, high = kind.infinity();
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        const long double there = value_of(static_cast<std::uint16_t>(middle), kind);
        (there < size || (there == size && over >= 0) ? low : high) = middle;
    }
    const long double below = value_of(static_cast<std::uint16_t>(low), kind);
    // Infinity stands for the next power of two.
    const long double above = high == kind.infinity()
                                  ? std::ldexp(1.0L, kind.largest() / 2 + 1)
                                  : value_of(static_cast<std::uint16_t>(high), kind);
    const long double middle = (below + above) / 2;
    const bool up = size > middle || (size == middle && (over > 0 || (over == 0 && low % 2 == 1)));
    return static_cast<std::uint16_t>(sign | (up ? high : low));
}

std::uint16_t flushed(std::uint16_t x, Kind kind) {
    return ((x & 0x7fff) >> kind.fraction) == 0 ? x & 0x8000 : x;
}

Kind kind_of(const Case& of) { return of.has("BF16_V2") ? brain : ieee; }

// x * y + z by long double: the product is exact, the sum's error as well (64 digits are more than
// twice 22).
template <int operands, bool product>
std::uint16_t calculate(std::uint16_t a, std::uint16_t b, std::uint16_t c, Kind kind) {
    const long double x = value_of(a, kind), y = value_of(b, kind), z = value_of(c, kind);
    if (operands == 2 && product) return nearest(x * y, 0, kind);
    const long double left = operands == 2 ? x : x * y;
    const long double right = operands == 2 ? y : z;
    const volatile long double sum = left + right;
    if (!std::isfinite(sum)) return nearest(sum, 0, kind);
    const volatile long double part = sum - left;
    const volatile long double back = sum - part;
    const long double rest = (left - back) + (right - part);
    return nearest(sum, rest, kind);
}

template <int operands, bool product>
bool halves(Case& of) {
    if (of.has("FMZ")) return false;
    for (const Operand& operand : of.one.operands) {
        if (operand.kind == Operand::Kind::predicate) return false;
    }
    const Kind kind = kind_of(of);
    each_lane_of(of, [&](Lane& lane) {
        std::uint16_t low[3] = {}, high[3] = {};
        for (std::size_t i = 0; i < of.sources.size(); ++i) {
            const auto [l, h] = lane.halves(i);
            low[i] = of.has("FTZ") ? flushed(l, kind) : l;
            high[i] = of.has("FTZ") ? flushed(h, kind) : h;
        }
        if (of.one.opcode == "HADD2" && of.sources[1]->part == ".F32") {
            const long double added = std::bit_cast<float>(lane.single(1));
            const auto one = [&](std::uint16_t x) {
                // With what 64 digits do not hold beside it.
                const volatile long double sum = value_of(x, kind) + added;
                const volatile long double part = sum - added;
                const volatile long double back = sum - part;
                const long double rest = (added - back) + (value_of(x, kind) - part);
                return std::uint32_t{nearest(sum, std::isfinite(sum) ? rest : 0, kind)};
            };
            lane.write(one(low[0]) | one(high[0]) << 16);
            return;
        }
        if (of.has("F32")) {
            auto sum = static_cast<float>(value_of(low[0], kind) + value_of(low[1], kind));
            if (of.has("SAT")) sum = sum >= 1 ? 1.0F : sum > 0 ? sum : 0.0F;
            lane.write(std::isnan(sum) ? 0x7fffffff : std::bit_cast<std::uint32_t>(sum));
            return;
        }
        const auto one = [&](const std::uint16_t* v) {
            std::uint16_t r = calculate<operands, product>(v[0], v[1], v[2], kind);
            if (of.has("FTZ")) r = flushed(r, kind);
            const long double value = value_of(r, kind);
            const auto unity = static_cast<std::uint16_t>((kind.largest() / 2) << kind.fraction);
            if (of.has("SAT")) r = value >= 1 ? unity : value > 0 ? r : 0;
            if (of.has("RELU") && !is_nan(r, kind)) r = value > 0 ? r : 0;
            return std::uint32_t{r};
        };
        lane.write(one(low) | one(high) << 16);
    });
    return true;
}

bool extremes(Case& of) {
    const Kind kind = kind_of(of);
    each_lane_of(of, [&](Lane& lane) {
        const auto [al, ah] = lane.halves(0);
        const auto [bl, bh] = lane.halves(1);
        const bool least = lane.predicate(87);
        const auto one = [&](std::uint16_t x, std::uint16_t y) -> std::uint32_t {
            if (of.has("FTZ")) x = flushed(x, kind), y = flushed(y, kind);
            if (is_nan(x, kind) || is_nan(y, kind)) {
                if (of.has("NAN") || (is_nan(x, kind) && is_nan(y, kind))) return 0x7fff;
                return is_nan(x, kind) ? y : x;
            }
            const long double p = value_of(x, kind), q = value_of(y, kind);
            const bool first = p < q || (p == q && (x & 0x8000) != 0);
            return first == least ? x : y;
        };
        lane.write(one(al, bl) | one(ah, bh) << 16);
    });
    return true;
}

bool holds(const Case& of, long double x, long double y) {
    const bool unordered = std::isnan(x) || std::isnan(y);
    const std::string_view name = [&]() -> std::string_view {
        for (const std::string_view one : of.one.modifiers) {
            for (const std::string_view known :
                 {"F", "T", "NUM", "NAN", "LT", "EQ", "LE", "GT", "NE", "GE", "LTU", "EQU", "LEU",
                  "GTU", "NEU", "GEU"}) {
                if (one == known) return one;
            }
        }
        return "";
    }();
    if (name == "F" || name == "T") return name == "T";
    if (name == "NUM") return !unordered;
    if (name == "NAN") return unordered;
    if (unordered) return name.ends_with('U');
    const std::string_view plain = name.substr(0, 2);
    return plain == "LT"   ? x < y
           : plain == "EQ" ? x == y
           : plain == "LE" ? x <= y
           : plain == "GT" ? x > y
           : plain == "NE" ? x != y
                           : x >= y;
}

bool together(const Case& of, bool first, bool second) {
    return of.has("AND") ? first && second : of.has("OR") ? first || second : first != second;
}

template <bool to_register>
bool compare(Case& of) {
    const Kind kind = kind_of(of);
    each_lane_of(of, [&](Lane& lane) {
        const auto [al, ah] = lane.halves(0);
        const auto [bl, bh] = lane.halves(1);
        const auto one = [&](std::uint16_t x, std::uint16_t y) {
            if (of.has("FTZ")) x = flushed(x, kind), y = flushed(y, kind);
            return holds(of, value_of(x, kind), value_of(y, kind));
        };
        const bool low = one(al, bl), high = one(ah, bh), other = lane.predicate(87);
        if (to_register) {
            const std::uint32_t unity = kind.fraction == 7 ? 0x3f80 : 0x3c00;
            const std::uint32_t truth = of.has("BF") ? unity : 0xffff;
            lane.write((together(of, low, other) ? truth : 0) |
                       (together(of, high, other) ? truth << 16 : 0));
        } else if (of.has("H_AND")) {
            lane.set(81, together(of, low && high, other));
            lane.set(84, together(of, !(low && high), other));
        } else {
            lane.set(81, together(of, low, other));
            lane.set(84, together(of, high, other));
        }
    });
    return true;
}

// --- matrices: element by element, each where PTX says that it lies ---

std::uint32_t word(const Case& of, std::size_t source, int lane, int r) {
    Case& mutable_case = const_cast<Case&>(of);
    return Lane(mutable_case, lane).raw(source, r);
}

int shape_k(const Case& of) {
    for (const auto& [name, k] : {std::pair("16816", 16),
                                  {"1688", 8},
                                  {"1684", 4},
                                  {"8816", 16},
                                  {"8832", 32},
                                  {"16832", 32},
                                  {"16864", 64},
                                  {"884", 4},
                                  {"8x8x4", 4},
                                  {"16x8x4", 4},
                                  {"16x8x8", 8},
                                  {"16x8x16", 16}}) {
        if (of.has(name)) return k;
    }
    return 0;
}

// A: row i, column k with `per` elements in a register, `rows` rows.
struct At {
    int lane, r, part;
};
At in_a(int i, int k, int per, int rows) {
    const int block = k / (4 * per);
    const int r = rows == 16 ? block * 2 + i / 8 : block;
    return {.lane = (i % 8) * 4 + k / per % 4, .r = r, .part = k % per};
}
At in_b(int k, int j, int per) {
    return {.lane = j * 4 + k / per % 4, .r = k / (4 * per), .part = k % per};
}
At in_d(int i, int j) { return {.lane = (i % 8) * 4 + j / 2, .r = i / 8 * 2 + j % 2, .part = 0}; }

long double matrix_value(const Case& of, std::uint32_t bits, int part) {
    if (of.has("TF32")) return std::bit_cast<float>(bits & 0xffffe000);
    const auto half = static_cast<std::uint16_t>(bits >> 16 * part);
    return value_of(half, of.has("BF16") ? brain : ieee);
}

// Only sums that are exact in long double are looked at: the others need a rounding of their own.
bool half_matrix(Case& of) {
    if (of.has("SATFINITE")) return false;
    for (const Operand* operand : of.sources) {
        if (operand->negated) return false;
    }
    const int per = of.has("TF32") ? 1 : 2;
    const int k_count = shape_k(of);
    const bool wide = of.has("F32");
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 8; ++j) {
            const At d = in_d(i, j);
            const std::uint32_t start = word(of, 2, d.lane, wide ? d.r : d.r / 2);
            long double sum =
                wide ? static_cast<long double>(std::bit_cast<float>(start))
                     : value_of(static_cast<std::uint16_t>(start >> 16 * (d.r % 2)), ieee);
            bool exact = true;
            for (int k = 0; k < k_count; ++k) {
                const At a = in_a(i, k, per, 16), b = in_b(k, j, per);
                const volatile long double product =
                    matrix_value(of, word(of, 0, a.lane, a.r), a.part) *
                    matrix_value(of, word(of, 1, b.lane, b.r), b.part);
                const volatile long double next = sum + product;
                const volatile long double part = next - sum;
                const volatile long double back = next - part;
                if (std::isfinite(next)) exact = exact && sum - back + (product - part) == 0;
                sum = next;
            }
            auto& registers = of.after.general;
            const int number = *of.destinations[0]->number + (wide ? d.r : d.r / 2);
            std::uint32_t& into =
                registers.at(static_cast<std::size_t>(number))[static_cast<std::size_t>(d.lane)];
            if (!exact) {
                of.open_registers.insert(&into);
                continue;
            }
            if (wide) {
                const auto value = static_cast<float>(sum);
                into = std::isnan(value) ? 0x7fffffff : std::bit_cast<std::uint32_t>(value);
            } else {
                const std::uint32_t half = nearest(sum, 0, ieee);
                into = d.r % 2 == 1 ? (into & 0xffff) | half << 16 : (into & 0xffff0000) | half;
            }
        }
    }
    return true;
}

bool integer_matrix(Case& of) {
    std::vector<std::string_view> types;
    for (const std::string_view name : of.one.modifiers) {
        if (name == "S8" || name == "U8" || name == "S4" || name == "U4") types.push_back(name);
    }
    if (types.size() != 2 || types[0][1] != types[1][1]) return false;
    const int per = types[0][1] == '8' ? 4 : 8;
    const int rows = of.one.modifiers[0].starts_with("16") ? 16 : 8;
    const auto element = [&](std::uint32_t bits, int part, std::string_view type) {
        const int width = 32 / per;
        const int value = static_cast<int>(bits >> part * width & ((1u << width) - 1));
        return std::int64_t{type[0] == 'S' && value >> (width - 1) != 0 ? value - (1 << width)
                                                                        : value};
    };
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < 8; ++j) {
            const At d = in_d(i, j);
            auto sum =
                static_cast<std::int64_t>(static_cast<std::int32_t>(word(of, 2, d.lane, d.r)));
            for (int k = 0; k < shape_k(of); ++k) {
                const At a = in_a(i, k, per, rows), b = in_b(k, j, per);
                sum += element(word(of, 0, a.lane, a.r), a.part, types[0]) *
                       element(word(of, 1, b.lane, b.r), b.part, types[1]);
            }
            if (of.has("SAT"))
                sum = std::min<std::int64_t>(std::max<std::int64_t>(sum, INT32_MIN), INT32_MAX);
            const auto number = static_cast<std::size_t>(*of.destinations[0]->number + d.r);
            of.after.general.at(number)[static_cast<std::size_t>(d.lane)] =
                static_cast<std::uint32_t>(sum);
        }
    }
    return true;
}

bool double_matrix(Case& of) {
    if (of.has("RM") || of.has("RP") || of.has("RZ")) return false;
    const int rows = of.one.modifiers[0].starts_with("16") ? 16 : 8;
    const auto number_at = [&](std::size_t source, const At& at) {
        const std::uint64_t low = word(of, source, at.lane, 2 * at.r);
        return std::bit_cast<double>(
            low | static_cast<std::uint64_t>(word(of, source, at.lane, 2 * at.r + 1)) << 32);
    };
    for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < 8; ++j) {
            const At d = in_d(i, j);
            double sum = number_at(2, d);
            for (int k = 0; k < shape_k(of); ++k) {
                sum = std::fma(number_at(0, in_a(i, k, 1, rows)), number_at(1, in_b(k, j, 1)), sum);
            }
            const auto number = static_cast<std::size_t>(*of.destinations[0]->number + 2 * d.r);
            const auto lane = static_cast<std::size_t>(d.lane);
            const auto bits = std::bit_cast<std::uint64_t>(sum);
            of.after.general.at(number)[lane] = static_cast<std::uint32_t>(bits);
            of.after.general.at(number + 1)[lane] = static_cast<std::uint32_t>(bits >> 32);
            if (std::isnan(sum)) {  // which NaN is not looked at here
                of.open_registers.insert(&of.after.general.at(number)[lane]);
                of.open_registers.insert(&of.after.general.at(number + 1)[lane]);
            }
        }
    }
    return true;
}

}  // namespace

std::uint32_t sums_of_halves(std::uint32_t a, std::uint32_t b, bool is_brain) {
    const auto sum = [&](std::uint32_t x, std::uint32_t y) -> std::uint32_t {
        return calculate<2, false>(static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y), 0,
                                   is_brain ? brain : ieee);
    };
    return sum(a, b) | sum(a >> 16, b >> 16) << 16;
}

std::vector<NamedFormula> half_formulas() {
    return {{"HADD2", &halves<2, false>}, {"HMUL2", &halves<2, true>}, {"HFMA2", &halves<3, true>},
            {"HMNMX2", &extremes},        {"HSETP2", &compare<false>}, {"HSET2", &compare<true>},
            {"HMMA", &half_matrix},       {"IMMA", &integer_matrix},   {"DMMA", &double_matrix}};
}

}  // namespace occupipe::isa::test
