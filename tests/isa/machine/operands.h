// SPDX-License-Identifier: MIT
// Words to compute with: random ones, the ends of every type, special floating-point numbers.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace occupipe::isa::test {

enum class Flavour : int { integer, small, single, half, upper_of_double, count };

std::uint32_t word_of(Flavour flavour, std::mt19937_64& random);

// Of any flavour.
std::uint32_t interesting(std::mt19937_64& random);

// So many bytes of such words, from a store that is filled once; `bytes` up to 64 KiB.
std::string interesting_bytes(std::size_t bytes, std::mt19937_64& random);

}  // namespace occupipe::isa::test
