// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as the output of Nsight Compute or nvprof, or of `occupipe run
// --json`. What is read are finite numbers, and counts that are the same when written and read
// again, or an InputError; never a crash or another exception. Built with clang and
// -DOCCUPIPE_FUZZ=ON; run: fuzz_profilers -max_total_time=600 CORPUS tests/fuzz/profiler_seeds
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "analysis/profilers/ncu_report.h"
#include "analysis/profilers/profiler_metrics.h"
#include "analysis/roofline/roofline_predictions.h"
#include "core/error.h"
#include "report/text/program_comparison.h"

namespace {

using namespace occupipe;
using namespace occupipe::analysis;

void check(const ProfiledKernels& read) {
    bool whole = true;
    for (const KernelParameters& kernel : read.kernels) {
        try {
            if (!std::isfinite(work_of(kernel).all)) std::abort();
        } catch (const CountMissing&) {
            whole = false;
        } catch (const InputError&) {
        }
    }
    if (read.lacking.empty() && !whole) std::abort();
    // A name that no YAML file may have is refused there.
    const std::string kept = format_kernel_parameters(read.kernels);
    if (parse_kernel_parameters(kept, "again.yaml") != read.kernels) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        for (const NcuKernel& kernel : parse_ncu_csv(text, "fuzz.csv"))
            for (const auto& [name, value] : kernel.metrics)
                if (!std::isfinite(value)) std::abort();
    } catch (const InputError&) {
    }
    try {
        check(parameters_from_profiler(text, "fuzz.csv"));
    } catch (const InputError&) {
    }
    try {
        for (const auto& kernel : report::parse_earlier_run(text, "fuzz.json").kernels)
            for (const std::optional<double>& seconds : kernel.seconds)
                if (seconds && !(*seconds >= 0)) std::abort();
    } catch (const InputError&) {
    }
    return 0;
}
