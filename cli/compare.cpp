// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/commands.h"
#include "cli/comparison.h"
#include "cli/comparison_figures.h"
#include "cli/plot_file.h"
#include "cli/text_table.h"
#include "core/error.h"
#include "core/files.h"
#include "core/measured_kernel.h"
#include "sim/models/registry.h"
#include "sim/parallel.h"

namespace occupipe::cli {
namespace {

constexpr const char* footer =
    "Every point of RESULTS (an instruction or a mix, at one launch shape) is predicted by the\n"
    "models from its dependence graph. WPC = warps / cycles, the median over repetitions.\n"
    "  MAPE        mean of |WPC predicted - WPC measured| / WPC measured, in percent\n"
    "  MAPE_shape  the same after a straight line over the occupancy is taken off the errors:\n"
    "              what is left is a wrong shape rather than a wrong level\n"
    "Measured cycles include the cost of starting the kernel, which no model knows: short runs\n"
    "look slower than predicted.";

struct Options {
    std::string results;
    std::string profile;
    std::string against;
    std::vector<std::string> models = {"all"};
    bool json = false;
    bool csv = false;
    std::string plot;
    bool force = false;
};

// A measurement runs each core full, once.
Launch launch_of(const MeasurementShape& shape, const GpuProfile& profile) {
    return {.group_warps = shape.group_warps,
            .concurrent_groups = shape.concurrent_groups,
            .groups = std::int64_t{shape.concurrent_groups} * profile.cores};
}

std::vector<Predictor> predict_all(const std::vector<MeasuredPoint>& points,
                                   const GpuProfile& profile,
                                   const std::vector<const Model*>& chosen) {
    std::vector<Predictor> predictors;
    predictors.reserve(chosen.size() + 1);
    for (const Model* model : chosen)
        predictors.push_back({std::string(model->name),
                              std::vector<std::optional<double>>(points.size(), std::nullopt)});
    parallel_for(points.size(), [&](std::size_t i) {
        const Kernel kernel = measured_kernel(points[i].subject, points[i].shape);
        const Launch launch = launch_of(points[i].shape, profile);
        for (std::size_t m = 0; m < chosen.size(); ++m)
            predictors[m].cycles[i] = chosen[m]->predict(profile, kernel, launch, {}).cycles;
    });
    return predictors;
}

bool knows(const GpuProfile& profile, const std::string& subject) {
    const auto mix = parse_mix(subject);
    if (!mix) return profile.find_instruction(subject) != nullptr;
    return profile.find_instruction(mix->first) && profile.find_instruction(mix->second);
}

std::vector<MeasuredPoint> usable_points(const MeasurementFile& file, const GpuProfile* profile) {
    std::vector<MeasuredPoint> points = measured_points(file);
    if (points.empty())
        throw InputError(file.path, {}, "benchmarks", "holds no point with measured cycles");
    if (!profile) return points;
    std::set<std::string> unknown;
    for (const MeasuredPoint& point : points)
        if (!knows(*profile, point.subject)) unknown.insert(point.subject);
    for (const std::string& subject : unknown)
        fmt::print(stderr, "occupipe: warning: {} is left out: profile '{}' lacks an instruction\n",
                   subject, profile->device.name);
    std::erase_if(points, [&](const MeasuredPoint& p) { return unknown.contains(p.subject); });
    if (points.empty())
        throw InputError(
            file.path, {}, "benchmarks",
            fmt::format("profile '{}' has none of its instructions", profile->device.name));
    return points;
}

Predictor other_measurement(const std::vector<MeasuredPoint>& points, const std::string& path) {
    std::map<std::pair<std::string, MeasurementShape>, double> other;
    for (const MeasuredPoint& point : usable_points(read_measurements(path), nullptr))
        other[{point.subject, point.shape}] = point.cycles;
    Predictor predictor{"measured " + path, {}};
    for (const MeasuredPoint& point : points) {
        const auto found = other.find({point.subject, point.shape});
        predictor.cycles.push_back(found == other.end() ? std::nullopt
                                                        : std::optional(found->second));
    }
    return predictor;
}

std::string percent(const std::optional<double>& value) {
    return value ? fmt::format("{:.1f} %", *value) : "";
}

void print_text(const Options& options, const std::vector<MeasuredPoint>& points,
                const std::vector<Accuracy>& rows) {
    fmt::print("{}: {} measured points, launch cost included, the median of each; against {}\n\n",
               options.results, points.size(),
               options.profile.empty() ? options.against : options.profile);
    TextTable table{{"subject", "model", "points", "MAPE", "MAPE_shape"},
                    {Align::left, Align::left, Align::right, Align::right, Align::right},
                    {}};
    std::string subject;
    for (const Accuracy& row : rows) {
        table.rows.push_back({row.subject == subject ? "" : row.subject, row.predictor,
                              std::to_string(row.points), percent(row.mape),
                              percent(row.mape_shape)});
        subject = row.subject;
    }
    fmt::print("{}", plain_text(table));
}

void print_csv(const std::vector<Accuracy>& rows) {
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : "";
    };
    fmt::print("subject,model,points,mape_percent,mape_shape_percent\n");
    for (const Accuracy& row : rows)
        fmt::print("\"{}\",{},{},{},{}\n", row.subject, row.predictor, row.points, number(row.mape),
                   number(row.mape_shape));
}

void print_json(const Options& options, const std::vector<MeasuredPoint>& points,
                const std::vector<Predictor>& predictors, const std::vector<Accuracy>& rows) {
    nlohmann::ordered_json json = {
        {"format", "occupipe-comparison/1"},
        {"results", options.results},
        {"compared", "median cycles over repetitions, launch cost included; WPC = warps/cycles"}};
    if (!options.profile.empty()) json["profile"] = options.profile;
    if (!options.against.empty()) json["against"] = options.against;
    json["accuracy"] = nlohmann::ordered_json::array();
    for (const Accuracy& row : rows) {
        nlohmann::ordered_json entry = {
            {"subject", row.subject}, {"model", row.predictor}, {"points", row.points}};
        if (row.mape) entry["mape_percent"] = *row.mape;
        if (row.mape_shape) entry["mape_shape_percent"] = *row.mape_shape;
        json["accuracy"].push_back(entry);
    }
    json["points"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < points.size(); ++i) {
        nlohmann::ordered_json entry = {
            {"name", measurement_name(points[i].subject, points[i].shape)},
            {"warps", points[i].shape.warps()},
            {"measured_cycles", points[i].cycles},
            {"predicted_cycles", nlohmann::ordered_json::object()}};
        for (const Predictor& predictor : predictors)
            if (predictor.cycles[i])
                entry["predicted_cycles"][predictor.name] = *predictor.cycles[i];
        json["points"].push_back(entry);
    }
    fmt::print("{}\n", json.dump(2));
}

void compare(const Options& options) {
    check_plot_file(options.plot, options.force);
    if (options.profile.empty() && options.against.empty())
        throw InputError("compare needs --profile, --against or both");
    const MeasurementFile file = read_measurements(options.results);
    std::vector<MeasuredPoint> points;
    std::vector<Predictor> predictors;
    if (options.profile.empty()) {
        points = usable_points(file, nullptr);
    } else {
        const GpuProfile profile = read_profile(options.profile);
        std::vector<const Model*> chosen;
        for (const std::string& name : options.models) {
            if (name == "all")
                for (const Model& model : models()) chosen.push_back(&model);
            else
                chosen.push_back(&find_model(name));
        }
        points = usable_points(file, &profile);
        predictors = predict_all(points, profile, chosen);
    }
    if (!options.against.empty()) predictors.push_back(other_measurement(points, options.against));
    const auto rows = accuracies(points, predictors);
    if (rows.empty())
        throw InputError(options.against, {}, "benchmarks", "shares no point with the results");
    if (options.json)
        print_json(options, points, predictors, rows);
    else if (options.csv)
        print_csv(rows);
    else
        print_text(options, points, rows);
    if (!options.plot.empty())
        write_plot(options.plot, comparison_plot(options.results, points, predictors),
                   options.force);
}

}  // namespace

void add_compare(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    CLI::App* const command =
        app.add_subcommand("compare", "Set measured points beside predicted ones");
    command->footer(footer);
    command->add_option("results", options->results, "Measurements (JSON)")
        ->required()
        ->type_name("RESULTS");
    command->add_option("--profile", options->profile, "GPU profile (YAML) to predict with")
        ->type_name("PROFILE");
    command
        ->add_option("--against", options->against,
                     "A second measurement of the same points, compared like a model")
        ->type_name("RESULTS");
    command
        ->add_option("--model", options->models,
                     "Model name, a list of them, or all; see 'occupipe list models'")
        ->delimiter(',')
        ->capture_default_str()
        ->type_name("MODEL");
    auto* const json = command->add_flag("--json", options->json, "Print JSON");
    command->add_flag("--csv", options->csv, "Print CSV")->excludes(json);
    add_plot_option(*command, options->plot, "how large the errors are, a curve per model");
    command->add_flag("--force", options->force, "Replace an existing file of --plot");
    command->callback([options] { compare(*options); });
}

}  // namespace occupipe::cli
