// SPDX-License-Identifier: MIT
// `occupipe sweep`: its rows against `occupipe predict --json`, one by one; the same bytes however
// many threads, shards and interruptions there were.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/sweep/sweep_spec.h"
#include "core/error.h"
#include "core/files/files.h"
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

// A random spec over shipped kernels and profiles.
struct RandomSpec {
    std::string text;
    std::vector<std::string> settings;
    std::vector<std::string> further;  // for `predict`
};

RandomSpec random_spec(std::mt19937_64& random) {
    const auto below = [&](std::size_t n) {
        return static_cast<std::size_t>(
            std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random));
    };
    const auto some_of = [&](std::vector<std::string> all, std::size_t most) {
        std::ranges::shuffle(all, random);
        all.resize(1 + below(most));
        return all;
    };
    RandomSpec spec;
    spec.text = fmt::format(
        "format: occupipe-sweep/1\nkernels: [{}]\nprofiles: [{}]\nmodels: [{}]\n",
        fmt::join(some_of({"saxpy", "mix", "chain", "stream", "barriers", "dot_product", "bodies",
                           "matmul_tiled", "rotation"},
                          3),
                  ", "),
        fmt::join(some_of({"rtx-2070", "gtx-1060", "gtx-650-ti", "tesla-c2050"}, 2), ", "),
        fmt::join(some_of({"roofline", "boat-hull", "volkov", "transit", "mwp-cwp", "gpuperf",
                           "wfg", "gpumech-rr", "mdm", "quantitative-roofline", "pipeline"},
                          3),
                  ", "));
    const std::vector<std::pair<std::string, std::string>> settings = {
        {"fma.f32.latency", "{from: 2, to: 300, count: 2, scale: log}"},
        {"fma.f32.cpi", "[0.25, 1.5]"},
        {"ld.global.s32.latency", "{from: 100.25, to: 300, step: 125}"},
        {"issue.limit", "[none, 1, 3.7]"},
        {"issue.schedulers", "[1, 4]"},
        {"cores", "{from: 2, to: 30, step: 14}"},
        {"clock_hz", "1e9"}};
    std::string set;
    for (const auto& [name, values] : settings)
        if (below(4) == 0) {
            set += fmt::format("  {}: {}\n", name, values);
            spec.settings.push_back(name);
        }
    if (!set.empty()) spec.text += "set:\n" + set;
    if (below(3) == 0) spec.text += "order: [in_order, dataflow]\n";
    if (below(3) == 0) spec.text += "policy: gto\n";
    if (below(3) == 0) spec.text += "select: [warp]\n";
    if (below(3) == 0) {
        spec.text += "memory: none\n";
        spec.further = {"--memory", "none"};
    }
    return spec;
}

TEST(Sweep, RowsAreWhatPredictSays) {
    std::mt19937_64 random(20261122);
    int compared = 0, refused = 0;
    for (int round = 0; round < 10; ++round) {
        const TemporaryFolder folder;
        RandomSpec spec = random_spec(random);
        // Launches: as the kernel has it, or some of them.
        const bool own = round % 3 == 0;
        if (!own)
            spec.text +=
                "launches:\n  - {group_warps: [1, 4], concurrent_groups: {from: 1, to: 5, step: "
                "2}}\n  - {group_warps: 2, concurrent_groups: 70, groups: 100}\n";
        const std::string file = write(folder.path / "spec.yaml", spec.text);
        const std::string rows = (folder.path / "rows.csv").string();
        const Outcome run = occupipe({"sweep", file, "-o", rows, "--limit", "50000"});
        if (run.code == 2 && run.err.find("set.") != std::string::npos) continue;  // no such op
        ASSERT_EQ(run.code, 0) << run.err << spec.text;
        const std::vector<Row> all = table(rows);
        const std::size_t step = std::max<std::size_t>(1, all.size() / 20);
        for (std::size_t i = random() % step; i < all.size(); i += step) {
            const Row& row = all[i];
            EXPECT_EQ(row.at("row"), std::to_string(i));
            std::vector<std::string> further = spec.further;
            if (!own) {
                further.insert(further.end(), {"--group-warps", row.at("group_warps"),
                                               "--concurrent-groups", row.at("concurrent_groups")});
                if (row.at("concurrent_groups") == "70")
                    further.insert(further.end(), {"--groups", "100"});
            }
            expect_as_predicted(row, spec.settings, row.at("kernel"), further);
            ++compared;
            refused += !row.at("refused").empty();
        }
    }
    EXPECT_GT(compared, 100);
    EXPECT_GT(refused, 5);
    EXPECT_LT(refused, compared * 3 / 4);
}

