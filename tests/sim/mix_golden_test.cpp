// SPDX-License-Identifier: MIT
// The instruction mix benchmark of "Analysis of the Analytical Performance Models for GPUs": the
// simulation against the three theoretical curves of its Figures 12 and 13.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/files/files.h"
#include "sim/engine/simulate.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

const std::string source_dir = OCCUPIPE_SOURCE_DIR;
constexpr int repetitions = 256;    // as the paper's section 6.1
constexpr double tolerance = 0.01;  // the worst is 0.5 %

enum class Law { one_subsystem, two_subsystems, two_with_issue_limit };

struct Row {
    std::string profile;
    double alu = 0;
    double sfu = 0;
    double issue_limit = 0;
    int warps = 0;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.profile; }

std::vector<Row> table_4() {
    std::istringstream lines(
        read_text_file(source_dir + "/tests/data/lemeire-analysis/table-4.csv"));
    std::vector<Row> rows;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with('#') || line.starts_with("profile,")) continue;
        std::replace(line.begin(), line.end(), ',', ' ');
        Row row;
        std::istringstream(line) >> row.profile >> row.alu >> row.sfu >> row.issue_limit >>
            row.warps;
        rows.push_back(row);
    }
    return rows;
}

// Equations 43 to 45 with the second bound as it must be [type 1 instructions per cycle].
double theory(Law law, const Row& row, int beta) {
    if (law == Law::one_subsystem) return beta / (beta * row.alu + row.sfu);
    const double two = std::min(1 / row.alu, beta / row.sfu);
    if (law == Law::two_subsystems) return two;
    return std::min(two, row.issue_limit * beta / (beta + 1));
}

GpuProfile machine(Law law, const Row& row) {
    const std::string file = row.profile == "figure-12" ? "nvidia-tesla-c2050" : row.profile;
    const GpuProfile shipped = read_profile(source_dir + "/profiles/" + file + ".yaml");
    const auto latency = [&](const char* op) {
        return shipped.find_instruction(op)->latency->value;
    };
    const std::string second = law == Law::one_subsystem ? "alu" : "sfu";
    return gpu({{"mul.f32", row.alu, latency("mul.f32"), "alu"},
                {"cos.approx.f32", row.sfu, latency("cos.approx.f32"), second}},
               law == Law::two_with_issue_limit ? std::optional(row.issue_limit) : std::nullopt);
}

// Figure 11: β of type 1, then one of type 2, each after the one before it.
Kernel mix(int beta) {
    std::vector<KernelItem> body = {instruction("a1", "mul.f32", {"c@-1"})};
    for (int i = 2; i <= beta; ++i)
        body.push_back(instruction(fmt::format("a{}", i), "mul.f32", {fmt::format("a{}", i - 1)}));
    body.push_back(instruction("c", "cos.approx.f32", {fmt::format("a{}", beta)}));
    return kernel({repeat(repetitions, body)});
}

double simulated(Law law, const Row& row, int beta, const SimulationOptions& options = {}) {
    const Launch launch{.group_warps = 1, .concurrent_groups = row.warps, .groups = row.warps};
    const double cycles = simulate(machine(law, row), mix(beta), launch, options).cycles;
    return double{1} * row.warps * repetitions * beta / cycles;
}

class MixGolden : public testing::TestWithParam<Row> {};

void expect_curve(Law law, const Row& row) {
    for (int beta = 1; beta <= 16; ++beta) {
        const double want = theory(law, row, beta);
        EXPECT_NEAR(simulated(law, row, beta), want, tolerance * want) << "beta " << beta;
    }
}

TEST_P(MixGolden, FollowsTheLawOfOneSubsystem) { expect_curve(Law::one_subsystem, GetParam()); }

TEST_P(MixGolden, FollowsTheLawOfTwoSubsystems) { expect_curve(Law::two_subsystems, GetParam()); }

TEST_P(MixGolden, FollowsTheLawOfTwoSubsystemsWithIssueLimit) {
    expect_curve(Law::two_with_issue_limit, GetParam());
}

// Where warps look for subsystems the law is only a bound: the window goes to the next warp of the
// ring, also when the unit that limits stands idle for another (docs/background/reproductions.md).
TEST_P(MixGolden, OfWarpsThatLookForSubsystemsStaysBelowTheLawOfTheIssueLimit) {
    for (int beta = 1; beta <= 16; ++beta) {
        const double found =
            simulated(Law::two_with_issue_limit, GetParam(), beta, {.select = Select::warp});
        EXPECT_LE(found, theory(Law::two_with_issue_limit, GetParam(), beta)) << "beta " << beta;
        EXPECT_GE(found, theory(Law::one_subsystem, GetParam(), beta)) << "beta " << beta;
    }
}

// The difference, by hand: two warps of a (λ = Λ = 1), c (λ = Λ = 2), IL = 1. The law allows a pair
// each 2 cycles.
// Warps look for subsystems:
//   t = 0 a of warp 0; 1 a of warp 1, next in the ring, though c of warp 0 is ready; 2 c of warp 0;
//   4 c of warp 1; 5 a of warp 0; 6 a of warp 1, while the unit of c stands idle; 7 c of warp 0; 9
//   c of warp 1: five cycles each two pairs, and the last c of warp 1 issues at 4 + 5(N-1).
// Subsystems look for warps:
//   t = 0 a of warp 0; 1 c of warp 0, since alu had its turn; 2 a of warp 1; 3 c of warp 1, 4 a of
//   warp 0, and so on: two cycles each pair.
TEST(MixKnownAnswer, TheUnitThatLimitsWaitsForTheWindowOnlyWhereWarpsLookForSubsystems) {
    const GpuProfile profile = gpu({{"a", 1, 1, "alu"}, {"c", 2, 2, "sfu"}}, 1);
    const Kernel pairs =
        kernel({repeat(100, {instruction("a", "a", {"c@-1"}), instruction("c", "c", {"a"})})});
    const Launch launch{.group_warps = 1, .concurrent_groups = 2, .groups = 2};
    EXPECT_EQ(simulate(profile, pairs, launch, {.select = Select::warp}).cycles, 4 + 5 * 99 + 2);
    EXPECT_EQ(simulate(profile, pairs, launch, {.select = Select::subsystem}).cycles,
              1 + 2 * 199 + 2);
}

std::string test_name(const testing::TestParamInfo<Row>& tested) {
    std::string made = tested.param.profile;
    std::replace(made.begin(), made.end(), '-', '_');
    return made;
}

INSTANTIATE_TEST_SUITE_P(Table4, MixGolden, testing::ValuesIn(table_4()), test_name);

TEST(MixGoldenTable, HasSixGpusAndTheExample) { EXPECT_EQ(table_4().size(), 7U); }

}  // namespace
}  // namespace occupipe::test
