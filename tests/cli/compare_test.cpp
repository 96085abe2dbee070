// SPDX-License-Identifier: MIT
// compare: its own measuring, and predictions beside predictions.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/files/files.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli::testing {
namespace {

class Compare : public ::testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder / name).string(); }

    std::string file(const std::string& name, const std::string& text) const {
        write_text_file(path(name), text, Overwrite::yes);
        return path(name);
    }

    test::TemporaryFolder own;
    const std::filesystem::path& folder = own.path;
};

// The row of a model for a subject.
nlohmann::json row(const nlohmann::json& comparison, const std::string& subject,
                   const std::string& model) {
    for (const auto& entry : comparison["accuracy"])
        if (entry["subject"] == subject && entry["model"] == model) return entry;
    return {};
}

std::string prediction(const std::string& model, int groups, double wpc) {
    return R"({"model": ")" + model + R"(", "group_warps": 2, "concurrent_groups": )" +
           std::to_string(groups) + R"(, "warps_per_cycle": )" + std::to_string(wpc) + "}";
}

std::string predictions(const std::vector<std::string>& rows) {
    std::string text =
        R"({"format": "occupipe-prediction/1", "kernel": "k", "profile": "p", "predictions": [)";
    for (std::size_t i = 0; i < rows.size(); ++i) text += (i == 0 ? "" : ", ") + rows[i];
    return text + "]}";
}

TEST_F(Compare, OnAModelDeviceTheSimulationIsExactAndNoAnalyticalModelIs) {
    const std::string profile = "profiles/nvidia-gtx-1060.yaml";
    const std::vector<std::string> command = {
        "compare", "--device", "model:" + profile,   "--profile", profile,
        "--quick", "-o",       path("kernels.json"), "--json"};
    const auto run = run_program(command);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto comparison = nlohmann::json::parse(run.out);
    const auto pipeline = row(comparison, "all", "pipeline");
    EXPECT_EQ(pipeline["rank"], 1);
    EXPECT_LT(pipeline["mape_percent"], 1e-9);
    EXPECT_LT(pipeline["mape_shape_percent"], 1e-9);
    EXPECT_GT(row(comparison, "all", "volkov")["mape_percent"], 0.1);
    std::set<std::string> subjects;
    for (const auto& entry : comparison["accuracy"]) subjects.insert(entry["subject"]);
    for (const char* subject : {"mul.f32", "bar.sync", "ld.global.s32",
                                "mix(mul.f32*1,cos.approx.f32)", "mix(mul.f32*32,cos.approx.f32)"})
        EXPECT_TRUE(subjects.contains(subject)) << subject;
    std::set<int> occupancies;
    for (const auto& point : comparison["points"])
        if (point["name"].get<std::string>().starts_with("mix(mul.f32*4,"))
            occupancies.insert(point["warps"].get<int>());
    EXPECT_GT(occupancies.size(), 8U);
    // What was measured is kept, can be compared again, and is not written over.
    EXPECT_EQ(run_program({"check", path("kernels.json")}).exit_code, 0);
    const auto again =
        run_program({"compare", path("kernels.json"), "--profile", profile, "--json"});
    EXPECT_EQ(nlohmann::json::parse(again.out)["accuracy"], comparison["accuracy"]);
    EXPECT_EQ(run_program(command).exit_code, 2);
}

