// SPDX-License-Identifier: MIT
// Sweeps as Parquet: made of CSV and back without a loss, the same bytes however they came about.
// tests/python/sweep_test.py reads them with another library.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "columnar/parquet.h"
#include "core/error.h"
#include "tests/cli/command.h"
#include "tests/cli/sweep_rows.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using test::occupipe;
using test::Outcome;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using testing::run_program;

// Texts, numbers of both kinds, `none`, and refused rows.
constexpr const char* thousand =
    "format: occupipe-sweep/1\nkernels: [saxpy, mix, barriers]\nprofiles: [rtx-2070, gtx-1060]\n"
    "models: [roofline, volkov, pipeline]\norder: [in_order, dataflow]\n"
    "set: {fma.f32.latency: {from: 2, to: 60, count: 3, scale: log}, issue.limit: [none, 1.5]}\n"
    "launches: {group_warps: 2, concurrent_groups: {from: 1, to: 40, step: 13}}\n";

class SweepParquet : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            columnar::parquet();
        } catch (const InputError& error) {
            GTEST_SKIP() << error.what();
        }
        spec = write(folder.path / "s.yaml", thousand);
    }

    std::string path(const std::string& name) const { return (folder.path / name).string(); }
    std::string bytes(const std::string& name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void run(const std::string& output, const std::vector<std::string>& further = {}) const {
        std::vector<std::string> arguments = {"sweep", spec, "-o", path(output)};
        arguments.insert(arguments.end(), further.begin(), further.end());
        const Outcome found = occupipe(arguments);
        ASSERT_EQ(found.code, 0) << found.err;
    }
    void join(const std::vector<std::string>& parts, const std::string& output) const {
        std::vector<std::string> arguments = {"sweep", "--join"};
        for (const std::string& one : parts) arguments.push_back(path(one));
        arguments.insert(arguments.end(), {"-o", path(output)});
        const Outcome found = occupipe(arguments);
        ASSERT_EQ(found.code, 0) << found.err;
    }
    std::set<std::string> files() const {
        std::set<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder.path))
            names.insert(entry.path().filename().string());
        return names;
    }

    TemporaryFolder folder;
    std::string spec;
};

TEST_F(SweepParquet, IsMadeOfCsvAndBackWithoutALoss) {
    run("rows.csv");
    run("rows.parquet", {"--threads", "3"});
    const std::string whole = bytes("rows.parquet");
    EXPECT_EQ(whole.substr(0, 4), "PAR1");
    EXPECT_LT(whole.size(), bytes("rows.csv").size() / 3);
    join({"rows.parquet"}, "back.csv");
    EXPECT_TRUE(bytes("back.csv") == bytes("rows.csv"));
    join({"rows.csv"}, "made.parquet");
    EXPECT_TRUE(bytes("made.parquet") == whole);
    run("1.csv", {"--shard", "1/3"});
    run("2.parquet", {"--shard", "2/3"});
    run("3.parquet", {"--shard", "3/3"});
    join({"3.parquet", "1.csv", "2.parquet"}, "all.parquet");
    EXPECT_TRUE(bytes("all.parquet") == whole);
    join({"3.parquet", "1.csv", "2.parquet"}, "all.csv");
    EXPECT_TRUE(bytes("all.csv") == bytes("rows.csv"));
    EXPECT_FALSE(files().contains("rows.parquet.csv"));
    for (const std::string& name : files()) EXPECT_FALSE(name.ends_with(".partial")) << name;
}

// Whatever was there when it ended: rows and no table, a table that nobody has said is complete,
// rows that were not removed.
TEST_F(SweepParquet, GoesOnFromWhereverItWasEnded) {
    run("rows.csv");
    run("rows.parquet");
    const std::string rows = bytes("rows.csv");
    const std::string whole = bytes("rows.parquet");
    const std::string finished = bytes("rows.parquet.sweep.json");
    std::string unfinished = finished;
    unfinished.replace(unfinished.find("\"complete\": true"), 16, "\"complete\": false");
    unfinished.erase(unfinished.find("  \"refused\""),
                     unfinished.find("  \"limit\"") - unfinished.find("  \"refused\""));
    const auto expect_whole = [&](const std::string& what) {
        run("rows.parquet");
        EXPECT_TRUE(bytes("rows.parquet") == whole) << what;
        EXPECT_EQ(bytes("rows.parquet.sweep.json"), finished) << what;
        EXPECT_FALSE(files().contains("rows.parquet.csv")) << what;
    };
    std::mt19937_64 random(3);
    for (int i = 0; i < 4; ++i) {
        std::filesystem::remove(path("rows.parquet"));
        write(path("rows.parquet.sweep.json"), unfinished);
        write(path("rows.parquet.csv"), rows.substr(0, random() % rows.size()));
        expect_whole("rows alone");
    }
    write(path("rows.parquet.sweep.json"), unfinished);
    write(path("rows.parquet.csv"), rows);
    expect_whole("not said to be complete");
    write(path("rows.parquet.csv"), rows);
    write(path("rows.parquet.partial"), "PAR1");
    expect_whole("rows not removed");
    write(path("rows.parquet"), whole.substr(0, whole.size() / 2));
    const Outcome torn = occupipe({"sweep", spec, "-o", path("rows.parquet")});
    EXPECT_EQ(torn.code, 2);
    EXPECT_THAT(torn.err, HasSubstr("is not a whole Parquet file"));
    EXPECT_THAT(torn.err, HasSubstr("--force"));
    run("rows.parquet", {"--force"});
    EXPECT_TRUE(bytes("rows.parquet") == whole);
}

