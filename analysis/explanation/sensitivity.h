// SPDX-License-Identifier: MIT
// What a prediction depends on: single values improved, and all values drawn from their errors.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/kernel.h"
#include "core/launch.h"
#include "sim/engine/simulate.h"

namespace occupipe::analysis {

struct Sensitivity {
    std::string name;  // "fma.f32 λ", "fma.f32 Λ", "ld.a h", "mem contention" or "issue limit"
    double cycles =
        0;  // with that value 10 % better: λ, Λ and contention smaller, the issue limit larger
    double gain = 0;  // cycles saved; negative where a scheduling anomaly makes it slower
};

// One row per λ and Λ of the kernel's instructions, per contention and for the issue limit, the
// largest gain first. Runs on all cores. Throws InputError like simulate().
std::vector<Sensitivity> sensitivities(const GpuProfile& profile, const Kernel& kernel,
                                       const Launch& launch, const SimulationOptions& options);

// A kernel made ready for a profile, and the profile for it: memory instructions priced.
struct PreparedKernel {
    Kernel kernel;
    GpuProfile profile;
};
using Prepare = std::function<PreparedKernel(const Kernel& kernel, const GpuProfile& profile)>;

struct Uncertainty {
    int draws = 0;
    double median = 0;  // [cycles]
    double low = 0;     // 2.5 % of the draws are below [cycles]
    double high = 0;    // 2.5 % of the draws are above [cycles]
    // What the kernel uses and was not drawn: "fma.f32 λ: 0.25, whose error is unknown"; the
    // interval is that much too narrow.
    std::vector<std::string> held;
};

// Draws every value that the kernel uses from a normal distribution with its standard error,
// independently, and again until positive; rounded to 10^-6. Values without a standard error stay,
// and so do bounds. The same seed gives the same result on any number of cores. Throws InputError
// when no value that the kernel uses has a standard error.
Uncertainty uncertainty(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options, int draws, std::uint64_t seed);

struct Interval {
    double median = 0;
    double low = 0;   // 2.5 % of the draws are below
    double high = 0;  // 2.5 % of the draws are above
};
Interval interval_of(std::vector<double> drawn);  // at least one

// Draw number `draw` of a seed: every value of the profile that has a standard error, rows of its
// tables too.
GpuProfile drawn_profile(const GpuProfile& profile, std::uint64_t seed, std::uint64_t draw);

// Of two kernels on one GPU.
struct DifferenceUncertainty {
    int draws = 0;
    Interval before, after;         // [cycles]
    Interval difference;            // after - before [cycles]
    Interval ratio;                 // after / before
    double after_faster = 0;        // share of the draws in which `after` took less
    std::vector<std::string> held;  // as Uncertainty::held, for both
};

// As uncertainty() of what `prepare` makes of kernel and profile, which is asked anew for each
// drawn profile: prices that come from the same value of the profile vary together. Every value of
// the profile is drawn, rows of its tables too. Throws InputError when no value that the prepared
// kernel uses has a standard error.
Uncertainty uncertainty(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options, int draws, std::uint64_t seed,
                        const Prepare& prepare);

// As uncertainty(), but every value of the profile is drawn, rows of its tables too, and each drawn
// profile predicts both kernels, so that an error that both share does not count twice. `prepare`
// is asked anew for each drawn profile; absent: both are ready.
DifferenceUncertainty difference_uncertainty(const GpuProfile& profile, const Kernel& before,
                                             const Launch& before_launch, const Kernel& after,
                                             const Launch& after_launch,
                                             const SimulationOptions& options, int draws,
                                             std::uint64_t seed, const Prepare& prepare = {});

}  // namespace occupipe::analysis
