// SPDX-License-Identifier: MIT
#include "report/text/tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "analysis/tuning/enumeration.h"
#include "report/text/text_table.h"
#include "sim/models/model.h"

namespace occupipe::report {
namespace {

using analysis::Configuration;
using analysis::Refusal;
using analysis::TunableEffect;
using analysis::TunedConfiguration;
using analysis::TuningSpace;
using analysis::Value;
using nlohmann::ordered_json;

constexpr std::size_t best_shown = 10;

ordered_json json_of(const Value& value) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value.of)) return *whole;
    if (const auto* const real = std::get_if<double>(&value.of)) return *real;
    if (const auto* const word = std::get_if<std::string>(&value.of)) return *word;
    ordered_json list = ordered_json::array();
    for (const Value& one : std::get<Value::List>(value.of)) list.push_back(json_of(one));
    return list;
}

// In the space's order.
ordered_json json_of(const TuningSpace& space, const Configuration& configuration) {
    ordered_json json = ordered_json::object();
    for (const TuningSpace::Tunable& one : space.tunables)
        json[one.name] = json_of(configuration.find(one.name)->second);
    return json;
}

// Without tunables that have but one value.
std::string words_of(const TuningSpace& space, const Configuration& configuration) {
    std::string text;
    for (const TuningSpace::Tunable& one : space.tunables)
        if (one.values.size() > 1)
            text += fmt::format("{}{}={}", text.empty() ? "" : " ", one.name,
                                to_text(configuration.find(one.name)->second));
    return text;
}

std::string milliseconds(const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.4g}", 1e3 * *seconds) : "";
}

