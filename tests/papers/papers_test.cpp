// SPDX-License-Identifier: MIT
// The experiments of docs/background/reproductions.md against equations and numbers of the papers,
// and against hand calculations. Those that have golden tests of their own are not repeated here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "sim/models/registry.h"
#include "sim/observers/timeline.h"
#include "tests/papers/experiments.h"
#include "tests/papers/made.h"
#include "tests/sim/build.h"

namespace occupipe::papers {
namespace {

const std::filesystem::path root = OCCUPIPE_SOURCE_DIR;

std::vector<Shape> shapes_of(std::string_view gpu) {
    return gpu == "Fermi" ? shapes(shipped(root, "nvidia-tesla-c2050"), fermi_memory)
                          : shapes(shipped(root, "nvidia-gtx-1060"), pascal_memory);
}

TEST(PipelineLaunches, AreAsManyAsSectionIvAPublishes) {
    EXPECT_EQ(shapes_of("Fermi").size(), 34U);
    EXPECT_EQ(warp_counts(shapes_of("Fermi")), 18U);
    EXPECT_EQ(shapes_of("Pascal").size(), 78U);
    EXPECT_EQ(warp_counts(shapes_of("Pascal")), 43U);
}

TEST(PipelineTable2, HasThePublishedTimings) {
    // Table II, typed a second time.
    const std::vector<std::tuple<std::string, std::string, double, double>> published = {
        {"fadd", "Fermi", 1, 18},     {"fadd", "Pascal", 0.25, 6},  {"cos", "Fermi", 8, 40},
        {"cos", "Pascal", 1, 14},     {"loop", "Fermi", 4, 58},     {"loop", "Pascal", 1.75, 29},
        {"memory", "Fermi", 23, 521}, {"memory", "Pascal", 12, 378}};
    const auto found = microbenchmarks(root);
    ASSERT_EQ(found.size(), published.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_EQ(std::tuple(std::string(found[i].name), std::string(found[i].gpu), found[i].cpi,
                             found[i].latency),
                  published[i]);
}

TEST(PipelineTable2, SimulatedHullsAreEquation1AtEveryCombination) {
    constexpr int n = 256;
    for (const Microbenchmark& b : microbenchmarks(root))
        for (const Shape& shape : shapes_of(b.gpu)) {
            // Equation 1 once more, as two bounds of which the larger holds.
            const int w = shape.warps();
            const double expected =
                std::max(n * b.latency + (w - 1) * b.cpi, b.latency + (double{n} * w - 1) * b.cpi);
            EXPECT_NEAR(chain_cycles(b.cpi, b.latency, shape, n), expected, 1e-9 * expected)
                << b.name << ' ' << b.gpu << ' ' << shape.groups << " groups of "
                << shape.group_warps;
            EXPECT_NEAR(equation_1(b.cpi, b.latency, w, n), expected, 1e-9 * expected);
        }
}

TEST(PipelineFigure1, OneWarpOfSaxpyTakesThePapersSum) {
    const Kernel saxpy = read_kernel(root / "sim/kernels/saxpy.yaml");
    // Table 5 and Table III by hand: Λ_index 18 and 12, λ / Λ of memory 23 / 475 and 12 / 345, Λ of
    // the multiply-add 18 and 6.
    EXPECT_DOUBLE_EQ(simulate(shipped(root, "nvidia-tesla-c2050"), saxpy, {}).cycles,
                     18 + 475 + 23 + 18 + 23);
    EXPECT_DOUBLE_EQ(simulate(shipped(root, "nvidia-gtx-1060"), saxpy, {}).cycles,
                     12 + 345 + 12 + 6 + 12);
}

TEST(PipelineFigure2, StreamsRiseToTheBandwidthOfTable6) {
    const Made made = pipeline_figure_2(root);
    ASSERT_EQ(made.curves.size(), 1U);
    const plot::Figure& panel = made.curves[0].picture.panels.at(0);
    ASSERT_EQ(panel.series.size(), 2U);
    // GB/s by hand: cores · 128 · f / λ is 89.6 and 160.6 (Table 6); one warp has 128 / Λ a core.
    const std::vector<std::tuple<double, double, double>> devices = {
        {89.6, 14 * 128 * 1.15 / 521, 521.0 / 23}, {160.6, 10 * 128 * 1.506 / 378, 378.0 / 12}};
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const auto& [peak, slope, ridge] = devices[i];
        for (const plot::Point& p : panel.series[i].points) {
            const double expected = std::min(peak, p.x * slope);
            EXPECT_NEAR(p.y, expected, 0.005 * expected) << panel.series[i].name << ' ' << p.x;
            EXPECT_LE(p.y, peak + 0.05);
        }
        EXPECT_GT(panel.series[i].points.back().x, ridge);
    }
}

// By hand (docs/background/reproductions.md): an iteration of one warp occupies local memory for 2
// · tile reads and 2 stores, global memory for A and B.
TEST(PipelineFigure3, NoPointIsAboveWhatTheBusiestUnitAllows) {
    struct Row {
        const char* gpu;
        int tile;
        double clock_ghz, cores, reads, conflict, store, global;
    };
    for (const Row& row : {Row{"fermi", 8, 1.15, 14, 2, 16, 2, 20 + 45},
                           Row{"fermi", 16, 1.15, 14, 2, 16, 2, 13 + 17},
                           Row{"pascal", 8, 1.506, 10, 1, 7, 1, 7 + 8},
                           Row{"pascal", 16, 1.506, 10, 1, 7, 1, 6 + 10}})
        for (const bool conflicts : {false, true}) {
            const double iteration = std::max(
                2 * row.tile * (conflicts ? row.conflict : row.reads) + 2 * row.store, row.global);
            // One iteration of a warp: 2 · 32 · tile operations.
            const double most = row.cores * row.clock_ghz * 64 * row.tile / iteration;
            const auto runs = multiply(root, {row.gpu, row.tile, conflicts});
            for (const MultiplicationRun& run : runs)
                EXPECT_LE(run.gflops, 1.0000001 * most)
                    << row.gpu << row.tile << ' ' << run.shape.groups;
            EXPECT_GT(runs.back().gflops, runs.front().gflops);
            if (conflicts) {
                EXPECT_GT(runs.back().gflops, 0.99 * most);
            }
        }
}

TEST(AnalysisTable1, EveryClassHasItsMembers) {
    for (const char* name : {"roofline", "boat-hull", "quantitative-roofline", "volkov", "transit",
                             "x-model", "mwp-cwp", "gpuperf", "wfg", "gpumech-rr", "mdm"})
        EXPECT_NE(analysis_table_1(root).markdown.find(fmt::format("`{}`", name)),
                  std::string::npos)
            << name;
}

// Equations 8 and 11 and theorem 1, without a roof: Σ Λ = 4·4 + 2·6 = 28.
TEST(AnalysisFigure3, SupplyMeetsDemandAndTheModelFindsTheSamePoint) {
    for (int warps = 1; warps <= 6; ++warps) {
        const double k = transit_crossing(warps);
        EXPECT_NEAR(transit_memory(k), transit_compute(warps - k), 1e-12);
        EXPECT_NEAR(transit_memory(k), warps / 28.0, 1e-12);
        EXPECT_NEAR(example(root, "transit", warps).warps_per_cycle, warps / 28.0, 1e-9);
    }
    EXPECT_NEAR(transit_crossing(5), 15.0 / 7, 1e-12);
    EXPECT_NEAR(example(root, "transit", 10).warps_per_cycle, 0.25, 1e-9);
}

TEST(AnalysisFigure4, TheFourthAccessWaitsInBothModelsForItsOwnReason) {
    const auto mwp = mwp_cwp_accesses(4);
    const auto ours = pipeline_accesses(4);
    ASSERT_EQ(ours.size(), 4U);
    const std::array<double, 4> mwp_starts = {0, 1, 2, 6};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(mwp[i].start, mwp_starts[i]);
        EXPECT_EQ(ours[i].start, 2.0 * static_cast<double>(i));
        EXPECT_EQ(ours[i].end, ours[i].start + 6);
    }
    // The text: the first three finish faster than the bandwidth allows, 1/λ.
    EXPECT_LT(mwp[2].end - mwp[0].end, 2 * 2);
}

TEST(AnalysisFigure5, ArcsByHandAddUpToTheModel) {
    // ω = 1: c1, c2 2·4/2, c3, c4 2·4, exposed 6. ω = 4: both blocks at λ, CYC_comp 6, exposed 0.
    EXPECT_EQ(wfg_arcs(1).block_1, 4);
    EXPECT_EQ(wfg_arcs(1).block_2, 8);
    EXPECT_EQ(wfg_arcs(1).memory_dependence, 6);
    EXPECT_EQ(wfg_arcs(4).block_1, 2);
    EXPECT_EQ(wfg_arcs(4).memory_dependence, 0);
    for (int warps = 1; warps <= 10; ++warps) {
        double model = 0;
        for (const ModelValue& value : example(root, "wfg", warps).values)
            if (value.name == "cycles per warp") model = value.value;
        // The block alone takes λ + Λ = 5 of 2 · 4 cycles: ILP 1.6, which counts below the roof.
        EXPECT_NEAR(wfg_arcs(warps, 1.6).cycles_per_warp(), model, 1e-9) << warps;
        if (warps >= 3) {
            EXPECT_NEAR(wfg_arcs(warps).cycles_per_warp(), model, 1e-9) << warps;
        }
    }
}

// Warps 2 and 3 overlap with the computation of warp 1, only warps 4 and 5 with its access.
TEST(AnalysisFigure7, TwoWarpsHideTheComputationAndTwoTheAccess) {
    const std::string text = analysis_figure_7(root).markdown;
    const auto count = [&](const std::string& words) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; ++at) ++found;
        return found;
    };
    EXPECT_EQ(count("the first warp's computation"), 2U);
    EXPECT_EQ(count("the first warp's access"), 2U);
}

