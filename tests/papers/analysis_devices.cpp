// SPDX-License-Identifier: MIT
// Lemeire, Cornelis, Konstantinidis: Analysis of the Analytical Performance Models for GPUs; the
// GPUs: Tables 4, 5, 6 and 8, Figures 11 to 13, 15 and 16.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "tests/papers/drawings.h"
#include "tests/papers/experiments.h"
#include "tests/papers/made.h"
#include "tests/sim/build.h"

namespace occupipe::papers {
namespace {

using Cells = std::vector<std::string>;

constexpr int most_beta = 16;
constexpr std::array shown_betas = {1, 2, 4, 8, 16};

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string percent(double share) { return fmt::format("{:+.2f} %", 100 * share); }

// The simulated curves and their laws; `warps` as many as the core holds.
plot::Figure mix_panel(const std::string& title, const Mix& mix, int warps) {
    plot::Figure panel{.title = title,
                       .x = {"β: ALU instructions to one of the SFU"},
                       .y = {"ALU instructions per cycle", plot::Scale::linear, 0},
                       .key = plot::Key::below};
    int style = 0;
    for (const auto& [law, name] : {std::pair{Law::one_subsystem, "1 subsystem"},
                                    std::pair{Law::two_subsystems, "2 subsystems"},
                                    std::pair{Law::two_with_issue_limit, "2 with issue limit"}}) {
        plot::Series line{fmt::format("{}, equation", name), plot::Mark::line, style, {}};
        plot::Series points{fmt::format("{}, simulated", name), plot::Mark::points, style++, {}};
        for (int beta = 1; beta <= most_beta; ++beta) {
            line.points.push_back({static_cast<double>(beta), mix_law(law, mix, beta)});
            points.points.push_back(
                {static_cast<double>(beta), mix_simulated(law, mix, beta, warps)});
        }
        panel.series.push_back(line);
        panel.series.push_back(points);
    }
    return panel;
}

int occupancy_of(const std::filesystem::path& root, std::string_view profile) {
    return static_cast<int>(*shipped(root, profile).limits.warps);
}

constexpr std::array experiment_gpus = {std::pair{"Fermi", "nvidia-tesla-c2050"},
                                        std::pair{"Kepler", "nvidia-gtx-650-ti"},
                                        std::pair{"Pascal", "nvidia-gtx-1060"}};

}  // namespace

Made analysis_figure_11(const std::filesystem::path&) {
    std::vector<KernelItem> body = {test::instruction("type1_1", "mul.f32", {"type2@-1"})};
    for (int i = 2; i <= 4; ++i)
        body.push_back(test::instruction(fmt::format("type1_{}", i), "mul.f32",
                                         {fmt::format("type1_{}", i - 1)}));
    body.push_back(test::instruction("type2", "cos.approx.f32", {"type1_4"}));
    return {"", {}, {{"analysis-figure-11", graph_svg(test::kernel({test::repeat(256, body)}))}}};
}

Made analysis_figure_15(const std::filesystem::path& root) {
    return {"",
            {},
            {{"analysis-figure-15",
              graph_svg(read_kernel(root / "sim/kernels/iterative_barrier.yaml"))}}};
}

Made analysis_table_4(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    for (const Gpu& gpu : gpus) {
        const GpuProfile profile = shipped(root, gpu.profile);
        const Mix mix = mix_of(root, gpu.profile);
        rows.push_back({std::string(gpu.name), std::string(gpu.architecture), number(mix.alu),
                        number(profile.find_instruction("mul.f32")->cpi.value), number(mix.sfu),
                        number(profile.find_instruction("cos.approx.f32")->cpi.value),
                        number(mix.issue_limit), number(*profile.issue.limit)});
    }
    return {table({"GPU", "architecture", "λ_ALU, Table 4", "λ mul.f32, profile", "λ_SFU, Table 4",
                   "λ cos.approx.f32, profile", "IL, Table 4", "IL, profile"},
                  rows)};
}

Made analysis_figure_12(const std::filesystem::path& root) {
    const Mix mix = mix_of_figure_12(root);
    constexpr int warps = 48;
    std::vector<Cells> rows;
    for (const int beta : shown_betas) {
        Cells cells = {std::to_string(beta)};
        for (const Law law : {Law::one_subsystem, Law::two_subsystems, Law::two_with_issue_limit})
            cells.push_back(fmt::format("{:.4f} ({:.4f})", mix_simulated(law, mix, beta, warps),
                                        mix_law(law, mix, beta)));
        cells.push_back(fmt::format(
            "{:.4f}", mix_simulated(Law::two_with_issue_limit, mix, beta, warps, true)));
        rows.push_back(cells);
    }
    return {table({"β", "one subsystem", "two subsystems", "two, IL = 1",
                   "the same with `select: warp`"},
                  rows),
            {{"analysis-figure-12",
              {.description = "Instruction mix with λ1 = 1, λ2 = 4 and IL = 1: equations 43 to 45 "
                              "and the simulation.",
               .panels = {mix_panel("λ1 = 1, λ2 = 4, IL = 1", mix, warps)},
               .width = 640,
               .height = 430}}}};
}

Made analysis_figure_13(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    plot::Picture picture{.description =
                              "Instruction mix with the parameters of six GPUs: the "
                              "three laws and the simulation.",
                          .columns = 3,
                          .width = 1320,
                          .height = 900};
    for (const Gpu& gpu : gpus) {
        const Mix mix = mix_of(root, gpu.profile);
        const int warps = occupancy_of(root, gpu.profile);
        picture.panels.push_back(
            mix_panel(fmt::format("{} ({})", gpu.name, gpu.architecture), mix, warps));
        Cells cells = {std::string(gpu.name)};
        double worst = 0;
        for (int beta = 1; beta <= most_beta; ++beta) {
            const double found = mix_simulated(Law::two_with_issue_limit, mix, beta, warps);
            const double want = mix_law(Law::two_with_issue_limit, mix, beta);
            if (std::abs(found / want - 1) > std::abs(worst)) worst = found / want - 1;
            if (std::ranges::find(shown_betas, beta) != shown_betas.end())
                cells.push_back(fmt::format("{:.4f} ({:.4f})", found, want));
        }
        cells.push_back(percent(worst));
        rows.push_back(cells);
    }
    return {table({"GPU", "β = 1", "2", "4", "8", "16", "worst of all 16"}, rows),
            {{"analysis-figure-13", picture}}};
}

Made analysis_table_5(const std::filesystem::path& root) {
    const auto published = csv_rows(root / "tests/data/lemeire-analysis/table-5.csv");
    std::vector<Cells> rows;
    for (std::size_t r = 1; r < published.size(); ++r) {
        const std::string op =
            published[r][0] == "ld.local.s32" ? "ld.shared.s32" : published[r][0];
        Cells cells = {op};
        for (const Gpu& gpu : gpus) {
            const GpuProfile profile = shipped(root, gpu.profile);
            const InstructionTiming* const timing = profile.find_instruction(op);
            cells.push_back(
                timing ? fmt::format("{} / {}", timing->cpi.value, timing->latency->value) : "–");
        }
        rows.push_back(cells);
    }
    Cells header = {"λ / Λ, profiles"};
    for (const Gpu& gpu : gpus) header.emplace_back(gpu.architecture);
    return {table(header, rows)};
}

Made analysis_table_6(const std::filesystem::path& root) {
    const auto published = csv_rows(root / "tests/data/lemeire-analysis/table-6.csv");
    std::vector<Cells> rows;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
        const GpuProfile profile = shipped(root, gpus[i].profile);
        const InstructionTiming& load = *profile.find_instruction("ld.global.s32");
        const double bytes = profile.warp_size * 4;
        const double law = profile.cores * bytes / load.cpi.value * profile.clock_hz / 1e9;
        const int warps = static_cast<int>(*profile.limits.warps);
        const double cycles = chain_cycles(load.cpi.value, load.latency->value, {1, warps}, 1024);
        const double simulated =
            profile.cores * bytes * 1024 * warps / cycles * profile.clock_hz / 1e9;
        const Cells& row = published[i + 1];
        const double clock = std::stod(row[1]) / law * profile.clock_hz / 1e6;
        rows.push_back(
            {std::string(gpus[i].name), row[1], fmt::format("{:.1f}", law),
             percent(law / std::stod(row[1]) - 1), fmt::format("{:.1f}", simulated), row[2],
             row[3] + " %", fmt::format("{:.1f} %", 100 * law / std::stod(row[2])),
             fmt::format("{:.0f}", profile.clock_hz / 1e6), fmt::format("{:.0f}", clock)});
    }
    return {table({"GPU", "published [GB/s]", "cores · bytes / λ · clock", "difference",
                   "simulated, all warps", "bandwidth, published", "efficiency, published",
                   "efficiency, ours", "clock [MHz]", "clock that the paper's number means"},
                  rows)};
}

