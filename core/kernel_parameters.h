// SPDX-License-Identifier: MIT
// What one launch of a kernel executed and moved, as profilers count it: the input of the
// quantitative roofline (Konstantinidis and Cotronis 2017, Table 1).
//   parse_kernel_parameters(text, "sgemm.yaml")[0].fp32   → 1.07e9 lane-instructions
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"

namespace occupipe {

// Of one launch; sums and products of a few stay finite.
inline constexpr Range some_count{[](double v) { return v >= 0 && v <= 1e30; },
                                  "a number from 0 to 1e30"};

// Per launch: where several were counted, their mean. Counts of instructions are of lanes that
// executed them (a warp of 32 active lanes counts 32), but warp_instructions, which counts warps.
// What was not counted is absent, not zero.
struct KernelParameters {
    std::string kernel;
    std::string device;  // that executed it; empty: not told
    std::string origin;  // "nvprof", "ncu", "executed", …; empty: not told
    std::int64_t warp_size = 32;
    std::int64_t launches = 1;

    std::optional<double> fp32_fma;            // M_fma32: multiply-adds among fp32
    std::optional<double> fp64_fma;            // M_fma64
    std::optional<double> fp32;                // M_fp32: arithmetic, comparisons
    std::optional<double> fp64;                // M_fp64
    std::optional<double> integer;             // M_int
    std::optional<double> load_store;          // M_ldst
    std::optional<double> warp_instructions;   // M_inst
    std::optional<double> dram_read_sectors;   // M_tran-r, of 32 bytes
    std::optional<double> dram_write_sectors;  // M_tran-w
    // Not in the paper.
    std::optional<double> l2_sectors;  // of 32 bytes, between first and second level
    std::optional<double> seconds;     // measured, of one launch

    bool operator==(const KernelParameters&) const = default;
};

// One number of KernelParameters and the words for it.
struct KernelCount {
    std::string_view key;     // in files
    std::string_view symbol;  // of the paper; empty: not in it
    std::string_view unit;
    std::string_view meaning;
    std::optional<double> KernelParameters::*value;
};

// In the order of the paper's Table 1, then what is not in it.
const std::vector<KernelCount>& kernel_counts();

// What cannot be whatever the kernel: parts that are more than the whole.
std::optional<Fault> parts_fault(const KernelParameters& kernel);

// Throws InputError naming file, line and key.
std::vector<KernelParameters> parse_kernel_parameters(const std::string& text,
                                                      const std::string& file_name);
std::vector<KernelParameters> read_kernel_parameters(const std::filesystem::path& path);
// YAML; parse_kernel_parameters gives the same values back.
std::string format_kernel_parameters(const std::vector<KernelParameters>& kernels);

}  // namespace occupipe
