// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// What the result buffer holds before a launch; only a kernel that writes nothing leaves it there.
inline constexpr std::uint32_t result_poison = 0xa5c3961e;

// Throws DeviceError naming `subject` where a value was not stored or is not finite.
void check_results(std::span<const std::byte> bytes, DataType type, const std::string& subject);

}  // namespace occupipe::bench
