// SPDX-License-Identifier: MIT
// Reasons that rows of several units share: other instructions in the loop, and missing forms.
#pragma once

#include <string_view>

namespace occupipe::bench {

inline constexpr std::string_view division_sequence =
    "NVIDIA GPUs have no such instruction: a reciprocal seed, a few multiply-adds and a rarely "
    "taken slow path; one seed instruction per operation is what the receipt counts";
inline constexpr std::string_view extension_unseen =
    "no CPU runtime known to us has this extension";
inline constexpr std::string_view narrow_fp64_unit =
    "on GPUs with a narrow FP64 unit (sm_120) the assembler puts no-operations in between";
inline constexpr std::string_view no_bfloat16 = "OpenCL C has no bfloat16";
inline constexpr std::string_view no_clusters = "OpenCL C has no clusters of groups";
inline constexpr std::string_view no_extremum_of_three =
    "OpenCL C has no minimum or maximum of three";
inline constexpr std::string_view no_matrix_units = "OpenCL C cannot reach matrix units";
inline constexpr std::string_view no_native_tanh =
    "OpenCL C has no native_tanh; tanh.f32 is its full-precision function";
inline constexpr std::string_view no_pairs_of_integers =
    "OpenCL C's vectors of two 16-bit integers are instructions of whole lanes";
inline constexpr std::string_view nothing_known =
    "no known OpenCL C compiles to this one instruction";
inline constexpr std::string_view own_global_word =
    "volatile __global uint* word = (volatile __global uint*)(out + THREAD); *word = 0";
inline constexpr std::string_view selection =
    "a selection brings the comparison's predicate back into the chain";
inline constexpr std::string_view two_comparisons = "two comparisons there";

}  // namespace occupipe::bench
