// SPDX-License-Identifier: MIT
// What a buffer holds before the first launch: patterns that mean the same bytes on every machine
// (docs/reference/file-formats/, "Launch file").
//   const std::vector<std::byte> bytes =
//       filled({.kind = BufferFill::Kind::random, .low = "-1", .high = "1", .seed = 7},
//              ElementType::f32, 1024);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/element_type.h"

namespace occupipe {

// Output number `index` (from 0) of the generator splitmix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, OOPSLA 2014, with the constants of the reference implementation)
// whose state begins as `seed`. Depends on its two arguments alone.
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
    std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

struct BufferFill {
    enum class Kind : std::uint8_t {
        zeros,
        iota,         // low, low + high, low + 2 high, …; integers wrap around at their width
        value,        // `low` everywhere
        values,       // `listed`, as many as the buffer has elements
        random,       // uniform from `low` to `high`; integers: both included
        whole,        // of a floating type: random whole numbers, both ends included
        permutation,  // of 0 … count - 1
        file,         // the bytes of `path`, as many as the buffer has
    };
    Kind kind = Kind::zeros;
    // Numbers as they are written, since what they mean depends on the type. Of iota: the first
    // and the step; empty: 0 and 1.
    std::string low;
    std::string high;
    std::vector<std::string> listed;
    std::uint64_t seed = 1;
    std::string path;

    bool operator==(const BufferFill&) const = default;
};

// Why the pattern does not fit `count` elements of the type: a number out of its range, a
// permutation of more elements than the type can number, another count of values.
std::optional<std::string> fill_fault(const BufferFill& fill, ElementType type,
                                      std::uint64_t count);

// The `count` elements as bytes. Throws InputError with fill_fault(), and for a file, which is for
// core/files/launch_files.h to read.
//
// random, element i of seed s, z = random_bits(s, i):
//   floating: low + u (high - low) with u = floor(z / 2^11) / 2^53, one fused multiply-add in
//             binary64, then rounded to the type
//   integer:  low + floor(z (high - low + 1) / 2^64); whole: the same, as a floating number
// iota, element i: low + i high; floating: one fused multiply-add in binary64, rounded to the type
// permutation: begins as 0 … count - 1; for i = count - 1 down to 1, elements i and
//   floor(random_bits(s, i) (i + 1) / 2^64) change places.
std::vector<std::byte> filled(const BufferFill& fill, ElementType type, std::uint64_t count);

}  // namespace occupipe
