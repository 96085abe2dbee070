// SPDX-License-Identifier: MIT
// libFuzzer target: any bytes as a file of published figures and as a profiler's output. Whatever
// comes out is read, or an InputError; never a crash or another exception.
// Built with clang and -DOCCUPIPE_FUZZ=ON; run:
// fuzz_published -max_total_time=600 CORPUS published
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "analysis/device/self_check.h"
#include "analysis/profilers/ncu_report.h"
#include "analysis/profilers/profiler_metrics.h"
#include "analysis/roofline/roofline_predictions.h"
#include "core/error.h"
#include "published/published.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        const auto published = occupipe::analysis::parse_published(text, "fuzz.yaml");
        for (const auto& throughput : published.throughputs)
            for (const std::string& capability : throughput.capabilities)
                for (const auto& operation : published.operations)
                    for (const auto& figure :
                         published.cpi(capability, operation.instructions.front(), 32))
                        if (!(figure.low > 0)) std::abort();
    } catch (const occupipe::InputError&) {
    }
    try {
        for (const auto& kernel : occupipe::analysis::parse_ncu_csv(text, "fuzz.csv"))
            for (const auto& [name, value] : kernel.metrics)
                if (!std::isfinite(value)) std::abort();
    } catch (const occupipe::InputError&) {
    }
    try {
        const auto read = occupipe::analysis::parameters_from_profiler(text, "fuzz.csv");
        const std::string kept = occupipe::format_kernel_parameters(read.kernels);
        if (occupipe::parse_kernel_parameters(kept, "again.yaml") != read.kernels) std::abort();
        for (const auto& kernel : read.kernels)
            if (!std::isfinite(occupipe::analysis::work_of(kernel).all)) std::abort();
    } catch (const occupipe::InputError&) {
    }
    occupipe::analysis::counted_latency_of_receipt(text);
    occupipe::analysis::access_bytes(text);
    return 0;
}
