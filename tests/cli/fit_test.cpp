// SPDX-License-Identifier: MIT
// fit, diff and merge as a user runs them; thirty-odd broken result files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "tests/fit/synthetic.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class FitCli : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name), std::ios::binary) << text;
        return path(name);
    }

private:
    test::TemporaryFolder own_;
    const fs::path& folder_ = own_.path;
};

MeasurementFile small_file(std::uint64_t seed = 1, double latency = 20) {
    MeasurementFile file = test::empty_file();
    std::mt19937_64 random(seed);
    std::vector<MeasurementShape> shapes;
    for (const int w : {1, 2, 8, 16, 32, 64})
        for (const int n : {512, 1024}) shapes.push_back({1, w, 1, n});
    test::add_rows(
        file, "fma.f32", shapes,
        [&](const auto& s) {
            return test::hull_time({"", 1, latency}, s);
        },
        {0.01, 3}, random);
    return file;
}

struct Broken {
    std::string what;
    std::string text;
};

std::string with(const std::string& from, const std::string& to) {
    std::string text = test::json_text(small_file());
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string without_context(const char* key) {
    MeasurementFile file = small_file();
    file.context.erase(key);
    return test::json_text(file);
}

std::string context(const char* key, const char* value) {
    MeasurementFile file = small_file();
    file.context[key] = value;
    return test::json_text(file);
}

template <class Change>
std::string rows(Change change) {
    MeasurementFile file = small_file();
    change(file);
    return test::json_text(file);
}

std::vector<Broken> broken_texts() {
    const std::string good = test::json_text(small_file());
    return {
        {"empty", ""},
        {"no JSON", "format: occupipe-profile/1\n"},
        {"cut off", good.substr(0, good.size() / 2)},
        {"a list", "[]"},
        {"a number", "17"},
        {"no context", "{\"benchmarks\": []}"},
        {"no benchmarks", "{\"context\": {}}"},
        {"no rows", "{\"context\": {\"device_name\": \"x\"}, \"benchmarks\": []}"},
        {"benchmarks is no list", "{\"context\": {}, \"benchmarks\": {}}"},
        {"unknown key", with("\"benchmarks\"", "\"results\": 1, \"benchmarks\"")},
        {"row is no map", with("\"benchmarks\": [", "\"benchmarks\": [5,")},
        {"row without name", with("\"name\": ", "\"title\": ")},
        {"name is a number", with("\"name\": \"fma.f32/group_warps:1", "\"name\": 5, \"x\": \"")},
        {"depth zero", with("\"depth\": 512", "\"depth\": 0")},
        {"depth broken", with("\"depth\": 512", "\"depth\": 1.5")},
        {"depth against name", with("\"depth\": 512", "\"depth\": 513")},
        {"negative warps", with("\"group_warps\": 1", "\"group_warps\": -1")},
        {"too many warps", with("\"group_warps\": 1", "\"group_warps\": 1e12")},
        {"cycles is text", with("\"cycles\": ", "\"cycles\": \"many\", \"x\": ")},
        {"cycles negative", with("\"cycles\": ", "\"cycles\": -1, \"x\": ")},
        {"cycles overflow", with("\"cycles\": ", "\"cycles\": 1e999, \"x\": ")},
        {"cycles not a number", with("\"cycles\": ", "\"cycles\": NaN, \"x\": ")},
        {"time unit", with("\"time_unit\": \"ns\"", "\"time_unit\": \"fortnight\"")},
        {"no mix", with("\"fma.f32/", "\"mix(fma.f32)/")},
        {"control character", with("fma.f32", "fma\x01")},
        {"deep nesting", "{\"context\": " + std::string(100000, '[')},
        {"no device", without_context("device_name")},
        {"no cores", without_context("cores")},
        {"cores is text", context("cores", "ten")},
        {"cores zero", context("cores", "0")},
        {"cores negative", context("cores", "-4")},
        {"warp size missing", without_context("warp_size")},
        {"warp size infinite", context("warp_size", "inf")},
        {"limits broken", context("limits_warps", "many")},
        {"no clock", rows([](MeasurementFile& f) {
             f.context.erase("clock_hz");
             for (auto& row : f.rows) row.clock_hz.reset();
         })},
        {"clock is text", rows([](MeasurementFile& f) {
             f.context["clock_hz"] = "fast";
             for (auto& row : f.rows) row.clock_hz.reset();
         })},
        {"all rows failed", rows([](MeasurementFile& f) {
             for (auto& row : f.rows) row.error = "launch failed";
         })},
        {"no cycles and no clock", rows([](MeasurementFile& f) {
             for (auto& row : f.rows) {
                 row.cycles.reset();
                 row.clock_hz.reset();
             }
         })},
        {"one depth", rows([](MeasurementFile& f) {
             std::erase_if(f.rows, [](const auto& row) { return row.shape.depth != 512; });
         })},
        {"two points", rows([](MeasurementFile& f) {
             std::erase_if(f.rows, [](const auto& row) { return row.shape.warps() != 8; });
         })},
        {"only aggregates", rows([](MeasurementFile& f) {
                                f.rows.resize(1);
                            }).replace(good.find("\"iteration\""), 11, "\"aggregate\"")},
    };
}

TEST_F(FitCli, BrokenResultsGetOneLineExitCodeTwoAndNoOutputFile) {
    for (const Broken& broken : broken_texts()) {
        const std::string file = write("broken.json", broken.text);
        const ProgramRun run = run_program({"fit", file, "-o", path("out.yaml")});
        EXPECT_EQ(run.exit_code, 2) << broken.what << ": " << run.err;
        EXPECT_EQ(run.out, "") << broken.what;
        EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1)
            << broken.what << ": " << run.err;
        EXPECT_THAT(run.err, HasSubstr("broken.json")) << broken.what;
        EXPECT_FALSE(fs::exists(path("out.yaml"))) << broken.what;
    }
}

