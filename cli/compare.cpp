// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>

#include "analysis/device/open_device.h"
#include "analysis/measured/comparison_sweep.h"
#include "analysis/measured/fit.h"
#include "analysis/measured/hold_out.h"
#include "analysis/measured/measured_graph.h"
#include "analysis/measured/prediction_file.h"
#include "ask/answer.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/compare_kernels.h"
#include "cli/kernels_in_request.h"
#include "cli/measure_device.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "core/error.h"
#include "core/files/files.h"
#include "report/figures/comparison_figures.h"
#include "report/figures/plot_file.h"
#include "report/text/comparison_output.h"
#if OCCUPIPE_FIT
#endif
#include "core/parallel.h"
#include "sim/models/registry.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: measurements and a profile, or predictions, or two versions of a kernel.\n"
    "Output: a table on stdout (or JSON, CSV).\n"
    "Every point of RESULTS (an instruction or a mix, at one launch shape) is predicted by the\n"
    "models from its dependence graph. WPC = warps / cycles, the median over repetitions.\n"
    "  MAPE        mean of |WPC predicted - WPC measured| / WPC measured, in percent\n"
    "  MAPE_shape  the same after subtracting from the errors a straight line over occupancy:\n"
    "              what remains is a wrong shape rather than a wrong level\n"
    "Models that predict more points come first, of these the one with the smaller MAPE.\n"
    "Measured cycles include the cost of starting the kernel, which no model predicts: short runs\n"
    "look slower than predicted.";

constexpr const char* examples =
    "occupipe compare results/cpu-amd-zen4-pocl/2026-11-21-quick.json \\\n"
    "    --profile results/cpu-amd-zen4-pocl/profile-quick.yaml\n"
    "occupipe compare results/cpu-amd-zen4-pocl/2026-11-21-quick.json --hold-out every:4\n"
    "occupipe compare --device 'model:profiles/nvidia-gtx-1060.yaml' --profile gtx-1060 \\\n"
    "    --quick -o kernels.json\n"
    "occupipe predict mix --profile rtx-2070 --model all --occupancy all --json > mix.json\n"
    "occupipe compare mix.json    # the other models against the simulation\n"
    "occupipe compare matmul.cu --launch matmul.yaml --profile a100    # the same, of a .cu\n"
    "occupipe compare before.cu after.cu --launch matmul.yaml --profile a100";

struct Options {
    std::string results;
    KernelsInRequest kernel;  // where RESULTS is a kernel of machine code
    analysis::ProfileChanges changes;
    CompareKernelsOptions versions;
    std::string profile;
    std::string against;
    std::vector<std::string> models = {"all"};
    std::string reference_model = "pipeline";
    std::string device;
    std::filesystem::path keep;
    std::string limit = "60s";
    std::string hold_out;
    bool quick = false;
    bool force = false;
    bool json = false;
    bool csv = false;
    std::string plot;
};

// A measurement fills each core once.
Launch launch_of(const MeasurementShape& shape, const GpuProfile& profile) {
    return {.group_warps = shape.group_warps,
            .concurrent_groups = shape.concurrent_groups,
            .groups = std::int64_t{shape.concurrent_groups} * profile.cores};
}

// What the models could not predict, and why; one point may fail in one model only.
class Refusals {
public:
    void add(std::string_view model, const std::string& reason) {
        const std::lock_guard guard(mutex_);
        Refusal& refusal = refusals_[std::string(model)];
        if (refusal.points++ == 0) refusal.reason = reason;
    }
    void print() const {
        for (const auto& [model, refusal] : refusals_)
            fmt::print(stderr, "occupipe: warning: {} has no prediction for {} points; one: {}\n",
                       model, refusal.points, refusal.reason);
    }

private:
    struct Refusal {
        int points = 0;
        std::string reason;
    };
    std::mutex mutex_;
    std::map<std::string, Refusal> refusals_;
};

