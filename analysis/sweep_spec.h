// SPDX-License-Identifier: MIT
// What a sweep predicts (docs/file-formats.md, "Sweeps"): every kernel on every profile, with every
// value of every parameter, at every launch, by every model.
//
//   format: occupipe-sweep/1
//   kernels: [saxpy, own.yaml]
//   profiles: [rtx-2070, gtx-1060]
//   models: [roofline, volkov]
//   set: {ld.global.s32.latency: {from: 200, to: 800, count: 31}}
//   launches: {group_warps: [4, 8], concurrent_groups: {from: 1, to: 8}}
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/memory_pricing.h"
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
    std::vector<SweepName> kernels;        // graphs: files, or shipped names
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
inline constexpr std::int64_t most_sweep_rows = 1'000'000'000'000;

// Opens no other file. Throws InputError naming file, line and key.
SweepSpec parse_sweep(const std::string& text, const std::string& file_name);

// The file that a name of a spec in `folder` means: a path (with a slash or the extension .yaml) is
// below that folder, anything else is a shipped name.
std::filesystem::path sweep_kernel(const SweepName& name, const std::filesystem::path& folder);
std::filesystem::path sweep_profile(const SweepName& name, const std::filesystem::path& folder);

}  // namespace occupipe::analysis
