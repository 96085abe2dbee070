// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>

#include "bench/backend.h"
#include "bench/sweep.h"

namespace occupipe::bench {

// Takes one sample of a point: compiles once, warms up once per shape, witnesses the clock around
// each launch and throws a launch away when the clock moved.
class Sampler {
public:
    explicit Sampler(Backend& backend) : backend_(backend) {}
    // Throws DeviceError: what the backend says, or that the clock moved in every attempt.
    // The result has cycles wherever the device or its witnessed clock can tell.
    Observation sample(const PlannedPoint& point);
    int cores() const { return backend_.facts().cores; }

private:
    Program& program_of(const KernelPlan& plan);
    Observation launch(Program& program, const PlannedPoint& point);
    Observation attempt(Program& program, const PlannedPoint& point, bool* clock_held);

    Backend& backend_;
    std::map<std::string, std::unique_ptr<Program>> programs_;
    std::map<std::string, bool> warm_;
    std::uint32_t launches_ = 0;
};

}  // namespace occupipe::bench
