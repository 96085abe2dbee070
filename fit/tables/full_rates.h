// SPDX-License-Identifier: MIT
// Rates measured at full occupancy, in points of their own (`measure --rates`): what one
// instruction costs a core when every warp that it holds runs several chains. Nothing is fitted
// but time over depth.
//   full_rates(files).at("fma.f32")   → over "full_occupancy": at 256, 0.2501 ± 0.0003 cycles
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/gpu_profile.h"
#include "core/measurement.h"

namespace occupipe {

// The counter of rows that are such points.
inline constexpr const char* full_counter = "full";

// The axis of the table that keeps it in the profile: instructions in flight.
inline constexpr const char* full_occupancy_axis = "full_occupancy";

// A table of one row each, by instruction: cycles per warp-instruction of one core over the
// instructions in flight; the note says how many warps and chains. Where several occupancies were
// measured, the fastest. An instruction without two depths is left out.
std::map<std::string, ParameterTable> full_rates(std::span<const MeasurementFile> files);

// λ of that table, in the units of `cpi`; absent where it was not measured.
std::optional<Estimate> full_cpi(const InstructionTiming& timing);

// full_cpi over cpi less one, where both are values.
std::optional<double> rate_disagreement(const InstructionTiming& timing);

// Above this, a user is told.
inline constexpr double largest_rate_disagreement = 0.05;

// A sentence for each instruction whose two λ differ by more.
void note_rate_disagreements(const GpuProfile& profile, std::vector<std::string>& notes);

}  // namespace occupipe
