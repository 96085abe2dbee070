// SPDX-License-Identifier: MIT
#include "sim/engine/simulate.h"

#include <cmath>
#include <utility>

#include "core/instruction.h"
#include "sim/engine/engine.h"
#include "sim/engine/estimate.h"
#include "sim/engine/launch_run.h"
#include "sim/engine/run_limits.h"
#include "sim/engine/whole_run.h"
#include "sim/machine/machine.h"
#include "sim/observers/observer_fan.h"

namespace occupipe {
namespace {

using sim::CoreLayout;

SimulationResult run(const CoreLayout& layout, const SimulationOptions& options,
                     sim::Observer* observer) {
    const auto engine = sim::make_engine(layout, options.detect_periods, observer);
    sim::RunLimits limits(layout, options);
    const auto check = [&] {
        limits.check(engine->progress());
        limits.check_outstanding(engine->results());
        limits.check_outstanding(engine->waiting());
    };
    check();
    while (!engine->run(limits.next_check())) check();
    return sim::result_of(layout, *engine);
}

}  // namespace

std::optional<Policy> parse_policy(std::string_view name) {
    if (name == "lrr") return Policy::lrr;
    if (name == "gto") return Policy::gto;
    if (name == "oldest") return Policy::oldest;
    return std::nullopt;
}

std::optional<Select> parse_select(std::string_view name) {
    if (name == "subsystem") return Select::subsystem;
    if (name == "warp") return Select::warp;
    return std::nullopt;
}

std::optional<Order> parse_order(std::string_view name) {
    if (name == "dataflow") return Order::dataflow;
    if (name == "in_order") return Order::in_order;
    return std::nullopt;
}

Policy policy_of(const SimulationOptions& options, const Issue& issue) {
    if (options.policy) return *options.policy;
    return issue.policy.value_or(Policy::lrr);
}

Select select_of(const SimulationOptions& options, const Issue& issue) {
    if (options.select) return *options.select;
    return issue.select.value_or(Select::subsystem);
}

Order order_of(const SimulationOptions& options, const Kernel& kernel) {
    if (options.order) return *options.order;
    return kernel.order.value_or(Order::dataflow);
}

namespace {

// What the first groups wait for places that nobody had: no group begins before, so that the whole
// run is so much later.
void take_off_start(const Problem& problem, SimulationResult& result) {
    const ResolvedProgram::Instruction& first = problem.kernel().programs.front().instructions[0];
    if (first.id != group_start_id) return;
    const auto op = static_cast<std::size_t>(first.op);
    const double start = problem.timings()[op].latency.value_or(0);
    const double longer = result.cycles / (result.cycles - start);
    result.ticks -= std::llround(static_cast<double>(result.ticks) * start / result.cycles);
    result.cycles -= start;
    result.issued -= result.groups * problem.launch().group_warps;
    for (Bound& bound : result.bounds) bound.utilisation *= longer;
}

}  // namespace

SimulationResult sim::whole_run(const Problem& problem, const SimulationOptions& options,
                                std::span<Observer* const> observers) {
    CoreLayout layout = sim::build_layout(problem, options);
    if (layout.kinds.size() > 1) {
        SimulationOptions own = options;
        own.estimate = options.estimate && observers.empty();
        sim::LaunchRun all = sim::run_launch(layout, problem.groups(), problem.launch().groups,
                                             problem.gpu().cores, own);
        if (observers.empty()) return std::move(all.last_core);
        // Which groups the core gets that ends last is known then; it runs again for the observers.
        layout.kind_of = std::move(all.kinds_of_last);
        layout.groups = static_cast<std::int64_t>(layout.kind_of.size());
    }
    if (observers.empty()) return run(layout, options, nullptr);
    sim::ObserverFan fan(observers);
    sim::Observer& observer = observers.size() == 1 ? *observers.front() : fan;
    observer.started(layout);
    SimulationResult result = run(layout, options, &observer);
    observer.ended(result.ticks);
    return result;
}

SimulationResult simulate(const Problem& problem, const SimulationOptions& options,
                          std::span<sim::Observer* const> observers) {
    SimulationResult result = options.estimate && observers.empty()
                                  ? estimate(problem, options)
                                  : sim::whole_run(problem, options, observers);
    take_off_start(problem, result);
    return result;
}

SimulationResult simulate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options) {
    return simulate(Problem(profile, kernel, launch), options);
}

SimulationResult simulate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options, sim::Observer& observer) {
    sim::Observer* const one = &observer;
    return simulate(Problem(profile, kernel, launch), options, {&one, 1});
}

}  // namespace occupipe
