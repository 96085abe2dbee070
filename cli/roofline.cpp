// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#if OCCUPIPE_FIT
#include "analysis/measured/fit.h"
#include "analysis/roofline/intensity_sweep.h"
#include "report/text/intensity_output.h"
#endif
#include "analysis/profilers/profiler_metrics.h"
#include "analysis/roofline/device_rates.h"
#include "analysis/roofline/executed_traffic.h"
#include "analysis/roofline/roofline_predictions.h"
#include "ask/kernels_in.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/execution_request.h"
#include "cli/exit_codes.h"
#include "cli/kernels_in_request.h"
#include "cli/options.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/kernel_parameters.h"
#include "extract/kernel_parameters.h"
#include "extract/run_plan.h"
#include "report/figures/plot_file.h"
#include "report/figures/quadrant_split.h"
#include "report/text/roofline_output.h"

namespace occupipe::cli {
namespace {

constexpr const char* about =
    "Input: what kernels execute and move, each SOURCE one of\n"
    "  - CSV of nvprof or Nsight Compute ('--profiler-command ncu=./app' prints how to),\n"
    "  - kernel parameters (YAML, written with -o),\n"
    "  - a launch file, or CUDA source, PTX or machine code with --grid, --block and --args: its\n"
    "    kernels are executed on this machine;\n"
    "and GPU profiles. Output: time of each kernel on each device by the quantitative roofline\n"
    "(Konstantinidis and Cotronis 2017), what bounds it, and what would flip the bound.\n"
    "Without --profile the kernels are listed.";

constexpr const char* examples =
    "occupipe predict --counts --profiler-command ncu='./app --size 4096'\n"
    "occupipe predict --counts kernels.csv --profile gtx-1060 --profile rtx-2070 --plot "
    "quadrant.svg\n"
    "occupipe predict --counts kernels.csv -o kernels.yaml\n"
    "occupipe predict --counts saxpy.launch.yaml --arch sm_90 --profile results/h200.yaml\n"
    "occupipe predict --counts ncu.csv executed.yaml --difference\n"
    "occupipe predict --counts --intensity mixes.json --plot sweep.svg";

struct Request {
    std::vector<std::string> sources;
    std::vector<std::string> profiles;
    std::string model = "quantitative-roofline";
    ExecutionRequest execution;
    std::string output;
    std::string plot;
    bool force = false;
    bool json = false;
    bool csv = false;
    bool difference = false;
    std::vector<std::string> sweep;
    std::string caches;  // profile
    CacheOptions cache_sizes;
    std::vector<std::string> rates;  // SYMBOL=VALUE
    std::string ncu;
    std::string nvprof;
};

// Launches of a kernel at different places of a plan find different things in the caches.
std::size_t places_of(const std::vector<PlanStep>& steps, const std::string& kernel) {
    std::size_t places = 0;
    for (const PlanStep& step : steps) {
        if (const auto* launch = std::get_if<KernelLaunch>(&step))
            places += launch->kernel.empty() || launch->kernel == kernel ? 1 : 0;
        else if (const auto* repeat = std::get_if<RepeatSteps>(&step))
            places += places_of(repeat->steps, kernel);
    }
    return places;
}

// The kernels' traffic as the caches of --cache device let it through. Executes them once more.
void pass_caches(std::vector<KernelParameters>& kernels, const Request& request,
                 const ExecutionRequest& execution, const LaunchPlan& plan,
                 const analysis::KernelFile& file) {
    const GpuProfile profile = analysis::named_profile(request.caches);
    for (KernelParameters& kernel : kernels) {
        const std::string name = kernel.kernel.substr(0, kernel.kernel.find('('));
        if (places_of(plan.steps, name) > 1)
            throw InputError(fmt::format(
                "--cache device: the plan launches '{}' at several places; give each a file",
                name));
        const analysis::KernelIn in =
            analysis::kernel_in(plan, file,
                                {.kernel = name,
                                 .sample = {},
                                 .memory_cores = profile.cores,
                                 .execute = reading_of(execution).execute});
        for (const std::string& line : in.warnings)
            fmt::print(stderr, "occupipe: warning: {}\n", line);
        for (const std::string& said :
             analysis::set_traffic(kernel, in.kernel(), profile, request.cache_sizes.sizes()))
            fmt::print(stderr, "occupipe: note: {}: {}\n", name, said);
    }
}

std::vector<KernelParameters> executed(const std::string& path, bool is_launch_file,
                                       const Request& request) {
    ExecutionRequest execution = request.execution;
    (is_launch_file ? execution.launch : execution.kernels) = path;
    const LaunchPlan plan = plan_of(execution);
    const analysis::KernelFile file = read_kernels(execution, plan);
    extract::PlanRun run(plan, file.cubin, file.ptx);
    std::vector<KernelParameters> kernels = extract::parameters_of(run_watched(run, execution, {}));
    if (!request.caches.empty()) pass_caches(kernels, request, execution, plan, file);
    return kernels;
}

// The devices, with the rates that --set adds.
std::vector<GpuProfile> devices_of(const Request& request) {
    std::vector<GpuProfile> devices;
    for (const std::string& path : request.profiles)
        devices.push_back(analysis::named_profile(path));
    if (!request.rates.empty() && devices.size() != 1)
        throw InputError("--set is of one device; give one --profile");
    std::set<std::string> given;
    for (const std::string& text : request.rates) {
        const std::size_t equals = text.find('=');
        double value = 0;
        const char* const end = text.data() + text.size();
        if (equals == std::string::npos ||
            std::from_chars(text.data() + equals + 1, end, value).ptr != end)
            throw InputError(fmt::format("--set {}: is not SYMBOL=VALUE, such as B_mem=448", text));
        if (!given.insert(text.substr(0, equals)).second)
            throw InputError(fmt::format("--set {}: has an earlier --set; choose one", text));
        devices.front() =
            analysis::with_rate(std::move(devices.front()), text.substr(0, equals), value);
    }
    return devices;
}

// By content: a profiler's CSV, a launch file, kernel parameters.
analysis::ProfiledKernels read_source(const std::string& path, const Request& request) {
    const auto whole = [](std::vector<KernelParameters> kernels) {
        return analysis::ProfiledKernels{
            .kernels = std::move(kernels), .left_out = {}, .notes = {}, .lacking = {}};
    };
    if (analysis::names_kernels(path)) return whole(executed(path, false, request));
    const std::string text = read_text_file(path);
    const bool launches = text.find("occupipe_launches:") != std::string::npos;
    if (analysis::is_profiler_csv(text) || (path.ends_with(".csv") && !launches))
        return analysis::parameters_from_profiler(text, path);
    return whole(launches ? executed(path, true, request) : parse_kernel_parameters(text, path));
}

struct Sources {
    std::vector<std::vector<KernelParameters>> all;  // by source
    std::vector<KernelParameters> whole;             // of the wanted name, ready to be predicted
    std::vector<KernelParameters> partial;           // the others of that name
    std::string lacking;                             // what the first of these lacks
};

void add_source(Sources& sources, const std::string& path, const Request& request) {
    const std::string& name = request.execution.kernel;
    const analysis::ProfiledKernels read = read_source(path, request);
    for (const std::string& said : read.left_out)
        fmt::print(stderr, "occupipe: warning: {}\n", said);
    for (const std::string& said : read.notes) fmt::print(stderr, "occupipe: note: {}\n", said);
    for (const KernelParameters& one : read.kernels) {
        if (!name.empty() && one.kernel != name && !one.kernel.starts_with(name + "(")) continue;
        try {
            analysis::work_of(one);
            sources.whole.push_back(one);
        } catch (const analysis::CountMissing& fault) {
            sources.partial.push_back(one);
            if (sources.lacking.empty())
                sources.lacking =
                    read.lacking.empty() ? fmt::format("{}: {}", path, fault.what()) : read.lacking;
        } catch (const InputError& fault) {
            throw InputError(fmt::format("{}: {}", path, fault.what()));
        }
    }
    sources.all.push_back(read.kernels);
}

Sources read_sources(const Request& request) {
    Sources sources;
    for (const std::string& path : request.sources) add_source(sources, path, request);
    if (!sources.whole.empty() || !sources.partial.empty()) return sources;
    std::vector<std::string_view> known;
    for (const auto& kernels : sources.all)
        for (const KernelParameters& one : kernels) known.emplace_back(one.kernel);
    throw InputError(fmt::format("--kernel {}: no source has it; they have {}",
                                 request.execution.kernel, fmt::join(known, ", ")));
}

std::vector<RooflineVariant> variants(const std::string& model) {
    if (model == "all") return {RooflineVariant::literal, RooflineVariant::overlapped};
    return {model == "quantitative-roofline" ? RooflineVariant::literal
                                             : RooflineVariant::overlapped};
}

// Kernels that the first two sources have in common, metric by metric.
void print_difference(const Request& request,
                      const std::vector<std::vector<KernelParameters>>& sources) {
    if (sources.size() != 2) throw InputError("--difference compares two sources; give two");
    std::size_t common = 0;
    for (const KernelParameters& a : sources[0])
        for (const KernelParameters& b : sources[1]) {
            const auto bare = [](const std::string& name) {
                return name.substr(0, name.find('('));
            };
            if (bare(a.kernel) != bare(b.kernel)) continue;
            if (!request.execution.kernel.empty() && bare(a.kernel) != request.execution.kernel)
                continue;
            fmt::print("{}{}", common++ > 0 ? "\n" : "",
                       report::difference_text(a, request.sources[0], b, request.sources[1]));
        }
    if (common == 0) throw InputError("--difference: the two sources have no kernel in common");
}

#if OCCUPIPE_FIT
void print_sweep(const Request& request) {
    if (!request.sources.empty() || request.profiles.size() > 1)
        throw InputError("--intensity takes no SOURCE and at most one --profile");
    report::check_plot_file(request.plot, request.force);
    std::vector<MeasurementFile> files;
    for (const std::string& path : request.sweep) files.push_back(read_measurements(path));
    const FitOutcome outcome = analysis::fit(files);
    const GpuProfile profile =
        request.profiles.empty() ? outcome.profile : analysis::named_profile(request.profiles[0]);
    const analysis::IntensitySweep sweep = analysis::intensity_sweep(outcome.mixes, profile);
    for (const std::string& line : sweep.left_out)
        fmt::print(stderr, "occupipe: warning: {}\n", line);
    if (sweep.points.empty())
        throw InputError(
            "--intensity: no mix of fma.f32, fma.f64, mad.s32 or fma.f16x2 with ld.global.f32 is "
            "in "
            "the measurements; 'occupipe measure --intensity' measures them");
    if (request.json)
        fmt::print("{}\n", report::to_json(sweep).dump(2));
    else
        fmt::print("{}", report::to_text(sweep));
    if (!request.plot.empty()) {
        const plot::Picture picture = report::intensity_picture(sweep, profile);
        report::write_plot(request.plot, {"Intensity sweep", picture, {picture}}, request.force);
    }
}
#endif

// What of the options the other ones leave without a meaning.
void refuse_ignored(const Request& request) {
    const bool files = !request.output.empty() || request.csv || request.difference;
    const bool added = !request.rates.empty() || !request.caches.empty();
    if (!request.sweep.empty() && (files || added))
        throw InputError("-o, --csv, --difference, --set and --cache do not go with --intensity");
    if (request.difference && (!request.output.empty() || request.csv || request.json ||
                               !request.plot.empty() || !request.profiles.empty()))
        throw InputError(
            "-o, --csv, --json, --plot and --profile do not go with --difference, which prints a "
            "table of two sources");
    if ((!request.ncu.empty() || !request.nvprof.empty()) && !request.sources.empty())
        throw InputError("--profiler-command prints a command, and takes no SOURCE");
}

void roofline(const Request& request) {
    refuse_ignored(request);
#if OCCUPIPE_FIT
    if (!request.sweep.empty()) return print_sweep(request);
#endif
    if (!request.ncu.empty() || !request.nvprof.empty()) {
        if (!request.ncu.empty()) fmt::print("{}\n", analysis::ncu_command(request.ncu));
        if (!request.nvprof.empty()) fmt::print("{}\n", analysis::nvprof_command(request.nvprof));
        return;
    }
    if (request.sources.empty()) throw InputError("SOURCE is missing; see --help");
    std::vector<NamedPath> inputs;
    for (const std::string& path : request.sources) inputs.push_back({"SOURCE", path});
    keep_apart(inputs, {{"-o", request.output}, {"--plot", request.plot}});
    report::check_plot_file(request.plot, request.force);
    const Sources sources = read_sources(request);
    const std::vector<KernelParameters>& kernels = sources.whole;
    if (request.difference) return print_difference(request, sources.all);
    const bool any_count = std::ranges::any_of(sources.partial, [](const KernelParameters& one) {
        return std::ranges::any_of(kernel_counts(), [&](const KernelCount& count) {
            return (one.*count.value).has_value();
        });
    });
    if (kernels.empty() && (!request.profiles.empty() || !any_count))
        throw InputError(sources.lacking);
    if (!sources.lacking.empty()) fmt::print(stderr, "occupipe: warning: {}\n", sources.lacking);
    if (!request.output.empty()) {
        std::vector<KernelParameters> all = kernels;
        all.insert(all.end(), sources.partial.begin(), sources.partial.end());
        write_text_file(request.output, format_kernel_parameters(all),
                        request.force ? Overwrite::yes : Overwrite::no);
    }

    const std::vector<GpuProfile> devices = devices_of(request);
    for (const GpuProfile& device : devices)
        for (const std::string& warning : analysis::rate_warnings(device))
            fmt::print(stderr, "occupipe: warning: {}\n", warning);
    std::vector<report::RooflineCell> cells;
    bool any = false;
    for (const KernelParameters& kernel : kernels)
        for (const GpuProfile& device : devices)
            for (const RooflineVariant variant : variants(request.model)) {
                cells.push_back({&kernel, &device, variant,
                                 analysis::roofline_prediction(kernel, device, variant)});
                any = any || cells.back().prediction.result.has_value();
            }
    if (request.json)
        fmt::print("{}\n", report::to_json(cells).dump(2));
    else if (request.csv)
        fmt::print("{}", report::to_csv(cells));
    else
        fmt::print("{}{}", kernels.empty() ? "" : report::to_text(kernels, cells),
                   sources.partial.empty() ? "" : report::counts_text(sources.partial));
    if (!devices.empty() && !any)
        throw InputError(
            "no prediction: the profiles lack the rates that the kernels need; 'occupipe measure "
            "--rates' measures them, and --set B_mem=448 says one that a data sheet gives");
    if (request.plot.empty()) return;
    if (devices.empty()) throw InputError("--plot draws devices; give --profile");
    report::PlotContent content{
        .title = "Quadrant split", .image = report::quadrant_split(kernels, devices), .page = {}};
    content.page.push_back(content.image);
    for (const GpuProfile& device : devices) {
        const auto drawable = [&](const report::RooflineCell& cell) {
            return cell.device == &device && cell.prediction.result &&
                   analysis::intensity_of(cell.prediction.work);
        };
        if (std::ranges::any_of(cells, drawable))
            content.page.push_back(report::kernel_roofline(kernels, device));
    }
    report::write_plot(request.plot, content, request.force);
}

}  // namespace

void add_roofline(const Command& app) {
    const auto request = std::make_shared<Request>();
    const Command command = app.subcommand(
        "roofline", "Predict kernels on GPUs they never ran on, from a profiler's counts");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_limit_reached, exit_interrupted},
                           .examples = examples});
    command.add_option("sources", request->sources, "Files with the kernels' counts")
        .type_name("SOURCE");
    command
        .add_option("--profile", request->profiles,
                    "GPU profiles: files (YAML) or shipped names; may be given again")
        .type_name("PROFILE")
        .one_value_each();
    command
        .add_option("--model", request->model,
                    "quantitative-roofline: units take turns; quantitative-roofline-units: they\n"
                    "overlap; or all")
        .check(one_of({"quantitative-roofline", "quantitative-roofline-units", "all"}))
        .show_default()
        .type_name("MODEL");
    command
        .add_option("-o,--output", request->output,
                    "Write the kernels' counts as kernel parameters (YAML)")
        .type_name("FILE");
    const Option json = command.add_flag("--json", request->json, "Print JSON");
    command.add_flag("--csv", request->csv, "Print CSV").excludes(json);
    command.add_flag("--difference", request->difference,
                     "Compare two sources' counts of the same kernels, metric by metric");
