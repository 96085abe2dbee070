// SPDX-License-Identifier: MIT
// binary32, binary64, conversions and special functions, by the host's floating-point unit and its
// rounding mode, and by long double.
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>

#include "tests/isa/machine/formulas.h"

namespace occupipe::isa::test {
namespace {

float f(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t b(float value) { return std::bit_cast<std::uint32_t>(value); }
double d(std::uint64_t bits) { return std::bit_cast<double>(bits); }
std::uint64_t b(double value) { return std::bit_cast<std::uint64_t>(value); }

std::uint32_t flush(std::uint32_t bits) {
    return std::fpclassify(f(bits)) == FP_SUBNORMAL ? b(std::copysign(0.0F, f(bits))) : bits;
}
std::uint32_t name_nan(std::uint32_t bits) { return std::isnan(f(bits)) ? 0x7fffffff : bits; }

int mode_of(const Instruction& one) {
    return one.has("RM")   ? FE_DOWNWARD
           : one.has("RP") ? FE_UPWARD
           : one.has("RZ") ? FE_TOWARDZERO
                           : FE_TONEAREST;
}

template <typename T>
T rounded(int mode, T (*operation)(T, T, T), T x, T y, T z) {
    const volatile T a = x, b = y, c = z;  // read after the mode is set
    std::fesetround(mode);
    const volatile T result = operation(a, b, c);
    std::fesetround(FE_TONEAREST);
    return result;
}

template <typename T>
T add(T x, T y, T) {
    return x + y;
}
template <typename T>
T multiply(T x, T y, T) {
    return x * y;
}
template <typename T>
T fuse(T x, T y, T z) {
    return std::fma(x, y, z);
}

template <float (*operation)(float, float, float)>
bool single(Case& of) {
    if (of.has("FMZ")) return false;
    for (const char* scale : {"D2", "D4", "D8", "M2", "M4", "M8"}) {
        if (of.has(scale)) return false;
    }
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t x = lane.single(0), y = lane.single(1);
        std::uint32_t z = of.sources.size() > 2 ? lane.single(2) : 0;
        const bool ftz = of.has("FTZ");
        if (ftz) x = flush(x), y = flush(y), z = flush(z);
        std::uint32_t r = name_nan(b(rounded<float>(mode_of(of.one), operation, f(x), f(y), f(z))));
        if (ftz) r = flush(r);
        if (of.has("SAT")) r = b(std::isnan(f(r)) ? 0.0F : std::fmin(std::fmax(f(r), 0.0F), 1.0F));
        if (of.has("SAT") && f(r) == 0) r = 0;
        lane.write(r);
    });
    return true;
}

// Two binary32: the selector is part of the text.
template <float (*operation)(float, float, float)>
bool two(Case& of) {
    if (of.has("FMZ")) return false;
    each_lane_of(of, [&](Lane& lane) {
        for (int half = 0; half < 2; ++half) {
            std::uint32_t v[3] = {};
            for (std::size_t i = 0; i < of.sources.size(); ++i) {
                const Operand& operand = *of.sources[i];
                const bool same =
                    operand.part == ".F32" || operand.kind != Operand::Kind::registers;
                const int word = same ? 0 : operand.part == ".F32x2.LO_HI" ? 1 - half : half;
                v[i] = lane.raw(i, word);
                if (operand.absolute) v[i] = b(std::fabs(f(v[i])));
                if (operand.negated) v[i] ^= 0x80000000;
                if (of.has("FTZ")) v[i] = flush(v[i]);
            }
            std::uint32_t r =
                name_nan(b(rounded<float>(mode_of(of.one), operation, f(v[0]), f(v[1]), f(v[2]))));
            if (of.has("FTZ")) r = flush(r);
            lane.write(r, half);
        }
    });
    return true;
}

std::uint32_t extreme(std::uint32_t x, std::uint32_t y, bool minimum, bool nan) {
    if (std::isnan(f(x)) && std::isnan(f(y))) return 0x7fffffff;
    if (std::isnan(f(x)) || std::isnan(f(y))) {
        if (nan) return 0x7fffffff;
        return std::isnan(f(x)) ? y : x;
    }
    if (f(x) == f(y)) {  // zeros with different signs
        const bool x_negative = std::signbit(f(x));
        return x_negative == minimum ? x : y;
    }
    return (f(x) < f(y)) == minimum ? x : y;
}

bool minimum(Case& of) {
    if (of.has("XORSIGN")) return false;
    each_lane_of(of, [&](Lane& lane) {
        const bool least = lane.predicate(87);
        std::uint32_t best = lane.single(0);
        if (of.has("FTZ")) best = flush(best);
        for (std::size_t i = 1; i < of.sources.size(); ++i) {
            std::uint32_t next = lane.single(i);
            if (of.has("FTZ")) next = flush(next);
            best = extreme(best, next, least, of.has("NAN"));
        }
        lane.write(best);
    });
    return true;
}

template <typename T>
bool relation(const Case& of, T x, T y) {
    const bool unordered = std::isnan(x) || std::isnan(y);
    const auto is = [&](const char* name) { return of.has(name); };
    if (is("F")) return false;
    if (is("T")) return true;
    if (is("NUM")) return !unordered;
    if (is("NAN")) return unordered;
    if (is("LT")) return x < y;
    if (is("EQ")) return x == y;
    if (is("LE")) return x <= y;
    if (is("GT")) return x > y;
    if (is("NE")) return !unordered && x != y;
    if (is("GE")) return x >= y;
    if (is("LTU")) return unordered || x < y;
    if (is("EQU")) return unordered || x == y;
    if (is("LEU")) return unordered || x <= y;
    if (is("GTU")) return unordered || x > y;
    if (is("NEU")) return unordered || x != y;
    return unordered || x >= y;
}

bool together(const Case& of, bool first, bool second) {
    return of.has("AND") ? first && second : of.has("OR") ? first || second : first != second;
}

bool compare(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t x = lane.single(0), y = lane.single(1);
        if (of.has("FTZ")) x = flush(x), y = flush(y);
        const bool holds = relation(of, f(x), f(y));
        lane.set(81, together(of, holds, lane.predicate(87)));
        lane.set(84, together(of, !holds, lane.predicate(87)));
    });
    return true;
}