// It said "ok" of files that fit refuses whole.
TEST_F(FitCli, CheckSaysWhatFitWould) {
    const auto counter = [](const std::string& extra, std::size_t most) {
        std::string text = test::json_text(small_file());
        const std::string before = "\"run_type\"";
        std::size_t at = 0;
        for (std::size_t i = 0; i < most && (at = text.find(before, at)) != text.npos; ++i) {
            text.insert(at, extra + ", ");
            at += extra.size() + before.size() + 2;
        }
        return text;
    };
    std::string blank = test::json_text(small_file());
    for (std::size_t at = 0; (at = blank.find("fma.f32", at)) != std::string::npos;)
        blank.replace(at, 7, "fma f32");
    for (const Broken& broken : {Broken{"blank in a name", blank},
                                 {"no cores", context("cores", "0")},
                                 {"cores are no number", context("cores", "abc")},
                                 {"warp size", context("warp_size", "-1")},
                                 {"no device", without_context("device_name")},
                                 {"unroll", counter("\"unroll\": 0", 1000)},
                                 {"off_core", counter("\"off_core\": 2", 1000)}}) {
        const std::string file = write("broken.json", broken.text);
        for (const auto& command :
             {std::vector<std::string>{"check", file}, {"fit", file, "-o", path("out.yaml")}}) {
            const ProgramRun run = run_program(command);
            EXPECT_EQ(run.exit_code, 2) << command[0] << " " << broken.what << run.out << run.err;
            EXPECT_THAT(run.err, HasSubstr("broken.json")) << broken.what;
        }
    }
    const std::string one_row = counter("\"unroll\": 0", 1);
    const ProgramRun run = run_program({"check", write("one.json", one_row)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("fit leaves out 1 row"));
    EXPECT_EQ(run_program({"check", write("good.json", test::json_text(small_file()))}).exit_code,
              0);
}

TEST_F(FitCli, FilesOfTwoDevicesAreRefused) {
    const std::string a = write("a.json", test::json_text(small_file()));
    const std::string b = write("b.json", context("device_name", "Another GPU"));
    const ProgramRun run = run_program({"fit", a, b, "-o", path("out.yaml")});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("different devices"));
    EXPECT_FALSE(fs::exists(path("out.yaml")));
}

