// SPDX-License-Identifier: MIT
#include "cli/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "cli/options.h"
#include "core/files/files.h"
#include "core/instruction.h"
#include "report/text/text_table.h"
#include "report/timelines/timeline_svg.h"
#include "sim/models/model.h"
#include "sim/observers/trace.h"

namespace occupipe::cli {
namespace {

constexpr std::size_t most_stalls = 15;  // rows of the table; --json has all

// What a name such as "ld.global.f32~ldg.00a0" is, if the text has one.
std::string priced_name(const Kernel& kernel, const std::string& text) {
    std::string said;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        const std::string name(without_part(instruction.op));
        const std::size_t sign = name.find('~');
        if (!said.empty() || sign == std::string::npos || text.find(name) == std::string::npos)
            return;
        said = fmt::format(
            "{}: {} with λ and Λ of the access {}, and of others that use the memory alike\n", name,
            name.substr(0, sign), name.substr(sign + 1));
    });
    return said;
}

// The reasons, and behind them the instructions that wait longest.
void add_stalls(Explanation& out, const sim::StallView& view) {
    const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
    const std::vector<sim::StallRow> rows = view.rows();
    std::map<std::string, double> by_reason;
    report::TextTable table{
        {"share", "because of", "waiting", "for"},
        {report::Align::right, report::Align::left, report::Align::left, report::Align::left},
        {}};
    out.json["stalls"] = nlohmann::ordered_json::array();
    double others = 0;
    for (const sim::StallRow& row : rows) {
        const std::string reason(to_string(row.reason));
        by_reason[reason] += row.share;
        if (table.rows.size() < most_stalls)
            table.rows.push_back({percent(row.share), reason, row.waiting, row.on});
        else
            others += row.share;
        nlohmann::ordered_json entry = {{"share", row.share}, {"reason", reason}};
        if (!row.waiting.empty()) entry["waiting"] = row.waiting;
        if (!row.on.empty()) entry["for"] = row.on;
        out.json["stalls"].push_back(entry);
    }
    if (rows.size() > most_stalls)
        table.rows.push_back({percent(others),
                              fmt::format("{} others (--json)", rows.size() - most_stalls), "",
                              ""});

    report::TextTable sums{
        {"share", "because of"}, {report::Align::right, report::Align::left}, {}};
    std::vector<std::pair<double, std::string>> largest;
    for (const auto& [reason, share] : by_reason) largest.emplace_back(share, reason);
    std::ranges::sort(largest, std::greater());
    for (const auto& [share, reason] : largest) sums.rows.push_back({percent(share), reason});

    out.text +=
        "\nWhere the warps' time goes (issuing itself takes none):\n" + report::plain_text(sums);
    out.text += "\nBy instruction:\n" + report::plain_text(table);
}

void add_sensitivity(Explanation& out, const std::vector<analysis::Sensitivity>& rows) {
    report::TextTable table{{"10 % better", "cycles", "saved"},
                            {report::Align::left, report::Align::right, report::Align::right},
                            {}};
    out.json["sensitivity"] = nlohmann::ordered_json::array();
    for (const analysis::Sensitivity& row : rows) {
        const double share = row.gain / (row.cycles + row.gain);
        table.rows.push_back(
            {row.name, fmt::format("{:.10g}", row.cycles), fmt::format("{:.2f} %", 100 * share)});
        out.json["sensitivity"].push_back(
            {{"name", row.name}, {"cycles", row.cycles}, {"gain", row.gain}});
    }
    out.text += "\nWhat would help:\n" + report::plain_text(table);
    if (std::ranges::any_of(rows, [](const analysis::Sensitivity& row) { return row.gain < 0; }))
        out.text +=
            "A negative saving: the launch takes longer, since warps issue in another order\n";
}

