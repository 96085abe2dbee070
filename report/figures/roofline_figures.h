// SPDX-License-Identifier: MIT
// Roofline and quadrant-split plots of devices, from their profiles.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "fit/structure/fit_mix.h"
#include "plot/figure.h"

namespace occupipe::report {

// Peak rates of a device.
struct Peak {
    std::string instruction;
    double per_second = 0;  // 10⁹ FLOP or bytes per second
};
// Floating-point arithmetic that the profile determines, the fastest first.
std::vector<Peak> compute_peaks(const GpuProfile& profile);
// Streaming loads from global memory, the fastest that the profile determines.
std::optional<Peak> memory_peak(const GpuProfile& profile);

// Attainable GFLOP/s over operational intensity, with the measured mixes of multiply-adds and
// loads. Both kinds of peaks are there.
plot::Picture roofline_picture(const GpuProfile& profile, const std::vector<MixFit>& mixes);

// A point per device at its peaks of memory and compute, and a half-line for each of five textbook
// kernels (vector addition to matrix product) with its operational intensity as slope: what stands
// in a report where nobody counted a kernel. Kernels that somebody did: quadrant_split.h. Devices
// without both peaks are left out; one has them.
plot::Picture textbook_quadrants(const std::vector<GpuProfile>& devices);

}  // namespace occupipe::report
