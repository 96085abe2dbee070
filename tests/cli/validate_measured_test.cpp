// SPDX-License-Identifier: MIT
// validate --measured: a tuner's configurations are predicted as `predict` predicts them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

using cli::testing::no_nvrtc;
using cli::testing::program_has_nvrtc;
using cli::testing::ProgramRun;
using cli::testing::run_program;
using testing::HasSubstr;

constexpr const char* text = R"(__constant__ float weights[4];
extern "C" __global__ void blur(float* out, const float* in) {
    const int x = (blockIdx.x * bx + threadIdx.x) * tile;
    for (int i = 0; i < tile; ++i)
        if (x + i < 1000) out[x + i] = weights[i & 3] * in[x + i];
}
)";

constexpr const char* space = R"({
 "ConfigurationSpace": {
  "TuningParameters": [{"Name": "bx", "Values": "[32, 64, 128]"},
                       {"Name": "tile", "Values": "[1, 2]"}],
  "Conditions": [{"Expression": "bx * tile <= 128"}]},
 "KernelSpecification": {
  "Language": "CUDA", "KernelName": "blur", "KernelFile": "blur.cu",
  "LocalSize": {"X": "bx", "Y": "1", "Z": "1"}, "GridDivX": ["bx", "tile"],
  "ProblemSize": [1000],
  "Arguments": [
   {"Name": "out", "Type": "float", "MemoryType": "Vector", "FillType": "Constant",
    "FillValue": 0.0, "Size": "ProblemSize[0]"},
   {"Name": "in", "Type": "float", "MemoryType": "Vector", "FillType": "Constant",
    "FillValue": 1.0, "Size": "ProblemSize[0]"},
   {"Name": "weights", "Type": "float", "MemoryType": "Vector", "MemType": "Constant",
    "FillType": "Constant", "FillValue": 1.0, "Size": "4"}]}})";

struct Files {
    explicit Files(const std::string& times) {
        write_text_file(folder.path / "blur.cu", text, Overwrite::no);
        write_text_file(folder.path / "t1.json", space, Overwrite::no);
        write_text_file(folder.path / "times.csv", times, Overwrite::no);
    }
    std::string path(const char* name) const { return (folder.path / name).string(); }
    ProgramRun validate(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words = {"validate", "--measured",    path("times.csv"),
                                          "--launch", path("t1.json"), "--profile",
                                          "a100"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }
    TemporaryFolder folder;
};

TEST(ValidateMeasured, PredictsAsPredictDoes) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files("bx,tile,time_us\n32,1,2\n64,2,4\n128,2,9\n128,1,failed\n");
    const ProgramRun held = files.validate({"--json", "-o", files.path("out")});
    ASSERT_EQ(held.exit_code, 0) << held.err;
    const auto json = nlohmann::json::parse(held.out);
    EXPECT_EQ(json["measured"], 2);
    EXPECT_EQ(json["failed_there"], 1);
    EXPECT_EQ(json["excluded_by_space"], 1);
    ASSERT_EQ(json["configurations"].size(), 2U);
    const auto& one = json["configurations"][1];
    EXPECT_EQ(one["configuration"]["bx"], "64");
    EXPECT_DOUBLE_EQ(one["measured_seconds"], 4e-6);
    const ProgramRun predicted =
        run_program({"predict", files.path("blur.cu"), "--profile", "a100", "--grid", "8",
                     "--block", "64", "--args", "out=f32[1000] in=f32[1000]:ones", "--compiler",
                     "option=-Dbx=64", "--compiler", "option=-Dtile=2", "--json"});
    ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
    const auto alone = nlohmann::json::parse(predicted.out);
    EXPECT_EQ(one["predicted_seconds"]["pipeline"], alone["predictions"][0]["seconds"]);
    EXPECT_EQ(one["limited_by"], alone["predictions"][0]["limited_by"]);
    EXPECT_LT(one["interval_seconds"][0], one["predicted_seconds"]["pipeline"]);
    EXPECT_GT(one["interval_seconds"][1], one["predicted_seconds"]["pipeline"]);
    const double measured[] = {2e-6, 4e-6};
    double mape = 0;
    for (int i = 0; i < 2; ++i)
        mape += std::abs(json["configurations"][i]["predicted_seconds"]["pipeline"].get<double>() /
                             measured[i] -
                         1) /
                2;
    EXPECT_NEAR(json["models"]["pipeline"]["mape"], mape, 1e-12);
    EXPECT_TRUE(std::filesystem::exists(files.path("out/configurations.csv")));
    EXPECT_TRUE(std::filesystem::exists(files.path("out/scores.json")));
}

TEST(ValidateMeasured, ARefusedConfigurationIsARowWithItsReason) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const Files files("bx,tile,time_us\n32,1,2\n");
    write_text_file(files.path("blur.cu"), "broken", Overwrite::yes);
    const ProgramRun held = files.validate();
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("no configuration can be predicted; the first: "));
    EXPECT_THAT(held.err, HasSubstr("blur.cu: does not compile for sm_80"));
    write_text_file(files.path("blur.cu"), std::string("#if bx == 64\n#error no\n#endif\n") + text,
                    Overwrite::yes);
    write_text_file(files.path("times.csv"), "bx,tile,clock,time_us\n32,1,2100,2\n64,1,2100,3\n",
                    Overwrite::yes);
    const ProgramRun some = files.validate();
    EXPECT_EQ(some.exit_code, 0) << some.err;
    EXPECT_THAT(some.err, HasSubstr("times.csv: clock=2100: no tunable of"));
    EXPECT_THAT(some.out, HasSubstr("1 configuration refused: "));
}

TEST(ValidateMeasured, BadInputIsNamed) {
    const Files files("bx,tile,time_us\n48,1,2\n");
    ProgramRun held = files.validate();
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("times.csv: no configuration of"));
    write_text_file(files.path("times.csv"), "bx,tile,clock,time_us\n32,1,2100,2\n32,1,405,9\n",
                    Overwrite::yes);
    held = files.validate();
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("times.csv: clock: is no tunable of"));
    EXPECT_THAT(held.err, HasSubstr("its values differ (2100, 405)"));
    held = run_program({"validate", "--measured", files.path("times.csv"), "--profile", "a100"});
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("--launch SPACE.json"));
    held = files.validate({"--device", "model:a100"});
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("--measured: --device"));
    write_text_file(files.path("scores.json"), "", Overwrite::no);
    held = files.validate({"-o", files.folder.path.string()});
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("scores.json exists; --force replaces it"));
    write_text_file(files.path("t1.json"), "{}", Overwrite::yes);
    held = files.validate();
    EXPECT_EQ(held.exit_code, 2);
    EXPECT_THAT(held.err, HasSubstr("t1.json:1:1: ConfigurationSpace"));
}

}  // namespace
}  // namespace occupipe::test
