// SPDX-License-Identifier: MIT
// Rows of a sweep, one after the other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "analysis/sweep/sweep.h"
#include "analysis/sweep/sweep_text.h"
#include "ask/answer.h"
#include "ask/kernels_in.h"
#include "sim/engine/run_progress.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

// Gives the kernel's outermost loop another trip count.
void set_iterations(Kernel& kernel, std::int64_t count) {
    Repeat* loop = nullptr;
    std::size_t loops = 0;
    for (WarpProgram& program : kernel.warps)
        for (KernelItem& item : program.instructions)
            if (auto* const repeat = std::get_if<Repeat>(&item)) {
                loop = repeat;
                ++loops;
            }
    if (loops != 1)
        throw InputError(fmt::format("iterations: kernel '{}' has {} outermost loops, not one",
                                     kernel.name, loops));
    if (kernel.memory && loop->count != count)
        throw InputError(fmt::format(
            "iterations: what kernel '{}' says about its memory is that of {} iterations",
            kernel.name, loop->count));
    loop->count = count;
}

// The same table cell for a number that there is not.
void append_numbers(const Prediction& p, std::string& csv) {
    fmt::format_to(std::back_inserter(csv), ",{},{},{},{},{},{},", p.groups_per_core, p.cycles,
                   p.seconds, p.warps_per_cycle, p.cycles_per_run, p.instructions_per_cycle);
    csv += field(p.limited_by);
    csv += ',';
    std::string busy;
    for (const Bound& bound : p.bounds)
        fmt::format_to(std::back_inserter(busy), "{}{}={}", busy.empty() ? "" : " ", bound.name,
                       bound.utilisation);
    csv += field(busy);
    csv += ',';
}

bool finite(const Prediction& p) {
    return std::isfinite(p.cycles) && std::isfinite(p.seconds) &&
           std::isfinite(p.warps_per_cycle) && std::isfinite(p.cycles_per_run) &&
           std::isfinite(p.instructions_per_cycle) &&
           std::ranges::all_of(p.bounds,
                               [](const Bound& one) { return std::isfinite(one.utilisation); });
}

}  // namespace

// What one combination of settings makes of a kernel and a profile.
struct SweepWorker::Variant {
    std::int64_t pair = -1;
    std::int64_t number = -1;
    // Of the pair.
    std::optional<LoadedKernel> code;  // that was executed
    std::string pair_refused;          // why it could not be
    // Of the variant.
    std::string refused;  // why there is nothing to predict with
    std::string cells;    // ",saxpy,rtx-2070,…" up to the launch
    std::optional<Ready> ready;
    RunQuestion run;
    std::vector<const Model*> models;
    std::optional<Told> told;  // the launch of the last row
};

SweepWorker::SweepWorker(const Sweep& sweep, std::function<bool()> stopped, unsigned threads,
                         std::function<void(const std::string&)> warn)
    : sweep_(sweep),
      stopped_(std::move(stopped)),
      threads_(threads),
      warn_(std::move(warn)),
      variant_(std::make_unique<Variant>()) {
    variant_->models = find_models(sweep.spec().models);
}

SweepWorker::~SweepWorker() = default;

// Executes machine code, unless another worker has.
void SweepWorker::take_pair(std::int64_t pair) {
    Variant& now = *variant_;
    if (now.pair == pair) return;
    now.pair = pair;
    now.number = -1;
    now.code.reset();
    now.pair_refused.clear();
    const Sweep::Pair& of = sweep_.pairs_[static_cast<std::size_t>(pair)];
    if (!of.code) return;
    const SweepLimit& limit = sweep_.limit();
    try {
        const auto in = sweep_.code_.kernel_in(
            of.code, sweep_.profiles_[of.profile], sweep_.spec().memory != MemoryPricing::none,
            {.threads = threads_,
             .step_budget = limit.seconds > 0 ? 0 : static_cast<std::uint64_t>(limit.instructions),
             .seconds = limit.seconds,
             .stopped = stopped_});
        if (warn_) std::ranges::for_each(in->warnings, warn_);
        now.code = loaded_kernel(of.code->file->path, in);
    } catch (const InputError& error) {
        now.pair_refused = error.what();
    } catch (const LimitReached&) {
        now.pair_refused = fmt::format("no answer within --limit {}", limit.text);
    }
}

