// SPDX-License-Identifier: MIT
// References per second of the stack distances on one thread, by kind of trace; and of the whole
// analysis of a recorded launch. docs/performance.md says how to run it and holds a table.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/buffer_fill.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/line_numbers.h"
#include "extract/memory_trace.h"
#include "extract/run_plan.h"
#include "extract/sector_reuse.h"

namespace occupipe {
namespace {

using Trace = std::function<std::uint64_t(std::uint64_t reference)>;

void stack_distances(benchmark::State& state, const Trace& trace) {
    std::vector<std::uint64_t> names(4'000'000);
    for (std::uint64_t i = 0; i < names.size(); ++i) names[i] = trace(i);
    for (auto _ : state) {
        extract::LineNumbers numbers;
        extract::SectorReuse reuse(names.size());
        extract::ReuseCounts counts;
        for (const std::uint64_t name : names) {
            reuse.read(numbers.of(name), 0xF,
                       [&](extract::NeededLines needed, std::uint32_t) { counts.add(needed, 4); });
        }
        benchmark::DoNotOptimize(counts);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(names.size()) * state.iterations());
}

void launch(benchmark::State& state, const std::string& name) {
    const std::filesystem::path folder =
        std::filesystem::path(OCCUPIPE_SOURCE_DIR) / "tests/kernels";
    const LaunchPlan plan = read_launches(folder / (name + ".yaml"));
    const isa::Cubin cubin =
        isa::read_cubin(read_text_file(folder / "recorded/sm_80" / (name + ".cubin")));
    extract::PlanRun run(plan, cubin, "");
    std::unique_ptr<extract::MemoryTrace> trace;
    std::vector<bool> passes;
    extract::PlanOptions options;
    options.threads = 1;
    options.observe = [&](const KernelLaunch& one) -> isa::Observer* {
        const auto code = run.code_of(one);
        passes = extract::passing_first_level(*code);
        trace = std::make_unique<extract::MemoryTrace>(extract::barriers_of(*code));
        return trace.get();
    };
    run.execute(options);
    std::int64_t references = 0;
    for (const extract::GroupTrace& group : trace->groups())
        references += std::ssize(group.references);
    for (auto _ : state)
        benchmark::DoNotOptimize(
            extract::reuse_of(*trace, {.cores = 16, .concurrent_groups = 4}, passes));
    state.SetItemsProcessed(references * state.iterations());
}

}  // namespace
}  // namespace occupipe

int main(int argc, char** argv) {
    using occupipe::Trace;
    const auto add = [](const char* name, const Trace& trace) {
        benchmark::RegisterBenchmark(name, [trace](benchmark::State& state) {
            occupipe::stack_distances(state, trace);
        })->Unit(benchmark::kMillisecond);
    };
    const auto random = [](std::uint64_t names) {
        return [=](std::uint64_t i) { return occupipe::random_bits(1, i) % names; };
    };
    add("loop over 1,000 lines", [](std::uint64_t i) { return i % 1000; });
    add("loop over 30,000 lines", [](std::uint64_t i) { return i % 30'000; });
    add("loop over 1,000,000 lines", [](std::uint64_t i) { return i % 1'000'000; });
    add("random among 1,000 lines", random(1000));
    add("random among 30,000 lines", random(30'000));
    add("random among 1,000,000 lines", random(1'000'000));
    add("stream, every line new", [](std::uint64_t i) { return i; });
    // 64 warps in turn: a row of A that eight of them share, a line of B of their own.
    add("64 warps of a matrix product", [](std::uint64_t i) {
        const std::uint64_t warp = i % 64, step = i / 64;
        return step % 3 == 0 ? warp / 8 * 1024 + step / 3 % 1024
                             : 100'000 + step / 3 % 1024 * 64 + warp;
    });
    for (const char* name : {"matmul", "transpose", "stencil2d", "spmv"})
        benchmark::RegisterBenchmark(name, [name](benchmark::State& state) {
            occupipe::launch(state, name);
        })->Unit(benchmark::kMillisecond);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
