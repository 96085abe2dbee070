// SPDX-License-Identifier: MIT
#include "analysis/tuning/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>

#include "ask/kernels_in.h"
#include "ask/source.h"
#include "bench/cuda/driver/kernel_compiler.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/occupancy.h"
#include "extract/signature.h"
#include "sim/engine/run_progress.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

constexpr std::array<std::pair<Refusal, std::string_view>, 6> refusal_names = {
    {{Refusal::none, "none"},
     {Refusal::shape, "shape"},
     {Refusal::compiler, "compiler"},
     {Refusal::resources, "resources"},
     {Refusal::prediction, "prediction"},
     {Refusal::stopped, "stopped"}}};

constexpr std::int64_t issued_before_estimate = 2'500'000;

// Of this thread.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Constants are variables of the module, arguments of the kernel, or both, as the code has them.
void fit_constants(LaunchPlan& plan, const KernelFile& file, const std::string& name) {
    const isa::Kernel& kernel = extract::find_kernel(file.cubin, name);
    auto& launch = std::get<KernelLaunch>(plan.steps.front());
    const std::size_t parameters = extract::signature_of(kernel, file.ptx).size();
    std::vector<std::string> only_symbols;
    std::erase_if(launch.arguments, [&](const ArgumentPlan& one) {
        const bool drops = launch.arguments.size() > parameters &&
                           one.kind == ArgumentPlan::Kind::buffer &&
                           std::ranges::count(plan.symbols, one.buffer, &BufferPlan::name) > 0;
        if (drops) only_symbols.push_back(one.buffer);
        return drops;
    });
    std::erase_if(plan.symbols, [&](const BufferPlan& one) {
        const bool known =
            std::ranges::count(file.cubin.symbols, one.name, &isa::CubinSymbol::name) > 0;
        if (!known && std::ranges::count(only_symbols, one.name) > 0)
            throw InputError(
                plan.file, one.where, one.name,
                "is not a variable of the code, and the kernel has no argument for it");
        return !known;
    });
}

// Throws InputError where a core cannot hold one group.
void require_room(const isa::Kernel& kernel, const KernelLaunch& launch, int architecture) {
    occupancy(
        occupancy_limits(architecture),
        {.group_threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]),
         .registers = kernel.registers.value_or(0),
         .shared_bytes = isa::own_shared_bytes(kernel, architecture) + launch.shared_bytes});
}

void add(std::string& all, std::string_view text) {
    all += fmt::format("{}:{};", text.size(), text);
}

void add(std::string& all, const BufferPlan& one) {
    add(all, fmt::format("{} {} {} {} {} {} {} {}", one.name, static_cast<int>(one.type), one.count,
                         static_cast<int>(one.fill.kind), one.fill.low, one.fill.high,
                         one.fill.seed, one.fill.path));
}

// All of the launch, and all of the code that it depends on.
std::string identity(const KernelFile& file, const isa::Kernel& kernel, const LaunchPlan& plan) {
    std::string all;
    const auto bytes_of = [](const auto& items) {
        return std::string_view(reinterpret_cast<const char*>(items.data()),
                                items.size() * sizeof(*items.data()));
    };
    add(all, kernel.name);
    add(all, bytes_of(kernel.code));
    add(all, fmt::format("{} {} {} {} {} {} {}", kernel.registers.value_or(-1),
                         kernel.barriers.value_or(0), kernel.stack_bytes.value_or(-1),
                         kernel.shared_bytes, kernel.bank_0_base.value_or(-1),
                         kernel.bank_0_bytes.value_or(-1), kernel.parameters.size()));
    for (const auto* sections : {&file.cubin.constants, &file.cubin.variables})
        for (const auto& [name, content] : *sections) {
            add(all, name);
            add(all, content);
        }
    for (const isa::CubinSymbol& one : file.cubin.symbols)
        add(all, fmt::format("{} {} {} {}", one.name, one.section, one.value, one.size));
    for (const auto& [section, relocations] : file.cubin.relocations)
        for (const isa::Relocation& one : relocations)
            add(all, fmt::format("{} {} {} {} {}", section, one.offset, one.type, one.symbol.name,
                                 one.addend.value_or(0)));
    const auto& launch = std::get<KernelLaunch>(plan.steps.front());
    for (std::size_t i = 0; i < 3; ++i)
        add(all, fmt::format("{} {}", launch.grid[i], launch.block[i]));
    add(all, fmt::format("{}", launch.shared_bytes));
    for (const ArgumentPlan& one : launch.arguments)
        add(all, fmt::format("{} {} {} {}", static_cast<int>(one.kind), one.buffer,
                             static_cast<int>(one.type), one.text));
    for (const BufferPlan& one : plan.buffers) add(all, one);
    add(all, "symbols");
    for (const BufferPlan& one : plan.symbols) add(all, one);
    const std::string hash = content_hash(all);
    return hash.substr(hash.find(':') + 1);
}

