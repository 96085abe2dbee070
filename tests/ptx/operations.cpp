// SPDX-License-Identifier: MIT
#include "tests/ptx/operations.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tests/ptx/state.h"

namespace occupipe::ptx {
namespace {

__extension__ using Wide = __int128;
using Sources = std::span<const std::uint64_t>;

bool has(const Instruction& one, std::string_view word) {
    return std::ranges::find(one.words, word) != one.words.end();
}

bool is_real(std::string_view type) {
    return type == "f16" || type == "bf16" || type == "f32" || type == "f64";
}

// By the definition: a sign, five bits of exponent, ten of fraction.
double half_value(std::uint64_t bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const auto fraction = static_cast<double>(bits & 1023);
    const double sign = (bits >> 15 & 1) != 0 ? -1 : 1;
    if (exponent == 31) {
        return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    return exponent == 0 ? sign * std::ldexp(fraction, -24)
                         : sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint64_t half_bits(double value) {
    const std::uint64_t sign = std::signbit(value) ? 0x8000 : 0;
    if (std::isnan(value)) return 0x7fff;
    const double size = std::abs(value);
    if (size >= 65520) return sign | 0x7c00;
    if (size < std::ldexp(1, -14)) {
        return sign | static_cast<std::uint64_t>(std::nearbyint(std::ldexp(size, 24)));
    }
    const int exponent = std::ilogb(size);
    // A fraction that rounds up to 2048 carries into the exponent by itself.
    const auto fraction =
        static_cast<std::uint64_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    return sign | (static_cast<std::uint64_t>(exponent + 14) * 1024 + fraction);
}

double real_value(std::uint64_t bits, std::string_view type) {
    if (type == "f64") return std::bit_cast<double>(bits);
    if (type == "f32") return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == "bf16") return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
    if (type == "f16") return half_value(bits & 0xffff);
    throw NotUnderstood("type " + std::string(type));
}

std::uint64_t real_bits(double value, std::string_view type) {
    if (type == "f64") return std::bit_cast<std::uint64_t>(value);
    const std::uint32_t single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type == "f32") return single;
    if (type == "bf16") {
        if (std::isnan(value)) return 0x7fff;
        // To odd in binary32 first.
        std::uint32_t odd = single;
        if (static_cast<double>(std::bit_cast<float>(single)) != value && (single & 1) == 0) {
            const bool away =
                std::abs(value) > std::abs(static_cast<double>(std::bit_cast<float>(single)));
            odd = away ? single + 1 : single - 1;
        }
        return (odd + 0x7fff + (odd >> 16 & 1)) >> 16;
    }
    if (type == "f16") return half_bits(value);
    throw NotUnderstood("type " + std::string(type));
}

int type_bits(std::string_view type) { return static_cast<int>(type_width(type)) * 8; }

Wide integer_value(std::uint64_t bits, std::string_view type) {
    const int unused = 64 - type_bits(type);
    if (type.front() != 's') return bits << unused >> unused;
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

// The host's direction of rounding, as the instruction asks for, until the end of a scope.
class Direction {
public:
    explicit Direction(const Instruction& one) : before_(std::fegetround()) {
        std::fesetround(has(one, "rz")   ? FE_TOWARDZERO
                        : has(one, "rm") ? FE_DOWNWARD
                        : has(one, "rp") ? FE_UPWARD
                                         : FE_TONEAREST);
    }
    ~Direction() { std::fesetround(before_); }
    Direction(const Direction&) = delete;
    Direction& operator=(const Direction&) = delete;

private:
    int before_;
};

// -0 is less than +0; a number wins over a NaN (9.7.3.11).
template <typename Real>
Real lesser(const Instruction& one, Real a, Real b, bool greater) {
    if (std::isnan(a) || std::isnan(b)) {
        if (has(one, "NaN") || (std::isnan(a) && std::isnan(b))) {
            return std::numeric_limits<Real>::quiet_NaN();
        }
        return std::isnan(a) ? b : a;
    }
    if (a == b) return std::signbit(a) != greater ? a : b;
    return (a < b) != greater ? a : b;
}

// Rounded once, in the type's own format; absent where the operation is none of these.
template <typename Real>
std::optional<Real> rounded_once(const Instruction& one, const Real* x) {
    const std::string& name = one.words.front();
    const Direction direction(one);
    const volatile Real a = x[0], b = x[1], c = x[2];
    volatile Real result = 0;
    if (name == "add") {
        result = a + b;
    } else if (name == "sub") {
        result = a - b;
    } else if (name == "mul") {
        result = a * b;
    } else if (name == "fma" || name == "mad") {
        result = std::fma(Real{a}, Real{b}, Real{c});
    } else if (name == "div" && !has(one, "approx")) {
        result = a / b;
    } else if (name == "rcp" && !has(one, "approx")) {
        result = Real{1} / a;
    } else if (name == "sqrt" && !has(one, "approx")) {
        result = std::sqrt(Real{a});
    } else {
        return std::nullopt;
    }
    return Real{result};
}

template <typename Real, typename Bits>
std::uint64_t real_in_its_format(const Instruction& one, std::string_view type, Sources in,
                                 Bits sign, Bits nan,
                                 double (*otherwise)(const Instruction&, std::string_view,
                                                     const double*)) {
    const std::string& name = one.words.front();
    const auto bits = [&](std::size_t i) { return static_cast<Bits>(in[i]); };
    if (name == "neg") return Bits(bits(0) ^ sign);
    if (name == "abs") return Bits(bits(0) & ~sign);
    if (name == "copysign") return Bits((bits(0) & sign) | (bits(1) & ~sign));
    const auto flushed = [&](Real value) {
        const bool flush = has(one, "ftz") && std::fpclassify(value) == FP_SUBNORMAL;
        return flush ? std::copysign(Real{0}, value) : value;
    };
    Real x[3] = {};
    for (std::size_t i = 0; i < std::min<std::size_t>(in.size(), 3); ++i) {
        x[i] = flushed(std::bit_cast<Real>(bits(i)));
    }
    Real result = 0;
    if (name == "min" || name == "max") {
        result = lesser(one, x[0], x[1], name == "max");
        if (in.size() > 2) result = lesser(one, result, x[2], name == "max");
    } else if (const auto once = rounded_once(one, x)) {
        result = *once;
    } else {
        const double wide[3] = {double(x[0]), double(x[1]), double(x[2])};
        result = static_cast<Real>(otherwise(one, type, wide));
    }
    result = flushed(result);
    if (has(one, "sat")) result = result > 0 ? std::min(result, Real{1}) : Real{0};
    if (std::isnan(result) && nan != 0) return nan;
    return std::bit_cast<Bits>(result);
}

double real_result(const Instruction& one, std::string_view type, const double* x) {
    const std::string& name = one.words.front();
    if (name == "add") return x[0] + x[1];
    if (name == "sub") return x[0] - x[1];
    if (name == "mul") return x[0] * x[1];
    if (name == "fma") return std::fma(x[0], x[1], x[2]);
    if (name == "div") return x[0] / x[1];
    const bool three = one.operands.size() == 4;
    if (name == "min") return std::fmin(std::fmin(x[0], x[1]), three ? x[2] : x[1]);
    if (name == "max") return std::fmax(std::fmax(x[0], x[1]), three ? x[2] : x[1]);
    if (name == "neg") return -x[0];
    if (name == "abs") return std::abs(x[0]);
    if (name == "copysign") return std::copysign(x[1], x[0]);
    if (name == "sqrt") return std::sqrt(x[0]);
    if (name == "rsqrt") return 1 / std::sqrt(x[0]);
    if (name == "rcp") return 1 / x[0];
    if (name == "sin") return std::sin(x[0]);
    if (name == "cos") return std::cos(x[0]);
    if (name == "ex2") return std::exp2(x[0]);
    if (name == "lg2") return std::log2(x[0]);
    if (name == "tanh") return std::tanh(x[0]);
    throw NotUnderstood(one.text + " on " + std::string(type));
}

// A half of a * b + c, rounded once: the sum is exact in binary128 for all but the rarest exponents
// of bfloat16, and to odd in binary64.
double fused_half(const double* x) {
    __extension__ using Quad = __float128;
    const Quad sum = Quad{x[0]} * Quad{x[1]} + Quad{x[2]};
    const auto nearest = static_cast<double>(sum);
    if (!std::isfinite(nearest) || Quad{nearest} == sum) return nearest;
    const auto bits = std::bit_cast<std::uint64_t>(nearest);
    if ((bits & 1) != 0) return nearest;
    return std::nextafter(nearest, Quad{nearest} < sum ? std::numeric_limits<double>::infinity()
                                                       : -std::numeric_limits<double>::infinity());
}

std::uint64_t real_operation(const Instruction& one, std::string_view type, Sources in) {
    if (type == "f32") {
        return real_in_its_format<float, std::uint32_t>(one, type, in, 0x80000000, 0x7fffffff,
                                                        &real_result);
    }
    if (type == "f64") {
        return real_in_its_format<double, std::uint64_t>(one, type, in, std::uint64_t{1} << 63, 0,
                                                         &real_result);
    }
    const std::string& name = one.words.front();
    if (name == "neg") return (in[0] ^ 0x8000) & 0xffff;
    if (name == "abs") return in[0] & 0x7fff;
    double x[3] = {};
    for (std::size_t i = 0; i < std::min<std::size_t>(in.size(), 3); ++i) {
        x[i] = real_value(in[i], type);
    }
    double value = name == "fma"                    ? fused_half(x)
                   : name == "min" || name == "max" ? lesser(one, x[0], x[1], name == "max")
                                                    : real_result(one, type, x);
    if (has(one, "sat")) value = value > 0 ? std::min(value, 1.0) : 0.0;
    if (has(one, "relu") && !std::isnan(value)) value = std::max(value, 0.0);
    return real_bits(value, type);
}

std::optional<Wide> integer_operation(const Instruction& one, std::string_view type, Sources in);

// Two numbers of `type`, each by itself.
std::uint64_t pair_operation(const Instruction& one, std::string_view type, Sources in) {
    const int bits = type_bits(type);
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    std::uint64_t result = 0;
    for (const int shift : {0, bits}) {
        std::uint64_t halves[3] = {};
        for (std::size_t i = 0; i < in.size(); ++i) halves[i] = in[i] >> shift & mask;
        const std::span sources(halves, in.size());
        if (is_real(type)) {
            result |= real_operation(one, type, sources) << shift;
        } else if (const auto value = integer_operation(one, type, sources)) {
            result |= (static_cast<std::uint64_t>(*value) & mask) << shift;
        } else {
            throw NotUnderstood(one.text);
        }
    }
    return result;
}

Wide quotient(const Instruction& one, Wide a, Wide b) {
    if (b == 0) throw NotUnderstood(one.text + ": divides by zero");
    return a / b;
}

Wide product(const Instruction& one, std::string_view type, Wide a, Wide b, int bits) {
    if (!has(one, "hi")) return a * b;
    __extension__ using Unsigned = unsigned __int128;
    if (type[0] == 'u')
        return static_cast<Wide>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b) >> bits);
    return (a * b) >> bits;
}

std::uint64_t permuted(std::uint64_t a, std::uint64_t b, std::uint64_t selector) {
    const std::uint64_t all = (a & 0xffffffff) | b << 32;
    std::uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
        const std::uint64_t nibble = selector >> 4 * i & 15;
        std::uint64_t byte = all >> 8 * (nibble & 7) & 255;
        if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

std::uint64_t looked_up(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t table) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 32; ++bit) {
        const std::uint64_t index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
        result |= (table >> index & 1) << bit;
    }
    return result;
}

