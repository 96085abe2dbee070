// SPDX-License-Identifier: MIT
// predict from the command line: what it prints, and how it refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace occupipe::test {
namespace {

nlohmann::json predict_json(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "predict");
    arguments.emplace_back("--json");
    const Outcome outcome = occupipe(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out);
}

TEST(Predict, PrintsTheContractsJson) {
    const auto json = predict_json({mix, "--profile", gtx, "--group-warps", "8",
                                    "--concurrent-groups", "4", "--groups", "1300"});
    EXPECT_EQ(json["format"], "occupipe-prediction/1");
    EXPECT_EQ(json["kernel"], "mix");
    EXPECT_EQ(json["profile"], gtx);
    ASSERT_EQ(json["predictions"].size(), 1U);
    const auto& row = json["predictions"][0];
    EXPECT_EQ(row["model"], "pipeline");
    EXPECT_EQ(row["warps"], 32);
    EXPECT_EQ(row["groups_per_core"], 130);
    EXPECT_DOUBLE_EQ(row["seconds"].get<double>(), row["cycles"].get<double>() / 1.506e9);
    EXPECT_DOUBLE_EQ(row["warps_per_cycle"].get<double>(), 130 * 8 / row["cycles"].get<double>());
    EXPECT_TRUE(row["bounds"].contains("alu"));
    EXPECT_TRUE(row["bounds"].contains("sfu"));
    EXPECT_TRUE(row["bounds"].contains("issue"));
    EXPECT_TRUE(row["limited_by"].is_string());
}

TEST(Predict, SweepsEveryOccupancyThatTheLimitsAdmit) {
    const auto json =
        predict_json({mix, "--profile", gtx, "--group-warps", "6", "--occupancy", "all"});
    std::vector<int> warps;
    for (const auto& row : json["predictions"]) warps.push_back(row["warps"]);
    EXPECT_EQ(warps, (std::vector{6, 12, 18, 24, 30, 36, 42, 48, 54, 60}));
    // One-warp groups: 64 warps fit, but only 32 groups.
    EXPECT_EQ(predict_json({mix, "--profile", gtx, "--occupancy", "all"})["predictions"].size(),
              32U);
}

TEST(Predict, TakesOccupanciesAsAList) {
    const auto json = predict_json({mix, "--profile", gtx, "--occupancy", "1,4-6,20"});
    std::vector<int> warps;
    for (const auto& row : json["predictions"]) warps.push_back(row["warps"]);
    EXPECT_EQ(warps, (std::vector{1, 4, 5, 6, 20}));
}

TEST(Predict, RunsAllModelsInTheTablesOrder) {
    const auto json = predict_json({mix, "--profile", gtx, "--model", "all"});
    EXPECT_EQ(json["predictions"][0]["model"], "roofline");
    EXPECT_EQ(json["predictions"].back()["model"], "pipeline");
    EXPECT_EQ(predict_json(
                  {mix, "--profile", gtx, "--model", "volkov,roofline"})["predictions"][1]["model"],
              "roofline");
}

// No JSON number can be infinite or no number: such would be printed as null.
bool holds_null(const nlohmann::json& json) {
    if (json.is_structured()) return std::any_of(json.begin(), json.end(), holds_null);
    return json.is_null();
}

TEST(Predict, GivesTheExampleKernelInEveryModelAtTenOccupancies) {
    const auto json = predict_json({source + "/sim/kernels/example.yaml", "--profile",
                                    source + "/sim/kernels/example_gpu.yaml", "--model", "all",
                                    "--occupancy", "1-10"});
    EXPECT_FALSE(holds_null(json));
    const auto names = nlohmann::json::parse(occupipe({"list", "models", "--json"}).out);
    ASSERT_GE(names.size(), 19);
    ASSERT_EQ(json["predictions"].size(), 10 * names.size());
    for (std::size_t i = 0; i < json["predictions"].size(); ++i) {
        EXPECT_EQ(json["predictions"][i]["model"], names[i / 10]["name"]);
        EXPECT_EQ(json["predictions"][i]["warps"], i % 10 + 1);
        EXPECT_GT(json["predictions"][i]["warps_per_cycle"], 0);
    }
}

