// SPDX-License-Identifier: MIT
#include "report/page/sections.h"

namespace occupipe::report {

std::span<void (*const)(ReportPage& page, const ReportData& data)> report_sections() {
    static constexpr void (*sections[])(ReportPage&, const ReportData&) = {
        add_device_section,      add_timing_section,   add_occupancy_section,
        add_mix_section,         add_model_section,    add_roofline_section,
        add_memory_section,      add_accuracy_section, add_validation_section,
        add_instruction_section,
    };
    return sections;
}

}  // namespace occupipe::report
