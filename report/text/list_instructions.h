// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace occupipe::report {

struct InstructionListing {
    std::string device;                      // empty: all here
    std::vector<std::string> architectures;  // of NVIDIA GPUs, "sm_90"
    std::filesystem::path kernels;           // compiled ahead, for the device; empty: none
    bool json = false;
};

// What can be measured where, and why not; to stdout. Where no device is named, neither an
// architecture, and no NVIDIA GPU is here, the newest data-centre architecture whose kernels the
// tests of this program compile stands in, in JSON all of them.
void list_instructions(const InstructionListing& wanted);

}  // namespace occupipe::report
