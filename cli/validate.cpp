// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "analysis/validation/counter_comparison.h"
#include "analysis/validation/runner_plan.h"
#include "analysis/validation/suite.h"
#include "analysis/validation/validation.h"
#include "analysis/validation/validation_device.h"
#include "analysis/validation/validation_file.h"
#include "ask/kernel_file.h"
#include "ask/shipped_files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/run_limit.h"
#include "cli/validate_measured.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "core/occupancy.h"
#include "report/figures/validation_figures.h"
#include "report/text/validation.h"
#include "sim/models/registry.h"

namespace occupipe::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* about =
    "Executes the kernels of the suite ('occupipe list kernels'), or those of launch files,\n"
    "predicts each at every occupancy with the models of a GPU profile, and compares the curves\n"
    "with a device: MAPE and MAPE_shape by kernel and model, in the layout of the tables of the\n"
    "papers, with what was published beside where it is of the same kernel.\n"
    "Accesses to memory are priced as 'occupipe predict' does, by the levels that answer them.\n"
    "The device is a GPU by way of CUDA or OpenCL, or simulated and differs from its profile by\n"
    "what its name says, or it is what --import brings: times of launches that --dump wrote down\n"
    "and another program measured. On a CPU the results of the kernels are checked, and no more.\n"
    "Without either, nothing is measured, and the predictions are printed.\n"
    "With --measured, a tuner's configurations are predicted and held against their times:\n"
    "absolute error, shape, rank and what a user of the predictions would lose.\n"
    "Output: in DIR, curves/KERNEL.json, curves.csv, accuracy.csv, tables.md, tables.json; tables\n"
    "on stdout. What is in DIR already and was made from the same inputs is not made again, so\n"
    "that the same command goes on after --limit or Ctrl-C.";

constexpr const char* examples =
    "occupipe validate --profile rtx-2070 -o predictions\n"
    "occupipe validate --device 'model:rtx-2070?policy=gto&skew=500' --profile rtx-2070 -o out\n"
    "occupipe validate --profile P.yaml --dump launches\n"
    "occupipe validate --import launches/launches.csv --profile P.yaml -o out --plot out.html\n"
    "occupipe validate --launch mine.yaml --profile P.yaml -o out\n"
    "occupipe validate --measured A100_T4.json --launch convolution.json --profile P.yaml --draws "
    "40";

struct Options {
    std::string device;
    std::string import;
    std::string ncu;
    std::string dump;
    std::string profile;
    std::string output;
    std::string size = "large";
    std::string machine_code;
    std::string memory_pricing = "per-access";
    std::vector<std::string> kernels;
    std::vector<std::string> launches;
    std::vector<std::string> models;
    int waves = 2;
    int repetitions = 5;
    std::string limit = "300s";
    std::string plot;
    ValidateMeasured measured;
    bool force = false;
};

void find_names(const std::vector<PlanStep>& steps, std::vector<std::string>& names) {
    for (const PlanStep& step : steps) {
        if (const auto* const launch = std::get_if<KernelLaunch>(&step)) {
            if (std::ranges::find(names, launch->kernel) == names.end())
                names.push_back(launch->kernel);
        } else if (const auto* const repeat = std::get_if<RepeatSteps>(&step)) {
            find_names(repeat->steps, names);
        }
    }
}

// Every kernel that the launch files launch.
std::vector<analysis::SuiteKernel> of_launch_files(const std::vector<std::string>& files) {
    std::vector<analysis::SuiteKernel> all;
    for (const std::string& file : files) {
        const LaunchPlan plan = read_launches(file);
        if (plan.source.empty())
            throw InputError(file, {}, "source", "is missing; it names the kernels' file");
        std::vector<std::string> names;
        find_names(plan.steps, names);
        for (const std::string& name : names) {
            if (std::ranges::find(all, name, &analysis::SuiteKernel::name) != all.end())
                throw InputError(
                    fmt::format("{}: '{}' is in another launch file, too", file, name));
            all.push_back({.name = name, .source = plan.source, .small = file, .large = file});
        }
    }
    return all;
}

