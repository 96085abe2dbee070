// SPDX-License-Identifier: MIT
#include "report/text/published_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "published/published.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

// Differences up to this are a measurement's, not a disagreement.
constexpr double agreement = 0.03;

std::string range_text(double low, double high) {
    return low == high ? fmt::format("{:.4g}", low) : fmt::format("{:.4g} to {:.4g}", low, high);
}

// λ per core, and in brackets the one of a scheduler's copy where there are several.
std::string cpi_text(const GpuProfile& profile, const InstructionTiming& timing) {
    const Estimate per_core = profile.cpi_per_core(timing);
    std::string text = fmt::format("{}{:.4g}", sign_of(per_core.kind), per_core.value);
    if (profile.copies(timing.subsystem) > 1)
        text += fmt::format(" ({:.4g} per scheduler)", timing.cpi.value);
    return text;
}

}  // namespace

std::string beside_published_throughput(const GpuProfile& profile) {
    const analysis::Published& published = analysis::built_in_published();
    const std::string& capability = profile.device.compute_capability;
    TextTable table{{"instruction", "λ per core", "results per cycle", "λ of these", ""},
                    {Align::left, Align::right, Align::right, Align::right, Align::right},
                    {}};
    std::size_t agreeing = 0;
    std::vector<std::string> sources;
    for (const analysis::PublishedOperation& operation : published.operations) {
        for (const std::string& name : operation.instructions) {
            const InstructionTiming* const timing = profile.find_instruction(name);
            const auto figures = published.cpi(capability, name, profile.warp_size);
            // Nothing is learnt of an assumption from a table that it may have been taken from.
            if (timing == nullptr || timing->source == Source::assumed || figures.empty()) continue;
            const auto [low, high] = analysis::span_of(figures);
            const double lanes = static_cast<double>(profile.warp_size) * operation.results;
            const Estimate cpi = profile.cpi_per_core(*timing);
            const double edge = std::clamp(cpi.value, low, high);
            const double difference = cpi.value / edge - 1;
            if (cpi.identifiable() && std::abs(difference) <= agreement) ++agreeing;
            table.rows.push_back(
                {name, cpi_text(profile, *timing), range_text(lanes / high, lanes / low),
                 range_text(low, high),
                 cpi.identifiable() ? fmt::format("{:+.1f} %", 100 * difference) : "-"});
            for (const analysis::PublishedFigure& figure : figures) {
                const std::string& title = published.source(figure.source)->title;
                if (std::ranges::find(sources, title) == sources.end()) sources.push_back(title);
            }
        }
    }
    if (table.rows.empty()) return {};
    std::string cited;
    for (const std::string& title : sources) cited += (cited.empty() ? "" : "; ") + title;
    return fmt::format(
        "## {} beside NVIDIA's throughput for compute capability {}\n\n{}\n{} of {} agree within "
        "{:g} %. Published: {}; results per cycle and core. λ is the warp size times a lane's "
        "results divided by that. Where λ is smaller, instructions were merged or removed, or "
        "several units share them.\n",
        profile.device.name, capability, markdown(table), agreeing, table.rows.size(),
        100 * agreement, cited);
}

}  // namespace occupipe::report
