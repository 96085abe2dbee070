// SPDX-License-Identifier: MIT
#include "report/text/validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/validation/validation_file.h"
#include "core/files/csv.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::CurveAccuracy;
using analysis::ValidationCurve;

Json to_json(const analysis::Throughput& one) {
    return {{"cycles", one.cycles}, {"warps_per_cycle", one.warps_per_cycle}};
}

Json to_json(const CurveAccuracy& accuracy) {
    Json json = Json::object();
    if (accuracy.mape) json["mape"] = *accuracy.mape;
    if (accuracy.mape_shape) json["mape_shape"] = *accuracy.mape_shape;
    return json;
}

// "28 / 4.9", as the paper prints them.
std::string cell(const CurveAccuracy& accuracy) {
    if (!accuracy.mape) return "";
    return fmt::format("{:.1f} / {}", *accuracy.mape,
                       accuracy.mape_shape ? fmt::format("{:.1f}", *accuracy.mape_shape) : "-");
}

const analysis::PublishedAccuracy* published(const Validation& v, const std::string& kernel,
                                             const std::string& model) {
    const auto found = std::ranges::find_if(
        v.published, [&](const auto& one) { return one.kernel == kernel && one.model == model; });
    return found == v.published.end() ? nullptr : &*found;
}

TextTable table_of(const std::vector<std::string>& first, const std::vector<std::string>& models) {
    TextTable table{first, std::vector<Align>(first.size(), Align::left), {}};
    for (const std::string& model : models) {
        table.header.push_back(model);
        table.align.push_back(Align::right);
    }
    return table;
}

std::string errors(const Validation& v) {
    TextTable table = table_of({"kernel", "warps"}, v.models);
    for (const ValidationCurve& curve : v.curves) {
        if (curve.points.empty()) continue;
        std::vector<std::string> row = {curve.kernel,
                                        fmt::format("{} – {}", curve.points.front().launch.warps(),
                                                    curve.points.back().launch.warps())};
        for (std::size_t m = 0; m < v.models.size(); ++m)
            row.push_back(cell(accuracy_of(curve, m)));
        table.rows.push_back(std::move(row));
    }
    std::vector<std::string> mean = {"mean", ""};
    for (std::size_t m = 0; m < v.models.size(); ++m)
        mean.push_back(cell(mean_accuracy(v.curves, m)));
    table.rows.push_back(std::move(mean));
    return markdown(table);
}

// By mean MAPE; models without one are last.
std::vector<std::size_t> ranked(const Validation& v) {
    std::vector<std::size_t> order(v.models.size());
    for (std::size_t m = 0; m < order.size(); ++m) order[m] = m;
    std::ranges::stable_sort(order, {}, [&](std::size_t m) {
        const auto mean = mean_accuracy(v.curves, m).mape;
        return std::pair(!mean, mean.value_or(0));
    });
    return order;
}

std::string ranks(const Validation& v) {
    std::string text = "By mean MAPE:";
    int rank = 0;
    for (const std::size_t m : ranked(v)) {
        const CurveAccuracy mean = mean_accuracy(v.curves, m);
        if (mean.mape)
            text += fmt::format("{} {}. {} {:.1f} %", rank == 0 ? "" : ",", rank + 1, v.models[m],
                                *mean.mape);
        ++rank;
    }
    return text + "\n";
}

std::string published_errors(const Validation& v) {
    TextTable table = table_of({"kernel", "as"}, v.models);
    for (const ValidationCurve& curve : v.curves) {
        std::vector<std::string> row = {curve.kernel, curve.published};
        bool any = false;
        for (const std::string& model : v.models) {
            const auto* const found = published(v, curve.published, model);
            any = any || found != nullptr;
            row.push_back(found ? cell(found->accuracy) : "");
        }
        if (any) table.rows.push_back(std::move(row));
    }
    if (table.rows.empty()) return {};
    return fmt::format(
               "\nPublished of {}, Rodinia's own kernels measured (Lemeire et al., tables 10 to "
               "12):\n\n",
               v.published.front().device) +
           markdown(table);
}

