// SPDX-License-Identifier: MIT
// Lemeire et al., "Analysis of the analytical performance models for GPUs": its example kernel in
// all models (Figures 2 and 14), WFG's failures (Figure 6), and Table 7.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <sstream>

#include "core/files/files.h"
#include "sim/models/kernel_analysis.h"
#include "sim/models/registry.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

const std::filesystem::path root = OCCUPIPE_SOURCE_DIR;

std::vector<std::vector<std::string>> rows_of(const char* file) {
    std::istringstream text(read_text_file(root / "tests" / "data" / "lemeire-analysis" / file));
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(text, line);) {
        if (line.empty() || line[0] == '#') continue;
        rows.emplace_back();
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
    }
    return rows;
}

struct Known {
    double value = 0;
    double tolerance = 0;
};

Known known(const std::string& quantity) {
    for (const auto& row : rows_of("example-kernel.csv"))
        if (row[0] == quantity) return {std::stod(row[1]), std::stod(row[2])};
    throw InputError("example-kernel.csv has no " + quantity);
}

void expect_known(const std::string& quantity, double value) {
    const Known expected = known(quantity);
    EXPECT_NEAR(value, expected.value, expected.tolerance * expected.value) << quantity;
}

Launch warps_at_once(int warps) {
    return {.group_warps = 1, .concurrent_groups = warps, .groups = warps};
}

Prediction example(std::string_view model, int warps) {
    return find_model(model).predict(read_profile(root / "sim/kernels/example_gpu.yaml"),
                                     read_kernel(root / "sim/kernels/example.yaml"),
                                     warps_at_once(warps), {});
}

double value_of(const Prediction& prediction, const std::string& name) {
    for (const ModelValue& value : prediction.values)
        if (value.name == name) return value.value;
    throw InputError(prediction.model + " gives no " + name);
}

using Curve = std::map<int, double>;  // ω -> WPC

Curve curve(std::string_view model) {
    Curve points;
    for (int warps = 1; warps <= 10; ++warps) points[warps] = example(model, warps).warps_per_cycle;
    return points;
}

constexpr double roof = 0.25;

TEST(ExampleKernel, HasTheNumbersOfTheText) {
    const KernelAnalysis analysis =
        analyse(Problem(read_profile(root / "sim/kernels/example_gpu.yaml"),
                        read_kernel(root / "sim/kernels/example.yaml"), warps_at_once(1)));
    expect_known("CI", analysis.totals.compute_intensity());
    expect_known("WPC_roof", example("roofline", 1).warps_per_cycle);
    expect_known("WPC_roof", example("boat-hull", 1).warps_per_cycle);
    expect_known("Lambda_app", example("volkov", 1).cycles);
    expect_known("MWP", value_of(example("mwp-cwp", 10), "MWP"));
    expect_known("CWP", value_of(example("mwp-cwp", 10), "CWP"));
    EXPECT_EQ(example("mwp-cwp", 10).limited_by, "mem");  // section 2.3.2: memory bound
    EXPECT_EQ(example("mwp-cwp", 3).limited_by, "latency");
}

TEST(ExampleKernel, ReachesVolkovsRoofAtSevenWarps) {
    const Curve volkov = curve("volkov");
    const int ridge = static_cast<int>(known("volkov_ridge").value);
    EXPECT_LT(volkov.at(ridge - 1), roof);
    for (int warps = 1; warps < ridge; ++warps)
        EXPECT_DOUBLE_EQ(volkov.at(warps), warps / known("Lambda_app").value);
    EXPECT_EQ(volkov.at(ridge), roof);
}

