// SPDX-License-Identifier: MIT
// What each memory instruction of a kernel asks of the memory, which level answers, and what that
// costs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ask/memory_view.h"
#include "core/prediction.h"

namespace occupipe::report {

// A row per instruction, those of all programs together. `prediction`: the unit's time that an
// instruction takes is told as a share of its cycles; nullptr: not told. Empty text where no
// instruction tells of memory.
std::string memory_table(const analysis::PricedMemory& priced, const Prediction* prediction);
nlohmann::ordered_json memory_json(const analysis::PricedMemory& priced,
                                   const Prediction* prediction);

}  // namespace occupipe::report