std::vector<analysis::Predictor> predict_all(const std::vector<analysis::MeasuredPoint>& points,
                                             const GpuProfile& profile,
                                             const std::vector<const Model*>& chosen,
                                             const std::string& limit_text) {
    std::vector<analysis::Predictor> predictors;
    predictors.reserve(chosen.size() + 1);
    for (const Model* model : chosen)
        predictors.push_back({std::string(model->name),
                              std::vector<std::optional<double>>(points.size(), std::nullopt)});
    Refusals refusals;
    RunLimit limit(limit_text);
    limit.expect(points.size() * chosen.size());
    ModelOptions model_options;
    limit.apply(model_options);
    const analysis::MeasuredGraphs graphs(profile);
    parallel_for(points.size(), [&](std::size_t i) {
        const Launch launch = launch_of(points[i].shape, profile);
        for (std::size_t m = 0; m < chosen.size(); ++m) {
            try {
                const Kernel kernel = graphs.graph(points[i].kernel, points[i].shape);
                predictors[m].cycles[i] =
                    chosen[m]->predict(graphs.profile(), kernel, launch, model_options).cycles;
            } catch (const InputError& fault) {
                refusals.add(chosen[m]->name, fault.what());
            }
            limit.add_done();
        }
    });
    refusals.print();
    return predictors;
}

bool knows(const GpuProfile& profile, const std::string& subject) {
    const auto mix = parse_mix(subject);
    if (!mix) return profile.find_instruction(subject) != nullptr;
    return profile.find_instruction(mix->first) && profile.find_instruction(mix->second);
}

std::vector<analysis::MeasuredPoint> usable_points(const MeasurementFile& file,
                                                   const GpuProfile* profile) {
    std::vector<analysis::MeasuredPoint> points = analysis::measured_points(file);
    if (points.empty())
        throw InputError(file.path, {}, "benchmarks", "contains no point with measured cycles");
    if (!profile) return points;
    std::set<std::string> unknown;
    for (const analysis::MeasuredPoint& point : points)
        if (!knows(*profile, point.subject)) unknown.insert(point.subject);
    for (const std::string& subject : unknown)
        fmt::print(
            stderr,
            "occupipe: warning: {} is left out: profile '{}' lacks one of its instructions\n",
            subject, profile->device.name);
    std::erase_if(points,
                  [&](const analysis::MeasuredPoint& p) { return unknown.contains(p.subject); });
    if (points.empty())
        throw InputError(
            file.path, {}, "benchmarks",
            fmt::format(
                "profile '{}' has none of these instructions; give the device's own --profile",
                profile->device.name));
    return points;
}

analysis::Predictor other_measurement(const std::vector<analysis::MeasuredPoint>& points,
                                      const std::string& path) {
    std::map<std::pair<std::string, MeasurementShape>, double> other;
    for (const analysis::MeasuredPoint& point : usable_points(read_measurements(path), nullptr))
        other[{point.subject, point.shape}] = point.cycles;
    analysis::Predictor predictor{"measured " + path, {}};
    for (const analysis::MeasuredPoint& point : points) {
        const auto found = other.find({point.subject, point.shape});
        predictor.cycles.push_back(found == other.end() ? std::nullopt
                                                        : std::optional(found->second));
    }
    return predictor;
}

// Predictions carry warps per cycle; their cycles are those of one run of all
// concurrent warps, whatever number of groups was predicted.
analysis::MeasuredPoint point_of(const std::string& kernel, const analysis::SavedPrediction& row) {
    const MeasurementShape shape{.group_warps = row.group_warps,
                                 .concurrent_groups = row.concurrent_groups};
    return {kernel, shape, shape.warps() / row.warps_per_cycle};
}

void add_saved(std::vector<analysis::Predictor>& predictors,
               const std::vector<analysis::MeasuredPoint>& points,
               const analysis::SavedPredictions& file, const std::string& label,
               const std::string& without) {
    for (const std::string& model : file.models()) {
        if (model == without) continue;
        std::map<std::pair<std::string, MeasurementShape>, double> cycles;
        for (const analysis::SavedPrediction& row : file.rows) {
            const analysis::MeasuredPoint point = point_of(file.kernel, row);
            if (row.model == model) cycles[{point.subject, point.shape}] = point.cycles;
        }
        analysis::Predictor predictor{label.empty() ? model : fmt::format("{} {}", model, label),
                                      {}};
        for (const analysis::MeasuredPoint& point : points) {
            const auto found = cycles.find({point.subject, point.shape});
            predictor.cycles.push_back(found == cycles.end() ? std::nullopt
                                                             : std::optional(found->second));
        }
        predictors.push_back(std::move(predictor));
    }
}

analysis::Question question_of(const Options& options) {
    analysis::Question question;
    question.source = options.kernel.source();
    question.gpu = options.profile;
    question.changes = options.changes;
    question.memory = memory_of(options.versions);
    question.launches.occupancy = "all";
    question.models = options.models;
    return question;
}

