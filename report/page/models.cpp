// SPDX-License-Identifier: MIT
// Models in the report: occupancy curves, rooflines, and how far each is from the measurements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "analysis/measured/comparison.h"
#include "analysis/measured/measured_graph.h"
#include "core/error.h"
#include "core/parallel.h"
#include "report/figures/comparison_figures.h"
#include "report/figures/fit_figures.h"
#include "report/figures/mix_figures.h"
#include "report/figures/prediction_figures.h"
#include "report/page/sections.h"
#include "report/text/comparison_output.h"
#include "sim/models/registry.h"
#include "sim/models/shared_work.h"

namespace occupipe::report {
namespace {

constexpr int most_occupancies = 64;

// The first of `names` that the profile has, those with determined values before the others.
template <class Names>
std::optional<std::string> first_known(const GpuProfile& profile, const Names& names) {
    for (const bool determined : {true, false})
        for (const std::string_view name : names) {
            const InstructionTiming* timing = profile.find_instruction(name);
            if (timing && (!determined || timing->determined())) return std::string(name);
        }
    return std::nullopt;
}

// The example kernel of Lemeire et al., "Analysis of the analytical performance models for GPUs",
// Figure 1, with instructions of this device: four computations, two memory instructions.
std::optional<Kernel> example_kernel(const GpuProfile& profile) {
    constexpr std::array computations = {"fma.f32", "mul.f32", "add.f32", "mad.s32", "mul.s32"};
    constexpr std::array loads = {"ld.global.f32", "ld.global.s32", "ld.global.u32"};
    const auto compute = first_known(profile, computations);
    const auto load = first_known(profile, loads);
    if (!compute || !load) return std::nullopt;
    const auto node = [](const char* id, const std::string& op,
                         std::vector<Dependence> after) -> KernelItem {
        return KernelInstruction{.id = id, .op = op, .after = std::move(after)};
    };
    Kernel kernel{fmt::format("example kernel: 4 {}, 2 {}", *compute, *load), {}, std::nullopt};
    kernel.warps.push_back({1,
                            {node("c1", *compute, {}), node("c2", *compute, {}),
                             node("m1", *load, {{"c1"}, {"c2"}}), node("c3", *compute, {{"m1"}}),
                             node("c4", *compute, {{"c3"}}), node("m2", *load, {{"c4"}})}});
    return kernel;
}

// Models that cannot say anything about this kernel go to `refusals` with their reason.
PredictionSet predict_over_occupancy(const GpuProfile& profile, const Kernel& kernel, int most,
                                     const ModelOptions& options,
                                     std::map<std::string, std::string>& refusals) {
    PredictionSet set{kernel.name, "", profile.device.name, {}};
    SharedWork shared;
    ModelOptions own = options;
    own.shared = &shared;
    std::optional<Problem> problem;
    for (const Model& model : models()) {
        try {
            std::vector<Prediction> curve;
            if (!problem) problem.emplace(profile, kernel, Launch());
            for (int warps = 1; warps <= most; ++warps) {
                const Launch launch{1, warps, std::int64_t{warps} * profile.cores};
                curve.push_back(model.predict(problem->at(launch), own));
            }
            set.predictions.insert(set.predictions.end(), curve.begin(), curve.end());
        } catch (const InputError& error) {
            refusals[std::string(model.name)] = error.what();
        }
    }
    return set;
}

bool knows(const GpuProfile& profile, const std::string& subject) {
    const auto mix = parse_mix(subject);
    if (!mix) return profile.find_instruction(subject) != nullptr;
    return profile.find_instruction(mix->first) && profile.find_instruction(mix->second);
}

// The points of all files that the profile can say something about, by subject.
std::vector<analysis::MeasuredPoint> known_points(const ReportData& data) {
    std::vector<analysis::MeasuredPoint> points;
    for (const MeasurementFile& file : data.measurements)
        for (const analysis::MeasuredPoint& point : analysis::measured_points(file))
            if (knows(data.fit.profile, point.subject)) points.push_back(point);
    std::ranges::stable_sort(
        points, {}, [](const analysis::MeasuredPoint& p) { return std::pair(p.subject, p.shape); });
    return points;
}

std::vector<analysis::Predictor> predictors(const ReportData& data,
                                            const std::vector<analysis::MeasuredPoint>& points) {
    const GpuProfile& profile = data.fit.profile;
    std::vector<analysis::Predictor> all;
    for (const Model& model : models())
        all.push_back({std::string(model.name),
                       std::vector<std::optional<double>>(points.size(), std::nullopt)});
    const analysis::MeasuredGraphs graphs(profile);
    parallel_for(points.size(), [&](std::size_t i) {
        const MeasurementShape& shape = points[i].shape;
        const Launch launch{shape.group_warps, shape.concurrent_groups,
                            std::int64_t{shape.concurrent_groups} * profile.cores};
        const Kernel kernel = graphs.graph(points[i].kernel, shape);
        SharedWork shared;
        ModelOptions options = data.model_options;
        options.shared = &shared;
        std::optional<Problem> problem;
        for (std::size_t m = 0; m < all.size(); ++m) {
            try {
                if (!problem) problem.emplace(graphs.profile(), kernel, launch);
                all[m].cycles[i] = models()[m].predict(*problem, options).cycles;
            } catch (const InputError&) {  // it cannot say: absent
            }
        }
    });
    return all;
}

std::string example_curves(ReportPage& page, const ReportData& data) {
    const GpuProfile& profile = data.fit.profile;
    const auto most = static_cast<int>(
        std::min<std::int64_t>(profile.limits.warps.value_or(0), most_occupancies));
    if (most < 2)
        return absent(profile.limits.warps
                          ? "No curve over warps: a core of this device holds one warp."
                          : "No curve over warps: the number of warps per core is unknown.");
    const auto kernel = example_kernel(profile);
    if (!kernel)
        return absent(
            "No curve of the example kernel: an arithmetic instruction or a load from "
            "global memory was not measured.");
    std::map<std::string, std::string> refusals;
    const PredictionSet set =
        predict_over_occupancy(profile, *kernel, most, data.model_options, refusals);
    std::string text;
    if (!set.predictions.empty())
        text = page.figure({.description = fmt::format("{}: throughput over occupancy, by model. "
                                                       "Predicted; this kernel was not measured.",
                                                       kernel->name),
                            .panels = {occupancy_curves(set)},
                            .width = 900,
                            .height = 460});
    for (const auto& [model, reason] : refusals)
        text += absent(fmt::format("{}: {}", model, reason));
    return text;
}

// The instructions whose measured curves stand beside the models': of each subsystem the one with
// the most points.
std::vector<std::string> shown_subjects(const FitOutcome& fit) {
    std::map<std::string, const SubjectReport*> best;
    for (const SubjectReport& s : fit.subjects) {
        if (!s.fit.ok || !s.primary || s.subsystem.empty()) continue;
        const SubjectReport*& chosen = best[s.subsystem];
        if (!chosen || chosen->curve.points.size() < s.curve.points.size()) chosen = &s;
    }
    std::vector<std::string> subjects;
    subjects.reserve(best.size());
    for (const auto& [subsystem, s] : best) subjects.push_back(s->curve.subject);
    return subjects;
}

HtmlCell percent(const std::optional<double>& value) {
    if (!value) return {"", std::nullopt, ""};
    return {fmt::format("{:.1f} %", *value), value, ""};
}

HtmlTable accuracy_table(const std::vector<analysis::Accuracy>& rows, bool all) {
    HtmlTable table{
        {"subject", "model", "points", "MAPE", "MAPE_shape", "MAPE of common points"}, {}, true};
    for (const analysis::Accuracy& row : rows)
        if ((row.subject == "all") == all)
            table.rows.push_back({{row.subject, std::nullopt, ""},
                                  {row.predictor, std::nullopt, ""},
                                  {point_count(row), static_cast<double>(row.points), ""},
                                  percent(row.mape),
                                  percent(row.mape_shape),
                                  percent(row.common_mape)});
    return table;
}

}  // namespace

void add_model_section(ReportPage& page, const ReportData& data) {
    std::string text = example_curves(page, data);
    const std::vector<std::string> shown = shown_subjects(data.fit);
    auto points = known_points(data);
    std::erase_if(points, [&](const analysis::MeasuredPoint& point) {
        return std::ranges::find(shown, point.subject) == shown.end();
    });
    const std::vector<analysis::Predictor> by_model = predictors(data, points);
    std::vector<std::string> figures;
    for (const std::string& subject : shown)
        if (std::ranges::find(points, subject, &analysis::MeasuredPoint::subject) != points.end())
            figures.push_back(page.figure(subject_picture(subject, points, by_model)));
    page.section("models", "Occupancy curves of all models", text + grid(figures));
}

namespace {

// Instruction mixes over β and over occupancy, beside the simulation and the laws.
std::string mixes(ReportPage& page, const std::vector<analysis::MeasuredPoint>& points,
                  const std::vector<analysis::Predictor>& by_model, const GpuProfile& profile) {
    std::vector<std::string> figures;
    for (plot::Figure& curve : mix_curves(points, by_model, profile)) {
        const std::string description = curve.title + ": measured, simulated, and by law.";
        figures.push_back(page.figure({.description = description,
                                       .panels = {std::move(curve)},
                                       .width = 560,
                                       .height = 380}));
    }
    if (figures.empty()) return {};
    return "<h3>Instruction mixes: measured, simulated, and by equations 43 to 45</h3>\n" +
           grid(figures);
}

}  // namespace

void add_accuracy_section(ReportPage& page, const ReportData& data) {
    const auto points = known_points(data);
    const std::vector<analysis::Predictor> by_model = predictors(data, points);
    const auto rows = analysis::accuracies(points, by_model);
    if (rows.empty())
        return page.section("accuracy", "Models against measurements",
                            absent("no measured point that the profile knows"));
    const auto subjects = std::ranges::count_if(rows, [&](const analysis::Accuracy& row) {
        return row.subject != "all" && row.predictor == rows.front().predictor;
    });
    page.section(
        "accuracy", "Models against measurements",
        paragraph(
            "Mean of |WPC predicted − WPC measured| / WPC measured over all points, launch "
            "cost included, and the same after a straight line over the occupancy is taken "
            "off the errors (curves of three occupancies or more). Mixes aside, these are the "
            "measurements that the profile was fitted to: the errors show how well each model's "
            "shape can follow them, not how well it predicts other kernels. Models that predict "
            "more points come first; the last column is over those points that all predict.") +
            html(accuracy_table(rows, true)) +
            page.figure(comparison_plot("Models", points, by_model).image) +
            mixes(page, points, by_model, data.fit.profile) +
            fmt::format("<details><summary>By subject ({})</summary>\n{}</details>\n", subjects,
                        html(accuracy_table(rows, false))));
}

}  // namespace occupipe::report
