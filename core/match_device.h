// SPDX-License-Identifier: MIT
// A device as AutoMatch sees it (Helal et al. 2017, section III-A and Table I): cores that compute,
// one fast memory on the chip, one slow memory beside it.
//   profile.match.processors = 448, .flops_per_second = {0.9e9}, … ("Tesla C2075")
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/estimate.h"

namespace occupipe {

// All optional: what is absent is not known, and what needs it says so.
struct MatchDevice {
    std::optional<std::int64_t> processors;         // n_p: physical cores of a CPU, lanes of a GPU
    std::optional<std::int64_t> vector_width;       // doubles that one processor computes at once
    std::optional<Estimate> flops_per_second;       // π0: double precision, of one processor
    std::optional<Estimate> f32_flops_per_second;   // the same in single precision
    std::optional<std::int64_t> fast_bytes;         // Z
    std::optional<std::int64_t> line_bytes;         // L
    std::optional<Estimate> fast_bytes_per_second;  // β_f
    std::optional<Estimate> fast_latency_seconds;   // α_f
    std::optional<Estimate> slow_bytes_per_second;  // β_s
    std::optional<Estimate> slow_latency_seconds;   // α_s
    std::optional<Estimate> synchronisation_seconds;  // s0: a barrier of all threads
    std::string reference;                            // where the numbers stand

    bool operator==(const MatchDevice&) const = default;
};

}  // namespace occupipe
