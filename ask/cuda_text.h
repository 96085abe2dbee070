// SPDX-License-Identifier: MIT
// CUDA source as text: which kernels it defines, and what of it is for the host. Macros are not
// expanded and headers not read, so this serves choices and messages; compilers judge.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occupipe::analysis {

struct SourceKernel {
    std::string name;                 // "tools::fill"
    std::string parameters;           // "float* a, int n", in one line
    std::string template_parameters;  // "int Width"; empty: it is no template
    int line = 0;                     // from 1 on
    // "#ifdef USE_CUDA (line 3)", with those around it; empty: it stands under none. Those that
    // keep a header from being read twice do not count.
    std::string condition;
};

// In the order of the text.
std::vector<SourceKernel> kernels_of_text(std::string_view text);

// The text with blanks for comments, literals and directives; line ends stay.
std::string code_of(std::string_view text);

// The text with functions for the host alone replaced by blanks: those outside of classes that are
// marked neither __global__ nor __device__ (nor by a macro of the text that says so, or a word in
// capitals that may) nor constexpr. Lines stay where they are.
std::string without_host_functions(std::string_view text);

// The text with the definitions of those __global__ functions replaced by blanks that are neither
// among `kernels`, by their names without scopes, nor templates, nor named anywhere else in the
// text. Lines stay where they are.
std::string without_other_kernels(std::string_view text, const std::vector<std::string>& kernels);

// The line of a compiler's messages that says what is wrong first, and how many more do.
std::string first_error(const std::string& said);

}  // namespace occupipe::analysis
