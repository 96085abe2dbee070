// SPDX-License-Identifier: MIT
// Programs of tests/program/cuda as nvcc compiles them; each checks itself. Skipped without nvcc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::HasSubstr;

// Compiled once for all tests of this process; empty: there is no nvcc.
class Compiled {
public:
    const std::string& path(const std::string& name, const std::string& options) {
        std::string& path = paths_[name + options];
        if (!path.empty() || !has_nvcc()) return path;
        const std::string wanted =
            (folder_.path / ("program" + std::to_string(paths_.size()))).string();
        const std::string command = "nvcc -arch=sm_86 -lineinfo -std=c++17 -w " + options + " -o " +
                                    wanted + " " OCCUPIPE_SOURCE_DIR "/tests/program/cuda/" + name +
                                    ".cu > " + wanted + ".log 2>&1";
        if (std::system(command.c_str()) == 0) path = wanted;
        EXPECT_FALSE(path.empty()) << command;
        return path;
    }

private:
    // A program of nvcc's has no sanitizer, which the library would want to come first.
    static bool has_nvcc() {
#ifdef __SANITIZE_ADDRESS__
        return false;
#endif
        static const bool found = std::system("nvcc --version > /dev/null 2>&1") == 0;
        return found;
    }

    test::TemporaryFolder folder_;
    std::map<std::string, std::string> paths_;
};

Compiled& compiled() {
    static Compiled all;
    return all;
}

ProgramRun run(const std::string& path, std::vector<std::string> words = {},
               std::vector<std::string> options = {}) {
    std::vector<std::string> all = {"run", "--profile", "rtx-3080"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", path});
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all);
}

constexpr const char* shared = "-cudart shared";

class ProgramCompiled : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramCompiled, PassesItsOwnCheck) {
    const std::string options =
        GetParam() == "threads" ? "-cudart shared -Xcompiler -fopenmp" : shared;
    const std::string& path = compiled().path(GetParam(), options);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path);
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    EXPECT_THAT(made.out, HasSubstr("PASS"));
    EXPECT_THAT(made.err, HasSubstr("NVIDIA GeForce RTX 3080: "));
    EXPECT_THAT(made.err, ::testing::Not(HasSubstr("not known")));
}

INSTANTIATE_TEST_SUITE_P(Cuda, ProgramCompiled,
                         ::testing::Values("streams", "memory", "symbols", "threads", "device_code",
                                           "algorithms", "effects", "managed", "heap"));

