// SPDX-License-Identifier: MIT
// Kernels dumped, run by somebody who knows nothing but the table, and taken back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

class Carry : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder / name).string(); }

    void dump(const std::string& instructions) const {
        const auto run = run_program({"measure", "--device", "cuda", "--arch", "sm_75", "--quick",
                                      "--instructions", instructions, "--dump", path("d")});
        ASSERT_EQ(run.exit_code, 0) << run.err;
    }
    ProgramRun import() const {
        return run_program({"measure", "--import", path("d/launches.csv"), "-o", path("m.json")});
    }

    test::TemporaryFolder own;
    const std::filesystem::path& folder = own.path;
};

double number_after(const std::string& text, const std::string& key) {
    const auto at = text.find(key);
    return at == text.npos ? std::nan("") : std::atof(text.c_str() + at + key.size());
}

// The boat hull: K·max(Λ, ω·λ) and what a launch costs. One row is one line and ends in a comma.
void run_everything(const std::string& file, double lambda, double latency) {
    std::istringstream in(read_text_file(file));
    std::string text;
    std::string line;
    std::getline(in, line);
    text = line + "\n";
    while (std::getline(in, line)) {
        const double warps = number_after(line, ";warps=");
        const double depth = number_after(line, "/depth:");
        const double cycles = 60 + depth * std::max(latency, warps * lambda);
        text += line + std::to_string(cycles) + "\n";
    }
    write_text_file(file, text, Overwrite::yes);
}

TEST_F(Carry, ARunnerThatKnowsTheHullGivesItsTwoNumbersBack) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    ASSERT_NO_FATAL_FAILURE(dump("fma.f32"));
    run_everything(path("d/launches.csv"), 0.5, 6);
    const auto imported = import();
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_EQ(run_program({"check", path("m.json")}).exit_code, 0);
    const MeasurementFile file = read_measurements(path("m.json"));
    EXPECT_NE(file.context.at("origin").find("run by another program"), std::string::npos);
    EXPECT_EQ(file.context.at("compute_capability"), "7.5");
    const auto fitted = run_program({"fit", path("m.json"), "-o", path("p.yaml")});
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    const GpuProfile profile = read_profile(path("p.yaml"));
    const InstructionTiming* timing = profile.find_instruction("fma.f32");
    ASSERT_NE(timing, nullptr);
    EXPECT_NEAR(timing->cpi.value, 0.5, 0.005);
    EXPECT_NEAR(timing->latency->value, 6, 0.06);
}

TEST_F(Carry, BadTimesAreRefusedAndNoFileIsWritten) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    ASSERT_NO_FATAL_FAILURE(dump("fma.f32"));
    const auto empty = import();
    EXPECT_EQ(empty.exit_code, 2);
    EXPECT_NE(empty.err.find("launches.csv:2: cycles: is not filled in"), std::string::npos)
        << empty.err;
    run_everything(path("d/launches.csv"), -1, -1000);
    const auto negative = import();
    EXPECT_EQ(negative.exit_code, 2);
    EXPECT_FALSE(std::filesystem::exists(path("m.json")));
}

TEST_F(Carry, AMissingLaunchIsNoticed) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    ASSERT_NO_FATAL_FAILURE(dump("fma.f32"));
    run_everything(path("d/launches.csv"), 0.5, 6);
    std::string text = read_text_file(path("d/launches.csv"));
    text.erase(text.rfind('\n', text.size() - 2) + 1);
    write_text_file(path("d/launches.csv"), text, Overwrite::yes);
    const auto run = import();
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("launches, the dump"), std::string::npos) << run.err;
    EXPECT_EQ(run_program({"measure", "--import", path("d/launches.csv"), "--partial", "-o",
                           path("m.json")})
                  .exit_code,
              0);
}

TEST_F(Carry, WithNvrtcHiddenTheDumpSaysSoOnceAndWritesNothing) {
    const auto run = run_program(
        {"measure", "--device", "cuda", "--arch", "sm_75", "--quick", "--dump", path("d")},
        {"OCCUPIPE_NVRTC=none"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_EQ(run.err,
              "occupipe: NVRTC: not searched, because OCCUPIPE_NVRTC or --compiler nvrtc is "
              "'none'\n");
    EXPECT_FALSE(std::filesystem::exists(path("d")));
}

TEST_F(Carry, TheChosenNvrtcIsTheOneThatIsTried) {
    const auto dumped = [&](const std::string& library) {
        const auto run = run_program({"measure", "--device", "cuda", "--arch", "sm_75", "--quick",
                                      "--compiler", "nvrtc=" + library, "--dump", path("d")});
        EXPECT_EQ(run.exit_code, 1);
        EXPECT_FALSE(std::filesystem::exists(path("d")));
        return run.err;
    };
    EXPECT_EQ(dumped("none"),
              "occupipe: NVRTC: not searched, because OCCUPIPE_NVRTC or --compiler nvrtc is "
              "'none'\n");
    const std::string library = path("libnvrtc.so.99");
    EXPECT_NE(dumped(library).find(library), std::string::npos);
}

TEST_F(Carry, OptionsThatDoNotGoTogetherAreBadInput) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"measure", "--arch", "sm_75", "-o", path("m.json")},
          {"measure", "--device", "cuda", "--arch", "sm_1", "--dump", path("d")},
          {"measure", "--device", "model:profiles/nvidia-gtx-1060.yaml", "--dump", path("d")},
          {"measure", "--partial", "-o", path("m.json")},
          {"measure", "--import", path("nowhere.csv"), "-o", path("m.json")}}) {
        EXPECT_EQ(run_program(words).exit_code, 2);
    }
}

