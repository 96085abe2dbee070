// SPDX-License-Identifier: MIT
// How many warp-instructions per second the executor of machine code does on one thread, by kernel:
// the recorded kernels of tests/kernels as their launch files run them: with their code decoded and
// made ready each time, as in a program's first launch, and (NAME/loaded) with that done before.
// docs/background/performance.md says how to run it and holds a table.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <optional>
#include <string>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/run_plan.h"
#include "isa/cubin.h"

namespace occupipe {
namespace {

const std::filesystem::path folder = std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "tests/kernels";

// HMMA and its kin, which do thousands of multiply-adds each.
std::uint64_t matrix_instructions(const isa::Execution& execution) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < execution.counts.size(); ++i) {
        if (execution.code->at(i).opcode.ends_with("MMA")) sum += execution.counts[i].warps;
    }
    return sum;
}

void execute_kernel(benchmark::State& state, const std::string& name, bool loaded) {
    const LaunchPlan plan = read_launches(folder / (name + ".yaml"));
    const std::filesystem::path cubin_path =
        folder / "recorded/sm_80" / (std::filesystem::path(plan.source).stem().string() + ".cubin");
    const isa::Cubin cubin = isa::read_cubin(read_text_file(cubin_path));
    std::uint64_t done = 0, matrices = 0;
    for (auto _ : state) {
        state.PauseTiming();
        std::optional<extract::PlanRun> run(std::in_place, plan, cubin, "");
        if (loaded) run->not_executed();  // makes their code ready
        state.ResumeTiming();
        for (const extract::LaunchResult& one :
             run->execute({.threads = 1, .measure_memory = false})) {
            done += one.execution.warp_instructions;
            matrices += matrix_instructions(one.execution);
        }
        state.PauseTiming();
        run.reset();
        state.ResumeTiming();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(done));
    if (matrices == 0) return;
    state.counters["matrix_instructions"] =
        benchmark::Counter(static_cast<double>(matrices), benchmark::Counter::kIsRate);
}

}  // namespace
}  // namespace occupipe

int main(int argc, char** argv) {
    for (const char* name :
         {"saxpy",  "transpose",     "stencil2d",   "stencil3d",    "hotspot",    "jacobi",
          "matmul", "matmul_double", "matmul_half", "nbody",        "mandelbrot", "reduction",
          "scan",   "histogram",     "radix_sort",  "bitonic",      "fft",        "spmv",
          "bfs",    "sha256",        "lud",         "wide_integers"}) {
        for (const bool loaded : {false, true}) {
            const std::string title = std::string(name) + (loaded ? "/loaded" : "");
            benchmark::RegisterBenchmark(title.c_str(), [name, loaded](benchmark::State& state) {
                occupipe::execute_kernel(state, name, loaded);
            })->Unit(benchmark::kMillisecond);
        }
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
