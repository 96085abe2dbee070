// SPDX-License-Identifier: MIT
// libFuzzer target: an AutoMatch workload. What is read is the same when written again and has
// finite costs, or is an InputError. Built with clang and -DOCCUPIPE_FUZZ=ON; run:
// fuzz_workloads -max_total_time=600 CORPUS tests/fuzz/workload_seeds
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "automatch/execution_cost.h"
#include "automatch/workload.h"
#include "core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace occupipe;
    using namespace occupipe::automatch;
    const Device device{.name = "round",
                        .processors = 4,
                        .flops = 1e9,
                        .fast_bytes = 1 << 20,
                        .line_bytes = 64,
                        .fast_bandwidth = 1e11,
                        .fast_latency = 1e-9,
                        .slow_bandwidth = 1e10,
                        .slow_latency = 1e-7,
                        .synchronisation = 1e-6,
                        .vector_width = 4,
                        .f32_flops = 2e9};
    try {
        const Workload read = parse_workload(std::string(data, data + size), "fuzz.yaml");
        if (parse_workload(format_workload(read), "again.yaml") != read) std::abort();
        for (const CostModelName& model : cost_models()) {
            const Cost cost = execution_cost(read, device, model.model);
            if (cost.seconds && !(std::isfinite(*cost.seconds) && *cost.seconds >= 0)) std::abort();
            if (!cost.seconds && cost.silent.empty()) std::abort();
        }
    } catch (const InputError&) {
    }
    return 0;
}
