// SPDX-License-Identifier: MIT
#include "extract/buffer_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/files/files.h"

namespace occupipe::extract {
namespace {

// As a number; 64-bit integers are rounded.
double value_of(ElementType type, std::uint64_t bits) {
    if (is_floating(type)) return floating_value(type, bits);
    if (least_integer(type) == 0) return static_cast<double>(bits);
    const int unused = 64 - static_cast<int>(8 * bytes_of(type));
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
}

// |a - b|; of 64-bit integers without rounding them first.
double distance(ElementType type, std::uint64_t a, std::uint64_t b) {
    if (is_floating(type)) return std::fabs(value_of(type, a) - value_of(type, b));
    if (bytes_of(type) < 8) return std::fabs(value_of(type, a) - value_of(type, b));
    const bool a_less = least_integer(type) < 0
                            ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b)
                            : a < b;
    return static_cast<double>(a_less ? b - a : a - b);
}

}  // namespace

BufferSummary summary(const BufferPlan& buffer, std::span<const std::byte> bytes) {
    constexpr std::uint64_t shown = 4;
    BufferSummary result;
    result.hash =
        content_hash(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    const std::size_t size = bytes_of(buffer.type);
    const std::uint64_t count = bytes.size() / size;
    double sum = 0;
    std::uint64_t finite = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t bits = get_element(bytes.data() + i * size, buffer.type);
        if (i < shown) result.first.push_back(element_text(buffer.type, bits));
        const double value = value_of(buffer.type, bits);
        if (std::isnan(value)) {
            ++result.not_a_number;
        } else if (std::isinf(value)) {
            ++result.infinite;
        } else {
            result.least = std::min(result.least.value_or(value), value);
            result.greatest = std::max(result.greatest.value_or(value), value);
            sum += value;
            ++finite;
        }
    }
    if (finite > 0 && std::isfinite(sum)) result.mean = sum / static_cast<double>(finite);
    return result;
}

BufferComparison compare(const BufferPlan& buffer, std::span<const std::byte> found,
                         std::span<const std::byte> expected, double absolute, double relative) {
    if (found.size() != expected.size())
        throw InputError(fmt::format("{} bytes to compare buffer '{}' with, which has {}",
                                     expected.size(), buffer.name, found.size()));
    const std::size_t size = bytes_of(buffer.type);
    BufferComparison result;
    result.elements = found.size() / size;
    const bool tolerant = absolute > 0 || relative > 0;
    for (std::uint64_t i = 0; i < result.elements; ++i) {
        const std::uint64_t a = get_element(found.data() + i * size, buffer.type);
        const std::uint64_t b = get_element(expected.data() + i * size, buffer.type);
        if (a == b) {
            ++result.equal_bits;
            continue;
        }
        const double apart = distance(buffer.type, a, b);
        if (std::isfinite(apart) && apart > result.greatest_difference.value_or(-1)) {
            result.greatest_difference = apart;
            result.greatest_at = i;
        }
        const double wanted = value_of(buffer.type, b);
        const bool both_nan = std::isnan(value_of(buffer.type, a)) && std::isnan(wanted);
        if (tolerant && (both_nan || (std::isfinite(apart) &&
                                      apart <= absolute + relative * std::fabs(wanted))))
            continue;
        ++result.different;
        if (!result.first) {
            result.first = i;
            result.found = element_text(buffer.type, a);
            result.expected = element_text(buffer.type, b);
        }
    }
    return result;
}

}  // namespace occupipe::extract
