// SPDX-License-Identifier: MIT
// compare from the command line: what it prints, and how it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.h"

namespace occupipe::test {
namespace {

std::string row(const std::string& name, int repetition, double cycles) {
    return R"({"name": ")" + name + R"(", "run_name": ")" + name +
           R"(", "run_type": "iteration", "repetitions": 2, "repetition_index": )" +
           std::to_string(repetition) +
           R"(, "iterations": 1, "real_time": 1000, "cpu_time": 1000, "time_unit": "ns", )" +
           R"("group_warps": 1, "concurrent_groups": )" +
           name.substr(name.find("concurrent_groups:") + 18, 1) +
           R"(, "chains": 1, "depth": 64, "cycles": )" + std::to_string(cycles) + "}";
}

std::string measurements(const std::vector<std::string>& rows) {
    std::string text = R"({"context": {"device_name": "d"}, "benchmarks": [)";
    for (std::size_t i = 0; i < rows.size(); ++i) text += (i == 0 ? "" : ",\n") + rows[i];
    return text + "]}";
}

std::string point(int groups) {
    return "mul.f32/group_warps:1/concurrent_groups:" + std::to_string(groups) +
           "/chains:1/depth:64";
}

TEST(Compare, PrintsErrorsPerSubjectBestModelFirst) {
    // mul.f32 of the GTX 1060: λ 0.25, Λ 6; 64 dependent ones take 384 + (W − 1)/4 cycles. The
    // measured times are 25 % longer, so that the predicted WPC is 25 % above the measured one.
    std::vector<std::string> rows;
    for (int groups = 1; groups <= 4; ++groups) {
        const double exact = 384 + (groups - 1) * 0.25;
        rows.push_back(row(point(groups), 0, exact * 1.25 - 1));
        rows.push_back(row(point(groups), 1, exact * 1.25 + 1));
    }
    const File results("compare.json", measurements(rows));
    const Outcome outcome = occupipe({"compare", results.path(), "--profile", gtx, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    const auto& best = json["accuracy"][0];
    EXPECT_EQ(best["subject"], "mul.f32");
    EXPECT_EQ(best["points"], 4);
    for (const auto& entry : json["accuracy"]) {
        if (entry["model"] == "pipeline") {
            EXPECT_NEAR(entry["mape_percent"], 25, 1e-9);
        }
    }
    EXPECT_LE(best["mape_percent"], json["accuracy"][1]["mape_percent"]);
    EXPECT_EQ(json["points"].size(), 4U);
    EXPECT_EQ(json["points"][0]["predicted_cycles"]["pipeline"], 384);
}

TEST(Compare, SetsTwoMeasurementsSideBySide) {
    const File first("first.json", measurements({row(point(1), 0, 400), row(point(2), 0, 400)}));
    const File second("second.json", measurements({row(point(1), 0, 500)}));
    const Outcome outcome =
        occupipe({"compare", first.path(), "--against", second.path(), "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["accuracy"][0]["points"], 1);
    EXPECT_NEAR(json["accuracy"][0]["mape_percent"], 20, 1e-9);
    EXPECT_FALSE(json["accuracy"][0].contains("mape_shape_percent"));  // unknown, not zero
}

TEST(Compare, WarnsOfAProfileOfAnotherDevice) {
    const auto err_of = [](const std::string& device) {
        std::string text = measurements({row(point(1), 0, 400)});
        const std::string was = R"("device_name": "d")";
        text.replace(text.find(was), was.size(), R"("device_name": ")" + device + '"');
        const File results("device.json", text);
        const Outcome outcome = occupipe({"compare", results.path(), "--profile", gtx});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.err;
    };
    EXPECT_NE(err_of("d").find("was measured on 'd', the profile is of 'NVIDIA GeForce GTX 1060"),
              std::string::npos);
    EXPECT_EQ(err_of("NVIDIA GeForce GTX 1060 6GB").find("was measured on"), std::string::npos);
    EXPECT_EQ(err_of("NVIDIA GeForce GTX 1060 6GB (model)").find("was measured on"),
              std::string::npos);
}

TEST(Compare, RefusesPredictionsOfAnotherKernel) {
    const auto prediction = [](const std::string& kernel, const std::string& model) {
        return R"({"format": "occupipe-prediction/1", "kernel": ")" + kernel +
               R"(", "predictions": [{"model": ")" + model +
               R"(", "group_warps": 1, "concurrent_groups": 1, "warps_per_cycle": 0.5}]})";
    };
    const File one("one.json", prediction("k", "pipeline"));
    const File same("same.json", prediction("k", "volkov"));
    const File other("other.json", prediction("l", "volkov"));
    EXPECT_EQ(occupipe({"compare", one.path(), "--against", same.path()}).code, 0);
    const Outcome outcome = occupipe({"compare", one.path(), "--against", other.path()});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("other.json: kernel: is 'l', but 'k' in "), std::string::npos)
        << outcome.err;
}

TEST(Compare, RefusesBadCommandLines) {
    const File results("good.json", measurements({row(point(1), 0, 400)}));
    const File empty("empty.json", measurements({}));
    const File other("other.json", measurements({row("frob/group_warps:1/concurrent_groups:1/"
                                                     "chains:1/depth:64",
                                                     0, 400)}));
    const std::vector<std::vector<std::string>> bad = {
        {},
        {results.path()},
        {"/nonexistent.json", "--profile", gtx},
        {gtx, "--profile", gtx},
        {results.path(), "--profile", results.path()},
        {results.path(), "--profile", gtx, "--model", "oracle"},
        {empty.path(), "--profile", gtx},
        {other.path(), "--profile", gtx},
        {results.path(), "--against", other.path()},
        {results.path(), "--profile", gtx, "--json", "--csv"},
    };
    for (std::vector<std::string> arguments : bad) {
        arguments.insert(arguments.begin(), "compare");
        const Outcome outcome = occupipe(arguments);
        std::string shown;
        for (const std::string& argument : arguments) shown += argument + " ";
        EXPECT_EQ(outcome.code, 2) << shown << outcome.err;
        EXPECT_TRUE(outcome.out.empty()) << shown;
        EXPECT_FALSE(outcome.err.empty()) << shown;
    }
}

}  // namespace
}  // namespace occupipe::test