std::string count_text(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t coarse_count(const analysis::Tuned& tuned) {
    return static_cast<std::size_t>(std::ranges::count_if(
        tuned.rows, [](const auto& row) { return row.estimated.has_value(); }));
}

std::string stages_text(const analysis::Tuned& tuned) {
    const std::size_t coarse = coarse_count(tuned);
    if (coarse == 0) return "";
    std::string text = fmt::format("{} of them coarse: {} and {} of a few groups", coarse,
                                   analysis::coarse_bound, tuned.models.front()->name);
    const analysis::CoarseScale::Part& part = tuned.scale->all;
    if (part.count > 0)
        text += fmt::format(", times {:.3g} as {} exact {} it", std::exp(part.log_factor),
                            part.count, part.count == 1 ? "one has" : "ones have");
    if (part.scatter) text += fmt::format(" with a scatter of {:.2g} %", 100 * *part.scatter);
    return text + "\n";
}

std::string head_text(const RankedSpace& ranked) {
    const analysis::Tuned& tuned = ranked.tuned;
    const std::size_t known = ranked.ranking.order.size();
    std::string text = fmt::format(
        "{}: {} of {} combinations are allowed; predicted for {} at {:g} MHz\n",
        ranked.space.kernel, tuned.of_space, tuned.combinations, tuned.gpu, tuned.clock_hz / 1e6);
    if (tuned.asked < tuned.of_space)
        text += fmt::format("{} of them were drawn at random\n", tuned.asked);
    text += fmt::format("{} with a time, {} refused", known, tuned.rows.size() - known);
    if (tuned.rows.size() < tuned.asked)
        text += fmt::format(", {} not predicted yet", tuned.asked - tuned.rows.size());
    return text + "\n" + stages_text(tuned);
}

std::string clock_text(const RankedSpace& ranked) {
    const auto& clock = ranked.ranking.clock;
    if (!clock) return "";
    std::string text = fmt::format("\n{} measured: they take {:.3g} times the predicted time",
                                   clock->count, clock->factor);
    if (clock->standard_error)
        text += fmt::format(" (standard error {:.2g} %), and scatter by {:.2g} % around that",
                            100 * *clock->standard_error, 100 * *clock->scatter);
    text += "\n";
    if (ranked.ranking.improvement)
        text += fmt::format(
            "measuring the configurations below is expected to shorten the best measured time by "
            "{:.3g} ms\n",
            1e3 * *ranked.ranking.improvement);
    return text;
}

std::string best_text(const RankedSpace& ranked) {
    const analysis::Ranking& ranking = ranked.ranking;
    std::vector<std::size_t> rows = ranking.top;
    const bool to_measure = !rows.empty();
    if (!to_measure)
        rows.assign(ranking.order.begin(),
                    ranking.order.begin() +
                        static_cast<std::ptrdiff_t>(std::min(best_shown, ranking.order.size())));
    if (rows.empty()) return "";
    const std::string title = fmt::format(
        "\n{} of {} configurations, ranked by {} time{}\n",
        to_measure ? fmt::format("{} to measure", rows.size())
                   : fmt::format("best {}", rows.size()),
        ranking.order.size(), ranking.clock ? "expected" : "predicted",
        ranking.clock ? ": the measured one, else the predicted one times the factor" : "");
    const bool intervals = std::ranges::any_of(
        rows, [&](std::size_t i) { return ranked.tuned.rows[i].interval.has_value(); });
    TextTable table;
    table.header = {"rank", "predicted ms"};
    if (intervals) table.header.emplace_back("95 %");
    if (ranking.clock) table.header.insert(table.header.end(), {"expected ms", "measured ms"});
    table.align.assign(table.header.size(), Align::right);
    table.header.emplace_back("limited by");
    if (ranked.tuned.scale) table.header.emplace_back("stage");
    table.header.emplace_back("configuration");
    table.align.resize(table.header.size(), Align::left);
    for (const std::size_t i : rows) {
        const TunedConfiguration& row = ranked.tuned.rows[i];
        const auto rank = std::ranges::find(ranking.order, i) - ranking.order.begin() + 1;
        std::vector<std::string> cells = {fmt::format("{}", rank), milliseconds(time_of(row))};
        if (intervals)
            cells.push_back(row.interval ? fmt::format("{:.4g} to {:.4g}", 1e3 * row.interval->low,
                                                       1e3 * row.interval->high)
                                         : "");
        if (ranking.clock) {
            cells.push_back(milliseconds(ranking.expected[i]));
            cells.push_back(milliseconds(ranking.measured[i]));
        }
        cells.push_back(row.limiter);
        if (ranked.tuned.scale) cells.emplace_back(row.estimated ? "coarse" : "exact");
        cells.push_back(words_of(ranked.space, row.configuration));
        table.rows.push_back(std::move(cells));
    }
    return title + plain_text(table);
}

std::string effects_text(const RankedSpace& ranked) {
    std::vector<TunableEffect> effects = analysis::effects(ranked.space, ranked.tuned);
    std::ranges::stable_sort(
        effects, [](const auto& a, const auto& b) { return a.importance > b.importance; });
    TextTable table;
    table.header = {"tunable", "explains", "best value"};
    table.align = {Align::left, Align::right, Align::right};
    for (const TunableEffect& one : effects) {
        if (!one.importance) continue;
        const auto best = std::ranges::min_element(
            one.best, [](const auto& a, const auto& b) { return a && (!b || *a < *b); });
        const auto& values =
            std::ranges::find(ranked.space.tunables, one.name, &TuningSpace::Tunable::name)->values;
        table.rows.push_back({one.name, fmt::format("{:.0f} %", 100 * *one.importance),
                              to_text(values[static_cast<std::size_t>(best - one.best.begin())])});
    }
    return table.rows.empty() ? "" : "\n" + plain_text(table);
}

std::string refused_text(const RankedSpace& ranked) {
    struct Kind {
        std::size_t count = 0;
        const TunedConfiguration* first = nullptr;
    };
    std::map<Refusal, Kind> kinds;
    for (const TunedConfiguration& row : ranked.tuned.rows) {
        if (row.refusal.empty()) continue;
        Kind& kind = kinds[row.refused];
        ++kind.count;
        if (kind.first == nullptr) kind.first = &row;
    }
    std::string text;
    for (const auto& [refusal, kind] : kinds)
        text += fmt::format("{} refused ({}), the first ({}): {}\n",
                            count_text(kind.count, "configuration"), to_string(refusal),
                            words_of(ranked.space, kind.first->configuration), kind.first->refusal);
    return text.empty() ? "" : "\n" + text;
}

std::string cost_text(const RankedSpace& ranked) {
    double compile = 0, execute = 0, model = 0;
    std::size_t compiled = 0;
    std::set<std::string> codes;
    for (const TunedConfiguration& row : ranked.tuned.rows) {
        compile += row.compile_seconds;
        execute += row.execute_seconds;
        model += row.model_seconds;
        if (row.code.empty()) continue;
        ++compiled;
        codes.insert(row.code);
    }
    if (ranked.tuned.rows.empty()) return "";
    const auto n = static_cast<double>(ranked.tuned.rows.size());
    std::string text = fmt::format(
        "\nprocessor time per configuration: {:.2g} s to compile, {:.2g} s to execute, {:.2g} s to "
        "predict\n",
        compile / n, execute / n, model / n);
    // However many of them were predicted at the same time.
    if (compiled > codes.size())
        text +=
            fmt::format("{} configuration{} the same code and launch as another one\n",
                        compiled - codes.size(), compiled - codes.size() == 1 ? " has" : "s have");
    return text;
}

// What the GPU refuses, in a tuner's words; empty: nothing that a tuner would see.
struct TunerWords {
    const char* t4 = "";
    const char* kernel_tuner = "";
};

TunerWords words_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::shape:
            return {"constraints", "InvalidConfig"};
        case Refusal::compiler:
            return {"compile", "CompilationFailedConfig"};
        case Refusal::resources:
            return {"runtime", "RuntimeFailedConfig"};
        case Refusal::none:
        case Refusal::prediction:
        case Refusal::stopped:
            break;
    }
    return {};
}

}  // namespace

