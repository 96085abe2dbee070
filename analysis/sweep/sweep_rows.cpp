// SPDX-License-Identifier: MIT
// Rows of a sweep, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/sweep/sweep.h"
#include "analysis/sweep/sweep_text.h"
#include "ask/prepared_launch.h"
#include "ask/weak_values.h"
#include "ask/what_if.h"
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
        throw InputError(
            fmt::format("iterations: what kernel '{}' tells of its memory is that of {} iterations",
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
    std::shared_ptr<const KernelIn> in;  // of machine code
    std::string pair_refused;            // why it could not be executed
    std::map<std::tuple<int, int, std::int64_t, int>, ToldKernel> told;  // by launch and cores
    // Of the variant.
    std::string refused;  // why there is nothing to predict with
    std::string cells;    // ",saxpy,rtx-2070,…" up to the launch
    Kernel kernel;        // before memory was priced: its launch and groups
    GpuProfile profile;   // the same
    GpuProfile offered;   // before anything stood in
    std::vector<std::string> assumptions;
    ModelOptions options;
    std::vector<const Model*> models;
    // Of the launch, where the kernel is machine code.
    std::optional<Launch> followed;
    std::vector<std::string> said;
    PricedMemory memory;
    std::optional<Problem> problem;  // of memory; absent until a launch is known
    std::string lacking;             // why the models cannot be asked: no numbers of an instruction
    std::vector<std::string> weak;
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
    now.in.reset();
    now.told.clear();
    now.pair_refused.clear();
    const Sweep::Pair& of = sweep_.pairs_[static_cast<std::size_t>(pair)];
    if (!of.code) return;
    const SweepLimit& limit = sweep_.limit();
    try {
        now.in = sweep_.code_.kernel_in(
            of.code, sweep_.profiles_[of.profile], sweep_.spec().memory != MemoryPricing::none,
            {.threads = threads_,
             .step_budget = limit.seconds > 0 ? 0 : static_cast<std::uint64_t>(limit.instructions),
             .seconds = limit.seconds,
             .stopped = stopped_});
        if (warn_) std::ranges::for_each(now.in->warnings, warn_);
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
    now.lacking.clear();
    now.followed.reset();
    now.options = ModelOptions{};
    now.options.max_simulated = sweep_.limit().instructions;

    // The last of them changes fastest.
    std::int64_t rest = number;
    const auto take = [&rest](const auto& values) {
        const auto size = static_cast<std::int64_t>(values.size());
        const auto& value = values[static_cast<std::size_t>(rest % size)];
        rest /= size;
        return value;
    };
    if (!spec.selects.empty()) now.options.select = take(spec.selects);
    if (!spec.policies.empty()) now.options.policy = take(spec.policies);
    if (!spec.orders.empty()) now.options.order = take(spec.orders);
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
    if (now.options.order) now.cells += fmt::format(",{}", to_string(*now.options.order));
    if (now.options.policy) now.cells += fmt::format(",{}", to_string(*now.options.policy));
    if (now.options.select) now.cells += fmt::format(",{}", to_string(*now.options.select));
    if (!now.refused.empty() || (asked.code && !now.in)) return;

    now.kernel = now.in ? now.in->kernel() : sweep_.kernels_[of.kernel];
    try {
        if (iterations && now.in)
            throw InputError("iterations: machine code executes as often as its launch has it do");
        if (iterations) set_iterations(now.kernel, *iterations);
        ProfileChanges changes = sweep_.changes_of(now.kernel);
        changes.what_ifs = std::move(what_ifs);
        ProfileForKernel ready =
            profile_for_kernel(now.kernel, sweep_.profiles_[of.profile], changes);
        now.profile = std::move(ready.profile);
        now.offered = std::move(ready.offered);
        now.assumptions.clear();
        if (now.in) now.assumptions = now.in->assumptions;
        std::ranges::move(ready.asked, std::back_inserter(now.assumptions));
        std::ranges::move(ready.unasked, std::back_inserter(now.assumptions));
        if (now.in) {
            if (std::string said = other_architecture(*now.in, now.profile); !said.empty())
                now.assumptions.push_back(std::move(said));
            return;  // what it asks of the memory depends on the launch
        }
        now.memory = price_memory(now.kernel, now.profile, spec.memory, {});
        now.said.clear();
        weigh(asked.name.text);
    } catch (const InputError& error) {
        now.refused = error.what();
    }
}

// What models look at, once memory is priced.
void SweepWorker::weigh(const std::string& file) {
    Variant& now = *variant_;
    now.lacking.clear();
    now.problem.reset();
    try {
        require_timings(now.memory.profile, now.memory.kernel, file, now.offered);
    } catch (const InputError& error) {
        now.lacking = error.what();
        return;
    }
    now.weak = weak_values(now.memory.kernel, now.memory.profile);
    now.options.memory.dram_bytes_per_warp.reset();
    if (sweep_.spec().memory != MemoryPricing::none)
        now.options.memory.dram_bytes_per_warp = dram_bytes_per_warp(now.memory);
}

// The reuse that this launch of machine code finds.
void SweepWorker::follow(const Launch& launch) {
    Variant& now = *variant_;
    if (now.followed == launch) return;
    const PrepareOptions how{.pricing = sweep_.spec().memory, .threads = 1};
    constexpr std::size_t most_told = 64;  // a kernel may be large
    if (now.told.size() >= most_told) now.told.clear();
    const auto [at, fresh] = now.told.try_emplace(
        {launch.group_warps, launch.concurrent_groups, launch.groups, now.profile.cores});
    if (fresh) at->second = told_for(now.in.get(), now.kernel, now.profile, launch, how);
    PreparedLaunch one = prepared_launch(now.in.get(), at->second, now.profile, launch, how);
    now.memory = std::move(one.memory);
    now.said = std::move(one.said);
    weigh(sweep_.pairs_[static_cast<std::size_t>(now.pair)].code->file->path);
    now.followed = launch;
}

std::string SweepWorker::assumptions_of(const Prediction& prediction, const Launch& launch,
                                        const std::vector<std::string>& fitted) const {
    const Variant& now = *variant_;
    std::string said;
    const auto add = [&said](const std::string& one) {
        said += said.empty() ? "" : "; ";
        said += one;
    };
    std::ranges::for_each(prediction.assumptions, add);
    std::ranges::for_each(now.assumptions, add);
    std::ranges::for_each(fitted, add);
    if (now.in) {
        std::ranges::for_each(now.said, add);
    } else {
        if (const std::string other =
                other_concurrency(now.kernel, now.memory, launch, sweep_.spec().memory);
            !other.empty())
            add(other);
        std::ranges::for_each(now.memory.said, add);
    }
    std::ranges::for_each(now.weak, add);
    if (now.in)
        if (const std::string warning =
                shorter_than_absent(*now.in, now.profile, launch, prediction.cycles);
            !warning.empty())
            add(warning);
    return said;
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
                if (now.in && choice.group_warps) throw InputError(no_group_warps_of_code);
                launch = chosen_launch(choice, now.kernel, now.profile, fitted);
                if (now.in) follow(*launch);
                if (!now.lacking.empty()) throw InputError(now.lacking);
                ModelOptions options = now.options;
                const Clock::time_point begin = Clock::now();
                options.checkpoint = [&](const RunProgress&) {
                    if (stopped_()) throw Interrupted("interrupted");
                    const std::chrono::duration<double> elapsed = Clock::now() - begin;
                    if (sweep_.limit().seconds > 0 && elapsed.count() > sweep_.limit().seconds)
                        throw LimitReached("too long");
                };
                if (!now.problem)
                    now.problem.emplace(now.memory.profile, now.memory.kernel, *launch);
                else if (now.problem->launch() != *launch)
                    now.problem = now.problem->at(*launch);
                prediction = model.predict(*now.problem, options);
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
                csv += field(assumptions_of(*prediction, *launch, fitted));
            }
        }
        csv += '\n';
    }
    return refused;
}

}  // namespace occupipe::analysis