bool set_real(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t x = lane.single(0), y = lane.single(1);
        if (of.has("FTZ")) x = flush(x), y = flush(y);
        const bool truth = together(of, relation(of, f(x), f(y)), lane.predicate(87));
        lane.write(b(truth ? 1.0F : 0.0F));
    });
    return of.has("BF");
}

bool select(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const std::uint32_t chosen = lane.predicate(87) ? lane.single(0) : lane.single(1);
        lane.write(of.has("FTZ") ? flush(chosen) : chosen);
    });
    return true;
}

// FCHK has no formula of the hardware's; what it has to guarantee is that the short way (reciprocal
// and two refinements) is exact where it says false.
bool division_check(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const float x = f(lane.single(0)), y = f(lane.single(1));
        const float q = x / y;
        const float size = std::fabs(q);
        const bool plain = std::isnormal(x) && std::isnormal(y) && std::isnormal(q) &&
                           std::fabs(x) >= 0x1p-90F && std::fabs(y) < 0x1p120F &&
                           size > 0x1p-120F && size < 0x1p120F;
        const bool impossible = !std::isnormal(x) || !std::isnormal(y) || !std::isnormal(q);
        if (!plain && !impossible) lane.leave_open(81);
        lane.set(81, !plain);
    });
    return true;
}