TEST_F(FitCli, WritesAProfileAndAReportAndKeepsExistingFiles) {
    const std::string file = write("a.json", test::json_text(small_file()));
    const std::vector<std::string> command{"fit",      file,          "-o", path("out.yaml"),
                                           "--report", path("out.md")};
    const ProgramRun run = run_program(command);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("fma.f32"));
    const GpuProfile profile = read_profile(path("out.yaml"));
    EXPECT_NEAR(profile.find_instruction("fma.f32")->latency->value, 20, 0.5);
    EXPECT_THAT(read_text_file(path("out.md")), HasSubstr("## fma.f32"));
    const ProgramRun again = run_program(command);
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.err, HasSubstr("--force"));
    std::vector<std::string> forced = command;
    forced.emplace_back("--force");
    EXPECT_EQ(run_program(forced).exit_code, 0);
}

// 150 instructions, 99 points each, five repetitions, with as many counters as a GPU's rows have.
TEST_F(FitCli, AFullProfileIsFittedInSixtyMegabytes) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the sanitizer takes memory of its own";
#endif
    std::ofstream text(path("full.json"));
    text << test::json_head(test::empty_file());
    std::mt19937_64 random(1);
    std::vector<MeasurementShape> shapes;
    for (int warps = 1; warps <= 64; warps += 2)
        for (const int depth : {512, 1024, 2048}) shapes.push_back({1, warps, 1, depth});
    for (const int depth : {512, 1024, 2048}) shapes.push_back({2, 32, 1, depth});
    const std::vector<test::Truth> truths = test::gtx_1060();
    for (int i = 0; i < 150; ++i) {
        const test::Truth& truth = truths[static_cast<std::size_t>(i) % 7];
        MeasurementFile one;  // so that the test itself stays small
        test::add_rows(
            one, fmt::format("i{}.f32", i), shapes,
            [&](const auto& s) { return 300 + test::hull_time(truth, s); }, {0.02, 5}, random);
        for (MeasurementRow& row : one.rows) {
            const double cycles = *row.cycles;
            row.counters = {{"achieved_warps", row.shape.warps()},
                            {"busiest_scheduler_warps", (row.shape.warps() + 3) / 4},
                            {"clock_change", 1e-4},
                            {"core_cycles_q1", 0.999 * cycles},
                            {"core_cycles_q3", 1.001 * cycles},
                            {"cores_used", 10},
                            {"counted_latency", truth.latency},
                            {"cycles_max", 1.002 * cycles},
                            {"cycles_min", 0.998 * cycles},
                            {"dynamic_shared_bytes", 49152},
                            {"loop_instructions", 67},
                            {"off_core", 0},
                            {"other_instructions", 3},
                            {"other_stall_cycles", 13},
                            {"registers", 18},
                            {"rejected", 0},
                            {"start_skew_cycles", 20},
                            {"static_shared_bytes", 0},
                            {"stop_spread_cycles", 30},
                            {"unroll", 64},
                            {"warps", row.shape.warps()}};
        }
        text << test::json_rows(one.rows, i == 0 ? "\n" : ",\n");
    }
    text << test::json_end;
    text.close();
    const ProgramRun run = run_program({"fit", path("full.json"), "-o", path("full.yaml")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(read_profile(path("full.yaml")).instructions.size(), 150U);
    EXPECT_LE(run.peak_bytes, 60e6);
}

TEST_F(FitCli, AGivenOverheadStandsForASecondDepthAndIsSaid) {
    MeasurementFile file = small_file();
    std::erase_if(file.rows, [](const MeasurementRow& row) { return row.shape.depth != 1024; });
    const std::string rows = write("one.json", test::json_text(file));
    const ProgramRun refused = run_program({"fit", rows, "-o", path("one.yaml")});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("overhead"));
    EXPECT_FALSE(fs::exists(path("one.yaml")));
    const ProgramRun given = run_program({"fit", rows, "--overhead", "0", "-o", path("one.yaml")});
    ASSERT_EQ(given.exit_code, 0) << given.err;
    EXPECT_THAT(given.out, HasSubstr("an overhead of 0 cycles was given, not fitted"));
    EXPECT_THAT(read_text_file(path("one.yaml")),
                HasSubstr("an overhead of 0 cycles was given, not fitted"));
}

