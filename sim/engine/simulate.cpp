// SPDX-License-Identifier: MIT
#include "sim/engine/simulate.h"

#include <algorithm>

#include "sim/engine/engine.h"
#include "sim/engine/estimate.h"
#include "sim/engine/in_order_engine.h"
#include "sim/engine/period.h"
#include "sim/engine/run_limits.h"
#include "sim/machine/machine.h"

namespace occupipe {
namespace {

using sim::CoreLayout;
using sim::CoreState;

// `busy` and `free_at` give Σλ and the time at which it is free again, by scheduler and subsystem.
template <typename Busy, typename FreeAt>
SimulationResult result_of(const CoreLayout& layout, std::int64_t end, std::int64_t issued,
                           const Busy& busy, const FreeAt& free_at) {
    SimulationResult result;
    result.ticks = end;
    result.scale = layout.machine.scale;
    result.cycles = layout.machine.scale.to_cycles(end);
    result.issued = issued;
    const sim::Machine& machine = layout.machine;
    std::vector<std::int64_t> unit_busy(machine.unit_count());
    std::vector<std::int64_t> beyond_end(unit_busy.size());  // of the last instruction's λ
    const auto subsystems = static_cast<int>(machine.subsystems.size());
    for (int scheduler = 0; scheduler < machine.schedulers; ++scheduler)
        for (int subsystem = 0; subsystem < subsystems; ++subsystem) {
            const int unit = machine.unit(subsystem, scheduler);
            unit_busy[unit] += busy(scheduler, subsystem);
            beyond_end[unit] = std::max<std::int64_t>(0, free_at(scheduler, subsystem) - end);
        }
    for (std::size_t u = 0; u < unit_busy.size(); ++u) unit_busy[u] -= beyond_end[u];
    result.bounds = sim::utilisations(machine, unit_busy, issued, end);
    return result;
}

SimulationResult run_in_order(const CoreLayout& layout, std::vector<sim::InOrderProgram> programs,
                              const SimulationOptions& options, sim::Observer* observer) {
    sim::InOrderEngine engine(layout, std::move(programs), options.detect_periods && !observer,
                              observer);
    sim::RunLimits limits(layout, options);
    const auto check = [&] {
        limits.check({engine.now(), engine.issued(), engine.skipped(), engine.ended_groups()});
        limits.check_outstanding(engine.waiting());
    };
    check();
    while (!engine.run(limits.next_check())) check();
    SimulationResult result = result_of(
        layout, engine.now(), engine.issued(),
        [&](int scheduler, int subsystem) { return engine.busy(scheduler, subsystem); },
        [&](int scheduler, int subsystem) { return engine.free_at(scheduler, subsystem); });
    result.simulated = result.issued - engine.skipped();
    result.detection_work = engine.detection_work();
    return result;
}

SimulationResult run_general(const CoreLayout& layout, const SimulationOptions& options,
                             sim::Observer* observer) {
    sim::Engine engine(layout, observer);
    sim::PeriodDetector periods(layout);
    const bool detect_periods = options.detect_periods && !observer;
    const CoreState& state = engine.state();
    sim::RunLimits limits(layout, options);
    const auto check = [&] {
        limits.check({state.now, state.issued_total, periods.skipped(),
                      state.launched - static_cast<std::int64_t>(state.age_order.size())});
        limits.check_outstanding(state.queues);
        limits.check_outstanding(state.waiting);
        return limits.next_check() + periods.skipped();
    };
    std::int64_t until = check();
    if (detect_periods) engine.watch(periods.watches());
    while (engine.run(detect_periods ? std::min(until, periods.next_choice()) : until)) {
        if (detect_periods && periods.observe(engine.state(), engine.stopped_at())) {
            engine.watch(periods.watches());
            until = limits.next_check() + periods.skipped();
        }
        if (state.issued_total >= until) until = check();
    }
    const auto at = [&](int scheduler, int subsystem) {
        return scheduler * layout.unit_pitch + subsystem;
    };
    SimulationResult result = result_of(
        layout, state.now, state.issued_total,
        [&](int scheduler, int subsystem) {
            return state.subsystem_busy[at(scheduler, subsystem)];
        },
        [&](int scheduler, int subsystem) {
            return state.subsystem_free_at[at(scheduler, subsystem)];
        });
    result.simulated = result.issued - periods.skipped();
    result.detection_work = periods.work();
    return result;
}

SimulationResult run(const CoreLayout& layout, const SimulationOptions& options,
                     sim::Observer* observer) {
    if (auto programs = sim::InOrderEngine::programs(layout))
        return run_in_order(layout, std::move(*programs), options, observer);
    return run_general(layout, options, observer);
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

Policy policy_of(const SimulationOptions& options, const GpuProfile& profile) {
    if (options.policy) return *options.policy;
    return profile.issue.policy.value_or(Policy::lrr);
}

Select select_of(const SimulationOptions& options, const GpuProfile& profile) {
    if (options.select) return *options.select;
    return profile.issue.select.value_or(Select::subsystem);
}

SimulationResult simulate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options) {
    if (options.estimate) return estimate(profile, kernel, launch, options);
    return run(sim::build_layout(profile, kernel, launch, options), options, nullptr);
}

SimulationResult simulate(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options, sim::Observer& observer) {
    const CoreLayout layout = sim::build_layout(profile, kernel, launch, options);
    observer.started(layout);
    SimulationResult result = run(layout, options, &observer);
    observer.ended(result.ticks);
    return result;
}

}  // namespace occupipe
