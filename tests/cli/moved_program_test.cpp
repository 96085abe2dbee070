// SPDX-License-Identifier: MIT
// What was AutoMatch's in `occupipe` runs `automatch`: the same output, exit code and files, and a
// hint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

class MovedProgram : public ::testing::Test {
protected:
    std::string file(const std::string& name) const { return (folder.path / name).string(); }

    // In a shell of its own, since run_program() runs occupipe.
    ProgramRun shell(const std::string& line) const {
        const int status = std::system(
            ("cd " OCCUPIPE_SOURCE_DIR " && " + line + " > " + file("out") + " 2> " + file("err"))
                .c_str());
        return {.exit_code = WEXITSTATUS(status),
                .out = read_text_file(file("out")),
                .err = read_text_file(file("err"))};
    }
    ProgramRun automatch(const std::string& words) const {
        return shell(OCCUPIPE_AUTOMATCH " " + words);
    }

    // A barrier of one core, measured on the device of another file of measurements.
    void write_barrier(const json& context, const std::string& path) const {
        json all = {{"context", context}, {"benchmarks", json::array()}};
        all["context"]["match_threads"] = "2";
        all["context"]["match_caches"] = "L1:32768x2 L2:524288x2";
        all["context"]["match_line_bytes"] = "64";
        all["benchmarks"].push_back({{"name", "match.barrier/threads:2"},
                                     {"run_type", "iteration"},
                                     {"repetitions", 1},
                                     {"repetition_index", 0},
                                     {"threads", 1},
                                     {"iterations", 1},
                                     {"real_time", 13835746},
                                     {"cpu_time", 13835746},
                                     {"time_unit", "ns"},
                                     {"barriers", 7720},
                                     {"chains", 1},
                                     {"depth", 7720},
                                     {"clock_hz", 3e9},
                                     {"concurrent_groups", 1},
                                     {"group_warps", 1},
                                     {"cpu_share", 1},
                                     {"target_met", 1}});
        write_text_file(path, all.dump(), Overwrite::yes);
    }

    test::TemporaryFolder folder;
};

TEST_F(MovedProgram, MatchIsPredictOfAutomatch) {
    const std::vector<std::string> words = {
        "--workload", "automatch/workloads/counted/stencil.yaml",
        "--profile",  "i5-2400",
        "--profile",  "tesla-k20x",
        "--split"};
    std::vector<std::string> old = {"match"};
    std::string line = "predict";
    for (const std::string& word : words) {
        old.push_back(word);
        line += " " + word;
    }
    const ProgramRun before = run_program(old);
    const ProgramRun now = automatch(line);
    EXPECT_EQ(before.exit_code, 0);
    EXPECT_THAT(before.out, HasSubstr("best: NVIDIA Tesla K20X"));
    EXPECT_EQ(before.out, now.out);
    EXPECT_THAT(before.err, HasSubstr("'occupipe match' is 'automatch predict'"));
    EXPECT_EQ(now.err, "");
    EXPECT_EQ(run_program({"match"}).exit_code, 2);
}

TEST_F(MovedProgram, MeasureMatchIsMeasureOfAutomatch) {
    const ProgramRun before =
        run_program({"measure", "--device", "cpu", "--match", "--quick", "--dry-run"});
    EXPECT_EQ(before.exit_code, 0) << before.err;
    EXPECT_THAT(before.out, HasSubstr("match.barrier/threads:"));
    EXPECT_EQ(before.out, automatch("measure --device cpu --quick --dry-run").out);
    EXPECT_THAT(before.err, HasSubstr("is 'automatch measure'"));
    EXPECT_EQ(run_program({"measure", "--match", "--rates", "-o", file("no")}).exit_code, 2);
}

