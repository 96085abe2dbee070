// SPDX-License-Identifier: MIT
#include "bench/opencl/extensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace occupipe::bench {
namespace {

struct Extension {
    std::string_view name;
    std::string_view brings;
};

constexpr std::array extensions = {
    Extension{"cl_khr_fp16", "half-precision arithmetic"},
    Extension{"cl_khr_extended_bit_ops", "reversal of bits and bit fields"},
    Extension{"cl_khr_integer_dot_product", "products of packed bytes"},
    Extension{"cl_khr_subgroup_shuffle", "a warp's exchange"},
    Extension{"cl_khr_subgroup_shuffle_relative", "a warp's exchange"},
    Extension{"cl_khr_subgroup_ballot", "a warp's vote"},
    Extension{"cl_khr_subgroups", "a warp's reduction"},
};

}  // namespace

std::string missing_extension(const Row& row) {
    const auto found = std::ranges::find(extensions, row.opencl_extension, &Extension::name);
    return fmt::format("{}: OpenCL C has none without an extension, and this device lacks {}",
                       found == extensions.end() ? "an extension's operation" : found->brings,
                       row.opencl_extension);
}

}  // namespace occupipe::bench
