// SPDX-License-Identifier: MIT
// What a buffer holds after execution, and how far it is from what was expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/launch_plan.h"

namespace occupipe::extract {

struct BufferSummary {
    std::string hash;                       // content_hash() of the bytes
    std::vector<std::string> first;         // elements, at most four
    std::optional<double> least, greatest;  // of the finite ones; absent where there are none
    std::optional<double> mean;             // of the finite ones
    std::uint64_t not_a_number = 0, infinite = 0;
};

struct BufferComparison {
    std::uint64_t elements = 0;
    std::uint64_t different = 0;  // beyond the tolerance
    std::uint64_t equal_bits = 0;
    std::optional<std::uint64_t> first;         // index of the first that differs
    std::string found, expected;                // there
    std::optional<double> greatest_difference;  // of finite elements; absent where all are equal
    std::uint64_t greatest_at = 0;

    bool agrees() const { return different == 0; }
};

BufferSummary summary(const BufferPlan& buffer, std::span<const std::byte> bytes);

// Elements agree if their bits do or, with a tolerance, if |found - expected| <= absolute +
// relative |expected| or both are not a number. Throws InputError where the sizes differ.
BufferComparison compare(const BufferPlan& buffer, std::span<const std::byte> found,
                         std::span<const std::byte> expected, double absolute, double relative);

}  // namespace occupipe::extract
