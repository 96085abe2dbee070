// SPDX-License-Identifier: MIT
// Kernels and launches for others to run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "bench/cuda/driver/nvrtc.h"
#include "bench/offline/architecture.h"
#include "bench/offline/carrier.h"
#include "bench/offline/dump.h"
#include "bench/offline/kernel_name.h"
#include "bench/offline/launches.h"
#include "bench/offline/warp_stamps.h"
#include "core/error.h"
#include "core/files/csv.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

KernelPlan plan_of(const char* id, int chains = 1) {
    return {.first = find_row(id), .chains = chains, .unroll = 32};
}

TEST(Csv, ReadsBackWhatItWrites) {
    const std::string odd = "mix(a*2,b) \"quoted\"\nsecond line";
    const auto records = parse_csv("a,b\r\n" + csv_text(odd) + ",2\n", "f.csv");
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].fields, (std::vector<std::string>{odd, "2"}));
    EXPECT_EQ(records[1].line, 2);
}

std::string refusal(const std::string& text) {
    try {
        parse_csv(text, "f.csv");
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(Csv, SaysWhichLineIsBad) {
    EXPECT_EQ(refusal("a,b\n1\n"), "f.csv:2: has 1 fields, but the header has 2");
    EXPECT_EQ(refusal("a,b\n\n1,2\n"), "f.csv:2: is empty");
    EXPECT_EQ(refusal("a,b\n1,\"2\n"), "f.csv:2: a quote is not closed");
    EXPECT_EQ(refusal("a,b\n1,2\"\n"),
              "f.csv:2: a quote inside a field that does not begin with one");
    EXPECT_EQ(refusal("a,b\n\"1\"x,2\n"), "f.csv:2: text after a closing quote");
}

TEST(KernelName, DiffersFromKernelToKernelAndIsNoOpcode) {
    std::set<std::string> names;
    for (const Row& row : instruction_table()) {
        for (const int chains : {1, 2}) {
            const std::string name = kernel_name({.first = &row, .chains = chains, .unroll = 16});
            EXPECT_TRUE(names.insert(name).second) << name;
            EXPECT_TRUE(name.starts_with("occupipe_")) << name;
            EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), name.npos);
        }
    }
}

class Carried : public ::testing::Test {
protected:
    void SetUp() override {
        if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    }
    static CarriedKernel carry(const char* id, const std::string& architecture = "sm_75") {
        const auto backend = open_architecture(architecture, {}, {});
        return dynamic_cast<Carrier&>(*backend).carry(kernel_source(plan_of(id)), "occupipe_x",
                                                      false);
    }
};

TEST_F(Carried, PtxNeedsNothingThatASimulatorMayLack) {
    for (const char* id : {"fma.f32", "ld.shared.u32", "ld.global.u32", "ld.global.f32", "bar.sync",
                           "ld.const.u32", "add.f64"}) {
        const std::string ptx = carry(id).files.at(".ptx");
        for (const char* missing : {"globaltimer", "atom", "%clock64", ".func", "vprintf", "trap",
                                    "occupipe_kernel", "call"}) {
            EXPECT_THAT(ptx, Not(HasSubstr(missing))) << id;
        }
        EXPECT_THAT(ptx, AllOf(HasSubstr("%clock;"), HasSubstr(".entry occupipe_x("))) << id;
    }
}

TEST_F(Carried, MachineCodeHasTheSameReceiptAsTheOneThatIsLaunchedHere) {
    for (const char* architecture : {"sm_75", "sm_80", "sm_90", "sm_120"}) {
        const CarriedKernel kernel = carry("fma.f32", architecture);
        EXPECT_THAT(kernel.files.at(".txt"), HasSubstr("machine code 32 FFMA")) << architecture;
        EXPECT_EQ(kernel.counts.at("FFMA"), 32) << architecture;
        EXPECT_EQ(kernel.counts.at("fma.rn.f32"), 32) << architecture;
    }
}

TEST_F(Carried, ModulesDoNotShareNamesOtherThanTheSharedArray) {
    EXPECT_THAT(carry("ld.const.u32").files.at(".ptx"), HasSubstr("occupipe_x_ring"));
}