// A kernel of machine code, by the reference model and the chosen ones at every occupancy.
analysis::SavedPredictions predicted(const Options& options) {
    if (options.profile.empty()) throw InputError("a kernel of machine code needs --profile");
    if (!options.against.empty())
        throw InputError("--against goes with measurements, and with what predict --json printed");
    const analysis::Question question = question_of(options);
    ExecutionRequest execution = options.kernel.execution;
    execution.limit = options.limit;
    analysis::Asking asking{.reading = reading_of(execution)};
    analysis::Answer answer =
        analysis::asked(question, analysis::named_profile(options.profile), asking);
    const Model* const reference = &find_model(options.reference_model);
    if (std::ranges::count(answer.models, reference) == 0)
        answer.models.insert(answer.models.begin(), reference);
    const auto tell = [](const analysis::Notes& notes) {
        for (const analysis::Note& one : notes)
            fmt::print(stderr, "occupipe: {}\n", analysis::text(one));
    };
    tell(notes_before(answer));

    RunLimit limit(options.limit);
    limit.apply(asking);
    analysis::predict_all(answer, question, asking);
    analysis::SavedPredictions file;
    file.kernel = answer.ready.kernel().name;
    tell(answer.too_short);
    for (const Prediction& one : answer.predictions)
        file.rows.push_back(
            {one.model, one.launch.group_warps, one.launch.concurrent_groups, one.warps_per_cycle});
    return file;
}

// The reference is one model's prediction; the others of the file, and a second file's, beside it.
report::Comparison of_predictions(const Options& options, const analysis::SavedPredictions& file) {
    const auto names = file.models();
    report::Comparison result{
        .reference = options.results, .against = options.against, .measured = false};
    result.reference_model = options.reference_model;
    if (std::ranges::find(names, options.reference_model) == names.end())
        throw InputError(options.results, {}, "predictions",
                         fmt::format("none is of model '{}'; choose another --reference",
                                     options.reference_model));
    for (const analysis::SavedPrediction& row : file.rows)
        if (row.model == options.reference_model)
            result.points.push_back(point_of(file.kernel, row));
    add_saved(result.predictors, result.points, file, "", options.reference_model);
    if (!options.against.empty()) {
        const std::string other = read_text_file(options.against);
        if (!analysis::is_prediction(other, options.against))
            throw InputError(options.against + ": is not a prediction, as " + options.results +
                             " is; give one that predict --json printed");
        const analysis::SavedPredictions second =
            analysis::parse_predictions(other, options.against);
        if (second.kernel != file.kernel)
            throw InputError(options.against, {}, "kernel",
                             fmt::format("is '{}', but '{}' in {}: predictions of one kernel can "
                                         "be compared",
                                         second.kernel, file.kernel, options.results));
        add_saved(result.predictors, result.points, second, options.against, "");
    }
    if (result.predictors.empty())
        throw InputError(
            options.results, {}, "predictions",
            fmt::format("all are of model '{}'; predict with --model all, or give --against",
                        options.reference_model));
    return result;
}

// The loop around the steps, where all points have one form; else those it is left out of.
std::string loop_text(const std::vector<analysis::MeasuredPoint>& points,
                      const GpuProfile& profile) {
    const analysis::MeasuredGraphs graphs(profile);
    std::map<LoopForm, std::size_t> forms;
    for (const analysis::MeasuredPoint& point : points) ++forms[graphs.loop_form(point.kernel)];
    std::string text;
    for (const auto& [form, count] : forms)
        text += fmt::format("{}{}{}", text.empty() ? "" : "; ", analysis::loop_form_text(form),
                            forms.size() > 1 ? fmt::format(" ({} points)", count) : "");
    return text;
}

GpuProfile fitted_to(const MeasurementFile& file) {
#if OCCUPIPE_FIT
    return analysis::fit(std::span(&file, 1)).profile;
#else
    throw InputError(file.path + ": this program was built without the fitter");
#endif
}

void warn_of_other_device(const MeasurementFile& file, const GpuProfile& profile) {
    const auto name = file.context.find("device_name");
    if (name == file.context.end() || name->second.empty()) return;
    // What a profile's own model is called as a device.
    if (name->second == profile.device.name || name->second == profile.device.name + " (model)")
        return;
    fmt::print(stderr, "occupipe: warning: {} was measured on '{}', the profile is of '{}'\n",
               file.path, name->second, profile.device.name);
}

