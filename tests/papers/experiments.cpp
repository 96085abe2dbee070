// SPDX-License-Identifier: MIT
#include "tests/papers/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <sstream>
#include <tuple>

#include "core/error.h"
#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "sim/models/registry.h"
#include "sim/observers/timeline.h"
#include "tests/sim/build.h"

namespace occupipe::papers {
namespace {

constexpr std::array group_sizes = {1, 2, 4, 8, 16, 32};  // warps: 32 to 1024 threads

Launch one_run(const Shape& shape, int cores) {
    return {.group_warps = shape.group_warps,
            .concurrent_groups = shape.groups,
            .groups = std::int64_t{shape.groups} * cores};
}

// Table 2 of the analysis paper.
constexpr double comp_cpi = 1;
constexpr double comp_latency = 4;
constexpr double mem_cpi = 2;
constexpr double mem_latency = 6;
constexpr double mem_instruction_cpi = 1;
constexpr double computations = 4;
constexpr double accesses = 2;

}  // namespace

GpuProfile shipped(const std::filesystem::path& root, std::string_view profile) {
    return read_profile(root / "profiles" / fmt::format("{}.yaml", profile));
}

std::vector<std::vector<std::string>> csv_rows(const std::filesystem::path& file) {
    std::istringstream text(read_text_file(file));
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line[0] == '#') continue;
        rows.emplace_back();
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
        if (line.back() == ',') rows.back().emplace_back();
    }
    if (rows.empty()) throw InputError(fmt::format("{}: no rows", file.string()));
    return rows;
}

std::vector<Shape> shapes(const GpuProfile& profile, const SharedMemory& memory) {
    std::set<int> chosen;
    for (int bytes = memory.unit; bytes <= memory.most_bytes; bytes += memory.unit)
        chosen.insert(memory.bytes / bytes);
    std::vector<Shape> all;
    for (const int warps : group_sizes)
        for (int groups = 1;
             groups <= *profile.limits.groups && groups * warps <= *profile.limits.warps; ++groups)
            if (chosen.contains(groups)) all.push_back({warps, groups});
    return all;
}

std::size_t warp_counts(const std::vector<Shape>& shapes) {
    std::set<int> counts;
    for (const Shape& shape : shapes) counts.insert(shape.warps());
    return counts.size();
}

double equation_1(double cpi, double latency, int warps, double n) {
    return warps <= latency / cpi ? n * latency + (warps - 1) * cpi
                                  : latency + (n * warps - 1) * cpi;
}

double chain_cycles(double cpi, double latency, const Shape& shape, int n) {
    return simulate(test::gpu({{"x", cpi, latency}}), test::chain("x", n), one_run(shape, 1))
        .cycles;
}

std::vector<Microbenchmark> microbenchmarks(const std::filesystem::path& root) {
    // The views live as long as the program: names of a short fixed list.
    static constexpr std::array<std::string_view, 4> names = {"fadd", "cos", "loop", "memory"};
    static constexpr std::array<std::string_view, 2> devices = {"Fermi", "Pascal"};
    std::vector<Microbenchmark> all;
    for (const auto& row : csv_rows(root / "tests/data/cornelis-pipeline/table-2.csv")) {
        if (row[0] == "benchmark") continue;
        all.push_back({*std::ranges::find(names, row[0]), *std::ranges::find(devices, row[1]),
                       std::stod(row[2]), std::stod(row[3])});
    }
    return all;
}