// Every execution profile, checked against the definition without the simulator's help: pipelines
// take one instruction each λ, results come after Λ, and no pipeline idles while one is ready.
TEST(AnalysisFigures8And9, ExecutionProfilesObeyTheDefinition) {
    // Figure 1: c1, c2 → m1 → c3 → c4 → m2.
    const std::array<std::vector<int>, 6> after = {{{}, {}, {0, 1}, {2}, {3}, {4}}};
    const std::array<bool, 6> memory = {false, false, true, false, false, true};
    const std::map<int, double> cycles = {{1, 25}, {2, 28}, {4, 35}, {10, 58}};
    for (const auto& [warps, expected] : cycles) {
        sim::TimelineView view(1000);
        const SimulationResult run =
            simulate(read_profile(root / "sim/kernels/example_gpu.yaml"),
                     read_kernel(root / "sim/kernels/example.yaml"),
                     {.group_warps = 1, .concurrent_groups = warps, .groups = warps}, {}, view);
        EXPECT_EQ(run.cycles, expected) << warps;
        std::map<std::pair<int, int>, double> issued;  // warp, instruction → cycle
        std::map<bool, std::set<double>> taken;
        for (const auto& entry : view.entries()) {
            const double at = run.scale.to_cycles(entry.issued);
            issued[{static_cast<int>(entry.group), entry.stream}] = at;
            EXPECT_TRUE(taken[memory[static_cast<std::size_t>(entry.stream)]].insert(at).second);
        }
        ASSERT_EQ(issued.size(), 6U * static_cast<std::size_t>(warps));
        for (const auto& [kind, times] : taken) {
            double last = -2;
            for (const double at : times) {
                EXPECT_GE(at - last, kind ? 2 : 1) << warps;
                last = at;
            }
        }
        for (const auto& [key, at] : issued) {
            const auto instruction = static_cast<std::size_t>(key.second);
            double ready = 0;
            for (const int before : after[instruction])
                ready = std::max(ready, issued[{key.first, before}] +
                                            (memory[static_cast<std::size_t>(before)] ? 6 : 4));
            EXPECT_GE(at, ready) << warps;
            // Whenever it was ready and waited, its pipeline was taken.
            for (double t = ready; t < at; ++t) {
                const std::set<double>& times = taken[memory[instruction]];
                const bool busy =
                    times.contains(t) || (memory[instruction] && times.contains(t - 1));
                EXPECT_TRUE(busy) << warps << " warps, cycle " << t;
            }
        }
    }
}