// The file's points, or those held out; and the profile of `--profile`, or fitted to the rest.
GpuProfile choose_profile(const Options& options, MeasurementFile& file,
                          report::Comparison& result) {
    if (options.hold_out.empty()) {
        GpuProfile profile = analysis::named_profile(options.profile);
        warn_of_other_device(file, profile);
        result.in_sample = analysis::in_sample(profile, file);
        return profile;
    }
    analysis::HoldOut parts = analysis::hold_out(file, options.hold_out);
    result.held_out =
        fmt::format("{} of {} shapes, {}", parts.held_shapes, parts.shapes, options.hold_out);
    result.profile = "a profile of the other shapes";
    file = std::move(parts.held);
    return fitted_to(parts.rest);
}

report::Comparison of_measurements(const Options& options, std::optional<GpuProfile>& used) {
    const bool with_models = !options.profile.empty() || !options.hold_out.empty();
    if (!with_models && options.against.empty())
        throw InputError("compare needs --profile, --hold-out, --against or several of them");
    MeasurementFile file = read_measurements(options.results);
    report::Comparison result{
        .reference = options.results, .profile = options.profile, .against = options.against};
    if (!with_models) {
        result.points = usable_points(file, nullptr);
    } else {
        used = choose_profile(options, file, result);
        const GpuProfile& profile = *used;
        for (const std::string& sentence : analysis::assumed_scopes(profile))
            fmt::print(stderr, "occupipe: {}\n", sentence);
        const std::vector<const Model*> chosen = find_models(options.models);
        result.points = usable_points(file, &profile);
        result.predictors = predict_all(result.points, profile, chosen, options.limit);
        result.loop = loop_text(result.points, profile);
    }
    if (!options.against.empty())
        result.predictors.push_back(other_measurement(result.points, options.against));
    return result;
}

// Measures the papers' test kernels into the file that is then compared.
void measure_kernels(const Options& options) {
    if (options.profile.empty()) throw InputError("--device needs --profile");
    if (options.keep.empty()) throw InputError("--device needs -o FILE.json for the measurements");
    analysis::named_profile(options.profile);  // refuse a bad profile before minutes of measuring
    const auto backend = analysis::open_named_device(options.device);
    MeasureRequest request;
    request.quick = options.quick;
    request.output = options.keep;
    request.overwrite = options.force ? Overwrite::yes : Overwrite::no;
    if (!measure_sweep(*backend, analysis::comparison_sweep(*backend, options.quick), request))
        throw std::runtime_error("interrupted");
}

// RESULTS: a kernel of machine code, a prediction, or measurements.
report::Comparison compared(const Options& options, std::optional<GpuProfile>& profile) {
    if (analysis::is_code(options.kernel.source())) {
        if (!options.hold_out.empty())
            throw InputError(options.results + " is a kernel: --hold-out goes with measurements");
        return of_predictions(options, predicted(options));
    }
    if (options.changes != analysis::ProfileChanges() || options.versions.tells())
        throw InputError(
            "--use, --set, --memory, --cache and --assume-latency go with a kernel "
            "of machine code");
    const std::string text = read_text_file(options.results);
    if (!analysis::is_prediction(text, options.results)) return of_measurements(options, profile);
    if (!options.hold_out.empty())
        throw InputError(options.results + " is a prediction: --hold-out goes with measurements");
    if (!options.profile.empty())
        throw InputError(options.results +
                         ": is a prediction; --profile is for measurements and kernels");
    return of_predictions(options, analysis::parse_predictions(text, options.results));
}

// RESULTS is a kernel, too: the version before.
void compare_versions(const Options& options) {
    if (!options.device.empty() || !options.against.empty() || !options.hold_out.empty() ||
        !options.plot.empty() || options.csv)
        throw InputError(
            "--device, --against, --hold-out, --plot and --csv do not go with two kernels");
    const Options none;
    if (options.models != none.models || options.reference_model != none.reference_model)
        throw InputError(
            "two kernels are compared by the simulation: --model and --reference do not go with "
            "them");
    compare_kernels({.before = options.kernel,
                     .profile = options.profile,
                     .changes = options.changes,
                     .limit = options.limit,
                     .json = options.json,
                     .force = options.force},
                    options.versions);
}

