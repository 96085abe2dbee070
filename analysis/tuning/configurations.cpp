// SPDX-License-Identifier: MIT
#include "analysis/tuning/configurations.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <mutex>

#include "ask/kernels_in.h"
#include "ask/source.h"
#include "core/error.h"
#include "core/parallel.h"
#include "extract/signature.h"
#include "sim/engine/run_progress.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

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
            throw InputError(plan.file, one.where, one.name,
                             "is no variable of the code, and the kernel has no argument for it");
        return !known;
    });
}

void predict_row(PredictedConfiguration& row, const TuningSpace& space, const GpuProfile& profile,
                 const std::vector<const Model*>& models, const HeldOptions& options) {
    const double began = processor_seconds();
    TunedLaunch launch = launch_of(space, row.configuration);
    CodeSource code;
    code.compiler_options = launch.compiler_options;
    const KernelFile file = read_kernels(code, launch.plan, &profile);
    fit_constants(launch.plan, file, space.kernel);
    Extraction extraction;
    if (options.memory.pricing != MemoryPricing::none) extraction.memory_cores = profile.cores;
    Reading reading;
    reading.execute = [&](extract::PlanRun& run, extract::PlanOptions plan) {
        plan.threads = 1;
        if (options.stop) plan.progress = [&](const auto&) { return !options.stop(); };
        return run.execute(plan);
    };
    KernelIn in = execute_code(file, space.kernel, extraction, launch.plan, &profile, reading);
    const double executed = processor_seconds();
    row.code_seconds = executed - began;
    const Ready kernel =
        ready(loaded_kernel(space.source, std::move(in)), profile, options.changes, options.memory);
    const Told at = told(kernel, *kernel.kernel().launch, {.run = options.run, .threads = 1});
    require_numbers(at);
    ModelOptions model_options = options.run.options();
    model_options.max_simulated = options.max_simulated;
    model_options.checkpoint = [&](const RunProgress&) {
        if (options.stop && options.stop()) throw Interrupted("while simulating");
    };
    for (std::size_t i = 0; i < models.size(); ++i) {
        try {
            const Prediction made = predict(at, *models[i], model_options);
            row.predicted[i] = made.seconds;
            if (i == 0) row.limiter = made.limited_by;
        } catch (const InputError& error) {
            if (models.size() == 1) throw;
            if (i == 0) row.refusal = error.what();
        }
    }
    row.model_seconds = processor_seconds() - executed;
}

}  // namespace

HeldAgainst held_against(const TuningSpace& space, const MeasuredRuns& runs,
                         std::span<const std::size_t> drawn, const GpuProfile& profile,
                         const HeldOptions& options) {
    HeldAgainst held{.gpu = profile.device.name,
                     .device = runs.device,
                     .clock_hz = profile.clock_hz,
                     .models = find_models(options.models)};
    held.excluded = runs.excluded;
    for (const MeasuredRun& run : runs.runs) ++(run.seconds ? held.valid : held.failed);
    for (const std::size_t index : drawn)
        held.rows.push_back({.configuration = runs.runs[index].configuration,
                             .measured = *runs.runs[index].seconds,
                             .predicted = std::vector<std::optional<double>>(held.models.size())});
    std::mutex telling;
    std::atomic<bool> stopped = false;
    parallel_for(
        held.rows.size(),
        [&](std::size_t i) {
            const auto stop = [&] {
                stopped = true;
                held.rows[i].refusal = "not predicted: interrupted, or out of time";
            };
            if (stopped || (options.stop && options.stop())) return stop();
            try {
                predict_row(held.rows[i], space, profile, held.models, options);
            } catch (const InputError& error) {
                held.rows[i].refusal = error.what();
            } catch (const isa::Stopped&) {
                return stop();
            } catch (const Interrupted&) {
                return stop();
            }
            const std::scoped_lock lock(telling);
            if (options.done) options.done(held.rows[i]);
        },
        options.threads);
    held.stopped = stopped;
    return held;
}

std::vector<ScoredTime> scored(const HeldAgainst& held, std::size_t model) {
    std::vector<ScoredTime> times;
    for (const PredictedConfiguration& row : held.rows)
        if (row.predicted[model])
            times.push_back({.measured = row.measured, .predicted = *row.predicted[model]});
    return times;
}

}  // namespace occupipe::analysis
