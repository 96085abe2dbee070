// SPDX-License-Identifier: MIT
// Cornelis, Lemeire: The Pipeline Performance Model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "sim/reference/algorithm_1.h"
#include "sim/reference/simulate_reference.h"
#include "tests/papers/drawings.h"
#include "tests/papers/experiments.h"
#include "tests/papers/made.h"
#include "tests/sim/build.h"

namespace occupipe::papers {
namespace {

using Cells = std::vector<std::string>;

std::string number(double value) { return fmt::format("{:.6g}", value); }

constexpr int chain_length = 1024;

struct Device {
    std::string_view architecture;
    std::string_view profile;
    SharedMemory memory;
};
constexpr std::array devices = {Device{"Fermi", "nvidia-tesla-c2050", fermi_memory},
                                Device{"Pascal", "nvidia-gtx-1060", pascal_memory}};

std::vector<Shape> shapes_of(const std::filesystem::path& root, std::string_view architecture) {
    const Device& device = *std::ranges::find(devices, architecture, &Device::architecture);
    return shapes(shipped(root, device.profile), device.memory);
}

}  // namespace

Made pipeline_table_1(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    for (const Device& device : devices) {
        const GpuProfile profile = shipped(root, device.profile);
        rows.push_back({std::string(device.architecture), profile.device.name,
                        std::to_string(profile.cores), number(profile.clock_hz / 1e6)});
    }
    return {table({"architecture", "name", "compute units", "base clock [MHz]"}, rows)};
}

Made pipeline_combinations(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    for (const Device& device : devices) {
        const std::vector<Shape> all = shapes_of(root, device.architecture);
        Cells cells = {std::string(device.architecture)};
        for (const int warps : {1, 2, 4, 8, 16, 32})
            cells.push_back(std::to_string(std::ranges::count(all, warps, &Shape::group_warps)));
        cells.push_back(std::to_string(all.size()));
        cells.push_back(std::to_string(warp_counts(all)));
        rows.push_back(cells);
    }
    return {
        table({"GPU", "groups of 1 warp", "2", "4", "8", "16", "32", "combinations", "warp counts"},
              rows)};
}

Made pipeline_table_2(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    plot::Picture picture{.description =
                              "Simulated run time of the microbenchmarks over the "
                              "number of warps, with equation 1.",
                          .columns = 2,
                          .width = 900,
                          .height = 420};
    for (const Device& device : devices) {
        plot::Figure panel{.title = std::string(device.architecture),
                           .x = {"warps per core"},
                           .y = {"run time / N in cycles", plot::Scale::log10,
                                 device.architecture == "Fermi" ? 10.0 : 3.0},
                           .key = plot::Key::below};
        int style = 0;
        for (const Microbenchmark& b : microbenchmarks(root)) {
            if (b.gpu != device.architecture) continue;
            double worst = 0;
            double longest = 0;
            double shortest = 0;  // per warp-instruction
            plot::Series simulated{std::string(b.name), plot::Mark::points, style, {}};
            plot::Series law{.mark = plot::Mark::line, .style = style++, .points = {}};
            int most = 0;
            for (const Shape& shape : shapes_of(root, device.architecture)) {
                const double cycles = chain_cycles(b.cpi, b.latency, shape, chain_length);
                const double want = equation_1(b.cpi, b.latency, shape.warps(), chain_length);
                worst = std::max(worst, std::abs(cycles / want - 1));
                longest = std::max(longest, cycles / shape.warps());
                const double rate =
                    (cycles - b.latency) / (double{chain_length} * shape.warps() - 1);
                shortest = shortest > 0 ? std::min(shortest, rate) : rate;
                simulated.points.push_back(
                    {static_cast<double>(shape.warps()), cycles / chain_length});
                most = std::max(most, shape.warps());
            }
            const double alone =
                chain_cycles(b.cpi, b.latency, {1, 1}, chain_length) / chain_length;
            for (int warps = 1; warps <= most; ++warps)
                law.points.push_back(
                    {static_cast<double>(warps),
                     equation_1(b.cpi, b.latency, warps, chain_length) / chain_length});
            panel.series.push_back(simulated);
            panel.series.push_back(law);
            rows.push_back({std::string(b.name), std::string(device.architecture),
                            fmt::format("{} / {}", b.cpi, b.latency),
                            fmt::format("{:.4g} / {:.4g}", shortest, alone),
                            fmt::format("{:.3g}", b.latency / b.cpi),
                            fmt::format("{:.1g} %", 100 * worst)});
        }
        picture.panels.push_back(panel);
    }
    return {table({"benchmark", "GPU", "λ / Λ published", "read back from the simulated times",
                   "ridge Λ/λ [warps]", "worst difference from equation 1"},
                  rows),
            {{"pipeline-table-2", picture}}};
}

Made pipeline_figure_1(const std::filesystem::path& root) {
    const Kernel saxpy = read_kernel(root / "sim/kernels/saxpy.yaml");
    std::vector<Cells> rows;
    for (const Gpu& gpu : gpus) {
        const GpuProfile profile = shipped(root, gpu.profile);
        const auto cpi = [&](const char* op) { return profile.find_instruction(op)->cpi.value; };
        const auto latency = [&](const char* op) {
            return profile.find_instruction(op)->latency->value;
        };
        const double by_hand = latency("mul.s32") + latency("ld.global.s32") +
                               cpi("ld.global.s32") + latency("fma.f32") + cpi("ld.global.s32");
        rows.push_back(
            {std::string(gpu.name), number(by_hand), number(simulate(profile, saxpy, {}).cycles)});
    }
    return {
        table({"GPU", "Λ_index + Λ_mem + λ_mem + Λ_fmadd + λ_mem", "simulated, one warp"}, rows),
        {},
        {{"pipeline-figure-1", graph_svg(saxpy)}}};
}

Made pipeline_figure_2(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    plot::Picture picture{.description =
                              "Simulated throughput of streaming reads over the "
                              "number of warps, Fermi and Pascal.",
                          .columns = 1,
                          .width = 620,
                          .height = 380};
    plot::Figure panel{.title = "streaming reads, simulated",
                       .x = {"warps per core"},
                       .y = {"throughput in GB/s", plot::Scale::linear, 0},
                       .key = plot::Key::bottom_right};
    int style = 0;
    for (const Microbenchmark& b : microbenchmarks(root)) {
        if (b.name != "memory") continue;
        const Device& device = *std::ranges::find(devices, b.gpu, &Device::architecture);
        const GpuProfile profile = shipped(root, device.profile);
        const auto throughput = [&](const Shape& shape) {
            const double cycles = chain_cycles(b.cpi, b.latency, shape, chain_length);
            return profile.cores * shape.warps() * double{chain_length} * 32 * 4 / cycles *
                   profile.clock_hz / 1e9;
        };
        plot::Series series{fmt::format("{}: λ {}, Λ {}", b.gpu, b.cpi, b.latency),
                            plot::Mark::line_and_points,
                            style++,
                            {}};
        std::vector<Shape> all = shapes_of(root, b.gpu);
        std::ranges::sort(all, {}, &Shape::warps);
        for (const Shape& shape : all)
            if (series.points.empty() || series.points.back().x != shape.warps())
                series.points.push_back({static_cast<double>(shape.warps()), throughput(shape)});
        Cells cells = {std::string(b.gpu)};
        for (const int warps : {2, 4, 8, 16, 32, 48})
            cells.push_back(fmt::format("{:.4g}", throughput({1, warps})));
        cells.push_back(
            fmt::format("{:.4g}", profile.cores * 32 * 4 / b.cpi * profile.clock_hz / 1e9));
        cells.push_back(fmt::format("{:.3g}", b.latency / b.cpi));
        rows.push_back(cells);
        panel.series.push_back(series);
    }
    picture.panels = {panel};
    return {table({"GB/s at warps per core", "2", "4", "8", "16", "32", "48", "at most (128 B / λ)",
                   "from warps Λ/λ"},
                  rows),
            {{"pipeline-figure-2", picture}}};
}

Made pipeline_figure_3(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    plot::Picture picture{.description =
                              "Simulated performance of the matrix multiplication over "
                              "the number of warps, with and without bank conflicts.",
                          .columns = 2,
                          .width = 960,
                          .height = 430};
    for (const char* gpu : {"fermi", "pascal"}) {
        plot::Figure panel{.title = gpu[0] == 'f' ? "Fermi" : "Pascal",
                           .x = {"warps per core"},
                           .y = {"GFLOP/s", plot::Scale::linear, 0},
                           .key = plot::Key::below};
        int style = 0;
        for (const int tile : {8, 16}) {
            std::vector<MultiplicationRun> full;
            for (const bool conflicts : {false, true}) {
                const auto runs = multiply(root, {gpu, tile, conflicts});
                plot::Series series{
                    fmt::format("mmul{:02}{}", tile, conflicts ? ", bank conflicts" : ""),
                    plot::Mark::line_and_points,
                    style++,
                    {}};
                for (const MultiplicationRun& run : runs)
                    series.points.push_back({static_cast<double>(run.shape.warps()), run.gflops});
                panel.series.push_back(series);
                full.push_back(runs.back());
                for (const std::size_t at : {std::size_t{0}, runs.size() / 2 - 1}) {
                    if (conflicts || at + 1 == runs.size()) continue;
                    rows.push_back({fmt::format("{} {}×{}", panel.title, tile, tile),
                                    std::to_string(runs[at].shape.groups),
                                    fmt::format("{:.2f}", runs[at].milliseconds),
                                    fmt::format("{:.1f}", runs[at].gflops), runs[at].limited_by, "",
                                    ""});
                }
            }
            rows.push_back({fmt::format("{} {}×{}", panel.title, tile, tile),
                            std::to_string(full[0].shape.groups),
                            fmt::format("{:.2f}", full[0].milliseconds),
                            fmt::format("{:.1f}", full[0].gflops), full[0].limited_by,
                            fmt::format("{:.2f}", full[1].milliseconds),
                            fmt::format("{:.2f}", full[1].milliseconds / full[0].milliseconds)});
        }
        picture.panels.push_back(panel);
    }
    return {table({"GPU, tile", "groups at once", "ms", "GFLOP/s", "busiest unit",
                   "with conflicts, ms", "slower by"},
                  rows),
            {{"pipeline-figure-3", picture}}};
}

Made pipeline_algorithm_1(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    const auto row = [&](const std::string& what, const GpuProfile& given, const Kernel& kernel,
                         const Launch& launch) {
        GpuProfile profile = given;
        profile.issue.limit.reset();
        const double printed = simulate_algorithm_1(profile, kernel, launch).cycles;
        const double first = simulate_algorithm_1(profile, kernel, launch, Search::first).cycles;
        const double ours = simulate(profile, kernel, launch).cycles;
        rows.push_back({what, number(ours), number(printed),
                        fmt::format("{:+.2f} %", 100 * (printed / ours - 1)), number(first),
                        fmt::format("{:+.2f} %", 100 * (first / ours - 1))});
    };
    for (const Microbenchmark& b : microbenchmarks(root)) {
        if (b.name == "cos") continue;
        for (const int warps : {1, 24})
            row(fmt::format("{}, {}, {} warp{}", b.name, b.gpu, warps, warps == 1 ? "" : "s"),
                test::gpu({{"x", b.cpi, b.latency}}), test::chain("x", 64),
                {.group_warps = 1, .concurrent_groups = warps, .groups = warps});
    }
    for (const char* gpu : {"fermi", "pascal"})
        for (const int tile : {8, 16}) {
            Kernel kernel =
                read_kernel(root / "sim/kernels" / fmt::format("mmul_{0}x{0}.yaml", tile));
            std::get<Repeat>(kernel.warps[0].instructions[0]).count = 8;
            const GpuProfile profile =
                read_profile(root / "sim/kernels" / fmt::format("mmul_{}.yaml", gpu));
            const int groups = tile == 8 ? 8 : 4;
            row(fmt::format("mmul{:02}, {}, 8 iterations, {} groups", tile,
                            gpu[0] == 'f' ? "Fermi" : "Pascal", groups),
                profile, kernel,
                {.group_warps = tile * tile / 32,
                 .concurrent_groups = groups,
                 .groups = std::int64_t{groups} * profile.cores});
        }
    return {table({"kernel", "ours [cycles]", "Algorithm 1, in turn", "difference",
                   "Algorithm 1, from the first", "difference"},
                  rows)};
}

}  // namespace occupipe::papers
