// SPDX-License-Identifier: MIT
// The OpenCL C++ bindings as this project uses them: version 1.2, errors as exceptions.
#pragma once

#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
