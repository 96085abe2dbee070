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

// What can be measured on which device, and why not; to stdout. If neither a device nor an
// architecture is named and this machine has no NVIDIA GPU, shows the newest data-centre
// architecture whose kernels the tests compile; in JSON all of them.
void list_instructions(const InstructionListing& wanted);

}  // namespace occupipe::report