TEST_F(FitCli, DiffFailsOnRequestOnly) {
    const std::string a = write("a.json", test::json_text(small_file(1, 20)));
    const std::string b = write("b.json", test::json_text(small_file(2, 25)));
    ASSERT_EQ(run_program({"fit", a, "-o", path("a.yaml")}).exit_code, 0);
    ASSERT_EQ(run_program({"fit", b, "-o", path("b.yaml")}).exit_code, 0);
    const ProgramRun plain = run_program({"diff", path("a.yaml"), path("b.yaml")});
    EXPECT_EQ(plain.exit_code, 0) << plain.err;
    EXPECT_THAT(plain.out, HasSubstr("fma.f32 Λ"));
    const auto with_fail = [&](const char* condition, const char* x, const char* y) {
        return run_program({"diff", path(x), path(y), "--fail-on", condition}).exit_code;
    };
    EXPECT_EQ(with_fail("slower", "a.yaml", "b.yaml"), 1);
    EXPECT_EQ(with_fail("slower", "b.yaml", "a.yaml"), 0);
    EXPECT_EQ(with_fail("difference", "b.yaml", "a.yaml"), 1);
    EXPECT_EQ(with_fail("missing", "a.yaml", "b.yaml"), 0);
    EXPECT_EQ(with_fail("weather", "a.yaml", "b.yaml"), 2);
}

TEST_F(FitCli, MergeShowsTheSpread) {
    const std::string a = write("a.json", test::json_text(small_file(1, 20)));
    const std::string b = write("b.json", test::json_text(small_file(2, 22)));
    ASSERT_EQ(run_program({"fit", a, "-o", path("a.yaml")}).exit_code, 0);
    ASSERT_EQ(run_program({"fit", b, "-o", path("b.yaml")}).exit_code, 0);
    const ProgramRun run =
        run_program({"merge", path("a.yaml"), path("b.yaml"), "-o", path("both.yaml")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("2 machines"));
    EXPECT_EQ(run_program({"check", path("both.yaml")}).exit_code, 0);
    EXPECT_EQ(run_program({"merge", path("a.yaml"), "-o", path("one.yaml")}).exit_code, 2);
    EXPECT_FALSE(fs::exists(path("one.yaml")));
}

TEST_F(FitCli, ImportsGpuStreamResults) {
    std::string text = "blockSize   threads       %occ  |      read\n";
    for (int block = 32; block <= 1024; block += 32) {
        const double w = block / 16.0;
        text += fmt::format("{} 1 1 % | GB/s: {:.0f}\n", block,
                            1500 * std::min(w / (12 + 0.4 * w), 1.0));
    }
    const std::string file = write("stream.txt", text);
    const ProgramRun run = run_program({"fit", "--import", "gpu-stream", file});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("read"));
    EXPECT_THAT(run.out, HasSubstr("latency grows with warps"));
    EXPECT_EQ(run_program({"fit", "--import", "excel", file}).exit_code, 2);
    EXPECT_EQ(run_program({"fit", file}).exit_code, 2);
}

