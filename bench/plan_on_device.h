// SPDX-License-Identifier: MIT
// A launch file on one device: what launch_on_device.h wants of CUDA and of OpenCL.
#pragma once

#include <optional>
#include <string>

#include "bench/launch_on_device.h"

namespace occupipe::bench {

class PlanOnDevice {
public:
    virtual ~PlanOnDevice() = default;
    virtual LaunchedPlan run() = 0;
    // Seconds of the kernel's first launch, with this much dynamic shared memory; the file ends
    // there. Empty: nothing launches it.
    virtual std::optional<double> run_until(const std::string& kernel,
                                            std::uint32_t shared_bytes) = 0;
    virtual std::string doubt() const { return {}; }  // as LaunchTimes has it
};

}  // namespace occupipe::bench