#if OCCUPIPE_FIT
    command
        .add_option("--intensity|--sweep", request->sweep,
                    "Instead: measurements with mixes of multiply-adds and streaming loads,\n"
                    "measured beside the roofline of the profile (default: their own)")
        .type_name("FILE")
        .one_value_each();
#endif
    command
        .add_option("--set|--rate", request->rates,
                    "A rate that the one profile lacks, in the unit of 'occupipe table --rates':\n"
                    "B_mem=448; may be given again")
        .type_name("SYMBOL=VALUE")
        .one_value_each();
    const Option caches =
        command
            .add_option("--cache device|--caches", request->caches,
                        "Count the memory traffic of a SOURCE that is executed behind the caches\n"
                        "of this device (default: every touched sector once)")
            .type_name("PROFILE");
    for (const Option& size : add_cache_options(command, request->cache_sizes)) size.needs(caches);
    command
        .add_option("--profiler-command ncu|--ncu-command", request->ncu,
                    "Print the command that profiles PROGRAM with Nsight Compute, and end")
        .type_name("PROGRAM");
    command
        .add_option("--profiler-command nvprof|--nvprof-command", request->nvprof,
                    "The same for nvprof")
        .type_name("PROGRAM");
    add_launch_options(command, request->execution, "Only this kernel",
                       "For a SOURCE that is executed");
    command.add_option("--threads", request->execution.threads, "Host threads that execute")
        .type_name("N");
    command
        .add_option("--limit", request->execution.limit,
                    "Stop executing after so many warp-instructions or seconds (60s)")
        .type_name("LIMIT");
    command.add_flag("--force", request->force, "Replace files that exist");
    add_plot_option(command, request->plot,
                    "quadrant split as .svg or .png; as .html with\na roofline per device");
    command.show_first({"--profile", "-o,--output", "--plot", "--difference", "--intensity",
                        "--json", "--csv", "--launch", "--arch", "--profiler-command ncu"});
    command.callback([request] { roofline(*request); });
}

}  // namespace occupipe::cli