std::vector<analysis::SuiteKernel> chosen_kernels(const Options& options) {
    auto suite =
        options.launches.empty() ? analysis::shipped_suite() : of_launch_files(options.launches);
    if (suite.empty())
        throw InputError("no kernels found beside the program; name some with --launch");
    if (options.kernels.empty()) return suite;
    std::vector<analysis::SuiteKernel> chosen;
    for (const std::string& name : options.kernels)
        chosen.push_back(analysis::find_suite_kernel(suite, name));
    return chosen;
}

std::vector<std::string> chosen_models(const Options& options) {
    if (options.models.empty()) return analysis::tabulated_models();
    std::vector<std::string> names;
    for (const Model* model : find_models(options.models)) names.emplace_back(model->name);
    return names;
}

// The file of machine code that stands for a text: FOLDER/sm_NN/NAME.cubin, FOLDER/NAME.cubin.
fs::path recorded_in(const fs::path& folder, const fs::path& source,
                     const std::string& architecture) {
    const std::string name = source.stem().string() + ".cubin";
    const fs::path own = folder / architecture / name;
    std::error_code none;
    return fs::exists(own, none) ? own : folder / name;
}

// From source, or recorded.
analysis::CompileText compile_with(const Options& options) {
    return [folder = fs::path(options.machine_code)](const LaunchPlan& plan,
                                                     const std::string& architecture) {
        if (folder.empty())
            return analysis::read_kernel_file(
                plan.source, plan.source.ends_with(".cu") ? architecture : "",
                plan.source.ends_with(".cubin") ? std::vector<std::string>()
                                                : plan.compiler_options);
        return analysis::read_kernel_file(recorded_in(folder, plan.source, architecture).string(),
                                          architecture, {});
    };
}

// Of a kernel's folder, or else of the suite's; empty: there is none.
fs::path shipped_file(const analysis::SuiteKernel& kernel, const char* name) {
    fs::path own = kernel.source.parent_path() / name;
    if (fs::exists(own)) return own;
    const fs::path index = analysis::shipped_suite_index();
    const fs::path shipped = index.parent_path() / name;
    return !index.empty() && fs::exists(shipped) ? shipped : fs::path();
}

class Run {
public:
    explicit Run(const Options& options)
        : options_(options),
          profile_path_(analysis::shipped_profile(options.profile)),
          profile_(analysis::named_profile(options.profile)),
          kernels_(chosen_kernels(options)),
          compile_(compile_with(options)) {
        if (profile_.instructions.empty())
            throw InputError(profile_path_.string(), {}, "instructions",
                             "there are none; kernels are predicted from their timings");
        set_.profile = options.profile;
        set_.gpu = profile_.device.name;
        set_.models = chosen_models(options);
        for (const auto& one : analysis::shipped_published_accuracies())
            if (one.profile == profile_path_.stem()) set_.published.push_back(one);
        inputs_ = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", OCCUPIPE_VERSION,
                              analysis::named_profile_text(options.profile), options.size,
                              options.waves, options.repetitions, fmt::join(set_.models, ","));
        inputs_ += options.memory_pricing + "\n";
        pricing_ = *analysis::memory_pricing(options.memory_pricing);
        if (!options.device.empty() && !options.device.starts_with("model:")) {
            real_ = analysis::open_real_device(options.device, profile_);
            if (!real_->cpu) set_.device = real_->id;
            inputs_ += real_->id + "\n" + real_->name + "\n";
        } else if (!options.device.empty()) {
            device_ = analysis::open_violating_device(options.device);
            set_.device = device_->id;
            set_.violations = device_->violations;
            if (GpuProfile other = analysis::named_profile(device_->profile); other != profile_)
                set_.violations.insert(set_.violations.begin(),
                                       "the profile of " + other.device.name);
            inputs_ += device_->id + "\n" + analysis::named_profile_text(device_->profile) + "\n";
        }
        constexpr int lanes = OccupancyLimits::warp_threads;
        const bool timed =
            !options.dump.empty() || !options.import.empty() || (real_ && !real_->cpu);
        if (timed && profile_.warp_size != lanes)
            throw InputError(profile_path_.string(), {}, "warp_size",
                             fmt::format("{}: launches are timed on GPUs with warps of {} lanes, "
                                         "whose occupancy is known",
                                         profile_.warp_size, lanes));
        if (!options.ncu.empty())
            profiled_ = analysis::parse_ncu_csv(read_text_file(options.ncu), options.ncu);
        if (!options.import.empty()) {
            const std::string text = read_text_file(options.import);
            times_ = analysis::parse_timed_launches(text, options.import);
            for (const auto& [kernel, times] : *times_)
                if (options.kernels.empty() &&
                    std::ranges::find(kernels_, kernel, &analysis::SuiteKernel::name) ==
                        kernels_.end())
                    throw InputError(options.import, {}, "kernel",
                                     fmt::format("'{}' is not among the kernels", kernel));
            set_.device = options.import;
            inputs_ += text;
        }
    }

    void dump();
    void validate();

