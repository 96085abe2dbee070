// SPDX-License-Identifier: MIT
// Every bad command line gets one clear line on stderr, exit code 2, and leaves no file behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/run_program.h"

namespace occupipe::cli::testing {
namespace {

struct BadCommand {
    const char* name;
    const char* words;     // separated by blanks
    const char* mentions;  // what the message must name
};

class BadCommandLine : public ::testing::TestWithParam<BadCommand> {};

constexpr const char* model = "model:profiles/nvidia-gtx-1060.yaml";

std::vector<std::string> split(const char* words) {
    std::istringstream stream(words);
    std::vector<std::string> parts;
    for (std::string word; stream >> word;) parts.push_back(word == "MODEL" ? model : word);
    return parts;
}

TEST_P(BadCommandLine, GetsOneLineAndExitCodeTwo) {
    const auto run = run_program(split(GetParam().words));
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(GetParam().mentions), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Words, BadCommandLine,
    ::testing::Values(
        BadCommand{"UnknownCommand", "meassure", "near: measure"},
        BadCommand{"UnknownFlag", "list devices --jsn", "--jsn"},
        BadCommand{"ListWithoutWhat", "list", "devices, instructions"},
        BadCommand{"ListUnknownThing", "list kernels", "kernels"},
        BadCommand{"ListProfilesNoFolder", "list profiles --folder /nonexistent/x",
                   "/nonexistent/x"},
        BadCommand{"MeasureWithoutOutput", "measure --device MODEL", "--output"},
        BadCommand{"MeasureUnknownDevice", "measure --device gpu0 -o /tmp/never.json", "gpu0"},
        BadCommand{"MeasureHalfADevice", "measure --device opencl:0 -o /tmp/never.json",
                   "opencl:0"},
        BadCommand{"MeasureMissingModel", "measure --device model:none.yaml -o /tmp/never.json",
                   "none.yaml"},
        BadCommand{"MeasureBadNoise", "measure --device MODEL?noise=lots -o /tmp/never.json",
                   "noise"},
        BadCommand{"MeasureNegativeNoise", "measure --device MODEL?noise=-1 -o /tmp/never.json",
                   "noise"},
        BadCommand{"MeasureUnknownModelOption", "measure --device MODEL?nois=1 -o /tmp/never.json",
                   "nois"},
        BadCommand{"MeasureUnknownInstruction",
                   "measure --device MODEL --instructions fma.f23 -o /tmp/never.json", "fma.f23"},
        BadCommand{"MeasureUnknownBenchmarkFlag",
                   "measure --device MODEL -o /tmp/never.json -- --benchmark_nonsense",
                   "--benchmark_nonsense"},
        BadCommand{"MeasureOntoExisting", "measure --device MODEL -o README.md", "README.md"},
        BadCommand{"FitNothing", "fit -o /tmp/never.yaml", "results"},
        BadCommand{"FitMissingFile", "fit /nonexistent/m.json -o /tmp/never.yaml",
                   "/nonexistent/m.json"},
        BadCommand{"FitNotAMeasurement", "fit README.md -o /tmp/never.yaml", "README.md"},
        BadCommand{"FitOverheadNan", "fit README.md -o /tmp/never.yaml --overhead nan",
                   "--overhead nan"},
        BadCommand{"CharacterizeWithoutFolder", "characterize --device MODEL", "--output"},
        BadCommand{"TableNothing", "table", "profiles"},
        BadCommand{"TableUnknownFormat", "table profiles/nvidia-gtx-1060.yaml --format xml", "xml"},
        BadCommand{"TableMissingProfile", "table nowhere.yaml", "nowhere.yaml"},
        BadCommand{"PredictWithoutProfile", "predict sim/kernels/example.yaml", "--profile"},
        BadCommand{"PredictMissingKernel",
                   "predict nowhere.yaml --profile profiles/nvidia-gtx-1060.yaml", "nowhere.yaml"},
        BadCommand{"PredictUnknownModel",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--model rooflin",
                   "rooflin"},
        BadCommand{
            "PredictUnknownPolicy",
            "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --policy fifo",
            "fifo"},
        BadCommand{"PredictUnknownOrder",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--order random",
                   "random"},
        BadCommand{"PredictBadOccupancy",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--occupancy 0-3",
                   "0"},
        BadCommand{"PredictBackwardOccupancy",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml "
                   "--occupancy 9-3",
                   "9-3"},
        BadCommand{
            "PredictZeroGroups",
            "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --groups 0",
            "groups"},
        BadCommand{"PredictBadSet",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --set "
                   "nonsense",
                   "nonsense"},
        BadCommand{"PredictSetUnknownOp",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --set "
                   "no.op.cpi=2",
                   "no.op"},
        BadCommand{"PredictSetNegative",
                   "predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml --set "
                   "fma.f32.cpi=-2",
                   "-2"},
        BadCommand{"CompareWithoutProfile",
                   "compare results/cpu-amd-zen4-pocl/2026-11-21-quick.json", "--profile"},
        BadCommand{"CompareMissingFile",
                   "compare /nonexistent/m.json --profile profiles/nvidia-gtx-1060.yaml",
                   "/nonexistent/m.json"},
        BadCommand{"ReportWithoutOutput", "report results/cpu-amd-zen4-pocl", "--output"},
        BadCommand{"ReportNoFolder", "report /nonexistent/x -o /tmp/never.html", "/nonexistent/x"},
        BadCommand{"CheckNothing", "check", "files"},
        BadCommand{"CheckMissing", "check /nonexistent/x.yaml", "/nonexistent/x.yaml"},
        BadCommand{"CheckFolder", "check profiles", "profiles"},
        BadCommand{"CheckForeignFile", "check CMakeLists.txt", "CMakeLists.txt"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(NothingToRunOn, IsExitCodeThreeWithAHint) {
    const std::vector<std::string> no_device = {"OCL_ICD_VENDORS=/nonexistent",
                                                "CUDA_VISIBLE_DEVICES="};
    for (const char* words : {"measure -o /tmp/never.json", "list devices",
                              "measure --device opencl:0.0 -o /tmp/never.json"}) {
        const auto run = run_program(split(words), no_device);
        EXPECT_EQ(run.exit_code, 3) << words << run.err;
        EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    }
}

TEST(Help, IsThereForEveryCommandAndNoError) {
    for (const char* words :
         {"--help", "list --help", "explain --help", "measure --help", "smoke --help", "fit --help",
          "characterize --help", "diff --help", "merge --help", "report --help", "table --help",
          "rates --help", "predict --help", "compare --help", "check --help", "selfcheck --help"}) {
        const auto run = run_program(split(words));
        EXPECT_EQ(run.exit_code, 0) << words << run.err;
        EXPECT_NE(run.out.find("Exit codes: 0 ok"), std::string::npos) << words << run.out;
        EXPECT_NE(run.out.find("\n  occupipe "), std::string::npos) << "no example: " << run.out;
        EXPECT_EQ(run.err, "") << words;
    }
}

TEST(Help, IsWhatTheProgramAloneShows) {
    const auto run = run_program({});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err, run_program({"--help"}).out);
}

}  // namespace
}  // namespace occupipe::cli::testing
