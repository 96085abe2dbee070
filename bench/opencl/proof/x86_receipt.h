// SPDX-License-Identifier: MIT
// The receipt of a kernel that PoCL compiled for this machine's x86-64 CPU: what its timed loop
// holds. The tests make one of each row; `explain` shows one.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/backend.h"
#include "bench/opencl/proof/x86_loop.h"

namespace occupipe::bench {

struct X86Receipt {
    std::string expression;             // what was counted; empty: the row names nothing to count
    int expected = 0;                   // unroll x chains, times Row::x86_count
    int found = 0;                      // in the loop that holds the most of it
    std::map<std::string, int> others;  // mnemonics in that loop besides
    std::vector<std::string> faults;    // why the kernel proves nothing; empty = it is as asked for

    bool ok() const { return faults.empty(); }
};

// Never throws on bad code: each problem becomes a fault.
X86Receipt make_x86_receipt(const KernelPlan& plan, const std::vector<MachineLoop>& loops);

// Compiles and runs the plan once on a PoCL device whose cache is `cache` (POCL_CACHE_DIR, set
// before OpenCL is first used) and reads the machine code that PoCL leaves there.
std::vector<MachineLoop> loops_that_pocl_makes(Backend& backend, const KernelSource& source,
                                               const std::filesystem::path& cache);

std::string format_x86_receipt(const X86Receipt& receipt);

}  // namespace occupipe::bench