template <double (*operation)(double, double, double)>
bool wide(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        std::uint64_t v[3] = {};
        for (std::size_t i = 0; i < of.sources.size(); ++i) v[i] = lane.real64(i);
        for (std::size_t i = 0; i < of.sources.size(); ++i) {
            if (!std::isnan(d(v[i]))) continue;
            lane.write64(v[i] | 0x0008000000000000);
            return;
        }
        const double r = rounded<double>(mode_of(of.one), operation, d(v[0]), d(v[1]), d(v[2]));
        lane.write64(std::isnan(r) ? 0xfff8000000000000 : b(r));
    });
    return true;
}

bool wide_compare(Case& of) {
    each_lane_of(of, [&](Lane& lane) {
        const double x = d(lane.real64(0)), y = d(lane.real64(1));
        if (!of.has("MIN") && !of.has("MAX")) {
            const bool holds = relation(of, x, y);
            lane.set(81, together(of, holds, lane.predicate(87)));
            lane.set(84, together(of, !holds, lane.predicate(87)));
            return;
        }
        // As fmin and fmax use it: the first one is the result; the result is a NaN.
        bool first = false;
        if (std::isnan(y)) {
            first = !std::isnan(x);
        } else if (!std::isnan(x)) {
            const bool below = x < y || (x == y && std::signbit(x));
            const bool above = x > y || (x == y && !std::signbit(x));
            first = of.has("MIN") ? below : above;
        }
        lane.set(81, first && lane.predicate(87));
        lane.set(84, std::isnan(x) && std::isnan(y) && lane.predicate(87));
    });
    return true;
}

// A number of any format, and a format's nearest pattern in a direction by search.
struct Kind {
    int bits, fraction;
};
constexpr Kind half_kind{16, 10}, brain_kind{16, 7}, single_kind{32, 23}, double_kind{64, 52};

long double value_of(std::uint64_t pattern, Kind kind) {
    if (kind.bits == 64) return d(pattern);
    if (kind.bits == 32) return f(static_cast<std::uint32_t>(pattern));
    if (kind.fraction == 7) return f(static_cast<std::uint32_t>(pattern << 16));
    const long double sign = (pattern & 0x8000) != 0 ? -1 : 1;
    const int exponent = static_cast<int>(pattern >> 10 & 31);
    const auto fraction = static_cast<int>(pattern & 0x3ff);
    if (exponent == 31 && fraction != 0) return std::numeric_limits<long double>::quiet_NaN();
    if (exponent == 31) return sign * std::numeric_limits<long double>::infinity();
    if (exponent == 0) return sign * std::ldexp(static_cast<long double>(fraction), -24);
    return sign * std::ldexp(static_cast<long double>(fraction + 1024), exponent - 25);
}

std::uint64_t pattern_of(long double value, Kind kind, int mode) {
    const std::uint64_t sign = std::uint64_t{1} << (kind.bits - 1);
    const std::uint64_t ones = (std::uint64_t{1} << (kind.bits - 1 - kind.fraction)) - 1;
    const std::uint64_t infinity = ones << kind.fraction;
    const std::uint64_t negative = std::signbit(value) ? sign : 0;
    const long double size = std::fabs(value);
    if (std::isinf(size)) return negative | infinity;
    std::uint64_t low = 0, high = infinity;  // the largest that is not above it lies in between
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (value_of(middle, kind) <= size ? low : high) = middle;
    }
    const long double below = value_of(low, kind);
    if (below == size) return negative | low;
    const bool up = mode == FE_UPWARD ? negative == 0 : mode == FE_DOWNWARD ? negative != 0 : false;
    if (mode != FE_TONEAREST) return negative | (up ? high : low);
    const long double step =
        value_of(low == 0 ? 1 : low, kind) - value_of(low == 0 ? 0 : low - 1, kind);
    // The step above `low`: twice as large where it begins a binade.
    const bool begins =
        (low & ((std::uint64_t{1} << kind.fraction) - 1)) == 0 && low >> kind.fraction > 1;
    const long double above = below + (begins ? 2 * step : step);
    const long double to_low = size - below, to_high = above - size;
    const bool nearer = to_high < to_low || (to_high == to_low && (low & 1) != 0);
    return negative | (nearer ? high : low);
}

