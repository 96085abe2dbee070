// SPDX-License-Identifier: MIT
#include "report/text/published_cores.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "published/published.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

std::optional<int> number_in(const MeasurementFile& file, const char* key) {
    const auto found = file.context.find(key);
    if (found == file.context.end()) return std::nullopt;
    int value = 0;
    const char* end = found->second.data() + found->second.size();
    const auto [stop, error] = std::from_chars(found->second.data(), end, value);
    if (error != std::errc() || stop != end) return std::nullopt;
    return value;
}

const analysis::PublishedCore* find_core(const MeasurementFile& file) {
    const auto vendor = file.context.find("cpu_vendor");
    const auto family = number_in(file, "cpu_family");
    const auto model = number_in(file, "cpu_model");
    if (vendor == file.context.end() || !family || !model) return nullptr;
    return analysis::built_in_published().core(vendor->second, *family, *model);
}

std::string measured(const Estimate& estimate) {
    return fmt::format("{}{:.3f}", sign_of(estimate.kind), estimate.value);
}

std::string difference(const Estimate& estimate, double published) {
    if (!estimate.identifiable()) return "-";
    return fmt::format("{:+.1f} %", 100 * (estimate.value / published - 1));
}

}  // namespace

std::string beside_published(const MeasurementFile& file, const GpuProfile& profile) {
    const analysis::PublishedCore* const core = find_core(file);
    if (core == nullptr) return {};
    TextTable table{{"instruction", "λ", "published", "", "Λ", "published", ""},
                    std::vector(7, Align::right),
                    {}};
    table.align.front() = Align::left;
    for (const analysis::PublishedCoreTiming& figure : core->timings) {
        const InstructionTiming* timing = profile.find_instruction(figure.instruction);
        if (!timing || !timing->latency) continue;
        table.rows.push_back({figure.instruction, measured(timing->cpi),
                              fmt::format("{}", figure.cpi), difference(timing->cpi, figure.cpi),
                              measured(*timing->latency), fmt::format("{}", figure.latency),
                              difference(*timing->latency, figure.latency)});
    }
    if (table.rows.empty()) return {};
    return fmt::format(
        "## Beside published figures for {}\n\nPublished: {} (docs/background/cpu.md explains the "
        "differences).\n\n{}\n",
        core->name, analysis::built_in_published().source(core->source)->title, markdown(table));
}

}  // namespace occupipe::report
