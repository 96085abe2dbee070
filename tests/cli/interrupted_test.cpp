// SPDX-License-Identifier: MIT
// The program itself, measuring with a CUDA driver that only pretends (fake_libcuda.cpp): killed,
// hanging, cut off from its folder. What exit codes say, what is lost, what the file looks like.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;
using testing::ProgramRun;
using testing::run_program;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

// What a journal holds, as another program would read it.
struct Known {
    std::set<std::string> finished;
    std::map<std::string, int> unended;
};

Known read_journal(const std::filesystem::path& output) {
    Known known;
    std::ifstream file(output.string() + ".partial");
    for (std::string line; std::getline(file, line) && !file.eof();) {
        const Json entry = Json::parse(line);
        if (entry.contains("begun")) ++known.unended[entry["begun"]];
        if (entry.contains("left")) --known.unended[entry["left"]];
        if (!entry.contains("point")) continue;
        known.finished.insert(entry["point"]);
        known.unended.erase(entry["point"]);
    }
    return known;
}

// The keys of each kind of row, and how many rows there are of each point.
struct Structure {
    std::set<std::string> measured;  // keys of a repetition, one after the other
    std::set<std::string> summaries;
    std::map<std::string, int> failed;  // rows of each failed point
    std::map<std::string, std::string> errors;
    std::map<std::string, int> points;
};

std::string keys(const Json& row) {
    std::string all;
    for (const auto& [key, value] : row.items()) all += key + " ";
    return all;
}

Structure structure(const std::filesystem::path& file) {
    Structure found;
    const Json whole = Json::parse(read_text_file(file));
    for (const Json& row : whole.at("benchmarks")) {
        const std::string name = row.at("run_name");
        if (row.at("run_type") == "aggregate") {
            found.summaries.insert(keys(row));
            continue;
        }
        ++found.points[name];
        if (row.value("error_occurred", false)) {
            ++found.failed[name];
            found.errors[name] = row.at("error_message");
        } else {
            found.measured.insert(keys(row));
        }
    }
    return found;
}

class Interrupted : public ::testing::Test {
protected:
    void SetUp() override {
        if (!testing::program_has_nvrtc()) GTEST_SKIP() << testing::no_nvrtc;
    }

    ProgramRun measure(const std::string& fault, double signal_after_s = 0, int signal = SIGINT,
                       const std::vector<std::string>& more = {}) {
        return run_program(words(more), with(fault), signal_after_s, signal);
    }
    // Interrupted once the pretended driver hangs.
    ProgramRun measure_until_it_hangs(const std::string& fault) {
        // A limit that is never reached: only Ctrl-C ends the call.
        return testing::run_program_until(words({"--hang-limit", "100000"}), with(fault + ",tell"),
                                          "fake driver: hangs");
    }

    std::vector<std::string> words(const std::vector<std::string>& more) const {
        std::vector<std::string> all = {
            "measure", "--device",       "cuda:0",  "--quick", "-o",
            output,    "--instructions", "fma.f32", "--",      "--benchmark_repetitions=2"};
        all.insert(all.begin() + 1, more.begin(), more.end());
        return all;
    }
    static std::vector<std::string> with(const std::string& fault) {
        return {std::string("OCCUPIPE_CUDA_DRIVER=") + OCCUPIPE_FAKE_LIBCUDA,
                "OCCUPIPE_FAKE_CUDA=" + fault};
    }

    ProgramRun measure_while(const std::function<void()>& something);

    TemporaryFolder folder;
    std::filesystem::path output = folder.path / "out" / "m.json";
};

