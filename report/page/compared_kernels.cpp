// SPDX-License-Identifier: MIT
#include "report/page/compared_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "plot/svg.h"
#include "report/page/page.h"
#include "report/text/annotated_source.h"
#include "report/text/kernel_changes.h"
#include "sim/observers/stalls.h"

namespace occupipe::report {
namespace {

using analysis::BeforeAfter;
using analysis::KernelComparison;
using analysis::LineChange;
using analysis::LineFate;
using plot::html_escaped;

HtmlCell cell(double value, const std::string& text) { return {text, value, ""}; }
HtmlCell words(std::string text) { return {std::move(text), std::nullopt, ""}; }

std::vector<HtmlCell> row(const std::string& name, const BeforeAfter& pair) {
    return {words(name), cell(pair.before, change_number(pair.before)),
            cell(pair.after, change_number(pair.after)),
            cell(pair.difference(), signed_change(pair.difference())), words(change_percent(pair))};
}

std::string totals(const KernelComparison& comparison) {
    HtmlTable table{{"", "before", "after", "change", ""}, {}, false};
    table.rows.push_back(row("cycles", comparison.cycles));
    BeforeAfter microseconds = comparison.seconds;
    microseconds.before *= 1e6;
    microseconds.after *= 1e6;
    table.rows.push_back(row("time [us]", microseconds));
    std::string text = html(table);
    if (!comparison.no_uncertainty.empty())
        return text + paragraph("No uncertainty: " + comparison.no_uncertainty + ".");
    if (!comparison.uncertainty) return text;
    const analysis::DifferenceUncertainty& u = *comparison.uncertainty;
    return text +
           paragraph(fmt::format(
               "From the standard errors of the profile ({} draws, each predicts both): the change "
               "is {} to {} cycles, {:+.1f} % to {:+.1f} %, in 95 % of the draws; the later "
               "version "
               "is faster in {:.4g} %. That is how far the profile's errors reach, not how far the "
               "model is from the GPU.",
               u.draws, signed_change(u.difference.low), signed_change(u.difference.high),
               100 * (u.ratio.low - 1), 100 * (u.ratio.high - 1), 100 * u.after_faster));
}

std::string reasons(const KernelComparison& comparison) {
    HtmlTable table{{"because of", "before", "after", "change", ""}, {}, false};
    for (const auto& [reason, cycles] : reasons_by_cost(comparison))
        table.rows.push_back(row(std::string(to_string(reason)), cycles));
    return html(table);
}

// Red where it takes longer now, green where it takes less; as strong as its share of the largest.
std::string change_cell(const LineChange& line, double largest) {
    const double change = line.cycles.difference();
    const double strength = largest > 0 ? 45 * std::abs(change) / largest : 0;
    return fmt::format(
        "<td class=\"number\" style=\"background:color-mix(in srgb,var(--{}) {:.1f}%,"
        "transparent)\">{}</td>",
        change > 0 ? "vermillion" : "green", strength, signed_change(change));
}

std::string lines(const KernelComparison& comparison) {
    double largest = 0;
    for (const LineChange& line : comparison.lines)
        largest = std::max(largest, std::abs(line.cycles.difference()));
    std::string rows;
    const bool intervals = comparison.line_draws > 0;
    const auto number_of = [](const std::string& at) { return at.substr(at.rfind(':') + 1); };
    for (const LineChange& line : comparison.lines) {
        std::string reason;
        if (line.before_reason) reason = to_string(*line.before_reason);
        if (line.after_reason && line.after_reason != line.before_reason)
            reason +=
                (reason.empty() ? "" : ", then ") + std::string(to_string(*line.after_reason));
        std::string text = line.text;
        if (text.empty() && line.fate == LineFate::unknown)
            text = "(instructions that say no line)";
        const auto number = [](const std::string& of) {
            return fmt::format("<td class=\"number\">{}</td>", html_escaped(of));
        };
        rows += fmt::format(
            "<tr><td>{}</td>{}{}{}{}{}{}{}{}<td style=\"white-space:nowrap\">{}</td><td><code "
            "style=\"white-space:pre\">{}</code></td></tr>\n",
            line.fate == LineFate::removed ? "−" : mark(line.fate), number(number_of(line.before)),
            number(number_of(line.after)), number(change_number(line.cycles.before)),
            number(change_number(line.cycles.after)), change_cell(line, largest),
            intervals ? number(line.difference ? change_range(*line.difference) : "") : "",
            number(change_number(line.executions.before)),
            number(change_number(line.executions.after)), html_escaped(reason), html_escaped(text));
    }
    std::string header;
    std::vector<const char*> names = {
        "",       "line before",     "after", "cycles before",     "after",
        "change", "executed before", "after", "mostly because of", "source"};
    if (intervals) names.insert(names.begin() + 6, "95 % of the draws");
    for (const char* name : names) header += fmt::format("<th scope=\"col\">{}</th>", name);
    // As wide as the window, not as the text.
    return "<div style=\"overflow-x:auto;width:calc(100vw - 4rem);margin-left:calc(50% - 50vw + "
           "2rem)\"><table>\n<thead><tr>" +
           header + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

std::string instructions(const KernelComparison& comparison) {
    HtmlTable table{{"instruction", "before", "after", "change", ""}, {}, true};
    for (const auto& [op, executions] : comparison.instructions)
        if (std::abs(executions.difference()) >= 0.5) table.rows.push_back(row(op, executions));
    if (table.rows.empty()) return paragraph("Both execute the same instructions equally often.");
    return html(table);
}

std::string list(const std::vector<std::string>& sentences) {
    std::string text = "<ul>\n";
    for (const std::string& one : sentences)
        text += fmt::format("<li>{}</li>\n", html_escaped(one));
    return text + "</ul>\n";
}

}  // namespace

std::string comparison_page(const KernelComparisonReport& report) {
    const KernelComparison& comparison = report.comparison;
    ReportPage page;
    page.section("change", "What changed", totals(comparison));
    page.section("reasons", "Where the predicted cycles go", reasons(comparison));
    page.section("source", "By source line",
                 paragraph("+ added, − removed, ~ changed. Cycles are of the prediction, which all "
                           "lines sum to, on both sides.") +
                     lines(comparison));
    page.section("instructions", "Instructions of warps, executed by the launch",
                 instructions(comparison));
    if (!comparison.notes.empty()) page.section("notes", "Notes", list(comparison.notes));
    if (!report.assumptions.empty())
        page.section("assumptions", "Assumed", list(report.assumptions));
    return page.finish(
        fmt::format("{} → {}", comparison.before_file, comparison.after_file),
        paragraph(fmt::format("Two versions of a kernel, predicted on {}.", report.device)));
}

}  // namespace occupipe::report
