// SPDX-License-Identifier: MIT
// What stands in a kernel file that was made from machine code:
//   matmul for sm_80: 42 groups of 8 warps; 8 classes of warps, all taken; …
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "core/occupancy.h"
#include "extract/kernel_graph.h"

namespace occupipe::report {

struct ExtractionReport {
    extract::ExtractedKernel extracted;
    int architecture = 0;
    std::uint64_t groups = 0;
    Occupancy occupancy;
    std::optional<std::set<std::string>> known;  // instructions of a profile, where one was named
};

std::string to_text(const ExtractionReport& report);

}  // namespace occupipe::report