std::uint64_t chosen_seed() {
    const char* given = std::getenv("OCCUPIPE_TEST_SEED");
    return given ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

TEST_F(Interrupted, KillsLoseNothingButThePointUnderWay) {
    const auto begin = Clock::now();
    ASSERT_EQ(measure("slow").exit_code, 0);
    const double whole_run = std::chrono::duration<double>(Clock::now() - begin).count();
    const Structure straight = structure(output);
    ASSERT_TRUE(straight.failed.empty());
    ASSERT_EQ(straight.measured.size(), 2u);  // plain points, and checkpointed ones
    std::filesystem::remove(output);

    const std::uint64_t seed = chosen_seed();
    std::cout << "seed: OCCUPIPE_TEST_SEED=" << seed << ", a whole run takes " << whole_run
              << " s\n";
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> moment(0.001, whole_run);
    const int enough = thinned::share(100, 4);
    int kills = 0;
    int files = 0;
    Known before;
    while (kills < enough || !before.finished.empty() || !before.unended.empty()) {
        const double after = kills < enough ? moment(random) : 0;
        const ProgramRun run = measure("slow", after, SIGKILL);
        const bool killed = run.exit_code == 128 + SIGKILL;
        kills += killed;
        // Killed when all was done and the journal gone: the file must be whole.
        const bool done = std::filesystem::exists(output) &&
                          !std::filesystem::exists(output.string() + ".partial");
        if (killed && !done) {
            if (std::filesystem::exists(output)) {  // between the file and the journal's end
                EXPECT_EQ(structure(output).points.size(), straight.points.size());
            }
            const Known now = read_journal(output);
            for (const std::string& point : before.finished) {
                ASSERT_TRUE(now.finished.contains(point)) << point << " got lost";
            }
            // One more at most was under way.
            std::size_t fresh = 0;
            for (const auto& [point, times] : now.unended) {
                ASSERT_LE(times, 2) << point;
                const auto earlier = before.unended.find(point);
                fresh += times - (earlier == before.unended.end() ? 0 : earlier->second);
            }
            ASSERT_LE(fresh, 1u);
            before = now;
            continue;
        }
        ASSERT_TRUE(killed || run.exit_code == 0) << run.err;
        ++files;
        const Structure now = structure(output);
        EXPECT_EQ(now.points.size(), straight.points.size());
        for (const auto& [point, rows] : straight.points) {
            ASSERT_TRUE(now.points.contains(point)) << point;
            EXPECT_EQ(now.points.at(point), rows) << point;
        }
        EXPECT_EQ(now.measured, straight.measured);
        EXPECT_EQ(now.summaries, straight.summaries);
        for (const auto& [point, error] : now.errors) {
            EXPECT_EQ(error, "2 earlier runs began this point and never ended it; not tried again");
            // Given up by this run, or by an earlier one that was killed behind that point.
            const auto begun = before.unended.find(point);
            EXPECT_TRUE(before.finished.contains(point) ||
                        (begun != before.unended.end() && begun->second == 2))
                << point;
        }
        EXPECT_FALSE(std::filesystem::exists(output.string() + ".partial"));
        std::filesystem::remove(output);
        before = {};
    }
    EXPECT_GT(files, 0);
    std::cout << kills << " kills, " << files << " whole files\n";
}

TEST_F(Interrupted, AStickyFaultHasItsOwnExitCode) {
    const ProgramRun lost = measure("illegal address@40");
    EXPECT_EQ(lost.exit_code, 5);
    EXPECT_THAT(lost.err, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
    EXPECT_THAT(lost.err, HasSubstr("run the same command again to go on"));
    EXPECT_EQ(measure("").exit_code, 0);
    EXPECT_EQ(structure(output).failed.size(), 1u);
}

TEST_F(Interrupted, CallingAgainAfterALostDeviceComesToAnEnd) {
    int calls = 0;
    ProgramRun run;
    for (run = measure("sticky@40"); run.exit_code == 5; run = measure("sticky@40")) {
        ASSERT_LT(++calls, 100);
    }
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_GT(calls, 1);
    EXPECT_EQ(structure(output).failed.size(), static_cast<std::size_t>(calls));
}

// Long enough that a busy machine does not make a call look like a hang.
TEST_F(Interrupted, AHangEndsAfterItsLimit) {
    const ProgramRun hung = measure("hang@40", 0, SIGINT, {"--hang-limit", "2"});
    EXPECT_EQ(hung.exit_code, 5);
    EXPECT_THAT(hung.err, HasSubstr("the device hangs: no answer within 2 s in cuEventQuery"));
    const ProgramRun blocked = measure("copy blocks@40", 0, SIGINT, {"--hang-limit", "2"});
    EXPECT_EQ(blocked.exit_code, 5);
    EXPECT_THAT(blocked.err, HasSubstr("no answer within 2 s in cuMemcpyDtoH"));
    EXPECT_EQ(measure("").exit_code, 0);
    EXPECT_EQ(structure(output).failed.size(), 2u);
}

TEST_F(Interrupted, CtrlCWorksWhileALaunchHangs) {
    for (const char* fault : {"hang@40", "copy blocks@40"}) {
        const ProgramRun run = measure_until_it_hangs(fault);
        EXPECT_EQ(run.exit_code, 1) << fault << run.err;
        EXPECT_THAT(run.err, HasSubstr("fake driver: hangs")) << fault;
        EXPECT_THAT(run.err, ::testing::Not(HasSubstr("the device hangs"))) << fault;
    }
    EXPECT_EQ(measure("").exit_code, 0);
}

TEST_F(Interrupted, AFolderThatVanishesBetweenCallsIsMadeAnew) {
    EXPECT_EQ(measure("sticky@40").exit_code, 5);
    std::filesystem::remove_all(output.parent_path());
    EXPECT_EQ(measure("").exit_code, 0);
    EXPECT_TRUE(structure(output).failed.empty());
}

// Does something to the folder once the journal is there. On a busy machine a call may have ended
// before this thread gets its turn: then it is called again.
ProgramRun Interrupted::measure_while(const std::function<void()>& something) {
    for (int call = 0; call < 50; ++call) {
        std::atomic<bool> ended = false;
        bool done = false;
        std::thread someone([&] {
            while (!ended && !done) {
                if (std::filesystem::exists(output.string() + ".partial")) {
                    something();
                    done = true;
                }
                std::this_thread::yield();
            }
        });
        ProgramRun run = measure("slow");
        ended = true;
        someone.join();
        if (done && !HasFatalFailure() && run.err.find("was removed") != std::string::npos)
            return run;
        std::filesystem::remove_all(output.parent_path());
    }
    ADD_FAILURE() << "no call was disturbed";
    return {};
}

TEST_F(Interrupted, AFolderThatVanishesDuringACallIsSaid) {
    const ProgramRun run = measure_while([&] {
        // The program may write its journal anew before the folder is gone.
        std::error_code none;
        std::filesystem::remove_all(output.parent_path(), none);
    });
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("m.json.partial: was removed while measuring"));
    EXPECT_TRUE(structure(output).failed.empty());
}

TEST_F(Interrupted, AFolderThatCannotBeMadeAnewEndsTheProgram) {
    const ProgramRun run = measure_while([&] {
        for (bool placed = false; !placed;) {
            std::error_code none;
            std::filesystem::remove_all(output.parent_path(), none);
            placed = (std::ofstream(output.parent_path()) << "in the folder's place\n").good();
        }
    });
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("m.json.partial: was removed while measuring, and cannot be "
                                   "written anew"));
}

