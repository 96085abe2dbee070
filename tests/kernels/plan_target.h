// SPDX-License-Identifier: MIT
// Does what a launch file says, on whatever runs kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/launch_plan.h"

namespace occupipe::test {

struct Buffer {
    std::string name;
    ElementType type = ElementType::f32;
    std::vector<std::byte> bytes;
};

struct Argument {
    std::vector<std::byte> bytes;
};

class PlanTarget {
public:
    virtual ~PlanTarget() = default;
    // Memory for a buffer, and what kernels take for its address.
    virtual void add(const Buffer& buffer) = 0;
    virtual std::span<std::byte> content(const std::string& buffer) = 0;
    virtual std::uint64_t address(const std::string& buffer) = 0;
    // A variable of the module.
    virtual std::span<std::byte> symbol(const std::string& name) = 0;
    virtual void launch(const KernelLaunch& launch, const std::vector<Argument>& arguments) = 0;
};

// As they are before the first launch, in the file's order.
std::vector<Buffer> buffers_before(const LaunchPlan& plan);

// All buffers after the last step, in the file's order. Throws InputError, and what launch() does.
std::vector<Buffer> run_plan(const LaunchPlan& plan, PlanTarget& target);

}  // namespace occupipe::test