std::int64_t part(std::uint64_t value, int bits, int index) {
    return static_cast<std::int64_t>(value << (64 - bits * (index + 1))) >> (64 - bits);
}

// dp4a.atype.btype; dp2a.mode.atype.btype, mode: which half of b's bytes.
std::int64_t dot_product(const Instruction& one, Sources in, int parts) {
    const int bits = 32 / parts;
    const std::string& b_type = one.words.back();
    const std::string& a_type = one.words[one.words.size() - 2];
    const auto number = [](std::uint64_t from, int width, int index, bool is_signed) {
        const std::int64_t value = part(from, width, index);
        return is_signed ? value : value & ((std::int64_t{1} << width) - 1);
    };
    const int first = has(one, "hi") ? 2 : 0;
    std::int64_t sum = part(in[2], 32, 0);
    for (int i = 0; i < parts; ++i) {
        sum += number(in[0], bits, i, a_type[0] == 's') *
               number(in[1], 8, first + i, b_type[0] == 's');
    }
    return sum;
}

std::uint64_t significant_bit(std::string_view type, std::uint64_t value, bool shift_amount) {
    const int bits = type_bits(type);
    if (type[0] == 's' && (value >> (bits - 1) & 1) != 0) value = ~value;
    value = truncated(value, type);
    if (value == 0) return 0xffffffff;
    const auto at = static_cast<std::uint64_t>(63 - std::countl_zero(value));
    return shift_amount ? static_cast<std::uint64_t>(bits) - 1 - at : at;
}