void add_uncertainty(Explanation& out, const analysis::Uncertainty& u, const GpuProfile& profile,
                     const Launch& launch) {
    const auto us = [gpu = facts_of(profile), &launch](double cycles) {
        return kernel_seconds(gpu, cycles, launch.groups) * 1e6;
    };
    out.json["uncertainty"] = {{"draws", u.draws},    {"median_cycles", u.median},
                               {"low_cycles", u.low}, {"high_cycles", u.high},
                               {"coverage", 0.95},    {"held_fixed", u.held}};
    out.text += fmt::format(
        "\nFrom the standard errors of the profile's values ({} draws): {:.10g} cycles, 95 % "
        "between "
        "{:.10g} and {:.10g} ({:.4g} to {:.4g} us)\n",
        u.draws, u.median, u.low, u.high, us(u.low), us(u.high));
    if (u.held.empty()) return;
    out.text += "Held fixed, so that the interval is too narrow by what they hide:\n";
    for (const std::string& value : u.held) out.text += fmt::format("  {}\n", value);
}

}  // namespace

void add_explain_options(const Command& command, ExplainOptions& options) {
    constexpr const char* group = "Why (simulates one launch)";
    command
        .add_flag("--stalls", options.stalls,
                  "Where the warps' time goes, by reason and instruction; sums to 100 %")
        .group(group);
    command
        .add_flag("--timeline", options.timeline,
                  "The first cycles as text: D issued, = under way, E result there")
        .group(group);
    command
        .add_option("--first-cycles svg|--svg", options.svg,
                    "Draw the first cycles: a row per subsystem, solid for λ, pale until Λ")
        .type_name("FILE")
        .group(group);
    command
        .add_option("--first-cycles trace|--trace", options.trace,
                    "Write the first cycles as a Chrome trace (chrome://tracing, ui.perfetto.dev)")
        .type_name("FILE")
        .group(group);
    command
        .add_option("--first-cycles window|--window", options.window,
                    "Cycles that --timeline and --first-cycles cover")
        .check(number_between(1, 1e6))
        .show_default()
        .type_name("CYCLES")
        .group(group);
    command
        .add_flag("--sensitivity", options.sensitivity,
                  "Cycles that a 10 % better λ, Λ or issue limit would save, ranked")
        .group(group);
    command
        .add_option("--uncertainty", options.uncertainty,
                    "Prediction interval, from this many draws of the profile's standard errors\n"
                    "(default: 1000)")
        .optional_value("1000")
        .check(in_range(1, 1'000'000))
        .type_name("DRAWS")
        .group(group);
    command.add_option("--seed", options.seed, "Seed of --uncertainty")
        .show_default()
        .type_name("N")
        .group(group);
    command.add_flag("--force", options.force, "Replace existing files").group(group);
}

sim::RunViews::Wanted wanted_views(const ExplainOptions& options, bool annotates) {
    sim::RunViews::Wanted wanted{.stalls = options.stalls || annotates, .timeline_cycles = {}};
    if (options.timeline || !options.svg.empty() || !options.trace.empty())
        wanted.timeline_cycles = options.window;
    return wanted;
}

Explanation explain(const sim::RunViews& views, const GpuProfile& profile, const Kernel& kernel,
                    const Launch& launch, const SimulationOptions& simulation,
                    const ExplainOptions& options, const Unprepared* before) {
    Explanation out;
    if (options.stalls) add_stalls(out, *views.stalls());
    if (const sim::TimelineView* const view = views.timeline()) {
        const Overwrite overwrite = options.force ? Overwrite::yes : Overwrite::no;
        if (options.timeline) {
            const std::string text = sim::timeline_text(*view);
            out.json["timeline"] = text;
            out.text += "\n" + text;
        }
        if (!options.svg.empty())
            write_text_file(options.svg, report::timeline_svg(*view), overwrite);
        if (!options.trace.empty())
            write_text_file(options.trace, sim::chrome_trace(*view, kernel), overwrite);
    }
    if (options.sensitivity)
        add_sensitivity(out, analysis::sensitivities(profile, kernel, launch, simulation));
    if (options.stalls || options.sensitivity) out.text += priced_name(kernel, out.text);
    if (options.uncertainty)
        add_uncertainty(
            out,
            before ? analysis::uncertainty(before->profile, before->kernel, launch, simulation,
                                           *options.uncertainty, options.seed, before->prepare)
                   : analysis::uncertainty(profile, kernel, launch, simulation,
                                           *options.uncertainty, options.seed),
            profile, launch);
    return out;
}

}  // namespace occupipe::cli