std::string to_text(const RankedSpace& ranked) {
    return head_text(ranked) + clock_text(ranked) + best_text(ranked) + effects_text(ranked) +
           refused_text(ranked) + cost_text(ranked);
}

ordered_json to_json(const RankedSpace& ranked) {
    const auto& [space, tuned, ranking] = ranked;
    ordered_json json = {{"format", "occupipe-tune/1"},
                         {"space", space.file},
                         {"kernel", space.kernel},
                         {"gpu", tuned.gpu},
                         {"clock_hz", tuned.clock_hz},
                         {"combinations", tuned.combinations},
                         {"configurations", tuned.of_space},
                         {"asked", tuned.asked},
                         {"not_predicted", tuned.asked - tuned.rows.size()}};
    json["models"] = ordered_json::array();
    for (const Model* const model : tuned.models)
        json["models"].push_back(std::string(model->name));
    if (const auto& clock = ranking.clock) {
        json["clock_factor"] = {{"count", clock->count}, {"factor", clock->factor}};
        if (clock->standard_error) {
            json["clock_factor"]["standard_error"] = *clock->standard_error;
            json["clock_factor"]["scatter"] = *clock->scatter;
        }
    }
    if (tuned.scale) {
        json["coarse"] = {{"models", {analysis::coarse_bound, tuned.models.front()->name}},
                          {"count", coarse_count(tuned)}};
        const analysis::CoarseScale::Part& part = tuned.scale->all;
        if (part.count > 0) json["coarse"]["factor"] = std::exp(part.log_factor);
        if (part.scatter) json["coarse"]["scatter"] = *part.scatter;
    }
    if (ranking.improvement) json["expected_improvement_seconds"] = *ranking.improvement;
    json["tunables"] = ordered_json::array();
    for (const TunableEffect& effect : analysis::effects(space, tuned)) {
        ordered_json one = {{"name", effect.name}};
        if (effect.importance) one["importance"] = *effect.importance;
        const auto& values =
            std::ranges::find(space.tunables, effect.name, &TuningSpace::Tunable::name)->values;
        one["values"] = ordered_json::array();
        for (std::size_t i = 0; i < values.size(); ++i) {
            ordered_json value = {{"value", json_of(values[i])}};
            if (effect.best[i]) value["best_seconds"] = *effect.best[i];
            one["values"].push_back(std::move(value));
        }
        json["tunables"].push_back(std::move(one));
    }
    std::vector<bool> to_measure(tuned.rows.size());
    for (const std::size_t i : ranking.top) to_measure[i] = true;
    json["ranked"] = ordered_json::array();
    for (std::size_t place = 0; place < ranking.order.size(); ++place) {
        const std::size_t i = ranking.order[place];
        const TunedConfiguration& row = tuned.rows[i];
        ordered_json one = {{"rank", place + 1},
                            {"configuration", json_of(space, row.configuration)}};
        for (std::size_t m = 0; m < tuned.models.size(); ++m)
            if (row.predicted[m])
                one["predicted_seconds"][std::string(tuned.models[m]->name)] = *row.predicted[m];
        if (row.estimated) one["coarse_seconds"] = *row.estimated;
        if (row.interval) one["interval_seconds"] = {row.interval->low, row.interval->high};
        if (ranking.clock) one["expected_seconds"] = *ranking.expected[i];
        if (ranking.measured[i]) one["measured_seconds"] = *ranking.measured[i];
        if (!row.limiter.empty()) one["limited_by"] = row.limiter;
        if (!row.code.empty()) one["code"] = row.code;
        if (to_measure[i]) one["measure"] = true;
        json["ranked"].push_back(std::move(one));
    }
    json["refused"] = ordered_json::array();
    for (std::size_t i = 0; i < tuned.rows.size(); ++i)
        if (const TunedConfiguration& row = tuned.rows[i]; !row.refusal.empty())
            json["refused"].push_back({{"configuration", json_of(space, row.configuration)},
                                       {"refused", to_string(row.refused)},
                                       {"reason", row.refusal}});
    return json;
}

