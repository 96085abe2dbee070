// SPDX-License-Identifier: MIT
// How fast the simulator issues warp-instructions (items per second); docs/performance.md says how
// to run it and holds a table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "core/files.h"
#include "sim/models/registry.h"
#include "sim/parallel.h"
#include "sim/simulate.h"

namespace occupipe {
namespace {

const std::string source = OCCUPIPE_SOURCE_DIR;

const GpuProfile& gtx_1060() {
    static const GpuProfile profile = read_profile(source + "/profiles/nvidia-gtx-1060.yaml");
    return profile;
}

Kernel kernel_named(const std::string& name) {
    return read_kernel(source + "/sim/kernels/" + name + ".yaml");
}

void simulate_kernel(benchmark::State& state, const std::string& name, Policy policy,
                     bool detect_periods) {
    const Kernel kernel = kernel_named(name);
    const Launch launch{.group_warps = 8, .concurrent_groups = 4, .groups = 400};
    SimulationOptions options;
    options.policy = policy;
    options.detect_periods = detect_periods;
    std::int64_t issued = 0;
    std::int64_t simulated = 0;
    for (auto _ : state) {
        const SimulationResult result = simulate(gtx_1060(), kernel, launch, options);
        issued += result.issued;
        simulated += result.simulated;
        benchmark::DoNotOptimize(result.ticks);
    }
    state.SetItemsProcessed(issued);
    state.counters["one_by_one"] =
        static_cast<double>(simulated) / static_cast<double>(state.iterations());
}

void register_kernels() {
    constexpr std::array policies = {std::pair("lrr", Policy::lrr), std::pair("gto", Policy::gto),
                                     std::pair("oldest", Policy::oldest)};
    for (const char* name : {"chain", "mix", "matmul_tiled", "stream"})
        for (const auto& [policy_name, policy] : policies)
            for (const bool detect : {false, true})
                benchmark::RegisterBenchmark(
                    fmt::format("{}/{}/{}", name, policy_name, detect ? "periods" : "one_by_one")
                        .c_str(),
                    [name = std::string(name), p = policy, detect](benchmark::State& state) {
                        simulate_kernel(state, name, p, detect);
                    });
}

}  // namespace
}  // namespace occupipe

int main(int argc, char** argv) {
    occupipe::register_kernels();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
