// SPDX-License-Identifier: MIT
// Lemeire, Cornelis, Konstantinidis: Analysis of the Analytical Performance Models for GPUs; the
// models and the example kernel: Tables 1, 2 and 7, Figures 1 to 9 and 14.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files/files.h"
#include "report/timelines/timeline_svg.h"
#include "sim/engine/simulate.h"
#include "sim/models/registry.h"
#include "sim/observers/timeline.h"
#include "tests/papers/drawings.h"
#include "tests/papers/experiments.h"
#include "tests/papers/made.h"
#include "tests/sim/build.h"

namespace occupipe::papers {
namespace {

using Cells = std::vector<std::string>;

constexpr int most_warps = 10;  // the figures' axes

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::vector<std::string> warps_header(std::string first) {
    Cells header = {std::move(first)};
    for (int warps = 1; warps <= most_warps; ++warps) header.push_back(std::to_string(warps));
    return header;
}

// A row and a line per model.
Made model_curves(const std::filesystem::path& root, const std::string& name,
                  const std::string& title, const std::vector<std::string>& models) {
    std::vector<Cells> rows;
    plot::Figure figure{.title = title,
                        .x = {"occupancy in warps"},
                        .y = {"warps per cycle", plot::Scale::linear, 0},
                        .key = plot::Key::outside};
    int style = 0;
    for (const std::string& model : models) {
        Cells cells = {model};
        plot::Series series{model, plot::Mark::line_and_points, style++, {}};
        for (int warps = 1; warps <= most_warps; ++warps) {
            const double throughput = example(root, model, warps).warps_per_cycle;
            cells.push_back(fmt::format("{:.4f}", throughput));
            series.points.push_back({static_cast<double>(warps), throughput});
        }
        rows.push_back(cells);
        figure.series.push_back(series);
    }
    return {table(warps_header("warps per cycle at ω ="), rows),
            {{name,
              {.description = title + ": throughput over occupancy, by model.",
               .panels = {figure},
               .width = 820,
               .height = 400}}}};
}

struct Profiled {
    std::string svg;
    double cycles = 0;
    double comp = 0;  // busy share
    double mem = 0;
    double idle_before_last =
        0;  // cycles without an issue to the memory between its first and last
};

Profiled execution_profile(const std::filesystem::path& root, int warps) {
    const GpuProfile profile = read_profile(root / "sim/kernels/example_gpu.yaml");
    const Kernel kernel = read_kernel(root / "sim/kernels/example.yaml");
    sim::TimelineView view(10'000);
    const SimulationResult run = simulate(
        profile, kernel, {.group_warps = warps, .concurrent_groups = 1, .groups = 1}, {}, view);
    Profiled made{.svg = report::timeline_svg(view), .cycles = run.cycles};
    for (const Bound& bound : run.bounds)
        (bound.name == "comp" ? made.comp : made.mem) = bound.utilisation;
    double first = -1;
    double last = 0;
    int accesses = 0;
    const auto& layout = view.layout();
    for (const auto& entry : view.entries()) {
        const auto& stream =
            layout.programs[layout.program_of[static_cast<std::size_t>(entry.warp)]]
                .streams[static_cast<std::size_t>(entry.stream)];
        if (layout.machine.subsystems[stream.subsystem].name != "mem") continue;
        const double at = run.scale.to_cycles(entry.issued);
        if (first < 0) first = at;
        last = at;
        ++accesses;
    }
    made.idle_before_last = last - first - 2.0 * (accesses - 1);  // λ 2
    return made;
}

Made execution_profiles(const std::filesystem::path& root, const std::string& name, int fewer,
                        int more) {
    std::vector<Cells> rows;
    Made made;
    for (const int warps : {fewer, more}) {
        const Profiled profiled = execution_profile(root, warps);
        rows.push_back({std::to_string(warps), number(profiled.cycles),
                        fmt::format("{:.4f}", warps / profiled.cycles),
                        fmt::format("{:.1f} %", 100 * profiled.comp),
                        fmt::format("{:.1f} %", 100 * profiled.mem),
                        number(profiled.idle_before_last)});
        made.drawings.push_back({fmt::format("{}-{}-warps", name, warps), profiled.svg});
    }
    made.markdown = table({"warps", "cycles", "warps per cycle", "computation busy", "memory busy",
                           "memory idle between its first and last access [cycles]"},
                          rows);
    return made;
}

}  // namespace

Made analysis_table_1(const std::filesystem::path&) {
    struct Member {
        const char* group;
        const char* paper;
        const char* ours;  // names of models, or why there is none
        bool exists;
    };
    static constexpr std::array members = {
        Member{"Roofline", "Williams et al.", "roofline", true},
        Member{"Roofline", "Boat Hull model", "boat-hull", true},
        Member{"Roofline", "Konstantinidis and Cotronis", "quantitative-roofline", true},
        Member{"Volkov", "Volkov", "volkov", true},
        Member{"Volkov", "Transit", "transit", true},
        Member{"Volkov", "X-model", "x-model", true},
        Member{"MWP-CWP", "Hong and Kim", "mwp-cwp", true},
        Member{"MWP-CWP", "GPUPerf", "gpuperf", true},
        Member{"WFG", "Baghsorkhi et al.", "wfg", true},
        Member{"GPUMech", "Huang et al.", "gpumech-rr", true},
        Member{"GPUMech", "MDM", "mdm", true}};
    std::vector<Cells> rows;
    for (const Member& member : members)
        rows.push_back(
            {member.group, member.paper, fmt::format("`{}`", find_model(member.ours).name)});
    return {table({"class", "member", "`--model`"}, rows)};
}

Made analysis_table_2(const std::filesystem::path& root) {
    const GpuProfile profile = read_profile(root / "sim/kernels/example_gpu.yaml");
    const Prediction volkov = example(root, "volkov", 1);
    std::vector<Cells> rows;
    const auto row = [&](const char* symbol, double value) {
        rows.push_back({symbol, number(value)});
    };
    const InstructionTiming& comp = *profile.find_instruction("compute");
    const InstructionTiming& mem = *profile.find_instruction("memory");
    row("λ_comp", comp.cpi.value);
    row("Λ_comp", comp.latency->value);
    row("BW", 1 / mem.cpi.value);
    row("λ_mem", mem.cpi.value);
    row("Λ_mem", mem.latency->value);
    row("Λ_app (section 2.2)", volkov.cycles);
    return {table({"symbol", "here"}, rows)};
}

Made analysis_figure_1(const std::filesystem::path& root) {
    return {
        "", {}, {{"analysis-figure-1", graph_svg(read_kernel(root / "sim/kernels/example.yaml"))}}};
}

Made analysis_figure_2(const std::filesystem::path& root) {
    return model_curves(root, "analysis-figure-2", "example kernel, original models",
                        {"roofline", "volkov", "mwp-cwp", "wfg", "gpumech-rr", "gpumech-gto"});
}

Made analysis_figure_14(const std::filesystem::path& root) {
    return model_curves(root, "analysis-figure-14", "example kernel, corrected models",
                        {"volkov", "mwp-cwp-corrected", "wfg-corrected", "gpumech-rr-corrected",
                         "gpumech-gto", "pipeline"});
}

Made analysis_figure_3(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    for (int warps = 1; warps <= most_warps; ++warps) {
        const double k = transit_crossing(warps);
        rows.push_back(
            {std::to_string(warps), number(k), number(warps - k),
             fmt::format("{:.4f}", std::min(transit_memory(k), transit_compute(warps - k))),
             fmt::format("{:.4f}", example(root, "transit", warps).warps_per_cycle)});
    }
    constexpr double warps = 5;
    plot::Figure figure{.title = "Transit, ω = 5",
                        .x = {"x: warps that compute (k = 5 − x wait for memory)"},
                        .y = {"warps per cycle", plot::Scale::linear, 0},
                        .key = plot::Key::outside};
    plot::Series compute{"demand: computation at x", plot::Mark::line, 0, {}};
    plot::Series memory{"supply: memory at k", plot::Mark::line, 1, {}};
    for (int i = 0; i <= 50; ++i) {
        const double x = warps * i / 50;
        compute.points.push_back({x, transit_compute(x)});
        memory.points.push_back({x, transit_memory(warps - x)});
    }
    const double k = transit_crossing(warps);
    figure.series = {
        compute, memory, {"crossing", plot::Mark::points, 2, {{warps - k, transit_memory(k)}}}};
    return {table({"ω", "k (eq. 11)", "x", "warps per cycle (eq. 6, 7)", "model `transit`"}, rows),
            {{"analysis-figure-3",
              {.description = "Transit: where the memory's supply and the computation's demand "
                              "cross for five warps.",
               .panels = {figure},
               .width = 760,
               .height = 360}}}};
}

Made analysis_figure_4(const std::filesystem::path&) {
    constexpr int count = 4;
    const auto left = mwp_cwp_accesses(count);
    const auto right = pipeline_accesses(count);
    std::vector<Cells> rows;
    for (std::size_t i = 0; i < left.size(); ++i)
        rows.push_back({std::to_string(i + 1), fmt::format("{} – {}", left[i].start, left[i].end),
                        fmt::format("{} – {}", right[i].start, right[i].end)});
    return {table({"access", "MWP-CWP [cycles]", "Pipeline, simulated [cycles]"}, rows),
            {},
            {{"analysis-figure-4",
              accesses_svg({{"MWP-CWP: three at once", left}, {"Pipeline: λ apart", right}})}}};
}

Made analysis_figure_5(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    for (int warps = 1; warps <= most_warps; ++warps) {
        const WfgArcs arcs = wfg_arcs(warps);
        double model = 0;
        for (const ModelValue& value : example(root, "wfg", warps).values)
            if (value.name == "cycles per warp") model = value.value;
        rows.push_back({std::to_string(warps), number(arcs.block_1), number(arcs.block_2),
                        number(arcs.memory_transition), number(arcs.memory_dependence),
                        number(arcs.cycles_per_warp()), number(model)});
    }
    return {table({"ω", "c1, c2 (eq. 30)", "c3, c4 (eq. 30)", "m, transition (eq. 34)",
                   "m, dependence (eq. 36)", "a warp's cycles", "model `wfg` (ILP 1.6)"},
                  rows)};
}

Made analysis_figure_6(const std::filesystem::path& root) {
    std::vector<Cells> rows;
    plot::Picture picture{.description =
                              "Cycles per run of the original and the corrected WFG "
                              "model in the paper's three cases.",
                          .columns = 3,
                          .width = 1080,
                          .height = 340};
    for (const auto& one : csv_rows(root / "tests/data/lemeire-analysis/figure-6.csv")) {
        if (one[0] == "case") continue;
        const double comp = std::stod(one[1]);
        const double mem = std::stod(one[2]);
        plot::Figure panel{
            .title = fmt::format("case {}: computation {}, memory {}", one[0], comp, mem),
            .x = {"warps"},
            .y = {"cycles per run", plot::Scale::linear, 0},
            .key = plot::Key::below};
        int style = 0;
        for (const char* model : {"wfg", "wfg-corrected", "volkov"}) {
            Cells cells = {fmt::format("{}: {} / {}", one[0], comp, mem), model};
            plot::Series series{model, plot::Mark::line_and_points, style++, {}};
            for (int warps = 1; warps <= most_warps; ++warps) {
                const double cycles = figure_6(model, comp, mem, warps);
                cells.push_back(fmt::format("{:.1f}", cycles));
                series.points.push_back({static_cast<double>(warps), cycles});
            }
            rows.push_back(cells);
            panel.series.push_back(series);
        }
        picture.panels.push_back(panel);
    }
    Cells header = warps_header("case: computation / memory");
    header.insert(header.begin() + 1, "cycles per run at ω =");
    return {table(header, rows), {{"analysis-figure-6", picture}}};
}

// Five warps of one computation and one access. With Λ_comp = 3 λ_comp two warps hide the
// computation's latency, as in the paper's drawing, and the next two part of the access's.
Made analysis_figure_7(const std::filesystem::path&) {
    constexpr double comp = 3;
    const GpuProfile profile = test::gpu({{"compute", 1, comp, "comp"}, {"memory", 1, 6, "mem"}});
    const Kernel pair =
        test::kernel({test::instruction("c", "compute"), test::instruction("m", "memory", {"c"})});
    sim::TimelineView view(1000);
    simulate(profile, pair, {.group_warps = 5, .concurrent_groups = 1, .groups = 1}, {}, view);
    std::vector<Cells> rows;
    for (const auto& entry : view.entries()) {
        const auto at = static_cast<double>(entry.issued);
        if (entry.stream != 0) continue;
        rows.push_back({std::to_string(rows.size() + 1), number(at),
                        at == 0     ? "–"
                        : at < comp ? "the first warp's computation"
                                    : "the first warp's access"});
    }
    return {table({"warp", "computation issues at", "hides latency of"}, rows),
            {},
            {{"analysis-figure-7", report::timeline_svg(view)}}};
}

Made analysis_figure_8(const std::filesystem::path& root) {
    return execution_profiles(root, "analysis-figure-8", 1, 2);
}

Made analysis_figure_9(const std::filesystem::path& root) {
    return execution_profiles(root, "analysis-figure-9", 4, 10);
}

Made analysis_table_7(const std::filesystem::path& root) {
    const auto rows = csv_rows(root / "tests/data/lemeire-analysis/table-7.csv");
    std::vector<Cells> made;
    for (std::size_t a = 1; a < rows.size(); ++a) {
        const ModelAspect& aspect = model_aspects()[a - 1];
        Cells cells = {rows[a][0]};
        for (std::size_t m = 1; m < rows[0].size(); ++m)
            cells.push_back(fmt::format("{} / {}", rows[a][m].substr(0, 1),
                                        find_model(rows[0][m]).aspects.*aspect.member ? "Y" : "N"));
        made.push_back(cells);
    }
    Cells header = rows[0];
    header[0] = "aspect, published / here";
    return {table(header, made)};
}

}  // namespace occupipe::papers
