// SPDX-License-Identifier: MIT
#include "bench/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"
#include "temporary_folder.h"

namespace occupipe::bench {
namespace {

using testing::TemporaryFolder;

std::string row(int number) {
    return R"([{"name":"point )" + std::to_string(number) + R"(","real_time":1}])";
}

TEST(Journal, FinishedFileHoldsContextAndRowsOfAllSessions) {
    const TemporaryFolder folder;
    const auto output = folder.path / "out" / "m.json";
    { Journal(output, "key", R"({"session":"first"})").append(row(1)); }
    Journal second(output, "key", R"({"session":"second"})");
    EXPECT_EQ(second.finished(), std::set<std::string>{"point 1"});
    second.append(row(2));
    second.finish();
    const auto whole = nlohmann::json::parse(read_text_file(output));
    EXPECT_EQ(whole["context"]["session"], "first");
    ASSERT_EQ(whole["benchmarks"].size(), 2u);
    EXPECT_EQ(whole["benchmarks"][1]["name"], "point 2");
    EXPECT_FALSE(std::filesystem::exists(Journal::path_for(output)));
}

TEST(Journal, ALineThatACrashCutShortIsForgotten) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", "{}");
        journal.append(row(1));
        journal.append(row(2));
    }
    const auto path = Journal::path_for(output);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
    Journal again(output, "key", "{}");
    EXPECT_EQ(again.finished(), std::set<std::string>{"point 1"});
    again.append(row(3));
    again.finish();
    EXPECT_EQ(nlohmann::json::parse(read_text_file(output))["benchmarks"].size(), 2u);
}

TEST(Journal, AnotherMeasurementsJournalIsBadInputAndStays) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    { Journal(output, "one device", "{}").append(row(1)); }
    EXPECT_THROW(Journal(output, "another device", "{}"), InputError);
    EXPECT_TRUE(std::filesystem::exists(Journal::path_for(output)));
}

// kill -9 at an arbitrary moment loses at most the point under way.
TEST(Journal, SurvivesKillNineWithAllButTheLastPoint) {
    for (const int delay_us : {300, 2000, 9000}) {
        const TemporaryFolder folder;
        const auto output = folder.path / "m.json";
        int pipe_ends[2];
        ASSERT_EQ(pipe(pipe_ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            Journal journal(output, "key", "{}");
            for (int i = 0;; ++i) {
                journal.append(row(i));
                if (write(pipe_ends[1], &i, sizeof i) != sizeof i) _exit(1);
            }
        }
        close(pipe_ends[1]);
        int reported = -1;
        ASSERT_EQ(read(pipe_ends[0], &reported, sizeof reported),
                  static_cast<ssize_t>(sizeof reported));
        usleep(delay_us);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        for (int next = 0; read(pipe_ends[0], &next, sizeof next) == sizeof next;) reported = next;
        close(pipe_ends[0]);
        const Journal again(output, "key", "{}");
        for (int i = 0; i <= reported; ++i) {
            ASSERT_TRUE(again.finished().contains("point " + std::to_string(i)))
                << i << " of " << reported;
        }
        EXPECT_LE(again.finished().size(), static_cast<std::size_t>(reported) + 2);
    }
}

}  // namespace
}  // namespace occupipe::bench
