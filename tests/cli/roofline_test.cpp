// SPDX-License-Identifier: MIT
// `occupipe roofline` as a user runs it, from a profiler's CSV and from executed machine code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "core/kernel_parameters.h"
#include "tests/cli/saxpy_csv.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string root = OCCUPIPE_SOURCE_DIR;

// 320 lanes at 1 GHz; B_mem 160 GB/s.
constexpr const char* device_yaml =
    "format: occupipe-profile/1\n"
    "device: {name: Small GPU}\ncores: 10\nwarp_size: 32\nclock_hz: 1e9\n"
    "subsystems: {alu: {scope: core}, mem: {scope: core}}\n"
    "instructions:\n"
    "  fma.f32: {subsystem: alu, cpi: 0.25, latency: 4}\n"
    "  mad.s32: {subsystem: alu, cpi: 1, latency: 4}\n"
    "  add.s32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
    "  ld.shared.u32: {subsystem: mem, cpi: 1, latency: 20}\n"
    "  ld.global.f32: {subsystem: mem, cpi: 8, latency: 400}\n";

class Roofline : public ::testing::Test {
protected:
    std::string written(const std::string& name, const std::string& text) {
        const std::string path = folder.path / name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    TemporaryFolder folder;
};

TEST_F(Roofline, FromAProfilersCsvToTimeAndBound) {
    const ProgramRun run =
        run_program({"roofline", written("k.csv", saxpy_csv), "--profile",
                     written("p.yaml", device_yaml), "--model", "all", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json["format"], "occupipe-roofline/1");
    ASSERT_EQ(json["predictions"].size(), 2U);
    const auto& one = json["predictions"][0];
    EXPECT_EQ(one["model"], "quantitative-roofline");
    EXPECT_EQ(one["bound"], "memory");
    EXPECT_DOUBLE_EQ(one["seconds"], 12e6 / 160e9);
    EXPECT_DOUBLE_EQ(one["compute_seconds"], 2e6 / 2.56e12 + 3e6 / 320e9 + 12e6 / 640e9);
    EXPECT_DOUBLE_EQ(json["predictions"][1]["compute_seconds"], 12e6 / 640e9);
}

TEST_F(Roofline, CountsBecomeAFileThatGivesTheSamePrediction) {
    const std::string profile = written("p.yaml", device_yaml);
    const std::string csv = written("k.csv", saxpy_csv);
    const std::string kept = folder.path / "k.yaml";
    const ProgramRun first = run_program({"roofline", csv, "--profile", profile, "-o", kept});
    ASSERT_EQ(first.exit_code, 0) << first.err;
    const ProgramRun again = run_program({"roofline", kept, "--profile", profile});
    EXPECT_EQ(again.out, first.out);
    const ProgramRun refused = run_program({"roofline", csv, "-o", kept});
    EXPECT_EQ(refused.exit_code, 2);
    const ProgramRun equal = run_program({"roofline", csv, kept, "--difference"});
    EXPECT_EQ(equal.exit_code, 0) << equal.err;
    EXPECT_THAT(equal.out, HasSubstr("equal"));
    EXPECT_THAT(equal.out, Not(HasSubstr("%")));
}

// Without a device the counts that there are are listed and kept; what is missing is said once.
TEST_F(Roofline, CountsThatAreNotAllThere) {
    std::string less = saxpy_csv;
    less.erase(less.find("\"K40\",\"saxpy(int)\",1,\"inst_integer\""));
    const std::string csv = written("less.csv", less), kept = folder.path / "k.yaml";
    const ProgramRun run = run_program({"roofline", csv, "-o", kept});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("saxpy(int), K40"));
    EXPECT_THAT(run.out, HasSubstr("fp32_fma"));
    EXPECT_THAT(run.out, Not(HasSubstr("dram_read_sectors")));
    EXPECT_THAT(run.err, HasSubstr("--metrics inst_integer,dram_read_transactions,dram_write_"));
    const auto kernels = read_kernel_parameters(kept);
    EXPECT_EQ(kernels.at(0).fp32, 1e6);
    EXPECT_FALSE(kernels.at(0).integer);
    // Beside a whole source, the whole one is predicted.
    const ProgramRun both = run_program({"roofline", csv, written("k.csv", saxpy_csv), "--profile",
                                         written("p.yaml", device_yaml)});
    EXPECT_EQ(both.exit_code, 0) << both.err;
    EXPECT_THAT(both.out, HasSubstr("75 us"));
    EXPECT_THAT(both.err, HasSubstr("less.csv"));
}

TEST_F(Roofline, ExecutesALaunchFile) {
    const std::string launch = written(
        "saxpy.yaml", "occupipe_launches: 1\nsource: " + root +
                          "/tests/cli/faults/faults.cubin\nbuffers:\n"
                          "  x: {type: f32, count: 1024, fill: iota}\n"
                          "  y: {type: f32, count: 1024, fill: iota}\n"
                          "symbols:\n  weights: {type: f32, count: 3, fill: {values: [8, 1, 2]}}\n"
                          "launches:\n"
                          "  - {kernel: saxpy, grid: 4, block: 256, arguments: [{buffer: x}, "
                          "{buffer: y}, {f32: 2.5}, {i32: 1024}]}\n");
    const std::string kept = folder.path / "k.yaml";
    const ProgramRun run = run_program({"roofline", launch, "-o", kept});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto kernels = read_kernel_parameters(kept);
    ASSERT_EQ(kernels.size(), 1U);
    // Per element: a multiply-add and an addition, two loads and a store; 4 KiB are read twice and
    // written once.
    EXPECT_EQ(kernels[0].fp32_fma, 1024);
    EXPECT_EQ(kernels[0].fp32, 2048);
    EXPECT_EQ(kernels[0].fp64, 0);
    EXPECT_EQ(kernels[0].load_store, 3072);
    EXPECT_EQ(kernels[0].dram_read_sectors, 256);
    EXPECT_EQ(kernels[0].dram_write_sectors, 128);
    EXPECT_THAT(kernels[0].origin, HasSubstr("executed"));
    // Nothing is read twice: a cache changes nothing.
    const ProgramRun behind =
        run_program({"roofline", launch, "--caches", written("p.yaml", device_yaml), "--l2-bytes",
                     "1048576", "-o", kept, "--force"});
    ASSERT_EQ(behind.exit_code, 0) << behind.err;
    const auto cached = read_kernel_parameters(kept);
    EXPECT_EQ(cached[0].dram_read_sectors, 256);
    EXPECT_EQ(cached[0].fp32, 2048);
    EXPECT_THAT(cached[0].origin, HasSubstr("1024 KiB (--cache l2)"));
}

// What leaves nothing is no table.
TEST_F(Roofline, CountsOfWhichNothingIsLeft) {
    const std::string text =
        "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"a\",\"292\"\n"
        "\"1\",\"b\",\"292\"\n";
    const std::string kept = folder.path / "k.yaml";
    const ProgramRun run = run_program({"roofline", written("none.csv", text), "-o", kept});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr("none.csv:3: gpu__time_duration.sum: kernel 'b': the file has "
                                   "no unit for it; left out"));
    EXPECT_THAT(run.err, HasSubstr("kernel 'a' has no number for this, and 2 of 2 kernels lack "
                                   "counts"));
    EXPECT_FALSE(std::filesystem::exists(kept));
    // A time is something; launches of several sizes are told.
    std::string sizes =
        "ID,Kernel Name,Grid Size,gpu__time_duration.sum [us]\n0,a,4,10\n1,a,8,30\n";
    const ProgramRun some = run_program({"roofline", written("some.csv", sizes)});
    EXPECT_EQ(some.exit_code, 0) << some.err;
    EXPECT_THAT(some.out, HasSubstr("2e-05"));
    EXPECT_THAT(some.err, HasSubstr("note: "));
    EXPECT_THAT(some.err, HasSubstr("some.csv:1: kernel 'a': 2 launches of 2 sizes"));
}

