// SPDX-License-Identifier: MIT
// A launch file as kernels/time_launches.cpp reads it, which knows neither YAML nor this program.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "analysis/validation/validation.h"
#include "core/launch_plan.h"
#include "isa/cubin.h"

namespace occupipe::analysis {

struct RunnerPlan {
    std::string text;
    std::map<std::string, std::vector<std::byte>> files;  // contents of buffers, by path
};

// `name`: what the files' paths begin with ("small/gaussian"); `code`: the path of the machine code
// and the text, without their ends. Throws InputError for what the runner does not take: variables
// of the module, structures, kernels whose name the compiler changes.
RunnerPlan runner_plan(const LaunchPlan& plan, const isa::Cubin& cubin, const std::string& name,
                       const std::string& code);

// What the plan's checked buffers hold in the end, by executing it here, joins it.
void add_expected(RunnerPlan& made, const LaunchPlan& plan, const KernelFile& file,
                  const std::string& name);

// "sm_75" → "7.5", "sm_100" → "10.0".
std::string capability_of(const std::string& architecture);

}  // namespace occupipe::analysis
