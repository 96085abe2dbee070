// SPDX-License-Identifier: MIT
// The runner of dumps (kernels/time_launches.cpp) with a CUDA driver that executes machine code on
// this machine, and on the first OpenCL device.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/bench/cuda/executing_driver.h"
#include "tests/cli/command.h"
#include "tests/support/temporary_folder.h"

int time_launches_main(int count, char** words);

namespace occupipe::test {
namespace {

using testing::HasSubstr;

const std::string root = OCCUPIPE_SOURCE_DIR;
const std::string profile = root + "/profiles/nvidia-rtx-2070.yaml";

struct Ran {
    int code = 0;
    std::string err;
};

Ran time_launches(std::vector<std::string> words) {
    words.insert(words.begin(), "time_launches");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    testing::internal::CaptureStderr();
    const int code = time_launches_main(static_cast<int>(pointers.size()), pointers.data());
    return {code, testing::internal::GetCapturedStderr()};
}

class TimeLaunches : public testing::Test {
protected:
    ~TimeLaunches() override { spoilt_byte.reset(); }

    void dump(const std::vector<std::string>& more) const {
        std::vector<std::string> words = {"validate", "--profile", profile, "--size",
                                          "small",    "--dump",    folder()};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome run = occupipe(words);
        ASSERT_EQ(run.code, 0) << run.err;
        EXPECT_THAT(run.err, Not(HasSubstr("warning")));
    }
    void dump_suite(const std::string& kernels) const {
        dump({"--machine-code", root + "/tests/suite/recorded", "--kernel", kernels});
    }
    Ran on_cuda() const {
        return time_launches(
            {folder(), "cuda:0", "--repetitions", "1", "--library", OCCUPIPE_FORWARDING_LIBCUDA});
    }
    std::string folder() const { return (own.path / "dump").string(); }

    // kernel, group_warps, concurrent_groups, groups, shared_bytes, cycles
    std::vector<std::vector<std::string>> table() const {
        std::istringstream lines(read_text_file(folder() + "/launches.csv"));
        std::vector<std::vector<std::string>> rows;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line + ",");
            rows.emplace_back();
            for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
        }
        return rows;
    }

    TemporaryFolder own;
};

// Its launches take a nanosecond per warp-instruction and group at once: cycles follow from what
// `execute` counts of the kernel's first launch, and the profile's clock.
TEST_F(TimeLaunches, FillsInTheCyclesOfEveryLine) {
    dump_suite("kmeans_swap,lud_internal");
    const Ran run = on_cuda();
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("the results of 2 plans are right"));
    std::istringstream lines(read_text_file(root + "/kernels/small/kmeans.yaml"));
    std::string launches;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("compiler_options") && !line.starts_with("source") &&
            !line.starts_with("architecture"))
            launches += line + "\n";
    write_text_file(own.path / "kmeans.yaml", launches, Overwrite::no);
    const auto counted = own.path / "counted.json";
    ASSERT_EQ(occupipe({"execute", root + "/tests/suite/recorded/sm_75/kmeans.cubin", "--launch",
                        (own.path / "kmeans.yaml").string(), "--json", counted.string()})
                  .code,
              0);
    double instructions = 0;
    const auto counts = nlohmann::json::parse(read_text_file(counted));
    for (const auto& one : counts["launches"])
        if (one["kernel"] == "kmeans_swap") instructions = one["warp_instructions"];
    ASSERT_GT(instructions, 0);
    const double clock_hz = 1.41e9;  // of the profile
    std::size_t compared = 0;
    const auto rows = table();
    for (std::size_t i = 1; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].size(), 6U);
        EXPECT_GT(std::stod(rows[i][5]), 0);
        if (rows[i][0] != "kmeans_swap") continue;
        const double cycles = instructions * 1e-9 / std::stod(rows[i][2]) * clock_hz;
        EXPECT_NEAR(std::stod(rows[i][5]), cycles, 1e-5 * cycles);
        ++compared;
    }
    EXPECT_GT(compared, 4U);

    // Back to the models.
    const Outcome imported =
        occupipe({"validate", "--profile", profile, "--size", "small", "--machine-code",
                  root + "/tests/suite/recorded", "--model", "pipeline", "--import",
                  folder() + "/launches.csv", "-o", (own.path / "out").string()});
    ASSERT_EQ(imported.code, 0) << imported.err;
    const auto curve =
        nlohmann::json::parse(read_text_file(own.path / "out/curves/kmeans_swap.json"));
    EXPECT_EQ(curve["points"].size(), compared);
    EXPECT_TRUE(curve["points"][0].contains("measured"));

    // Lines that have cycles stay.
    const std::string before = read_text_file(folder() + "/launches.csv");
    EXPECT_THAT(on_cuda().err, HasSubstr("0 lines were filled in"));
    EXPECT_EQ(read_text_file(folder() + "/launches.csv"), before);
}

// Every step of a launch file, and contents of every kind: what the kernels leave is what they
// leave when the launch file itself is executed.
TEST_F(TimeLaunches, DoesWhatLaunchFilesSay) {
    for (const char* name : {"jacobi", "life", "bitonic", "backtrack", "axpy_half"}) {
        std::filesystem::remove_all(folder());
        dump({"--machine-code", root + "/tests/kernels/recorded", "--launch",
              root + "/tests/kernels/" + name + ".yaml"});
        const Ran run = on_cuda();
        EXPECT_EQ(run.code, 0) << name << ": " << run.err;
        EXPECT_THAT(run.err, HasSubstr("the results of 1 plans are right")) << name;
    }
}

TEST_F(TimeLaunches, RefusesAWrongResultAndAnotherGpu) {
    dump_suite("lud_internal");
    spoilt_byte = 1026;
    const Ran wrong = on_cuda();
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("element 256 is wrong"));
    EXPECT_TRUE(table()[1][5].empty());
    spoilt_byte.reset();
    std::string about = read_text_file(folder() + "/runner.txt");
    about.replace(about.find("7.5"), 3, "8.0");
    write_text_file(folder() + "/runner.txt", about, Overwrite::yes);
    const Ran other = on_cuda();
    EXPECT_EQ(other.code, 1);
    EXPECT_THAT(other.err, HasSubstr("has compute capability 7.5, the dump is for 8.0"));
    EXPECT_EQ(time_launches({folder()}).code, 2);
    EXPECT_EQ(time_launches({folder(), "gpu"}).code, 1);
}

// The same texts as OpenCL C.
TEST_F(TimeLaunches, ChecksResultsOnTheFirstOpenClDevice) {
    dump_suite("lud_internal,reduction,histogram");
    const Ran run = time_launches({folder(), "opencl:0.0", "--repetitions", "1"});
    if (run.err.find("cannot be opened") != run.err.npos ||
        run.err.find("there is no such OpenCL") != run.err.npos ||
        run.err.find("clGetPlatformIDs") != run.err.npos)
        GTEST_SKIP() << run.err;
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("the results of 3 plans are right"));
}

}  // namespace
}  // namespace occupipe::test