Kind kind_named(std::string_view name) {
    return name == "F16"    ? half_kind
           : name == "F64"  ? double_kind
           : name == "BF16" ? brain_kind
                            : single_kind;
}

bool is_format(std::string_view name) {
    return name == "F16" || name == "F32" || name == "F64" || name == "BF16";
}

struct IntegerKind {
    int bits;
    bool is_signed;
};
bool is_integer(std::string_view name, IntegerKind& kind) {
    for (const int bits : {8, 16, 32, 64}) {
        for (const char sign : {'U', 'S'}) {
            if (name == sign + std::to_string(bits)) {
                kind = {bits, sign == 'S'};
                return true;
            }
        }
    }
    return false;
}

std::uint64_t read(const Lane& lane, Kind kind, bool ftz) {
    if (kind.bits == 64) return lane.real64(0);
    if (kind.bits == 32) return ftz ? flush(lane.single(0)) : lane.single(0);
    const Operand& operand = *lane.whole().sources[0];
    std::uint64_t pattern = lane.raw(0) >> (operand.part == ".H1" ? 16 : 0) & 0xffff;
    if (operand.absolute) pattern &= 0x7fff;
    if (operand.negated) pattern ^= 0x8000;
    return pattern;
}

void put(Lane& lane, std::uint64_t pattern, int bits) {
    if (bits == 64) {
        lane.write64(pattern);
    } else {
        lane.write(static_cast<std::uint32_t>(pattern));
    }
}

bool format_to_format(Case& of) {
    std::vector<Kind> kinds;
    for (const std::string_view name : of.one.modifiers) {
        if (is_format(name)) kinds.push_back(kind_named(name));
    }
    if (kinds.size() != 2) return false;
    each_lane_of(of, [&](Lane& lane) {
        const std::uint64_t pattern = read(lane, kinds[1], of.has("FTZ"));
        const long double value = value_of(pattern, kinds[1]);
        std::uint64_t result = 0;
        if (!std::isnan(value)) {
            result = pattern_of(value, kinds[0], mode_of(of.one));
        } else if (kinds[1].bits == 64 && kinds[0].bits == 64) {
            result = pattern | 0x0008000000000000;
        } else if (kinds[0].bits == 64) {
            const bool brain = of.has("BF16");  // the upper half of a binary32
            const auto word = static_cast<std::uint32_t>(brain ? pattern << 16 : pattern);
            result = b(static_cast<double>(f(word)));
        } else {
            result = kinds[0].bits == 16 ? 0x7fff : 0x7fffffff;
        }
        if (of.has("FTZ") && kinds[0].bits == 32)
            result = flush(static_cast<std::uint32_t>(result));
        put(lane, result, kinds[0].bits);
    });
    return true;
}

long double integral(const Case& of, long double value) {
    if (of.has("FLOOR")) return std::floor(value);
    if (of.has("CEIL")) return std::ceil(value);
    if (of.has("TRUNC")) return std::trunc(value);
    return std::nearbyint(value);
}

// F2IP: cvt.rni.s32.f32 of two numbers and cvt.pack.sat of these (PTX); a NaN becomes zero.
bool bytes_of_reals(Case& of) {
    const long double least = of.has("S8") ? -128 : 0, most = least + 255;
    each_lane_of(of, [&](Lane& lane) {
        std::uint32_t result = lane.raw(2);
        for (const std::size_t i : {0, 1}) {
            const long double value = value_of(lane.raw(i), single_kind);
            const long double whole =
                std::isnan(value) ? 0 : std::fmin(std::fmax(integral(of, value), least), most);
            result = result << 8 | (static_cast<std::uint32_t>(std::lrint(whole)) & 0xff);
        }
        lane.write(result);
    });
    return true;
}

