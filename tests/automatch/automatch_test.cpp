// SPDX-License-Identifier: MIT
// `automatch` as a user runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::automatch {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::HasSubstr;

const std::string root = OCCUPIPE_SOURCE_DIR;

// Two levels of a million operations each on 8 MB that are read once: bound by memory.
constexpr const char* streaming =
    "format: occupipe-workload/1\n"
    "kernel: triad\n"
    "operations: {total: 2000000, additions: 1000000, multiplications: 1000000, "
    "fused_pairs: 1000000, vectorisable: 2000000}\n"
    "schedules: [{name: as-written, depth: 2, widths: [{levels: 2, f64: 1000000}], "
    "parallelism: [{levels: 2, f64: 2000000}], first_reach: 1}]\n"
    "reuse:\n"
    "  - {unit_bytes: 8, references: 3000000, first: 3000000}\n"
    "  - {unit_bytes: 64, references: 375000, first: 375000}\n"
    "  - {unit_bytes: 128, references: 187500, first: 187500}\n"
    "synchronisations: 0\n";

class Automatch : public ::testing::Test {
protected:
    std::string written(const std::string& name, const std::string& text) {
        const std::string path = folder.path / name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    test::TemporaryFolder folder;
};

TEST_F(Automatch, RanksDevicesBySlowMemoryWhereNothingIsReused) {
    const std::string workload = written("triad.yaml", streaming);
    const ProgramRun run =
        run_program({"predict", "--workload", workload, "--profile", "i5-2400", "--profile",
                     "i7-4700", "--profile", "tesla-k20x", "--split", "--sensitivity", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json.at("format"), "occupipe-match/1");
    ASSERT_EQ(json.at("models").size(), 3u);
    for (const auto& model : json.at("models")) {
        EXPECT_EQ(model.at("best"), "NVIDIA Tesla K20X") << model.at("model");
        EXPECT_EQ(model.at("devices").at(2).at("device"), "Intel Core i7-4700");
        EXPECT_EQ(model.at("devices").at(0).at("bound_by"), "memory");
        double shares = 0;
        for (const auto& share : model.at("split").at("shares")) shares += share.get<double>();
        EXPECT_NEAR(shares, 1, 1e-12);
    }
    // By hand: all words from slow memory, a line each (literal), and 24 MB of lines (bound: what
    // the fast memory cannot hold).
    const auto& literal = json.at("models").at(0).at("devices").at(0);
    EXPECT_NEAR(literal.at("memory_seconds").get<double>(), 2 * 0.725e-6 + 3e6 * 128 / 160.1e9,
                1e-12);
    const auto& bound = json.at("models").at(2).at("devices").at(0);
    EXPECT_NEAR(bound.at("seconds").get<double>(), (24e6 - 2411725) / 160.1e9, 1e-12);
    EXPECT_FALSE(bound.contains("std_error"));  // the table has no errors
}

TEST_F(Automatch, TextTableAndPicture) {
    const std::string workload = written("triad.yaml", streaming);
    const std::string picture = folder.path / "match.html";
    const ProgramRun run =
        run_program({"predict", "--workload", workload, "--profile", "i5-2400", "--profile",
                     "tesla-c2075", "--model", "automatch", "--plot", picture});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("best: NVIDIA Tesla C2075 ("));
    EXPECT_THAT(run.out, HasSubstr("the errors of the devices' numbers are not known"));
    EXPECT_THAT(read_text_file(picture), HasSubstr("<svg"));
    const ProgramRun table = run_program({"predict", "--workload", workload, "--profile", "i5-2400",
                                          "--model", "automatch", "--csv"});
    EXPECT_THAT(table.out, HasSubstr("triad,Intel Core i5-2400,automatch,"));
    const ProgramRun alone = run_program({"predict", "--workload", workload});
    EXPECT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_THAT(alone.out, HasSubstr("references       3000000 to units of 8 bytes"));
}

// Of a counted workload that is shipped: 5,833,149 references to new words (Figure 8's infinity),
// and the lowest decade has its label (levels of 130,321 operations and more).
TEST_F(Automatch, PictureOfReuseTellsWhatIsNew) {
    const std::string picture = folder.path / "spmv.svg";
    const ProgramRun run =
        run_program({"predict", "--workload", root + "/automatch/workloads/counted/spmv.yaml",
                     "--plot", picture});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::string svg = read_text_file(picture);
    EXPECT_THAT(svg, HasSubstr(">8 bytes; 5.83e+06 new<"));
    EXPECT_LT(svg.find(">1e5<"), svg.find(">1e6<"));
    EXPECT_THAT(svg, HasSubstr(">as-written<"));
    EXPECT_THAT(svg, HasSubstr(">trees<"));
    // LUD has no sums to make trees of: one schedule is not drawn over the other.
    const std::string same = folder.path / "lud.svg";
    ASSERT_EQ(run_program({"predict", "--workload", root + "/automatch/workloads/counted/lud.yaml",
                           "--plot", same})
                  .exit_code,
              0);
    EXPECT_THAT(read_text_file(same), HasSubstr(">as-written, trees<"));
}

TEST_F(Automatch, WhatIsMissingIsSaid) {
    const std::string workload = written("triad.yaml", streaming);
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"predict"}, "give a program, or --workload FILE"},
        {{"predict", "a.c", "--workload", workload}, "both a program (a.c) and --workload "},
        {{"predict", "a.c"}, "--kernel NAME is missing"},
        {{"predict", "--workload", workload, "--kernel", "f"}, "--workload excludes --kernel"},
        {{"predict", "--workload", workload, "--no-distances"},
         "--workload excludes --no-distances"},
        {{"predict", "--workload", workload, "--sync", "-1"}, "from 0 to 1000000000000000"},
        {{"predict", "--workload", workload, "--profile", "quadro-k620"},
         "lacks what AutoMatch asks of a device: match.processors (n_p)"},
        {{"predict", "--workload", workload, "--profile", "i5-2400", "--profile", "intel-i5-2400"},
         "a profile of Intel Core i5-2400 is given already"},
        {{"predict", "--workload", workload, "--model", "automagic"}, "automagic"},
        {{"predict", "--workload", workload, "--split"}, "--split: of devices"},
        {{"predict", "--workload", workload, "--sensitivity"}, "--sensitivity: of devices"},
        // Before it is looked for.
        {{"predict", "never.c", "--kernel", "f", "-o", workload + "/w.yaml"}, "/w.yaml: cannot be"},
        {{"predict", "never.c", "--kernel", "f", "--plot", "/nowhere/w.svg"}, "/w.svg: cannot be"},
        {{"predict", "--workload", root + "/profiles/nvidia-rtx-2070.yaml"},
         "unknown format 'occupipe-profile/"},
    };
    for (const auto& [words, said] : cases) {
        const ProgramRun run = run_program(words);
        EXPECT_EQ(run.exit_code, 2) << said;
        EXPECT_THAT(run.err, HasSubstr(said));
    }
    const std::string program = written("a.c", "void f(void) {}\nint main(void) { f(); }\n");
    const ProgramRun none =
        run_program({"predict", program, "--kernel", "f"}, {"OCCUPIPE_LLVM=none"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.err, HasSubstr("because OCCUPIPE_LLVM is 'none'"));
    const ProgramRun fitted = run_program({"fit", workload});
    EXPECT_EQ(fitted.exit_code, 2);
    EXPECT_THAT(fitted.err, HasSubstr("where to?"));
    const ProgramRun broken = run_program({"check", root + "/profiles/nvidia-rtx-2070.yaml"});
    EXPECT_EQ(broken.exit_code, 2);
    EXPECT_THAT(broken.err, HasSubstr("unknown format 'occupipe-profile/"));
    const ProgramRun checked = run_program({"check", workload});
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("workload, 2000000 operations in 2 levels"));
}

