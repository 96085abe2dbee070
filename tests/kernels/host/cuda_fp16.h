// SPDX-License-Identifier: MIT
// Stands for CUDA's header of this name.
#pragma once

#include "tests/kernels/host/half_functions.h"
