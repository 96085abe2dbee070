// SPDX-License-Identifier: MIT
// References per second of the stack distances on one thread, by kind of trace; and of the whole
// analysis of a recorded launch. docs/background/performance.md says how to run it and holds a
// table.
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

// As a trace is recorded, then looked at: lines numbered, then their distances.
void stack_distances(benchmark::State& state, const Trace& trace) {
    std::vector<std::uint64_t> names(4'000'000);
    for (std::uint64_t i = 0; i < names.size(); ++i) names[i] = trace(i);
    std::vector<std::uint32_t> lines(names.size());
    for (auto _ : state) {
        extract::LineNumbers numbers;
        for (std::size_t i = 0; i < names.size(); ++i) lines[i] = numbers.of(names[i]);
        extract::SectorReuse reuse(numbers.lines().size());
        extract::ReuseCounts counts;
        for (std::size_t i = 0; i < lines.size(); ++i) {
            if (i + 12 < lines.size()) reuse.expect(lines[i + 12]);
            reuse.read(lines[i], 0xF,
                       [&](extract::NeededLines needed, std::uint32_t) { counts.add(needed, 4); });
        }
        benchmark::DoNotOptimize(counts);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(names.size()) * state.iterations());
}

struct Recorded {
    std::filesystem::path plan, code;

    // Executes the plan; `traces`: of each launch, or none.
    void execute(std::vector<std::unique_ptr<extract::MemoryTrace>>* traces,
                 std::vector<bool>& passes) const {
        const LaunchPlan launches = read_launches(plan);
        const isa::Cubin cubin = isa::read_cubin(read_text_file(code));
        extract::PlanRun run(launches, cubin, "");
        extract::PlanOptions options;
        options.threads = 1;
        if (traces != nullptr)
            options.observe = [&](const KernelLaunch& one) -> isa::Observer* {
                const auto kernel = run.code_of(one);
                passes = extract::passing_first_level(*kernel);
                traces->push_back(
                    std::make_unique<extract::MemoryTrace>(extract::barriers_of(*kernel)));
                return traces->back().get();
            };
        run.execute(options);
    }
};

std::int64_t references_of(const extract::MemoryTrace& trace) {
    std::int64_t references = 0;
    for (const extract::GroupTrace& group : trace.groups())
        references += std::ssize(group.references);
    return references;
}

// Requests of warps and what their lanes ask for, per second, beside the references to lines.
void count_requests(benchmark::State& state, const extract::MemoryTrace& trace) {
    double requests = 0, lanes = 0;
    for (const extract::SiteCounts& site : trace.sites()) {
        if (site.counts.lines == 0) continue;  // shared memory
        requests += static_cast<double>(site.counts.requests);
        lanes += static_cast<double>(site.counts.lanes);
    }
    const auto iterations = static_cast<double>(state.iterations());
    state.counters["requests"] = {requests * iterations, benchmark::Counter::kIsRate};
    state.counters["lanes"] = {lanes * iterations, benchmark::Counter::kIsRate};
}

// The last launch.
void analyse(benchmark::State& state, const Recorded& recorded, int cores) {
    std::vector<std::unique_ptr<extract::MemoryTrace>> traces;
    std::vector<bool> passes;
    recorded.execute(&traces, passes);
    const extract::MemoryTrace& trace = *traces.back();
    for (auto _ : state)
        benchmark::DoNotOptimize(
            extract::reuse_of(trace, {.cores = cores, .concurrent_groups = 4}, passes));
    state.SetItemsProcessed(references_of(trace) * state.iterations());
    count_requests(state, trace);
}

// All launches: executed on one thread, their references recorded.
void record(benchmark::State& state, const Recorded& recorded) {
    std::int64_t references = 0;
    for (auto _ : state) {
        std::vector<std::unique_ptr<extract::MemoryTrace>> traces;
        std::vector<bool> passes;
        recorded.execute(&traces, passes);
        for (const auto& trace : traces) references += references_of(*trace);
    }
    state.SetItemsProcessed(references);
}

void execute_alone(benchmark::State& state, const Recorded& recorded) {
    std::vector<bool> passes;
    for (auto _ : state) recorded.execute(nullptr, passes);
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
    const std::filesystem::path source = OCCUPIPE_SOURCE_DIR;
    const auto add_launch = [](const std::string& name, const occupipe::Recorded& of, int cores) {
        benchmark::RegisterBenchmark(("analyse " + name).c_str(), [=](benchmark::State& state) {
            occupipe::analyse(state, of, cores);
        })->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("record " + name).c_str(), [=](benchmark::State& state) {
            occupipe::record(state, of);
        })->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("execute " + name).c_str(), [=](benchmark::State& state) {
            occupipe::execute_alone(state, of);
        })->Unit(benchmark::kMillisecond);
    };
    for (const std::string name : {"matmul", "transpose", "stencil2d", "spmv"})
        add_launch("small " + name,
                   {.plan = source / "tests/kernels" / (name + ".yaml"),
                    .code = source / "tests/kernels/recorded/sm_80" / (name + ".cubin")},
                   16);
    for (const std::string name :
         {"matmul_tiled", "stencil7", "spmv", "fft", "hotspot3d", "histogram", "kmeans", "cfd"})
        add_launch(name,
                   {.plan = source / "kernels/large" / (name + ".yaml"),
                    .code = source / "tests/suite/recorded/sm_75" / (name + ".cubin")},
                   36);
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