private:
    analysis::ReadyKernel ready(const analysis::SuiteKernel& kernel,
                                analysis::TellMemory memory) const {
        return analysis::ready_kernel(kernel, options_.size, profile_, compile_, memory);
    }
    std::string made_of(const analysis::SuiteKernel& kernel) const {
        const fs::path launches = options_.size == "small" ? kernel.small : kernel.large;
        std::string all =
            inputs_ + kernel.name + read_text_file(launches) + read_text_file(kernel.source);
        const fs::path header = kernel.source.parent_path() / "portable.h";
        if (fs::exists(header)) all += read_text_file(header);
        if (!options_.machine_code.empty()) {
            std::string unused;
            all += read_text_file(recorded_in(options_.machine_code, kernel.source,
                                              analysis::validation_architecture(profile_, unused)));
        }
        return content_hash(all);
    }
    analysis::ValidationCurve curve_of(const analysis::SuiteKernel& kernel,
                                       const ModelOptions& limits);
    analysis::ValidationCurve curve_or_end(const analysis::SuiteKernel& kernel,
                                           const ModelOptions& limits);
    std::vector<std::pair<Launch, double>> times_of(const analysis::ReadyKernel& ready,
                                                    std::string& doubt) const;
    void compare_counters();
    void write_tables();
    bool dump_plan(const fs::path& launches, const std::string& size, bool with_results) const;

    const Options& options_;
    fs::path profile_path_;
    GpuProfile profile_;
    std::vector<analysis::SuiteKernel> kernels_;
    analysis::CompileText compile_;
    std::optional<analysis::ViolatingDevice> device_;
    std::optional<analysis::RealDevice> real_;
    std::optional<analysis::TimedCurves> times_;
    std::vector<analysis::NcuKernel> profiled_;
    std::string inputs_;
    analysis::MemoryPricing pricing_ = analysis::MemoryPricing::none;
    report::Validation set_;
};

