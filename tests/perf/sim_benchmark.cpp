// SPDX-License-Identifier: MIT
// How fast the simulator issues warp-instructions (items per second); docs/performance.md says how
// to run it and holds a table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "sim/engine/parallel.h"
#include "sim/engine/simulate.h"

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
    for (const char* name : {"chain", "mix", "matmul_tiled", "stencil", "stream"})
        for (const auto& [policy_name, policy] : policies)
            for (const bool detect : {false, true})
                benchmark::RegisterBenchmark(
                    fmt::format("{}/{}/{}", name, policy_name, detect ? "periods" : "one_by_one")
                        .c_str(),
                    [name = std::string(name), p = policy, detect](benchmark::State& state) {
                        simulate_kernel(state, name, p, detect);
                    });
}

// A million iterations of each loop, a hundred thousand groups per core.
void simulate_huge(benchmark::State& state, const std::string& name) {
    Kernel kernel = kernel_named(name);
    for (KernelItem& item : kernel.warps[0].instructions)
        if (auto* repeat = std::get_if<Repeat>(&item)) repeat->count = 1'000'000;
    const Launch launch{.group_warps = 8, .concurrent_groups = 1, .groups = 1'000'000};
    const SimulationOptions options{.order = Order::in_order};
    std::int64_t simulated = 0;
    for (auto _ : state) simulated = simulate(gtx_1060(), kernel, launch, options).simulated;
    state.counters["one_by_one"] = static_cast<double>(simulated);
}

struct Job {
    GpuProfile profile;
    Kernel kernel;
    Launch launch;
};

// Occupancies of every group size that the analysis paper uses, 1,000 groups on 10 cores.
void add_launches(std::vector<Job>& jobs, const GpuProfile& profile, const std::string& name,
                  int count) {
    const Kernel kernel = kernel_named(name);
    std::vector<Launch> all;
    for (int group_warps = 1; group_warps <= 32; group_warps *= 2)
        for (int groups = 1; groups * group_warps <= 64 && groups <= 32; ++groups)
            all.push_back({group_warps, groups, 1000});
    for (int i = 0; i < count; ++i)  // evenly spread
        jobs.push_back({profile, kernel, all[all.size() * i / count]});
}

// The size of the analysis paper's evaluation: 226 launches of 14 kernels on each of three GPUs, on
// all cores. Its kernels are not at hand; ours stand in for them, and one profile with slower
// latencies for the other two GPUs, which lack some of the instructions.
void predict_paper_sized(benchmark::State& state) {
    constexpr std::array kernels = {"barriers",    "bodies",       "chain",   "distances",
                                    "dot_product", "matmul_tiled", "mix",     "pointer_chase",
                                    "rotation",    "saxpy",        "stencil", "stream",
                                    "transpose",   "vector_add"};
    std::vector<Job> jobs;
    for (const double slower : {1.0, 1.5, 2.0}) {
        GpuProfile profile = gtx_1060();
        for (InstructionTiming& timing : profile.instructions) timing.latency.value *= slower;
        for (std::size_t i = 0; i < kernels.size(); ++i)
            add_launches(
                jobs, profile, kernels[i],
                static_cast<int>(226 * (i + 1) / kernels.size() - 226 * i / kernels.size()));
    }
    for (auto _ : state) {
        parallel_for(jobs.size(), [&](std::size_t i) {
            benchmark::DoNotOptimize(
                simulate(jobs[i].profile, jobs[i].kernel, jobs[i].launch).ticks);
        });
    }
    state.counters["launches"] = static_cast<double>(jobs.size());
}

double child_seconds() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// For scale: llvm-mca on the inner loop of a dot product, seven x86 instructions. In processor time
// of its own; it starts, reads and prints within it.
void run_llvm_mca(benchmark::State& state, const std::string& program) {
    constexpr int iterations = 100'000;
    const std::string command = fmt::format(
        "printf '%s\\n' 'vmovss (%rsi), %xmm0' 'vmovss (%rdi), %xmm1' "
        "'vfmadd231ss %xmm0, %xmm1, %xmm2' 'add $4, %rsi' 'add $4, %rdi' 'dec %rcx' 'jne 0' | "
        "'{}' -march=x86-64 -mcpu=znver3 -iterations={} >/dev/null 2>&1",
        program, iterations);
    for (auto _ : state) {
        const double before = child_seconds();
        if (std::system(command.c_str()) != 0) {
            state.SkipWithError("it failed");
            return;
        }
        state.SetIterationTime(child_seconds() - before);
    }
    state.SetItemsProcessed(state.iterations() * 7 * iterations);
}

// Every version that is installed, under the name of the file itself.
void register_llvm_mca() {
    std::set<std::filesystem::path> found;
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path != nullptr ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        for (const char* name : {"llvm-mca", "llvm-mca-14", "llvm-mca-19"}) {
            const std::filesystem::path program = std::filesystem::path(folder) / name;
            if (std::filesystem::exists(program)) found.insert(std::filesystem::canonical(program));
        }
    for (const std::filesystem::path& program : found)
        benchmark::RegisterBenchmark(program.c_str(), [program](benchmark::State& state) {
            run_llvm_mca(state, program);
        })->UseManualTime();
    if (found.empty())
        benchmark::RegisterBenchmark("llvm-mca", [](benchmark::State& state) {
            state.SkipWithError("not installed");
            for (auto _ : state) {
            }
        });
}

}  // namespace
}  // namespace occupipe

int main(int argc, char** argv) {
    occupipe::register_kernels();
    for (const std::string name : {"chain", "mix", "stream", "matmul_tiled"})
        benchmark::RegisterBenchmark(("huge/" + name).c_str(), [name](benchmark::State& state) {
            occupipe::simulate_huge(state, name);
        });
    benchmark::RegisterBenchmark("paper_sized", occupipe::predict_paper_sized)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->MeasureProcessCPUTime();
    occupipe::register_llvm_mca();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