// What a row tells of the first model's prediction.
void take(ConfigurationPrediction& row, const Prediction& made) {
    row.limiter = made.limited_by;
    if (made.interval) row.interval = {made.interval->low, made.interval->high};
}

}  // namespace

std::string_view to_string(Refusal refusal) {
    return std::ranges::find(refusal_names, refusal, &std::pair<Refusal, std::string_view>::first)
        ->second;
}

std::optional<Refusal> refusal_named(std::string_view word) {
    const auto found =
        std::ranges::find(refusal_names, word, &std::pair<Refusal, std::string_view>::second);
    if (found == refusal_names.end()) return std::nullopt;
    return found->first;
}

struct Predictor::Made {
    KernelFile file;
    LaunchPlan plan;
};

Predictor::Predictor(const TuningSpace& space, const GpuProfile& profile, PredictorOptions options)
    : space_(space), profile_(profile), options_(std::move(options)) {}

// Sets row.refused to the kind of what it throws.
Predictor::Made Predictor::code_of(ConfigurationPrediction& row) const {
    row.refused = Refusal::shape;
    TunedLaunch launch = launch_of(space_, row.configuration);
    row.refused = Refusal::compiler;
    CodeSource code;
    // Of machine code, tunables change the launch alone.
    if (is_source(launch.plan.source)) code.compiler_options = launch.compiler_options;
    KernelFile file = read_kernels(code, launch.plan, &profile_,
                                   {.line_numbers = false, .other_kernels = false}, options_.cache);
    row.refused = Refusal::prediction;
    const std::string& name = std::get<KernelLaunch>(launch.plan.steps.front()).kernel;
    fit_constants(launch.plan, file, name);
    const isa::Kernel& kernel = extract::find_kernel(file.cubin, name);
    row.code = identity(file, kernel, launch.plan);
    row.refused = Refusal::resources;
    require_room(kernel, std::get<KernelLaunch>(launch.plan.steps.front()),
                 *file.cubin.architecture);
    row.refused = Refusal::none;
    return {std::move(file), std::move(launch.plan)};
}

void Predictor::execute_and_model(ConfigurationPrediction& row, const Made& made, Stage stage) {
    const double began = processor_seconds();
    Extraction extraction;
    if (options_.memory.pricing != MemoryPricing::none) extraction.memory_cores = profile_.cores;
    Reading reading;
    reading.buffers = &buffers_;
    reading.effort = stage == Stage::coarse ? Effort::coarse : Effort::hurried;
    reading.execute = [&](extract::PlanRun& run, extract::PlanOptions plan) {
        plan.threads = 1;
        if (options_.stop) plan.progress = [&](const auto&) { return !options_.stop(); };
        return run.execute(plan);
    };
    KernelIn in = execute_code(made.file, std::get<KernelLaunch>(made.plan.steps.front()).kernel,
                               extraction, made.plan, &profile_, reading);
    const double executed = processor_seconds();
    row.execute_seconds = executed - began;
    const Ready kernel = ready(loaded_kernel(space_.source, std::move(in)), profile_,
                               options_.changes, options_.memory);
    const Told at = told(kernel, *kernel.kernel().launch, {.run = options_.run, .threads = 1});
    require_numbers(at);
    if (stage == Stage::coarse)
        ask_coarsely(row, at);
    else
        ask_models(row, at);
    row.model_seconds = processor_seconds() - executed;
}