Made analysis_figure_16(const std::filesystem::path& root) {
    const Kernel kernel = read_kernel(root / "sim/kernels/iterative_barrier.yaml");
    std::vector<Cells> rows;
    plot::Picture picture{.description =
                              "Simulated performance of the iterative barrier kernel, "
                              "sorted by occupancy, then by group size.",
                          .columns = 1,
                          .width = 900,
                          .height = 860};
    for (const auto& [name, file] : {experiment_gpus[0], experiment_gpus[2]}) {
        const GpuProfile profile = shipped(root, file);
        const std::vector<Shape> all = barrier_shapes(profile);
        plot::Figure panel{.title = name,
                           .x = {"combination, by occupancy, then by group size"},
                           .y = {"computations per cycle", plot::Scale::linear, 0},
                           .key = plot::Key::below};
        plot::Series order{.mark = plot::Mark::line, .style = plot::guide, .points = {}};
        std::array<plot::Series, 6> sizes;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const double found = barrier_performance(profile, kernel, all[i]);
            order.points.push_back({static_cast<double>(i + 1), found});
            const auto size = static_cast<std::size_t>(std::log2(all[i].group_warps));
            sizes[size].points.push_back({static_cast<double>(i + 1), found});
        }
        panel.series.push_back(order);
        for (std::size_t size = 0; size < sizes.size(); ++size) {
            sizes[size].name = fmt::format("{} threads", 32 << size);
            sizes[size].style = static_cast<int>(size);
            panel.series.push_back(sizes[size]);
        }
        picture.panels.push_back(panel);
        for (const int warps : {1, 8, 16, 32, 48, 64}) {
            if (warps > *profile.limits.warps) continue;
            Cells cells = {fmt::format("{}, {} {}", name, warps, warps == 1 ? "warp" : "warps")};
            for (const int size : {1, 2, 4, 8, 16, 32}) {
                const bool fits = warps % size == 0 && warps / size <= *profile.limits.groups;
                cells.push_back(
                    fits ? fmt::format("{:.4f}",
                                       barrier_performance(profile, kernel, {size, warps / size}))
                         : "–");
            }
            rows.push_back(cells);
        }
    }
    return {table({"computations per cycle at groups of", "32 threads", "64", "128", "256", "512",
                   "1024"},
                  rows),
            {{"analysis-figure-16", picture}}};
}

