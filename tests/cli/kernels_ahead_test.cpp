// SPDX-License-Identifier: MIT
// measure --compile-only here, measure --kernels there: the whole way through the program, with a
// driver that only pretends (tests/bench/cuda/fake_libcuda.cpp) and, there, without NVRTC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// One of each kind of helper and text: walks of several tables, a cluster, a texture, a mix.
const std::string instructions =
    "fma.f32,ld.shared.u32,ld.global.l2.u32,ld.global.u32,tex.1d.u32,mix(fma.f32*4,cos.approx.f32)";
// The pretended GPU's, which set the sizes of the tables.
const std::vector<std::string> fake_gpu = {"--arch",         "sm_90",    "--l2-bytes", "1048576",
                                           "--memory-bytes", "67108864", "--cores",    "4"};
const std::vector<std::string> there = {"OCCUPIPE_NVRTC=none",
                                        "OCCUPIPE_CUDA_DRIVER=" OCCUPIPE_FAKE_LIBCUDA,
                                        "OCCUPIPE_NVML=" OCCUPIPE_FAKE_LIBNVML};

class KernelsAhead : public ::testing::Test {
protected:
    static void SetUpTestSuite() {
        std::string name =
            (std::filesystem::temp_directory_path() / "occupipe-kernels-ahead-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        folder = name;
        compiled = compile(instructions, "k.tar");
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(folder); }
    void SetUp() override {
        if (compiled.exit_code == 1 && compiled.err.find("NVRTC") != compiled.err.npos) {
            GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
        }
    }

    static ProgramRun compile(const std::string& what, const std::string& name) {
        std::vector<std::string> words = {
            "measure", "--compile-only", "--quick", "--instructions", what, "-o", path(name)};
        words.insert(words.end(), fake_gpu.begin(), fake_gpu.end());
        return run_program(words);
    }
    static std::string path(const std::string& name) { return (folder / name).string(); }
    static ProgramRun measure(const std::string& kernels, const std::string& what,
                              const std::string& output) {
        return run_program({"measure", "--device", "cuda:0", "--kernels", path(kernels), "--quick",
                            "--instructions", what, "-o", path(output)},
                           there);
    }

    static inline std::filesystem::path folder;
    static inline ProgramRun compiled;
};

TEST_F(KernelsAhead, AreAllThatMeasuringNeeds) {
    ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
    EXPECT_THAT(compiled.err, AllOf(HasSubstr(" kernels for sm_90"), HasSubstr("; 0 refused")));
    const auto run = measure("k.tar", instructions, "m.json");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const MeasurementFile file = read_measurements(path("m.json"));
    EXPECT_GT(file.rows.size(), 300u);
    int sampled = 0;
    for (const MeasurementRow& row : file.rows) {
        EXPECT_FALSE(row.error) << *row.error;
        const auto power = row.counters.find("nvml_power_w");
        if (!power) continue;
        EXPECT_EQ(*power, 345.678);
        ++sampled;
    }
    EXPECT_LT(sampled, 100);  // now and then, not in each row
    EXPECT_THAT(file.context.at("kernels_by"), HasSubstr(", ahead"));
    EXPECT_EQ(file.context.at("nvrtc"), "not installed");
    EXPECT_THAT(file.context.at("order"), HasSubstr("basic; memory levels"));
}

TEST_F(KernelsAhead, WithoutThemThereIsNothingToCompileWith) {
    const auto run = run_program({"measure", "--device", "cuda:0", "--quick", "--instructions",
                                  "fma.f32", "-o", path("none.json")},
                                 there);
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("NVRTC"));
}

TEST_F(KernelsAhead, AKernelThatIsNotThereIsAnErrorRowThatSaysSo) {
    const auto run = measure("k.tar", "fma.f32,add.f32", "missing.json");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    int refused = 0;
    for (const MeasurementRow& row : read_measurements(path("missing.json")).rows) {
        EXPECT_EQ(row.error.has_value(), row.subject == "add.f32") << row.name();
        if (!row.error) continue;
        EXPECT_THAT(*row.error, AllOf(HasSubstr("k.tar does not contain this kernel for sm_90"),
                                      HasSubstr("cannot be compiled here")));
        ++refused;
    }
    EXPECT_GT(refused, 0);
}

TEST_F(KernelsAhead, DamagedOrForeignFilesAreRefusedBeforeAnythingIsMeasured) {
    const std::string whole = read_text_file(path("k.tar"));
    std::ofstream(path("cut.tar"), std::ios::binary) << whole.substr(0, whole.size() / 2);
    const auto cut = measure("cut.tar", "fma.f32", "cut.json");
    EXPECT_EQ(cut.exit_code, 2);
    EXPECT_THAT(cut.err, HasSubstr("cut.tar"));
    const auto turing = run_program({"measure", "--compile-only", "--arch", "sm_75", "--quick",
                                     "--instructions", "fma.f32", "-o", path("turing.tar")});
    ASSERT_EQ(turing.exit_code, 0) << turing.err;
    const auto other = measure("turing.tar", "fma.f32", "other.json");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("kernels for sm_75, but the device is sm_90"));
    EXPECT_FALSE(std::filesystem::exists(path("cut.json.partial")));
    EXPECT_FALSE(std::filesystem::exists(path("other.json.partial")));
}

TEST_F(KernelsAhead, GoWithNoDeviceButAGpuOfNvidias) {
    const auto run = run_program({"measure", "--device", "opencl:0.0", "--kernels", path("k.tar"),
                                  "--quick", "-o", path("opencl.json")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("--kernels"));
}

TEST_F(KernelsAhead, OnePointCanBeMeasuredAlone) {
    const std::string name = "fma.f32/group_warps:1/concurrent_groups:2/chains:1/depth:512";
    const std::vector<std::string> words = {"measure",     "--device",       "cuda:0",  "--kernels",
                                            path("k.tar"), "--instructions", "fma.f32", "--point"};
    std::vector<std::string> good = words;
    good.insert(good.end(), {name, "-o", path("point.json"), "--", "--benchmark_repetitions=1"});
    const auto run = run_program(good, there);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const MeasurementFile file = read_measurements(path("point.json"));
    ASSERT_EQ(file.rows.size(), 1u);
    EXPECT_EQ(file.rows.front().name(), name);
    std::vector<std::string> bad = words;
    bad.insert(bad.end(), {"fma.f32/depth:7", "-o", path("no.json")});
    const auto refused = run_program(bad, there);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("one of fma.f32 is fma.f32/group_warps:"));
}

}  // namespace
}  // namespace occupipe::cli::testing
