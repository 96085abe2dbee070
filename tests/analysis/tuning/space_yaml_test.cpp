// SPDX-License-Identifier: MIT
// A space in YAML is the same value as one in a tuner's format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/tuning/space.h"

namespace occupipe::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string yaml = R"yaml(format: occupipe-space/1
source: blur.cu
kernel: blur
compiler_options: [-std=c++17]
tunables:
  bx: [16, 32, 64]
  tile: [1, 2]
  type: [float, half]
restrictions:
  - bx * tile <= 64
problem_size: [1000, 30]
block: [bx, 4]
grid_divisors:
  x: [bx, tile]
  y: 4
shared_bytes: 4 * bx
arguments:
  - {name: out, type: f32, size: "problem_size[0] * problem_size[1]"}
  - {name: in, type: u8, size: 1000, fill: "random(0, 255)"
}
  - {name: weights, type: f32, size: 9, fill: ones, symbol: true}
  - {name: n, type: i32, value: 1000}
)yaml";

TuningSpace space(const std::string& from = {}, const std::string& to = {}) {
    std::string text = yaml;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return parse_tuning_space(text, "spaces/blur.yaml");
}

std::string fault(const std::string& from, const std::string& to) {
    try {
        space(from, to);
        return "none";
    } catch (const InputError& error) {
        return error.what();
    }
}

const Configuration one = {{"bx", 32}, {"tile", 2}, {"type", std::string("half")}};

TEST(SpaceYaml, ALaunchIsThatOfItsConfiguration) {
    const TunedLaunch made = launch_of(space(), one);
    EXPECT_EQ(made.plan.source, "spaces/blur.cu");
    EXPECT_THAT(made.compiler_options,
                ElementsAre("-std=c++17", "-Dbx=32", "-Dtile=2", "-Dtype=half"));
    const auto& launch = std::get<KernelLaunch>(made.plan.steps.front());
    EXPECT_EQ(launch.kernel, "blur");
    EXPECT_THAT(launch.block, ElementsAre(32, 4, 1));
    EXPECT_THAT(launch.grid, ElementsAre(16, 8, 1));  // 1000 / 64 and 30 / 4, rounded up
    EXPECT_EQ(launch.shared_bytes, 128U);
    ASSERT_EQ(made.plan.buffers.size(), 3U);
    EXPECT_EQ(made.plan.buffers[0].count, 30000U);
    EXPECT_EQ(made.plan.buffers[0].fill.kind, BufferFill::Kind::zeros);
    EXPECT_EQ(made.plan.buffers[1].fill.kind, BufferFill::Kind::random);
    EXPECT_EQ(made.plan.buffers[1].fill.high, "255");
    ASSERT_EQ(made.plan.symbols.size(), 1U);
    EXPECT_EQ(made.plan.symbols[0].name, "weights");
    EXPECT_EQ(launch.arguments.back().text, "1000");
    EXPECT_TRUE(excluded_by(space(), {{"bx", 64}, {"tile", 2}, {"type", std::string("half")}}));
    EXPECT_FALSE(excluded_by(space(), one));
}

TEST(SpaceYaml, AGridInGroupsAndTemplates) {
    TuningSpace made =
        space("grid_divisors:\n  x: [bx, tile]\n  y: 4\n", "grid: [1024 // bx, 7]\n");
    made.kernel = "blur<bx, 3, type>";
    const TunedLaunch launched = launch_of(made, one);
    const auto& launch = std::get<KernelLaunch>(launched.plan.steps.front());
    EXPECT_THAT(launch.grid, ElementsAre(32, 7, 1));
    EXPECT_EQ(launch.kernel, "blur<32, 3, half>");
}

TEST(SpaceYaml, FaultsNameFileLineAndKey) {
    EXPECT_EQ(fault("occupipe-space/1", "occupipe-space/2"),
              "spaces/blur.yaml:1:9: format: must be occupipe-space/1");
    EXPECT_THAT(fault("[1, 2]", "[]"), HasSubstr("blur.yaml:7:9: tunables.tile: has no value"));
    EXPECT_THAT(fault("[1, 2]", "[1, 1.0]"), HasSubstr("tunables.tile: has 1 twice"));
    EXPECT_THAT(fault("type: u8", "type: u7"), HasSubstr("is not an element type"));
    EXPECT_THAT(fault("fill: ones", "fill: threes"), HasSubstr("'threes' is not a fill"));
    EXPECT_THAT(fault("fill: ones", "fill: \"values(1)\""), HasSubstr("must not list values"));
    EXPECT_THAT(fault("value: 1000", "value: 1e30"), HasSubstr("blur.yaml:22"));
    EXPECT_THAT(fault("value: 1000", "value: 1000, size: 3"), HasSubstr("not both"));
    EXPECT_THAT(fault("block: [bx, 4]", "block: [1, 2, 3, 4]"), HasSubstr("one to three sizes"));
    EXPECT_THAT(fault("restrictions:", "conditions:"), HasSubstr("conditions"));
    EXPECT_THAT(fault("shared_bytes: 4 * bx", "grid: 7"), HasSubstr("grid_divisors divide"));
    EXPECT_THAT(fault("problem_size: [1000, 30]", "problem_size: [n]"),
                HasSubstr("blur.yaml:11:16: problem_size"));
}

}  // namespace
}  // namespace occupipe::analysis
