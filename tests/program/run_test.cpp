// SPDX-License-Identifier: MIT
// `occupipe run` as a user runs it, on a host program that needs no toolkit.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

const std::string host = OCCUPIPE_HOST_PROGRAM;
const std::string stored = OCCUPIPE_SOURCE_DIR "/tests/containers/zstd.fatbin";
// Its machine code is there; that of the second is not.
const std::string turing = "rtx-2080-ti", ampere = "rtx-3080";

ProgramRun run_host(std::vector<std::string> words, std::vector<std::string> options = {},
                    const std::string& profile = turing) {
    std::vector<std::string> all = {"run", "--profile", profile};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {"--", host, stored});
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all);
}

TEST(ProgramRun, AProgramsResultsAreRightAndItsKernelIsPredicted) {
    const ProgramRun run = run_host({"right"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("PASS"));
    EXPECT_THAT(run.out, Not(HasSubstr("limited by")));
    EXPECT_THAT(run.err, HasSubstr("NVIDIA GeForce RTX 2080 Ti: 1 launch,"));
    EXPECT_THAT(run.err, HasSubstr("16 × 64"));
    EXPECT_THAT(run.err, HasSubstr("copied: 4 kB host to device in 1"));
}

TEST(ProgramRun, WhatIsLaunchedAgainIsRightWhateverChangedInBetween) {
    const ProgramRun made = run_host({"repeats"});
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    EXPECT_THAT(made.err, HasSubstr("32 launches"));
}

TEST(ProgramRun, ASampleIsPredictedAsTheWholeLaunch) {
    std::vector<nlohmann::json> kernels;
    for (const bool sample : {false, true}) {
        const test::TemporaryFolder folder;
        std::vector<std::string> options = {"-o", (folder.path / "out").string()};
        if (sample) options.emplace_back("--sample");
        const ProgramRun made = run_host({"large"}, options);
        EXPECT_THAT(made.out, HasSubstr(sample ? "FAIL" : "PASS"));
        EXPECT_EQ(made.err.find("what the program computes is wrong") != std::string::npos, sample);
        kernels.push_back(nlohmann::json::parse(
            read_text_file(folder.path / "out" / "launches.json"))["kernels"]);
    }
    EXPECT_EQ(kernels[0][0]["predictions"], kernels[1][0]["predictions"]);
    EXPECT_EQ(kernels[0][0]["warp_instructions"], kernels[1][0]["warp_instructions"]);
    EXPECT_THAT(run_host({"right"}, {"--sample", "--check"}).err,
                HasSubstr("--check excludes --sample"));
}

TEST(ProgramRun, AnEarlierRunIsSetBeside) {
    const test::TemporaryFolder folder;
    const std::string before = (folder.path / "before.json").string();
    run_host({"right"}, {"--json", before});
    EXPECT_THAT(run_host({"repeats"}, {"--compare", before}).err,
                HasSubstr("NVIDIA GeForce RTX 2080 Ti against " + before));
    const ProgramRun other = run_host({"right"}, {"--compare", before}, "rtx-2060");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("has other GPUs (NVIDIA GeForce RTX 2080 Ti)"));
    EXPECT_THAT(other.out, Not(HasSubstr("PASS")));
}

TEST(ProgramRun, TheExitCodeIsTheProgramsOwn) {
    EXPECT_EQ(run_host({"code", "17"}).exit_code, 17);
    const ProgramRun aborted = run_host({"abort"});
    EXPECT_EQ(aborted.exit_code, 128 + SIGABRT);
    EXPECT_THAT(aborted.err, HasSubstr("ended by signal 6"));
    EXPECT_THAT(aborted.err, HasSubstr("1 launch,"));
}

TEST(ProgramRun, AnAccessOutsideIsToldOnceAndStays) {
    const ProgramRun run = run_host({"outside"});
    EXPECT_THAT(run.err, HasSubstr("thread (40,0,0): reads 4 bytes at"));
    EXPECT_THAT(run.err, HasSubstr(" 0 bytes past the end of buffer 'cudaMalloc 1' (32672 bytes"));
    EXPECT_THAT(run.err, HasSubstr("; a GPU does not notice that, and this run continues\n"));
    EXPECT_THAT(run.err, HasSubstr("cudaErrorIllegalAddress: kernel 'sums'"));
    EXPECT_THAT(run.err, HasSubstr(" 96 bytes past the end of buffer 'cudaMalloc 1' (32672"));
    EXPECT_THAT(run.out, HasSubstr("launch: cudaSuccess\nsynchronize: cudaErrorIllegalAddress\n"
                                   "copy: cudaErrorIllegalAddress\nfree: cudaErrorIllegalAddress"));
}

