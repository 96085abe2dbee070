// SPDX-License-Identifier: MIT
// Quadrant split and rooflines with kernels: what the quantitative roofline says, in pictures.
#pragma once

#include <span>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel_parameters.h"
#include "plot/figure.h"

namespace occupipe::report {

// One panel per type of operations that the kernels have. A point per device at (B_mem, T_op), a
// half-line per kernel whose slope is its operational intensity, arrows from each device to the
// point that bounds the kernel there, and the adjusted points (B_mem, T'_op): Konstantinidis and
// Cotronis, section 2.1. Arrows and adjusted points are drawn while there are at most 16 pairs of a
// kernel and a device, since more cannot be told apart. Devices without both rates are left out.
// Throws InputError where nothing is left to draw.
plot::Picture quadrant_split(std::span<const KernelParameters> kernels,
                             std::span<const GpuProfile> devices);

// Attainable operations over operational intensity of one device; kernels at their intensity, on
// the roof and at the rate that is predicted. Throws InputError where the profile lacks a rate for
// all of them.
plot::Picture kernel_roofline(std::span<const KernelParameters> kernels, const GpuProfile& device);

}  // namespace occupipe::report