constexpr const char* looped =
    "format: occupipe-kernel/1\nname: looped\ninstructions:\n"
    "  - {id: a, op: fma.f32}\n"
    "  - repeat: COUNT\n    body:\n      - {id: b, op: fma.f32, after: [b@-1]}\n";

std::string looped_kernel(const std::string& count) {
    std::string text = looped;
    return text.replace(text.find("COUNT"), 5, count);
}

TEST(Sweep, IterationsAreTheLoopsTripCount) {
    const TemporaryFolder folder;
    write(folder.path / "looped.yaml", looped_kernel("7"));
    const std::string spec = write(folder.path / "s.yaml",
                                   "format: occupipe-sweep/1\nkernels: [./looped.yaml, saxpy]\n"
                                   "profiles: gtx-1060\nmodels: [pipeline, volkov]\n"
                                   "iterations: {from: 1, to: 1000, count: 4, scale: log}\n");
    const std::string rows = (folder.path / "rows.csv").string();
    const Outcome run = occupipe({"sweep", spec, "-o", rows});
    ASSERT_EQ(run.code, 0) << run.err;
    const std::vector<Row> all = table(rows);
    ASSERT_EQ(all.size(), 16U);
    std::vector<std::string> counts;
    for (std::size_t i = 0; i < 8; ++i) {
        if (i % 2 == 0) counts.push_back(all[i].at("iterations"));
        const std::string kernel =
            write(folder.path / "k.yaml", looped_kernel(all[i].at("iterations")));
        expect_as_predicted(all[i], {}, kernel, {});
    }
    EXPECT_EQ(counts, (std::vector<std::string>{"1", "10", "100", "1000"}));
    EXPECT_EQ(all[8].at("refused"), "iterations: kernel 'saxpy' has 0 outermost loops, not one");
}

// Names and values that a spec's reader has to expand, by hand.
TEST(Sweep, RangesAreWhatTheySay) {
    const auto values = [](const std::string& range) {
        return analysis::parse_sweep(
                   "format: occupipe-sweep/1\nkernels: saxpy\nprofiles: p\n"
                   "set: {cores: " +
                       range + "}\n",
                   "s.yaml")
            .set.at(0)
            .values;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(values("{from: 0.1, to: 0.5, step: 0.1}"),
              (Texts{"0.1", "0.2", "0.3", "0.4", "0.5"}));
    EXPECT_EQ(values("{from: 3, to: 1}"), (Texts{"3", "2", "1"}));
    EXPECT_EQ(values("{from: 1, to: 10000, count: 5, scale: log}"),
              (Texts{"1", "10", "100", "1000", "10000"}));
    EXPECT_EQ(values("{from: 0, to: 1, count: 5}"), (Texts{"0", "0.25", "0.5", "0.75", "1"}));
    EXPECT_EQ(values("{from: 1, to: 2.2, step: 0.5}"), (Texts{"1", "1.5", "2"}));
    EXPECT_EQ(values("[none, 2, 1.50]"), (Texts{"none", "2", "1.5"}));
    EXPECT_EQ(values("{from: 2, to: 2, count: 1}"), (Texts{"2"}));
}

TEST(Sweep, AUseIsATextOrAMap) {
    const auto uses = [](const std::string& use) {
        std::vector<std::string> texts;
        for (const auto& one : analysis::parse_sweep("format: occupipe-sweep/1\nkernels: k\n"
                                                     "profiles: p\nuse: " +
                                                         use + "\n",
                                                     "s.yaml")
                                   .uses)
            texts.push_back(one.text);
        return texts;
    };
    const std::vector<std::string> both = {"compute=fma.f32", "load=ld.global.s32"};
    EXPECT_EQ(uses("[compute=fma.f32, load=ld.global.s32]"), both);
    EXPECT_EQ(uses("{compute: fma.f32, load: ld.global.s32}"), both);
    EXPECT_EQ(uses("compute=fma.f32"), std::vector<std::string>{"compute=fma.f32"});
}

struct BadSpec {
    const char* name;
    const char* text;
    const char* says;
};

class BadSweep : public ::testing::TestWithParam<BadSpec> {};

TEST_P(BadSweep, GetsFileLineAndKey) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", GetParam().text);
    expect_refused(spec, GetParam().says);
}