Made analysis_table_8(const std::filesystem::path& root) {
    const auto published = csv_rows(root / "tests/data/lemeire-analysis/table-8.csv");
    const Kernel barrier = read_kernel(root / "sim/kernels/iterative_barrier.yaml");
    constexpr int beta = 4;
    constexpr std::array shown = {1, 2, 4, 8, 16, 32};
    plot::Picture picture{.description =
                              "Simulated curves behind Table 8: the instruction mix "
                              "with β = 4 and the barrier kernel over occupancy.",
                          .columns = 2,
                          .width = 1000,
                          .height = 380};
    plot::Figure mixes{.title = "instruction mix, β = 4",
                       .x = {"warps per core"},
                       .y = {"ALU instructions per cycle", plot::Scale::linear, 0},
                       .key = plot::Key::below};
    plot::Figure barriers{.title = "barrier kernel, groups of 32 threads",
                          .x = {"warps per core"},
                          .y = {"computations per cycle", plot::Scale::linear, 0},
                          .key = plot::Key::below};
    std::vector<Cells> rows;
    for (std::size_t g = 0; g < experiment_gpus.size(); ++g) {
        const auto& [name, file] = experiment_gpus[g];
        const GpuProfile profile = shipped(root, file);
        const Mix mix = mix_of(root, file);
        const int most = static_cast<int>(*profile.limits.warps);
        const int groups = static_cast<int>(*profile.limits.groups);
        plot::Series curve{name, plot::Mark::line, static_cast<int>(g), {}};
        plot::Series synchronised = curve;
        for (int warps = 1; warps <= most; ++warps)
            curve.points.push_back({static_cast<double>(warps),
                                    mix_simulated(Law::two_with_issue_limit, mix, beta, warps)});
        for (int warps = 1; warps <= std::min(most, groups); ++warps)
            synchronised.points.push_back(
                {static_cast<double>(warps), barrier_performance(profile, barrier, {1, warps})});
        mixes.series.push_back(curve);
        barriers.series.push_back(synchronised);
        Cells cells = {fmt::format("instruction mix, {}", name), published[1][g + 1] + " %"};
        for (const int warps : shown)
            cells.push_back(
                fmt::format("{:.4f}", mix_simulated(Law::two_with_issue_limit, mix, beta, warps)));
        cells.push_back(fmt::format("{:.4f}", curve.points.back().y));
        rows.push_back(cells);
    }
    for (std::size_t g = 0; g < experiment_gpus.size(); ++g) {
        const auto& [name, file] = experiment_gpus[g];
        const GpuProfile profile = shipped(root, file);
        Cells cells = {fmt::format("barrier kernel, {}", name), published[2][g + 1] + " %"};
        // In the largest number of groups of one warp that fits, else in larger groups.
        const auto performance = [&](int warps) {
            for (int size = 1; size <= 32; size *= 2)
                if (warps % size == 0 && warps / size <= *profile.limits.groups)
                    return fmt::format("{:.4f}{}",
                                       barrier_performance(profile, barrier, {size, warps / size}),
                                       size > 1 ? fmt::format(" ({}×{})", warps / size, size) : "");
            return std::string("–");
        };
        for (const int warps : shown) cells.push_back(performance(warps));
        cells.push_back(performance(static_cast<int>(*profile.limits.warps)));
        rows.push_back(cells);
    }
    picture.panels = {mixes, barriers};
    return {table({"instructions per cycle at warps per core", "MAPE, published", "1", "2", "4",
                   "8", "16", "32", "all"},
                  rows),
            {{"analysis-table-8", picture}}};
}

}  // namespace occupipe::papers