TEST(Predict, TakesWhatModelsAskOfTheMemory) {
    const std::vector<std::string> base = {source + "/sim/kernels/example.yaml", "--profile",
                                           source + "/sim/kernels/example_gpu.yaml", "--model",
                                           "x-model"};
    const auto cycles = [&](std::vector<std::string> more) {
        more.insert(more.begin(), base.begin(), base.end());
        return predict_json(more)["predictions"][0]["cycles"].get<double>();
    };
    // One warp: 4 computations of Λ 4, 2 accesses of Λ 6, or half of them of Λ 2.
    EXPECT_NEAR(cycles({}), 28, 1e-9);
    EXPECT_NEAR(cycles({"--hit-rate", "0.5", "--hit-latency", "2"}), 24, 1e-9);
    std::vector<std::string> wrong = {"predict"};
    wrong.insert(wrong.end(), base.begin(), base.end());
    wrong.insert(wrong.end(), {"--hit-rate", "1.5"});
    EXPECT_EQ(occupipe(wrong).code, 2);
}

TEST(Models, TheManualHasASectionForEach) {
    std::ifstream file(source + "/docs/background/analytical-models.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    std::string headings;  // some are of two models
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("### ")) headings += line + '\n';
    for (const auto& model : nlohmann::json::parse(occupipe({"list", "models", "--json"}).out))
        EXPECT_NE(headings.find("`" + model["name"].get<std::string>() + "`"), std::string::npos)
            << model["name"] << " has no section";
}

TEST(Predict, AppliesWhatIfs) {
    const auto cycles = [](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {mix, "--profile", gtx};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return predict_json(arguments)["predictions"][0]["cycles"].get<double>();
    };
    // One warp, all dependent: 256 rounds of eight fma (Λ 6) and a cosine (Λ 15).
    EXPECT_EQ(cycles({}), 256 * (8 * 6 + 15));
    EXPECT_EQ(cycles({"--set", "fma.f32.latency=8"}), 256 * (8 * 8 + 15));
    EXPECT_EQ(cycles({"--set", "fma.f32.latency=8", "--set", "cos.approx.f32.latency=20"}),
              256 * (8 * 8 + 20));
    // One instruction in cycles 9, 19, 29, …: a cosine's result is missed by one of them.
    EXPECT_EQ(cycles({"--set", "issue.limit=0.1"}), 9 + 255 * (8 * 10 + 20) + 8 * 10 + 15);
}

TEST(Predict, PrintsATableAndCsv) {
    const Outcome text = occupipe({"predict", mix, "--profile", gtx, "--occupancy", "1-3"});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("limited by"), std::string::npos);
    const Outcome csv = occupipe({"predict", mix, "--profile", gtx, "--occupancy", "1-3", "--csv"});
    EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 4);
    EXPECT_EQ(csv.out.substr(0, 18), "model,group_warps,");
    // What explains it is no row of the table.
    const Outcome why =
        occupipe({"predict", mix, "--profile", gtx, "--csv", "--stalls", "--annotate", "machine"});
    EXPECT_EQ(std::count(why.out.begin(), why.out.end(), '\n'), 2) << why.out;
    EXPECT_NE(why.err.find("Where the warps' time goes"), std::string::npos) << why.err;
}

TEST(Predict, AddsReportsToTextAndJson) {
    const auto json = predict_json({mix, "--profile", gtx, "--stalls", "--sensitivity"});
    double sum = 0;
    for (const auto& row : json["stalls"]) sum += row["share"].get<double>();
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_EQ(json["sensitivity"][0]["name"], "fma.f32 Λ");
    const Outcome text = occupipe({"predict", mix, "--profile", gtx, "--timeline"});
    EXPECT_NE(text.out.find("g0 w0 a1[0]"), std::string::npos) << text.out;
}

TEST(Predict, WarnsOfValuesThatWereNotDetermined) {
    const File profile("weak.yaml", R"(format: occupipe-profile/1
device: {name: weak}
cores: 1
warp_size: 32
clock_hz: 1000000000
issue: {schedulers: 1}
subsystems: {alu: {scope: core}}
instructions:
  op: {subsystem: alu, cpi: 1, latency: {value: 4, identifiable: false, note: upper bound}}
)");
    const File kernel("weak_kernel.yaml",
                      "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: a, op: op}\n");
    const Outcome outcome = occupipe({"predict", kernel.path(), "--profile", profile.path()});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("warning: Λ of op was not determined by its measurements; the upper "
                               "bound 4 is used"),
              std::string::npos)
        << outcome.err;
    EXPECT_EQ(outcome.err.find("λ of op"), std::string::npos);
    const auto json = predict_json({kernel.path(), "--profile", profile.path()});
    EXPECT_EQ(json["predictions"][0]["assumptions"][0],
              "Λ of op was not determined by its measurements; the upper bound 4 is used");
}