// bfe d, a, position, length (9.7.1.19): beyond the end stands the sign.
std::uint64_t extracted(std::string_view type, Sources in) {
    const int bits = type_bits(type), position = static_cast<int>(in[1] & 255),
              length = static_cast<int>(in[2] & 255), top = bits - 1;
    if (length == 0) return 0;
    const bool negative =
        type[0] == 's' && (in[0] >> std::min(position + length - 1, top) & 1) != 0;
    std::uint64_t result = 0;
    for (int i = 0; i < bits; ++i) {
        const bool inside = i < length && position + i <= top;
        const bool set = inside ? (in[0] >> (position + i) & 1) != 0 : negative;
        result |= std::uint64_t{set} << i;
    }
    return result;
}

// shf.l/.r.wrap/.clamp d, a, b, c (9.7.8.10).
std::uint64_t funnel(const Instruction& one, Sources in) {
    const std::uint64_t both = (in[1] & 0xffffffff) << 32 | (in[0] & 0xffffffff);
    const std::uint64_t c = in[2] & 0xffffffff;
    const std::uint64_t n = has(one, "clamp") ? std::min<std::uint64_t>(c, 32) : c & 31;
    return has(one, "l") ? (n == 32 ? both << 32 : both << n) >> 32 : both >> n & 0xffffffff;
}

