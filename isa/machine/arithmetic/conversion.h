// SPDX-License-Identifier: MIT
// Between formats and integers.
#pragma once

#include <cstdint>

#include "isa/machine/arithmetic/exact.h"

namespace occupipe::isa::arithmetic {

// Rounded once. A NaN becomes the format's own; widening to binary64 keeps its payload.
std::uint64_t converted(std::uint64_t pattern, Format from, Format to, Rounding rounding);

// To the nearest integral value in a direction, in the same format.
std::uint64_t integral(std::uint64_t pattern, Format format, Rounding rounding);

struct IntegerType {
    int bits;
    bool is_signed;
};

// Saturated to the type, sign-extended to 64 bits where it is signed. A NaN becomes 0 where
// `nan_to_zero`, else only the highest bit of the type is set (PTX, cvt).
std::uint64_t to_integer(std::uint64_t pattern, Format format, IntegerType type, Rounding rounding,
                         bool nan_to_zero);

// `value`: the type's bits, whatever is above them.
std::uint64_t from_integer(std::uint64_t value, IntegerType type, Format format, Rounding rounding);

}  // namespace occupipe::isa::arithmetic
