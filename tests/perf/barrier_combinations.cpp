// SPDX-License-Identifier: MIT
// Several groups with barriers at once: which of the shipped kernels' huge runs are answered, and
// after how much work (summary: docs/background/performance.md, "Several groups with barriers").
//   occupipe_barrier_combinations [INSTRUCTIONS [GROUP_WARPS CONCURRENT_GROUPS
//       [ITERATIONS [GROUPS [KERNEL]]]]]
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <string>

#include "core/error.h"
#include "core/files/files.h"
#include "sim/engine/simulate.h"

namespace occupipe {
namespace {

const std::string source = OCCUPIPE_SOURCE_DIR;

struct Run {
    std::int64_t max_simulated = 0;
    Launch launch;  // groups: per core
    std::int64_t iterations = 0;
    std::string only;  // this kernel; empty: all
};

double processor_seconds() {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

// A kernel's outermost loops all get the same number of iterations.
Kernel with_iterations(Kernel kernel, std::int64_t iterations) {
    for (KernelItem& item : kernel.warps[0].instructions)
        if (auto* repeat = std::get_if<Repeat>(&item)) repeat->count = iterations;
    return kernel;
}

bool print_row(const std::string& name, const char* policy_name, Policy policy, Order order,
               const Run& run) {
    const bool paper = name.starts_with("mmul");
    const GpuProfile profile = read_profile(
        source + (paper ? "/sim/kernels/mmul_pascal.yaml" : "/profiles/nvidia-gtx-1060.yaml"));
    const Kernel kernel =
        with_iterations(read_kernel(source + "/sim/kernels/" + name + ".yaml"), run.iterations);
    Launch launch = run.launch;
    launch.groups *= profile.cores;
    const SimulationOptions options{
        .policy = policy, .order = order, .max_simulated = run.max_simulated};
    const double start = processor_seconds();
    std::string outcome;
    bool answered = false;
    try {
        const SimulationResult result = simulate(profile, kernel, launch, options);
        answered = true;
        outcome = fmt::format("{:.3g} | {} | {:.3g}", static_cast<double>(result.issued),
                              result.simulated, result.cycles);
    } catch (const std::exception& error) {
        outcome = fmt::format(" |  | none: {}", error.what());
    }
    const double seconds = processor_seconds() - start;
    fmt::print("| {} | {} | {} | {} | {:.3f} |\n", name, policy_name,
               order == Order::in_order ? "in_order" : "dataflow", outcome, seconds);
    std::fflush(stdout);
    return answered && seconds < 1;
}

int print_table(const Run& run) {
    constexpr std::array kernels = {"barriers",          "bodies",       "dot_product",
                                    "iterative_barrier", "matmul_tiled", "mmul_16x16",
                                    "mmul_8x8",          "stencil",      "transpose"};
    constexpr std::array policies = {std::pair("lrr", Policy::lrr), std::pair("gto", Policy::gto)};
    fmt::print(
        "| kernel | policy | order | instructions | one by one | cycles | processor time [s] |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    int quick = 0;
    int all = 0;
    for (const char* kernel : kernels) {
        if (!run.only.empty() && run.only != kernel) continue;
        for (const auto& [policy_name, policy] : policies)
            for (const Order order : {Order::in_order, Order::dataflow}) {
                ++all;
                quick += print_row(kernel, policy_name, policy, order, run) ? 1 : 0;
            }
    }
    fmt::print("\n{} of {} under one second\n", quick, all);
    return 0;
}

}  // namespace
}  // namespace occupipe

int main(int argc, char** argv) {
    const auto argument = [&](int i, std::int64_t otherwise) {
        return argc > i ? std::strtoll(argv[i], nullptr, 10) : otherwise;
    };
    occupipe::Run run;
    run.max_simulated = argument(1, 200'000'000);
    run.launch.group_warps = static_cast<int>(argument(2, 8));
    run.launch.concurrent_groups = static_cast<int>(argument(3, 4));
    run.iterations = argument(4, 1'000'000);
    run.launch.groups = argument(5, 100'000);
    if (argc > 6) run.only = argv[6];
    return occupipe::print_table(run);
}