// On bits alone; absent where `name` is none of these.
std::optional<std::uint64_t> bit_operation(const Instruction& one, std::string_view type,
                                           Sources in) {
    const std::string& name = one.words.front();
    if (name == "and") return in[0] & in[1];
    if (name == "or") return in[0] | in[1];
    if (name == "xor") return in[0] ^ in[1];
    if (name == "not") return type == "pred" ? in[0] ^ 1 : ~in[0];
    if (name == "bmsk") {  // bmsk.clamp, .wrap d, position, width
        if (has(one, "wrap")) return std::nullopt;
        const std::uint64_t position = in[0] & 0xffffffff, width = in[1] & 0xffffffff;
        if (position >= 32) return 0;
        return ((std::uint64_t{1} << std::min<std::uint64_t>(width, 32)) - 1) << position &
               0xffffffff;
    }
    if (name == "cnot") return truncated(in[0], type) == 0 ? 1 : 0;
    if (name == "popc") return std::popcount(truncated(in[0], type));
    if (name == "clz") return std::countl_zero(truncated(in[0], type)) - (64 - type_bits(type));
    if (name == "bfind") return significant_bit(type, in[0], has(one, "shiftamt"));
    if (name == "bfe") return extracted(type, in);
    if (name == "bfi") {
        const std::uint64_t position = in[2] & 255, length = in[3] & 255;
        std::uint64_t result = in[1];
        for (std::uint64_t i = 0; i < length && position + i < 64; ++i) {
            const std::uint64_t bit = std::uint64_t{1} << (position + i);
            result = (in[0] >> i & 1) != 0 ? result | bit : result & ~bit;
        }
        return result;
    }
    if (name == "brev") {
        const int bits = type_bits(type);
        std::uint64_t result = 0;
        for (int i = 0; i < bits; ++i) result |= (in[0] >> i & 1) << (bits - 1 - i);
        return result;
    }
    if (name == "prmt" && one.words.size() > 2) {  // by its mode, four selectors (9.7.9.7)
        const auto modes = {std::pair{"f4e", std::array{0x3210, 0x4321, 0x5432, 0x6543}},
                            std::pair{"b4e", std::array{0x5670, 0x6701, 0x7012, 0x0123}},
                            std::pair{"rc8", std::array{0x0000, 0x1111, 0x2222, 0x3333}},
                            std::pair{"ecl", std::array{0x3210, 0x3211, 0x3222, 0x3333}},
                            std::pair{"ecr", std::array{0x0000, 0x1110, 0x2210, 0x3210}},
                            std::pair{"rc16", std::array{0x1010, 0x3232, 0x1010, 0x3232}}};
        for (const auto& [mode, selectors] : modes) {
            if (!has(one, mode)) continue;
            return permuted(in[0], in[1], static_cast<std::uint64_t>(selectors[in[2] & 3]));
        }
        return std::nullopt;
    }
    if (name == "szext" && has(one, "clamp")) {  // the lowest bits, their number given
        const std::uint64_t width = std::min<std::uint64_t>(in[1] & 0xffffffff, 32);
        const std::uint64_t whole[3] = {in[0], 0, width};
        return extracted(type, whole);
    }
    if (name == "prmt") return permuted(in[0], in[1], in[2]);
    if (name == "lop3") return looked_up(in[0], in[1], in[2], in[3]);
    if (name == "shf") return funnel(one, in);
    if (name == "dp4a") return static_cast<std::uint64_t>(dot_product(one, in, 4));
    if (name == "dp2a") return static_cast<std::uint64_t>(dot_product(one, in, 2));
    return std::nullopt;
}