// 400 launches that write what is there already take less than 40 that do not.
TEST(ProgramRepeats, AreNotExecutedWhereTheyChangeNothing) {
    const std::string& path = compiled().path("effects", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const test::TemporaryFolder folder;
    const ProgramRun made = run(path, {"time"}, {"-o", (folder.path / "out").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const auto kernels =
        nlohmann::json::parse(read_text_file(folder.path / "out" / "launches.json"))["kernels"];
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[0]["launches"], 400);
    EXPECT_EQ(kernels[1]["launches"], 40);
    EXPECT_LT(kernels[0]["host_seconds"], kernels[1]["host_seconds"]);
}

// 4 MiB of pinned memory, over the 31.5 GB/s of PCIe 4.0 and the 63 GB/s of 5.0.
TEST(ProgramMemory, OfTheHostComesOverTheBus) {
    const std::string& path = compiled().path("memory", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const test::TemporaryFolder folder;
    const ProgramRun made =
        run(path, {}, {"--profile", "h200", "-o", (folder.path / "out").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("comes over the bus"));
    const auto kernels =
        nlohmann::json::parse(read_text_file(folder.path / "out" / "launches.json"))["kernels"];
    const auto from_host = std::ranges::find_if(kernels, [](const auto& one) {
        return one["kernel"] == "from_host(float const*, float*, int)";
    });
    ASSERT_NE(from_host, kernels.end());
    const std::map<std::string, double> link = {{"NVIDIA GeForce RTX 3080", 31.5e9},
                                                {"NVIDIA H200", 63e9}};
    for (const auto& one : (*from_host)["predictions"]) {
        EXPECT_EQ(one["limited_by"], "bus");
        EXPECT_NEAR(one["seconds"].get<double>(), (4 << 20) / link.at(one["profile"]), 1e-9);
    }
}

TEST(ProgramHeap, WhatIsFreedTwiceIsToldWithItsLine) {
    const std::string& path = compiled().path("heap", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path, {"twice"});
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    EXPECT_THAT(made.err, HasSubstr("heap.cu:"));
    EXPECT_THAT(made.err, HasSubstr("where nothing is allocated by malloc"));
    EXPECT_THAT(made.err, HasSubstr("a kernel allocates memory (malloc), whose time is not"));
}

TEST(ProgramHeap, TheDriversFunctionsAreThereInRelocatableCode) {
    const std::string& path = compiled().path("heap", std::string(shared) + " -rdc=true");
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path, {}, {"--check", "--on-error", "report"});
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    EXPECT_THAT(made.out, HasSubstr("PASS"));
    EXPECT_THAT(made.err, ::testing::Not(HasSubstr("found:")));
}

// The walk of docs/how-to/run-program.md.
TEST(ProgramWalk, IsAsItIsWritten) {
    const std::string& path = compiled().path("../../../docs/how-to/files/heat", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path, {"64", "10"});
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    EXPECT_THAT(made.out, HasSubstr("PASS"));
    EXPECT_THAT(made.err, HasSubstr("13 launches"));
    const std::string& wrong =
        compiled().path("../../../docs/how-to/files/heat", "-cudart shared -DOFF_BY_ONE");
    const ProgramRun told = run(wrong, {"128", "10"});
    EXPECT_EQ(told.exit_code, 1);
    EXPECT_THAT(told.out, HasSubstr("cudaMemcpy: an illegal memory access was encountered"));
    EXPECT_THAT(told.err, HasSubstr("(heat.cu:27), group (0,15,0), thread (1,7,0): reads 4 bytes"));
    EXPECT_THAT(told.err, HasSubstr("4 bytes past the end of buffer"));
}

TEST(ProgramRepeats, AreAsTheLaunchWhoseCachesWereAlike) {
    const std::string& path = compiled().path("repeats", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const test::TemporaryFolder folder;
    const ProgramRun made = run(path, {}, {"-o", (folder.path / "out").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const auto kernels =
        nlohmann::json::parse(read_text_file(folder.path / "out" / "launches.json"))["kernels"];
    ASSERT_EQ(kernels.size(), 3U);
    EXPECT_EQ(kernels[0]["launches"], 4);
    EXPECT_EQ(kernels[0]["predicted_launches"], 2);
    // The last prediction's: all that it reads is in L2.
    EXPECT_EQ(kernels[0]["predictions"][0]["dram_bytes_each"], 0);
    // By turns with two strides: each launch takes the time of its own.
    const auto trace = nlohmann::json::parse(read_text_file(folder.path / "out" / "trace.json"));
    std::vector<double> times, copies;
    for (const auto& event : trace["traceEvents"]) {
        if (event["name"].get<std::string>().starts_with("gather")) times.push_back(event["dur"]);
        if (event["name"].get<std::string>().starts_with("copy")) copies.push_back(event["dur"]);
    }
    // To and fro: what the first launch found in caches, the last one does not.
    ASSERT_EQ(copies.size(), 3U);
    EXPECT_GT(copies[2], 1.2 * copies[0]);
    ASSERT_EQ(times.size(), 6U);
    EXPECT_GT(times[1], 1.5 * times[0]);
    for (std::size_t i = 2; i < times.size(); ++i) EXPECT_EQ(times[i], times[i % 2]);
    // A sample goes by the arguments, too.
    run(path, {}, {"--sample", "--force", "-o", (folder.path / "out").string()});
    const auto sampled = nlohmann::json::parse(read_text_file(folder.path / "out" / "trace.json"));
    std::vector<double> of_sample;
    for (const auto& event : sampled["traceEvents"])
        if (event["name"].get<std::string>().starts_with("gather"))
            of_sample.push_back(event["dur"]);
    EXPECT_EQ(of_sample, times);
}

// Groups that wait for one that works cost it no time.
TEST(ProgramTogether, WaitingAtABarrierOfTheGridIsFree) {
    const std::string& path = compiled().path("uneven", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const test::TemporaryFolder folder;
    const ProgramRun made = run(path, {}, {"-o", (folder.path / "out").string()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("PASS"));
    std::map<std::string, double> seconds;
    const auto kernels =
        nlohmann::json::parse(read_text_file(folder.path / "out" / "launches.json"))["kernels"];
    for (const auto& kernel : kernels)
        seconds[kernel["symbol"]] = kernel["predictions"][0]["seconds"];
    EXPECT_GT(seconds.at("_Z5alonePji"), 20e-6);
    EXPECT_LT(seconds.at("_Z7waitingPji"), seconds.at("_Z5alonePji") + 4e-6);
}

TEST(ProgramNested, AKernelThatLaunchesAnotherOneIsRefusedAlone) {
    const std::string& path = compiled().path("nested", "-cudart shared -rdc=true -lcudadevrt");
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path);
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    EXPECT_THAT(made.out, HasSubstr("PASS"));
    EXPECT_THAT(made.err, HasSubstr("kernel 'launch(int*)'"));
    EXPECT_THAT(made.err, HasSubstr("which is not executed"));
}

struct Fault {
    std::string what;
    std::vector<std::string> out, err;  // parts
    int code = 0;
    std::vector<std::string> options = {};
};

TEST(ProgramFaults, AreToldAndBecomeCudasErrors) {
    const std::string& path = compiled().path("faults", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const std::vector<Fault> faults = {
        {"nothing", {}, {"no kernel was launched"}},
        {"exit", {}, {}, 17},
        {"outside",
         {"launch: cudaSuccess\nsynchronize: cudaErrorIllegalAddress", "malloc: cudaErrorIllegal"},
         {"kernel 'store(float*, int)'", "(faults.cu:15)", "thread (0,0,0): writes 4 bytes",
          " 28768 bytes past the end of buffer 'cudaMalloc 1'"}},
        {"behind",
         {"synchronize: cudaSuccess", "behind: 1"},
         {"thread (232,0,0): writes 4 bytes", " 0 bytes past the end of buffer 'cudaMalloc 1'",
          "; a GPU does not notice that, and this run continues"}},
        {"behind",
         {"synchronize: cudaSuccess", "behind: 0"},
         {"found:\n  memory error, 10 times"},
         1,
         {"--on-error", "report"}},
        {"host", {"synchronize: cudaErrorIllegalAddress"}, {"writes 4 bytes"}},
        {"freed", {"synchronize: cudaErrorIllegalAddress"}, {"were freed before"}},
        {"reset", {"malloc: cudaErrorIllegalAddress\nreset: cudaSuccess\nmalloc: cudaSuccess"}, {}},
        {"misaligned",
         {"synchronize: cudaErrorMisalignedAddress"},
         {"(faults.cu:18)", "not a multiple of 8"}},
        {"assert",
         {"synchronize: cudaErrorAssert"},
         {"thread: [31,0,0] Assertion `x[threadIdx.x] == 0` failed."}},
        {"shape",
         {"launch: cudaErrorInvalidConfiguration"},
         {"kernel 'store(float*, int)' is not launched: (1,1,1) groups of (2048,1,1) threads",
          "no kernel was launched\n"}},
        {"texture",
         {"launch: cudaErrorNotSupported"},
         {"kernel 'look(unsigned long long, float*)': TLD, a texture fetch", "(faults.cu:30)"}},
        {"twice",
         {"free: cudaSuccess\nagain: cudaErrorInvalidValue\nlast: cudaErrorInvalidValue"},
         {"freed a second time"}},
        {"huge",
         {"malloc: cudaErrorMemoryAllocation", "synchronize: cudaSuccess"},
         {"do not fit", "10737418240 bytes of NVIDIA GeForce RTX 3080"}},
        {"copy", {"copy: cudaErrorInvalidValue"}, {"end 4 bytes past the end of buffer"}},
        {"bounds",
         {"launch: cudaSuccess", "threads: 64\nlaunch: cudaErrorInvalidValue"},
         {"has __launch_bounds__ of 64 threads a group, not 128"}},
        {"graph", {"graph: cudaErrorNotSupported", "copy: cudaSuccess"}, {"cudaGraphCreate"}},
        {"abort", {"synchronize: cudaSuccess"}, {"signal 6", "1 launch,"}, 134},
        {"kill", {"synchronize: cudaSuccess"}, {"signal 9", "1 launch,"}, 137},
        {"fork", {"child: 3"}, {"2 launches"}},
        {"exec", {"malloc: cudaErrorMemoryAllocation"}, {"2 launches"}},
        {"endless",
         {},
         {"for_ever of 1 × 1 was at work", "1 launch,", "ended after 3s"},
         4,
         {"--limit", "3s"}},
        {"endless",
         {"synchronize: cudaErrorLaunchTimeout"},
         {"more than the 1000000 warp-instructions"},
         0,
         {"--limit", "1000000"}},
    };
    for (const Fault& fault : faults) {
        const ProgramRun made = run(path, {fault.what}, fault.options);
        EXPECT_EQ(made.exit_code, fault.code) << fault.what << made.err;
        for (const std::string& part : fault.out)
            EXPECT_THAT(made.out, HasSubstr(part)) << fault.what;
        for (const std::string& part : fault.err)
            EXPECT_THAT(made.err, HasSubstr(part)) << fault.what;
    }
}

// Lines of defects.cu, by what stands there.
int line_of(const std::string& text) {
    std::ifstream file(OCCUPIPE_SOURCE_DIR "/tests/program/cuda/defects.cu");
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.find(text) != std::string::npos) return number;
    }
    ADD_FAILURE() << text;
    return 0;
}

std::string place(const std::string& text) { return "defects.cu:" + std::to_string(line_of(text)); }

struct Defect {
    std::string what;
    std::vector<std::string> options;
    std::vector<std::string> err;  // parts
};

TEST(ProgramDefects, AreFoundWithLineThreadAndCount) {
    const std::string& path = compiled().path("defects", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const std::vector<Defect> defects = {
        {"unwritten",
         {"--check"},
         {"unwritten memory, 4 times, first: kernel 'sum_pairs(float const*, float*)'",
          place("out[i] = in[2 * i]"), "group (7,0,0), thread (63,0,0): reads 4 bytes",
          "which nothing has written: byte 4088 of buffer"}},
        {"copied", {"--check"}, {"unwritten memory, 4 times", "group (0,0,0), thread (0,0,0)"}},
        {"unwritten_shared",
         {"--check"},
         {"unwritten memory, 8 times", place("part[threadIdx.x + 1]"),
          "group (0,0,0), thread (63,0,0): reads 4 bytes at "}},
        // Warp 0 reads what warp 1 has yet to write, or warp 1 what warp 0 wrote: 32 lanes a group.
        {"race_shared",
         {"--check"},
         {"race, ", "shared memory that another warp",
          place("part[(threads - 1) ^ threadIdx.x];")}},
        {"race_read",
         {"--check"},
         {"race, ", "kernel 'shift_in_place(float*)'", "which another group",
          "in the same launch: byte "}},
        {"race_write",
         {"--check"},
         {"race, ", "(" + place("out[0] = blockIdx.x;"), "thread (0,0,0): writes 4 bytes",
          "which another group writes differently in the same launch"}},
        {"outside",
         {"--on-error", "report"},
         {"memory error, 10 times, first: kernel 'outside(float*, int)'", place("x[i + 1000];"),
          "group (7,0,0), thread (54,0,0): reads 4 bytes"}},
        {"misaligned",
         {"--on-error", "report"},
         {"memory error, 32 times", "which is not a multiple of 8"}},
        {"atomic",
         {"--on-error", "report"},
         {"memory error, 32 times", "thread (32,0,0): changes"}},
        {"shared",
         {"--on-error", "report"},
         {"memory error, 64 times", "of the group's shared memory, which reaches from"}},
        {"free", {"--on-error", "report"}, {"memory error, once: ", "freed a second time"}},
    };
    for (const Defect& defect : defects) {
        const ProgramRun made = run(path, {defect.what}, defect.options);
        EXPECT_EQ(made.exit_code, 1) << defect.what << made.err;
        EXPECT_THAT(made.out, HasSubstr("PASS")) << defect.what << made.err;
        for (const std::string& part : defect.err)
            EXPECT_THAT(made.err, HasSubstr(part)) << defect.what;
    }
}

TEST(ProgramDefects, AProgramWithoutAnyHasNone) {
    const std::string& path = compiled().path("defects", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path, {"clean"}, {"--check", "--on-error", "report"});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("--check does not look for races in global memory of "
                                    "last_adds_up(float*, unsigned int*, float*): it has fences"));
}

TEST(ProgramDefects, OnErrorStopEndsAtADoubleFree) {
    const std::string& path = compiled().path("defects", shared);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path, {"free"}, {"--on-error", "stop"});
    EXPECT_EQ(made.exit_code, 1);
    EXPECT_EQ(made.out, "");
    EXPECT_THAT(made.err, HasSubstr("freed a second time"));
}

// Every one of them that passes its own check has none of what is looked for.
TEST_P(ProgramCompiled, HasNothingThatCheckFinds) {
    const std::string options =
        GetParam() == "threads" ? "-cudart shared -Xcompiler -fopenmp" : shared;
    const std::string& path = compiled().path(GetParam(), options);
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path, {}, {"--check"});
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
}

TEST(ProgramFaults, TheStaticRuntimeIsRefusedWithTheFlagThatMendsIt) {
    const std::string& path = compiled().path("streams", "-cudart static");
    if (path.empty()) GTEST_SKIP() << "there is no nvcc, or a sanitizer is in the library";
    const ProgramRun made = run(path);
    EXPECT_EQ(made.exit_code, 2);
    EXPECT_THAT(made.err, HasSubstr("nvcc -cudart shared"));
}

}  // namespace
}  // namespace occupipe::cli::testing
