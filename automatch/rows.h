// SPDX-License-Identifier: MIT
// Rows of a measurement file that are no instruction's: what `automatch measure` found, and how a
// profile's `match` section is made of it (docs/reference/file-formats/).
#pragma once

#include <string_view>

namespace occupipe::automatch {

inline constexpr const char* match_peak = "match.peak";        // .f64, .f32
inline constexpr const char* match_read = "match.read";        // all cores together
inline constexpr const char* match_chase = "match.chase";      // one
inline constexpr const char* match_barrier = "match.barrier";  // all logical CPUs
// Of devices of OpenCL's and CUDA's. There match.read is read by all groups alike, each the whole.
inline constexpr const char* match_read_shared = "match.read_shared";    // memory of the groups
inline constexpr const char* match_chase_shared = "match.chase_shared";  // one work-item
inline constexpr const char* match_launch = "match.launch";  // of kernels that do nothing

// Counters, of one repetition.
inline constexpr const char* match_operations = "operations";
inline constexpr const char* match_vector_width = "vector_width";
inline constexpr const char* match_bytes = "bytes";
inline constexpr const char* match_working_set = "working_set_bytes";
inline constexpr const char* match_steps = "steps";
inline constexpr const char* match_barriers = "barriers";
inline constexpr const char* match_launches = "launches";

// The file's context.
inline constexpr const char* match_caches_context =
    "match_caches";  // "L1:49152x2 L2:…": bytes, how many
inline constexpr const char* match_line_context = "match_line_bytes";
inline constexpr const char* match_threads_context = "match_threads";
// Of devices of OpenCL's and CUDA's; absent: the device does not tell.
inline constexpr const char* match_lanes_context = "match_lanes";
inline constexpr const char* match_lanes_source_context = "match_lanes_source";
inline constexpr const char* match_shared_context = "match_shared_bytes";  // of a core
inline constexpr const char* match_last_cache_context = "match_last_cache_bytes";

// Counter cpu_share (CPUs alone have it): of the time between begin and end, the part in which the
// thread that ran least did run. From here on a repetition counts as undisturbed.
inline constexpr double match_undisturbed = 0.97;

}  // namespace occupipe::automatch