TEST_F(Carried, ADumpHoldsAFilePerKernelAndALinePerLaunch) {
    const TemporaryFolder folder;
    const auto backend = open_architecture("sm_75", 3, {});
    const auto sweep = make_sweep(*backend, {.patterns = {"fma.f32", "ld.global.u32"}});
    const auto result = dump_sweep(*backend, sweep, {.folder = folder.path, .repetitions = 2});
    const std::string file = (folder.path / "launches.csv").string();
    const auto records = parse_csv(read_text_file(file), file);
    EXPECT_EQ(records.size(), result.launches + 1);
    EXPECT_EQ(result.launches, 2 * sweep.points.size());
    EXPECT_TRUE(result.skipped.empty());
    for (std::size_t i = 1; i < records.size(); ++i) {
        const auto& f = records[i].fields;
        for (const char* extension : {".cu", ".ptx", ".cubin", ".txt"}) {
            EXPECT_TRUE(std::filesystem::exists(folder.path / "kernels" / (f[2] + extension)));
        }
        EXPECT_EQ(std::stoi(f[3]), 3 * std::stoi(f[5])) << "three cores";
    }
    EXPECT_THROW(dump_sweep(*backend, sweep, {.folder = folder.path}), InputError);
}

// Nothing to carry: the reason is told, and no empty folder stays behind.
TEST(Dump, ARefusedOneSaysWhyAndLeavesNoFolder) {
    const TemporaryFolder folder;
    const auto backend = open_architecture("sm_75", 3, {});
    const auto sweep = make_sweep(*backend, {.patterns = {"launch"}});
    const auto into = folder.path / "dump";
    try {
        dump_sweep(*backend, sweep, {.folder = into});
        FAIL() << "not refused";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("the launch itself is measured"));
    }
    EXPECT_FALSE(std::filesystem::exists(into));
}