#define HEAD "format: occupipe-sweep/1\nkernels: saxpy\nprofiles: gtx-1060\n"
INSTANTIATE_TEST_SUITE_P(
    Specs, BadSweep,
    ::testing::Values(
        BadSpec{"Format", "format: occupipe-sweep/2\nkernels: a\nprofiles: b\n",
                ":1:9: format: unknown format"},
        BadSpec{"NoKernels", "format: occupipe-sweep/1\nprofiles: b\n", "kernels: is missing"},
        BadSpec{"NoSuchKernel", "format: occupipe-sweep/1\nkernels: saxpi\nprofiles: gtx-1060\n",
                ":2:10: kernels: "},
        BadSpec{"Duplicate", "format: occupipe-sweep/1\nkernels: [mix, mix]\nprofiles: b\n",
                ":2:16: kernels[1]: 'mix' is a duplicate"},
        BadSpec{"Key", HEAD "modles: all\n", ":4:1: modles: unknown key"},
        BadSpec{"Model", HEAD "models: [roofline, roofnine]\n", ":4:20: models[1]: "},
        BadSpec{"ModelTwice", HEAD "models: [all, roofline]\n", "'roofline' is a duplicate"},
        BadSpec{"EmptyList", HEAD "models: []\n", "is an empty list"},
        BadSpec{"Quantity", HEAD "set: {fma.f32.latencies: 3}\n", ":4:7: set.fma.f32.latencies: "},
        BadSpec{"Instruction", HEAD "set:\n  fmo.f32.cpi: 3\n", ":5:3: set.fmo.f32.cpi: "},
        BadSpec{"Value", HEAD "set: {cores: [2, 2.5]}\n", "is not a whole number"},
        BadSpec{"ValueOfARange", HEAD "set: {cores: {from: 1, to: 3, count: 9}}\n",
                "'1.25' is not a whole number"},
        BadSpec{"NotANumber", HEAD "set: {cores: many}\n", "must be a number"},
        BadSpec{"Infinite", HEAD "set: {cores: .inf}\n", "finite"},
        BadSpec{"LogOfZero", HEAD "set: {cores: {from: 0, to: 4, count: 3, scale: log}}\n",
                "needs positive ends"},
        BadSpec{"LogWithStep", HEAD "set: {cores: {from: 1, to: 4, step: 3, scale: log}}\n",
                "a logarithmic one has a count"},
        BadSpec{"Both", HEAD "set: {cores: {from: 1, to: 4, step: 3, count: 2}}\n",
                "give one of them"},
        BadSpec{"Step", HEAD "set: {cores: {from: 1, to: 4, step: 0}}\n", "must be positive"},
        BadSpec{"TooMany", HEAD "set: {cores: {from: 1, to: 4, step: 1e-9}}\n",
                "has more than 1000000 values"},
        BadSpec{"Scale", HEAD "set: {cores: {from: 1, to: 4, scale: cubic}}\n", "linear, log"},
        BadSpec{"Warps", HEAD "launches: {group_warps: 0}\n", ":4:25: launches.group_warps: "},
        BadSpec{"Groups", HEAD "launches: [{groups: {from: -3, to: 3}}]\n", "leaves the range"},
        BadSpec{"Use", HEAD "use: fma.f32\n", ":4:6: use: "},
        BadSpec{"UseOfNone", HEAD "use: sin.f32=fma.f32\n", "no kernel has this op"},
        BadSpec{"UseOfNoneInAMap", HEAD "use:\n  sin.f32: fma.f32\n", ":5:12: use"},
        BadSpec{"Class", HEAD "assume_latency: gma\n", ":4:17: assume_latency: "},
        BadSpec{"Memory", HEAD "memory: some\n", "is not one of none"}),
    [](const auto& test) { return test.param.name; });