// What was imported, or the real device takes, with the latter's doubt; empty where nothing is
// timed.
std::vector<std::pair<Launch, double>> Run::times_of(const analysis::ReadyKernel& ready,
                                                     std::string& doubt) const {
    if (times_) {
        const std::string& name = ready.suite.name;
        const auto refuse = [&](const char* column, const std::string& why) {
            throw InputError(options_.import, {}, column, fmt::format("{}: {}", name, why));
        };
        const std::int64_t own = ready.needs.shared_bytes - ready.dynamic_shared_bytes;
        std::vector<std::pair<Launch, double>> times;
        for (const auto& [launch, cycles, shared_bytes] : times_->at(name)) {
            if (launch.group_warps != ready.group_warps)
                refuse("group_warps",
                       fmt::format("{} warps of a group, and the launch file's groups have {}",
                                   launch.group_warps, ready.group_warps));
            if (launch.groups != ready.groups)
                refuse("groups", fmt::format("{}, and the launch file of --size {} has {}",
                                             launch.groups, options_.size, ready.groups));
            for (const std::int64_t bytes : shared_bytes)
                if (const int held = analysis::groups_at_once(ready, own + bytes);
                    held != launch.concurrent_groups)
                    refuse(
                        "concurrent_groups",
                        fmt::format("{}, and with {} bytes of shared memory a core of {} holds "
                                    "{}",
                                    launch.concurrent_groups, bytes, profile_.device.name, held));
            times.emplace_back(launch, cycles);
        }
        return times;
    }
    if (!real_) return {};
    std::string unused;
    const std::string wrong = analysis::wrong_result(
        *real_, ready.suite, analysis::validation_architecture(profile_, unused), compile_);
    if (!wrong.empty()) throw std::runtime_error(fmt::format("{}: {}", real_->id, wrong));
    if (real_->cpu) return {};
    analysis::DeviceTimes times = analysis::timed_on(
        *real_, ready, options_.size, profile_.clock_hz, options_.repetitions, compile_);
    doubt = std::move(times.doubt);
    return std::move(times.launches);
}

analysis::ValidationCurve Run::curve_of(const analysis::SuiteKernel& kernel,
                                        const ModelOptions& limits) {
    const analysis::ReadyKernel with =
        ready(kernel, pricing_ == analysis::MemoryPricing::none ? analysis::TellMemory::no
                                                                : analysis::TellMemory::yes);
    std::vector<Launch> launches = analysis::occupancies(with, profile_.cores, options_.waves);
    std::string doubt;
    const auto times = times_of(with, doubt);
    if (!times.empty()) launches.clear();
    for (const auto& [launch, cycles] : times) launches.push_back(launch);
    auto told = analysis::tell_launches(with, launches, profile_.cores);
    if (!times.empty()) analysis::tell_shared_memory(with, told);
    analysis::ValidationCurve curve = analysis::predicted_curve(
        with, profile_, told, set_.models, limits, pricing_,
        times.empty() ? analysis::Timed::groups : analysis::Timed::launch);
    if (device_) {
        analysis::measure_curve(curve, with, *device_, told, limits.limits(), pricing_);
        if (device_->violations.empty() && device_->gpu == profile_)
            curve.assumptions.emplace_back(
                "the device is the profile's own model: pipeline's errors are zero by "
                "construction");
    }
    analysis::apply_times(curve, times, profile_.cores);
    if (!doubt.empty()) curve.assumptions.push_back(std::move(doubt));
    curve.device = set_.device;
    if (real_)
        curve.assumptions.push_back(
            real_->cpu ? fmt::format("{} computes what the machine code does; it is a CPU, where "
                                     "shared memory chooses no occupancy: nothing is timed",
                                     real_->name)
                       : fmt::format("cycles are {}'s times at the profile's clock of {:.4g} Hz",
                                     real_->name, profile_.clock_hz));
    return curve;
}

// At --limit and Ctrl-C says what is kept.
analysis::ValidationCurve Run::curve_or_end(const analysis::SuiteKernel& kernel,
                                            const ModelOptions& limits) {
    const auto say_kept = [&] {
        fmt::print(stderr,
                   "{} of {} kernels are kept in {}; {} and those after it are not. The same "
                   "command goes on with it.\n",
                   set_.curves.size(), kernels_.size(),
                   (fs::path(options_.output) / "curves").string(), kernel.name);
    };
    try {
        return curve_of(kernel, limits);
    } catch (const Interrupted&) {
        say_kept();
        throw;
    } catch (const LimitReached&) {
        say_kept();
        throw;
    }
}

