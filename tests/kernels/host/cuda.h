// SPDX-License-Identifier: MIT
// Lets a C++ compiler read a .cu file: CUDA's words, types and functions, for one thread of the
// host (fibers.h). What is not here does not compile, rather than do something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "tests/kernels/host/approximations.h"
#include "tests/kernels/host/atomics.h"
#include "tests/kernels/host/half_functions.h"
#include "tests/kernels/host/intrinsics.h"
#include "tests/kernels/host/matrix.h"
#include "tests/kernels/host/vectors.h"
#include "tests/kernels/host/video.h"
#include "tests/kernels/host/warp.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ thread_local  // implies static; may follow extern
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __grid_constant__
