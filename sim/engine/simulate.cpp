// SPDX-License-Identifier: MIT
#include "sim/engine/simulate.h"

#include <algorithm>

#include "sim/engine/engine.h"
#include "sim/engine/estimate.h"
#include "sim/engine/run_limits.h"
#include "sim/machine/machine.h"

namespace occupipe {
namespace {

using sim::CoreLayout;

SimulationResult result_of(const CoreLayout& layout, const sim::Engine& engine) {
    const sim::RunLimits::State end = engine.progress();
    const sim::Machine& machine = layout.machine;
    SimulationResult result;
    result.ticks = end.now;
    result.scale = machine.scale;
    result.cycles = machine.scale.to_cycles(end.now);
    result.issued = end.issued;
    std::vector<std::int64_t> busy(machine.unit_count());
    std::vector<std::int64_t> beyond_end(busy.size());  // of the last instruction's λ
    const auto subsystems = static_cast<int>(machine.subsystems.size());
    for (int scheduler = 0; scheduler < machine.schedulers; ++scheduler)
        for (int subsystem = 0; subsystem < subsystems; ++subsystem) {
            const int unit = machine.unit(subsystem, scheduler);
            busy[unit] += engine.busy(scheduler, subsystem);
            beyond_end[unit] =
                std::max<std::int64_t>(0, engine.free_at(scheduler, subsystem) - end.now);
        }
    for (std::size_t u = 0; u < busy.size(); ++u) busy[u] -= beyond_end[u];
    result.bounds = sim::utilisations(machine, busy, end.issued, end.now);
    result.simulated = end.issued - end.skipped;
    result.detection_work = engine.detection_work();
    return result;
}

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
    return result_of(layout, *engine);
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

Order order_of(const SimulationOptions& options, const Kernel& kernel) {
    if (options.order) return *options.order;
    return kernel.order.value_or(Order::dataflow);
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
