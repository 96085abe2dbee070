// SPDX-License-Identifier: MIT
// `watch` on model devices: what is planted in the device's profile is found, and nothing else.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::test {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Watch : public ::testing::Test {
protected:
    std::string at(const std::string& name) const { return (work.path / name).string(); }

    // The GTX 1060 of the papers with something changed, as a file.
    std::string device(const std::string& name,
                       const std::function<void(GpuProfile&)>& change = {}) const {
        GpuProfile profile =
            read_profile(std::string(OCCUPIPE_SOURCE_DIR) + "/profiles/nvidia-gtx-1060.yaml");
        if (change) change(profile);
        std::ofstream(at(name)) << format_profile(profile);
        return at(name);
    }
    static std::string model(const std::string& file, int seed) {
        return fmt::format("model:{}?noise=0.005&seed={}", file, seed);
    }
    std::string baseline() const {
        const ProgramRun run = run_program({"characterize", "--quick", "--device",
                                            model(device("golden-device.yaml"), 1),
                                            "--instructions", instructions, "-o", at("golden")});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return at("golden/profile.yaml");
    }
    ProgramRun watch(const std::string& stored, const std::string& device_file, int seed,
                     const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = {"watch",    stored,
                                          "--device", model(device_file, seed),
                                          "-o",       at(fmt::format("watch{}", ++runs))};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }

    static std::string largest_found(const std::string& text) {
        static const std::regex line("; ([0-9.e+]+) % would have been found");
        std::string largest;
        for (std::sregex_iterator one(text.begin(), text.end(), line), end; one != end; ++one)
            if (largest.empty() || std::stod((*one)[1]) > std::stod(largest)) largest = (*one)[1];
        return largest;
    }
    const std::string instructions = "mul.f32,mul.s32,ld.global.s32";
    TemporaryFolder work;
    int runs = 0;
};

TEST_F(Watch, AnUnchangedDeviceAndFourPlantedChanges) {
    const std::string stored = baseline();
    const std::string same = device("same.yaml");
    const ProgramRun unchanged = watch(stored, same, 2, {"--all"});
    EXPECT_EQ(unchanged.exit_code, 0) << unchanged.out << unchanged.err;
    EXPECT_THAT(unchanged.out, HasSubstr(": 0 of "));
    EXPECT_THAT(unchanged.out, HasSubstr("same   mul.f32 λ"));
    EXPECT_THAT(unchanged.out, HasSubstr("a false alarm in 1 of 100 reports"));
    // What would have been found: the largest of the numbers' own lines.
    const std::string largest = largest_found(unchanged.out);
    EXPECT_THAT(
        unchanged.out,
        AnyOf(HasSubstr("A change of " + largest + " % would have been found in each number"),
              HasSubstr("in half of the numbers, one of " + largest + " % in all")));
    EXPECT_THAT(unchanged.out, Not(HasSubstr("of " + largest +
                                             " % would have been found in half of the numbers")));

    struct Planted {
        const char* what;
        std::function<void(GpuProfile&)> change;
    };
    const std::vector<Planted> planted = {
        {"mul.f32 λ", [](GpuProfile& p) { p.find_instruction("mul.f32")->cpi.value *= 1.1; }},
        {"mul.f32 Λ", [](GpuProfile& p) { p.find_instruction("mul.f32")->latency->value *= 1.1; }},
        {"ld.global.s32 Λ",
         [](GpuProfile& p) { p.find_instruction("ld.global.s32")->latency->value *= 1.1; }},
        {"clock [Hz]", [](GpuProfile& p) { p.clock_hz *= 0.9; }}};
    int seed = 3;
    for (const Planted& one : planted) {
        const std::string changed = device(fmt::format("changed{}.yaml", seed), one.change);
        const ProgramRun run = watch(stored, changed, seed++);
        EXPECT_EQ(run.exit_code, 6) << one.what << "\n" << run.out << run.err;
        EXPECT_THAT(run.out, HasSubstr(std::string("MOVED  ") + one.what)) << run.out;
    }
}

