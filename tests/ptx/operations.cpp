// SPDX-License-Identifier: MIT
#include "tests/ptx/operations.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

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
    if (type == "bf16")
        return std::isnan(value) ? 0x7fff : (single + 0x7fff + (single >> 16 & 1)) >> 16;
    if (type == "f16") return half_bits(value);
    throw NotUnderstood("type " + std::string(type));
}

int type_bits(std::string_view type) { return static_cast<int>(type_width(type)) * 8; }

Wide integer_value(std::uint64_t bits, std::string_view type) {
    const int unused = 64 - type_bits(type);
    if (type.front() != 's') return bits << unused >> unused;
    return static_cast<std::int64_t>(bits << unused) >> unused;
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

std::uint64_t real_operation(const Instruction& one, std::string_view type, Sources in) {
    double x[3] = {};
    for (std::size_t i = 0; i < std::min<std::size_t>(in.size(), 3); ++i) {
        x[i] = real_value(in[i], type);
    }
    return real_bits(real_result(one, type, x), type);
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

Wide product(const Instruction& one, Wide a, Wide b, int bits) {
    return has(one, "hi") ? (a * b) >> bits : a * b;
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

std::int64_t dot_product(Sources in, int parts) {
    const int bits = 32 / parts;
    std::int64_t sum = part(in[2], 32, 0);
    for (int i = 0; i < parts; ++i) sum += part(in[0], bits, i) * part(in[1], 8, i);
    return sum;
}

std::uint64_t mask_of(std::uint64_t length) {
    return length >= 32 ? 0xffffffff : (std::uint64_t{1} << length) - 1;
}

// On bits alone; absent where `name` is none of these.
std::optional<std::uint64_t> bit_operation(const Instruction& one, std::string_view type,
                                           Sources in) {
    const std::string& name = one.words.front();
    const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(in[i]); };
    if (name == "and") return in[0] & in[1];
    if (name == "or") return in[0] | in[1];
    if (name == "xor") return in[0] ^ in[1];
    if (name == "not") return type == "pred" ? in[0] ^ 1 : ~in[0];
    if (name == "popc") return std::popcount(in[0]);
    if (name == "clz") return std::countl_zero(word(0));
    if (name == "bfind") return word(0) == 0 ? 0xffffffffu : 31 - std::countl_zero(word(0));
    if (name == "bfe") return in[0] >> (in[1] & 255) & mask_of(in[2] & 255);
    if (name == "bfi") {
        const std::uint64_t mask = mask_of(in[3] & 255) << (in[2] & 255);
        return (in[1] & ~mask) | (in[0] << (in[2] & 255) & mask);
    }
    if (name == "brev") {
        std::uint64_t result = 0;
        for (int i = 0; i < 32; ++i) result |= (in[0] >> i & 1) << (31 - i);
        return result;
    }
    if (name == "prmt") return permuted(in[0], in[1], in[2]);
    if (name == "lop3") return looked_up(in[0], in[1], in[2], in[3]);
    if (name == "shf") return (in[1] << 32 | (in[0] & 0xffffffff)) << (in[2] & 31) >> 32;
    if (name == "dp4a") return static_cast<std::uint64_t>(dot_product(in, 4));
    if (name == "dp2a") return static_cast<std::uint64_t>(dot_product(in, 2));
    return std::nullopt;
}

std::optional<Wide> integer_operation(const Instruction& one, std::string_view type, Sources in) {
    const std::string& name = one.words.front();
    const int bits = type_bits(type);
    const auto x = [&](std::size_t i) { return integer_value(in[i], type); };
    const auto shift = [&] { return std::min<std::uint64_t>(in[1] & 0xffffffff, 64); };
    if (name == "add") return x(0) + x(1);
    if (name == "sub") return x(0) - x(1);
    if (name == "mul") return product(one, x(0), x(1), bits);
    if (name == "mad" && has(one, "wide")) {
        return x(0) * x(1) + integer_value(in[2], type.front() == 's' ? "s64" : "u64");
    }
    if (name == "mad") return product(one, x(0), x(1), bits) + x(2);
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
        if (is_real(to)) return real_bits(static_cast<double>(value), to);
        const Wide top = (Wide{1} << (type_bits(to) - (to[0] == 's' ? 1 : 0))) - 1;
        if (has(one, "sat")) value = std::clamp(value, to[0] == 's' ? -top - 1 : Wide{0}, top);
        const Wide kept = integer_value(static_cast<std::uint64_t>(value), to);
        return widened(static_cast<std::int64_t>(kept), to);
    }
    double value = real_value(in[0], from);
    if (has(one, "rni")) value = std::nearbyint(value);
    if (has(one, "rzi")) value = std::trunc(value);
    if (has(one, "rmi")) value = std::floor(value);
    if (has(one, "rpi")) value = std::ceil(value);
    if (is_real(to)) return real_bits(value, to);
    if (std::isnan(value)) return 0;
    const double top = std::ldexp(1, type_bits(to) - (to[0] == 's' ? 1 : 0));
    const double least = to[0] == 's' ? -top : 0;
    if (value >= top)
        return widened(
            static_cast<std::int64_t>(to[0] == 's' ? (std::uint64_t{1} << (type_bits(to) - 1)) - 1
                                                   : ~std::uint64_t{0}),
            to);
    return widened(static_cast<std::int64_t>(std::max(value, least)), to);
}

bool compared(const Instruction& one, std::string_view type, Sources in) {
    const std::string& how = one.words.at(1);
    const auto by = [&](auto a, auto b) {
        if (how == "eq") return a == b;
        if (how == "ne") return a != b;
        if (how == "lt") return a < b;
        if (how == "le") return a <= b;
        if (how == "gt") return a > b;
        if (how == "ge") return a >= b;
        throw NotUnderstood(one.text);
    };
    return is_real(type) ? by(real_value(in[0], type), real_value(in[1], type))
                         : by(integer_value(in[0], type), integer_value(in[1], type));
}

}  // namespace

std::uint64_t truncated(std::uint64_t value, std::string_view type) {
    if (type == "pred") return value & 1;
    const std::size_t width = type_width(type);
    return width >= 8 ? value : value & ((std::uint64_t{1} << 8 * width) - 1);
}

std::optional<std::uint64_t> compute(const Instruction& one, Sources in) {
    const std::string& name = one.words.front();
    const std::string& type = one.words.back() == "relu" ? one.words.at(1) : one.words.back();
    if (name == "cvta") return in[0];
    if (name == "mapa") return (in[0] & 0xffffff) | (in[1] + 1) << 24;
    if (name == "mov") return truncated(in[0], type);
    if (name == "setp") return compared(one, type, in) ? 1 : 0;
    if (name == "selp") return (in[2] & 1) != 0 ? in[0] : in[1];
    if (name == "slct") return integer_value(in[2], "s32") >= 0 ? in[0] : in[1];
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
