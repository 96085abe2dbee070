// SPDX-License-Identifier: MIT
// The sections of the report, one function each. What a folder lacks is reported, not left out.
#pragma once

#include <span>
#include <string>

#include "report/page/data.h"
#include "report/page/page.h"

namespace occupipe::report {

std::string report_head(const ReportData& data);

// In the order of the page.
std::span<void (*const)(ReportPage& page, const ReportData& data)> report_sections();

void add_device_section(ReportPage& page, const ReportData& data);
void add_timing_section(ReportPage& page, const ReportData& data);
void add_occupancy_section(ReportPage& page, const ReportData& data);
void add_mix_section(ReportPage& page, const ReportData& data);
void add_model_section(ReportPage& page, const ReportData& data);
void add_roofline_section(ReportPage& page, const ReportData& data);
void add_memory_section(ReportPage& page, const ReportData& data);
void add_accuracy_section(ReportPage& page, const ReportData& data);
// What `validate -o FOLDER/validation` wrote; no section where there is nothing.
void add_validation_section(ReportPage& page, const ReportData& data);
void add_instruction_section(ReportPage& page, const ReportData& data);

}  // namespace occupipe::report