bool format_to_integer(Case& of) {
    IntegerKind kind{32, true};
    Kind source = single_kind;
    for (const std::string_view name : of.one.modifiers) {
        if (is_format(name)) source = kind_named(name);
        is_integer(name, kind);
    }
    each_lane_of(of, [&](Lane& lane) {
        const long double value = value_of(read(lane, source, of.has("FTZ")), source);
        const long double top = std::ldexp(1.0L, kind.is_signed ? kind.bits - 1 : kind.bits);
        std::uint64_t result = 0;
        if (std::isnan(value)) {
            if (!of.has("NTZ")) result = std::uint64_t{1} << (kind.bits - 1);
            if (!of.has("NTZ") && kind.is_signed) result = 0 - result;
        } else if (kind.is_signed) {
            const long double whole = std::fmin(std::fmax(integral(of, value), -top), top - 1);
            result = static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
        } else {
            result = static_cast<std::uint64_t>(
                std::fmin(std::fmax(integral(of, value), 0.0L), top - 1));
        }
        put(lane, result, kind.bits);
    });
    return true;
}

bool integer_to_format(Case& of) {
    IntegerKind kind{32, true};
    Kind target = single_kind;
    for (const std::string_view name : of.one.modifiers) {
        if (is_format(name)) target = kind_named(name);
        is_integer(name, kind);
    }
    each_lane_of(of, [&](Lane& lane) {
        std::uint64_t bits = kind.bits == 64 ? lane.raw64(0) : lane.raw(0);
        const std::string_view part = of.sources[0]->part;
        if (part.size() == 3) bits >>= (part[2] - '0') * (part[1] == 'H' ? 16 : 8);
        long double value = 0;
        switch (kind.bits) {
            case 8:
                value = kind.is_signed ? static_cast<std::int8_t>(bits)
                                       : static_cast<int>(static_cast<std::uint8_t>(bits));
                break;
            case 16:
                value = kind.is_signed ? static_cast<std::int16_t>(bits)
                                       : static_cast<int>(static_cast<std::uint16_t>(bits));
                break;
            case 32:
                value = kind.is_signed ? static_cast<long double>(static_cast<std::int32_t>(bits))
                                       : static_cast<long double>(static_cast<std::uint32_t>(bits));
                break;
            default:
                value = kind.is_signed ? static_cast<long double>(static_cast<std::int64_t>(bits))
                                       : static_cast<long double>(bits);
        }
        put(lane, pattern_of(value, target, mode_of(of.one)), target.bits);
    });
    return true;
}

bool to_integral(Case& of) {
    const Kind kind = of.has("F64")    ? double_kind
                      : of.has("F16")  ? half_kind
                      : of.has("BF16") ? brain_kind
                                       : single_kind;
    each_lane_of(of, [&](Lane& lane) {
        const std::uint64_t pattern = read(lane, kind, of.has("FTZ"));
        const long double value = value_of(pattern, kind);
        if (std::isnan(value)) {
            const std::uint64_t nan = kind.bits == 16 ? 0x7fff : 0x7fffffff;
            put(lane, kind.bits == 64 ? pattern | 0x0008000000000000 : nan, kind.bits);
        } else {
            put(lane, pattern_of(integral(of, value), kind, FE_TONEAREST), kind.bits);
        }
    });
    return true;
}

// E4M3 or E5M2: the code, among all that are numbers, whose value is nearest; of two the even one.
std::uint32_t nearest_byte(long double value, bool e4m3, bool rectified) {
    if (std::isnan(value)) return 0x7f;
    if (rectified && std::signbit(value)) return 0;
    const auto number = [&](std::uint32_t code) {
        const int digits = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
        const auto exponent = static_cast<int>(code >> digits);
        const auto rest = static_cast<int>(code & ((1u << digits) - 1));
        return exponent == 0 ? std::ldexp(static_cast<long double>(rest), 1 - bias - digits)
                             : std::ldexp(static_cast<long double>(rest + (1 << digits)),
                                          exponent - bias - digits);
    };
    const std::uint32_t largest = e4m3 ? 0x7e : 0x7b;
    const long double size = std::fabs(value);
    std::uint32_t best = 0;
    for (std::uint32_t code = 1; code <= largest; ++code) {
        const long double here = std::fabs(number(code) - size);
        const long double there = std::fabs(number(best) - size);
        if (here < there || (here == there && code % 2 == 0)) best = code;
    }
    if (size >= number(largest)) best = largest;
    return best | (std::signbit(value) ? 0x80 : 0);
}

