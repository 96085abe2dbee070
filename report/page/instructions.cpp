// SPDX-License-Identifier: MIT
// Curves of the report: occupancy rooflines, mixes, memory, and each instruction's hull.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/instruction.h"
#include "fit/profile/fit_report.h"
#include "plot/svg.h"
#include "report/figures/fit_figures.h"
#include "report/figures/occupancy_figures.h"
#include "report/page/sections.h"

namespace occupipe::report {
namespace {

using plot::html_escaped;
using plot::Picture;

// One instruction of each subsystem, that with the most points.
std::vector<const SubjectReport*> representatives(const FitOutcome& fit) {
    std::map<std::string, const SubjectReport*> best;
    for (const SubjectReport& s : fit.subjects) {
        if (!s.fit.ok || !s.primary || s.subsystem.empty()) continue;
        const SubjectReport*& chosen = best[s.subsystem];
        if (!chosen || chosen->curve.points.size() < s.curve.points.size()) chosen = &s;
    }
    std::vector<const SubjectReport*> result;
    result.reserve(best.size());
    for (const auto& [subsystem, s] : best) result.push_back(s);
    return result;
}

bool is_memory(const SubjectReport& s) {
    const InstructionKind kind = kind_of(s.curve.subject);
    return kind == InstructionKind::load || kind == InstructionKind::store;
}

std::string working_sets(ReportPage& page, const FitOutcome& fit) {
    std::vector<std::string> figures;
    std::string text;
    for (const WorkingSetFit& set : fit.working_sets) {
        if (set.points.empty())
            text += absent(fmt::format("{}: {}", set.subject, set.reason));
        else
            figures.push_back(page.figure(working_set_picture(set)));
    }
    if (fit.working_sets.empty()) text = absent("not measured");
    return "<h3>Latency over the working set</h3>\n" + grid(figures) + text;
}

std::string contention(ReportPage& page, const FitOutcome& fit) {
    std::vector<std::string> with;
    std::vector<std::string> without;
    for (const SubjectReport& s : fit.subjects)
        if (is_memory(s) && s.fit.ok)
            (s.fit.contention ? with : without).push_back(page.figure(contention_picture(s)));
    std::string text = "<h3>Contention: latency that grows with the instructions in flight</h3>\n";
    if (with.empty() && without.empty()) return text + absent("no memory instruction was fitted");
    text += grid(with);
    if (!without.empty())
        text += fmt::format(
            "<details{}><summary>Instructions without growth ({})</summary>\n{}"
            "</details>\n",
            with.empty() && without.size() <= 4 ? " open" : "", without.size(), grid(without));
    return text;
}

std::string subject_details(ReportPage& page, const SubjectReport& s, bool anchor) {
    const std::string label = s.curve.label();
    std::string summary =
        s.fit.ok ? fmt::format("λ {}, Λ {}", format_estimate(s.fit.cpi), latency_text(s))
                 : "not fitted";
    std::string text = fmt::format(
        "<details class=\"subject\" data-name=\"{}\"{}><summary><code>{}</code> {}</summary>\n",
        html_escaped(label),
        anchor ? fmt::format(" id=\"{}\"", html_escaped(anchor_of(s.curve.subject))) : "",
        html_escaped(label), html_escaped(summary));
    text += s.curve.points.empty() ? absent("no usable point") : page.figure(hull_picture(s));
    if (!s.fit.ok) text += absent(s.fit.reason);
    for (const std::string& note : s.fit.notes) text += paragraph("Note: " + note + ".");
    if (s.curve.rejected_rows() > 0)
        text += paragraph(fmt::format("{} of {} rows rejected: {}.", s.curve.rejected_rows(),
                                      s.curve.rows, s.curve.rejection_summary()));
    return text + "</details>\n";
}

}  // namespace

void add_occupancy_section(ReportPage& page, const ReportData& data) {
    const auto chosen = representatives(data.fit);
    if (chosen.empty())
        return page.section("occupancy", "Occupancy roofline",
                            absent("no instruction could be fitted"));
    page.section(
        "occupancy", "Occupancy roofline",
        page.figure(occupancy_picture(chosen)) +
            paragraph("One instruction of each subsystem, the one with the most points. "
                      "Left of its ridge Λ/λ an instruction is limited by latency, right of "
                      "it by throughput."));
}

void add_mix_section(ReportPage& page, const ReportData& data) {
    std::string text;
    Picture picture{.description =
                        "Mixes: throughput of the first instruction against β, "
                        "measured (with standard errors) and by each law."};
    for (const MixFit& mix : data.fit.mixes) {
        if (mix.points.empty()) {
            text += absent(fmt::format("{} with {}: {}", mix.first, mix.second, mix.reason));
            continue;
        }
        picture.panels.push_back(mix_figure(mix));
        text += fmt::format("<li><code>{}</code> with <code>{}</code>: {}</li>\n",
                            html_escaped(mix.first), html_escaped(mix.second),
                            html_escaped(mix_verdict(mix)));
    }
    if (data.fit.mixes.empty()) text = absent("not measured");
    if (!picture.panels.empty()) {
        picture.columns = picture.panels.size() == 1 ? 1 : 2;
        const auto rows = (static_cast<int>(picture.panels.size()) + 1) / 2;
        picture.width = 540 * picture.columns;
        picture.height = 320 * rows;
        text = page.figure(picture) + "<ul>\n" + text + "</ul>\n";
    }
    page.section(
        "mixes", "Instruction mixes",
        paragraph("β instructions of one type, then one of another, in dependent chains. Which "
                  "law fits shows whether the two share a subsystem and whether a common "
                  "issue limit is visible.") +
            text);
}

void add_memory_section(ReportPage& page, const ReportData& data) {
    page.section("memory", "Memory", working_sets(page, data.fit) + contention(page, data.fit));
}

void add_instruction_section(ReportPage& page, const ReportData& data) {
    std::map<std::string, std::vector<const SubjectReport*>> groups;
    for (const SubjectReport& s : data.fit.subjects)
        groups[s.subsystem.empty() ? "not in the profile" : s.subsystem].push_back(&s);
    std::string text = paragraph(
        "Cycles per instruction against the M instructions in flight: from Λ (one alone) along Λ/M "
        "down to λ. "
        "Of points that differ by their depth alone the upper panel shows the deepest; the lower "
        "one shows the residuals of all, with standard errors.");
    text +=
        "<p><input class=\"filter\" data-target=\"#instructions\" type=\"search\" "
        "placeholder=\"filter by name\" aria-label=\"filter instructions by name\"></p>\n";
    std::set<std::string> anchored;
    for (const auto& [subsystem, subjects] : groups) {
        text += fmt::format("<h3>{} ({})</h3>\n", html_escaped(subsystem), subjects.size());
        for (const SubjectReport* s : subjects)
            text += subject_details(page, *s, anchored.insert(s->curve.subject).second);
    }
    page.section("instructions", "Every instruction", text);
}

}  // namespace occupipe::report