TEST(Predict, SaysWhatAnUncertaintyHeldFixed) {
    const File profile("errors.yaml", R"(format: occupipe-profile/1
device: {name: errors}
cores: 1
warp_size: 32
clock_hz: 1000000000
issue: {schedulers: 1}
subsystems: {alu: {scope: core}}
instructions:
  op: {subsystem: alu, cpi: {value: 1, std_error: 0.1}, latency: 4}
)");
    const File kernel("errors_kernel.yaml",
                      "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: a, op: op}\n");
    const std::vector<std::string> arguments = {kernel.path(), "--profile", profile.path(),
                                                "--uncertainty", "10"};
    EXPECT_EQ(predict_json(arguments)["uncertainty"]["held_fixed"],
              nlohmann::json({"op Λ: 4, whose error is unknown",
                              "clock, in the times in us: 1000 MHz, whose error is unknown"}));
    std::vector<std::string> text = arguments;
    text.insert(text.begin(), "predict");
    EXPECT_NE(occupipe(text).out.find("  op Λ: 4, whose error is unknown\n"), std::string::npos);
}

TEST(Predict, SaysWhatWasSet) {
    const auto json = predict_json({mix, "--profile", gtx, "--set", "fma.f32.latency=8", "--set",
                                    "issue.limit=none", "--set", "alu.contention=0.5"});
    const nlohmann::json& assumptions = json["predictions"][0]["assumptions"];
    for (const char* expected : {"fma.f32.latency is set to 8, where the profile has 6",
                                 "issue.limit is set to none, where the profile has 4",
                                 "alu.contention is set to 0.5, where the profile has none"})
        EXPECT_EQ(std::count(assumptions.begin(), assumptions.end(), expected), 1)
            << expected << ' ' << assumptions;
    const Outcome twice = occupipe({"predict", mix, "--profile", gtx, "--set", "fma.f32.latency=8",
                                    "--set", "fma.f32.latency=9"});
    EXPECT_EQ(twice.code, 2);
    EXPECT_NE(twice.err.find("'fma.f32.latency' has an earlier --set"), std::string::npos)
        << twice.err;
}

TEST(Predict, RefusesSettingsThatNoProfileMayHave) {
    const Outcome clock = occupipe({"predict", mix, "--profile", gtx, "--set", "clock_hz=1e-3"});
    EXPECT_EQ(clock.code, 2);
    EXPECT_NE(clock.err.find("clock_hz: must be a positive finite number from 1 to 1e15"),
              std::string::npos)
        << clock.err;
    const Outcome groups =
        occupipe({"predict", mix, "--profile", gtx, "--groups", "9223372036854775807"});
    EXPECT_EQ(groups.code, 2);
    EXPECT_NE(groups.err.find("9223372036854775807 groups"), std::string::npos) << groups.err;
}

