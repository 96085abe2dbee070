// SPDX-License-Identifier: MIT
// What a step of a dependent chain consists of, as counters of a measurement row and as text.
#pragma once

#include <map>
#include <string>

namespace occupipe {

// Counter "chain.ISETP": machine instructions ISETP on the chain, per step.
inline constexpr const char* chain_counter_prefix = "chain.";

// Machine instructions per step by name, most first: "2 FSEL + DSETP"; fewer than one in a hundred
// steps are left out. Empty where a step is one instruction.
std::string chain_step_text(const std::map<std::string, double>& chain);

}  // namespace occupipe