TEST_F(SweepParquet, KillsLoseNoRow) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 5; ++i)
        run_program({"sweep", spec, "-o", path("rows.parquet")}, {},
                    std::uniform_real_distribution<double>(0.005, 0.2)(random), SIGKILL);
    run("rows.parquet");
    run("other.parquet");
    EXPECT_TRUE(bytes("rows.parquet") == bytes("other.parquet"));
    EXPECT_EQ(files(), (std::set<std::string>{"s.yaml", "rows.parquet", "rows.parquet.sweep.json",
                                              "other.parquet", "other.parquet.sweep.json"}));
}

TEST_F(SweepParquet, FilesOfOthersAreLeftAlone) {
    for (const std::string name : {"rows.parquet", "rows.parquet.csv"}) {
        write(path(name), "mine");
        const Outcome refused = occupipe({"sweep", spec, "-o", path("rows.parquet")});
        EXPECT_EQ(refused.code, 2);
        EXPECT_THAT(refused.err, HasSubstr("is no sweep's"));
        EXPECT_EQ(bytes(name), "mine");
        EXPECT_EQ(files(), (std::set<std::string>{"s.yaml", name}));
        std::filesystem::remove(path(name));
    }
    run("rows.parquet");
    write(path("s.yaml"), std::string(thousand) + "memory: none\n");
    EXPECT_THAT(occupipe({"sweep", spec, "-o", path("rows.parquet")}).err,
                HasSubstr("has rows of another sweep"));
    run("rows.parquet", {"--force"});
}

// More rows than a group has, values at the ends of their types, texts with everything in them.
TEST_F(SweepParquet, ReadsWhatItWrote) {
    using columnar::ColumnType;
    const columnar::Table table{
        .columns =
            {{.name = "i", .type = ColumnType::whole, .unit = "rows"},
             {.name = "x", .type = ColumnType::real, .meaning = "a number", .absent = "none"},
             {.name = "t, \"quoted\"", .type = ColumnType::text},
             {.name = "s", .type = ColumnType::shares}},
        .metadata = {{"key", "value\nof two lines"}}};
    const std::vector<std::vector<std::string>> kinds = {
        {"", "none", "", ""},
        {"9223372036854775807", "1.7976931348623157e+308", "λ, \"x\"", "alu=1"},
        {"-9223372036854775808", "5e-324", " ", "alu=0.1 a=b=0.30000000000000004"},
        {"0", "-0", "none", "mem=0"}};
    const std::int64_t rows = columnar::rows_per_group + 1000;
    const auto writer = columnar::parquet().write(path("t.parquet"), table);
    for (std::int64_t i = 0; i < rows; ++i) writer->append(kinds[static_cast<std::size_t>(i % 4)]);
    EXPECT_THROW(writer->append({"1.5", "1", "", ""}), InputError);
    writer->finish();
    const auto reader = columnar::parquet().read(path("t.parquet"));
    EXPECT_EQ(reader->rows(), rows);
    EXPECT_EQ(reader->table().columns, table.columns);
    EXPECT_EQ(reader->table().metadata, table.metadata);
    std::vector<std::string> cells;
    std::int64_t row = 0;
    while (reader->next(cells)) ASSERT_EQ(cells, kinds[static_cast<std::size_t>(row++ % 4)]);
    EXPECT_EQ(row, rows);
    write(path("other.parquet"), "PAR1");
    EXPECT_THROW(columnar::parquet().read(path("other.parquet")), InputError);
}

TEST(SweepWithoutArrow, SaysWhatToInstallBeforeAnyWork) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const std::string output = (folder.path / "rows.parquet").string();
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"sweep", spec, "-o", output},
          std::vector<std::string>{"sweep", "--join", spec, "-o", output}}) {
        const auto run = run_program(arguments, {"OCCUPIPE_PARQUET=none"});
        EXPECT_EQ(run.exit_code, 2);
        for (const char* const word : {"libarrow-dev", "libparquet-dev", "pyarrow", "CSV"})
            EXPECT_THAT(run.err, HasSubstr(word));
        EXPECT_FALSE(std::filesystem::exists(output));
        EXPECT_FALSE(std::filesystem::exists(output + ".csv"));
    }
}

}  // namespace
}  // namespace occupipe::cli
