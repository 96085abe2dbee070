// SPDX-License-Identifier: MIT
// tools/gpu_run.sh from end to end, on a model device and with a driver that only pretends
// (tests/bench/cuda/fake_libcuda.cpp).
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

class GpuRun : public ::testing::Test {
protected:
    // Starts the script as the leader of a process group of its own.
    pid_t start(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment = {}) const {
        std::vector<std::string> words = {"bash", OCCUPIPE_SOURCE_DIR "/tools/gpu_run.sh"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> argv;
        for (std::string& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        const std::string out = (folder / "stdout").string(), err = (folder / "stderr").string();
        const pid_t child = fork();
        if (child != 0) return child;
        setpgid(0, 0);
        setenv("OCCUPIPE", OCCUPIPE_PROGRAM, 1);
        unsetenv("DEVICE");
        unsetenv("OUT");
        for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
        const int flags = O_WRONLY | O_CREAT | O_TRUNC;
        dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
        dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    static int wait_for(pid_t child) {
        int status = 0;
        waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    int run(const std::vector<std::string>& arguments,
            const std::vector<std::string>& environment = {}) const {
        return wait_for(start(arguments, environment));
    }

    std::string out() const { return text_of(folder / "stdout"); }
    std::string err() const { return text_of(folder / "stderr"); }
    std::string at(const char* name) const { return (folder / name).string(); }

    // Names in the archive of an output folder.
    std::string archived(const char* output) const {
        const std::string list = at("list");
        const std::string command =
            fmt::format("tar -tzf {}/gpu-results.tar.gz > {} 2>&1", at(output), list);
        EXPECT_EQ(std::system(command.c_str()), 0) << text_of(list);
        return text_of(list);
    }

    std::string model() const {
        std::ofstream(folder / "p.yaml") << "format: occupipe-profile/1\n"
                                            "device: {name: X, vendor: V, architecture: A}\n"
                                            "cores: 4\nwarp_size: 32\nclock_hz: 1000000000\n"
                                            "limits: {warps: 16, groups: 8, group_warps: 8}\n"
                                            "subsystems:\n  alu: {scope: core}\n"
                                            "instructions:\n"
                                            "  fma.f32: {subsystem: alu, cpi: 0.5, latency: 6}\n"
                                            "  add.f32: {subsystem: alu, cpi: 0.5, latency: 4}\n";
        return "model:" + at("p.yaml");
    }

    // Until the file has that many bytes; false after eight minutes.
    static bool grows_to(const fs::path& file, std::uintmax_t bytes) {
        for (int i = 0; i < 9600; ++i) {
            std::error_code none;
            const auto size = fs::file_size(file, none);
            if (!none && size >= bytes) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        return false;
    }

    test::TemporaryFolder own;
    const fs::path& folder = own.path;
};

// The pretended GPU's figures are no Hopper's: --force goes on.
const std::vector<std::string> pretended = {"OCCUPIPE_CUDA_DRIVER=" OCCUPIPE_FAKE_LIBCUDA,
                                            "OCCUPIPE_NVML=none"};
std::vector<std::string> pretended_with(const std::string& fault) {
    std::vector<std::string> environment = pretended;
    environment.push_back("OCCUPIPE_FAKE_CUDA=" + fault);
    return environment;
}

#define NEED_NVRTC() \
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc

TEST_F(GpuRun, SaysWithoutAGpuWhatItWouldDoAndHowLong) {
    EXPECT_EQ(run({"--dry-run", "--arch", "sm_90"}), 0) << err();
    for (const char* step : {"preflight", "smoke", "quick", "float", "special", "memory", "matrix",
                             "integer", "double", "report"}) {
        EXPECT_THAT(out(), ::testing::ContainsRegex(fmt::format("(^|\n){} +[1-9][0-9]* ", step)));
    }
    EXPECT_THAT(out(), HasSubstr("not calibrated on a GPU"));
}

TEST_F(GpuRun, BadWordsAreRefused) {
    EXPECT_EQ(run({"--seconds", "0"}), 2);
    EXPECT_EQ(run({"--arch", "sm_90"}), 2);
    EXPECT_EQ(run({"everything"}), 2);
    EXPECT_EQ(run({"--device", model(), "--resume", at("none"), "--output", at("o")}), 2);
}

TEST_F(GpuRun, NothingToRunOnIsSaid) {
    EXPECT_EQ(run({"--device", "cuda:0", "--output", at("o")}, {"OCCUPIPE_CUDA_DRIVER=none"}), 3);
    EXPECT_THAT(err(), HasSubstr("nothing can be measured"));
}

TEST_F(GpuRun, AFolderThatCannotBeWrittenIsSaidBeforeAnythingIsMeasured) {
    std::ofstream(folder / "file") << "x";
    EXPECT_EQ(run({"--device", model(), "--output", at("file")}), 1);
    EXPECT_THAT(err(), HasSubstr("cannot be written"));
}

TEST_F(GpuRun, MeasuresFitsAndPacksAndIsNotDoneTwice) {
    const std::vector<std::string> words = {"--device", model(), "--output",
                                            at("o"),    "quick", "float"};
    EXPECT_EQ(run(words), 0) << err();
    EXPECT_THAT(err(), AllOf(HasSubstr("smoke: complete"), HasSubstr("float: complete")));
    const std::string names = archived("o");
    for (const char* name :
         {"smoke.json\n", "quick.json\n", "float.json\n", "machine.txt\n", "run.log\n"}) {
        EXPECT_THAT(names, HasSubstr(name));
    }
#if OCCUPIPE_FIT
    EXPECT_THAT(names, AllOf(HasSubstr("report/profile.yaml"), HasSubstr("report/table.md")));
    EXPECT_THAT(text_of(folder / "o/report/table.md"), HasSubstr("fma.f32"));
#endif
    EXPECT_EQ(run(words), 0) << err();
    EXPECT_THAT(err(), AllOf(HasSubstr("quick: complete already"), HasSubstr("judged again")));
}

TEST_F(GpuRun, ANoGoStopsAndForceGoesOn) {
    NEED_NVRTC();
    const int code = run({"--device", "cuda:0", "--output", at("o"), "double"}, pretended);
    EXPECT_EQ(code, 1);
    EXPECT_THAT(err(), HasSubstr("smoke: NO-GO"));
    EXPECT_THAT(err(), HasSubstr("NO-GO, above all because of"));
    EXPECT_THAT(archived("o"),
                AllOf(HasSubstr("smoke.json"), HasSubstr("receipts/"), Not(HasSubstr("double"))));
    // Told to stop in the middle of a part: 4, and the archive has what there is.
    const pid_t script = start({"--device", "cuda:0", "--output", at("o"), "--force", "double"},
                               pretended_with("slow"));
    ASSERT_TRUE(grows_to(folder / "o/double.json.partial", 100'000)) << err();
    kill(script, SIGTERM);
    EXPECT_EQ(wait_for(script), 4) << err();
    EXPECT_THAT(err(), HasSubstr("double: cut short"));
    EXPECT_THAT(archived("o"), HasSubstr("double.json.partial"));
    // Gone on with elsewhere, from the archive alone; killed without a word this time.
    const pid_t second = start({"--device", "cuda:0", "--output", at("p"), "--resume",
                                at("o/gpu-results.tar.gz"), "--force", "double"},
                               pretended_with("slow"));
    const auto before = fs::file_size(folder / "o/double.json.partial");
    ASSERT_TRUE(grows_to(folder / "p/double.json.partial", before + 50'000)) << err();
    kill(-second, SIGKILL);
    wait_for(second);
    EXPECT_THAT(archived("p"), HasSubstr("double.json.partial"));
    // And from the folder to the end.
    EXPECT_EQ(
        run({"--device", "cuda:0", "--output", at("q"), "--resume", at("p"), "--force", "double"},
            pretended),
        0)
        << err();
    EXPECT_THAT(err(), HasSubstr("of them were measured by an interrupted run"));
    const MeasurementFile file = read_measurements(folder / "q/double.json");
    EXPECT_FALSE(file.context.contains("incomplete"));
    EXPECT_GT(file.rows.size(), 5000u);
}

TEST_F(GpuRun, ALostGpuIsCalledAgain) {
    NEED_NVRTC();
    const pid_t script = start({"--device", "cuda:0", "--output", at("o"), "--force", "double"},
                               pretended_with("sticky@1500"));
    bool again = false;
    int status = 0;
    for (int i = 0; i < 9600 && !again && waitpid(script, &status, WNOHANG) == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        const std::string words = err();
        const auto lost = words.find("the GPU was lost; that point is given up");
        again = lost != words.npos &&
                words.find("were measured by an interrupted run", lost) != words.npos;
    }
    ASSERT_TRUE(again) << err();
    kill(script, SIGTERM);
    EXPECT_EQ(wait_for(script), 4) << err();
    // The lost point is a failed row of whichever file was under way.
    std::string rows;
    for (const char* name : {"o/smoke.json", "o/smoke.json.partial", "o/double.json.partial"}) {
        rows += text_of(folder / name);
    }
    EXPECT_THAT(rows, HasSubstr("CUDA_ERROR_LAUNCH_FAILED (719)"));
}

}  // namespace
}  // namespace occupipe::cli::testing