TEST_F(MovedProgram, FitMakesTheMatchSectionByAutomatch) {
    const json context = {{"backend", "cpu"},     {"cores", "2"},
                          {"device", "cpu"},      {"device_name", "CPU"},
                          {"device_type", "cpu"}, {"device_vendor", "none"},
                          {"warp_size", "1"},     {"occupipe_version", "1.0.0"}};
    write_barrier(context, file("match.json"));
    const ProgramRun before = run_program({"fit", file("match.json"), "-o", file("old.yaml")});
    EXPECT_EQ(before.exit_code, 0) << before.err;
    const ProgramRun now = automatch("fit " + file("match.json") + " -o " + file("new.yaml"));
    EXPECT_EQ(before.out, now.out);
    EXPECT_THAT(read_text_file(file("new.yaml")), HasSubstr("synchronisation_seconds: "));
    EXPECT_EQ(read_text_file(file("old.yaml")), read_text_file(file("new.yaml")));
    EXPECT_EQ(run_program({"fit", file("match.json"), "-o", file("old.yaml")}).exit_code, 2);
}

TEST_F(MovedProgram, FitOfBothKindsOfRowsHasBothInTheProfile) {
    ASSERT_EQ(run_program({"measure", "--device", "model:profiles/nvidia-gtx-1060.yaml", "--quick",
                           "--instructions", "fma.f32", "-o", file("gpu.json")})
                  .exit_code,
              0);
    write_barrier(json::parse(read_text_file(file("gpu.json")))["context"], file("match.json"));
    const ProgramRun both =
        run_program({"fit", file("gpu.json"), file("match.json"), "-o", file("both.yaml")});
    EXPECT_EQ(both.exit_code, 0) << both.err;
    const std::string profile = read_text_file(file("both.yaml"));
    EXPECT_THAT(profile, HasSubstr("synchronisation_seconds: "));
    EXPECT_THAT(profile, HasSubstr("fma.f32:"));
    // Another device's profile is left alone.
    const ProgramRun other = shell("cp profiles/nvidia-rtx-2070.yaml " + file("rtx.yaml") +
                                   " && " OCCUPIPE_AUTOMATCH " fit " + file("match.json") +
                                   " --into " + file("rtx.yaml"));
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("is a profile of NVIDIA GeForce RTX 2070"));
    EXPECT_EQ(read_text_file(file("rtx.yaml")),
              read_text_file(OCCUPIPE_SOURCE_DIR "/profiles/nvidia-rtx-2070.yaml"));
}

TEST_F(MovedProgram, CheckKnowsWorkloads) {
    const ProgramRun fine = run_program({"check", "automatch/workloads/counted/stencil.yaml"});
    EXPECT_EQ(fine.exit_code, 0) << fine.err;
    EXPECT_EQ(fine.out, automatch("check automatch/workloads/counted/stencil.yaml").out);
    EXPECT_THAT(fine.out, HasSubstr("stencil.yaml: ok (workload, "));
    write_text_file(file("w.yaml"), "format: occupipe-workload/1\nkernel: k\nwrong: 1\n",
                    Overwrite::yes);
    const ProgramRun wrong = run_program({"check", file("w.yaml")});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_EQ(wrong.err, automatch("check " + file("w.yaml")).err);
    EXPECT_THAT(wrong.err, HasSubstr("w.yaml:3:"));
}

TEST_F(MovedProgram, SaysWhereAutomatchWouldHaveToBe) {
    fs::create_directory(folder.path / "bin");
    fs::copy_file(OCCUPIPE_PROGRAM, folder.path / "bin" / "occupipe");
    for (const char* words :
         {"match", "measure --match --dry-run", "check automatch/workloads/counted/stencil.yaml"}) {
        const ProgramRun alone = shell(file("bin/occupipe") + " " + words);
        EXPECT_EQ(alone.exit_code, 1) << words;
        EXPECT_EQ(alone.out, "");
        EXPECT_THAT(alone.err, HasSubstr(file("bin/automatch") + ": no such program"));
    }
    // Beside it, as where it is installed.
    fs::create_symlink(OCCUPIPE_AUTOMATCH, folder.path / "bin" / "automatch");
    const ProgramRun beside = shell(file("bin/occupipe") + " match --workload " +
                                    "automatch/workloads/counted/stencil.yaml");
    EXPECT_EQ(beside.exit_code, 0) << beside.err;
    EXPECT_THAT(beside.out, HasSubstr("stencil"));
}

}  // namespace
}  // namespace occupipe::cli::testing
