// SPDX-License-Identifier: MIT
#include "program/predict_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "ask/answer.h"
#include "ask/kernels_in.h"
#include "ask/source.h"
#include "core/error.h"
#include "extract/both_observers.h"
#include "isa/machine/launch.h"
#include "sim/models/registry.h"

namespace occupipe::program {
namespace {

// Hands the groups that are wanted on to another observer, and counts what they execute.
class Watched : public isa::Observer {
public:
    Watched(isa::Observer& observer, std::size_t instructions)
        : observer_(observer), instructions_(instructions) {}

    // Ascending; empty: all.
    void want(std::vector<std::uint64_t> groups) { wanted_ = std::move(groups); }

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override {
        if (!wanted_.empty() && !std::ranges::binary_search(wanted_, group)) return nullptr;
        std::unique_ptr<Group> one = rested();
        if (!one) one = std::make_unique<Group>(instructions_);
        one->observer = observer_.begin(group);
        return one;
    }

    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override {
        std::unique_ptr<Group> one(&dynamic_cast<Group&>(*observer.release()));
        if (one->observer) observer_.end(group, std::move(one->observer));
        const std::scoped_lock lock(mutex_);
        ++groups_;
        resting_.push_back(std::move(one));
    }

    // `all` with the watched groups' counts in place of all groups'.
    isa::Execution of_watched(isa::Execution all) const {
        const std::uint64_t group_warps = all.groups == 0 ? 0 : all.warps / all.groups;
        all.counts.assign(instructions_, {});
        for (const auto& group : resting_)
            for (std::size_t i = 0; i < instructions_; ++i) {
                all.counts[i].warps += group->counts[i].warps;
                all.counts[i].lanes += group->counts[i].lanes;
            }
        all.groups = groups_;
        all.warps = groups_ * group_warps;
        all.warp_instructions = all.lane_instructions = 0;
        for (const isa::InstructionCount& one : all.counts) {
            all.warp_instructions += one.warps;
            all.lane_instructions += one.lanes;
        }
        return all;
    }

private:
    struct Group : isa::GroupObserver {
        explicit Group(std::size_t instructions) : counts(instructions) {}

        void steps(std::uint32_t warp, std::span<const isa::Executed> executed) override {
            for (const isa::Executed& one : executed) {
                if (one.instruction >= counts.size()) continue;
                ++counts[one.instruction].warps;
                counts[one.instruction].lanes += isa::count_of(one.active);
            }
            if (observer) observer->steps(warp, executed);
        }
        void access(std::uint32_t warp, std::size_t instruction,
                    const isa::MemoryAccess& access) override {
            if (observer) observer->access(warp, instruction, access);
        }
        void barrier(bool all) override {
            if (observer) observer->barrier(all);
        }

        std::unique_ptr<isa::GroupObserver> observer;
        std::vector<isa::InstructionCount> counts;  // of all groups that it was of
    };

    std::unique_ptr<Group> rested() {
        const std::scoped_lock lock(mutex_);
        if (resting_.empty()) return nullptr;
        std::unique_ptr<Group> one = std::move(resting_.back());
        resting_.pop_back();
        return one;
    }

    isa::Observer& observer_;
    std::vector<std::uint64_t> wanted_;
    std::size_t instructions_;
    std::mutex mutex_;                             // of what follows
    std::vector<std::unique_ptr<Group>> resting_;  // of no group now
    std::uint64_t groups_ = 0;
};

// The launch as a plan of its own: what it executes is the program's, so that its arguments are
// bytes that nobody reads.
LaunchPlan plan_of(const LaunchToPredict& launch) {
    KernelLaunch one;
    one.kernel = launch.kernel->name;
    one.grid = launch.shape.grid;
    one.block = launch.shape.block;
    one.shared_bytes = launch.shape.dynamic_shared_bytes;
    for (const isa::Parameter& parameter : launch.kernel->parameters) {
        ArgumentPlan argument;
        argument.kind = ArgumentPlan::Kind::bytes;
        argument.content.resize(static_cast<std::size_t>(parameter.size));
        one.arguments.push_back(std::move(argument));
    }
    LaunchPlan plan;
    plan.steps.emplace_back(std::move(one));
    return plan;
}

// What executed the launch threw, told from what stands in the way of predicting it.
struct ExecutionThrew {
    std::exception_ptr what;
};

// The launch on its way through ask: the groups that ask wants watched, first; then, with those
// that it wants beside them, all others.
class OneExecution {
public:
    explicit OneExecution(const LaunchToPredict& launch) : launch_(launch) {}

    std::vector<extract::LaunchResult> run(extract::PlanRun& run,
                                           const extract::PlanOptions& options) {
        const KernelLaunch& launch = *options.last;
        Watched watched(*options.observe(launch), launch_.kernel->code.size());
        // In order, so that the first group that fails is told: of the first ones number 0 alone.
        const std::vector<std::uint64_t> first(options.groups_of_last.empty() ? 0 : 1);
        execute(first, watched);
        std::vector<std::uint64_t> more = options.more_groups();
        if (!first.empty()) {
            std::vector<std::uint64_t> rest = launch_.sample ? more : others(first);
            if (more.empty()) more = {launch_groups()};  // none of them
            watched.want(std::move(more));
            if (!rest.empty()) execute(rest, watched);
            options.more_groups();  // looks at what was seen
        }
        extract::LaunchResult result;
        result.launch = &launch;
        result.kernel = &run.kernel_of(launch);
        result.times = 1;
        result.occupancy = run.occupancy_of(launch);
        result.execution = watched.of_watched(execution_);
        std::vector<extract::LaunchResult> results;
        results.push_back(std::move(result));
        return results;
    }