// 128 (Tonga 256) bytes · cores · clock / λ of Table 5, by hand.
TEST(AnalysisTable6, FollowsFromTable5WhereThePapersGiveTheClock) {
    const std::map<std::string, double> by_hand = {{"Fermi", 128 * 14 * 1.150 / 23},
                                                   {"Maxwell", 128 * 3 * 1.058 / 18},
                                                   {"Pascal", 128 * 10 * 1.506 / 12}};
    for (const auto& row : csv_rows(root / "tests/data/lemeire-analysis/table-6.csv")) {
        const double published = row[0] == "architecture" ? 0 : std::stod(row[1]);
        if (const auto found = by_hand.find(row[0]); found != by_hand.end()) {
            EXPECT_NEAR(found->second, published, 0.05) << row[0];
            EXPECT_NE(analysis_table_6(root).markdown.find(fmt::format("{:.1f}", found->second)),
                      std::string::npos)
                << row[0];
        }
        if (published >
            0) {  // the table's own arithmetic: throughput / bandwidth; Turing's is 79.8
            EXPECT_NEAR(100 * published / std::stod(row[2]), std::stod(row[3]),
                        row[0] == "Turing" ? 0.8 : 0.15)
                << row[0];
        }
    }
}

TEST(AnalysisTable8, CurvesEndOnTheLawOfTheMixAndStartAtOneWarpAlone) {
    // One warp alone: β · Λ_ALU + Λ_SFU cycles for β = 4 ALU instructions (Table 5).
    const std::map<std::string, std::pair<double, double>> ends = {
        {"Fermi", {4 / (4 * 18.0 + 40), 0.5}},
        {"Kepler", {4 / (4 * 9.0 + 18), 3.2}},
        {"Pascal", {4 / (4 * 6.0 + 15), 3.2}}};
    const Made made = analysis_table_8(root);
    for (const plot::Series& series : made.curves.at(0).picture.panels.at(0).series) {
        const auto& [first, last] = ends.at(series.name);
        EXPECT_NEAR(series.points.front().y, first, 0.001 * first) << series.name;
        EXPECT_NEAR(series.points.back().y, last, 0.005 * last) << series.name;
    }
}