TEST(ProgramRun, OnErrorStopEndsTheProgramWithATable) {
    const ProgramRun run = run_host({"outside"}, {"--on-error", "stop"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.out, HasSubstr("copy: cudaSuccess\n"));
    EXPECT_THAT(run.out, Not(HasSubstr("launch: ")));
    EXPECT_THAT(run.err, HasSubstr("cudaErrorIllegalAddress: kernel 'sums'"));
    EXPECT_THAT(run.err, HasSubstr("copied: 32.67 kB host to device in 1"));
    EXPECT_THAT(run.err, HasSubstr("was ended at a memory error (--on-error stop)"));
}

// sums<<<129, 64>>> over 8232 elements, 8168 of which there are, to 128 sums: 64 reads too many and
// one write.
TEST(ProgramRun, OnErrorReportLeavesTheAccessOutAndGoesOn) {
    const test::TemporaryFolder folder;
    const std::string json = (folder.path / "run.json").string();
    const ProgramRun run = run_host({"outside"}, {"--on-error", "report", "--json", json});
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("synchronize: cudaSuccess"));
    EXPECT_THAT(run.err, HasSubstr("NVIDIA GeForce RTX 2080 Ti: 1 launch,"));
    const std::size_t found = run.err.find("found:\n");
    ASSERT_NE(found, std::string::npos) << run.err;
    EXPECT_THAT(run.err.substr(found), HasSubstr("memory error, 64 times, first: kernel 'sums'"));
    EXPECT_THAT(run.err.substr(found), HasSubstr("reads 4 bytes"));
    EXPECT_THAT(run.err.substr(found), HasSubstr("memory error, once: kernel 'sums'"));
    const auto findings = nlohmann::json::parse(read_text_file(json))["findings"];
    ASSERT_EQ(findings.size(), 2U);
    EXPECT_EQ(findings[0]["kind"], "memory error");
    EXPECT_EQ(findings[0]["count"].get<int>() + findings[1]["count"].get<int>(), 65);
}

TEST(ProgramRun, TheProgramsOwnExitCodeComesBeforeThatOfFindings) {
    const ProgramRun run = run_host({"code", "17"}, {"--on-error", "report", "--check"});
    EXPECT_EQ(run.exit_code, 17);
    EXPECT_THAT(run.err, Not(HasSubstr("found:")));
    EXPECT_EQ(run_host({"right"}, {"--check", "--on-error", "report"}).exit_code, 0);
}

TEST(ProgramRun, CheckFindsWhatNothingHasWritten) {
    const ProgramRun run = run_host({"unwritten"}, {"--check"});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.err, HasSubstr("unwritten memory, 1,000 times, first: kernel 'sums'"));
    EXPECT_THAT(run.err, HasSubstr("group (0,0,0), thread (0,0,0): reads 4 bytes"));
    EXPECT_THAT(run.err, HasSubstr("byte 0 of buffer 'cudaMalloc 1' (4000 bytes from"));
    EXPECT_THAT(run_host({"unwritten"}).err, Not(HasSubstr("nothing has written")));
}

TEST(ProgramRun, ClockPredictedReplacesTheHostsTimers) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "a sanitizer wants to be loaded first";
#endif
    const ProgramRun run = run_host({"clock"}, {"--clock", "predicted"});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("PASS"));
    EXPECT_THAT(run_host({"clock"}).out, HasSubstr("FAIL"));
}

