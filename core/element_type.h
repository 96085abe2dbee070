// SPDX-License-Identifier: MIT
// What a buffer of a kernel holds, and how numbers become its bytes (little-endian).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace occupipe {

enum class ElementType : std::uint8_t { i8, u8, i16, u16, f16, bf16, i32, u32, f32, i64, u64, f64 };

std::string_view to_string(ElementType type);
std::span<const ElementType> element_types();
std::optional<ElementType> element_type(std::string_view name);
std::size_t bytes_of(ElementType type);
bool is_floating(ElementType type);

// The least and the greatest value of an integer type; u64's greatest as a bit pattern.
std::int64_t least_integer(ElementType type);
std::uint64_t greatest_integer(ElementType type);
// Whole numbers up to this one are exact in the type (2^11 for f16).
std::uint64_t greatest_exact(ElementType type);

// The bit pattern of `value` in a floating type, rounded once to nearest, ties to even; infinite
// where it is too large.
std::uint64_t floating_bits(ElementType type, double value);
double floating_value(ElementType type, std::uint64_t bits);

// An element in memory; `bits` above the type's width are dropped.
void put_element(std::byte* at, ElementType type, std::uint64_t bits);
std::uint64_t get_element(const std::byte* at, ElementType type);  // not sign-extended

// The shortest decimal that reads back, or the whole number.
std::string element_text(ElementType type, std::uint64_t bits);

// The bits of the number that `text` spells ("2.5", "-3", "0x1f" for integers); none, with a
// reason in `why`, where it is not a number of this type.
std::optional<std::uint64_t> parse_element(ElementType type, std::string_view text,
                                           std::string& why);

}  // namespace occupipe