std::optional<Wide> integer_operation(const Instruction& one, std::string_view type, Sources in) {
    const std::string& name = one.words.front();
    const int bits = type_bits(type);
    const auto x = [&](std::size_t i) { return integer_value(in[i], type); };
    const auto shift = [&] { return std::min<std::uint64_t>(in[1] & 0xffffffff, 64); };
    const auto clamped = [&](Wide value) {
        const Wide top = (Wide{1} << (bits - 1)) - 1;
        return has(one, "sat") ? std::clamp(value, -top - 1, top) : value;
    };
    if (name == "mul24" || name == "mad24") {
        const auto low = [&](std::size_t i) {
            return type[0] == 's' ? Wide{part(in[i], 24, 0)} : Wide{in[i] & 0xffffff};
        };
        const Wide all = low(0) * low(1);
        const Wide half = has(one, "hi") ? all >> 16 : all;
        return name == "mad24" ? half + x(2) : half;
    }
    if (name == "add") return clamped(x(0) + x(1));
    if (name == "sub") return clamped(x(0) - x(1));
    if (name == "mul") return product(one, type, x(0), x(1), bits);
    if (name == "mad" && has(one, "wide")) {
        return x(0) * x(1) + integer_value(in[2], type.front() == 's' ? "s64" : "u64");
    }
    if (name == "mad") return product(one, type, x(0), x(1), bits) + x(2);
    if (name == "div") return quotient(one, x(0), x(1));
    if (name == "rem") return x(0) - quotient(one, x(0), x(1)) * x(1);
    const Wide least = has(one, "relu") ? 0 : std::numeric_limits<std::int64_t>::min();
    if (name == "min") return std::max(least, std::min(x(0), x(1)));
    if (name == "max") return std::max(least, std::max(x(0), x(1)));
    if (name == "abs") return x(0) < 0 ? -x(0) : x(0);
    if (name == "neg") return -x(0);
    if (name == "sad") return (x(0) < x(1) ? x(1) - x(0) : x(0) - x(1)) + x(2);
    if (name == "shl") return shift() >= 64 ? 0 : static_cast<Wide>(in[0] << shift());
    if (name == "shr") return x(0) >> shift();
    return std::nullopt;
}

// A narrow result is widened to a word by its own sign.
std::uint64_t widened(std::int64_t value, std::string_view type) {
    return type_bits(type) <= 32 ? static_cast<std::uint32_t>(value)
                                 : static_cast<std::uint64_t>(value);
}

template <typename Real>
Real saturated(const Instruction& one, Real value) {
    if (!has(one, "sat")) return value;
    return value > 0 ? std::min(value, Real{1}) : Real{0};
}

std::uint64_t from_integer(const Instruction& one, Wide value, const std::string& to) {
    const Direction direction(one);
    // Above 2^63 the last bit stands for what is cut off.
    const bool above = value > std::numeric_limits<std::int64_t>::max();
    const volatile auto whole =
        static_cast<std::int64_t>(above ? (value >> 1) | (value & 1) : value);
    if (to == "f32") {
        const volatile auto single = static_cast<float>(whole);
        return std::bit_cast<std::uint32_t>(above ? 2 * float{single} : float{single});
    }
    const volatile auto wide = static_cast<double>(whole);
    const double result = above ? 2 * double{wide} : double{wide};
    if (to == "f64") return std::bit_cast<std::uint64_t>(result);
    if (std::abs(result) > 9e15) throw NotUnderstood(one.text);  // would be rounded twice
    return real_bits(result, to);
}

