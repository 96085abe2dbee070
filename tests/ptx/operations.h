// SPDX-License-Identifier: MIT
// PTX instructions whose result depends on nothing but their operands (PTX ISA 9.0, chapter 9.7).
// Approximate functions are computed as exactly as double precision allows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tests/ptx/program.h"

namespace occupipe::ptx {

// The result's bits from the source operands' bits; absent where the instruction is not one of
// these. Throws NotUnderstood where it is, but in a form that is not known here.
std::optional<std::uint64_t> compute(const Instruction& instruction,
                                     std::span<const std::uint64_t> sources);

// `value` without the bits above the type's ("u32", "f16x2", "pred").
std::uint64_t truncated(std::uint64_t value, std::string_view type);

}  // namespace occupipe::ptx
