// SPDX-License-Identifier: MIT
#include "bench/harness/journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/files/files.h"
#include "core/measurement.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using test::TemporaryFolder;

std::string point(int number) { return measurement_name("fma.f32", {.depth = number + 1}); }

// Of two rows.
FinishedPoint finished(int number) {
    const Repetition one{
        .error = {}, .real_time = 1, .time_unit = "ns", .counters = {}, .label = {}};
    return {.name = point(number), .repetitions = {one, one}, .statistics = {}};
}

TEST(Journal, FinishedFileHoldsContextAndRowsOfAllSessions) {
    const TemporaryFolder folder;
    const auto output = folder.path / "out" / "m.json";
    { Journal(output, "key", R"({"session":"first"})", 3).append(finished(1)); }
    Journal second(output, "key", R"({"session":"second"})", 3);
    EXPECT_EQ(second.finished(), std::set<std::string>{point(1)});
    second.append(finished(2));
    second.finish();
    const auto whole = nlohmann::json::parse(read_text_file(output));
    EXPECT_EQ(whole["context"]["session"], "first");
    ASSERT_EQ(whole["benchmarks"].size(), 4u);
    EXPECT_EQ(whole["benchmarks"][2]["name"], point(2));
    EXPECT_FALSE(std::filesystem::exists(Journal::path_for(output)));
}

TEST(Journal, ALineThatACrashCutShortIsForgotten) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", "{}", 3);
        journal.append(finished(1));
        journal.append(finished(2));
    }
    const auto path = Journal::path_for(output);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 3);
    Journal again(output, "key", "{}", 3);
    EXPECT_EQ(again.finished(), std::set<std::string>{point(1)});
    again.append(finished(3));
    again.finish();
    EXPECT_EQ(nlohmann::json::parse(read_text_file(output))["benchmarks"].size(), 4u);
}

// Rows cut off between two lines once looked like a whole point with fewer rows.
TEST(Journal, APointIsThereWithAllOfItsRowsOrNotAtAll) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", "{}", 3);
        journal.append(finished(1));
        journal.append(finished(2));
    }
    const auto path = Journal::path_for(output);
    const std::string whole = read_text_file(path);
    for (std::size_t bytes = whole.size(); bytes > whole.size() / 3; --bytes) {
        write_text_file(path, whole.substr(0, bytes), Overwrite::yes);
        Journal again(output, "key", "{}", 3);
        if (again.finished().empty()) break;
        again.finish();
        const auto rows = nlohmann::json::parse(read_text_file(output))["benchmarks"];
        EXPECT_EQ(rows.size(), 2 * again.finished().size()) << bytes;
    }
}

TEST(Journal, KnowsWhatWasBegunAndNeverEnded) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    const auto begin = [&](int number) { Journal(output, "key", "{}", 3).begin(point(number)); };
    begin(1);
    begin(2);
    begin(2);
    begin(3);
    {
        Journal journal(output, "key", "{}", 3);
        EXPECT_EQ(journal.unended(),
                  (std::map<std::string, int>{{point(1), 1}, {point(2), 2}, {point(3), 1}}));
        journal.append(finished(1));
        journal.leave(point(3));
        journal.hang(point(2), "no answer");
        journal.note("colour", "blue");
    }
    const Journal journal(output, "key", "{}", 3);
    EXPECT_EQ(journal.finished(), std::set<std::string>{point(1)});
    EXPECT_EQ(journal.unended(), (std::map<std::string, int>{{point(2), 2}}));
    EXPECT_EQ(journal.hung(), (std::map<std::string, std::string>{{point(2), "no answer"}}));
    EXPECT_EQ(journal.context("colour"), "blue");
    EXPECT_EQ(journal.context("taste"), "");
}

TEST(Journal, ThatIsRemovedWhileMeasuringIsWrittenAnew) {
    const TemporaryFolder folder;
    const auto output = folder.path / "out" / "m.json";
    {
        Journal journal(output, "key", "{}", 3);
        journal.append(finished(1));
        std::filesystem::remove_all(folder.path / "out");
        journal.append(finished(2));
        EXPECT_TRUE(journal.restored());
    }
    Journal journal(output, "key", "{}", 3);
    EXPECT_EQ(journal.finished(), (std::set<std::string>{point(1), point(2)}));
    journal.append(finished(3));
    std::filesystem::remove_all(folder.path / "out");
    journal.finish();
    EXPECT_EQ(nlohmann::json::parse(read_text_file(output))["benchmarks"].size(), 6u);
}

