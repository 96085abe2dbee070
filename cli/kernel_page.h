// SPDX-License-Identifier: MIT
// `report KERNEL`: one page about one kernel on one GPU.
#pragma once

#include <string>

#include "ask/question.h"
#include "cli/kernels_in_request.h"

namespace occupipe::cli {

struct KernelPageRequest {
    KernelsInRequest kernel;  // or a graph, as a file or a shipped name
    std::string profile;
    analysis::ProfileChanges changes;
    std::string source_folder;  // empty: that of the kernel's file
    std::string limit;
    std::string output;
    bool force = false;
};

// Predicts the kernel by all models, and by the simulation at every occupancy, and writes the page.
// Throws as `predict` does.
void write_kernel_page(const KernelPageRequest& request);

}  // namespace occupipe::cli
