// SPDX-License-Identifier: MIT
#include "core/element_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace occupipe {
namespace {

struct Facts {
    ElementType type;
    std::string_view name;
    std::size_t bytes;
    bool floating;
    bool is_signed;
    int fraction_bits;  // of a floating type
};

constexpr std::array facts = {
    Facts{ElementType::i8, "i8", 1, false, true, 0},
    Facts{ElementType::u8, "u8", 1, false, false, 0},
    Facts{ElementType::i16, "i16", 2, false, true, 0},
    Facts{ElementType::u16, "u16", 2, false, false, 0},
    Facts{ElementType::f16, "f16", 2, true, true, 10},
    Facts{ElementType::bf16, "bf16", 2, true, true, 7},
    Facts{ElementType::i32, "i32", 4, false, true, 0},
    Facts{ElementType::u32, "u32", 4, false, false, 0},
    Facts{ElementType::f32, "f32", 4, true, true, 23},
    Facts{ElementType::i64, "i64", 8, false, true, 0},
    Facts{ElementType::u64, "u64", 8, false, false, 0},
    Facts{ElementType::f64, "f64", 8, true, true, 52},
};

constexpr std::array all_types = [] {
    std::array<ElementType, facts.size()> types{};
    for (std::size_t i = 0; i < facts.size(); ++i) types[i] = facts[i].type;
    return types;
}();

const Facts& of(ElementType type) { return facts[static_cast<std::size_t>(type)]; }

// Rounds to `fraction` bits behind the point, with an exponent of `exponent` bits (IEEE 754).
std::uint64_t narrow_bits(double value, int exponent, int fraction) {
    const std::uint64_t sign = std::uint64_t{std::signbit(value)} << (exponent + fraction);
    const std::uint64_t infinite = ((std::uint64_t{1} << exponent) - 1) << fraction;
    if (std::isnan(value)) return sign | infinite | std::uint64_t{1} << (fraction - 1);
    if (std::isinf(value)) return sign | infinite;
    if (value == 0) return sign;
    const int bias = (1 << (exponent - 1)) - 1;
    int power = std::max(std::ilogb(value), 1 - bias);
    auto digits =
        static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), fraction - power)));
    const std::uint64_t one = std::uint64_t{1} << fraction;
    if (digits == 2 * one) {
        digits = one;
        ++power;
    }
    if (power > bias) return sign | infinite;
    if (digits < one) return sign | digits;
    return sign | static_cast<std::uint64_t>(power + bias) << fraction | (digits - one);
}

double wide_value(std::uint64_t bits, int exponent, int fraction) {
    const std::uint64_t digits = bits & ((std::uint64_t{1} << fraction) - 1);
    const auto power = static_cast<int>(bits >> fraction & ((1U << exponent) - 1));
    const bool negative = (bits >> (exponent + fraction) & 1) != 0;
    const int bias = (1 << (exponent - 1)) - 1;
    double value = 0;
    if (power == (1 << exponent) - 1)
        value = digits != 0 ? std::nan("") : HUGE_VAL;
    else if (power == 0)
        value = std::ldexp(static_cast<double>(digits), 1 - bias - fraction);
    else
        value = std::ldexp(static_cast<double>(digits | std::uint64_t{1} << fraction),
                           power - bias - fraction);
    return negative ? -value : value;
}

std::string range_text(ElementType type) {
    return fmt::format("{} to {}", least_integer(type), greatest_integer(type));
}

}  // namespace

std::string_view to_string(ElementType type) { return of(type).name; }

std::span<const ElementType> element_types() { return all_types; }

std::optional<ElementType> element_type(std::string_view name) {
    const auto found = std::ranges::find(facts, name, &Facts::name);
    if (found == facts.end()) return std::nullopt;
    return found->type;
}

std::size_t bytes_of(ElementType type) { return of(type).bytes; }

bool is_floating(ElementType type) { return of(type).floating; }

std::int64_t least_integer(ElementType type) {
    return of(type).is_signed ? -static_cast<std::int64_t>(greatest_integer(type)) - 1 : 0;
}

std::uint64_t greatest_integer(ElementType type) {
    const int bits = static_cast<int>(8 * bytes_of(type)) - (of(type).is_signed ? 1 : 0);
    return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t greatest_exact(ElementType type) {
    return is_floating(type) ? std::uint64_t{1} << (of(type).fraction_bits + 1)
                             : greatest_integer(type);
}

std::uint64_t floating_bits(ElementType type, double value) {
    switch (type) {
        case ElementType::f16:
            return narrow_bits(value, 5, 10);
        case ElementType::bf16:
            return narrow_bits(value, 8, 7);
        case ElementType::f32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        default:
            return std::bit_cast<std::uint64_t>(value);
    }
}

double floating_value(ElementType type, std::uint64_t bits) {
    switch (type) {
        case ElementType::f16:
            return wide_value(bits, 5, 10);
        case ElementType::bf16:
            return wide_value(bits, 8, 7);
        case ElementType::f32:
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        default:
            return std::bit_cast<double>(bits);
    }
}

void put_element(std::byte* at, ElementType type, std::uint64_t bits) {
    std::memcpy(at, &bits, bytes_of(type));
}

std::uint64_t get_element(const std::byte* at, ElementType type) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, bytes_of(type));
    return bits;
}

std::string element_text(ElementType type, std::uint64_t bits) {
    if (type == ElementType::f32)
        return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    if (is_floating(type)) return fmt::format("{}", floating_value(type, bits));
    if (!of(type).is_signed) return fmt::format("{}", bits);
    const int unused = 64 - static_cast<int>(8 * bytes_of(type));
    return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
}

std::optional<std::uint64_t> parse_element(ElementType type, std::string_view text,
                                           std::string& why) {
    const bool negative = text.starts_with('-');
    std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
    if (digits.starts_with('-') || digits.starts_with('+')) digits = {};
    const auto read = [&](auto& value, auto... how) {
        const auto [end, fault] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, how...);
        if (digits.empty() || end != digits.data() + digits.size()) return false;
        return fault == std::errc();
    };
    if (is_floating(type)) {
        double value = 0;
        if (!read(value) || !std::isfinite(value)) {
            why = fmt::format("'{}' is not a finite number", text);
            return std::nullopt;
        }
        const std::uint64_t bits = floating_bits(type, negative ? -value : value);
        if (std::isfinite(floating_value(type, bits))) return bits;
        why = fmt::format("{} is too large for {}", text, to_string(type));
        return std::nullopt;
    }
    std::uint64_t value = 0;
    const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
    if (hexadecimal) digits.remove_prefix(2);
    if (digits.empty() ||
        digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEF" : "0123456789") !=
            std::string_view::npos) {
        why = fmt::format("'{}' is not a whole number", text);
        return std::nullopt;
    }
    const auto least = std::uint64_t{0} - static_cast<std::uint64_t>(least_integer(type));
    if (!read(value, hexadecimal ? 16 : 10) ||
        (negative ? value > least : value > greatest_integer(type))) {
        why = fmt::format("{} is not from {} ({})", text, range_text(type), to_string(type));
        return std::nullopt;
    }
    return negative ? std::uint64_t{0} - value : value;
}

}  // namespace occupipe
