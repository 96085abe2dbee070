// SPDX-License-Identifier: MIT
// The part of the CUDA prelude for groups of one cluster that use each other's shared memory.
#pragma once

#include <string>

namespace occupipe::bench {

std::string cuda_cluster_macros();

}  // namespace occupipe::bench