std::uint64_t converted(const Instruction& one, Sources in) {
    std::vector<std::string> types;
    for (const auto& word : one.words) {
        const bool type =
            is_real(word) || word == "f16x2" || word == "bf16x2" ||
            (word.find_first_of("0123456789") == 1 && (word[0] == 's' || word[0] == 'u'));
        if (type) types.push_back(word);
    }
    if (types.size() != 2) throw NotUnderstood(one.text);
    const std::string& to = types[0];
    const std::string& from = types[1];
    if (to.ends_with("x2")) {
        const std::string half = to.substr(0, to.size() - 2);
        return real_bits(real_value(in[0], from), half) << 16 |
               real_bits(real_value(in[1], from), half);
    }
    if (!is_real(from)) {
        Wide value = integer_value(in[0], from);
        if (is_real(to)) return from_integer(one, value, to);
        const Wide top = (Wide{1} << (type_bits(to) - (to[0] == 's' ? 1 : 0))) - 1;
        if (has(one, "sat")) value = std::clamp(value, to[0] == 's' ? -top - 1 : Wide{0}, top);
        const Wide kept = integer_value(static_cast<std::uint64_t>(value), to);
        return widened(static_cast<std::int64_t>(kept), to);
    }
    if (is_real(to) && type_bits(to) < type_bits(from) && to == "f32") {
        const Direction direction(one);
        const volatile double wide = real_value(in[0], from);
        const volatile auto single = static_cast<float>(wide);
        if (std::isnan(wide)) return 0x7fffffff;
        return std::bit_cast<std::uint32_t>(saturated(one, float{single}));
    }
    double value = real_value(in[0], from);
    if (has(one, "rni")) value = std::nearbyint(value);
    if (has(one, "rzi")) value = std::trunc(value);
    if (has(one, "rmi")) value = std::floor(value);
    if (has(one, "rpi")) value = std::ceil(value);
    if (is_real(to) && std::isnan(value) && to == "f32") return 0x7fffffff;
    if (is_real(to)) return real_bits(saturated(one, value), to);
    // A NaN: 0, or only the highest bit where one of the two has 64 (9.7.9.22).
    if (std::isnan(value)) {
        const bool wide = from == "f64" || type_bits(to) == 64;
        return wide ? std::uint64_t{1} << (type_bits(to) - 1) : 0;
    }
    const double top = std::ldexp(1, type_bits(to) - (to[0] == 's' ? 1 : 0));
    const double least = to[0] == 's' ? -top : 0;
    if (to == "u64" && value > 0 && value < top) return static_cast<std::uint64_t>(value);
    if (value >= top)
        return widened(
            static_cast<std::int64_t>(to[0] == 's' ? (std::uint64_t{1} << (type_bits(to) - 1)) - 1
                                                   : ~std::uint64_t{0}),
            to);
    return widened(static_cast<std::int64_t>(std::max(value, least)), to);
}

bool compared(const Instruction& one, std::string_view type, Sources in) {
    const std::string& how = one.words.at(1);
    const auto by = [&](const std::string& order, auto a, auto b) {
        if (order == "eq") return a == b;
        if (order == "ne") return a != b;
        if (order == "lt" || order == "lo") return a < b;
        if (order == "le" || order == "ls") return a <= b;
        if (order == "gt" || order == "hi") return a > b;
        if (order == "ge" || order == "hs") return a >= b;
        throw NotUnderstood(one.text);
    };
    if (!is_real(type)) return by(how, integer_value(in[0], type), integer_value(in[1], type));
    double a = real_value(in[0], type), b = real_value(in[1], type);
    if (has(one, "ftz") && type == "f32") {
        if (std::abs(a) < 0x1p-126) a = std::copysign(0.0, a);
        if (std::abs(b) < 0x1p-126) b = std::copysign(0.0, b);
    }
    const bool unordered = std::isnan(a) || std::isnan(b);
    if (how == "num") return !unordered;
    if (how == "nan") return unordered;
    if (how.size() == 3 && how[2] == 'u') return unordered || by(how.substr(0, 2), a, b);
    return !unordered && by(how, a, b);
}

