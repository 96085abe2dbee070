// SPDX-License-Identifier: MIT
// What one subject's curve gives beyond a law's parameters: tables without a law, and a barrier's
// line.
#pragma once

#include <optional>
#include <vector>

#include "core/parameter_table.h"
#include "fit/curves/curve.h"
#include "fit/curves/line_fit.h"
#include "fit/laws/fit_timing.h"

namespace occupipe {

// Root mean square of a systematic misfit from which on the law's parameters alone would mislead.
inline constexpr double no_law_misfit = 0.03;

// Over the bytes in flight where rows say them; over the near and the far half of the cores where
// a memory has two distances; over the instructions in flight where the law
// misses the data by no_law_misfit, with a note in `fit`.
std::vector<ParameterTable> subject_tables(const Curve& curve, TimingFit& fit);

// Time of a barrier's step against the warps of its group less one, one group at a time: by the
// barrier law a line with intercept Λ and slope λ. Independent of the joint fit, which it checks.
std::optional<LineFit> barrier_line(const Curve& curve);

}  // namespace occupipe
