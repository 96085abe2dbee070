// SPDX-License-Identifier: MIT
// How fast the simulator issues warp-instructions (items per second);
// docs/background/performance.md says how to run it and holds a table.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/parallel.h"
#include "sim/engine/simulate.h"
#include "sim/observers/stalls.h"

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

constexpr std::array policies = {std::pair("lrr", Policy::lrr), std::pair("gto", Policy::gto),
                                 std::pair("oldest", Policy::oldest)};

void register_kernels() {
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

// Seeded, the same everywhere.
class Draw {
public:
    // 0 ≤ result < bound
    std::uint32_t below(std::uint32_t bound) {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::uint32_t>((state_ >> 32) * bound >> 32);
    }

private:
    std::uint64_t state_ = 0x9e3779b97f4a7c15;
};

// What machine code looks like: straight bodies in which arithmetic uses what was computed or
// loaded a few instructions before.
Kernel straight_body(int size, std::int64_t iterations) {
    struct Share {
        const char* op;
        InstructionKind kind;
        std::uint32_t percent;
    };
    constexpr std::array shares = {
        Share{"fma.f32", InstructionKind::compute, 45},
        Share{"mul.s32", InstructionKind::compute, 20},
        Share{"cos.approx.f32", InstructionKind::compute, 5},
        Share{"ld.shared.s32", InstructionKind::load, 18},
        Share{"ld.global.s32", InstructionKind::load, 7},
        Share{"ld.global.s32", InstructionKind::store, 5},
    };
    Draw draw;
    Repeat loop;
    loop.count = iterations;
    for (int i = 0; i < size; ++i) {
        std::uint32_t left = draw.below(100);
        const Share* share = shares.data();
        while (left >= share->percent) left -= share++->percent;
        KernelInstruction made;
        made.id = fmt::format("i{}", i);
        made.op = share->op;
        made.kind = share->kind;
        const std::uint32_t inputs = share->kind == InstructionKind::compute ? 2 : 1;
        for (std::uint32_t input = 0; input < inputs; ++input) {
            const int back = 1 + static_cast<int>(draw.below(12));
            const Dependence dependence{fmt::format("i{}", i - back), 0};
            const auto& known = made.after;
            if (i >= back && std::find(known.begin(), known.end(), dependence) == known.end())
                made.after.push_back(dependence);
        }
        if (i == 0) made.after.push_back({"i0", 1});
        loop.body.emplace_back(made);
    }
    Kernel kernel;
    kernel.name = "straight";
    kernel.warps.push_back({1, {loop}});
    return kernel;
}

// The profile with four schedulers, each with a quarter of the arithmetic units.
GpuProfile with_four_schedulers(GpuProfile profile) {
    profile.issue.schedulers = 4;
    for (Subsystem& subsystem : profile.subsystems)
        if (subsystem.name == "alu" || subsystem.name == "sfu") subsystem.scope = Scope::scheduler;
    for (InstructionTiming& timing : profile.instructions)
        if (timing.subsystem == "alu" || timing.subsystem == "sfu") timing.cpi.value *= 4;
    return profile;
}

// Nothing is skipped; so many instructions that reading the kernel is a small part of the time.
void simulate_body(benchmark::State& state, int size, int warps, int schedulers,
                   const SimulationOptions& options) {
    const std::int64_t iterations = std::max<std::int64_t>(
        2, std::max<std::int64_t>(2'000'000, 500 * std::int64_t{size}) / size / warps);
    const Kernel kernel = straight_body(size, iterations);
    const GpuProfile profile = schedulers == 4 ? with_four_schedulers(gtx_1060()) : gtx_1060();
    const Launch launch{.group_warps = std::min(warps, 8),
                        .concurrent_groups = std::max(1, warps / 8),
                        .groups = 10 * std::max(1, warps / 8)};
    std::int64_t issued = 0;
    for (auto _ : state) issued += simulate(profile, kernel, launch, options).issued;
    state.SetItemsProcessed(issued);
}

void register_bodies(Order order, const std::vector<int>& sizes, const std::vector<int>& warps) {
    for (const int size : sizes)
        for (const int count : warps)
            for (const int schedulers : {1, 4})
                for (const auto& [name, policy] : policies) {
                    const SimulationOptions options{
                        .policy = policy, .order = order, .detect_periods = false};
                    benchmark::RegisterBenchmark(
                        fmt::format("{}/body:{}/warps:{}/schedulers:{}/{}",
                                    order == Order::in_order ? "in_order" : "dataflow", size, count,
                                    schedulers, name)
                            .c_str(),
                        [=](benchmark::State& state) {
                            simulate_body(state, size, count, schedulers, options);
                        })
                        ->Unit(benchmark::kMillisecond);
                }
}

// The same run with and without the account of stalls.
void simulate_observed(benchmark::State& state, const Kernel& kernel, Order order, bool stalls) {
    const Launch launch{.group_warps = 8, .concurrent_groups = 4, .groups = 80};
    const SimulationOptions options{.order = order, .detect_periods = false};
    std::int64_t issued = 0;
    for (auto _ : state) {
        if (!stalls) {
            issued += simulate(gtx_1060(), kernel, launch, options).issued;
            continue;
        }
        sim::StallView view;
        issued += simulate(gtx_1060(), kernel, launch, options, view).issued;
        benchmark::DoNotOptimize(view.rows());
    }
    state.SetItemsProcessed(issued);
}

void register_observed() {
    const std::array kernels = {std::pair("matmul_tiled", kernel_named("matmul_tiled")),
                                std::pair("stencil", kernel_named("stencil")),
                                std::pair("body:64", straight_body(64, 100)),
                                std::pair("body:512", straight_body(512, 12))};
    for (const auto& [name, kernel] : kernels)
        for (const Order order : {Order::dataflow, Order::in_order})
            for (const bool stalls : {false, true})
                benchmark::RegisterBenchmark(
                    fmt::format("observed/{}/{}/{}", name,
                                order == Order::in_order ? "in_order" : "dataflow",
                                stalls ? "stalls" : "plain")
                        .c_str(),
                    [=, kernel = kernel](benchmark::State& state) {
                        simulate_observed(state, kernel, order, stalls);
                    })
                    ->Unit(benchmark::kMillisecond);
}

double processor_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What looking for repetitions costs where next to nothing recurs: the time of an instruction that
// is issued one by one, with the search over without, in turns.
void compare_detection(benchmark::State& state, const std::string& name, const Launch& launch,
                       SimulationOptions options) {
    const Kernel kernel = kernel_named(name);
    std::array<double, 2> seconds{};
    std::array<double, 2> simulated{};
    for (auto _ : state)
        for (const bool detect : {false, true}) {
            options.detect_periods = detect;
            const double before = processor_seconds();
            const SimulationResult result = simulate(gtx_1060(), kernel, launch, options);
            seconds[detect] += processor_seconds() - before;
            simulated[detect] += static_cast<double>(result.simulated);
        }
    state.counters["seconds"] = seconds[0] / static_cast<double>(state.iterations());
    state.counters["simulated_share"] = simulated[1] / simulated[0];
    state.counters["cost"] = seconds[1] / simulated[1] / (seconds[0] / simulated[0]);
}

void register_detection() {
    struct Case {
        const char* kernel;
        Launch launch;
        Policy policy;
        Order order;
    };
    constexpr auto dataflow = Order::dataflow;
    constexpr auto in_order = Order::in_order;
    for (const Case& c : {Case{"bodies", {8, 3, 1000}, Policy::lrr, dataflow},
                          Case{"bodies", {4, 13, 2000}, Policy::lrr, dataflow},
                          Case{"matmul_tiled", {4, 13, 4000}, Policy::gto, dataflow},
                          Case{"bodies", {8, 4, 1000}, Policy::gto, in_order},
                          Case{"matmul_tiled", {8, 4, 2000}, Policy::gto, in_order}})
        benchmark::RegisterBenchmark(
            fmt::format("detection/{}/{}x{}/{}/{}", c.kernel, c.launch.group_warps,
                        c.launch.concurrent_groups, c.policy == Policy::lrr ? "lrr" : "gto",
                        c.order == in_order ? "in_order" : "dataflow")
                .c_str(),
            [c](benchmark::State& state) {
                compare_detection(state, c.kernel, c.launch,
                                  {.policy = c.policy, .order = c.order});
            })
            ->Unit(benchmark::kMillisecond)
            ->Iterations(3);
}

// An outer loop that must be replicated, as each of its iterations begins a chain of its own; all
// wait for the end of one other chain.
void simulate_replicated(benchmark::State& state, std::int64_t outer) {
    const auto instruction = [](const char* id, std::vector<Dependence> after) {
        KernelInstruction made;
        made.id = id;
        made.op = "fma.f32";
        made.after = std::move(after);
        return KernelItem(made);
    };
    const auto repeat = [](std::int64_t count, KernelItem item) {
        Repeat made;
        made.count = count;
        made.body.push_back(std::move(item));
        return KernelItem(made);
    };
    Kernel kernel;
    kernel.name = "replicated";
    kernel.warps.push_back(
        {1,
         {repeat(20, instruction("chain", {{"chain", 1}})),
          repeat(outer, repeat(3, instruction("own", {{"chain", 0}, {"own", 1}})))}});
    std::int64_t issued = 0;
    const SimulationOptions options{.detect_periods = false};
    for (auto _ : state) issued += simulate(gtx_1060(), kernel, {1, 1, 10}, options).issued;
    state.SetItemsProcessed(issued);
}

// The machine's own pace: dependent steps of a 64-bit generator.
void calibrate(benchmark::State& state) {
    constexpr std::int64_t steps = 10'000'000;
    std::uint64_t value = 1;
    for (auto _ : state) {
        for (std::int64_t i = 0; i < steps; ++i) {
            value ^= value << 13;
            value ^= value >> 7;
            value ^= value << 17;
        }
        benchmark::DoNotOptimize(value);
    }
    state.SetItemsProcessed(state.iterations() * steps);
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
        for (InstructionTiming& timing : profile.instructions) timing.latency->value *= slower;
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
    benchmark::RegisterBenchmark("calibration", occupipe::calibrate);
    occupipe::register_bodies(occupipe::Order::in_order, {10, 64, 512, 4096, 65536}, {1, 8, 64});
    occupipe::register_bodies(occupipe::Order::dataflow, {10, 64, 512, 4096}, {1, 8, 64});
    occupipe::register_observed();
    occupipe::register_detection();
    for (const std::int64_t outer : {200, 2'000, 20'000})
        benchmark::RegisterBenchmark(
            ("replicated/" + std::to_string(outer)).c_str(),
            [outer](benchmark::State& state) { occupipe::simulate_replicated(state, outer); })
            ->Unit(benchmark::kMillisecond);
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