TEST(Architecture, AnUnknownOneIsBadInputAndNoneCanLaunch) {
    EXPECT_THROW(open_architecture("sm_42", {}, {}), InputError);
    const auto backend = open_architecture("sm_90", {}, {});
    EXPECT_EQ(backend->facts().cores, 132);
    EXPECT_THROW(backend->compile(kernel_source(plan_of("fma.f32"))), DeviceError);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

class Returned : public ::testing::Test {
protected:
    Returned() {
        const auto backend = open_architecture("sm_75", 1, {});
        CarriedLaunch launch;
        launch.point = make_sweep(*backend, {.patterns = {"fma.f32"}}).points.front();
        launch.kernel = "occupipe_x";
        launch.stamp_bytes = 16;
        const auto text = lines_of(format_launches({launch}, backend->facts(), 2));
        header = text[0];
        first = text[1];
        second = text[2];
    }
    std::string refused(const std::string& text, bool partial = false) const {
        try {
            parse_launches(text, "launches.csv", partial);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    }
    std::string header, first, second;  // rows without their cycles, ending in a comma
};

TEST_F(Returned, CyclesComeBackWithTheirPoint) {
    const auto times =
        parse_launches(header + "\n" + first + "800\n" + second + "801.5\n", "launches.csv", false);
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[1].cycles, 801.5);
    EXPECT_EQ(times[1].repetition, 1);
    EXPECT_EQ(times[1].counters.at("warps"), 1);
    EXPECT_EQ(times[1].line, 3);
}

// Dumps made before the column `beside` existed come back, too.
TEST_F(Returned, ATableWithoutTheLaterColumnIsTaken) {
    const auto without = [&](std::string line) {
        const auto fields = parse_csv(header + "\n" + line + "\n", "x").back().fields;
        const auto names = parse_csv(header + "\n", "x").front().fields;
        std::string text;
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (names[i] != "beside") text += (text.empty() ? "" : ",") + csv_text(fields[i]);
        return text;
    };
    const std::string old_header = without(header);
    EXPECT_EQ(old_header.find("beside"), std::string::npos);
    EXPECT_NE(header.find("beside"), std::string::npos);
    const auto times =
        parse_launches(old_header + "\n" + without(first + "800") + "\n", "launches.csv", true);
    ASSERT_EQ(times.size(), 1U);
    EXPECT_EQ(times[0].cycles, 800);
    EXPECT_EQ(times[0].counters.at("warps"), 1);
}

TEST_F(Returned, StampsOfWarpsBecomeCounters) {
    auto times =
        parse_launches(header + "\n" + first + "1000\n" + second + "1000\n", "launches.csv", false);
    const std::string stamps = "point,repetition,core,scheduler,start,stop\n";
    const std::string point = csv_text(times[0].point);
    const std::string good = stamps + point + ",0,5,0,100,600\n" + point + ",0,5,0,110,1100\n" +
                             point + ",0,6,,0,2500\n";
    add_warp_stamps(good, "stamps.csv", times);
    EXPECT_EQ(times[0].counters.at("start_skew_cycles"), 10);
    EXPECT_EQ(times[0].counters.at("stop_spread_cycles"), 500);
    EXPECT_EQ(times[0].counters.at("running_16"), 490);
    EXPECT_EQ(times[0].counters.at("stop_order"), 1);
    EXPECT_FALSE(times[1].counters.contains("stop_spread_cycles"));
    const auto refused_stamps = [&](const std::string& text) -> std::string {
        try {
            add_warp_stamps(text, "stamps.csv", times);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(refused_stamps("point,core\n"), HasSubstr("stamps.csv:1: point: the columns are"));
    EXPECT_THAT(refused_stamps(stamps + point + ",0,5,0,100,90\n"),
                HasSubstr("stamps.csv:2: stop: is not after start"));
    EXPECT_THAT(refused_stamps(stamps + point + ",0,5,0,x,90\n"), HasSubstr("'x' is not a number"));
    EXPECT_THAT(refused_stamps(stamps + point + ",0,5,0,0,90\n"),
                HasSubstr("no core takes the 1000 cycles"));
    EXPECT_THAT(refused_stamps(stamps + point + ",7,5,0,0,1000\n"), HasSubstr("repetition 7 of"));
}

TEST_F(Returned, CheckpointsOfWarpsBecomeAWindow) {
    auto times = parse_launches(header + "\n" + first + "1000\n", "launches.csv", false);
    const std::string columns =
        "point,repetition,core,scheduler,start,stop,checkpoint_1,checkpoint_2,checkpoint_3\n";
    const std::string point = csv_text(times[0].point);
    const std::string good =
        columns + point + ",0,5,0,0,1000,250,500,750\n" + point + ",0,5,1,0,800,200,400,600\n";
    const auto refused_stamps = [&](const std::string& text) -> std::string {
        try {
            add_warp_stamps(text, "stamps.csv", times);
        } catch (const InputError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(refused_stamps(good),
                HasSubstr("stamps.csv:3: checkpoint_1: this launch's kernel has no checkpoints"));
    times[0].counters["checkpoints"] = 3;
    add_warp_stamps(good, "stamps.csv", times);
    const double instructions = times[0].counters.at("depth");
    EXPECT_NEAR(times[0].counters.at("window_cycles") / times[0].counters.at("window_instructions"),
                1 / (instructions / 1000 + instructions / 800), 1e-9);
    EXPECT_THAT(refused_stamps(columns + point + ",0,5,0,0,1000,250,500,\n"),
                HasSubstr("a warp has all checkpoints or none"));
    EXPECT_THAT(refused_stamps(columns + point + ",0,5,0,0,1000,250,200,750\n"),
                HasSubstr("stamps.csv:2: checkpoint_2: the readings of a warp do not ascend"));
    EXPECT_THAT(refused_stamps(columns + point + ",0,5,0,0,1000,250,500,750\n" + point +
                               ",0,5,0,0,1000,,,\n"),
                HasSubstr("some warps of the core have none"));
}

TEST_F(Returned, BadRowsAreRefusedByLineAndColumn) {
    const auto with = [&](const std::string& cycles) {
        return refused(header + "\n" + first + cycles + "\n");
    };
    EXPECT_EQ(with("-5"), "launches.csv:2: cycles: must be positive, not -5");
    EXPECT_EQ(with("0"), "launches.csv:2: cycles: must be positive, not 0");
    EXPECT_EQ(with("nan"), "launches.csv:2: cycles: 'nan' is not a number");
    EXPECT_EQ(with("12x"), "launches.csv:2: cycles: '12x' is not a number");
    EXPECT_EQ(with(""), "launches.csv:2: cycles: is not filled in");
    EXPECT_THAT(refused(header + "\n" + first + "8\n" + first + "8\n"),
                AllOf(HasSubstr("launches.csv:3: point: duplicate repetition 0 of fma.f32/"),
                      HasSubstr("fma.f32")));
    EXPECT_THAT(refused("cycles\n8\n"), HasSubstr("launches.csv:1: point: column 1 is 'cycles'"));
    EXPECT_THAT(refused(header + "\n" + first.substr(0, 40) + "\n"),
                HasSubstr("launches.csv:2: has"));
    EXPECT_THAT(refused(header + "\n"), HasSubstr("no row has a number here"));
}

TEST_F(Returned, PartialLeavesOutWhatWasNotFilledIn) {
    EXPECT_EQ(refused(header + "\n" + first + "8\n" + second + "\n", true), "accepted");
    EXPECT_THAT(refused(header + "\n" + first + "\n" + second + "\n", true),
                HasSubstr("no row has a number here"));
}

}  // namespace
}  // namespace occupipe::bench
