// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// Why GPUs of this architecture (90 = sm_90) cannot measure the row; nullopt when they can.
std::optional<std::string> cuda_unsupported(const Row& row, int architecture);

}  // namespace occupipe::bench