constexpr const char* thousand =
    "format: occupipe-sweep/1\nkernels: [saxpy, mix, barriers]\nprofiles: [rtx-2070, gtx-1060]\n"
    "models: [roofline, volkov, mwp-cwp, pipeline]\n"
    "set: {fma.f32.latency: {from: 2, to: 60, count: 2}, cores: [1, 30]}\n"
    "launches: {group_warps: 2, concurrent_groups: {from: 1, to: 40, step: 3}}\n";

TEST(Sweep, ThreadsAndShardsDoNotChangeABytes) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const auto path = [&](const std::string& name) { return (folder.path / name).string(); };
    ASSERT_EQ(occupipe({"sweep", spec, "-o", path("1.csv"), "--threads", "1"}).code, 0);
    const std::string whole = read_text_file(path("1.csv"));
    EXPECT_EQ(occupipe({"sweep", spec, "--count"}).out.substr(0, 17), "1344 predictions:");
    for (const std::string threads : {"2", "7"}) {
        const std::string other = path(threads + ".csv");
        ASSERT_EQ(occupipe({"sweep", spec, "-o", other, "--threads", threads}).code, 0);
        EXPECT_TRUE(read_text_file(other) == whole);
    }
    for (const int count : {2, 5, 4000}) {
        if (count == 4000) {  // more shards than rows: some of them are empty
            const std::string one = path("one.csv");
            EXPECT_EQ(occupipe({"sweep", spec, "-o", one, "--shard", "1/4000"}).code, 0);
            EXPECT_EQ(read_text_file(one), whole.substr(0, whole.find('\n') + 1));
            continue;
        }
        std::vector<std::string> join = {"sweep", "--join"};
        std::string concatenated = whole.substr(0, whole.find('\n') + 1);
        for (int i = 1; i <= count; ++i) {
            const std::string shard = path(fmt::format("{}-of-{}.csv", i, count));
            ASSERT_EQ(
                occupipe({"sweep", spec, "-o", shard, "--shard", fmt::format("{}/{}", i, count)})
                    .code,
                0);
            const std::string text = read_text_file(shard);
            concatenated += text.substr(text.find('\n') + 1);
            join.insert(join.begin() + 2, shard);  // in any order
        }
        EXPECT_TRUE(concatenated == whole);
        std::vector<std::string> lacking = join;
        lacking.erase(lacking.begin() + 2);
        lacking.insert(lacking.end(), {"-o", path("lacking.csv")});
        const Outcome refused = occupipe(lacking);
        EXPECT_EQ(refused.code, 2);
        EXPECT_THAT(refused.err, HasSubstr("are in none of the files"));
        std::vector<std::string> twice = join;
        twice.push_back(join[2]);
        twice.insert(twice.end(), {"-o", path("twice.csv")});
        EXPECT_THAT(occupipe(twice).err, HasSubstr("is in another file, too"));
        const std::string joined = path(fmt::format("joined-{}.csv", count));
        join.insert(join.end(), {"-o", joined});
        const Outcome run = occupipe(join);
        ASSERT_EQ(run.code, 0) << run.err;
        EXPECT_TRUE(read_text_file(joined) == whole);
    }
}