ordered_json to_t4(const RankedSpace& ranked, const std::string& date) {
    ordered_json json = {{"schema_version", "1.0.0"},
                         {"metadata", {{"timeunit", "milliseconds"}}},
                         {"results", ordered_json::array()}};
    for (const TunedConfiguration& row : ranked.tuned.rows) {
        const TunerWords words = words_of(row.refused);
        const auto seconds = time_of(row);
        if (!seconds && *words.t4 == '\0') continue;
        ordered_json one = {{"timestamp", date},
                            {"configuration", json_of(ranked.space, row.configuration)},
                            {"times",
                             {{"compilation_time", 1e3 * row.compile_seconds},
                              {"framework", 0},
                              {"search_algorithm", 0},
                              {"validation", 0}}},
                            {"invalidity", seconds ? "correct" : words.t4},
                            {"correctness", seconds ? 1 : 0},
                            {"objectives", {"time"}}};
        ordered_json measurement = {{"name", "time"}};
        if (seconds) {
            one["times"]["runtimes"] = {1e3 * *seconds};
            measurement["value"] = 1e3 * *seconds;
            measurement["unit"] = "ms";
        } else {
            measurement["value"] = words.kernel_tuner;
            measurement["unit"] = "";
        }
        one["measurements"] = ordered_json::array({std::move(measurement)});
        const auto tell = [&](const char* name, const auto& value, const char* unit) {
            one["measurements"].push_back({{"name", name}, {"value", value}, {"unit", unit}});
        };
        if (row.estimated) tell("stage", "coarse", "");
        if (row.estimated && row.interval) {
            tell("time_low", 1e3 * row.interval->low, "ms");
            tell("time_high", 1e3 * row.interval->high, "ms");
        }
        json["results"].push_back(std::move(one));
    }
    return json;
}