TEST_F(Compare, KnowsWhatTheProfileWasFittedToAndHoldsShapesOut) {
    if (!OCCUPIPE_FIT) GTEST_SKIP() << "without the fitter";
    const std::string profile = "profiles/nvidia-gtx-1060.yaml";
    ASSERT_EQ(run_program({"measure", "--device", "model:" + profile + "?noise=0.01", "--quick",
                           "--instructions", "fma.f32,mul.f32", "-o", path("m.json")})
                  .exit_code,
              0);
    ASSERT_EQ(run_program({"fit", path("m.json"), "-o", path("p.yaml")}).exit_code, 0);
    const auto fitted = run_program({"compare", path("m.json"), "--profile", path("p.yaml")});
    EXPECT_NE(fitted.out.find("In-sample"), std::string::npos) << fitted.out << fitted.err;
    const auto other = run_program({"compare", path("m.json"), "--profile", profile, "--json"});
    EXPECT_FALSE(nlohmann::json::parse(other.out)["in_sample"].get<bool>());
    const auto all = nlohmann::json::parse(other.out)["points"].size();
    const auto run = run_program(
        {"compare", path("m.json"), "--hold-out", "every:4", "--model", "pipeline", "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto held = nlohmann::json::parse(run.out);
    EXPECT_FALSE(held["in_sample"].get<bool>());
    EXPECT_NE(held["held_out"].get<std::string>().find("every:4"), std::string::npos);
    EXPECT_GT(held["points"].size(), all / 8);
    EXPECT_LT(held["points"].size(), all / 2);
    EXPECT_LT(row(held, "all", "pipeline")["mape_percent"], 2);
    // The shapes by name; and what is no shape, nothing, or everything.
    const auto named = run_program({"compare", path("m.json"), "--hold-out",
                                    "fma.f32/group_warps:1/*", "--model", "pipeline", "--json"});
    ASSERT_EQ(named.exit_code, 0) << named.err;
    const auto points = nlohmann::json::parse(named.out)["points"];
    for (const auto& point : points)
        EXPECT_TRUE(point["name"].get<std::string>().starts_with("fma.f32/group_warps:1/"));
    for (const char* wrong : {"every:1", "every:x", "nothing*", "*"})
        EXPECT_EQ(run_program({"compare", path("m.json"), "--hold-out", wrong}).exit_code, 2)
            << wrong;
}

TEST_F(Compare, RanksOverAllKernelsFirstInTextAndCsv) {
    const std::string profile = "profiles/nvidia-tesla-c2050.yaml";
    const auto text =
        run_program({"compare", "--device", "model:" + profile, "--profile", profile, "--quick",
                     "-o", path("k.json"), "--model", "roofline,pipeline"});
    ASSERT_EQ(text.exit_code, 0) << text.err;
    const auto rank = text.out.find("   1  pipeline");
    EXPECT_NE(rank, std::string::npos) << text.out;
    EXPECT_LT(rank, text.out.find("   2  roofline"));
    EXPECT_LT(text.out.find("   2  roofline"), text.out.find("bar.sync"));
    const auto csv = run_program(
        {"compare", path("k.json"), "--profile", profile, "--model", "roofline,pipeline", "--csv"});
    EXPECT_TRUE(csv.out.starts_with(
        "subject,rank,model,points,mape_percent,mape_shape_percent,of_points,common_points,"
        "common_mape_percent\nall,1,pipeline,"))
        << csv.out;
}

TEST_F(Compare, PredictionsAreComparedWithOneModelOfTheFirst) {
    // Against 0.1 and 0.2: a is off by 10 % and 20 %, b by 50 % at one of the points and absent at
    // the other, c of the second file right.
    const auto one = file(
        "one.json",
        predictions({prediction("pipeline", 1, 0.1), prediction("pipeline", 2, 0.2),
                     prediction("a", 1, 0.11), prediction("a", 2, 0.16), prediction("b", 2, 0.3)}));
    const auto two =
        file("two.json", predictions({prediction("c", 1, 0.1), prediction("c", 2, 0.2)}));
    const auto run = run_program({"compare", one, "--against", two, "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto comparison = nlohmann::json::parse(run.out);
    EXPECT_EQ(comparison["reference_model"], "pipeline");
    const auto a = row(comparison, "all", "a");
    EXPECT_NEAR(a["mape_percent"].get<double>(), 15, 1e-9);
    EXPECT_EQ(a["rank"], 2);
    EXPECT_EQ(a["points"], 2);
    const auto b = row(comparison, "k", "b");
    EXPECT_NEAR(b["mape_percent"].get<double>(), 50, 1e-9);
    EXPECT_EQ(b["points"], 1);
    EXPECT_FALSE(b.contains("mape_shape_percent"));
    EXPECT_EQ(row(comparison, "all", "c " + two)["rank"], 1);
    // One run of four warps at 0.2 warps per cycle takes 20 cycles.
    EXPECT_EQ(comparison["points"][1]["reference_cycles"], 20);
    EXPECT_FALSE(comparison["points"][0]["predicted_cycles"].contains("b"));
    const auto text = run_program({"compare", one});
    EXPECT_NE(text.out.find("1 of 2"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("MAPE of 1 in common"), std::string::npos) << text.out;
    EXPECT_EQ(b["of_points"], 2);
    EXPECT_EQ(a["common_points"], 1);
    EXPECT_NEAR(a["common_mape_percent"].get<double>(), 20, 1e-9);
    EXPECT_EQ(b["rank"], 3);
    const auto other = run_program({"compare", one, "--reference", "a", "--json"});
    const auto turned = nlohmann::json::parse(other.out);
    EXPECT_NEAR(row(turned, "all", "pipeline")["mape_percent"].get<double>(),
                100 * (0.01 / 0.11 + 0.04 / 0.16) / 2, 1e-9);
}

TEST_F(Compare, WhatPredictPrintsCanBeCompared) {
    const auto saved = run_program({"predict", "sim/kernels/mix.yaml", "--profile",
                                    "profiles/nvidia-gtx-1060.yaml", "--model", "all",
                                    "--occupancy", "1-16", "--json"});
    ASSERT_EQ(saved.exit_code, 0) << saved.err;
    const auto run = run_program({"compare", file("p.json", saved.out), "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto comparison = nlohmann::json::parse(run.out);
    EXPECT_EQ(comparison["points"].size(), 16U);
    EXPECT_FALSE(row(comparison, "all", "volkov").empty());
    EXPECT_TRUE(row(comparison, "all", "pipeline").empty());  // it is what the others are held to
}

#if OCCUPIPE_OPENCL
TEST_F(Compare, MeasuresAnOpenClDeviceAndPredictsWithAllModels) {
    const std::string profile = "results/cpu-amd-zen4-pocl/profile-quick.yaml";
    std::vector<std::string> command = {"compare",   "--device", "opencl:0.0",
                                        "--quick",   "-o",       path("kernels.json"),
                                        "--profile", profile,    "--json"};
    std::vector<const char*> subjects = {"mul.f32", "mix(mul.f32*4,cos.approx.f32)",
                                         "ld.global.f32"};
    if (!thinned::all_cases()) {  // two of its kernels, measured first
        subjects.erase(subjects.begin());
        const auto measured =
            run_program({"measure", "--device", "opencl:0.0", "--quick", "--instructions",
                         "mix(mul.f32*4,cos.approx.f32),ld.global.f32", "-o", path("kernels.json"),
                         "--", "--benchmark_repetitions=1"});
        if (measured.exit_code == 3) GTEST_SKIP() << "no OpenCL device";
        ASSERT_EQ(measured.exit_code, 0) << measured.err;
        command = {"compare", path("kernels.json"), "--profile", profile, "--json"};
    }
    const auto run = run_program(command);
    if (run.exit_code == 3) GTEST_SKIP() << "no OpenCL device";
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto comparison = nlohmann::json::parse(run.out);
    // Nothing waited for the stream's loads, so that their latency is not known: models that are
    // about waiting for an access say nothing.
    const std::set<std::string> need_latency = {"gpumech-gto", "mwp-cwp", "wfg"};
    for (const char* subject : subjects)
        for (const char* model : {"pipeline", "volkov", "gpumech-gto", "mwp-cwp", "wfg"})
            EXPECT_EQ(row(comparison, subject, model).empty(),
                      subject == std::string("ld.global.f32") && need_latency.contains(model))
                << subject << ' ' << model;
    for (const auto& point : comparison["points"]) EXPECT_GT(point["measured_cycles"], 0);
}
#endif

TEST_F(Compare, AModelDevicesLoadsWaitForEachOtherAndTheirLatencyIsFound) {
    const std::string device = file("device.yaml",
                                    "format: occupipe-profile/1\ndevice: {name: D}\ncores: 1\n"
                                    "warp_size: 32\nclock_hz: 1000000000\n"
                                    "limits: {warps: 64, groups: 32, group_warps: 32}\n"
                                    "subsystems: {mem: {scope: core}}\ninstructions:\n"
                                    "  ld.global.f32: {subsystem: mem, cpi: 9, latency: 340}\n");
    const auto measured =
        run_program({"measure", "--device", "model:" + device, "--quick", "-o", path("m.json")});
    ASSERT_EQ(measured.exit_code, 0) << measured.err;
    const auto fitted = run_program({"fit", path("m.json"), "-o", path("fitted.yaml")});
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    const GpuProfile profile = read_profile(path("fitted.yaml"));
    const auto& load = profile.instructions.at(0);
    ASSERT_TRUE(load.latency) << load.latency_unknown;
    EXPECT_NEAR(load.latency->value, 340, 0.5);
    const auto run =
        run_program({"compare", path("m.json"), "--profile", path("fitted.yaml"), "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto comparison = nlohmann::json::parse(run.out);
    EXPECT_LT(row(comparison, "ld.global.f32", "pipeline")["mape_percent"], 0.1);
}

TEST_F(Compare, RefusesWhatCannotBeCompared) {
    const std::string profile = "profiles/nvidia-gtx-1060.yaml";
    const auto one = file("one.json", predictions({prediction("pipeline", 1, 0.1)}));
    const auto twice =
        file("twice.json", predictions({prediction("a", 1, 0.1), prediction("a", 1, 0.1)}));
    const auto zero = file("zero.json", predictions({prediction("pipeline", 1, 0)}));
    const auto none = file("none.json", predictions({}));
    const std::string device = "model:" + profile;
    const std::vector<std::vector<std::string>> bad = {
        {one},  // nothing to compare it with
        {one, "--profile", profile},
        {one, "--reference", "oracle"},
        {one, "--against", profile},
        {twice},
        {zero},
        {none},
        {one, "--device", device, "--profile", profile, "-o", path("x.json")},
        {"--device", device, "--profile", profile},
        {"--device", device, "-o", path("x.json")},
        {one, "--quick"},
    };
    for (std::vector<std::string> arguments : bad) {
        arguments.insert(arguments.begin(), "compare");
        const auto run = run_program(arguments);
        std::string shown;
        for (const std::string& argument : arguments) shown += argument + " ";
        EXPECT_EQ(run.exit_code, 2) << shown << run.err;
        EXPECT_TRUE(run.out.empty()) << shown;
    }
    EXPECT_FALSE(std::filesystem::exists(path("x.json")));
}

}  // namespace
}  // namespace occupipe::cli::testing