// Whatever a kill leaves of the file: the rest is made, and nothing twice.
TEST(Sweep, GoesOnFromAnyByte) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const std::string rows = (folder.path / "rows.csv").string();
    ASSERT_EQ(occupipe({"sweep", spec, "-o", rows}).code, 0);
    const std::string whole = read_text_file(rows);
    std::mt19937_64 random(7);
    std::vector<std::size_t> cuts = {0, 1, whole.find('\n'), whole.find('\n') + 1,
                                     whole.size() - 1};
    for (int i = 0; i < 6; ++i) cuts.push_back(random() % whole.size());
    for (const std::size_t cut : cuts) {
        std::filesystem::resize_file(rows, cut);
        const Outcome run = occupipe({"sweep", spec, "-o", rows});
        ASSERT_EQ(run.code, 0) << run.err;
        EXPECT_TRUE(read_text_file(rows) == whole) << cut;
    }
    // What a machine that lost power may leave: a tail that was never written.
    std::string torn = whole;
    std::fill(torn.end() - 500, torn.end(), '\0');
    std::ofstream(rows, std::ios::binary) << torn;
    ASSERT_EQ(occupipe({"sweep", spec, "-o", rows}).code, 0);
    EXPECT_TRUE(read_text_file(rows) == whole);
}

TEST(Sweep, KillsLoseNoRowAndDoubleNone) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const std::string rows = (folder.path / "rows.csv").string();
    const std::string other = (folder.path / "other.csv").string();
    ASSERT_EQ(occupipe({"sweep", spec, "-o", other}).code, 0);
    std::mt19937_64 random(11);
    for (int i = 0; i < 8; ++i)
        run_program({"sweep", spec, "-o", rows}, {},
                    std::uniform_real_distribution<double>(0.005, 0.15)(random), SIGKILL);
    const auto last = run_program({"sweep", spec, "-o", rows});
    ASSERT_EQ(last.exit_code, 0) << last.err;
    EXPECT_TRUE(read_text_file(rows) == read_text_file(other));
}

// More rows than anybody waits for.
TEST(Sweep, CtrlCEndsItWithWholeRowsAndTheSameCommandGoesOn) {
    const TemporaryFolder folder;
    const std::string spec =
        write(folder.path / "s.yaml",
              "format: occupipe-sweep/1\nkernels: mix\nprofiles: gtx-1060\nmodels: roofline\n"
              "set: {fma.f32.cpi: {from: 1, to: 2, count: 100000}, cores: {from: 1, to: 10000}}\n");
    const std::string rows = (folder.path / "rows.csv").string();
    EXPECT_EQ(occupipe({"sweep", spec, "--count"}).out.substr(0, 22), "1000000000 predictions");
    for (int i = 0; i < 2; ++i) {
        const auto run =
            testing::run_program_until({"sweep", spec, "-o", rows}, {}, "predictions", SIGINT);
        EXPECT_EQ(run.exit_code, 130) << run.err;
        EXPECT_THAT(run.err, HasSubstr("the same command continues " + rows));
        EXPECT_EQ(read_text_file(rows).back(), '\n');
    }
    std::int64_t next = 0;
    for (const Row& row : table(rows)) EXPECT_EQ(row.at("row"), std::to_string(next++));
}

