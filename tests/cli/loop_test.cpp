// SPDX-License-Identifier: MIT
// The program from end to end on a model device, where the right answers are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli::testing {
namespace {

class Loop : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder / name).string(); }

    test::TemporaryFolder own;
    const std::filesystem::path& folder = own.path;
};

void expect_recovered(const Estimate& found, const Estimate& truth, const std::string& what) {
    EXPECT_TRUE(found.identifiable()) << what << ": " << found.note;
    ASSERT_TRUE(found.std_error.has_value()) << what;
    const double allowed = std::max(3 * *found.std_error, 0.02 * truth.value);
    EXPECT_NEAR(found.value, truth.value, allowed) << what;
}

TEST_F(Loop, CharacterizeRecoversEveryLambdaOfTheModelDevice) {
    const std::string profile = "profiles/nvidia-gtx-1060.yaml";
    std::vector<std::string> command = {
        "characterize", "--device", "model:" + profile + "?noise=0.02&seed=7", "-o", path("out")};
    if (!thinned::all_cases()) command.emplace_back("--quick");
    const auto run = run_program(command);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const GpuProfile truth = read_profile(std::filesystem::path(OCCUPIPE_SOURCE_DIR) / profile);
    const GpuProfile found = read_profile(path("out/profile.yaml"));
    for (const InstructionTiming& timing : truth.instructions) {
        const InstructionTiming* fitted = found.find_instruction(timing.name);
        ASSERT_NE(fitted, nullptr) << timing.name;
        expect_recovered(fitted->cpi, timing.cpi, timing.name + " λ");
        expect_recovered(fitted->latency.value(), timing.latency.value(), timing.name + " Λ");
    }
    for (const char* file : {"measurements.json", "profile.yaml"}) {
        EXPECT_EQ(run_program({"check", path(std::string("out/") + file)}).exit_code, 0) << file;
    }
    // Nobody may take it for hardware.
    for (const char* file : {"summary.md", "measurements.json", "profile.yaml"}) {
        const std::string text = read_text_file(path(std::string("out/") + file));
        EXPECT_TRUE(text.find("not hardware") != std::string::npos ||
                    text.find("not of hardware") != std::string::npos)
            << file;
    }
}

TEST_F(Loop, StagesMeetInFilesAndAgreeWithTheOneCommand) {
    const std::string device = "model:profiles/nvidia-tesla-c2050.yaml?noise=0.01&seed=3";
    const std::string some = "mul.f32,cos.approx.f32,mix(mul.f32*4,cos.approx.f32)";
    ASSERT_EQ(run_program({"measure", "--device", device, "--quick", "--instructions", some, "-o",
                           path("m.json")})
                  .exit_code,
              0);
    ASSERT_EQ(run_program({"fit", path("m.json"), "-o", path("p.yaml")}).exit_code, 0);
    ASSERT_EQ(run_program({"characterize", "--device", device, "--quick", "--instructions", some,
                           "-o", path("c")})
                  .exit_code,
              0);
    const GpuProfile by_stages = read_profile(path("p.yaml"));
    const GpuProfile by_one = read_profile(path("c/profile.yaml"));
    EXPECT_EQ(by_stages.instructions, by_one.instructions);
    const auto compared =
        run_program({"compare", path("m.json"), "--profile", path("p.yaml"), "--json"});
    EXPECT_EQ(compared.exit_code, 0) << compared.err;
    EXPECT_TRUE(nlohmann::json::accept(compared.out)) << compared.out;
}

TEST_F(Loop, InterruptedMeasuringGoesOnToTheSameNumbers) {
    const std::vector<std::string> words = {
        "measure", "--device", "model:profiles/nvidia-tesla-c2050.yaml?noise=0.01&seed=3",
        "--instructions", "mul.*,div.*"};
    const auto measure = [&](const std::string& name, double interrupt_after) {
        auto all = words;
        all.insert(all.end(), {"-o", path(name)});
        return run_program(all, {}, interrupt_after);
    };
    ASSERT_EQ(measure("straight.json", 0).exit_code, 0);
    const auto first = measure("stopped.json", 0.3);
    if (first.exit_code == 0) GTEST_SKIP() << "finished before it could be interrupted";
    if (first.exit_code == 1) {
        EXPECT_NE(first.err.find("run the same command again"), std::string::npos) << first.err;
        EXPECT_TRUE(std::filesystem::exists(path("stopped.json.partial")));
        EXPECT_FALSE(std::filesystem::exists(path("stopped.json")));
    }  // else the signal came before the measuring had begun
    ASSERT_EQ(measure("stopped.json", 0).exit_code, 0);
    const auto a = read_measurements(path("straight.json"));
    const auto b = read_measurements(path("stopped.json"));
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i)
        EXPECT_EQ(a.rows[i].cycles, b.rows[i].cycles) << a.rows[i].name();
}

TEST_F(Loop, AnExistingProfileIsKeptUnlessForced) {
    const std::string device = "model:profiles/nvidia-tesla-c2050.yaml";
    ASSERT_EQ(run_program({"measure", "--device", device, "--quick", "--instructions", "mul.f32",
                           "-o", path("m.json")})
                  .exit_code,
              0);
    write_text_file(path("p.yaml"), "precious", Overwrite::no);
    EXPECT_EQ(run_program({"fit", path("m.json"), "-o", path("p.yaml")}).exit_code, 2);
    EXPECT_EQ(read_text_file(path("p.yaml")), "precious");
    EXPECT_EQ(run_program({"fit", path("m.json"), "-o", path("p.yaml"), "--force"}).exit_code, 0);
    EXPECT_NE(read_text_file(path("p.yaml")), "precious");
}

TEST_F(Loop, PredictOfAChainIsTheModelsEquationForEveryWarpCount) {
    constexpr int steps = 40;  // N
    write_text_file(
        path("chain.yaml"),
        "format: occupipe-kernel/1\nname: chain\ninstructions:\n  - repeat: 40\n    body:\n"
        "      - {id: a, op: mul.f32, after: [a@-1]}\n",
        Overwrite::no);
    const auto run =
        run_program({"predict", path("chain.yaml"), "--profile", "profiles/nvidia-gtx-1060.yaml",
                     "--policy", "lrr", "--group-warps", "1", "--occupancy", "all", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    constexpr double lambda = 0.25;
    constexpr double latency = 6;
    int seen = 0;
    for (const auto& prediction : json["predictions"]) {
        const double w = prediction["warps"];
        const double groups = prediction["groups_per_core"];
        if (groups != prediction["concurrent_groups"]) continue;  // more than one wave
        const double expected = w <= latency / lambda ? steps * latency + (w - 1) * lambda
                                                      : latency + (steps * w - 1) * lambda;
        EXPECT_DOUBLE_EQ(prediction["cycles"], expected) << w;
        ++seen;
    }
    EXPECT_GE(seen, 32);
}

}  // namespace
}  // namespace occupipe::cli::testing
