// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "bench/instructions/instruction_table.h"

namespace occupipe::bench {

// What an extension that a row needs would have brought: "cl_khr_fp16: half-precision arithmetic".
std::string missing_extension(const Row& row);

}  // namespace occupipe::bench
