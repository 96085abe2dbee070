// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "isa/cubin.h"

namespace occupipe::extract {

// A launch file to begin with: a launch of each kernel, with buffers and numbers to be filled in,
// and comments about what is known of the parameters. It reads back as it is. `source`: how the
// kernels' file is called from the launch file.
std::string launch_template(const isa::Cubin& cubin, const std::vector<const isa::Kernel*>& kernels,
                            std::string_view ptx, const std::string& source);

}  // namespace occupipe::extract