ordered_json to_kernel_tuner(const RankedSpace& ranked, const std::string& date) {
    const TuningSpace& space = ranked.space;
    ordered_json sizes = ordered_json::array();
    for (const Value& one : space.problem_size) sizes.push_back(json_of(one));
    ordered_json json = {{"schema_version", "1.1.0"},
                         {"device_name", ranked.tuned.gpu},
                         {"kernel_name", space.kernel},
                         {"problem_size", std::move(sizes)},
                         {"tune_params_keys", ordered_json::array()},
                         {"tune_params", ordered_json::object()},
                         {"objective", "time"},
                         {"cache", ordered_json::object()}};
    for (const TuningSpace::Tunable& one : space.tunables) {
        json["tune_params_keys"].push_back(one.name);
        json["tune_params"][one.name] = json_of(Value(one.values));
    }
    for (const TunedConfiguration& row : ranked.tuned.rows) {
        const TunerWords words = words_of(row.refused);
        const auto seconds = time_of(row);
        if (!seconds && *words.kernel_tuner == '\0') continue;
        std::string key;
        for (const TuningSpace::Tunable& one : space.tunables)
            key += fmt::format("{}{}", key.empty() ? "" : ",",
                               to_text(row.configuration.find(one.name)->second));
        ordered_json one = json_of(space, row.configuration);
        if (seconds) {
            one["time"] = 1e3 * *seconds;
            one["times"] = {1e3 * *seconds};
        } else {
            one["time"] = words.kernel_tuner;
        }
        one["compile_time"] = 1e3 * row.compile_seconds;
        one["verification_time"] = 0;
        one["benchmark_time"] = seconds ? 1e3 * *seconds : 0;
        one["strategy_time"] = 0;
        one["framework_time"] = 0;
        one["timestamp"] = date;
        if (row.estimated) one["stage"] = "coarse";
        json["cache"][key] = std::move(one);
    }
    return json;
}

PlotContent tuned_plot(const RankedSpace& ranked) {
    constexpr std::size_t most_panels = 9;
    std::vector<TunableEffect> effects = analysis::effects(ranked.space, ranked.tuned);
    std::erase_if(effects, [](const TunableEffect& one) { return !one.importance; });
    std::ranges::stable_sort(
        effects, [](const auto& a, const auto& b) { return *a.importance > *b.importance; });
    if (effects.size() > most_panels) effects.resize(most_panels);
    plot::Picture picture;
    picture.description =
        fmt::format("Predicted time of {} configurations against the values of {} tunables.",
                    ranked.ranking.order.size(), effects.size());
    for (const TunableEffect& effect : effects) {
        const auto& tunable =
            *std::ranges::find(ranked.space.tunables, effect.name, &TuningSpace::Tunable::name);
        plot::Figure figure{
            .title = fmt::format("{}: {:.0f} %", effect.name, 100 * *effect.importance),
            .x = {effect.name},
            .y = {"predicted [ms]", plot::Scale::log10},
            .key = plot::Key::none};
        plot::Series all{"", plot::Mark::points, 0, {}}, best{"", plot::Mark::line, 1, {}};
        for (std::size_t i = 0; i < tunable.values.size(); ++i) {
            figure.x.ticks.push_back({static_cast<double>(i), to_text(tunable.values[i])});
            if (effect.best[i])
                best.points.push_back({static_cast<double>(i), 1e3 * *effect.best[i]});
        }
        for (const TunedConfiguration& row : ranked.tuned.rows) {
            const auto time = time_of(row);
            if (!time) continue;
            const auto at =
                std::ranges::find(tunable.values, row.configuration.find(tunable.name)->second) -
                tunable.values.begin();
            all.points.push_back({static_cast<double>(at), 1e3 * *time});
        }
        figure.series = {std::move(all), std::move(best)};
        picture.panels.push_back(std::move(figure));
    }
    picture.columns = picture.panels.size() > 4 ? 3 : picture.panels.size() > 1 ? 2 : 1;
    const auto columns = static_cast<std::size_t>(picture.columns);
    const auto rows = static_cast<int>((picture.panels.size() + columns - 1) / columns);
    picture.width = 340 * picture.columns;
    picture.height = 260 * std::max(1, rows);
    PlotContent content{
        fmt::format("{} on {}", ranked.space.kernel, ranked.tuned.gpu), picture, {}};
    for (const plot::Figure& panel : picture.panels)
        content.page.push_back({.description = picture.description, .panels = {panel}});
    return content;
}

}  // namespace occupipe::report