TEST_F(Carry, ARefusedDumpNamesItsReasonAndLeavesNoFolder) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const auto dumped = [&](const char* architecture, const char* instructions) {
        const auto run =
            run_program({"measure", "--device", "cuda", "--arch", architecture, "--quick",
                         "--instructions", instructions, "--dump", path("d")});
        EXPECT_NE(run.exit_code, 0);
        EXPECT_FALSE(std::filesystem::exists(path("d"))) << run.err;
        return run.err;
    };
    EXPECT_NE(dumped("sm_90", "tex.1d.u32").find("no textures"), std::string::npos);
    EXPECT_NE(dumped("sm_90", "launch").find("not a kernel's cycles"), std::string::npos);
    // NVRTC 13 has left Volta behind; one that has not would dump it.
    const auto version = run_program({"--version"}).out;
    if (version.find("NVRTC 13") == std::string::npos) return;
    const std::string volta = dumped("sm_70", "fma.f32");
    EXPECT_NE(volta.find("does not compile for sm_70, only for sm_75"), std::string::npos) << volta;
    EXPECT_NE(volta.find("--compiler nvrtc=FILE or OCCUPIPE_NVRTC"), std::string::npos) << volta;
    const auto ahead = run_program({"measure", "--compile-only", "--arch", "sm_70",
                                    "--instructions", "fma.f32", "-o", path("k.tar")});
    EXPECT_EQ(ahead.exit_code, 1) << ahead.err;
    EXPECT_FALSE(std::filesystem::exists(path("k.tar.partial")));
}

// Words of the stamps that nobody asked for are not written, and their registers not read.
TEST_F(Carry, CoreAndSlotAreReadOnlyWhereAskedFor) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    for (const bool asked : {false, true}) {
        std::vector<std::string> words = {"measure", "--device", "cuda",           "--arch",
                                          "sm_90",   "--quick",  "--instructions", "fma.f32",
                                          "--dump",  path("d")};
        if (asked) words.insert(words.end(), {"--placement", "--force"});
        const auto run = run_program(words);
        ASSERT_EQ(run.exit_code, 0) << run.err;
        int kernels = 0;
        for (const auto& entry : std::filesystem::directory_iterator(path("d/kernels"))) {
            if (entry.path().extension() != ".ptx") continue;
            const std::string ptx = read_text_file(entry.path());
            for (const char* name : {"%smid", "%warpid"})
                EXPECT_EQ(ptx.find(name) != std::string::npos, asked) << entry.path() << name;
            ++kernels;
        }
        EXPECT_EQ(kernels, 3);  // two bodies, and one with checkpoints
    }
}

// From the option to the tables of the kernels and the context of the file.
TEST_F(Carry, TablesFollowTheDeclaredCache) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const auto table_bytes = [&](const char* row, const char* l2_bytes) {
        const auto run = run_program({"measure", "--device", "cuda", "--arch", "sm_75", "--quick",
                                      "--instructions", row, "--l2-bytes", l2_bytes, "--dump",
                                      path("d"), "--force"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_NE(read_text_file(path("d/context.json"))
                      .find(std::string("\"l2_bytes\": \"") + l2_bytes + "\""),
                  std::string::npos);
        return number_after(read_text_file(path("d/launches.csv")), "walk(table_bytes=");
    };
    EXPECT_EQ(table_bytes("ld.global.u32", "100663296"), 4.0 * (128 << 20));  // 96 MiB, four times
    EXPECT_EQ(table_bytes("ld.global.u32", "4194304"), 128 << 20);
    EXPECT_EQ(table_bytes("ld.global.l2.u32", "8388608"), 2 << 20);
    EXPECT_EQ(table_bytes("ld.global.l2.u32", "131072"), 32 << 10);  // was twice the cache
}

}  // namespace
}  // namespace occupipe::cli::testing
