// SPDX-License-Identifier: MIT
// validate from the command line, on recorded machine code.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/cli/command.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

using testing::HasSubstr;

const std::string root = OCCUPIPE_SOURCE_DIR;
const std::string profile = root + "/profiles/nvidia-rtx-2070.yaml";

std::vector<std::string> command(const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "validate", "--profile", profile, "--machine-code", root + "/tests/suite/recorded",
        "--size",   "small"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

nlohmann::json tables(const TemporaryFolder& folder) {
    return nlohmann::json::parse(read_text_file(folder.path / "out/tables.json"));
}

TEST(Validate, WritesCurvesAndTablesAndGoesOn) {
    const TemporaryFolder folder;
    const auto words =
        command({"--kernel", "fan2,lud_internal,matmul_mma", "--device",
                 "model:" + profile + "?policy=gto", "-o", (folder.path / "out").string()});
    const Outcome first = occupipe(words);
    ASSERT_EQ(first.code, 0) << first.err;
    EXPECT_THAT(first.out, HasSubstr("The device differs from its profile: policy gto."));
    EXPECT_THAT(first.out, HasSubstr("pipeline is nearest to it by construction"));
    EXPECT_THAT(first.out, HasSubstr("matmul_mma is not predicted"));
    // Table 12: 24.5 / 7 of Fan2 by the Pipeline model.
    EXPECT_THAT(first.out, HasSubstr("24.5 / 7.0"));
    EXPECT_THAT(first.out, HasSubstr("By mean MAPE:"));
    const auto json = tables(folder);
    EXPECT_EQ(json["kernels"].size(), 3U);
    EXPECT_DOUBLE_EQ(json["kernels"][0]["models"]["pipeline"]["published"]["mape"], 24.5);
    EXPECT_EQ(json["means"].size(), 8U);
    EXPECT_EQ(json["means"][0]["rank"], 1);
    EXPECT_THAT(read_text_file(folder.path / "out/tables.md"), HasSubstr("| fan2"));
    EXPECT_THAT(read_text_file(folder.path / "out/accuracy.csv"), HasSubstr("\nmean,pipeline,"));

    std::filesystem::remove(folder.path / "out/curves/fan2.json");
    const Outcome second = occupipe(words);
    EXPECT_EQ(second.code, 0);
    EXPECT_EQ(second.out, first.out);
    EXPECT_THAT(second.err, HasSubstr("2 of 3 kernels were there already"));
    auto other = words;
    other.insert(other.end(), {"--waves", "3"});
    EXPECT_THAT(occupipe(other).err, Not(HasSubstr("were there already")));
}

// A machine that takes twice the predicted cycles has half the throughput: an error of 100 %.
TEST(Validate, ADumpComesBackWithTimes) {
    const TemporaryFolder folder;
    const auto dump = folder.path / "dump";
    const Outcome written = occupipe(command({"--kernel", "fan2", "--dump", dump.string()}));
    ASSERT_EQ(written.code, 0) << written.err;
    for (const char* file : {"gaussian.cu", "portable.h", "small/gaussian.yaml"})
        EXPECT_TRUE(std::filesystem::exists(dump / file)) << file;
    const std::string table = read_text_file(dump / "launches.csv");
    EXPECT_EQ(occupipe(command({"--import", (dump / "launches.csv").string(), "-o",
                                (folder.path / "out").string()}))
                  .code,
              2);  // no cycles yet

    const auto with_cycles = [&](const auto& cycles_of) {
        std::istringstream lines(table);
        std::string filled, line;
        for (int i = 0; std::getline(lines, line); ++i)
            filled += line + (i == 0 ? std::string() : cycles_of(i - 1)) + "\n";
        write_text_file(dump / "filled.csv", filled, Overwrite::yes);
    };
    const auto import =
        command({"--kernel", "fan2", "--model", "pipeline", "--import",
                 (dump / "filled.csv").string(), "-o", (folder.path / "out").string()});
    with_cycles([](int) { return std::string("1000"); });
    ASSERT_EQ(occupipe(import).code, 0);
    const auto curve = nlohmann::json::parse(read_text_file(folder.path / "out/curves/fan2.json"));
    // The table has most groups first, the curve fewest.
    const auto& points = curve["points"];
    with_cycles([&](int i) {
        const auto& point = points[points.size() - 1 - static_cast<std::size_t>(i)];
        return fmt::format("{}", 2 * point["predicted"]["pipeline"]["cycles"].get<double>());
    });
    ASSERT_EQ(occupipe(import).code, 0);
    EXPECT_NEAR(tables(folder)["kernels"][0]["models"]["pipeline"]["mape"].get<double>(), 100,
                1e-6);
}

TEST(Validate, TimesOfOtherKernelsAndOtherGroupsAreRefused) {
    const TemporaryFolder folder;
    const auto import = [&](const std::string& row) {
        write_text_file(
            folder.path / "times.csv",
            "kernel,group_warps,concurrent_groups,groups,shared_bytes,cycles\n" + row + "\n",
            Overwrite::yes);
        return occupipe(command({"--import", (folder.path / "times.csv").string(), "--model",
                                 "pipeline", "-o", (folder.path / "out").string()}));
    };
    const Outcome misspelt = import("fan3,16,1,64,0,1000");
    EXPECT_EQ(misspelt.code, 2);
    EXPECT_THAT(misspelt.err, HasSubstr("times.csv: kernel: 'fan3' is not among the kernels"));
    const Outcome smaller = import("fan2,1,1,64,0,1000");
    EXPECT_EQ(smaller.code, 2);
    EXPECT_THAT(smaller.err, HasSubstr("times.csv: group_warps: fan2: 1 warps of a group"));
}

TEST(Validate, WithoutADevicePredicts) {
    const TemporaryFolder folder;
    const Outcome run = occupipe(command(
        {"--kernel", "sor", "--model", "pipeline,volkov", "-o", (folder.path / "out").string()}));
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("nothing was measured"));
    EXPECT_FALSE(tables(folder).contains("device"));
}

