// SPDX-License-Identifier: MIT
// The parts of a report that are tables and lines rather than one instruction's curve.
#pragma once

#include <string>

#include "fit/profile/build_profile.h"

namespace occupipe {

// Markdown.
std::string table_section(const ParameterTable& table);
std::string line_section(const std::string& title, const std::string& unit, const LineFit& line);
std::string family_section(const Family& family);
std::string overhead_section(const OverheadFit& fit);
// All instructions at a glance, the loads' and stores' saturated rates, and the subsystems.
std::string summary_section(const FitOutcome& outcome);

// Lines for the terminal; empty if there is nothing to report.
std::string family_line(const Family& family);
std::string overhead_line(const OverheadFit& fit);
std::string partition_line(const FitOutcome& outcome);

}  // namespace occupipe