TEST(Journal, ThatCannotBeWrittenAnewSaysSo) {
    const TemporaryFolder folder;
    const auto output = folder.path / "out" / "m.json";
    Journal journal(output, "key", "{}", 3);
    std::filesystem::remove_all(folder.path / "out");
    write_text_file(folder.path / "out", "a file in the folder's place", Overwrite::no);
    try {
        journal.append(finished(1));
        FAIL() << "nothing said";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("m.json.partial: was removed while measuring"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Journal, AProcessThatDiesWhileFinishingHasFinished) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", "{}", 1);
        journal.append(finished(1));
    }
    EXPECT_FALSE(Journal::finishing(output));
    const std::string before = read_text_file(Journal::path_for(output));
    Journal(output, "key", "{}", 1).finish();
    EXPECT_FALSE(Journal::finishing(output));
    // As if it had died between writing the file and removing the journal.
    write_text_file(Journal::path_for(output), before + "{\"finishing\":true}\n", Overwrite::no);
    EXPECT_TRUE(Journal::finishing(output));
    const std::string first = read_text_file(output);
    const auto attempt = folder.path / "m.json.4711-0.partial";
    const auto other = folder.path / "m.json.other-file.partial";
    write_text_file(attempt, "{", Overwrite::no);
    write_text_file(other, "{", Overwrite::no);
    Journal(output, "key", "{}", 1).finish();
    EXPECT_FALSE(std::filesystem::exists(attempt));
    EXPECT_TRUE(std::filesystem::exists(other));
    EXPECT_EQ(read_text_file(output), first);
}

// Whole lines that this program never wrote are named with their number, whatever they hold.
TEST(Journal, DamagedLinesAreNamed) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    { Journal(output, "key", "{}", 3).append(finished(1)); }
    const std::string sound = read_text_file(Journal::path_for(output));
    for (const char* line :
         {R"({"point":"a"})", R"({"point":"a","rows":7})", R"({"point":"a","rows":[3]})",
          R"({"point":7,"rows":[]})", R"({"begun":[]})", R"({"left":1})", R"({"hung":{}})",
          R"({"hung":"a","reason":1})", R"({"note":"a"})",
          R"({"point":"a","rows":[{"run_type":1}]})"}) {
        write_text_file(Journal::path_for(output), sound + line + "\n", Overwrite::yes);
        try {
            close_journal(output, {}, Overwrite::yes);
            ADD_FAILURE() << line;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("m.json.partial:3:"), std::string::npos)
                << error.what();
        }
    }
    for (const char* header :
         {R"({"format":7,"context":{}})", R"({"format":"occupipe-journal/2","context":1})",
          R"({"format":"occupipe-journal/2","context":{},"points":-1})",
          R"({"format":"occupipe-journal/2","context":{},"key":1})"}) {
        write_text_file(Journal::path_for(output), std::string(header) + "\n", Overwrite::yes);
        EXPECT_THROW(close_journal(output, {}, Overwrite::yes), InputError) << header;
    }
}

// They were named one per call, and each call read hours of measurements.
TEST(Journal, AllDamagedLinesAreNamedAtOnce) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", "{}", 9);
        for (int i = 1; i <= 3; ++i) journal.append(finished(i));
    }
    std::istringstream sound(read_text_file(Journal::path_for(output)));
    std::string text;
    int number = 0;
    for (std::string line; std::getline(sound, line);)
        text += line + "\n" + (++number < 4 ? "garbage\n" : "");
    write_text_file(Journal::path_for(output), text, Overwrite::yes);
    try {
        Journal(output, "key", "{}", 9).finish();
        ADD_FAILURE();
    } catch (const InputError& error) {
        const std::string said = error.what();
        for (const char* part : {"3 lines are damaged", "line 2:", "line 4:", "line 6:"})
            EXPECT_NE(said.find(part), std::string::npos) << said;
    }
    EXPECT_EQ(read_text_file(Journal::path_for(output)), text);
}

// One damaged line once ended the reading: all points after it were lost, with exit code 0.
TEST(Journal, ADamagedLineInTheMiddleLosesNoOtherPoint) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", "{}", 9);
        for (int i = 1; i <= 3; ++i) journal.append(finished(i));
    }
    const std::string sound = read_text_file(Journal::path_for(output));
    const std::size_t third = sound.find('\n', sound.find('\n') + 1) + 1;
    const auto with_line = [&](const std::string& line) {
        return sound.substr(0, third) + line + "\n" + sound.substr(third);
    };
    const auto row = [](const std::string& name, const std::string& cycles) {
        return R"({"point":")" + point(5) + R"(","rows":[{)" + name +
               R"("run_type":"iteration","real_time":1,"time_unit":"us","cycles":)" + cycles +
               "}]}";
    };
    const std::string named = R"("name":")" + point(5) + R"(",)";
    for (const std::string& line :
         {std::string(), std::string("garbage"), std::string(9, '\0'), row(named, "1e400"),
          row(named, "-5"), row("", "5"), row(R"("name":")" + point(6) + R"(",)", "5")}) {
        const std::string text = with_line(line);
        write_text_file(Journal::path_for(output), text, Overwrite::yes);
        for (const bool go_on : {false, true}) {
            try {
                if (go_on)
                    Journal(output, "key", "{}", 9).finish();
                else
                    close_journal(output, {}, Overwrite::yes);
                ADD_FAILURE() << line;
            } catch (const InputError& error) {
                EXPECT_NE(std::string(error.what()).find("m.json.partial:3:"), std::string::npos)
                    << error.what();
            }
            EXPECT_FALSE(std::filesystem::exists(output)) << line;
            EXPECT_EQ(read_text_file(Journal::path_for(output)), text) << line;
        }
    }
    write_text_file(Journal::path_for(output), with_line(row(named, "5")), Overwrite::yes);
    EXPECT_EQ(close_journal(output, {}, Overwrite::no).measured, 4u);
    EXPECT_EQ(read_measurements(output).rows.size(), 7u);
}