// The result of a comparison with a third operand, a predicate: setp.CMP.BOOL.
bool combined_with(const Instruction& one, bool outcome, Sources in) {
    if (in.size() < 3) return outcome;
    const bool other = (in[2] & 1) != 0;
    const std::string& how = one.words.at(2);
    if (how == "and") return outcome && other;
    if (how == "or") return outcome || other;
    if (how == "xor") return outcome != other;
    throw NotUnderstood(one.text);
}

// set.CMP.DTYPE.STYPE: all ones, or 1.0.
std::uint64_t set_by(const Instruction& one, std::string_view type, Sources in) {
    if (in.size() > 2) throw NotUnderstood(one.text);
    const std::string& to = one.words.at(one.words.size() - 2);
    if (type.ends_with("x2")) {  // two results: 1.0, or all ones where integers are asked for
        const std::string_view half = type.substr(0, type.size() - 2);
        std::uint64_t result = 0;
        for (const int shift : {0, 16}) {
            const std::uint64_t parts[2] = {in[0] >> shift & 0xffff, in[1] >> shift & 0xffff};
            const std::uint64_t truth = to == type ? real_bits(1, half) : 0xffff;
            if (compared(one, half, parts)) result |= truth << shift;
        }
        return result;
    }
    const bool outcome = compared(one, type, in);
    if (is_real(to)) return real_bits(outcome ? 1 : 0, to);
    return outcome ? truncated(~std::uint64_t{0}, to) : 0;
}

bool tested(const Instruction& one, std::string_view type, Sources in) {
    const std::string& what = one.words.at(1);
    const double value = real_value(in[0], type);
    const double least = type == "f32" ? 0x1p-126 : std::numeric_limits<double>::min();
    const bool normal = std::isfinite(value) && std::abs(value) >= least;
    if (what == "finite") return std::isfinite(value);
    if (what == "infinite") return std::isinf(value);
    if (what == "number") return !std::isnan(value);
    if (what == "notanumber") return std::isnan(value);
    if (what == "normal") return normal;
    if (what == "subnormal") return std::isfinite(value) && value != 0 && !normal;
    throw NotUnderstood(one.text);
}

}  // namespace

std::uint64_t truncated(std::uint64_t value, std::string_view type) {
    if (type == "pred") return value & 1;
    const std::size_t width = type_width(type);
    return width >= 8 ? value : value & ((std::uint64_t{1} << 8 * width) - 1);
}

std::optional<std::uint64_t> compute(const Instruction& one, Sources in) {
    const std::string& name = one.words.front();
    const bool typed_first = one.words.back() == "relu" || name == "prmt";
    const std::string& type = typed_first ? one.words.at(1) : one.words.back();
    if (name == "cvta") {
        const std::uint64_t window = has(one, "local")                       ? local_window
                                     : has(one, "const") && in[0] >> 32 == 0 ? constant_window
                                                                             : 0;
        return has(one, "to") ? in[0] & ~(local_window | constant_window) : in[0] | window;
    }
    if (name == "mapa") return (in[0] & 0xffffff) | (in[1] + 1) << 24;
    if (name == "mov") return truncated(in[0], type);
    if (name == "setp") return combined_with(one, compared(one, type, in), in) ? 1 : 0;
    if (name == "set") return set_by(one, type, in);
    if (name == "testp") return tested(one, type, in) ? 1 : 0;
    if (name == "selp") return (in[2] & 1) != 0 ? in[0] : in[1];
    if (name == "slct") {
        if (type == "f32") return !(real_value(in[2], "f32") < 0) ? in[0] : in[1];
        return integer_value(in[2], "s32") >= 0 ? in[0] : in[1];
    }
    if (name == "cvt") return converted(one, in);
    if (type.ends_with("x2")) {
        return pair_operation(one, std::string_view(type).substr(0, type.size() - 2), in);
    }
    if (is_real(type)) return real_operation(one, type, in);
    if (has(one, "cc") || name == "addc") return std::nullopt;
    if (const auto bits = bit_operation(one, type, in)) return truncated(*bits, type);
    const bool signed_or_not = type[0] == 's' || type[0] == 'u' || type[0] == 'b';
    if (!signed_or_not || type.find_first_of("0123456789") != 1) return std::nullopt;
    const auto value = integer_operation(one, type, in);
    if (!value) return std::nullopt;
    return has(one, "wide") ? static_cast<std::uint64_t>(*value)
                            : truncated(static_cast<std::uint64_t>(*value), type);
}

}  // namespace occupipe::ptx