// The equations with the example's numbers, by hand: eq. 26 and 28 with ω = 10 and 2.
TEST(ExampleKernel, TakesTheCyclesOfTheEquations) {
    EXPECT_DOUBLE_EQ(example("mwp-cwp", 10).cycles_per_run, 2 * 10 * 2 + 2 * 3);
    EXPECT_DOUBLE_EQ(example("mwp-cwp-hong-kim", 10).cycles_per_run, 2 * 10 * 2 + 2 * (3 - 1));
    EXPECT_DOUBLE_EQ(example("mwp-cwp", 2).cycles_per_run, 2 * 6 + 4 * 1 + 2 * 1);
    EXPECT_DOUBLE_EQ(example("mwp-cwp-corrected", 2).cycles_per_run, 25 + 2 * 1);
    // GPUMech: two intervals of n 2 and s 6; issue probability 4/16; ω = 5.
    EXPECT_DOUBLE_EQ(example("gpumech-rr", 5).cycles_per_run, 2 * (2 + 6 + 0.25 * 4 * 1));
    EXPECT_DOUBLE_EQ(example("gpumech-rr-corrected", 5).cycles_per_run, 2 * (2 + 6 + 4 * 2 - 4));
    EXPECT_DOUBLE_EQ(example("gpumech-gto", 5).cycles_per_run, 2 * (2 + 6 + 1 * 2 * 4 - 6));
    // MDM: the same, and half or all of the five warps' requests of λ 2.
    EXPECT_DOUBLE_EQ(example("mdm", 5).cycles_per_run, 2 * (2 + 6 + 1 * 2 * 4 - 6 + 5 * 2 / 2));
    EXPECT_DOUBLE_EQ(example("mdm-divergent", 5).cycles_per_run,
                     2 * (2 + 6 + 1 * 2 * 4 - 6 + 5 * 2));
    // WFG at ω = 3: blocks 2·max(1, 5/6) and 2·max(1, 4/3), NBC (4/6 + 4 + 2)/3, λ_mem^instr 1.
    const double blocks = 2 + 8.0 / 3;
    EXPECT_DOUBLE_EQ(example("wfg", 3).cycles_per_run,
                     3 * (blocks + 2 * (6 - 2 * (blocks + 2) / 3)));
}

// Figure 2 as its text describes it (sections 2.2 to 2.5).
TEST(Figure2, OrdersTheOriginalModelsAsTheTextSays) {
    const Curve volkov = curve("volkov");
    const Curve mwp_cwp = curve("mwp-cwp");
    const Curve wfg = curve("wfg");
    const Curve rr = curve("gpumech-rr");
    const Curve gto = curve("gpumech-gto");
    for (int warps = 1; warps <= 4; ++warps)  // 2.3.2: higher at low occupancy
        EXPECT_GT(mwp_cwp.at(warps), volkov.at(warps)) << warps;
    for (int warps = 6; warps <= 10; ++warps) EXPECT_LT(mwp_cwp.at(warps), volkov.at(warps));
    for (int warps = 1; warps <= 10; ++warps) {  // 2.4.4: slightly above for ω = 3 and 4 only
        if (warps == 3 || warps == 4) {
            EXPECT_GT(wfg.at(warps), volkov.at(warps)) << warps;
            EXPECT_LT(wfg.at(warps), 1.1 * volkov.at(warps)) << warps;
        } else {
            EXPECT_LE(wfg.at(warps), volkov.at(warps) * (1 + 1e-12)) << warps;
        }
    }
    EXPECT_GT(rr.at(10), 1.5 * roof);  // 2.5: through the roof
    for (int warps = 1; warps <= 10; ++warps) {
        EXPECT_GE(gto.at(warps), volkov.at(warps) * (1 - 1e-12)) << warps;  // 2.5.2
        EXPECT_LE(gto.at(warps), roof * (1 + 1e-12)) << warps;
    }
    EXPECT_NEAR(gto.at(10), roof, 1e-12);
}

// Figure 14 as its text describes it (section 5.1).
TEST(Figure14, VolkovIsAboveTheCorrectedModelsThatSeeComputationsLatencies) {
    const Curve volkov = curve("volkov");
    for (const char* model : {"mwp-cwp-corrected", "wfg-corrected", "pipeline", "transit"})
        for (const auto& [warps, throughput] : curve(model))
            EXPECT_LE(throughput, volkov.at(warps) * (1 + 1e-9)) << model << warps;
    for (const char* model : {"mwp-cwp-corrected", "wfg-corrected", "pipeline"})
        EXPECT_DOUBLE_EQ(curve(model).at(1), volkov.at(1)) << model;
}