TEST(ProgramRun, ATraceHasATrackForEachStream) {
    const test::TemporaryFolder folder;
    const fs::path kept = folder.path / "run";
    EXPECT_EQ(run_host({"right"}, {"-o", kept.string()}).exit_code, 0);
    const auto trace = nlohmann::json::parse(read_text_file(kept / "trace.json"));
    std::vector<std::string> names;
    double end = 0;
    for (const auto& event : trace["traceEvents"]) {
        if (event["ph"] == "M" && event["name"] == "thread_name") {
            EXPECT_EQ(event["args"]["name"], "default stream");
        }
        if (event["ph"] != "X") continue;
        names.push_back(event["name"]);
        EXPECT_EQ(event["tid"], 1);
        EXPECT_GE(event["ts"].get<double>(), end - 1e-9);
        EXPECT_GT(event["dur"].get<double>(), 0);
        end = event["ts"].get<double>() + event["dur"].get<double>();
    }
    EXPECT_EQ(names, (std::vector<std::string>{"host to device", "sums", "device to host"}));
    const auto launches = nlohmann::json::parse(read_text_file(kept / "launches.json"));
    for (const auto& event : trace["traceEvents"]) {
        if (event["name"] != "sums") continue;
        EXPECT_DOUBLE_EQ(event["dur"].get<double>() * 1e-6,
                         launches["kernels"][0]["predictions"][0]["seconds"].get<double>());
    }
}

TEST(ProgramRun, WhatIsNotThereIsRefusedByName) {
    const ProgramRun run = run_host({"refused"});
    EXPECT_THAT(run.out, HasSubstr("graph: cudaErrorNotSupported\nlast: cudaErrorNotSupported\n"
                                   "last: cudaSuccess\n"));
    EXPECT_THAT(run.err, HasSubstr("cudaGraphCreate is not executed here"));
}

TEST(ProgramRun, EightThreadsLaunch) {
    const ProgramRun run = run_host({"threads"});
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_THAT(run.err, HasSubstr("8 launches"));
}

TEST(ProgramRun, EventsTellPredictedTime) {
    const ProgramRun run = run_host({"times"});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(ProgramRun, AForkedProcessIsCountedToo) {
    const ProgramRun run = run_host({"fork"});
    EXPECT_EQ(run.exit_code, 0) << run.out;
    EXPECT_THAT(run.out, HasSubstr("child: 5"));
    EXPECT_THAT(run.err, HasSubstr("2 launches"));
}

TEST(ProgramRun, CodeOfAnotherArchitectureIsSaidToStandIn) {
    const ProgramRun run = run_host({"right"}, {}, ampere);
    EXPECT_THAT(run.out, HasSubstr("PASS"));
    EXPECT_THAT(run.err, HasSubstr("no machine code for sm_86"));
    EXPECT_THAT(run.err, HasSubstr("sm_90 was executed and predicted in its place"));
}

TEST(ProgramRun, SeveralGpusFromOneExecution) {
    const ProgramRun run = run_host({"right"}, {"--profile", "rtx-2060", "--json", "-"});
    const std::size_t begin = run.out.find("{\n");
    ASSERT_NE(begin, std::string::npos) << run.out << run.err;
    const auto json = nlohmann::json::parse(run.out.substr(begin));
    EXPECT_EQ(json["profiles"].size(), 2U);
    EXPECT_EQ(json["launches"], 1);
    const auto& predictions = json["kernels"][0]["predictions"];
    ASSERT_EQ(predictions.size(), 2U);
    for (const auto& one : predictions) EXPECT_GT(one["seconds"].get<double>(), 1e-6);
    EXPECT_EQ(json["kernels"][0]["kernel"], "sums");
}

// What the program does with descriptors that it has not opened is its own affair.
TEST(ProgramRun, AProgramMayCloseAllFiles) {
    const test::TemporaryFolder folder;
    const std::string own = (folder.path / "own").string();
    const ProgramRun run = run_host({"closes", own});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("2 launches"));
    EXPECT_EQ(read_text_file(own), "its own\n");
}

TEST(ProgramRun, AnExitCodeIsNoSignal) {
    const ProgramRun run = run_host({"code", "200"});
    EXPECT_EQ(run.exit_code, 200);
    EXPECT_THAT(run.err, Not(HasSubstr("signal")));
}