void Run::validate() {
    const fs::path folder = fs::path(options_.output) / "curves";
    fs::create_directories(folder);
    RunLimit limit(options_.limit);
    ModelOptions limits;
    limit.apply(limits);
    std::size_t kept = 0;
    for (const analysis::SuiteKernel& kernel : kernels_) {
        if (times_ && !times_->contains(kernel.name)) continue;
        const fs::path file = folder / (kernel.name + ".json");
        const std::string hash = made_of(kernel);
        if (fs::exists(file)) {
            auto before =
                analysis::parse_curve(read_text_file(file), file.string(), hash, set_.models);
            if (before) {
                set_.curves.push_back(std::move(*before));
                ++kept;
                continue;
            }
        }
        analysis::ValidationCurve curve = curve_or_end(kernel, limits);
        write_text_file(file, report::to_json(curve, set_.models, hash).dump(1) + "\n",
                        Overwrite::yes);
        set_.curves.push_back(std::move(curve));
        fmt::print(stderr, "{} of {}: {}\n", set_.curves.size(), kernels_.size(), kernel.name);
        for (const std::string& warning : set_.curves.back().warnings)
            fmt::print(stderr, "occupipe: warning: {}: {}\n", kernel.name, warning);
    }
    if (set_.curves.empty())
        throw InputError(options_.import, {}, "kernel", "has none of the chosen kernels");
    if (real_)
        fmt::print(stderr, "{} computes what executed machine code does, {} kernels{}\n",
                   real_->name, set_.curves.size(),
                   real_->cpu ? "; it is a CPU, and nothing was timed" : "");
    compare_counters();
    if (kept > 0)
        fmt::print(stderr, "{} of {} kernels were there already\n", kept, kernels_.size());
    write_tables();
}

// Of the kernels that the profiler saw.
void Run::compare_counters() {
    if (profiled_.empty()) return;
    for (const analysis::SuiteKernel& kernel : kernels_) {
        auto rows = analysis::compare_counters(ready(kernel, analysis::TellMemory::yes), profile_,
                                               profiled_);
        std::ranges::move(rows, std::back_inserter(set_.counters));
    }
    if (set_.counters.empty())
        throw InputError(options_.ncu, {}, {}, "has none of the chosen kernels");
}

void Run::write_tables() {
    const fs::path folder = options_.output;
    const std::string text = report::to_text(set_);
    write_text_file(folder / "tables.md", text, Overwrite::yes);
    write_text_file(folder / "tables.json", report::to_json(set_).dump(2) + "\n", Overwrite::yes);
    write_text_file(folder / "curves.csv", report::curves_csv(set_), Overwrite::yes);
    write_text_file(folder / "accuracy.csv", report::accuracy_csv(set_), Overwrite::yes);
    if (!set_.counters.empty())
        write_text_file(folder / "counters.csv", report::counters_csv(set_), Overwrite::yes);
    if (!options_.plot.empty())
        report::write_plot(options_.plot, report::validation_plot(set_), options_.force);
    fmt::print("{}", text);
}

void write_bytes(const fs::path& path, const std::vector<std::byte>& bytes) {
    write_text_file(path, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                    Overwrite::yes);
}

// The launch file as the runner reads it, with what it should compute; false where the runner does
// not take it.
bool Run::dump_plan(const fs::path& launches, const std::string& size, bool with_results) const {
    const fs::path folder = options_.dump;
    const LaunchPlan plan = read_launches(launches);
    std::string unused;
    const analysis::KernelFile file =
        compile_(plan, analysis::validation_architecture(profile_, unused));
    const std::string code = fs::path(plan.source).stem().string();
    const std::string name = size + "/" + launches.stem().string();
    write_text_file(folder / (code + ".cubin"), file.bytes, Overwrite::yes);
    try {
        analysis::RunnerPlan made = analysis::runner_plan(plan, file.cubin, name, code);
        if (with_results) analysis::add_expected(made, plan, file, name);
        fs::create_directories(folder / size);
        write_text_file(folder / (name + ".plan"), made.text, Overwrite::yes);
        for (const auto& [path, bytes] : made.files) write_bytes(folder / path, bytes);
    } catch (const InputError& error) {
        fmt::print(stderr, "occupipe: warning: time_launches cannot run it: {}\n", error.what());
        return false;
    }
    return true;
}