// At the greatest occupancy.
std::string predictions(const Validation& v) {
    TextTable table = table_of({"kernel", "warps"}, v.models);
    for (const ValidationCurve& curve : v.curves) {
        if (curve.points.empty()) continue;
        const analysis::ValidationPoint& last = curve.points.back();
        std::vector<std::string> row = {curve.kernel, std::to_string(last.launch.warps())};
        for (const auto& one : last.predicted)
            row.push_back(one ? fmt::format("{:.4g}", last.launch.warps() / one->warps_per_cycle)
                              : "");
        table.rows.push_back(std::move(row));
    }
    return "Predicted cycles of a run, the time of the warps that are resident at once, at the "
           "greatest occupancy:\n\n" +
           markdown(table);
}

std::string difference(const analysis::CounterRow& row) {
    if (!row.ours || !row.profiled || *row.profiled == 0) return "";
    return fmt::format("{:+.1f} %", 100 * (*row.ours / *row.profiled - 1));
}

std::string counted(const Validation& v) {
    if (v.counters.empty()) return {};
    TextTable table{{"kernel", "count", "executed", "profiled", "difference"},
                    {Align::left, Align::left, Align::right, Align::right, Align::right},
                    {}};
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.10g}", *value) : std::string("not told");
    };
    for (const analysis::CounterRow& row : v.counters)
        table.rows.push_back(
            {row.kernel, row.what, number(row.ours), number(row.profiled), difference(row)});
    return "\nCounts of the executed machine code and of the profiler:\n\n" + markdown(table);
}

std::string notes(const Validation& v) {
    std::string text;
    for (const ValidationCurve& curve : v.curves)
        if (!curve.not_predicted.empty())
            text += fmt::format("{} is not predicted: {}\n", curve.kernel, curve.not_predicted);
    double worst = 0;
    std::string which;
    for (const ValidationCurve& curve : v.curves)
        if (curve.substituted > worst) {
            worst = curve.substituted;
            which = curve.kernel;
        }
    if (worst > 0)
        text += fmt::format(
            "The profile lacks instructions: up to {:.0f} % of those executed ({}) have the "
            "numbers of their class. Each is named in curves/KERNEL.json.\n",
            100 * worst, which);
    return text.empty() ? text : "\n" + text;
}

}  // namespace

Json to_json(const ValidationCurve& curve, const std::vector<std::string>& models,
             const std::string& made_of) {
    Json json = {{"format", analysis::curve_format},
                 {"kernel", curve.kernel},
                 {"made_of", made_of},
                 {"substituted_share", curve.substituted},
                 {"assumptions", curve.assumptions}};
    if (!curve.warnings.empty()) json["warnings"] = curve.warnings;
    if (!curve.published.empty()) json["published"] = curve.published;
    if (!curve.device.empty()) json["device"] = curve.device;
    if (!curve.not_predicted.empty()) json["not_predicted"] = curve.not_predicted;
    Json points = Json::array();
    for (const analysis::ValidationPoint& point : curve.points) {
        Json item = {{"group_warps", point.launch.group_warps},
                     {"concurrent_groups", point.launch.concurrent_groups},
                     {"warps", point.launch.warps()},
                     {"groups", point.launch.groups}};
        if (point.measured) item["measured"] = to_json(*point.measured);
        if (point.dram_bytes_per_warp) item["dram_bytes_per_warp"] = *point.dram_bytes_per_warp;
        if (!point.assumptions.empty()) item["assumptions"] = point.assumptions;
        Json predicted = Json::object();
        for (std::size_t m = 0; m < models.size(); ++m)
            if (point.predicted[m]) predicted[models[m]] = to_json(*point.predicted[m]);
        item["predicted"] = std::move(predicted);
        points.push_back(std::move(item));
    }
    json["points"] = std::move(points);
    return json;
}

