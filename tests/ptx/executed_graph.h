// SPDX-License-Identifier: MIT
// What a thread really executed, set beside the dependence graph that a prediction of the same
// point is made from.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "tests/ptx/machine.h"

namespace occupipe::ptx {

// How an instruction of the graph looks in PTX.
struct Spelling {
    std::string opcode;
    int count = 1;  // executions of it that make one instruction of the graph
    // It is itself a wait: what waits for it need not read a register.
    bool waits = false;
    // It adds to the registers of the one before, which its unit does in order: nothing waits.
    bool accumulates = false;
};

// Everything in which the timed pass differs from the graph, a line each: instructions that are
// missing, too many or in another order; dependences that only one of the two has; another loop
// around them. Empty: they are the same. `control`: instructions of the loop, in order (addition,
// comparison, branch), which have to be in the graph. What else stands in the PTX (addresses,
// conversions, second halves of a step) carries dependences and is not compared.
std::vector<std::string> differences(const Program& program, const std::vector<Executed>& trace,
                                     const Idg& graph,
                                     const std::map<std::string, Spelling>& spellings,
                                     const std::vector<std::string>& control);

}  // namespace occupipe::ptx