TEST(Journal, IsClosedWithoutADevice) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    {
        Journal journal(output, "key", R"({"device":"a"})", 3);
        EXPECT_THROW(close_journal(output, {}, Overwrite::no), InputError);  // nothing finished
        journal.append(finished(1));
        journal.begin(point(2));
        journal.hang(point(2), "no answer");
    }
    const auto path = Journal::path_for(output);
    const auto copy = folder.path / "copy.json";
    EXPECT_EQ(close_journal(path, copy, Overwrite::no).output, copy);
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(output));
    const ClosedJournal closed = close_journal(path, {}, Overwrite::no);
    EXPECT_EQ(closed.output, output);
    EXPECT_EQ(closed.measured, 1u);
    EXPECT_EQ(closed.planned, 3u);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(read_text_file(output), read_text_file(copy));
    const auto file = nlohmann::json::parse(read_text_file(output));
    EXPECT_EQ(file["context"]["device"], "a");
    EXPECT_EQ(file["context"]["incomplete"],
              "1 of 3 points; the measurement was interrupted and not gone on with");
    EXPECT_EQ(file["context"]["hung." + point(2)], "no answer");
    EXPECT_EQ(file["benchmarks"].size(), 2u);
}

// As the program wrote it before points were typed: the same lines.
TEST(Journal, OfAnEarlierProgramIsGoneOnWith) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    const std::string a = point(7);
    const std::string rows =
        R"({"name":")" + a +
        R"(","run_type":"iteration","real_time":1.5,"time_unit":"us","cycles":8.0,)"
        R"("clock_deviation":0.1},{"name":")" +
        a + R"(_median","run_type":"aggregate","note":"[{]}\\\"","real_time":1.5})";
    write_text_file(Journal::path_for(output),
                    R"({"format":"occupipe-journal/2","key":"key","points":2,"context":{}})"
                    "\n{\"begun\":\"" +
                        a + "\"}\n{\"point\":\"" + a + "\",\"rows\":[" + rows + "]}\n",
                    Overwrite::no);
    Journal journal(output, "key", "{}", 2);
    EXPECT_EQ(journal.finished(), std::set<std::string>{a});
    journal.append(finished(1));
    journal.finish();
    const std::string text = read_text_file(output);
    EXPECT_NE(text.find("\n  " + rows.substr(0, rows.find("},{") + 1) + ",\n"), text.npos) << text;
    EXPECT_NE(text.find("\n  " + rows.substr(rows.find("},{") + 2) + ",\n"), text.npos) << text;
    const auto whole = nlohmann::json::parse(text);
    EXPECT_EQ(whole["benchmarks"].size(), 4u);
    EXPECT_EQ(whole["context"]["clock_deviation"].get<std::string>().substr(0, 9), "1 of 3 ro");
}

TEST(Journal, OfAnotherFormatIsRefusedByName) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    write_text_file(Journal::path_for(output),
                    R"({"format":"occupipe-journal/1","key":"key","context":{}})"
                    "\n",
                    Overwrite::no);
    try {
        Journal(output, "key", "{}", 2);
        FAIL() << "was read";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("is not 'occupipe-journal/2': written by another"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Journal, AnotherMeasurementsJournalIsBadInputAndStays) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    { Journal(output, "one device", "{}", 3).append(finished(1)); }
    EXPECT_THROW(Journal(output, "another device", "{}", 3), InputError);
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
            Journal journal(output, "key", "{}", 3);
            for (int i = 0;; ++i) {
                journal.append(finished(i));
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
        const Journal again(output, "key", "{}", 3);
        for (int i = 0; i <= reported; ++i) {
            ASSERT_TRUE(again.finished().contains(point(i))) << i << " of " << reported;
        }
        EXPECT_LE(again.finished().size(), static_cast<std::size_t>(reported) + 2);
    }
}

}  // namespace
}  // namespace occupipe::bench
