// SPDX-License-Identifier: MIT
// A fit's outcome for readers: a short table for the terminal, and a page in Markdown.
#pragma once

#include <string>

#include "fit/profile/build_profile.h"

namespace occupipe {

// One line per instruction (λ, Λ with standard errors, flags), then mixes, then notes.
std::string format_fit_table(const FitOutcome& outcome);

// Per instruction: parameters, the curve over warps in flight with fit and residuals, what was
// rejected and why; per mix the three laws.
std::string format_fit_report(const FitOutcome& outcome);

// "0.2500 ± 0.0003", "≤ 0.31 (no plateau up to 8 …)": as many digits as the error allows.
std::string format_estimate(const Estimate& estimate);
// Λ, or "not measured" where nothing waited for a result.
std::string latency_text(const SubjectReport& report);

}  // namespace occupipe