TEST(Sweep, ALimitIsARowWithItsReason) {
    const TemporaryFolder folder;
    std::string kernel = "format: occupipe-kernel/1\nname: straight\ninstructions:\n";
    for (int i = 0; i < 300; ++i) kernel += fmt::format("  - {{id: n{}, op: fma.f32}}\n", i);
    write(folder.path / "straight.yaml", kernel);
    const std::string spec = write(folder.path / "s.yaml",
                                   "format: occupipe-sweep/1\nkernels: [./straight.yaml]\n"
                                   "profiles: gtx-1060\nmodels: [roofline, pipeline]\n");
    const std::string rows = (folder.path / "rows.csv").string();
    ASSERT_EQ(occupipe({"sweep", spec, "-o", rows, "--limit", "299"}).code, 0);
    const std::vector<Row> limited = table(rows);
    EXPECT_EQ(limited.at(0).at("refused"), "");
    EXPECT_EQ(limited.at(1).at("refused"), "no answer within --limit 299");
    EXPECT_EQ(limited.at(1).at("cycles"), "");
    // The limit decides over rows: another one is another sweep.
    const Outcome other = occupipe({"sweep", spec, "-o", rows, "--limit", "300"});
    EXPECT_EQ(other.code, 2);
    EXPECT_THAT(other.err, HasSubstr("--force"));
    ASSERT_EQ(occupipe({"sweep", spec, "-o", rows, "--limit", "300", "--force"}).code, 0);
    EXPECT_EQ(table(rows).at(1).at("refused"), "");
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

// Neither a join that fails nor a run that was killed leaves files that nothing removes.
TEST(Sweep, NothingUnfinishedIsLeft) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const auto path = [&](const std::string& name) { return (folder.path / name).string(); };
    write(folder.path / "1.csv.sweep.json.4711-0.partial", "{");  // as a kill leaves it
    write(folder.path / "1.csv.sweep.json.mine.partial", "not a sweep's");
    for (const char* const i : {"1", "2"})
        ASSERT_EQ(occupipe({"sweep", spec, "-o", path(std::string(i) + ".csv"), "--shard",
                            std::string(i) + "/2"})
                      .code,
                  0);
    std::filesystem::remove(path("1.csv.sweep.json.mine.partial"));
    const std::set<std::string> shards = {"s.yaml", "1.csv", "1.csv.sweep.json", "2.csv",
                                          "2.csv.sweep.json"};
    EXPECT_EQ(files_in(folder.path), shards);

    const std::string rows = read_text_file(path("2.csv"));
    write(path("2.csv"), rows.substr(0, rows.size() - 9));
    const std::vector<std::string> join = {"sweep",       "--join", path("1.csv"),
                                           path("2.csv"), "-o",     path("all.csv")};
    const Outcome failed = occupipe(join);
    EXPECT_EQ(failed.code, 2);
    EXPECT_THAT(failed.err, HasSubstr("though it was complete"));
    EXPECT_EQ(files_in(folder.path), shards);

    write(path("2.csv"), rows);
    write(path("all.csv.sweep.json.4711-0.partial"), "{");
    EXPECT_EQ(occupipe(join).code, 0);
    std::set<std::string> joined = shards;
    joined.insert({"all.csv", "all.csv.sweep.json"});
    EXPECT_EQ(files_in(folder.path), joined);
}

TEST(Sweep, FilesOfOthersAreLeftAlone) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const std::string rows = write(folder.path / "rows.csv", "mine\n");
    const Outcome run = occupipe({"sweep", spec, "-o", rows});
    EXPECT_EQ(run.code, 2);
    EXPECT_THAT(run.err, HasSubstr("was not written by a sweep"));
    EXPECT_EQ(read_text_file(rows), "mine\n");
    for (const std::string shard : {"0/3", "4/3", "1", "1/", "/2", "1/2/3", "-1/2"})
        EXPECT_EQ(occupipe({"sweep", spec, "-o", rows, "--force", "--shard", shard}).code, 2)
            << shard;
    EXPECT_EQ(read_text_file(rows), "mine\n");
}

TEST(Sweep, ParquetIsLeftToPython) {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", thousand);
    const std::string rows = (folder.path / "rows.parquet").string();
    for (const std::vector<std::string>& further : {std::vector<std::string>{spec, "-o", rows},
                                                    {"--join", spec, "-o", rows},
                                                    {"--join", rows, "-o", spec + ".csv"}}) {
        std::vector<std::string> arguments = {"sweep"};
        arguments.insert(arguments.end(), further.begin(), further.end());
        const Outcome run = occupipe(arguments);
        EXPECT_EQ(run.code, 2);
        EXPECT_THAT(run.err, HasSubstr("docs/how-to/sweep.md"));
        EXPECT_EQ(files_in(folder.path), std::set<std::string>{"s.yaml"});
    }
}

}  // namespace
}  // namespace occupipe::cli
