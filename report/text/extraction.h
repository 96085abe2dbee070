// SPDX-License-Identifier: MIT
// What stands in a kernel file that was made from machine code:
//   matmul for sm_80: 42 groups of 8 warps; 8 classes of warps, all taken; …
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ask/kernels_in.h"
#include "ask/what_if.h"

namespace occupipe::report {

// What a profile makes of the kernel's instructions.
struct ProfileNames {
    std::vector<std::string> stand_ins;        // sentences: what takes another's numbers unasked
    std::vector<analysis::LackingOp> lacking;  // after that
};

// `names`: where a profile was named.
std::string to_text(const analysis::KernelIn& in, const std::optional<ProfileNames>& names);

// occupipe-extraction/1 (docs/reference/file-formats/): the same, all classes included.
nlohmann::ordered_json to_json(const analysis::KernelIn& in,
                               const std::optional<ProfileNames>& names);

}  // namespace occupipe::report
