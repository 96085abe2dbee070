// SPDX-License-Identifier: MIT
#include "fit/tables/full_rates.h"

#include <fmt/format.h>

#include <cmath>

#include "fit/curves/counters.h"
#include "fit/curves/curve.h"
#include "fit/curves/step_time.h"

namespace occupipe {

std::map<std::string, ParameterTable> full_rates(std::span<const MeasurementFile> files) {
    std::map<std::string, CurveBuilder> builders;
    for (const MeasurementFile& file : files) {
        const std::optional<ReferenceClock> clock = reference_clock(file);
        for (const MeasurementRow& row : file.rows)
            if (row.counters.contains(full_counter)) builders[row.subject].add(row, clock);
    }
    std::map<std::string, ParameterTable> rates;
    for (auto& [instruction, builder] : builders) {
        const Curve curve = std::move(builder).finish(instruction);
        for (const StepTime& step : step_times(curve)) {
            const Estimate cpi = step.cycles.times(1 / step.in_flight());
            const MeasurementShape& shape = step.place.shape;
            ParameterTable table{
                .over = full_occupancy_axis,
                .note = fmt::format("measured with {} warp{} of a core and {} chain{} each",
                                    shape.warps(), shape.warps() == 1 ? "" : "s", shape.chains,
                                    shape.chains == 1 ? "" : "s"),
                .rows = {{.at = step.in_flight(), .cpi = cpi, .latency = {}}}};
            const auto [known, is_new] = rates.try_emplace(instruction, table);
            if (!is_new && cpi.value < known->second.rows.front().cpi->value)
                known->second = std::move(table);
        }
    }
    return rates;
}

std::optional<Estimate> full_cpi(const InstructionTiming& timing) {
    for (const ParameterTable& table : timing.tables)
        if (table.over == full_occupancy_axis && !table.rows.empty()) return table.rows.back().cpi;
    return std::nullopt;
}

std::optional<double> rate_disagreement(const InstructionTiming& timing) {
    const std::optional<Estimate> full = full_cpi(timing);
    if (!full || !full->identifiable() || !timing.cpi.identifiable()) return std::nullopt;
    return full->value / timing.cpi.value - 1;
}

void note_rate_disagreements(const GpuProfile& profile, std::vector<std::string>& notes) {
    for (const InstructionTiming& timing : profile.instructions) {
        const auto apart = rate_disagreement(timing);
        if (!apart || std::abs(*apart) <= largest_rate_disagreement) continue;
        notes.push_back(
            fmt::format("{}: λ is {:.4g} by the curve but {:.4g} as measured at full occupancy, "
                        "{:+.1f} %",
                        timing.name, timing.cpi.value, full_cpi(timing)->value, 100 * *apart));
    }
}

}  // namespace occupipe