void SweepWorker::prepare(std::int64_t pair, std::int64_t number) {
    Variant& now = *variant_;
    if (now.pair == pair && now.number == number) return;
    take_pair(pair);
    const SweepSpec& spec = sweep_.spec();
    const Sweep::Pair& of = sweep_.pairs_[static_cast<std::size_t>(pair)];
    now.number = number;
    now.refused = now.pair_refused;
    now.ready.reset();
    now.told.reset();
    now.run = {};

    // The last of them changes fastest.
    std::int64_t rest = number;
    const auto take = [&rest](const auto& values) {
        const auto size = static_cast<std::int64_t>(values.size());
        const auto& value = values[static_cast<std::size_t>(rest % size)];
        rest /= size;
        return value;
    };
    if (!spec.selects.empty()) now.run.select = take(spec.selects);
    if (!spec.policies.empty()) now.run.policy = take(spec.policies);
    if (!spec.orders.empty()) now.run.order = take(spec.orders);
    std::optional<std::int64_t> iterations;
    if (!spec.iterations.empty()) iterations = take(spec.iterations);
    std::vector<std::string> values(spec.set.size());
    for (std::size_t i = spec.set.size(); i-- > 0;) values[i] = take(spec.set[i].values);

    const SweepKernel& asked = spec.kernels[of.kernel];
    now.cells = "," + field(asked.name.text);
    for (const std::string& name : sweep_.parameters_) {
        now.cells += ',';
        const auto at = std::ranges::find(asked.parameters, name) - asked.parameters.begin();
        if (std::cmp_less(at, asked.parameters.size()))
            now.cells += field(asked.combinations[of.combination][static_cast<std::size_t>(at)]);
    }
    now.cells += "," + field(spec.profiles[of.profile].text);
    std::vector<std::string> what_ifs;
    for (std::size_t i = 0; i < values.size(); ++i) {
        now.cells += "," + values[i];
        what_ifs.push_back(spec.set[i].name.text + "=" + values[i]);
    }
    if (iterations) now.cells += fmt::format(",{}", *iterations);
    if (now.run.order) now.cells += fmt::format(",{}", to_string(*now.run.order));
    if (now.run.policy) now.cells += fmt::format(",{}", to_string(*now.run.policy));
    if (now.run.select) now.cells += fmt::format(",{}", to_string(*now.run.select));
    if (!now.refused.empty() || (asked.code && !now.code)) return;

    try {
        if (iterations && now.code)
            throw InputError("iterations: machine code executes as often as its launch has it do");
        LoadedKernel source;
        if (now.code) {
            source = *now.code;
        } else {
            Kernel kernel = sweep_.kernels_[of.kernel];
            if (iterations) set_iterations(kernel, *iterations);
            source = loaded_kernel(asked.name.text, std::move(kernel));
        }
        ProfileChanges changes = sweep_.changes_of(*source.kernel);
        changes.what_ifs = std::move(what_ifs);
        now.ready = ready(std::move(source), sweep_.profiles_[of.profile], changes,
                          {.pricing = spec.memory});
        // What launches find does not depend on settings.
        if (now.code) now.code->reuse = now.ready->source.reuse;
    } catch (const InputError& error) {
        now.refused = error.what();
    }
}

std::int64_t SweepWorker::append(std::int64_t first, std::int64_t end, std::string& csv) {
    using Clock = std::chrono::steady_clock;
    Variant& now = *variant_;
    const SweepSpec& spec = sweep_.spec();
    const auto models = static_cast<std::int64_t>(now.models.size());
    std::int64_t refused = 0;
    for (std::int64_t row = first; row < end; ++row) {
        if (stopped_()) throw Interrupted("interrupted");
        const auto& starts = sweep_.first_row_;
        const auto pair = std::upper_bound(starts.begin(), starts.end(), row) - starts.begin() - 1;
        const Sweep::Pair& of = sweep_.pairs_[static_cast<std::size_t>(pair)];
        const std::int64_t within = row - starts[static_cast<std::size_t>(pair)];
        const auto launches = static_cast<std::int64_t>(of.launches.size());
        prepare(pair, within / (launches * models));
        const LaunchChoice& choice =
            of.launches[static_cast<std::size_t>(within / models % launches)];
        const Model& model = *now.models[static_cast<std::size_t>(within % models)];

        std::optional<Launch> launch;
        std::vector<std::string> fitted;
        std::optional<Prediction> prediction;
        std::string reason = !now.refused.empty() ? now.refused : of.launches_refused;
        if (reason.empty()) {
            try {
                const Ready& ready = *now.ready;
                if (now.code && choice.group_warps) throw InputError(no_group_warps_of_code);
                launch = chosen_launch(choice, ready.kernel(), ready.profile, fitted);
                if (!now.told || now.told->launch != *launch)
                    now.told = told(ready, *launch, {.threads = 1});
                ModelOptions options = now.run.options();
                options.max_simulated = sweep_.limit().instructions;
                const Clock::time_point begin = Clock::now();
                options.checkpoint = [&](const RunProgress&) {
                    if (stopped_()) throw Interrupted("interrupted");
                    const std::chrono::duration<double> elapsed = Clock::now() - begin;
                    if (sweep_.limit().seconds > 0 && elapsed.count() > sweep_.limit().seconds)
                        throw LimitReached("too long");
                };
                prediction = predict(*now.told, model, options);
                if (!finite(*prediction)) reason = "the model's result is not a finite number";
            } catch (const InputError& error) {
                reason = error.what();
            } catch (const LimitReached&) {
                reason = fmt::format("no answer within --limit {}", sweep_.limit().text);
            }
        }
        fmt::format_to(std::back_inserter(csv), "{}{}", row, now.cells);
        const auto cell = [&](const auto& known, auto chosen) {
            csv += ',';
            if (launch)
                fmt::format_to(std::back_inserter(csv), "{}", known);
            else if (chosen)
                fmt::format_to(std::back_inserter(csv), "{}", *chosen);
        };
        const Launch shown = launch.value_or(Launch());
        cell(shown.group_warps, choice.group_warps);
        cell(shown.concurrent_groups, choice.concurrent_groups);
        cell(shown.groups, choice.groups);
        csv += ',';
        csv += model.name;
        if (!reason.empty()) {
            ++refused;
            csv += ",,,,,,,,," + field(reason);
            if (spec.assumptions) csv += ',';
        } else {
            append_numbers(*prediction, csv);
            if (spec.assumptions) {
                csv += ',';
                Notes of_launch;
                add_notes(of_launch, Note::Kind::fitted, fitted);
                csv += field(
                    fmt::format("{}", fmt::join(texts(notes_of(*now.ready, of_launch, *now.told,
                                                               *prediction, model, now.run)),
                                                "; ")));
            }
        }
        csv += '\n';
    }
    return refused;
}

}  // namespace occupipe::analysis
