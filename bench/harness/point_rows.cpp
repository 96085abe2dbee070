// SPDX-License-Identifier: MIT
#include "bench/harness/point_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace occupipe::bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> column(const Json& rows, const char* key) {
    std::vector<double> values;
    for (const Json& row : rows) {
        if (row.contains(key)) values.push_back(row.at(key).get<double>());
    }
    return values.size() == rows.size() ? values : std::vector<double>();
}

// As Google Benchmark writes its own aggregates, so that its tools understand it.
Json summary(const Json& rows, const StoppingRule& rule) {
    Json all = rows.front();
    for (const char* key : {"repetition_index", "iterations", "label", "clock_change", "rejected",
                            "retries", "clock_deviation"}) {
        all.erase(key);
    }
    all["name"] = all.at("name").get<std::string>() + "_median";
    all["run_type"] = "aggregate";
    all["aggregate_name"] = "median";
    all["target_relative_error"] = rule.relative_error;
    for (const char* key : {"real_time", "cpu_time", "cycles", "clock_hz"}) {
        const std::vector<double> values = column(rows, key);
        if (values.empty()) continue;
        all[key] = quantile(values, 0.5);
        all[std::string(key) + "_q1"] = quantile(values, 0.25);
        all[std::string(key) + "_q3"] = quantile(values, 0.75);
    }
    return all;
}

}  // namespace

std::string with_statistics(const std::string& rows_json, const StoppingRule& rule) {
    Json rows = Json::parse(rows_json);
    const bool failed = std::ranges::any_of(
        rows, [](const Json& row) { return row.value("error_occurred", false); });
    if (failed || rows.empty()) return rows_json;
    std::vector<double> values = column(rows, "cycles");
    if (values.empty()) values = column(rows, "real_time");
    const auto error = relative_standard_error(values);
    for (Json& row : rows) {
        if (error) row["relative_standard_error"] = *error;
        row["target_met"] = target_met(rule, values) ? 1 : 0;
    }
    if (rows.size() > 1) rows.push_back(summary(rows, rule));
    return rows.dump();
}

}  // namespace occupipe::bench
