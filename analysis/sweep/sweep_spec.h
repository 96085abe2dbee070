// SPDX-License-Identifier: MIT
// What a sweep predicts (docs/reference/file-formats/, "Sweeps"): every kernel on every profile,
// with every value of every parameter, at every launch, by every model.
//
//   format: occupipe-sweep/1
//   kernels:
//     - saxpy
//     - {code: axpy.cubin, kernel: axpy, grid: "${g}", block: 256, args: "…", with: {g: [8, 64]}}
//   profiles: [rtx-2070, gtx-1060]
//   models: [roofline, volkov]
//   set: {ld.global.s32.latency: {from: 200, to: 800, count: 31}}
//   launches: {group_warps: [4, 8], concurrent_groups: {from: 1, to: 8}}
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ask/question.h"
#include "core/error.h"
#include "core/gpu_profile.h"
#include "core/kernel.h"

namespace occupipe::analysis {

// A name of the spec and where it stands.
struct SweepName {
    std::string text;
    SourcePosition where;

    bool operator==(const SweepName& o) const { return text == o.text; }
};

// Machine code and how it is launched, as `predict` takes it. In each text, and in the launch file,
// "${n}" stands for the value of the parameter n, and "${architecture}" for the profile's
// ("sm_75").
struct SweepCode {
    std::string file;    // .cu, .cl, .ptx or .cubin; empty: the launch file's source
    std::string launch;  // launch file; empty: grid, block, shared_bytes and arguments say it
    std::string kernel, grid, block, shared_bytes, arguments;
    std::string architecture;
    std::vector<std::string> compiler_options;
    std::size_t step = 1;
    std::string sample = "auto";
    std::size_t classes = 8;

    bool operator==(const SweepCode&) const = default;
};

// A graph, or machine code with its launches.
struct SweepKernel {
    SweepName name;                       // of a graph: its file or shipped name
    std::optional<SweepCode> code;        // absent: a graph
    std::vector<std::string> parameters;  // of `with`
    // A value for each of them, and each combination of values one after the other; never empty.
    std::vector<std::vector<std::string>> combinations = {{}};

    bool operator==(const SweepKernel&) const = default;
};

// The values of one quantity of the profile, as `predict --set NAME=VALUE` takes them.
struct SweepParameter {
    SweepName name;  // "fma.f32.latency"
    std::vector<std::string> values;

    bool operator==(const SweepParameter&) const = default;
};

// Every combination of these numbers; an empty list: as the kernel file has it.
struct SweepLaunches {
    std::vector<int> group_warps;
    std::vector<int> concurrent_groups;
    bool all_occupancies = false;  // instead: all that the profile's limits admit
    std::vector<std::int64_t> groups;
    SourcePosition where;

    bool operator==(const SweepLaunches& o) const {
        return group_warps == o.group_warps && concurrent_groups == o.concurrent_groups &&
               all_occupancies == o.all_occupancies && groups == o.groups;
    }
};

struct SweepSpec {
    std::vector<SweepKernel> kernels;      // never empty
    std::vector<SweepName> profiles;       // files, or shipped names
    std::vector<std::string> models;       // in the order of the file; never empty, no "all"
    std::vector<SweepParameter> set;       // in the order of the file
    std::vector<std::int64_t> iterations;  // of the kernel's one outermost loop; empty: its own
    std::vector<Order> orders;             // these three: empty as predict has it
    std::vector<Policy> policies;
    std::vector<Select> selects;
    std::vector<SweepLaunches> launches;  // one after the other; never empty
    std::vector<SweepName> uses;          // `predict --use`, for the kernels that have the op
    std::vector<SweepName> classes;       // `predict --assume-latency`
    MemoryPricing memory = MemoryPricing::per_access;
    bool assumptions = true;  // a column of them

    bool operator==(const SweepSpec&) const = default;
};

// More values of one quantity, and more rows in all, are refused.
inline constexpr std::int64_t most_sweep_values = 1'000'000;
inline constexpr std::int64_t most_code_launches = 10'000;  // of one kernel
inline constexpr std::int64_t most_sweep_rows = 1'000'000'000'000;

// Opens no other file. Throws InputError naming file, line and key.
SweepSpec parse_sweep(const std::string& text, const std::string& file_name);

// Whether a column of the rows has this name, other than those of `set` and `with`.
bool is_sweep_column(std::string_view name);

// The file that a name of a spec in `folder` means: a path (with a slash or the extension .yaml) is
// below that folder, anything else is a shipped name.
std::filesystem::path sweep_kernel(const SweepName& name, const std::filesystem::path& folder);
std::filesystem::path sweep_profile(const SweepName& name, const std::filesystem::path& folder);

}  // namespace occupipe::analysis