TEST(ProgramRun, AFolderKeepsJsonAndCsv) {
    const test::TemporaryFolder folder;
    const fs::path kept = folder.path / "run";
    EXPECT_EQ(run_host({"right"}, {"-o", kept.string()}).exit_code, 0);
    EXPECT_TRUE(fs::exists(kept / "launches.json"));
    const std::string csv = read_text_file(kept / "launches.csv");
    EXPECT_THAT(csv, HasSubstr("NVIDIA GeForce RTX 2080 Ti,sums,16,1,1,64,1,1,0,1,"));
    const ProgramRun again = run_host({"right"}, {"-o", kept.string()});
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.err, HasSubstr("--force replaces the run in it"));
    EXPECT_EQ(run_host({"right"}, {"-o", kept.string(), "--force"}).exit_code, 0);
}

TEST(ProgramRun, ALimitEndsTheProgramAndKeepsWhatThereIs) {
    const ProgramRun run = run_host({"often"}, {"--limit", "2s"});
    EXPECT_EQ(run.exit_code, 4);
    EXPECT_THAT(run.err, HasSubstr("was ended after 2s (--limit)"));
    EXPECT_THAT(run.err, HasSubstr("launches, "));
}

TEST(ProgramRun, ALaunchHasALimitOfItsOwn) {
    const ProgramRun run = run_host({"right"}, {"--limit", "100"});
    EXPECT_THAT(run.out, HasSubstr("synchronize: cudaErrorLaunchTimeout"));
    EXPECT_THAT(run.err, HasSubstr("more than the 100 warp-instructions"));
}

TEST(ProgramRun, AnInterruptPrintsTheTable) {
    const ProgramRun run =
        run_program({"run", "--profile", turing, "--", host, stored, "often"}, {}, 2, SIGINT);
    EXPECT_EQ(run.exit_code, 128 + SIGINT);
    EXPECT_THAT(run.err, HasSubstr("limited by"));
}

TEST(ProgramRun, BadInputIsRefusedBeforeAnythingRuns) {
    const test::TemporaryFolder folder;
    const std::string text = (folder.path / "text").string();
    std::ofstream(text) << "words\n";
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
        {{"--profile", turing, "--", "/no/such"}, "there is no such file"},
        {{"--profile", turing, "--", folder.path.string()}, "is a folder"},
        {{"--profile", turing, "--", text}, "is not executable"},
        {{"--profile", turing, "--", "no-such-program"}, "on the PATH"},
        {{"--profile", "gtx-1060", "--", host}, "is not executed"},
        {{"--profile", "no-such-gpu", "--", host}, "no-such-gpu"},
        {{"--profile", turing, "--limit", "soon", "--", host}, "soon"},
        {{"--profile", turing, "--on-error", "ignore", "--", host}, "ignore not in {stop,report}"},
        {{"--profile", turing, "--on-error", "", "--", host}, "--on-error"},
        {{"--profile", turing, "--clock", "real", "--", host}, "real not in {predicted}"},
        {{"--profile", turing, "--check=often", "--", host}, "--check"},
        {{"--profile", turing, "--json", text, "--", host}, "exists already"},
        {{"--profile", turing}, "program is required"},
        {{"--", host}, "--profile"},
    };
    for (const auto& [words, message] : cases) {
        std::vector<std::string> all = {"run"};
        all.insert(all.end(), words.begin(), words.end());
        const ProgramRun run = run_program(all);
        EXPECT_EQ(run.exit_code, 2) << message;
        EXPECT_THAT(run.err, HasSubstr(message));
    }
}

