// SPDX-License-Identifier: MIT
#include "bench/cuda/unsupported.h"

#include <fmt/format.h>

namespace occupipe::bench {

std::optional<std::string> cuda_unsupported(const Row& row, int architecture) {
    if (!row.no_cuda.empty()) return std::string(row.no_cuda);
    if (row.gap.first <= architecture && architecture <= row.gap.last) {
        return std::string(row.gap.why);
    }
    if (row.least_architecture > architecture) {
        return fmt::format("measured on GPUs of sm_{} and later only", row.least_architecture);
    }
    if (row.last_architecture < architecture) {
        return fmt::format("sm_{} was the last to have it", row.last_architecture);
    }
    return std::nullopt;
}

}  // namespace occupipe::bench