// Texts, launch files, and a table of launches with room for their cycles; for the runner machine
// code, plans and what they should compute.
void Run::dump() {
    const fs::path folder = options_.dump;
    const Overwrite overwrite = options_.force ? Overwrite::yes : Overwrite::no;
    if (!options_.force && fs::exists(folder / "launches.csv"))
        throw InputError(
            fmt::format("{}: has launches already; --force replaces them", folder.string()));
    fs::create_directories(folder / options_.size);
    std::vector<analysis::ReadyKernel> all;
    std::map<fs::path, bool> timed;
    std::string stands_in;
    const std::string architecture = analysis::validation_architecture(profile_, stands_in);
    if (!stands_in.empty())
        fmt::print(stderr,
                   "occupipe: warning: {}; its counts of registers say how many groups a core "
                   "holds: where the device's own code needs more, fewer run at once than "
                   "launches.csv says\n",
                   stands_in);
    std::string runner = fmt::format("occupipe-runner 1\nclock_hz {}\ncompute_capability {}\n",
                                     profile_.clock_hz, analysis::capability_of(architecture));
    for (const analysis::SuiteKernel& kernel : kernels_) {
        all.push_back(ready(kernel, analysis::TellMemory::no));
        const fs::path launches = options_.size == "small" ? kernel.small : kernel.large;
        write_text_file(folder / kernel.source.filename(), read_text_file(kernel.source),
                        Overwrite::yes);
        write_text_file(folder / options_.size / launches.filename(), read_text_file(launches),
                        Overwrite::yes);
        for (const char* beside : {"portable.h", "time_launches.cpp"})
            if (const fs::path path = shipped_file(kernel, beside); !path.empty())
                write_text_file(folder / beside, read_text_file(path), Overwrite::yes);
        const auto [found, is_new] = timed.try_emplace(launches, false);
        if (is_new)
            found->second = dump_plan(kernel.small, "small", true) &&
                            (options_.size == "small" || dump_plan(launches, options_.size, false));
        if (found->second)
            runner +=
                fmt::format("kernel {} {}/{}.plan small/{}.plan\n", kernel.name, options_.size,
                            launches.stem().string(), kernel.small.stem().string());
    }
    const std::string table = analysis::launches_to_time(all);
    write_text_file(folder / "runner.txt", runner, Overwrite::yes);
    write_text_file(folder / "launches.csv", table, overwrite);
    fmt::print(stderr, "{} launches of {} kernel{} for {} in {}\n",
               std::ranges::count(table, '\n') - 1, all.size(), all.size() == 1 ? "" : "s",
               profile_.device.name, folder.string());
}

void validate(const Options& options) {
    if (!options.measured.measured.empty()) {
        if (!options.device.empty() || !options.import.empty() || !options.dump.empty() ||
            !options.ncu.empty() || !options.machine_code.empty() || !options.kernels.empty())
            throw InputError(
                "--measured: --device, --import, --dump, --ncu, --kernel and --kernels "
                "are for suites; leave them out");
        validate_measured(options.measured, {.profile = options.profile,
                                             .spaces = options.launches,
                                             .models = options.models,
                                             .memory_pricing = options.memory_pricing,
                                             .output = options.output,
                                             .plot = options.plot,
                                             .limit = options.limit,
                                             .force = options.force});
        return;
    }
    if (options.measured.changes != analysis::ProfileChanges())
        throw InputError("--set: with --measured alone");
    if (!options.dump.empty()) {
        Run(options).dump();
        return;
    }
    if (options.output.empty()) throw InputError("-o DIR says where the curves and tables go");
    report::check_plot_file(options.plot, options.force);
    Run(options).validate();
}

