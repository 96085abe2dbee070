// SPDX-License-Identifier: MIT
#include "core/subsystem_scope.h"

#include <algorithm>

namespace occupipe {

void set_scope(GpuProfile& profile, std::string_view name, std::optional<Scope> scope) {
    Subsystem& subsystem = *std::ranges::find(profile.subsystems, name, &Subsystem::name);
    const bool copied = subsystem.per_scheduler();
    subsystem.scope = scope;
    if (subsystem.per_scheduler() == copied) return;
    const double k = profile.issue.schedulers;
    const double factor = copied ? 1 / k : k;
    for (InstructionTiming& timing : profile.instructions)
        if (timing.subsystem == name) scale_cpi(timing, factor);
}

void scale_cpi(InstructionTiming& timing, double factor) {
    const auto scale = [&](std::optional<Estimate>& e) {
        if (e) e = e->times(factor);
    };
    timing.cpi = timing.cpi.times(factor);
    scale(timing.loop_cpi);
    for (ParameterTable& table : timing.tables)
        for (TableRow& row : table.rows) scale(row.cpi);
}

}  // namespace occupipe
