// SPDX-License-Identifier: MIT
// `occupipe execute` as a user runs it, on machine code that is compiled already
// (faults/faults.cubin, sm_90), so that no compiler is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/buffer_fill.h"
#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using cli::testing::program_has_nvrtc;
using cli::testing::ProgramRun;
using cli::testing::run_program;
using cli::testing::run_program_until;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string faults = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/cli/faults/faults.cubin";
const std::string source = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/cli/faults/faults.cu";

class Execute : public ::testing::Test {
protected:
    std::string written(const std::string& name, const std::string& text) {
        const std::string path = folder.path / name;
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    // y = 2.5 x + weights[0] + y for 1000 elements in 4 groups of 256 threads.
    std::string saxpy_file(const std::string& more = "") {
        return written("saxpy.yaml",
                       "occupipe_launches: 1\n"
                       "source: " +
                           faults +
                           "\n"
                           "buffers:\n"
                           "  x: {type: f32, count: 1000, fill: {random: [-1, 1], seed: 5}}\n"
                           "  y: {type: f32, count: 1000, fill: iota}\n"
                           "symbols:\n"
                           "  weights: {type: f32, count: 3, fill: {values: [8, 1, 2]}}\n"
                           "launches:\n"
                           "  - {kernel: saxpy, grid: 4, block: 256, arguments: [{buffer: x}, "
                           "{buffer: y}, {f32: 2.5}, {i32: 1000}]}\n" +
                           more);
    }

    std::vector<float> floats(const std::string& path) {
        const std::string bytes = read_text_file(path);
        std::vector<float> values(bytes.size() / sizeof(float));
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
        return values;
    }

    TemporaryFolder folder;
};

TEST_F(Execute, LeavesWhatTheKernelComputes) {
    const std::string out = folder.path / "y.bin";
    const ProgramRun run =
        run_program({"execute", "--launch", saxpy_file("check: [y]\n"), "--output", "y=" + out});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::vector<float> y = floats(out);
    ASSERT_EQ(y.size(), 1000U);
    const auto bytes = filled({.kind = BufferFill::Kind::random,
                               .low = "-1",
                               .high = "1",
                               .listed = {},
                               .seed = 5,
                               .path = {}},
                              ElementType::f32, 1000);
    for (std::size_t i = 0; i < y.size(); ++i) {
        float x = 0;
        std::memcpy(&x, bytes.data() + 4 * i, 4);
        // The compiler joins the product with the first sum.
        ASSERT_EQ(y[i], std::fma(2.5F, x, 8.0F) + static_cast<float>(i)) << i;
    }
    EXPECT_THAT(run.out, HasSubstr("saxpy<<<(4,1,1), (256,1,1)>>> for sm_90\n"
                                   "  4 groups, 32 warps; "));
    EXPECT_THAT(run.out, HasSubstr("a core holds 8 groups of 8 warps, 100 % of its warps"));
    EXPECT_THAT(run.out, HasSubstr("y: f32[1000], first "));
}

// What can be counted by hand: 31 warps with all lanes, one with 8; x is read, y read and written.
// In the order of the groups for any number of threads, as the host's own printf writes it.
TEST_F(Execute, PrintsWhatKernelsPrint) {
    std::string expected;
    for (int group = 0; group < 3; ++group) {
        for (const double x : {1.25, -1000.5}) {
            std::array<char, 200> line{};
            std::snprintf(line.data(), line.size(),
                          "%5d|%-5u|%#x|%08.3f|%e|%g|%c|%s|%lld|%llX|%hd|%hhu|%+i|%o%%\n", -9, 7U,
                          255, x, -1000.5, 0.5, 'z', "many", -5000000000LL, 0xfedcba987ULL,
                          static_cast<short>(9), static_cast<unsigned char>(9), 9, 9);
            expected += line.data();
        }
        for (int thread = 0; thread < 2; ++thread)
            expected += "group " + std::to_string(group) + " of 3\n";
    }
    for (const char* threads : {"1", "3"}) {
        const ProgramRun run = run_program(
            {"execute", faults, "--kernel", "prints_much", "--grid", "3", "--block", "2", "--args",
             "x=f64[2]:values(1.25,-1000.5) i32:9", "--threads", threads, "--json", "-"});
        ASSERT_EQ(run.exit_code, 0) << run.err;
        EXPECT_EQ(nlohmann::json::parse(run.out).at("launches")[0].at("printed"), expected);
    }
    const ProgramRun text = run_program({"execute", faults, "--kernel", "prints", "--grid", "1",
                                         "--block", "2", "--args", "y=i32[2] i32:7"});
    EXPECT_EQ(text.exit_code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("\n  Printed\n  7\n  7\n"));
}

// Stores go to the heap, or where nothing is asked of it, to the buffer.
TEST_F(Execute, KernelsAllocate) {
    for (const auto& [n, first] : {std::pair{7, "0 0 0 0"}, {2, "2 2 2 2"}}) {
        const ProgramRun run =
            run_program({"execute", faults, "--kernel", "allocates", "--grid", "1", "--block", "16",
                         "--args", "y=i32[32] i32:" + std::to_string(n)});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_THAT(run.out, HasSubstr(std::string("y: i32[32], first ") + first));
        EXPECT_THAT(run.out, HasSubstr("atomic operations or allocations"));
    }
}

TEST_F(Execute, PredictionsTellWhatHasNoPrice) {
    for (const auto& [kernel, does] :
         {std::pair{"allocates", "a kernel allocates memory"}, {"prints", "a kernel prints"}}) {
        const ProgramRun run =
            run_program({"predict", faults, "--kernel", kernel, "--profile", "h100", "--grid", "1",
                         "--block", "16", "--args", "y=i32[32] i32:7"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_THAT(run.out, HasSubstr(does));
    }
}

// The second launch goes beyond its buffer: the first one's counts stay, with what is missing.
TEST_F(Execute, TellsWhatWasExecutedBeforeAnError) {
    const std::string file = saxpy_file(
        "  - {kernel: saxpy, grid: 8, block: 256, arguments: [{buffer: x}, {buffer: y}, {f32: 2}, "
        "{i32: 2000}]}\n"
        "  - {kernel: saxpy, grid: 1, block: 256, arguments: [{buffer: x}, {buffer: y}, {f32: 2}, "
        "{i32: 9}]}\n"
        "check: [y]\n");
    const ProgramRun run = run_program({"execute", "--launch", file});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("reads 4 bytes at"));
    EXPECT_THAT(run.out, HasSubstr("saxpy<<<(4,1,1), (256,1,1)>>> for sm_90\n"));
    EXPECT_THAT(run.out, Not(HasSubstr("<<<(8,1,1)")));
    EXPECT_THAT(run.out, HasSubstr("not executed to its end: launch 2 of 3; "));
    EXPECT_THAT(run.out, Not(HasSubstr("y: f32[1000]")));
    const ProgramRun json = run_program({"execute", "--launch", file, "--json", "-"});
    EXPECT_EQ(json.exit_code, 2);
    const auto read = nlohmann::json::parse(json.out);
    EXPECT_EQ(read.at("launches").size(), 1U);
    EXPECT_THAT(read.at("ended_early"), HasSubstr("launch 2 of 3"));
    EXPECT_TRUE(read.at("buffers").empty());
}

// The second launch does not end: those that ended are told all the same.
TEST_F(Execute, TellsWhatWasExecutedBeforeALimit) {
    const std::string file = saxpy_file(
        "  - {kernel: never_ends, grid: 1, block: 32, arguments: [{buffer: y}]}\n"
        "check: [y]\n");
    for (const char* limit : {"5000", "0.5s"}) {
        const ProgramRun run = run_program({"execute", "--launch", file, "--limit", limit});
        EXPECT_EQ(run.exit_code, 4) << run.err;
        EXPECT_THAT(run.err, HasSubstr("(--limit)"));
        EXPECT_THAT(run.err, HasSubstr(std::string_view(limit) == "5000"
                                           ? "launch 2 of 2: more than the 5000 warp-instructions"
                                           : "no end after 0.5 s"));
        EXPECT_THAT(run.out, HasSubstr("saxpy<<<(4,1,1), (256,1,1)>>> for sm_90\n"));
        EXPECT_THAT(run.out, HasSubstr("not executed to its end: launch 2 of 2; "));
        EXPECT_THAT(run.out, Not(HasSubstr("y: f32[1000]")));
    }
    const ProgramRun json =
        run_program_until({"execute", "--launch", file, "--json", "-"}, {}, "launch 2 of 2");
    EXPECT_EQ(json.exit_code, 130);
    const auto read = nlohmann::json::parse(json.out);
    EXPECT_EQ(read.at("launches").size(), 1U);
    EXPECT_THAT(read.at("ended_early"), HasSubstr("launch 2 of 2"));
}

TEST_F(Execute, CountsRequestsAndSectorsInJson) {
    const std::string out = folder.path / "run.json";
    const ProgramRun run =
        run_program({"execute", "--launch", saxpy_file("check: [y]\n"), "--json", out});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto json = nlohmann::json::parse(read_text_file(out));
    EXPECT_EQ(json.at("format"), "occupipe-execution/1");
    EXPECT_EQ(json.at("architecture"), "sm_90");
    const auto& launch = json.at("launches").at(0);
    EXPECT_EQ(launch.at("kernel"), "saxpy");
    EXPECT_EQ(launch.at("warps"), 32);
    EXPECT_EQ(launch.at("opcodes").at("STG").at("warp_instructions"), 32);
    EXPECT_EQ(launch.at("opcodes").at("STG").at("lane_instructions"), 1000);
    EXPECT_EQ(launch.at("different_bytes").at("read"), 8000);
    EXPECT_EQ(launch.at("different_bytes").at("written"), 4000);
    std::uint64_t sum = 0;
    int accesses = 0;
    for (const auto& one : launch.at("instructions")) {
        sum += one.at("warp_instructions").get<std::uint64_t>();
        EXPECT_THAT(one.at("source").get<std::string>(), HasSubstr("faults.cu:"));
        if (!one.contains("memory") || one.at("memory").at(0).at("space") != "global") continue;
        const auto& memory = one.at("memory").at(0);
        ++accesses;
        EXPECT_EQ(memory.at("requests"), 32);
        EXPECT_EQ(memory.at("lanes"), 1000);
        EXPECT_EQ(memory.at("sectors"), 31 * 4 + 1);
        EXPECT_EQ(memory.at("lines"), 32);
        EXPECT_EQ(memory.at("bytes_moved"), 4000);
    }
    EXPECT_EQ(accesses, 3);
    EXPECT_EQ(sum, launch.at("warp_instructions").get<std::uint64_t>());
}

TEST_F(Execute, GivesTheSameForAnyNumberOfThreads) {
    const std::string file = saxpy_file("check: [x, y]\n");
    const auto json = [&](const std::string& threads) {
        const ProgramRun run =
            run_program({"execute", "--launch", file, "--threads", threads, "--json", "-"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return run.out;
    };
    const std::string one = json("1");
    EXPECT_EQ(json("2"), one);
    EXPECT_EQ(json("7"), one);
}

// Each argument has memory of its own, behind what --shared-bytes asks for.
TEST_F(Execute, TakesLocalMemoryOfOpenCl) {
    const std::string out = folder.path / "out.bin";
    for (const char* shared : {"0", "40"}) {
        const ProgramRun run =
            run_program({"execute", faults, "--kernel", "takes_local", "--grid", "3", "--block",
                         "48", "--shared-bytes", shared, "--args",
                         "local:192 local:192 out=i32[48]", "--force", "--output", "out=" + out});
        ASSERT_EQ(run.exit_code, 0) << run.err;
        std::vector<std::int32_t> values(48);
        const std::string bytes = read_text_file(out);
        ASSERT_EQ(bytes.size(), 192U);
        std::memcpy(values.data(), bytes.data(), 192);
        for (int i = 0; i < 48; ++i) {
            EXPECT_EQ(values[static_cast<std::size_t>(i)], 10 * i + 47 - i);
        }
    }
}

TEST_F(Execute, CheckKnowsLaunchFiles) {
    ProgramRun run = run_program({"check", saxpy_file("check: [x, y]\n")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(": ok (launches, 1 of them, 2 buffers)\n"));
    run = run_program(
        {"check", written("bad.yaml", "occupipe_launches: 1\nlaunches:\n  - {swap: [a, b]}\n")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("bad.yaml:3:"));
    run = run_program({"check", written("gone.yaml",
                                        "occupipe_launches: 1\nsource: gone.cu\nlaunches:\n  - "
                                        "{kernel: k, grid: 1, block: 1}\n")});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("warning: source: no file '"));
}

TEST_F(Execute, RepeatsSwapsSetsAndCopies) {
    // adds_outside with n = 0 adds 1 to each element of its buffer.
    const std::string file = written(
        "steps.yaml",
        "occupipe_launches: 1\n"
        "buffers:\n"
        "  a: {type: i32, count: 32, fill: zeros}\n"
        "  b: {type: i32, count: 32, fill: {value: 100}}\n"
        "  c: {type: i32, count: 32, fill: {value: 7}}\n"
        "launches:\n"
        "  - repeat: 5\n"
        "    launches:\n"
        "      - {kernel: adds_outside, grid: 1, block: 32, arguments: [{buffer: a}, {i32: 0}]}\n"
        "      - {swap: [a, b]}\n"
        "  - {set: c, fill: {value: -3}}\n"
        "  - {kernel: adds_outside, grid: 1, block: 32, arguments: [{buffer: c}, {i32: 0}]}\n"
        "check: [a, b, c]\n");
    ProgramRun run = run_program({"execute", faults, "--launch", file});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    // Launches 1, 3, 5 add to the first buffer, 2 and 4 to the second; after five swaps a is the
    // second one.
    EXPECT_THAT(run.out, HasSubstr("a: i32[32], first 102 102 102 102;"));
    EXPECT_THAT(run.out, HasSubstr("b: i32[32], first 3 3 3 3;"));
    EXPECT_THAT(run.out, HasSubstr("c: i32[32], first -2 -2 -2 -2;"));
    EXPECT_THAT(run.out, HasSubstr("for sm_90, 5 times"));
    EXPECT_THAT(run.out, HasSubstr("All 6 launches: "));
}

TEST_F(Execute, ComparesBuffersWithFiles) {
    const std::string file = saxpy_file("check: [y]\n");
    const std::string right = folder.path / "y.bin";
    ASSERT_EQ(run_program({"execute", "--launch", file, "--output", "y=" + right}).exit_code, 0);
    ProgramRun run = run_program({"execute", "--launch", file, "--check-against", right});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("  equals " + right + " bit for bit\n"));

    std::vector<float> values = floats(right);
    values[3] += 0.5F;
    const std::string wrong =
        written("wrong.bin", {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
    run = run_program({"execute", "--launch", file, "--check-against", "y=" + wrong});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.out,
                HasSubstr("DIFFERS from " + wrong + ": 1 of 1,000 elements, the first 3:"));
    EXPECT_EQ(run.err, "occupipe: a buffer differs from what was expected\n");
    run = run_program(
        {"execute", "--launch", file, "--check-against", "y=" + wrong, "--absolute", "0.51"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("agrees with " + wrong + " within the tolerance; 1 elements"));
    // From the launch file.
    run = run_program(
        {"execute", "--launch", saxpy_file("check: [{buffer: y, against: wrong.bin}]\n")});
    EXPECT_EQ(run.exit_code, 1);
}

TEST_F(Execute, TakesASimpleLaunchFromTheCommandLine) {
    const ProgramRun run =
        run_program({"execute", faults, "--kernel", "saxpy", "--grid", "2", "--block", "16,2",
                     "--args", "x=f32[64]:ones y=f32[64]:value(3) f32:2 i32:64"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("saxpy<<<(2,1,1), (16,2,1)>>> for sm_90\n"));
    EXPECT_THAT(run.out, HasSubstr("y: f32[64], first 5 5 5 5;"));
}

// A launch without clusters is one of clusters of one group, whose barrier is the group's.
TEST_F(Execute, WaitsInAClusterOfOneGroup) {
    const ProgramRun run = run_program({"execute", faults, "--kernel", "clusters", "--grid", "2",
                                        "--block", "64", "--args", "y=i32[64]"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("y: i32[64], first 1 1 1 1; from 1 to 1,"));
    EXPECT_THAT(run.out, HasSubstr("BAR"));
}

TEST_F(Execute, PrintsTheCodeWithWhatItDid) {
    const ProgramRun run = run_program({"execute", "--launch", saxpy_file(), "--disassembly"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("faults.cu:11:\n"));
    EXPECT_THAT(run.out, ::testing::ContainsRegex("32  31.25  [0-9a-f]+    STG.E .*3.91 sectors"));
}

// 40,000 bytes, as ptxas -v says; the section has 1024 of the system's, too. With 36,800 dynamic
// ones, 3 groups fit into the core's 228 KiB; 2 would if the 1024 were counted twice.
TEST_F(Execute, CountsTheSystemsSharedMemoryOnce) {
    ProgramRun run =
        run_program({"execute", faults, "--kernel", "holds_much_shared", "--template"});
    EXPECT_THAT(run.out, HasSubstr("# beside the 40000 that it has\n"));
    run = run_program({"execute", faults, "--kernel", "holds_much_shared", "--grid", "1", "--block",
                       "32", "--shared-bytes", "36800", "--args", "y=f32[64]"});
    EXPECT_THAT(run.out, HasSubstr("a core holds 3 groups of 1 warp, 5 % of its warps; limited by "
                                   "shared memory"));
}

TEST_F(Execute, PrintsATemplateThatItTakes) {
    const ProgramRun run = run_program({"execute", faults, "--kernel", "saxpy", "--template"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("source: faults.cubin\n"));
    EXPECT_THAT(run.out, HasSubstr("- {i32: 0}  # 4 bytes: {i32: 0} or {f32: 0}\n"));
    const std::string file = written("template.yaml", run.out);
    const ProgramRun again = run_program({"execute", faults, "--launch", file});
    EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(Execute, ShowsProgressAfterTwoSecondsAndStopsAtCtrlC) {
    const std::string progress = " s: launch 1 of 1 (never_ends), 0 of 1 groups, ";
    const ProgramRun run = run_program_until({"execute", faults, "--kernel", "never_ends", "--grid",
                                              "1", "--block", "32", "--args", "y=i32[32]"},
                                             {}, progress);
    EXPECT_EQ(run.exit_code, 130);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(progress));
    EXPECT_THAT(run.err, HasSubstr("interrupted: launch 1 of 1 (never_ends), 0 of 1 groups, "));
}

TEST_F(Execute, EndsAPlanThatRepeatsWithoutLaunching) {
    const std::string plan =
        written("swap.yaml", "occupipe_launches: 1\nsource: " + faults +
                                 "\nbuffers:\n  a: {type: f32, count: 8, fill: zeros}\n"
                                 "  b: {type: f32, count: 8, fill: ones}\nlaunches:\n"
                                 "  - {repeat: 1000000000000, launches: [{swap: [a, b]}]}\n");
    const ProgramRun late = run_program({"execute", "--launch", plan, "--limit", "0.2s"});
    EXPECT_EQ(late.exit_code, 4) << late.err;
    const ProgramRun stopped = run_program({"execute", "--launch", plan}, {}, 0.5);
    EXPECT_EQ(stopped.exit_code, 130) << stopped.err;
}

TEST_F(Execute, EndsWhenTheTimeIsUp) {
    const ProgramRun run = run_program({"execute", faults, "--kernel", "never_ends", "--grid", "1",
                                        "--block", "32", "--args", "y=i32[32]", "--limit", "0.5s"});
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_THAT(run.err, HasSubstr("no end after 0.5 s (--limit): launch 1 of 1"));
}

TEST_F(Execute, CompilesSourceAndPtxWhereCompilersAre) {
    const ProgramRun run =
        run_program({"execute", source, "--arch", "sm_90", "--kernel", "saxpy", "--grid", "1",
                     "--block", "32", "--args", "x=f32[32]:ones y=f32[32]:ones 2 32"});
    if (!program_has_nvrtc()) {
        EXPECT_EQ(run.exit_code, 1);
        EXPECT_THAT(run.err, HasSubstr("NVRTC"));
        return;
    }
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("compiled by NVRTC "));
    EXPECT_THAT(run.out, HasSubstr("y: f32[32], first 3 3 3 3;"));
    const std::string broken = written("broken.cu", "__global__ void k() { this is wrong }\n");
    const ProgramRun refused =
        run_program({"execute", broken, "--arch", "sm_90", "--grid", "1", "--block", "32"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("broken.cu: does not compile for sm_90: "));
    EXPECT_THAT(refused.err, HasSubstr("broken.cu(1): error: "));
}

TEST_F(Execute, PrintsWidthsByArgumentAndWideNumbers) {
    if (!program_has_nvrtc()) GTEST_SKIP() << "no NVRTC";
    const char* const format = "%*d|%-*.*f|%zu|%jd|%td|%.*e|%s";
    const std::string text = written(
        "print.cu", std::string("extern \"C\" __global__ void k(int n) {\n  printf(\"") + format +
                        "\\n\", n, -3, n + 4, n - 4, 2.71828, 5000000000ull + n, "
                        "-5000000000ll, (long long)n, -n, 0.5, \"end\");\n}\n");
    std::array<char, 200> expected{};
    std::snprintf(expected.data(), expected.size(), format, 6, -3, 10, 2, 2.71828,
                  std::size_t{5000000006}, std::intmax_t{-5000000000}, std::ptrdiff_t{6}, -6, 0.5,
                  "end");
    for (const char* architecture : {"sm_75", "sm_120"}) {
        const ProgramRun run = run_program({"execute", text, "--arch", architecture, "--grid", "1",
                                            "--block", "1", "--args", "6", "--json", "-"});
        ASSERT_EQ(run.exit_code, 0) << run.err;
        EXPECT_EQ(nlohmann::json::parse(run.out).at("launches")[0].at("printed"),
                  std::string(expected.data()) + "\n");
    }
}

// NVRTC 13.0 takes the program with it on this text; another one may say what is wrong with it.
TEST_F(Execute, SaysThatTheCompilerCrashed) {
    if (!program_has_nvrtc()) GTEST_SKIP() << "no NVRTC";
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer ends the compiler before it crashes";
#endif
    const std::string text =
        written("crash.cu",
                "extern \"C\" __global__ void k(int* out) {\n  __shared__ unsigned long long b;\n"
                "  asm volatile(\"mbarrier.init.shared.b64 [%0], %1;\" ::\"r\"("
                "(unsigned)__cvta_generic_to_shared(&b)), \"r\"(0));\n  out[0] = 1;\n}\n");
    const ProgramRun run = run_program({"execute", text, "--arch", "sm_90", "--grid", "1",
                                        "--block", "32", "--args", "out=i32[1]"});
    if (run.exit_code == 0) GTEST_SKIP() << "this NVRTC does not crash";
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("crash.cu: NVRTC "));
    EXPECT_THAT(run.err, HasSubstr(" crashed while it compiled this for sm_90"));
}

// A script in the assembler's place that finds no program to run.
TEST_F(Execute, SaysThatTheAssemblerIsNotFound) {
    const std::string ptx = written("k.ptx", ".version 7.0\n.target sm_80\n");
    const std::string script = written("ptxas", "#!/bin/sh\nexec /nowhere/ptxas \"$@\"\n");
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const ProgramRun run = run_program({"execute", ptx, "--grid", "1", "--block", "1"},
                                       {"PATH=" + folder.path.string(), "OCCUPIPE_NVRTC="});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("ptxas: not found: " + script + " cannot run it: "));
}

TEST_F(Execute, AssemblesPtxWherePtxasIs) {
    const std::string ptx =
        written("k.ptx",
                ".version 7.0\n.target sm_80\n.address_size 64\n"
                ".visible .entry k(.param .u64 p, .param .u32 n) {\n"
                ".reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
                "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\ncvta.to.global.u64 %rd2, %rd1;\n"
                "st.global.u32 [%rd2], %r1;\nret;\n}\n");
    const ProgramRun run =
        run_program({"execute", ptx, "--grid", "1", "--block", "1", "--args", "y=i32[1] 42"});
    if (run.exit_code == 1) {
        EXPECT_THAT(run.err, HasSubstr("ptxas: not "));
        GTEST_SKIP() << run.err;
    }
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("k<<<(1,1,1), (1,1,1)>>> for sm_80\n"));
    EXPECT_THAT(run.out, HasSubstr("y: i32[1], first 42;"));
}

}  // namespace
}  // namespace occupipe::cli
