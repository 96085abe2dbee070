// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace occupipe::bench {

// How an OpenCL compiler lets us hide a value from its optimiser: an empty inline assembly
// statement that claims to change it. It costs no instruction and stops folding, vectorisation
// across chains (SLP) and reordering of a chain.
enum class Fence { none, x86, amd, nvidia };

// Macros that give a kernel body (kernel_source.h) its OpenCL C meaning.
// table_words: power of two; line_words: words of one memory line that a warp walks.
std::string opencl_prelude(Fence fence, int warp_size, std::size_t table_words, int line_words);

}  // namespace occupipe::bench
