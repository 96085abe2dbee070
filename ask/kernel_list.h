// SPDX-License-Identifier: MIT
// Which kernels a file has, without compiling it.
#pragma once

#include <string>
#include <vector>

namespace occupipe::analysis {

struct ListedKernel {
    std::string name;
    std::string parameters;  // as far as the source or the mangled name tells
    std::string templates;   // "int Width"; empty: no template
    std::string where;       // "line 2", "sm_75, PTX of compute_90"
};

// Of source, PTX, machine code and what holds some. Throws InputError.
std::vector<ListedKernel> kernels_of_file(const std::string& path);

}  // namespace occupipe::analysis