TEST_F(Interrupted, AnUnfinishedFileIsRefusedByNameAndClosed) {
    EXPECT_EQ(measure("sticky@60").exit_code, 5);
    const std::string partial = output.string() + ".partial";
    const std::string profile = (folder.path / "profile.yaml").string();
    const std::vector<std::vector<std::string>> readers = {{"fit", partial, "-o", profile},
                                                           {"check", partial}};
    for (const auto& reader : readers) {
        const ProgramRun refused = run_program(reader);
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_THAT(refused.err, HasSubstr("this is an interrupted measurement; close it first: "
                                           "occupipe measure --finish " +
                                           partial));
    }
    const std::vector<std::string> no_device = {"OCCUPIPE_CUDA_DRIVER=none"};
    const ProgramRun closed = run_program({"measure", "--finish", partial}, no_device);
    EXPECT_EQ(closed.exit_code, 0) << closed.err;
    EXPECT_THAT(closed.err, ::testing::ContainsRegex("[0-9]+ of [0-9]+ points are in .*m.json"));
    EXPECT_FALSE(std::filesystem::exists(partial));
    const ProgramRun checked = run_program({"check", output});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_THAT(checked.err, HasSubstr("the measurement was interrupted and not gone on with"));
    EXPECT_EQ(run_program({"measure", "--finish", partial}, no_device).exit_code, 2);
}

}  // namespace
}  // namespace occupipe::cli