void add_inputs(const Command& command, Options& options) {
    const Option device =
        command.add_option("--device", options.device, analysis::violating_device_help);
    device.type_name("DEVICE");
    command.add_option("--profile", options.profile, "GPU profile to predict with")
        .required()
        .type_name("PROFILE");
    const Option import =
        command.add_option("--import", options.import, "launches.csv of a dump, with cycles");
    import.type_name("FILE.csv").excludes(device);
    const Option ncu = command.add_option(
        "--ncu", options.ncu,
        "What Nsight Compute counted (ncu --csv) of the same launches: instructions,\n"
        "sectors and DRAM bytes beside those of the executed machine code");
    ncu.type_name("FILE.csv");
    command
        .add_option("--dump", options.dump,
                    "Write texts, launch files and a table of launches to time, for another\n"
                    "machine, and end")
        .type_name("DIR")
        .excludes(device)
        .excludes(import)
        .excludes(ncu);
    command.add_option("--kernel", options.kernels, "These kernels, separated by commas")
        .delimiter(',')
        .type_name("KERNEL");
    command
        .add_option("--launch", options.launches,
                    "Instead of the suite: every kernel of this launch file; may be repeated")
        .type_name("FILE.yaml")
        .one_value_each();
    command.add_option("--size", options.size, "Launch files of the suite")
        .check(one_of({"small", "large"}))
        .show_default()
        .type_name("SIZE");
    command
        .add_option("--kernels|--machine-code", options.machine_code,
                    "Folder with NAME.cubin or sm_NN/NAME.cubin; NVRTC is not needed then")
        .type_name("FOLDER");
}

}  // namespace

void add_validate(const Command& app) {
    const auto options = std::make_shared<Options>();
    const Command command = app.subcommand(
        "validate", "Compare the models with a device over a suite of kernels and all occupancies");
    add_help_end(command, {.text = about,
                           .exit_codes = {exit_limit_reached, exit_interrupted},
                           .examples = examples});
    add_inputs(command, *options);
    command
        .add_option("--model", options->models,
                    "Models, separated by commas, or all (default: those of the papers' tables)")
        .delimiter(',')
        .type_name("MODEL");
    command
        .add_option("--waves", options->waves,
                    "Of a simulated device: how often a core runs as many groups as it holds")
        .check(in_range(1, 1000))
        .show_default()
        .type_name("N");
    command
        .add_option("--repetitions", options->repetitions, "Of a real device: runs, for a median")
        .check(in_range(1, 1000))
        .show_default()
        .type_name("N");
    command
        .add_option("--memory", options->memory_pricing,
                    "λ and Λ of memory instructions, as of 'occupipe predict': by the levels that\n"
                    "answer each (per-access), by one ratio R and one conflict degree D of the\n"
                    "kernel (aggregate), or as the profile says (none)")
        .check(one_of({"per-access", "aggregate", "none"}))
        .show_default()
        .type_name("HOW");
    command.add_option("-o,--output", options->output, "Folder for curves and tables")
        .type_name("DIR");
    add_plot_option(command, options->plot, "throughput over occupancy, a panel per kernel");
    command.add_flag("--force", options->force, "Replace an existing plot or dump");
    add_limit_option(command, options->limit);
    add_measured_options(command, options->measured);
    command.show_first({"--device", "--profile", "--measured", "--draws", "--dump", "--import",
                        "--kernel", "--launch", "--model", "-o,--output", "--plot", "--force"});
    command.callback([options] { validate(*options); });
}

}  // namespace occupipe::cli