TEST(AnalysisTable9, OurKernelsReachWhatTheLimitsAllow) {
    const std::string text = analysis_table_9(root).markdown;
    for (const auto& row : csv_rows(root / "tests/data/lemeire-analysis/table-9.csv"))
        if (row[0] != "kernel") {
            EXPECT_NE(text.find(row[0]), std::string::npos) << row[0];
        }
}

// MAPE and MAPE_shape once more, from the curves of Figures 17 and 18: section 6.3's formulas with
// a least-squares line of their own.
TEST(AnalysisTables10To12, ErrorsAreThoseOfTheCurves) {
    int compared = 0;
    for (const char* device : {"quadro-k620", "gtx-1060"}) {
        std::map<std::pair<std::string, std::string>, std::map<double, double>> curves;
        for (const auto& row : csv_rows(root / "docs/background/reproductions" /
                                        fmt::format("suite-curves-{}.csv", device)))
            if (row[0] != "kernel") curves[{row[0], row[2]}][std::stod(row[1])] = std::stod(row[3]);
        for (const auto& row : csv_rows(root / "docs/background/reproductions" /
                                        fmt::format("suite-{}.csv", device))) {
            const auto model = curves.find({row[0], row[4]});
            if (model == curves.end()) continue;
            const auto& real = curves.at({row[0], "measured"});
            const auto n = static_cast<double>(real.size());
            ASSERT_EQ(model->second.size(), real.size());
            double x = 0, y = 0, xx = 0, xy = 0, mape = 0;
            for (const auto& [warps, throughput] : real) {
                const double d = model->second.at(warps) - throughput;
                x += warps, y += d, xx += warps * warps, xy += warps * d;
                mape += 100 * std::abs(d) / throughput / n;
            }
            const double slope = (n * xy - x * y) / (n * xx - x * x);
            const double offset = (y - slope * x) / n;
            double shape = 0;
            for (const auto& [warps, throughput] : real)
                shape += 100 *
                         std::abs(model->second.at(warps) - throughput - offset - slope * warps) /
                         throughput / n;
            EXPECT_NEAR(std::stod(row[5]), mape, 0.001 * mape + 0.001) << row[0] << ' ' << row[4];
            EXPECT_NEAR(std::stod(row[6]), shape, 0.001 * shape + 0.001) << row[0] << ' ' << row[4];
            ++compared;
        }
    }
    EXPECT_EQ(compared, 4 * 8);
}

TEST(AnalysisTables10To12, PublishedMeansAreThoseOfThePapersLastRow) {
    // Tables 10 and 11 print 22 / 8.1, 36 / 13.4, 23 / 5.2 and 44 / 9.3.
    const std::string text = analysis_tables_10_to_12(root).markdown;
    for (const char* mean : {"21.8 / 8.1", "35.6 / 13.4", "22.9 / 5.2", "43.7 / 9.3"})
        EXPECT_NE(text.find(mean), std::string::npos) << mean;
}

}  // namespace
}  // namespace occupipe::papers