std::uint16_t half_of_byte(std::uint32_t code, bool e4m3) {
    const std::uint32_t sign = (code & 0x80) << 8;
    const bool nan = e4m3 ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c;
    if (nan) return 0x7fff;
    if (!e4m3) return static_cast<std::uint16_t>(code << 8);
    const auto exponent = static_cast<int>(code >> 3 & 15);
    const auto rest = static_cast<int>(code & 7);
    const long double size = exponent == 0 ? std::ldexp(static_cast<long double>(rest), -9)
                                           : std::ldexp(rest + 8.0L, exponent - 10);
    return static_cast<std::uint16_t>(sign | pattern_of(size, half_kind, FE_TONEAREST));
}

bool pack_bytes(Case& of) {
    const bool e4m3 = of.has("E4M3"), rectified = of.has("RELU");
    each_lane_of(of, [&](Lane& lane) {
        const bool above = of.one.operands.back().part == ".H1";
        if (of.has("UNPACK_B")) {
            const std::uint32_t codes = lane.raw(0) >> (above ? 16 : 0);
            const auto half = [&](std::uint32_t code) -> std::uint32_t {
                const std::uint16_t value = half_of_byte(code, e4m3);
                return rectified && (value & 0x8000) != 0 ? 0u : value;
            };
            lane.write(half(codes >> 8 & 255) << 16 | half(codes & 255));
            return;
        }
        const bool halves = of.has("F16");
        const auto value = [&](int i) -> long double {
            if (!halves) return f(lane.single(static_cast<std::size_t>(1 - i)));
            return value_of(lane.raw(0) >> (16 * i) & 0xffff, half_kind);
        };
        const std::uint32_t kept = lane.raw(halves ? 1 : 2) >> (above ? 16 : 0);
        lane.write(kept << 16 | nearest_byte(value(1), e4m3, rectified) << 8 |
                   nearest_byte(value(0), e4m3, rectified));
    });
    return true;
}

bool pack(Case& of) {
    if (of.has("E4M3") || of.has("E5M2")) return pack_bytes(of);
    const Kind kind = of.has("BF16") ? brain_kind : half_kind;
    each_lane_of(of, [&](Lane& lane) {
        const auto one = [&](std::size_t i) {
            const long double value = f(lane.single(i));
            std::uint64_t result = 0x7fff;
            if (!std::isnan(value)) result = pattern_of(value, kind, mode_of(of.one));
            const std::uint64_t infinity = kind.fraction == 7 ? 0x7f80 : 0x7c00;
            if (of.has("SATFINITE") && (result & 0x7fff) == infinity) --result;
            if (of.has("RELU") && (result & 0x8000) != 0) result = 0;
            return static_cast<std::uint32_t>(result);
        };
        lane.write(of.has("MERGE_C") ? one(0) : one(0) << 16 | one(1));
    });
    return true;
}

