// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace occupipe::cli {

// What can be measured on the named device, or on all, and why not; to stdout.
void list_instructions(const std::string& device, bool json);

}  // namespace occupipe::cli