void compare(Options options) {
    options.kernel.execution.kernels = options.results;
    if (!options.versions.after.empty()) return compare_versions(options);
    if (options.versions.tells_versions())
        throw InputError(
            "--after, --uncertainty, --seed, --page and --source-folder go with two kernels: "
            "compare "
            "BEFORE AFTER --profile P");
    const std::string profile_file =
        options.profile.empty() ? "" : analysis::shipped_profile(options.profile).string();
    keep_apart({{"RESULTS", options.results},
                {"--profile", profile_file},
                {"--against", options.against},
                {"--launch", options.kernel.execution.launch},
                device_file(options.device)},
               {{"--output", options.keep}, {"--plot", options.plot}});
    report::check_plot_file(options.plot, options.force);
    const bool given = !options.results.empty() || !options.kernel.execution.launch.empty();
    if (given == !options.device.empty())
        throw InputError("compare needs either RESULTS or --device");
    if (!options.device.empty()) {
        measure_kernels(options);
        options.results = options.keep.string();
    }
    std::optional<GpuProfile> profile;
    report::Comparison result = compared(options, profile);
    result.rows = analysis::accuracies(result.points, result.predictors);
    if (result.rows.empty())
        throw InputError(options.against, {}, "benchmarks",
                         "shares no point with the results; measure both with the same sweep");
    if (options.json)
        fmt::print("{}\n", report::to_json(result).dump(2));
    else
        fmt::print("{}", options.csv ? report::to_csv(result) : report::to_text(result));
    if (!options.plot.empty())
        report::write_plot(
            options.plot,
            report::comparison_plot(options.results, result.points, result.predictors,
                                    profile ? &*profile : nullptr),
            options.force);
}

void add_device_options(const Command& command, Options& options) {
    const Option device = command.add_option(
        "--device", options.device,
        std::string("Instead of RESULTS: measure the papers' test kernels (mixes over β and over\n"
                    "occupancy, barriers, chains, streaming reads) on\n") +
            analysis::device_help);
    device.type_name("DEVICE");
    command.add_option("-o,--output", options.keep, "With --device: FILE.json for the measurements")
        .needs(device)
        .type_name("FILE.json");
    command.add_flag("--quick", options.quick, "With --device: fewer launch shapes and repetitions")
        .needs(device);
    command.add_flag("--force", options.force, "Replace existing files");
}

}  // namespace

void add_compare(const Command& app) {
    const auto options = std::make_shared<Options>();
    const Command command = app.subcommand(
        "compare", "Compare measurements with predictions, and rank the models by error");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_nothing_to_run_on, exit_limit_reached,
                                          exit_device_lost, exit_interrupted},
                           .examples = examples});
    command
        .add_option("results", options->results,
                    "Measurements, the output of predict --json, or a kernel of machine code\n"
                    "(.cu, .ptx, .cubin), which is predicted at every occupancy")
        .type_name("RESULTS");
    add_compare_kernels_options(command, options->versions, options->changes);
    const Option profile = command.add_option(
        "--profile", options->profile, "GPU profile to predict with: a file or a shipped name");
    profile.type_name("PROFILE");
    command
        .add_option("--against", options->against,
                    "A second measurement of the same points, compared like a model; or a second\n"
                    "prediction of the same kernel")
        .type_name("RESULTS");
    command
        .add_option("--model", options->models,
                    "Models, separated by commas, or all; see 'occupipe list models'")
        .delimiter(',')
        .show_default()
        .type_name("MODEL");
    command
        .add_option("--hold-out", options->hold_out,
                    "Instead of --profile: fit a profile to RESULTS without these shapes, and\n"
                    "compare with these alone: every:N, or patterns on\n"
                    "SUBJECT/group_warps:N/concurrent_groups:N/chains:N, separated by commas")
        .type_name("SHAPES")
        .excludes(profile);
    command
        .add_option("--reference", options->reference_model,
                    "When RESULTS is a prediction: the model that the others are compared with")
        .show_default()
        .type_name("MODEL");
    add_use_option(command, options->changes);
    add_set_option(command, options->changes);
    add_device_options(command, *options);
    add_limit_option(command, options->limit);
    const Option json = command.add_flag("--json", options->json, "Print JSON");
    command.add_flag("--csv", options->csv, "Print CSV").excludes(json);
    add_plot_option(command, options->plot, "share of points within an error, a curve per model");
    add_kernels_in_options(command, options->kernel);
    command.show_first(
        {"--profile", "--against", "--model", "--hold-out", "--launch", "--json", "--csv"});
    command.callback([options] { compare(*options); });
}

}  // namespace occupipe::cli