TEST_F(Watch, ReportsAsJsonAndAsFiles) {
    const std::string stored = baseline();
    const std::string slower = device(
        "slower.yaml", [](GpuProfile& p) { p.find_instruction("mul.s32")->cpi.value *= 1.2; });
    const ProgramRun run = watch(stored, slower, 9, {"--json"});
    ASSERT_EQ(run.exit_code, 6) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json["format"], "occupipe-watch/1");
    EXPECT_EQ(json["false_alarm_rate"], 0.01);
    bool found = false;
    for (const auto& number : json["numbers"]) {
        if (number["name"] != "mul.s32 λ") continue;
        found = true;
        EXPECT_TRUE(number["moved"].get<bool>());
        EXPECT_NEAR(number["relative"].get<double>(), 0.2, 0.03);
        EXPECT_GT(number["standard_errors"].get<double>(), json["needed_standard_errors"]);
    }
    EXPECT_TRUE(found);
    EXPECT_EQ(nlohmann::json::parse(read_text_file(at("watch1/report.json"))), json);
    EXPECT_THAT(read_text_file(at("watch1/report.txt")), HasSubstr("MOVED  mul.s32 λ"));
    // A complete folder is judged again, not measured again.
    const ProgramRun again = run_program(
        {"watch", stored, "--device", model(slower, 9), "-o", at("watch1"), "--relative", "0.5"});
    EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
    EXPECT_THAT(again.err, HasSubstr("is not measured again"));
    // But only for the device that it was measured on.
    for (const char* command : {"watch", "characterize"}) {
        std::vector<std::string> words = {command, "--device", model(at("golden-device.yaml"), 9),
                                          "-o", at("watch1")};
        if (std::string_view(command) == "watch") words.insert(words.begin() + 1, stored);
        const ProgramRun foreign = run_program(words);
        EXPECT_EQ(foreign.exit_code, 2) << foreign.out << foreign.err;
        EXPECT_THAT(foreign.err, HasSubstr("measurements.json: was measured on model:"));
        EXPECT_THAT(foreign.out, Not(HasSubstr("moved")));
    }
}

// Counts and limits alone are not what a night is for.
TEST_F(Watch, ABaselineWithoutErrorsIsNoProof) {
    const std::string stored = device("published.yaml");
    const std::string slower = device(
        "slower.yaml", [](GpuProfile& p) { p.find_instruction("mul.f32")->cpi.value *= 1.5; });
    const ProgramRun run = watch(stored, slower, 3, {"--instructions", "mul.f32"});
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr("no measured number could be compared"));
}

TEST_F(Watch, Refusals) {
    EXPECT_EQ(run_program({"watch"}).exit_code, 2);
    const ProgramRun missing = run_program(
        {"watch", at("none.yaml"), "--device", model(device("d.yaml"), 1), "-o", at("w")});
    EXPECT_EQ(missing.exit_code, 2);
    std::ofstream(at("bad.yaml")) << "format: occupipe-profile/1\ncores: x\n";
    EXPECT_EQ(
        run_program({"watch", at("bad.yaml"), "--device", model(at("d.yaml"), 1), "-o", at("w")})
            .exit_code,
        2);
    const ProgramRun other =
        run_program({"watch", "rtx-2070", "--device", model(at("d.yaml"), 1), "-o", at("w")});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("--other-device compares nevertheless"));
    EXPECT_EQ(run_program({"watch", at("d.yaml"), "--device", "cuda:99", "-o", at("w")}).exit_code,
              3);
    EXPECT_EQ(run_program({"watch", at("d.yaml"), "--device", model(at("d.yaml"), 1),
                           "--false-alarms", "2", "-o", at("w")})
                  .exit_code,
              2);
}

// The errors of quick sweeps on a model device with noise are not known exactly: how often does a
// whole report of an unchanged device call anything moved? 1 % is what is asked for.
TEST_F(Watch, FalseAlarmsOfAModelDevice) {
    const std::string stored = baseline();
    const std::string same = device("same.yaml");
    const int reports = thinned::all_cases() ? 100 : 25;
    int alarms = 0;
    for (int i = 0; i < reports; ++i) {
        const ProgramRun run = watch(stored, same, 100 + i);
        EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 6) << run.err;
        alarms += run.exit_code == 6;
    }
    // At 1 %: more than 6 of 100, or 3 of 25, in 1 of 10,000 such tests.
    EXPECT_LE(alarms, thinned::all_cases() ? 6 : 3);
}

#if OCCUPIPE_OPENCL
TEST_F(Watch, APortableDevice) {
    const ProgramRun made = run_program({"characterize", "--quick", "--device", "opencl:0.0",
                                         "--instructions", "fma.f64", "-o", at("golden")});
    if (made.exit_code == 3) GTEST_SKIP() << made.err;
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const ProgramRun run =
        run_program({"watch", at("golden/profile.yaml"), "--device", "opencl:0.0", "-o", at("w")});
    // A busy machine may have moved; either way there is a report.
    // It may also be so busy that nothing has an error.
    EXPECT_TRUE(run.exit_code == 0 || run.exit_code == 6 ||
                run.err.find("no measured number") != std::string::npos)
        << run.err;
    EXPECT_THAT(run.out, HasSubstr("numbers moved against"));
}
#endif

}  // namespace
}  // namespace occupipe::test
