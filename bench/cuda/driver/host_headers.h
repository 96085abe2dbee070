// SPDX-License-Identifier: MIT
// What nvcc's host compiler brings and NVRTC does not: headers of C and C++, as far as device code
// uses them. Those of C++ are libcu++'s where it is found, else their names alone.
#pragma once

#include <string>
#include <vector>

namespace occupipe::bench {

struct Header {
    std::string name;
    std::string text;
};

// Before the first line of each source, as nvcc's: integers of fixed size, uint, INFINITY, limits.
inline constexpr const char* first_header = "occupipe_first.h";

// `with_cuda`: those of CUDA's own that NVRTC builds in, too, for machines without a toolkit.
const std::vector<Header>& host_headers(bool with_cuda);

}  // namespace occupipe::bench