TEST(Validate, TakesAnyonesLaunchFile) {
    const TemporaryFolder folder;
    const std::vector<std::string> words = {"validate",
                                            "--profile",
                                            profile,
                                            "--launch",
                                            root + "/tests/kernels/saxpy.yaml",
                                            "--machine-code",
                                            root + "/tests/kernels/recorded",
                                            "--model",
                                            "pipeline",
                                            "-o",
                                            (folder.path / "out").string()};
    const Outcome run = occupipe(words);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_TRUE(std::filesystem::exists(folder.path / "out/curves/saxpy.json"));
}

TEST(Validate, OtherMachineCodeIsNotTakenForTheSame) {
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.path / "code");
    std::filesystem::copy(root + "/tests/suite/recorded/sm_75", folder.path / "code/sm_75",
                          std::filesystem::copy_options::recursive);
    const std::vector<std::string> words = {"validate",
                                            "--profile",
                                            profile,
                                            "--machine-code",
                                            (folder.path / "code").string(),
                                            "--size",
                                            "small",
                                            "--kernel",
                                            "fan2",
                                            "--model",
                                            "pipeline",
                                            "-o",
                                            (folder.path / "out").string()};
    ASSERT_EQ(occupipe(words).code, 0);
    EXPECT_THAT(occupipe(words).err, HasSubstr("1 of 1 kernels were there already"));
    std::ofstream(folder.path / "code/sm_75/gaussian.cubin", std::ios::app) << '\0';
    const Outcome again = occupipe(words);
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_THAT(again.err, Not(HasSubstr("were there already")));
}

#if OCCUPIPE_OPENCL
TEST(Validate, ACpuComputesTheSameAndIsNotTimed) {
    const TemporaryFolder folder;
    const Outcome run =
        occupipe(command({"--kernel", "lud_internal,reduction", "--model", "pipeline", "--device",
                          "opencl:0.0", "-o", (folder.path / "out").string()}));
    if (run.code == 3) GTEST_SKIP() << run.err;
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("computes what executed machine code does, 2 kernels; it is a "
                                   "CPU"));
    EXPECT_FALSE(tables(folder).contains("device"));
}

// Another text than the machine code is of: 40 % more in one place.
TEST(Validate, AWrongResultIsNoticed) {
    const TemporaryFolder folder;
    std::string text = read_text_file(root + "/kernels/red_black_sor.cu");
    const std::string right = "FMA(0.25f, sum", wrong = "FMA(0.35f, sum";
    ASSERT_NE(text.find(right), std::string::npos);
    text.replace(text.find(right), right.size(), wrong);
    write_text_file(folder.path / "red_black_sor.cu", text, Overwrite::no);
    write_text_file(folder.path / "portable.h", read_text_file(root + "/kernels/portable.h"),
                    Overwrite::no);
    std::filesystem::create_directory(folder.path / "small");
    write_text_file(folder.path / "small/sor.yaml",
                    read_text_file(root + "/kernels/small/red_black_sor.yaml"), Overwrite::no);
    const Outcome run = occupipe(
        command({"--launch", (folder.path / "small/sor.yaml").string(), "--model", "pipeline",
                 "--device", "opencl:0.0", "-o", (folder.path / "out").string()}));
    if (run.code == 3) GTEST_SKIP() << run.err;
    EXPECT_EQ(run.code, 1);
    EXPECT_THAT(run.err, HasSubstr("elements of 'red' are wrong"));
}
#endif

TEST(Validate, RefusesWhatIsWrong) {
    const auto refused = [](const std::vector<std::string>& more) {
        const Outcome run = occupipe(command(more));
        EXPECT_EQ(run.code, 2);
        return run.err;
    };
    EXPECT_THAT(refused({}), HasSubstr("-o DIR"));
    EXPECT_THAT(refused({"-o", "/tmp/never", "--kernel", "sgem"}), HasSubstr("near: sgemm"));
    EXPECT_THAT(refused({"-o", "/tmp/never", "--device", "cuda:0"}), HasSubstr("opencl:PLATFORM"));
    EXPECT_THAT(refused({"-o", "/tmp/never", "--model", "best"}), HasSubstr("best"));
}

}  // namespace
}  // namespace occupipe::test