namespace {

std::vector<MultiplicationRun> simulated_multiplication(const std::filesystem::path& root,
                                                        const Multiplication& what) {
    GpuProfile profile = read_profile(root / "sim/kernels" / fmt::format("mmul_{}.yaml", what.gpu));
    const Kernel kernel =
        read_kernel(root / "sim/kernels" / fmt::format("mmul_{0}x{0}.yaml", what.tile));
    if (what.conflicts) {
        const bool fermi = what.gpu == "fermi";
        InstructionTiming& reads = *profile.find_instruction("ld.shared.f32");
        reads.cpi.value = fermi ? 16 : 7;
        reads.latency->value = fermi ? 250 : 100;
    }
    const int group_warps = what.tile * what.tile / 32;
    const auto most =
        static_cast<int>(std::min(*profile.limits.groups, *profile.limits.warps / group_warps));
    const std::int64_t groups = std::int64_t{1024 / what.tile} * (1024 / what.tile);
    std::vector<MultiplicationRun> runs;
    for (int at_once = 1; at_once <= most; ++at_once) {
        const SimulationResult result =
            simulate(profile, kernel,
                     {.group_warps = group_warps, .concurrent_groups = at_once, .groups = groups});
        const double seconds = result.cycles / profile.clock_hz;
        const auto busiest = std::ranges::max_element(result.bounds, {}, &Bound::utilisation);
        runs.push_back({.shape = {group_warps, at_once},
                        .milliseconds = 1e3 * seconds,
                        .gflops = 2.0 * 1024 * 1024 * 1024 / seconds / 1e9,
                        .limited_by = busiest->name});
    }
    return runs;
}

}  // namespace

std::vector<MultiplicationRun> multiply(const std::filesystem::path& root,
                                        const Multiplication& what) {
    static std::map<std::tuple<std::string, int, bool>, std::vector<MultiplicationRun>> known;
    const auto key = std::tuple(what.gpu, what.tile, what.conflicts);
    if (!known.contains(key)) known[key] = simulated_multiplication(root, what);
    return known[key];
}

double mix_law(Law law, const Mix& mix, int beta) {
    if (law == Law::one_subsystem) return beta / (beta * mix.alu + mix.sfu);
    const double two = std::min(1 / mix.alu, beta / mix.sfu);
    if (law == Law::two_subsystems) return two;
    return std::min(two, mix.issue_limit * beta / (beta + 1));
}

double mix_simulated(Law law, const Mix& mix, int beta, int warps, bool warps_look) {
    constexpr int repetitions = 256;  // section 6.1
    const GpuProfile profile = test::gpu(
        {{"mul.f32", mix.alu, mix.alu_latency, "alu"},
         {"cos.approx.f32", mix.sfu, mix.sfu_latency, law == Law::one_subsystem ? "alu" : "sfu"}},
        law == Law::two_with_issue_limit ? std::optional(mix.issue_limit) : std::nullopt);
    std::vector<KernelItem> body = {test::instruction("a1", "mul.f32", {"c@-1"})};
    for (int i = 2; i <= beta; ++i)
        body.push_back(
            test::instruction(fmt::format("a{}", i), "mul.f32", {fmt::format("a{}", i - 1)}));
    body.push_back(test::instruction("c", "cos.approx.f32", {fmt::format("a{}", beta)}));
    SimulationOptions options;
    if (warps_look) options.select = Select::warp;
    const double cycles = simulate(profile, test::kernel({test::repeat(repetitions, body)}),
                                   one_run({1, warps}, 1), options)
                              .cycles;
    return double{1} * warps * repetitions * beta / cycles;
}

Mix mix_of(const std::filesystem::path& root, std::string_view profile) {
    const GpuProfile gpu = shipped(root, profile);
    for (const auto& row : csv_rows(root / "tests/data/lemeire-analysis/table-4.csv"))
        if (row[0] == profile)
            return {.alu = std::stod(row[1]),
                    .sfu = std::stod(row[2]),
                    .issue_limit = std::stod(row[3]),
                    .alu_latency = gpu.find_instruction("mul.f32")->latency->value,
                    .sfu_latency = gpu.find_instruction("cos.approx.f32")->latency->value};
    throw InputError(fmt::format("table-4.csv has no {}", profile));
}

Mix mix_of_figure_12(const std::filesystem::path& root) {
    Mix mix = mix_of(root, "nvidia-tesla-c2050");  // the latencies, which the caption does not give
    mix.sfu = 4;
    return mix;
}

