// SPDX-License-Identifier: MIT
// The kernels of a validation on a real device.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/validation/validation.h"

namespace occupipe::analysis {

// A device of this machine that a validation runs on.
struct RealDevice {
    std::string id;  // "opencl:0.0", "cuda:0"
    std::string name;
    bool cpu = false;
    std::string architecture = {};  // "sm_90", whose machine code runs; empty: compiles the source
};

// Throws InputError, also where `profile` is of another architecture than the CUDA device;
// NothingToRunOn.
RealDevice open_real_device(const std::string& id, const GpuProfile& profile);

// How far reals may be from what the executed machine code leaves: compilers contract and order
// differently, and functions differ by units in the last place.
inline constexpr double result_absolute = 1e-3;
inline constexpr double result_relative = 1e-3;

// The kernel's small launch file on the device, and its machine code executed on this machine:
// which checked buffer differs, where and by what; empty: none. Integers have to be equal.
std::string wrong_result(const RealDevice& device, const SuiteKernel& kernel,
                         const std::string& architecture, const CompileText& compile);

struct DeviceTimes {
    std::vector<std::pair<Launch, double>> launches;
    std::string doubt;  // why they may be too long or too short; empty: none
};

// Cycles of the kernel's first launch in the launch file at each occupancy that shared memory can
// choose (timed_launches): the median time of `repetitions` runs of the file, times `clock_hz`.
DeviceTimes timed_on(const RealDevice& device, const ReadyKernel& ready, const std::string& size,
                     double clock_hz, int repetitions, const CompileText& compile);

}  // namespace occupipe::analysis