Json to_json(const Validation& v) {
    Json json = {
        {"format", "occupipe-validation-tables/1"}, {"profile", v.profile}, {"gpu", v.gpu}};
    if (!v.device.empty()) json["device"] = v.device;
    json["violations"] = v.violations;
    Json kernels = Json::array();
    for (const ValidationCurve& curve : v.curves) {
        Json models = Json::object();
        for (std::size_t m = 0; m < v.models.size(); ++m) {
            models[v.models[m]] = to_json(accuracy_of(curve, m));
            if (const auto* const found = published(v, curve.published, v.models[m]))
                models[v.models[m]]["published"] = to_json(found->accuracy);
        }
        Json entry = {{"kernel", curve.kernel}, {"models", std::move(models)}};
        if (!curve.not_predicted.empty()) entry["not_predicted"] = curve.not_predicted;
        kernels.push_back(std::move(entry));
    }
    json["kernels"] = std::move(kernels);
    Json means = Json::array();
    int rank = 0;
    for (const std::size_t m : ranked(v)) {
        Json entry = to_json(mean_accuracy(v.curves, m));
        entry["model"] = v.models[m];
        ++rank;
        if (entry.contains("mape")) entry["rank"] = rank;
        means.push_back(std::move(entry));
    }
    json["means"] = std::move(means);
    return json;
}

std::string curves_csv(const Validation& v) {
    std::string text =
        "kernel,group_warps,concurrent_groups,warps,groups,source,cycles,warps_per_cycle,"
        "cycles_per_run\n";
    for (const ValidationCurve& curve : v.curves)
        for (const analysis::ValidationPoint& point : curve.points) {
            const auto line = [&](const std::string& source, const analysis::Throughput& one) {
                text +=
                    fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_text(curve.kernel),
                                point.launch.group_warps, point.launch.concurrent_groups,
                                point.launch.warps(), point.launch.groups, source, one.cycles,
                                one.warps_per_cycle, point.launch.warps() / one.warps_per_cycle);
            };
            if (point.measured) line("measured", *point.measured);
            for (std::size_t m = 0; m < v.models.size(); ++m)
                if (point.predicted[m]) line(v.models[m], *point.predicted[m]);
        }
    return text;
}

std::string accuracy_csv(const Validation& v) {
    std::string text = "kernel,model,mape,mape_shape,published_mape,published_mape_shape\n";
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : std::string();
    };
    const auto line = [&](const std::string& kernel, const std::string& model,
                          const CurveAccuracy& one, const CurveAccuracy& of_papers) {
        text += fmt::format("{},{},{},{},{},{}\n", csv_text(kernel), model, number(one.mape),
                            number(one.mape_shape), number(of_papers.mape),
                            number(of_papers.mape_shape));
    };
    for (const ValidationCurve& curve : v.curves)
        for (std::size_t m = 0; m < v.models.size(); ++m) {
            const auto* const found = published(v, curve.published, v.models[m]);
            line(curve.kernel, v.models[m], accuracy_of(curve, m),
                 found ? found->accuracy : CurveAccuracy());
        }
    for (std::size_t m = 0; m < v.models.size(); ++m)
        line("mean", v.models[m], mean_accuracy(v.curves, m), {});
    return text;
}

std::string counters_csv(const Validation& v) {
    std::string text = "kernel,count,executed,profiled\n";
    const auto number = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : std::string();
    };
    for (const analysis::CounterRow& row : v.counters)
        text += fmt::format("{},{},{},{}\n", csv_text(row.kernel), csv_text(row.what),
                            number(row.ours), number(row.profiled));
    return text;
}

std::string to_text(const Validation& v) {
    std::string text;
    if (v.device.empty()) {
        text = fmt::format("{}: predictions, nothing was measured\n\n", v.gpu) + predictions(v);
    } else {
        text = fmt::format("MAPE / MAPE_shape [%] of {} on {}\n", v.gpu, v.device);
        if (!v.violations.empty())
            text += fmt::format("The device differs from the profile: {}.\n",
                                fmt::join(v.violations, ", "));
        if (v.device.starts_with("model:"))
            text +=
                fmt::format("{}{}\n", v.violations.empty() ? "It is the profile's own model. " : "",
                            simulated_device);
        text += "\n" + errors(v) + "\n" + ranks(v);
    }
    return text + published_errors(v) + counted(v) + notes(v);
}

}  // namespace occupipe::report