TEST(ProgramRun, AProgramWithoutCudaRunsAndIsToldSo) {
    const ProgramRun run =
        run_program({"run", "--profile", turing, "--", "sh", "-c", "echo $0; exit 3"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_EQ(run.out, "sh\n");
    EXPECT_THAT(run.err, HasSubstr("no kernel was launched"));
}

// The program alone, with nobody who has started it for the library.
TEST(ProgramRun, TheLibraryAloneHasNoDevice) {
    const ProgramRun run = run_program({"run", "--profile", turing, "--", "env", "-u",
                                        "OCCUPIPE_RUN_FOLDER", host, stored, "devices"});
    EXPECT_THAT(run.out, HasSubstr("count: cudaErrorNoDevice\n0 devices"));
    EXPECT_THAT(run.err, HasSubstr("start the program by 'occupipe run"));
}

// Names of the table of exports that a version has, forms included.
std::vector<std::string> exports(const std::string& version) {
    std::ifstream file(OCCUPIPE_SOURCE_DIR "/program/cudart/exports.txt");
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        const bool is_of_one = line.find(" @") != std::string::npos;
        if (is_of_one && line.find(" @" + version) == std::string::npos) continue;
        std::istringstream words(line);
        std::string name;
        words >> name;
        all.push_back(name);
        for (std::string form; words >> form;) {
            const std::size_t mark = form.find('@');
            if (mark == 0) continue;
            if (mark == std::string::npos || form.substr(mark + 1) == version)
                all.push_back(form.front() == '=' ? form.substr(1, mark - 1)
                                                  : name + "_" + form.substr(0, mark));
        }
    }
    return all;
}

class ProgramLibrary : public ::testing::TestWithParam<std::string> {};

TEST_P(ProgramLibrary, ExportsTheWholeTableUnderTheRealOnesVersion) {
    const std::string name_of_library = "libcudart.so." + GetParam();
    void* const library =
        dlopen((OCCUPIPE_CUDART_FOLDER "/" + name_of_library).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const std::vector<std::string> names = exports(GetParam());
    EXPECT_EQ(names.size(), GetParam() == "13" ? 422U : 435U);
    for (const std::string& name : names)
        EXPECT_NE(dlvsym(library, name.c_str(), name_of_library.c_str()), nullptr) << name;
    EXPECT_EQ(dlsym(library, "_ZN8occupipe7program7Runtime3getEv"), nullptr);
    dlclose(library);
}

TEST_P(ProgramLibrary, TheRealOneHasEveryName) {
    const std::string name = "/lib64/libcudart.so." + GetParam();
    std::string path;
    for (const char* folder :
         {"/usr/local/cuda", "/usr/local/cuda-13.0", "/usr/local/cuda-12.9", "/usr/local/cuda-12"})
        if (fs::exists(folder + name)) path = folder + name;
    if (path.empty()) GTEST_SKIP() << "this CUDA runtime is not here";
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) GTEST_SKIP() << dlerror();
    for (const std::string& one : exports(GetParam()))
        EXPECT_NE(dlsym(library, one.c_str()), nullptr) << one;
}

INSTANTIATE_TEST_SUITE_P(Versions, ProgramLibrary, ::testing::Values("12", "13"),
                         [](const auto& one) { return one.param; });

TEST(ProgramRun, AProgramOfCuda12RunsAsOneOfCuda13) {
    const std::string host_12 = OCCUPIPE_HOST_PROGRAM_12;
    for (const char* what : {"right", "repeats", "threads", "refused"}) {
        const ProgramRun run =
            run_program({"run", "--profile", turing, "--", host_12, stored, what});
        EXPECT_EQ(run.exit_code, 0) << what << run.err;
        EXPECT_THAT(run.out, HasSubstr("PASS"));
    }
    const ProgramRun run =
        run_program({"run", "--profile", turing, "--", host_12, stored, "right"});
    EXPECT_EQ(run.err, run_host({"right"}).err);
}

TEST(ProgramRun, Cuda12LaysOutWhatItReturnsInItsOwnWay) {
    const std::string host_12 = OCCUPIPE_HOST_PROGRAM_12;
    const ProgramRun run =
        run_program({"run", "--profile", turing, "--", host_12, stored, "layout"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err.find("refused"), std::string::npos) << run.err;
    EXPECT_THAT(run.out, HasSubstr("NVIDIA GeForce RTX 2080 Ti\n"));
    for (const char* field :
         {"maxGridSize[2] 65535", "clockRate 1545000", "totalConstMem 65536", "minor 5",
          "deviceOverlap 1", "multiProcessorCount 68", "canMapHostMemory 1", "surfaceAlignment 512",
          "l2CacheSize 5767168", "sharedMemPerMultiprocessor 65536", "managedMemory 1",
          "cooperativeLaunch 1", "sharedMemPerBlockOptin 65536", "maxBlocksPerMultiProcessor 16",
          "memoryPoolsSupported 1"})
        EXPECT_THAT(run.out, HasSubstr(std::string("\n") + field + "\n"));
    EXPECT_THAT(run.out, ::testing::ContainsRegex("\nmemoryClockRate [1-9][0-9]{6}\n"));
    EXPECT_THAT(run.out, HasSubstr("\n12090\nPASS"));
}

}  // namespace
}  // namespace occupipe::cli::testing
