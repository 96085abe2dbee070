// SPDX-License-Identifier: MIT
#include "bench/harness/finished_point.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace occupipe::bench {
namespace {

using Json = nlohmann::ordered_json;

// Of each repetition; empty where one of them does not have it.
std::vector<double> column(const std::vector<Repetition>& repetitions, const std::string& key) {
    std::vector<double> values;
    for (const Repetition& one : repetitions) {
        const auto counter = one.counters.find(key);
        if (key == "real_time") {
            values.push_back(one.real_time);
        } else if (key == "cpu_time") {
            values.push_back(one.cpu_time);
        } else if (counter != one.counters.end()) {
            values.push_back(counter->second);
        } else {
            return {};
        }
    }
    return values;
}

// The keys and their order are Google Benchmark's; tests/bench/harness/statistics_test.cpp holds
// both against its reporter.
Json row(const std::string& name, const Repetition& one) {
    Json out = {{"name", name},
                {"family_index", one.family_index},
                {"per_family_instance_index", one.per_family_instance_index},
                {"run_name", name},
                {"run_type", "iteration"},
                {"repetitions", one.repetitions},
                {"repetition_index", one.repetition_index},
                {"threads", one.threads}};
    if (one.error) {
        out["error_occurred"] = true;
        out["error_message"] = *one.error;
    }
    out["iterations"] = one.iterations;
    out["real_time"] = one.real_time;
    out["cpu_time"] = one.cpu_time;
    out["time_unit"] = one.time_unit;
    for (const auto& [key, value] : one.counters) out[key] = value;
    if (!one.label.empty()) out["label"] = one.label;
    return out;
}

// As Google Benchmark writes its own aggregates, so that its tools understand it: the first
// repetition's row with the medians in their places.
Json aggregate(Json all, const std::string& name, const PointStatistics& statistics) {
    for (const char* key : {"repetition_index", "iterations", "label", "clock_change", "rejected",
                            "retries", "clock_deviation"}) {
        all.erase(key);
    }
    all["name"] = name + "_median";
    all["run_type"] = "aggregate";
    all["aggregate_name"] = "median";
    all["target_relative_error"] = statistics.target_relative_error;
    for (const char* key : {"real_time", "cpu_time", "cycles", "clock_hz"}) {
        const auto spread = statistics.spreads.find(key);
        if (spread == statistics.spreads.end()) continue;
        all[key] = spread->second.median;
        all[std::string(key) + "_q1"] = spread->second.first_quartile;
        all[std::string(key) + "_q3"] = spread->second.third_quartile;
    }
    return all;
}

// Whatever a driver says in an error message: what is not UTF-8 is replaced.
std::string text_of(const Json& row) {
    return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::optional<PointStatistics> statistics_of(const std::vector<Repetition>& repetitions,
                                             const StoppingRule& rule) {
    const bool failed = std::ranges::any_of(
        repetitions, [](const Repetition& one) { return one.error.has_value(); });
    if (failed || repetitions.empty()) return std::nullopt;
    std::vector<double> values = column(repetitions, "cycles");
    if (values.empty()) values = column(repetitions, "real_time");
    PointStatistics statistics{.relative_standard_error = relative_standard_error(values),
                               .target_met = target_met(rule, values),
                               .target_relative_error = rule.relative_error,
                               .spreads = {}};
    for (const char* key : {"real_time", "cpu_time", "cycles", "clock_hz"}) {
        const std::vector<double> all = column(repetitions, key);
        if (all.empty()) continue;
        statistics.spreads[key] = {quantile(all, 0.5), quantile(all, 0.25), quantile(all, 0.75)};
    }
    return statistics;
}

std::vector<std::string> row_texts(const FinishedPoint& point) {
    std::vector<std::string> texts;
    Json first;
    for (const Repetition& one : point.repetitions) {
        Json out = row(point.name, one);
        if (point.statistics) {
            if (const auto error = point.statistics->relative_standard_error)
                out["relative_standard_error"] = *error;
            out["target_met"] = point.statistics->target_met ? 1 : 0;
        }
        texts.push_back(text_of(out));
        if (texts.size() == 1) first = std::move(out);
    }
    if (point.statistics && texts.size() > 1)
        texts.push_back(text_of(aggregate(std::move(first), point.name, *point.statistics)));
    return texts;
}

}  // namespace occupipe::bench