// The policy that a model device is given is found again, and λ does not suffer from it.
TEST_F(FitCli, AModelDevicesPolicyIsFound) {
    struct Case {
        const char* policy;
        const char* found;
        bool in_profile;
    };
    for (const Case& c : {Case{"lrr", "loose round robin", false},
                          Case{"gto", "greedy then oldest, or oldest first", true},
                          Case{"oldest", "greedy then oldest, or oldest first", true}}) {
        const std::string rows = path(std::string(c.policy) + ".json");
        const std::string device =
            std::string("model:profiles/nvidia-rtx-2070.yaml?noise=0.002&policy=") + c.policy;
        const ProgramRun measured =
            run_program({"measure", "--device", device, "--instructions",
                         "mul.f32,ld.shared.s32,ld.global.s32", "--quick", "-o", rows});
        ASSERT_EQ(measured.exit_code, 0) << measured.err;
        const std::string profile = path(std::string(c.policy) + ".yaml");
        const ProgramRun fitted = run_program({"fit", rows, "-o", profile});
        ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
        const GpuProfile found = read_profile(profile);
        std::string choice;
        for (const auto& [key, value] : found.provenance.entries)
            if (key == "choice_among_warps") choice = value.text;
        EXPECT_THAT(choice, HasSubstr(c.found)) << c.policy;
        EXPECT_EQ(found.issue.policy.has_value(), c.in_profile) << c.policy;
        for (const auto& [name, cpi] : {std::pair{"mul.f32", 0.5}, std::pair{"ld.shared.s32", 2.0},
                                        std::pair{"ld.global.s32", 18.0}}) {
            const Estimate& e = found.find_instruction(name)->cpi;
            EXPECT_TRUE(e.identifiable()) << c.policy << " " << name;
            EXPECT_NEAR(e.value, cpi, 0.005 * cpi) << c.policy << " " << name;
        }
    }
    const ProgramRun unknown =
        run_program({"measure", "--device", "model:profiles/nvidia-rtx-2070.yaml?policy=fifo", "-o",
                     path("never.json")});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("'fifo' is not lrr, gto or oldest"));
}

// A model device tells when each warp stopped, but not on which scheduler it was: the fuller
// schedulers' time was taken for drift, even without noise, and copies for one unit of the core.
TEST_F(FitCli, CopiesThatLookLikeDriftAreNotCalledOneUnit) {
    const std::string device = write("four.yaml", R"(format: occupipe-profile/1
device: {name: four schedulers}
cores: 4
warp_size: 32
clock_hz: 1500000000
limits: {warps: 64, groups: 32, group_warps: 32, registers: 65536, shared_memory_bytes: 65536}
issue: {limit: 4, schedulers: 4}
subsystems:
  alu: {scope: scheduler}
  half: {scope: scheduler}
  sfu: {scope: scheduler}
instructions:
  fma.f32: {subsystem: alu, cpi: 2, latency: 4.5, source: assumed, reference: x}
  mul.s32: {subsystem: half, cpi: 4, latency: 6, source: assumed, reference: x}
  cos.approx.f32: {subsystem: sfu, cpi: 8, latency: 23, source: assumed, reference: x}
)");
    for (const char* disturbed : {"", "?noise=0.02&seed=1", "?noise=0.02&seed=4"}) {
        const std::string rows = path("rows.json");
        const ProgramRun measured =
            run_program({"measure", "--device", "model:" + device + disturbed, "--quick",
                         "--instructions", "fma.f32,mul.s32,cos.approx.f32", "-o", rows});
        ASSERT_EQ(measured.exit_code, 0) << measured.err;
        const std::string profile = path("found.yaml");
        const ProgramRun fitted = run_program({"fit", rows, "-o", profile, "--force"});
        ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
        EXPECT_THAT(fitted.out, Not(HasSubstr("drift apart"))) << disturbed;
        const GpuProfile found = read_profile(profile);
        for (const Subsystem& subsystem : found.subsystems)
            EXPECT_EQ(subsystem.scope, Scope::scheduler) << disturbed << " " << subsystem.name;
        ASSERT_EQ(std::remove(rows.c_str()), 0);
    }
}

}  // namespace
}  // namespace occupipe