// Correctly rounded, denormals flushed but by TANH.
bool function(Case& of) {
    if (of.has("F16") || of.has("BF16")) {
        const Kind kind = of.has("F16") ? half_kind : brain_kind;
        each_lane_of(of, [&](Lane& lane) {
            const long double x = value_of(read(lane, kind, false), kind);
            lane.write(static_cast<std::uint32_t>(
                std::isnan(x) ? 0x7fff
                              : pattern_of(of.has("TANH") ? std::tanh(x) : std::exp2(x), kind,
                                           FE_TONEAREST)));
        });
        return of.has("TANH") || of.has("EX2");
    }
    each_lane_of(of, [&](Lane& lane) {
        const std::uint32_t bits = lane.single(0);
        if (of.has("RCP64H") || of.has("RSQ64H")) {
            const std::uint32_t kept = (bits & 0x7ff00000) == 0 ? bits & 0x80000000 : bits;
            const long double x = d(std::uint64_t{kept} << 32);
            const long double r = of.has("RCP64H") ? 1 / x : 1 / std::sqrt(x);
            // A format with 20 digits behind the point and binary64's exponents.
            const auto rounded_up = [&] {
                if (std::isnan(r)) return std::uint32_t{0x7ff80000};
                int exponent = 0;
                const long double fraction = std::frexp(std::fabs(r), &exponent);
                if (r == 0 || std::isinf(r)) {
                    return static_cast<std::uint32_t>(b(static_cast<double>(r)) >> 32);
                }
                const long double cut = std::ldexp(std::nearbyint(std::ldexp(fraction, 21)), -21);
                const double whole =
                    static_cast<double>(std::copysign(std::ldexp(cut, exponent), r));
                const auto high = static_cast<std::uint32_t>(b(whole) >> 32);
                return (high & 0x7ff00000) == 0 ? high & 0x80000000 : high;
            };
            lane.write(rounded_up());
            return;
        }
        constexpr long double turn = 6.283185307179586476925286766559005768L;
        const long double x = of.has("TANH") ? f(bits) : f(flush(bits));
        const auto turns = [&](long double shift) {
            if (std::isinf(x) || std::isnan(x))
                return std::numeric_limits<long double>::quiet_NaN();
            // Whole turns off, then the nearest quarter, so that the rest is exact.
            const long double rest = x - std::rint(x);
            const int quarter = static_cast<int>(std::rint(rest * 4));
            const long double angle = (rest - quarter * 0.25L) * turn;
            const int phase = ((quarter + static_cast<int>(shift)) % 4 + 4) % 4;
            return phase == 0   ? std::sin(angle)
                   : phase == 1 ? std::cos(angle)
                   : phase == 2 ? -std::sin(angle)
                                : -std::cos(angle);
        };
        const long double r = of.has("RCP")    ? 1 / x
                              : of.has("RSQ")  ? 1 / std::sqrt(x)
                              : of.has("SQRT") ? std::sqrt(x)
                              : of.has("EX2")  ? std::exp2(x)
                              : of.has("LG2")  ? std::log2(x)
                              : of.has("SIN")  ? turns(0)
                              : of.has("COS")  ? turns(1)
                                               : std::tanh(x);
        std::uint32_t result = std::isnan(r) ? 0x7fffffff : b(static_cast<float>(r));
        if (!of.has("TANH")) result = flush(result);
        lane.write(result);
    });
    return true;
}

}  // namespace

std::vector<NamedFormula> real_formulas() {
    return {{"FADD", &single<&add<float>>},
            {"FMUL", &single<&multiply<float>>},
            {"FFMA", &single<&fuse<float>>},
            {"FADD2", &two<&add<float>>},
            {"FMUL2", &two<&multiply<float>>},
            {"FFMA2", &two<&fuse<float>>},
            {"FMNMX", &minimum},
            {"FMNMX3", &minimum},
            {"FSETP", &compare},
            {"FSET", &set_real},
            {"FSEL", &select},
            {"FCHK", &division_check},
            {"DADD", &wide<&add<double>>},
            {"DMUL", &wide<&multiply<double>>},
            {"DFMA", &wide<&fuse<double>>},
            {"DSETP", &wide_compare},
            {"F2F", &format_to_format},
            {"F2I", &format_to_integer},
            {"F2IP", &bytes_of_reals},
            {"I2F", &integer_to_format},
            {"I2FP", &integer_to_format},
            {"FRND", &to_integral},
            {"F2FP", &pack},
            {"MUFU", &function}};
}

}  // namespace occupipe::isa::test