TEST(Figure14, CorrectedRoundRobinStaysBelowTheRoof) {
    for (const auto& [warps, throughput] : curve("gpumech-rr-corrected")) {
        EXPECT_LE(throughput, roof * (1 + 1e-12)) << warps;
        if (warps <= 5) {  // footnote 2
            EXPECT_GT(throughput, curve("volkov").at(warps)) << warps;
        }
    }
}

// Section 5.1: a real scheduler idles, which flattens the curve below all the others.
TEST(Figure14, ThePipelineModelIsTheFlattest) {
    const Curve pipeline = curve("pipeline");
    for (const char* model : {"mwp-cwp-corrected", "wfg-corrected", "gpumech-rr-corrected"}) {
        const Curve other = curve(model);
        for (int warps = 2; warps <= 10; ++warps)
            EXPECT_LT(pipeline.at(warps), other.at(warps)) << model << warps;
    }
}

// One block of computations and one access; λ is neglected in the paper.
class Figure6 : public testing::Test {
protected:
    static double cycles(std::string_view model, const std::vector<std::string>& row, int warps) {
        constexpr double negligible = 0.001;
        const GpuProfile profile = gpu({{"add", negligible, std::stod(row[1]), "alu"},
                                        {"ld.x", negligible, std::stod(row[2]), "mem"}});
        const Kernel pair = kernel({instruction("a", "add"), instruction("m", "ld.x", {"a"})});
        return find_model(model).predict(profile, pair, warps_at_once(warps), {}).cycles_per_run;
    }
    static std::vector<std::vector<std::string>> cases() {
        auto rows = rows_of("figure-6.csv");
        rows.erase(rows.begin());
        return rows;
    }
};

TEST_F(Figure6, TheOriginalWfgFollowsEquation40) {
    ASSERT_EQ(cases().size(), 3U);
    for (const auto& row : cases()) {
        const double comp = std::stod(row[1]);
        const double mem = std::stod(row[2]);
        for (int warps = 1; warps <= 4; ++warps) {
            if (mem - (warps - 1) * comp / (2 * warps) <= 0.01) continue;  // nothing is exposed
            const double equation_40 = comp + mem * warps - (warps - 1) * comp / 2;
            EXPECT_NEAR(cycles("wfg", row, warps), equation_40, 0.01 * equation_40)
                << "case " << row[0] << " at " << warps;
        }
    }
}

TEST_F(Figure6, TheOriginalFailsAndTheCorrectionMendsIt) {
    for (const auto& row : cases()) {
        const double volkov = std::stod(row[3]);
        const double one = cycles("wfg", row, 1);
        const double three = cycles("wfg", row, 3);
        EXPECT_NEAR(one, volkov, 0.01 * volkov);
        if (row[4] == "falls") {
            EXPECT_LT(three, 0.8 * one) << "run time falls with more warps";
        } else if (row[4] == "explodes") {
            EXPECT_GT(three, 2 * one) << "run time explodes";
        } else {
            EXPECT_GT(three, one);
        }
        for (int warps = 1; warps <= 10; ++warps) {
            EXPECT_NEAR(cycles("wfg-corrected", row, warps), volkov, 0.01 * volkov)
                << "case " << row[0] << " at " << warps;
            EXPECT_NEAR(cycles("volkov", row, warps), volkov, 0.01 * volkov);
        }
    }
}

TEST(Table7, OurMarksAreThePapersButForTheNotedOnes) {
    const auto rows = rows_of("table-7.csv");
    const auto aspects = model_aspects();
    ASSERT_EQ(rows.size(), aspects.size() + 1);
    for (std::size_t a = 0; a < aspects.size(); ++a) {
        ASSERT_EQ(rows[a + 1][0], aspects[a].name);
        for (std::size_t m = 1; m < rows[0].size(); ++m) {
            const bool ours = rows[a + 1][m].back() == 'Y';
            EXPECT_EQ(find_model(rows[0][m]).aspects.*aspects[a].member, ours)
                << rows[0][m] << ' ' << aspects[a].name;
        }
    }
}

}  // namespace
}  // namespace occupipe::test