double barrier_performance(const GpuProfile& profile, const Kernel& kernel, const Shape& shape) {
    const double cycles = simulate(profile, kernel, one_run(shape, profile.cores)).cycles;
    return double{1} * shape.warps() * barrier_rounds / cycles;
}

std::vector<Shape> barrier_shapes(const GpuProfile& profile) {
    std::vector<Shape> all;
    for (const int warps : group_sizes)
        for (int groups = 1;
             groups <= *profile.limits.groups && groups * warps <= *profile.limits.warps; ++groups)
            all.push_back({warps, groups});
    std::ranges::sort(all, {}, [](const Shape& s) { return std::tuple(s.warps(), s.group_warps); });
    return all;
}

Prediction example(const std::filesystem::path& root, std::string_view model, int warps) {
    return find_model(model).predict(read_profile(root / "sim/kernels/example_gpu.yaml"),
                                     read_kernel(root / "sim/kernels/example.yaml"),
                                     one_run({1, warps}, 1), {});
}

double transit_memory(double k) {
    return std::min(1 / (mem_cpi * accesses), k / (mem_latency * accesses));
}

double transit_compute(double x) {
    return std::min(1 / (comp_cpi * computations), x / (comp_latency * computations));
}

double transit_crossing(double warps) {
    constexpr double intensity = computations / accesses;
    return warps / (1 + intensity * comp_latency / mem_latency);
}

double WfgArcs::cycles_per_warp() const {
    const double access = std::max({memory_transition, memory_dependence, 0.0});
    return block_1 + access + block_2 + access;
}

WfgArcs wfg_arcs(int warps, double ilp) {
    WfgArcs arcs;
    arcs.block_1 = 2 * std::max(comp_cpi, comp_latency / (ilp * warps));
    arcs.block_2 = 2 * std::max(comp_cpi, comp_latency / warps);
    const double blocks = arcs.block_1 + arcs.block_2;
    arcs.memory_transition = std::max(mem_instruction_cpi, mem_cpi - blocks / accesses);
    const double compute_cycles = blocks + mem_instruction_cpi * accesses;
    arcs.memory_dependence = mem_latency - (warps - 1) * compute_cycles / (accesses + 1);
    return arcs;
}

double figure_6(std::string_view model, double comp, double mem, int warps) {
    constexpr double negligible = 0.001;
    const GpuProfile profile =
        test::gpu({{"add", negligible, comp, "alu"}, {"ld.x", negligible, mem, "mem"}});
    const Kernel pair =
        test::kernel({test::instruction("a", "add"), test::instruction("m", "ld.x", {"a"})});
    return find_model(model).predict(profile, pair, one_run({1, warps}, 1), {}).cycles_per_run;
}

// MWP = Λ/λ accesses at once, a departure delay apart; the next starts when the first has finished.
std::vector<Access> mwp_cwp_accesses(int count) {
    constexpr auto parallel = static_cast<int>(mem_latency / mem_cpi);
    std::vector<Access> all;
    for (int i = 0; i < count; ++i) {
        const double start = i < parallel ? i * mem_instruction_cpi
                                          : all[static_cast<std::size_t>(i - parallel)].end;
        all.push_back({start, start + mem_latency});
    }
    return all;
}

std::vector<Access> pipeline_accesses(int count) {
    const GpuProfile profile = test::gpu({{"ld.x", mem_cpi, mem_latency, "mem"}});
    const Kernel one = test::kernel({test::instruction("m", "ld.x")});
    sim::TimelineView view(1000);
    const SimulationResult run =
        simulate(profile, one, one_run({1, count}, 1), SimulationOptions(), view);
    std::vector<Access> all;
    for (const auto& entry : view.entries())
        all.push_back({run.scale.to_cycles(entry.issued), run.scale.to_cycles(entry.completed)});
    return all;
}

}  // namespace occupipe::papers
