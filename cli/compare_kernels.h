// SPDX-License-Identifier: MIT
// `compare BEFORE AFTER --profile P`: two versions of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ask/question.h"
#include "cli/kernels_in_request.h"
#include "cli/option.h"
#include "cli/options.h"

namespace occupipe::cli {

struct CompareKernelsOptions {
    std::string after;  // file; empty: nothing is compared so
    // How it is launched where that differs; empty: as the version before.
    std::string after_launch, after_kernel, after_grid, after_block, after_arguments;
    std::optional<std::uint32_t> after_shared_bytes;
    std::optional<int> draws;           // absent: 400
    std::optional<std::uint64_t> seed;  // absent: 1
    std::string source_folder;
    std::string memory;  // empty: per-access
    CacheOptions caches;
    std::string page;  // file; empty: none

    // Whether something of AFTER's launch is given.
    bool tells_launch() const;
    // Whether anything is given that one kernel alone does not take.
    bool tells_versions() const;
    // Whether anything but `after` is given.
    bool tells() const;
};

// Of one kernel and of two.
analysis::MemoryQuestion memory_of(const CompareKernelsOptions& options);

// The positional AFTER, and what goes with it.
void add_compare_kernels_options(const Command& command, CompareKernelsOptions& options,
                                 analysis::ProfileChanges& changes);

// What `compare` has anyhow.
struct CompareKernelsRequest {
    KernelsInRequest before;
    std::string profile;
    analysis::ProfileChanges changes;
    std::string limit;
    bool json = false;
    bool force = false;  // replace the page
};

void compare_kernels(const CompareKernelsRequest& request, const CompareKernelsOptions& options);

}  // namespace occupipe::cli