ModelOptions Predictor::model_options() const {
    ModelOptions all = options_.run.options();
    all.max_simulated = options_.max_simulated;
    all.exact = issued_before_estimate;
    all.checkpoint = [this](const RunProgress&) {
        if (options_.stop && options_.stop()) throw Interrupted("while simulating");
    };
    return all;
}

void Predictor::ask_coarsely(ConfigurationPrediction& row, const Told& at) const {
    constexpr std::int64_t first_waves = 2, waves = 6;
    const std::int64_t wave = std::int64_t{profile_.cores} * at.launch.concurrent_groups;
    const auto of_waves = [&](std::int64_t count) {
        Launch launch = at.launch;
        launch.groups = std::min(launch.groups, count * wave);
        return analysis::predict(at_launch(at.mean, launch), *options_.models.front(),
                                 model_options());
    };
    const Prediction some = of_waves(waves);
    double seconds = some.seconds;
    if (const std::int64_t others = at.launch.groups - waves * wave; others > 0)
        seconds += static_cast<double>(others) * (seconds - of_waves(first_waves).seconds) /
                   static_cast<double>((waves - first_waves) * wave);
    row.coarse = std::sqrt(
        seconds * analysis::predict(at, find_model(coarse_bound), model_options()).seconds);
    row.limiter = some.limited_by;
}

void Predictor::ask_models(ConfigurationPrediction& row, const Told& at) const {
    const ModelOptions asked = model_options();
    for (std::size_t i = 0; i < options_.models.size(); ++i) {
        try {
            const Prediction of_model = analysis::predict(at, *options_.models[i], asked);
            row.predicted[i] = of_model.seconds;
            if (i == 0) take(row, of_model);
        } catch (const InputError& error) {
            if (options_.models.size() == 1) throw;
            if (i > 0) continue;
            row.refused = Refusal::prediction;
            row.refusal = error.what();
        }
    }
}

bool Predictor::find(ConfigurationPrediction& row, Stage stage) const {
    const std::scoped_lock lock(mutex_);
    const auto known = known_.find({stage, row.code});
    if (known == known_.end()) return false;
    const ConfigurationPrediction& other = known->second;
    row.predicted = other.predicted;
    row.interval = other.interval;
    row.coarse = other.coarse;
    row.limiter = other.limiter;
    row.refused = other.refused;
    row.refusal = other.refusal;
    row.at_limit = other.at_limit;
    row.known = true;
    return true;
}

void Predictor::remember(const ConfigurationPrediction& row, Stage stage) {
    if (row.code.empty() || row.refused == Refusal::stopped) return;
    const std::scoped_lock lock(mutex_);
    known_.try_emplace({stage, row.code}, row);
}

ConfigurationPrediction Predictor::predict(const Configuration& configuration, Stage stage) {
    ConfigurationPrediction row;
    row.configuration = configuration;
    row.predicted.resize(options_.models.size());
    const double began = processor_seconds();
    try {
        if (options_.stop && options_.stop()) throw Interrupted("before it began");
        const auto made = [&] {
            Made code = code_of(row);
            row.compile_seconds = processor_seconds() - began;
            return code;
        }();
        if (find(row, stage)) return row;
        row.refused = Refusal::prediction;
        execute_and_model(row, made, stage);
        if (row.refusal.empty()) row.refused = Refusal::none;
        remember(row, stage);
    } catch (const InputError& error) {
        row.refusal = error.what();
        if (row.refused == Refusal::none) row.refused = Refusal::prediction;
        remember(row, stage);
    } catch (const LimitReached& error) {
        row.refusal = error.what();
        row.at_limit = true;
        remember(row, stage);
    } catch (const isa::Stopped&) {
        row.refused = Refusal::stopped;
    } catch (const Interrupted&) {
        row.refused = Refusal::stopped;
    }
    if (row.refused == Refusal::stopped) row.refusal = "not predicted: interrupted, or out of time";
    return row;
}

}  // namespace occupipe::analysis