    bool ended() const { return ended_; }
    isa::Execution& execution() { return execution_; }

    // Without anybody watching: what is left of it.
    void execute_unwatched() {
        isa::ExecutionOptions options = launch_.options;
        if (done_ > 0) options.groups = others({0});
        extract::add(execution_, isa::execute(*launch_.module, *launch_.kernel, launch_.shape,
                                              launch_.parameters, options, launch_.observer));
        ended_ = true;
    }

    std::uint64_t launch_groups() const {
        const auto& grid = launch_.shape.grid;
        return std::uint64_t{grid[0]} * grid[1] * grid[2];
    }

private:
    std::vector<std::uint64_t> others(const std::vector<std::uint64_t>& done) const {
        std::vector<std::uint64_t> all(launch_groups()), rest;
        std::iota(all.begin(), all.end(), std::uint64_t{0});
        std::ranges::set_difference(all, done, std::back_inserter(rest));
        return rest;
    }

    void execute(const std::vector<std::uint64_t>& groups, Watched& watched) {
        isa::ExecutionOptions options = launch_.options;
        options.groups = groups;
        extract::BothObservers both(launch_.observer, &watched);
        try {
            extract::add(execution_, isa::execute(*launch_.module, *launch_.kernel, launch_.shape,
                                                  launch_.parameters, options, &both));
        } catch (...) {
            throw ExecutionThrew{std::current_exception()};
        }
        done_ += groups.empty() ? launch_groups() : groups.size();
        ended_ = done_ >= launch_groups();
    }

    const LaunchToPredict& launch_;
    isa::Execution execution_;
    std::uint64_t done_ = 0;  // groups
    bool ended_ = false;
};

PredictedLaunch predict_on(const GpuProfile& profile, analysis::KernelIn in) {
    PredictedLaunch result;
    const double warps = static_cast<double>(in.seen.groups) * in.occupancy.group_warps;
    const analysis::Ready ready =
        analysis::ready(analysis::loaded_kernel("the program", std::move(in)), profile, {}, {});
    const analysis::Told told = analysis::told(ready, *ready.kernel().launch, {});
    analysis::require_numbers(told);
    const Model& model = find_model("pipeline");
    const Prediction made = analysis::predict(told, model, {.estimate = true});
    result.seconds = made.seconds;
    if (made.interval && made.seconds > 0) result.spread = made.interval->high / made.seconds;
    result.limited_by = made.limited_by;
    if (told.priced->dram_bytes_per_warp)
        result.dram_bytes = *told.priced->dram_bytes_per_warp * warps;
    result.notes = analysis::texts(analysis::too_short(ready, *ready.kernel().launch, made.cycles));
    return result;
}

}  // namespace

ExecutedAndPredicted execute_and_predict(const LaunchToPredict& launch,
                                         const std::vector<GpuProfile>& profiles) {
    ExecutedAndPredicted result;
    OneExecution once(launch);
    const LaunchPlan plan = plan_of(launch);
    analysis::KernelsInOptions options;
    options.kernel = launch.kernel->name;
    options.memory_cores = profiles.front().cores;
    options.sample_streams = true;
    if (launch.sample) options.most_memory_instructions = 0;
    options.earlier = launch.earlier;
    options.earlier_bytes = launch.earlier_bytes;
    const bool together = std::ranges::any_of(
        *launch.module->decoded(*launch.kernel), [&](const isa::Instruction& one) {
            return isa::LaunchBank::names_grid_workspace(one, *launch.file->cubin.architecture);
        });
    if (together) options.sample.reset();
    options.execute = [&](extract::PlanRun& run, const extract::PlanOptions& plan_options) {
        return once.run(run, plan_options);
    };
    std::string why_not;
    std::optional<analysis::ExecutedLaunch> executed;
    try {
        executed = analysis::executed_launch(plan, *launch.file, options);
    } catch (const ExecutionThrew& threw) {
        std::rethrow_exception(threw.what);
    } catch (const std::exception& error) {
        why_not = error.what();
    }
    if (!once.ended() && !launch.sample) once.execute_unwatched();
    result.groups = once.launch_groups();
    result.execution = std::move(once.execution());
    if (executed && executed->in.memory) {
        const extract::MemoryTrace& memory = *executed->in.memory;
        result.lines = memory.ascending_global_lines();
        const auto seen = static_cast<double>(std::max<std::size_t>(1, memory.groups().size()));
        result.lines_each = static_cast<double>(memory.one_line_in()) *
                            std::max(1.0, static_cast<double>(executed->in.seen.groups) / seen);
    }
    for (const GpuProfile& profile : profiles) {
        PredictedLaunch one;
        one.why_not = why_not;
        if (executed) {
            options.known = analysis::known_names(profile);
            options.memory_cores = profile.cores;
            try {
                one = predict_on(profile, analysis::kernel_of(*executed, options));
            } catch (const std::exception& error) {
                one.why_not = error.what();
            }
        }
        result.predictions.push_back(std::move(one));
    }
    return result;
}

}  // namespace occupipe::program