TEST(Predict, RefusesUsesThatMeanNothing) {
    const Outcome unknown = occupipe({"predict", mix, "--profile", gtx, "--use", "nope=mul.f64"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("--use nope=mul.f64: the kernel has no op 'nope'"),
              std::string::npos)
        << unknown.err;
    const Outcome twice = occupipe(
        {"predict", mix, "--profile", gtx, "--use", "fma.f32=mul.f64", "--use", "fma.f32=mul.f32"});
    EXPECT_EQ(twice.code, 2);
    EXPECT_NE(twice.err.find("--use fma.f32=mul.f32: 'fma.f32' has an earlier --use"),
              std::string::npos)
        << twice.err;
}

TEST(Predict, SaysBesideCsvThatALaunchDoesNotFit) {
    const File kernel("large.yaml",
                      "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: a, op: "
                      "mul.f32}\nlaunch: {group_warps: 64, concurrent_groups: 1, groups: 10}\n");
    const Outcome outcome = occupipe({"predict", kernel.path(), "--profile", gtx, "--csv"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_NE(outcome.err.find("warning: the kernel file's launch, 10 groups of 64 warps"),
              std::string::npos)
        << outcome.err;
}

// What predict says of a kernel of these instructions, one a line from the file's fourth, which it
// refuses.
std::string refusal(const std::string& instructions) {
    const File kernel("unknown.yaml",
                      "format: occupipe-kernel/1\nname: k\ninstructions:\n" + instructions);
    const Outcome outcome = occupipe({"predict", kernel.path(), "--profile", gtx});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(outcome.out.empty());
    return outcome.err;
}

TEST(Predict, NamesFileLineAndOpOfAnUnknownInstruction) {
    const std::string words =
        refusal("  - {id: a, op: mul.f32}\n  - {id: b, op: frob.f32, after: [a]}\n");
    EXPECT_NE(words.find("unknown.yaml:5:"), std::string::npos) << words;
    EXPECT_NE(words.find("frob.f32"), std::string::npos);
}

TEST(Predict, NamesEveryUnknownInstructionAndANearOne) {
    const std::string words =
        refusal("  - {id: a, op: ld.globl.u32}\n  - {id: b, op: frob.f32, after: [a]}\n");
    EXPECT_NE(words.find("unknown.yaml:4:5: op: "), std::string::npos) << words;
    EXPECT_NE(words.find("'ld.globl.u32', 'frob.f32'"), std::string::npos) << words;
    EXPECT_NE(words.find("--use ld.globl.u32=ld.global.s32 --use frob.f32=INSTRUCTION"),
              std::string::npos)
        << words;
}

TEST(Predict, TakesTheNumbersOfAnotherInstructionAndSaysSo) {
    const std::vector<std::string> launch = {"--profile",           gtx, "--group-warps", "1",
                                             "--concurrent-groups", "4", "--groups",      "40"};
    const auto predict = [&](const std::string& kernel, std::vector<std::string> more) {
        more.insert(more.begin(), launch.begin(), launch.end());
        more.insert(more.begin(), kernel);
        return predict_json(more)["predictions"][0];
    };
    const auto text = [](const char* load, const char* store) {
        return fmt::format(
            "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {{id: a, op: {}}}\n"
            "  - {{id: b, op: {}, kind: store, after: [a]}}\n",
            load, store);
    };
    const File own("own.yaml", text("ld.global.s32", "mul.f32"));
    const File other("other.yaml", text("memory", "st.global.u32"));
    const auto expected = predict(own.path(), {});
    const auto used =
        predict(other.path(), {"--use", "memory=ld.global.s32", "--use", "st.global.u32=mul.f32"});
    EXPECT_EQ(used["cycles"], expected["cycles"]);
    EXPECT_EQ(used["assumptions"], nlohmann::json({"memory uses the numbers of ld.global.s32",
                                                   "st.global.u32 uses the numbers of mul.f32"}));
    // What --set changes is the kernel's instruction.
    const auto slower =
        predict(other.path(), {"--use", "memory=ld.global.s32", "--use", "st.global.u32=mul.f32",
                               "--set", "memory.latency=1000"});
    EXPECT_GT(slower["cycles"], used["cycles"]);
    // A store stays a store, so that nothing waits for its Λ; and 'memory' is the load that it
    // uses.
    const File bare("bare.yaml",
                    "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: a, op: "
                    "st.global.u32}\n");
    const auto store = predict(bare.path(), {"--use", "st.global.u32=ld.global.s32"});
    const File loads(
        "loads.yaml",
        "format: occupipe-kernel/1\nname: k\ninstructions:\n  - {id: a, op: memory}\n");
    const auto load = predict(loads.path(), {"--use", "memory=ld.global.s32"});
    EXPECT_LT(store["cycles"], load["cycles"]);
}

TEST(Predict, SetsAFewOccupanciesOfSeveralModelsInColumns) {
    const auto lines = [](const std::string& occupancy) {
        const Outcome outcome = occupipe({"predict", mix, "--profile", gtx, "--model",
                                          "roofline,pipeline", "--occupancy", occupancy});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.out;
    };
    const std::string few = lines("1-4");
    EXPECT_EQ(few.find("cycles  "), std::string::npos) << few;
    EXPECT_EQ(few.find("roofline "), few.rfind("\nroofline ") + 1) << few;
    EXPECT_NE(lines("1-20").find("limited by"), std::string::npos);
}

TEST(Predict, ChoosesAsTheProfileSaysUnlessTold) {
    // Two warps of a then c with one instruction per cycle (MixKnownAnswer): 401 or 501 cycles.
    const std::string profile =
        "format: occupipe-profile/1\ndevice: {name: x}\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {limit: 1, schedulers: 1CHOICE}\nsubsystems: {alu: {}, sfu: {}}\n"
        "instructions:\n  a: {subsystem: alu, cpi: 1, latency: 1}\n"
        "  c: {subsystem: sfu, cpi: 2, latency: 2}\n";
    const auto with = [&](const std::string& choice) {
        std::string text = profile;
        return text.replace(text.find("CHOICE"), 6, choice);
    };
    const File plain("plain.yaml", with(""));
    const File warp("warp.yaml", with(", select: warp"));
    const File kernel("kernel.yaml",
                      "format: occupipe-kernel/1\nname: pairs\ninstructions:\n  - repeat: 100\n"
                      "    body:\n      - {id: a, op: a, after: [c@-1]}\n"
                      "      - {id: c, op: c, after: [a]}\n"
                      "launch: {group_warps: 1, concurrent_groups: 2, groups: 2}\n");
    const auto cycles = [&](const File& file, const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"predict", kernel.path(), "--profile", file.path(),
                                              "--json"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return nlohmann::json::parse(occupipe(arguments).out)["predictions"][0]["cycles"]
            .get<double>();
    };
    EXPECT_EQ(cycles(plain, {}), 401);
    EXPECT_EQ(cycles(plain, {"--select", "warp"}), 501);
    EXPECT_EQ(cycles(warp, {}), 501);
    EXPECT_EQ(cycles(warp, {"--select", "subsystem"}), 401);
}

TEST(Predict, RefusesBadCommandLines) {
    const std::vector<std::vector<std::string>> bad = {
        {mix, "--profile", gtx, "--use", "fma.f32"},
        {mix, "--profile", gtx, "--use", "=fma.f32"},
        {mix, "--profile", gtx, "--use", "op="},
        {mix, "--profile", gtx, "--use", "op=frob.f32"},
        {},
        {mix},
        {"--profile", gtx},
        {mix, "--profile", "/nonexistent.yaml"},
        {"/nonexistent.yaml", "--profile", gtx},
        {mix, "--profile", mix},
        {gtx, "--profile", gtx},
        {mix, "--profile", gtx, "--model", "oracle"},
        {mix, "--profile", gtx, "--policy", "fifo"},
        {mix, "--profile", gtx, "--select", "unit"},
        {mix, "--profile", gtx, "--order", "random"},
        {mix, "--profile", gtx, "--group-warps", "0"},
        {mix, "--profile", gtx, "--group-warps", "-4"},
        {mix, "--profile", gtx, "--group-warps", "many"},
        {mix, "--profile", gtx, "--group-warps", "33"},
        {mix, "--profile", gtx, "--concurrent-groups", "99"},
        {mix, "--profile", gtx, "--concurrent-groups", "20", "--group-warps", "4"},
        {mix, "--profile", gtx, "--groups", "0"},
        {mix, "--profile", gtx, "--groups", "1.5"},
        {mix, "--profile", gtx, "--occupancy", ""},
        {mix, "--profile", gtx, "--occupancy", "few"},
        {mix, "--profile", gtx, "--occupancy", "0-4"},
        {mix, "--profile", gtx, "--occupancy", "8-4"},
        {mix, "--profile", gtx, "--occupancy", "1,,2"},
        {mix, "--profile", gtx, "--occupancy", "65"},
        {mix, "--profile", gtx, "--occupancy", "5", "--group-warps", "4"},
        {mix, "--profile", gtx, "--set", "fma.f32.latency"},
        {mix, "--profile", gtx, "--set", "fma.f32.latency=fast"},
        {mix, "--profile", gtx, "--set", "fma.f32.latency=-1"},
        {mix, "--profile", gtx, "--set", "fma.f32.latency=nan"},
        {mix, "--profile", gtx, "--set", "fma.f32.speed=2"},
        {mix, "--profile", gtx, "--set", "frob.latency=2"},
        {mix, "--profile", gtx, "--set", "issue.limit=0"},
        {mix, "--profile", gtx, "--set", "issue.schedulers=1.5"},
        {mix, "--profile", gtx, "--set", "latency=2"},
        {mix, "--profile", gtx, "--json", "--csv"},
        {mix, "--profile", gtx, "--frobnicate"},
        {mix, "--profile", gtx, "--stalls", "--occupancy", "1-4"},
        {mix, "--profile", gtx, "--timeline", "--first-cycles", "window=0"},
        {mix, "--profile", gtx, "--first-cycles", "svg=" + gtx},
        {mix, "--profile", gtx, "--first-cycles", "trace=" + gtx},
        {mix, "--profile", gtx, "--uncertainty"},
        {mix, "--profile", gtx, "--uncertainty", "-5"},
    };
    for (std::vector<std::string> arguments : bad) {
        arguments.insert(arguments.begin(), "predict");
        const Outcome outcome = occupipe(arguments);
        std::string shown;
        for (const std::string& argument : arguments) shown += argument + " ";
        EXPECT_EQ(outcome.code, 2) << shown;
        EXPECT_TRUE(outcome.out.empty()) << shown;
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1)
            << shown << outcome.err;
    }
}

}  // namespace
}  // namespace occupipe::test
