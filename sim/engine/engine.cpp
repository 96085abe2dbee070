// SPDX-License-Identifier: MIT
#include "sim/engine/engine.h"

#include <algorithm>

#include "sim/engine/event_engine.h"
#include "sim/engine/in_order_engine.h"

namespace occupipe::sim {

EngineKind engine_kind(const CoreLayout& layout) {
    if (InOrderEngine::can_run(layout)) return EngineKind::scoreboard;
    return layout.narrow ? EngineKind::word : EngineKind::general;
}

std::unique_ptr<Engine> make_engine(const CoreLayout& layout, bool detect_periods,
                                    Observer* observer) {
    if (engine_kind(layout) == EngineKind::scoreboard)
        return std::make_unique<InOrderEngine>(layout, detect_periods, observer);
    return std::make_unique<EventEngine>(layout, detect_periods, observer);
}

SimulationResult result_of(const CoreLayout& layout, const Engine& engine) {
    const RunLimits::State end = engine.progress();
    const Machine& machine = layout.machine;
    SimulationResult result;
    result.ticks = end.now;
    result.scale = machine.scale;
    result.cycles = machine.scale.to_cycles(end.now);
    result.issued = end.issued;
    result.groups = end.ended_groups;
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
    result.bounds = utilisations(machine, busy, end.issued, end.now);
    result.simulated = end.issued - end.skipped;
    result.detection_work = engine.detection_work();
    return result;
}

}  // namespace occupipe::sim
