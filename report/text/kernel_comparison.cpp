// SPDX-License-Identifier: MIT
#include "report/text/kernel_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/text/annotated_source.h"
#include "report/text/kernel_changes.h"
#include "report/text/text_table.h"
#include "sim/observers/stalls.h"

namespace occupipe::report {
namespace {

using analysis::BeforeAfter;
using analysis::Interval;
using analysis::KernelComparison;
using analysis::LineChange;
using analysis::LineFate;

constexpr double shown_share = 0.0005;  // of the slower prediction: less is not worth a line

double executed(const analysis::Annotation& annotation) {
    double sum = 0;
    for (const auto& one : annotation.instructions) sum += one.spent.executions;
    return sum;
}

BeforeAfter executed(const KernelComparison& comparison) {
    return {executed(comparison.before), executed(comparison.after)};
}

const char* word(LineFate fate) {
    switch (fate) {
        case LineFate::same:
            return "same";
        case LineFate::changed:
            return "changed";
        case LineFate::removed:
            return "removed";
        case LineFate::added:
            return "added";
        case LineFate::unknown:
            break;
    }
    return "unknown";
}

// Whether a line says something of the change or of the time.
bool shown(const LineChange& line, double least_cycles) {
    return (line.fate != LineFate::same && line.fate != LineFate::unknown) ||
           std::abs(line.executions.difference()) > 0.5 ||
           std::max(line.cycles.before, line.cycles.after) >= least_cycles;
}

std::string totals(const KernelComparison& comparison) {
    TextTable table{{"", "before", "after", "change", ""},
                    {Align::left, Align::right, Align::right, Align::right, Align::left},
                    {}};
    table.rows.push_back({"cycles", fmt::format("{:.10g}", comparison.cycles.before),
                          fmt::format("{:.10g}", comparison.cycles.after),
                          signed_change(comparison.cycles.difference()),
                          change_percent(comparison.cycles)});
    table.rows.push_back({"time", fmt::format("{:.4g} us", 1e6 * comparison.seconds.before),
                          fmt::format("{:.4g} us", 1e6 * comparison.seconds.after),
                          fmt::format("{:+.4g} us", 1e6 * comparison.seconds.difference()),
                          change_percent(comparison.seconds)});
    const BeforeAfter all = executed(comparison);
    table.rows.push_back({"instructions of warps", change_number(all.before),
                          change_number(all.after), signed_change(all.difference()),
                          change_percent(all)});
    return plain_text(table);
}

std::string uncertainty(const KernelComparison& comparison) {
    if (!comparison.no_uncertainty.empty())
        return fmt::format("\nNo uncertainty: {}.\n", comparison.no_uncertainty);
    if (!comparison.uncertainty) return {};
    const analysis::DifferenceUncertainty& u = *comparison.uncertainty;
    std::string text = fmt::format(
        "\nFrom the standard errors of the profile ({} draws, each predicts both): the change is "
        "{} to {} cycles,\n{:+.1f} % to {:+.1f} %, in 95 % of the draws; 'after' is faster in "
        "{:.4g} %.\n",
        u.draws, signed_change(u.difference.low), signed_change(u.difference.high),
        100 * (u.ratio.low - 1), 100 * (u.ratio.high - 1), 100 * u.after_faster);
    if (!u.held.empty()) {
        text += "Held fixed, so that the interval is too narrow by what they hide:\n";
        for (const std::string& value : u.held) text += fmt::format("  {}\n", value);
    }
    return text;
}

std::string reasons(const KernelComparison& comparison) {
    TextTable table{{"because of", "before", "after", "change"},
                    {Align::left, Align::right, Align::right, Align::right},
                    {}};
    for (const auto& [reason, cycles] : reasons_by_cost(comparison))
        table.rows.push_back({std::string(to_string(reason)), change_number(cycles.before),
                              change_number(cycles.after), signed_change(cycles.difference())});
    return "\nWhere the predicted cycles go (sums to them):\n" + plain_text(table);
}

std::string lines(const KernelComparison& comparison) {
    TextTable table{
        {"", "before", "after", "cycles", "then", "change", "executed", "then", "mostly", "source"},
        {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right,
         Align::right, Align::right, Align::left, Align::left},
        {}};
    constexpr std::ptrdiff_t behind_change = 6;
    const bool intervals = comparison.line_draws > 0;
    if (intervals) {
        table.header.insert(table.header.begin() + behind_change, "95 %");
        table.align.insert(table.align.begin() + behind_change, Align::right);
    }
    const double least = shown_share * std::max(comparison.cycles.before, comparison.cycles.after);
    std::size_t left_out = 0;
    const auto line_number = [](const std::string& at) { return at.substr(at.rfind(':') + 1); };
    for (const LineChange& line : comparison.lines) {
        if (!shown(line, least)) {
            ++left_out;
            continue;
        }
        std::string reason;
        if (line.after_reason && line.before_reason && line.after_reason != line.before_reason)
            reason = fmt::format("{}, then {}", to_string(*line.before_reason),
                                 to_string(*line.after_reason));
        else if (line.after_reason || line.before_reason)
            reason = to_string(line.after_reason ? *line.after_reason : *line.before_reason);
        std::string text = line.text;
        if (text.empty() && line.fate == LineFate::unknown)
            text = "(instructions that say no line)";
        table.rows.push_back(
            {mark(line.fate), line_number(line.before), line_number(line.after),
             change_number(line.cycles.before), change_number(line.cycles.after),
             signed_change(line.cycles.difference()), change_number(line.executions.before),
             change_number(line.executions.after), std::move(reason), shortened(text)});
        if (intervals)
            table.rows.back().insert(table.rows.back().begin() + behind_change,
                                     line.difference ? change_range(*line.difference) : "");
    }
    std::string text =
        "\nBy source line (+ added, - removed, ~ changed; cycles of the prediction, which all "
        "lines sum to):\n" +
        plain_text(table);
    if (intervals)
        text += fmt::format("95 %: of the change, in {} draws of the profile's standard errors\n",
                            comparison.line_draws);
    if (left_out > 0)
        text += fmt::format("{} lines that did not change and take less than {:g} % are left out\n",
                            left_out, 100 * shown_share);
    return text;
}

std::string instructions(const KernelComparison& comparison) {
    TextTable table{{"instruction", "before", "after", "change"},
                    {Align::left, Align::right, Align::right, Align::right},
                    {}};
    std::vector<std::pair<std::string, BeforeAfter>> rows;
    std::size_t same = 0;
    for (const auto& [op, executions] : comparison.instructions)
        if (std::abs(executions.difference()) < 0.5)
            ++same;
        else
            rows.emplace_back(op, executions);
    std::ranges::stable_sort(rows, std::greater(),
                             [](const auto& row) { return std::abs(row.second.difference()); });
    for (const auto& [op, executions] : rows)
        table.rows.push_back({op, change_number(executions.before), change_number(executions.after),
                              signed_change(executions.difference())});
    if (rows.empty()) return "\nBoth execute the same instructions equally often.\n";
    std::string text = "\nInstructions of warps, executed by the launch:\n" + plain_text(table);
    if (same > 0) text += fmt::format("{} more are executed equally often\n", same);
    return text;
}

nlohmann::ordered_json json(const BeforeAfter& pair) {
    return {{"before", pair.before}, {"after", pair.after}, {"change", pair.difference()}};
}

nlohmann::ordered_json json(const Interval& interval) {
    return {{"median", interval.median}, {"low", interval.low}, {"high", interval.high}};
}

nlohmann::ordered_json json(const LineChange& line) {
    nlohmann::ordered_json json_line = {{"fate", word(line.fate)}};
    if (!line.before.empty()) json_line["before"] = line.before;
    if (!line.after.empty()) json_line["after"] = line.after;
    if (!line.text.empty()) json_line["source"] = line.text;
    json_line["cycles"] = json(line.cycles);
    json_line["executions"] = json(line.executions);
    if (line.difference) json_line["change_cycles"] = json(*line.difference);
    if (line.before_reason) json_line["before_reason"] = to_string(*line.before_reason);
    if (line.after_reason) json_line["after_reason"] = to_string(*line.after_reason);
    return json_line;
}

nlohmann::ordered_json side(const std::string& file, const analysis::Annotation& annotation) {
    return {{"file", file},
            {"kernel", annotation.kernel},
            {"group_warps", annotation.launch.group_warps},
            {"concurrent_groups", annotation.launch.concurrent_groups},
            {"groups", annotation.launch.groups}};
}

}  // namespace

std::string to_text(const KernelComparisonReport& report) {
    const KernelComparison& comparison = report.comparison;
    std::string text = fmt::format("{} → {} on {}\n\n", comparison.before_file,
                                   comparison.after_file, report.device);
    text += totals(comparison);
    text += uncertainty(comparison);
    text += reasons(comparison);
    if (comparison.before.has_lines() || comparison.after.has_lines()) text += lines(comparison);
    text += instructions(comparison);
    if (!comparison.notes.empty() || !report.assumptions.empty()) text += "\n";
    for (const std::string& note : comparison.notes) text += fmt::format("Note: {}.\n", note);
    for (const std::string& one : report.assumptions) text += fmt::format("Assumed: {}.\n", one);
    return text;
}

nlohmann::ordered_json to_json(const KernelComparisonReport& report) {
    const KernelComparison& comparison = report.comparison;
    nlohmann::ordered_json all = {{"format", "occupipe-kernel-comparison/1"},
                                  {"profile", report.profile},
                                  {"device", report.device},
                                  {"before", side(comparison.before_file, comparison.before)},
                                  {"after", side(comparison.after_file, comparison.after)},
                                  {"cycles", json(comparison.cycles)},
                                  {"seconds", json(comparison.seconds)},
                                  {"executions", json(executed(comparison))}};
    if (const auto& u = comparison.uncertainty)
        all["uncertainty"] = {{"draws", u->draws},
                              {"coverage", 0.95},
                              {"before_cycles", json(u->before)},
                              {"after_cycles", json(u->after)},
                              {"change_cycles", json(u->difference)},
                              {"ratio", json(u->ratio)},
                              {"after_faster", u->after_faster},
                              {"line_draws", comparison.line_draws},
                              {"held_fixed", u->held}};
    if (!comparison.no_uncertainty.empty()) all["no_uncertainty"] = comparison.no_uncertainty;
    nlohmann::ordered_json waits = nlohmann::ordered_json::object();
    for (const auto& [reason, cycles] : comparison.reasons)
        waits[std::string(to_string(reason))] = json(cycles);
    all["waits"] = std::move(waits);
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const LineChange& line : comparison.lines) rows.push_back(json(line));
    all["lines"] = std::move(rows);
    nlohmann::ordered_json ops = nlohmann::ordered_json::object();
    for (const auto& [op, executions] : comparison.instructions) ops[op] = json(executions);
    all["instructions"] = std::move(ops);
    all["notes"] = comparison.notes;
    all["assumptions"] = report.assumptions;
    return all;
}

}  // namespace occupipe::report
