// SPDX-License-Identifier: MIT
// Kernels on devices by the quantitative roofline (sim/models/quantitative_roofline.h), from counts
// of profilers or of executed machine code and from the rates of profiles.
//   roofline_prediction(parameters, profile, RooflineVariant::literal).result->time   [s]
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/roofline/device_rates.h"
#include "core/error.h"
#include "core/gpu_profile.h"
#include "core/kernel_parameters.h"
#include "sim/models/quantitative_roofline.h"

namespace occupipe::analysis {

// K_type: fp64 where there is any, else fp32, else int (Table 2's rule).
OperationKind kind_of(const KernelParameters& kernel);

struct CountMissing : InputError {
    using InputError::InputError;
};

// Formulas 2 to 9, of one launch. Throws InputError naming the metrics: parts are more than the
// whole; CountMissing where one is absent.
RooflineWork work_of(const KernelParameters& kernel);

// W_comp / W_traf [operations/byte]; absent where nothing is moved.
std::optional<double> intensity_of(const RooflineWork& work);

struct RooflinePrediction {
    RooflineWork work;
    std::optional<RooflineRates> rates;    // absent: the profile lacks some
    std::vector<std::string> missing;      // "T_SP (fma.f32)"
    std::optional<RooflineResult> result;  // where there are rates
    // The time that is not the bound over the bound: below 1; at 1 the other bound takes over.
    std::optional<double> distance_to_flip;
};

// Throws InputError as work_of() does. A rate that the kernel does not need may be missing.
RooflinePrediction roofline_prediction(const KernelParameters& kernel, const GpuProfile& profile,
                                       RooflineVariant variant);

// Peak rates of a device for the pictures: T_op of this kind [operations/s], B_mem [bytes/s].
std::optional<double> operation_rate(const GpuProfile& profile, OperationKind kind);
std::optional<double> memory_rate(const GpuProfile& profile);

}  // namespace occupipe::analysis
