// SPDX-License-Identifier: MIT
#include "core/buffer_fill.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.h"

namespace occupipe {
namespace {

std::uint64_t number(const std::string& text, ElementType type) {
    std::string why;
    return parse_element(type, text, why).value_or(0);
}

std::optional<std::string> number_fault(const std::string& text, ElementType type) {
    std::string why;
    if (parse_element(type, text, why)) return std::nullopt;
    return why;
}

// floor(bits * span / 2^64); a span of 0 stands for 2^64.
std::uint64_t below(std::uint64_t bits, std::uint64_t span) {
    __extension__ using Wide = unsigned __int128;
    if (span == 0) return bits;
    return static_cast<std::uint64_t>(static_cast<Wide>(bits) * span >> 64);
}

std::int64_t signed_value(std::uint64_t bits, ElementType type) {
    const int unused = 64 - static_cast<int>(8 * bytes_of(type));
    return static_cast<std::int64_t>(bits << unused) >> unused;
}

// The elements' bits, by index.
template <typename ElementOf>
std::vector<std::byte> generated(ElementType type, std::uint64_t count, ElementOf element_of) {
    const std::size_t size = bytes_of(type);
    std::vector<std::byte> bytes(count * size);
    for (std::uint64_t i = 0; i < count; ++i)
        put_element(bytes.data() + i * size, type, element_of(i));
    return bytes;
}

// The bounds of a floating type as they are written: -0.1 is not rounded to f16 first.
double bound(const std::string& text) {
    return floating_value(ElementType::f64, number(text, ElementType::f64));
}

std::optional<std::string> range_fault(const BufferFill& fill, ElementType type) {
    for (const std::string* text : {&fill.low, &fill.high})
        if (auto fault = number_fault(*text, type)) return fault;
    bool descends = false;
    if (is_floating(type)) {
        descends = bound(fill.low) > bound(fill.high);
        if (!std::isfinite(bound(fill.high) - bound(fill.low)))
            return fmt::format("{} and {} are too far apart", fill.low, fill.high);
    } else {
        const std::uint64_t low = number(fill.low, type);
        const std::uint64_t high = number(fill.high, type);
        descends = least_integer(type) < 0 ? signed_value(low, type) > signed_value(high, type)
                                           : low > high;
    }
    if (!descends) return std::nullopt;
    return fmt::format("{} is greater than {}", fill.low, fill.high);
}

std::vector<std::byte> random_elements(const BufferFill& fill, ElementType type,
                                       std::uint64_t count) {
    if (is_floating(type)) {
        const double from = bound(fill.low);
        const double range = bound(fill.high) - from;
        return generated(type, count, [&](std::uint64_t i) {
            const double share = static_cast<double>(random_bits(fill.seed, i) >> 11) * 0x1p-53;
            return floating_bits(type, std::fma(share, range, from));
        });
    }
    const std::uint64_t low = number(fill.low, type);
    const std::uint64_t span = number(fill.high, type) - low + 1;
    return generated(type, count,
                     [&](std::uint64_t i) { return low + below(random_bits(fill.seed, i), span); });
}

std::vector<std::byte> permuted(const BufferFill& fill, ElementType type, std::uint64_t count) {
    std::vector<std::uint64_t> order(count);
    std::iota(order.begin(), order.end(), std::uint64_t{0});
    for (std::uint64_t i = count; i-- > 1;)
        std::swap(order[i], order[below(random_bits(fill.seed, i), i + 1)]);
    return generated(type, count, [&](std::uint64_t i) {
        return is_floating(type) ? floating_bits(type, static_cast<double>(order[i])) : order[i];
    });
}

std::optional<std::string> whole_fault(const BufferFill& fill, ElementType type) {
    if (!is_floating(type)) return "whole numbers of a floating type; integers are whole";
    for (const std::string* text : {&fill.low, &fill.high}) {
        if (auto fault = number_fault(*text, ElementType::i64)) return fault;
        const std::uint64_t value = number(*text, ElementType::i64);
        const bool negative = static_cast<std::int64_t>(value) < 0;
        if ((negative ? std::uint64_t{0} - value : value) > greatest_exact(type))
            return fmt::format("{}: {} counts to {}", *text, to_string(type), greatest_exact(type));
    }
    if (signed_value(number(fill.low, ElementType::i64), ElementType::i64) <=
        signed_value(number(fill.high, ElementType::i64), ElementType::i64))
        return std::nullopt;
    return fmt::format("{} is greater than {}", fill.low, fill.high);
}

std::vector<std::byte> whole_elements(const BufferFill& fill, ElementType type,
                                      std::uint64_t count) {
    const std::uint64_t low = number(fill.low, ElementType::i64);
    const std::uint64_t span = number(fill.high, ElementType::i64) - low + 1;
    return generated(type, count, [&](std::uint64_t i) {
        const std::uint64_t value = low + below(random_bits(fill.seed, i), span);
        return floating_bits(type, static_cast<double>(static_cast<std::int64_t>(value)));
    });
}

const std::string zero = "0", one = "1";

const std::string& first_of(const BufferFill& fill) { return fill.low.empty() ? zero : fill.low; }
const std::string& step_of(const BufferFill& fill) { return fill.high.empty() ? one : fill.high; }

bool counts_from_zero(const BufferFill& fill) {
    return first_of(fill) == zero && step_of(fill) == one;
}

std::vector<std::byte> ascending(const BufferFill& fill, ElementType type, std::uint64_t count) {
    if (is_floating(type)) {
        const double first = bound(first_of(fill));
        const double step = bound(step_of(fill));
        return generated(type, count, [&](std::uint64_t i) {
            return floating_bits(type, std::fma(static_cast<double>(i), step, first));
        });
    }
    const std::uint64_t first = number(first_of(fill), type);
    const std::uint64_t step = number(step_of(fill), type);
    return generated(type, count, [&](std::uint64_t i) { return first + i * step; });
}

// Patterns that number the elements.
std::optional<std::string> numbering_fault(const char* what, ElementType type,
                                           std::uint64_t count) {
    if (count == 0 || count - 1 <= greatest_exact(type)) return std::nullopt;
    return fmt::format("{} of {} elements: {} counts to {}", what, count, to_string(type),
                       greatest_exact(type));
}

std::optional<std::string> iota_fault(const BufferFill& fill, ElementType type,
                                      std::uint64_t count) {
    for (const std::string* text : {&first_of(fill), &step_of(fill)})
        if (auto fault = number_fault(*text, type)) return fault;
    if (!is_floating(type) || count == 0) return std::nullopt;
    if (counts_from_zero(fill)) return numbering_fault("iota", type, count);
    const double last =
        std::fma(static_cast<double>(count - 1), bound(step_of(fill)), bound(first_of(fill)));
    if (std::isfinite(floating_value(type, floating_bits(type, last)))) return std::nullopt;
    return fmt::format("the last of {} elements is too large for {}", count, to_string(type));
}

}  // namespace

std::optional<std::string> fill_fault(const BufferFill& fill, ElementType type,
                                      std::uint64_t count) {
    switch (fill.kind) {
        case BufferFill::Kind::zeros:
        case BufferFill::Kind::file:
            return std::nullopt;
        case BufferFill::Kind::iota:
            return iota_fault(fill, type, count);
        case BufferFill::Kind::value:
            return number_fault(fill.low, type);
        case BufferFill::Kind::values:
            for (const std::string& text : fill.listed)
                if (auto fault = number_fault(text, type)) return fault;
            if (fill.listed.size() == count) return std::nullopt;
            return fmt::format("{} value{} for a buffer of {}", fill.listed.size(),
                               fill.listed.size() == 1 ? "" : "s", count);
        case BufferFill::Kind::random:
            return range_fault(fill, type);
        case BufferFill::Kind::whole:
            return whole_fault(fill, type);
        case BufferFill::Kind::permutation:
            return numbering_fault("a permutation", type, count);
    }
    return std::nullopt;
}

std::vector<std::byte> filled(const BufferFill& fill, ElementType type, std::uint64_t count) {
    if (const auto fault = fill_fault(fill, type, count)) throw InputError(*fault);
    switch (fill.kind) {
        case BufferFill::Kind::zeros:
            return std::vector<std::byte>(count * bytes_of(type));
        case BufferFill::Kind::iota:
            return ascending(fill, type, count);
        case BufferFill::Kind::value: {
            const std::uint64_t bits = number(fill.low, type);
            return generated(type, count, [&](std::uint64_t) { return bits; });
        }
        case BufferFill::Kind::values:
            return generated(type, count,
                             [&](std::uint64_t i) { return number(fill.listed[i], type); });
        case BufferFill::Kind::random:
            return random_elements(fill, type, count);
        case BufferFill::Kind::whole:
            return whole_elements(fill, type, count);
        case BufferFill::Kind::permutation:
            return permuted(fill, type, count);
        case BufferFill::Kind::file:
            break;
    }
    throw InputError("the contents are in a file");
}

}  // namespace occupipe
