// SPDX-License-Identifier: MIT
// The views' name of one execution of an instruction: its id in the kernel file, and in a loop how
// many executions of it the warp has finished, "x[0]", "x[1]", "x[2]".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/program/loop_program.h"

namespace occupipe::sim {

class InstanceNames {
public:
    explicit InstanceNames(const LoopProgram& program);

    // Executions of the same instruction of the kernel file that precede this one in program
    // order. A replicated loop is several streams; they are counted as one.
    std::int64_t number(std::int32_t stream, std::int64_t instance) const;
    std::string name(std::int32_t stream, std::int64_t instance) const;

private:
    const LoopProgram& program_;
    std::map<std::string, std::vector<std::int32_t>> copies_;  // id → its streams, in text order
};

}  // namespace occupipe::sim