TEST_F(Automatch, FromASourceToADevice) {
    if (!OCCUPIPE_MATCH_INSTRUMENTS) GTEST_SKIP() << "LLVM 19 was not there when this was built";
    const std::string program =
        written("triad.c",
                "#include <stdlib.h>\n"
                "void triad(int n, double* a, const double* b, const double* c) {\n"
                "    for (int i = 0; i < n; ++i) a[i] = b[i] + 3 * c[i];\n"
                "}\n"
                "int main(int argc, char** argv) {\n"
                "    int n = atoi(argv[1]);\n"
                "    triad(n, malloc(8 * n), calloc(n, 8), calloc(n, 8));\n"
                "}\n");
    const std::string workload = folder.path / "triad.workload.yaml";
    const ProgramRun run =
        run_program({"predict", program, "--kernel", "triad", "-o", workload, "--profile",
                     "i5-2400", "--profile", "tesla-k20x", "--", "100000"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("best: NVIDIA Tesla K20X"));
    EXPECT_THAT(read_text_file(workload), HasSubstr("arguments: \"100000\""));
    const ProgramRun again = run_program(
        {"predict", "--workload", workload, "--profile", "i5-2400", "--profile", "tesla-k20x"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.out, run.out);
    const ProgramRun kept =
        run_program({"predict", program, "--kernel", "triad", "-o", workload, "--", "10"});
    EXPECT_EQ(kept.exit_code, 2);
    EXPECT_THAT(kept.err, HasSubstr("exists already"));
}

TEST(AutomatchMeasure, TakesCpusAndGpus) {
    const ProgramRun plan = run_program({"measure", "--device", "cpu", "--dry-run"});
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    for (const char* point :
         {"match.peak.f64/vector_width:1/threads:", "match.read/working_set_bytes:",
          "match.chase/working_set_bytes:8192/", "match.barrier/threads:"})
        EXPECT_THAT(plan.out, HasSubstr(point));
    const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
        {{"--device", "gpu:0"},
         "--device gpu:0: expected cpu, a part of it such as cpu:0-3, opencl:PLATFORM.DEVICE or "
         "cuda:N"},
        {{"--device", "cpu:0-"}, "--device cpu:0-: is none of cpu, cpu:LIST and cpu:LIST/1"},
        {{"--device", "cpu:99999"}, "is none of"},
        {{"--instructions", "fma.f32"}, "unexpected argument '--instructions'"},
        {{}, "--output"},
    };
    const test::TemporaryFolder folder;
    for (const auto& [more, said] : wrong) {
        std::vector<std::string> words = {"measure"};
        words.insert(words.end(), more.begin(), more.end());
        if (!more.empty()) words.insert(words.end(), {"-o", folder.path / "cpu.json"});
        const ProgramRun run = run_program(words);
        EXPECT_EQ(run.exit_code, 2) << said;
        EXPECT_THAT(run.err, HasSubstr(said));
    }
}

// automatch/tools/*.py as a user runs them; what they print goes to a file.
class AutomatchTools : public ::testing::Test {
protected:
    void SetUp() override {
        if (std::system("python3 -c '' && gcc --version > /dev/null 2>&1") != 0)
            GTEST_SKIP() << "python3 or gcc is not here";
    }
    int run(const std::string& words) {
        const std::string out = (folder.path / "out.txt").string();
        const int status = std::system(
            ("cd " + root + " && python3 automatch/tools/" + words + " > " + out + " 2>&1")
                .c_str());
        said = read_text_file(out);
        return WEXITSTATUS(status);
    }
    test::TemporaryFolder folder;
    std::string said;
};

// The rankings of the counted workloads, which tests/automatch/table_1_test.cpp derives by hand.
TEST_F(AutomatchTools, TheTableOfThePapersDevices) {
    ASSERT_EQ(run("table.py --automatch " OCCUPIPE_PROGRAM), 0) << said;
    EXPECT_THAT(said, HasSubstr("| lbm | 60 60 75 4 | 148.6 |"));
    EXPECT_THAT(said,
                ::testing::ContainsRegex("\\| stencil \\|.*ARC5, ARC3 .*ARC1, ARC2 .*ARC5, ARC4"));
    EXPECT_THAT(said, ::testing::ContainsRegex("\\| lud \\|.*ARC2, ARC1 "));
}

// Two costs of a device of their own each: all eight inner planes are given, and the default halves
// them.
TEST_F(AutomatchTools, ASplitGivesEachPlaneToOneDevice) {
    if (!OCCUPIPE_MATCH_INSTRUMENTS) GTEST_SKIP() << "LLVM 19 was not there when this was built";
    const std::string picture = (folder.path / "split.svg").string();
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int first = 0;
    while (!CPU_ISSET(first, &allowed)) ++first;
    const std::string cpu = std::to_string(first);
    ASSERT_EQ(run("split.py --automatch " OCCUPIPE_PROGRAM " --device " + cpu +
                  " --profile intel-i5-2400 --device " + cpu +
                  "/1 --profile intel-i7-4700 --side 10 --steps 2 --times 1 --svg " + picture),
              0)
        << said;
    const std::regex row("\\| 10³ \\| (\\w+) \\| (\\d+) : (\\d+) \\|");
    std::map<std::string, std::pair<int, int>> planes;
    for (std::sregex_iterator at(said.begin(), said.end(), row), end; at != end; ++at)
        planes[(*at)[1]] = {std::stoi((*at)[2]), std::stoi((*at)[3])};
    ASSERT_EQ(planes.size(), 3U) << said;
    for (const auto& [strategy, own] : planes) EXPECT_EQ(own.first + own.second, 8) << strategy;
    EXPECT_EQ(planes["default"].first, 4);
    const std::string svg = read_text_file(picture);
    EXPECT_TRUE(svg.starts_with("<svg"));
    for (const char* strategy : {"default", "AutoMatch", "oracle"})
        EXPECT_THAT(svg, HasSubstr(std::string(">") + strategy + "<"));
}

TEST_F(AutomatchTools, WhatIsMissingIsSaid) {
    EXPECT_EQ(run("openmp.py"), 2);
    EXPECT_THAT(said, HasSubstr("--profile"));
    EXPECT_EQ(run("openmp.py --profile none.yaml --only no-such-workload"), 2);
    EXPECT_THAT(said, HasSubstr("no-such-workload"));
    EXPECT_EQ(run("split.py --device 0 --profile intel-i5-2400"), 1);
    EXPECT_THAT(said, HasSubstr("give two or more --device"));
}

}  // namespace
}  // namespace occupipe::automatch