// A rate that nobody measured is said; the message of a refusal names the option.
TEST_F(Roofline, TakesARateFromADataSheet) {
    std::string poor = device_yaml;
    poor.erase(poor.find("  ld.global.f32"));
    const std::string csv = written("k.csv", saxpy_csv), profile = written("p.yaml", poor);
    const ProgramRun refused = run_program({"roofline", csv, "--profile", profile});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--set B_mem="));
    const ProgramRun run =
        run_program({"roofline", csv, "--profile", profile, "--rate", "B_mem=160", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NEAR(nlohmann::json::parse(run.out)["predictions"][0]["memory_seconds"].get<double>(),
                12e6 / 160e9, 1e-15);
    for (const char* bad : {"B_mem", "B_mem=", "B_mem=x", "T_SP=1", "B=1"})
        EXPECT_EQ(run_program({"roofline", csv, "--profile", profile, "--rate", bad}).exit_code, 2)
            << bad;
    const ProgramRun twice = run_program(
        {"roofline", csv, "--profile", profile, "--rate", "B_mem=160", "--rate", "B_mem=170"});
    EXPECT_EQ(twice.exit_code, 2);
    EXPECT_THAT(twice.err, HasSubstr("has an earlier --set"));
}

// A device without the rate has its line, which says what it lacks.
TEST_F(Roofline, CsvHasALineForEveryKernelAndDevice) {
    std::string poor = device_yaml;
    poor.erase(poor.find("  ld.global.f32"));
    const ProgramRun run = run_program({"roofline", written("k.csv", saxpy_csv), "--profile",
                                        written("rich.yaml", device_yaml), "--profile",
                                        written("poor.yaml", poor), "--csv"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    std::istringstream lines(run.out);
    std::string header, rich, lacking, none;
    std::getline(lines, header);
    std::getline(lines, rich);
    std::getline(lines, lacking);
    EXPECT_FALSE(std::getline(lines, none));
    EXPECT_TRUE(header.ends_with(",flips_at,missing"));
    EXPECT_EQ(std::ranges::count(lacking, ','), std::ranges::count(header, ','));
    EXPECT_EQ(std::ranges::count(rich, ','), std::ranges::count(header, ','));
    EXPECT_THAT(lacking, HasSubstr(",fp32,2000000,12000000,,,,,,,,B_mem (ld.global.f32"));
}

#if OCCUPIPE_FIT
// min(T_op, I · B_mem) from λ of the profile that was shipped with the measurement.
TEST_F(Roofline, TheShippedSweepLiesOnItsRoofline) {
    const std::string results = root + "/results/cpu-amd-zen4-pocl/";
    const ProgramRun run =
        run_program({"roofline", "--sweep", results + "2026-11-21-quick.json", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    const GpuProfile profile = read_profile(results + "profile-quick.yaml");
    const double lanes = profile.cores * profile.clock_hz;
    const double compute = 2 * lanes / profile.find_instruction("fma.f32")->cpi.value;
    const double memory = 4 * lanes / profile.find_instruction("ld.global.f32")->cpi.value;
    ASSERT_EQ(json["points"].size(), 3U);
    double sum = 0;
    for (const auto& point : json["points"]) {
        const double predicted = std::min(compute, 0.5 * point["beta"].get<int>() * memory);
        EXPECT_NEAR(point["predicted_per_second"].get<double>(), predicted, 0.005 * predicted);
        sum += std::abs(predicted / point["measured_per_second"].get<double>() - 1);
    }
    EXPECT_NEAR(json["errors"][0]["mape_percent"].get<double>(), 100 * sum / 3, 0.5);
    EXPECT_LT(sum / 3, 0.05);
}
#endif

TEST_F(Roofline, RefusesWhatItCannotUse) {
    const std::string csv = written("k.csv", saxpy_csv);
    const std::string profile = written("p.yaml", device_yaml);
    struct Bad {
        std::vector<std::string> arguments;
        const char* why;
    };
    std::string less = saxpy_csv;
    less.erase(less.find("\"K40\",\"saxpy(int)\",1,\"inst_integer\""));
    std::string poor = device_yaml;
    poor.erase(poor.find("  fma.f32"), poor.find("  mad.s32") - poor.find("  fma.f32"));
    const std::vector<Bad> all = {
        {{"roofline"}, "SOURCE"},
        {{"roofline", folder.path / "none.csv"}, "none.csv"},
        {{"roofline", written("less.csv", less), "--profile", profile}, "--metrics inst_integer"},
        {{"roofline", written("x.csv", "a,b\n")}, "no header"},
        {{"roofline", written("x.yaml", "format: occupipe-kernel/1\n")}, "unknown format"},
        {{"roofline", csv, "--kernel", "saxpi"}, "saxpy(int)"},
        {{"roofline", csv, "--profile", written("poor.yaml", poor)}, "lack the rates"},
        {{"roofline", csv, "--difference"}, "two"},
        {{"roofline", csv, "--plot", folder.path / "p.svg"}, "--profile"},
        {{"roofline", csv, "--profile", profile, "--plot", folder.path / "p.gif"}, "gif"},
        {{"roofline", csv, "--profile", profile, "--model", "pipeline"}, "--model"},
    };
    for (const Bad& bad : all) {
        const ProgramRun run = run_program(bad.arguments);
        EXPECT_EQ(run.exit_code, 2) << bad.why << "\n" << run.out << run.err;
        EXPECT_THAT(run.err, HasSubstr(bad.why));
    }
    const ProgramRun poorer =
        run_program({"roofline", csv, "--profile", folder.path / "poor.yaml"});
    EXPECT_THAT(poorer.out, HasSubstr("T_SP (fma.f32 or mul.f32)"));
}

TEST_F(Roofline, PrintsWhatCollectsTheCounts) {
    const ProgramRun run =
        run_program({"roofline", "--ncu-command", "./app --n 4", "--nvprof-command", "./app"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_THAT(run.out, HasSubstr("ncu --csv"));
    EXPECT_THAT(run.out, HasSubstr("dram__sectors_read.sum"));
    EXPECT_THAT(run.out, HasSubstr("./app --n 4"));
    EXPECT_THAT(run.out, HasSubstr("nvprof --csv"));
}

}  // namespace
}  // namespace occupipe::cli
