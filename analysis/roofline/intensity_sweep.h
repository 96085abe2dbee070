// SPDX-License-Identifier: MIT
// The experiment of mixbench (Konstantinidis and Cotronis): β multiply-adds per streaming load, β
// from little to much, beside what the roofline says of them.
//   intensity_sweep(build_profile(files).mixes, profile)
#pragma once

#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "fit/structure/fit_mix.h"

namespace occupipe::analysis {

struct IntensityPoint {
    std::string operation;  // "fma.f32"
    std::string load;       // "ld.global.f32"
    int beta = 1;
    double intensity = 0;  // [operations/byte]
    double measured = 0;   // [operations/s], at the occupancy where it is highest
    double measured_error = 0;
    double predicted = 0;  // min(T_op, intensity · B_mem) of the profile
    bool memory_bound = false;
};

struct IntensitySweep {
    std::vector<IntensityPoint> points;  // by operation, then β
    // "fma.f64, ld.global.f32: the profile has no λ of fma.f64"
    std::vector<std::string> left_out;
};

// Mixes of fma.f32, fma.f64, mad.s32 or fma.f16x2 with a streaming load of global memory; others
// are not looked at.
IntensitySweep intensity_sweep(const std::vector<MixFit>& mixes, const GpuProfile& profile);

// Mean of |predicted − measured| / measured, in percent. There are points.
double mean_error(const std::vector<IntensityPoint>& points);

}  // namespace occupipe::analysis
