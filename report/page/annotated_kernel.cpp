// SPDX-License-Identifier: MIT
#include "report/page/annotated_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

#include "plot/svg.h"
#include "report/page/page.h"
#include "report/text/annotated_source.h"
#include "sim/observers/stalls.h"

namespace occupipe::report {
namespace {

using analysis::AnnotatedInstruction;
using analysis::AnnotatedLine;
using analysis::Annotation;
using analysis::Spent;
using plot::html_escaped;

std::string anchor(std::string_view prefix, std::string_view name) {
    std::string id(prefix);
    for (const char c : name)
        id += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ? c : '-';
    return id;
}

std::string line_anchor(const std::string& at) { return anchor("line-", at); }
std::string code_anchor(const std::string& id) { return anchor("code-", id); }

std::string link(const std::string& target, const std::string& text) {
    return fmt::format("<a href=\"#{}\">{}</a>", target, html_escaped(text));
}

std::string number_cell(const std::string& text) {
    return fmt::format("<td class=\"number\">{}</td>", html_escaped(text));
}

// With a bar behind it as long as the share of the largest.
std::string share_cell(const std::string& text, double share, double largest) {
    const double width = largest > 0 ? 100 * share / largest : 0;
    return fmt::format(
        "<td class=\"number\" style=\"background:linear-gradient(to left,color-mix(in "
        "srgb,var(--vermillion) 30%,transparent) {:.1f}%,transparent {:.1f}%)\">{}</td>",
        width, width, html_escaped(text));
}

// As far in as the text of a line that can be opened.
std::string code_cell(const std::string& text) {
    return fmt::format(
        "<td style=\"padding-left:1.1rem\"><code style=\"white-space:pre\">{}</code></td>",
        html_escaped(text));
}

std::string table(const std::vector<const char*>& header, const std::string& rows) {
    // As wide as the window, not as the text.
    std::string text =
        "<div style=\"overflow-x:auto;width:calc(100vw - 4rem);margin-left:calc(50% - 50vw + "
        "2rem)\"><table>\n<thead><tr>";
    for (const char* name : header) text += fmt::format("<th scope=\"col\">{}</th>", name);
    return text + "</tr></thead>\n<tbody>\n" + rows + "</tbody></table></div>\n";
}

class Page {
public:
    explicit Page(const Annotation& annotation)
        : annotation_(annotation),
          awaited_(annotation),
          memory_(std::ranges::any_of(annotation.instructions, [](const AnnotatedInstruction& one) {
              return one.memory.has_value();
          })) {
        for (const AnnotatedLine& line : annotation.lines)
            largest_line_ = std::max(largest_line_, share(line.spent));
        for (const AnnotatedInstruction& one : annotation.instructions) {
            largest_instruction_ = std::max(largest_instruction_, share(one.spent));
        }
    }

    std::string source() const {
        std::string rows;
        const AnnotatedLine* before = nullptr;
        for (const AnnotatedLine& line : annotation_.lines) {
            if (before && before->file != line.file) before = nullptr;
            if (!before && line.number > 0)
                rows += fmt::format("<tr><th colspan=\"{}\">{}</th></tr>\n", header().size() + 2,
                                    html_escaped(line.file));
            if (before && line.text && before->number + 1 < line.number)
                rows += "<tr><td class=\"quiet\">…</td></tr>\n";
            rows += row(line);
            before = &line;
        }
        std::vector<const char*> names = {"line"};
        for (const char* name : header()) names.push_back(name);
        names.push_back("source");
        return table(names, rows);
    }

    std::string machine_code() const {
        std::string rows;
        for (const AnnotatedInstruction& one : annotation_.instructions) rows += row(one);
        std::vector<const char*> names = {"address"};
        for (const char* name : header()) names.push_back(name);
        for (const char* name : {"stall count", "from", "instruction"}) names.push_back(name);
        return table(names, rows);
    }

    std::string rest() const {
        HtmlTable rows{{"", "share of the time of all warp slots"}, {}, false};
        std::map<sim::WaitReason, double> sums = annotation_.rest;
        for (const AnnotatedInstruction& one : annotation_.instructions)
            for (const auto& [reason, cycles] : one.spent.waits) sums[reason] += cycles;
        std::vector<std::pair<sim::WaitReason, double>> sorted(sums.begin(), sums.end());
        std::ranges::stable_sort(sorted, std::greater(),
                                 [](const auto& one) { return one.second; });
        for (const auto& [reason, cycles] : sorted)
            rows.rows.push_back(
                {{std::string(to_string(reason)), std::nullopt, ""},
                 {fmt::format("{:.1f} %", 100 * annotation_.share(cycles)), cycles, ""}});
        return html(rows);
    }

private:
    double share(const Spent& spent) const { return annotation_.share(spent.cycles()); }

    std::vector<const char*> header() const {
        std::vector<const char*> names = {"executed",   "per warp",  "cycles", "share",
                                          "because of", "result of", "awaited"};
        if (annotation_.interval_draws > 0) names.insert(names.begin() + 3, "95 % of the draws");
        if (memory_) names.push_back("per access");
        return names;
    }

    std::string numbers(const Spent& spent, const std::optional<analysis::MemorySums>& memory,
                        const std::optional<analysis::Interval>& interval,
                        const std::string& what_for, double largest) const {
        const AnnotationCells text = cells(annotation_, spent, memory);
        std::string cells_text =
            number_cell(text.executed) + number_cell(text.per_warp) + number_cell(text.cycles) +
            (annotation_.interval_draws > 0 ? number_cell(interval_text(interval)) : "") +
            share_cell(text.share, share(spent), largest) +
            fmt::format(
                "<td style=\"white-space:nowrap\">{}</td><td style=\"white-space:nowrap\">{}</td>",
                html_escaped(text.reason), what_for) +
            number_cell(text.awaited);
        if (memory_)
            cells_text +=
                fmt::format("<td style=\"min-width:14em\">{}</td>", html_escaped(text.memory));
        return cells_text;
    }

    // The instructions of the line that take most of its time, then how many there are.
    std::string row(const AnnotatedLine& line) const {
        const std::string at = fmt::format("{}:{}", line.file, line.number);
        const std::string name = line.number == 0 ? "–" : fmt::format("{}", line.number);
        const std::string text =
            line.number == 0 ? "(instructions that say no line)" : line.text.value_or("");
        if (line.instructions.empty())
            return fmt::format(
                "<tr id=\"{}\"><td class=\"number quiet\">{}</td><td colspan=\"{}\"></td>{}</tr>\n",
                line_anchor(at), name, header().size(), code_cell(text));
        std::string code;
        for (const std::size_t i : line.instructions) {
            const AnnotatedInstruction& one = annotation_.instructions[i];
            code += fmt::format("<li>{} {:.1f} % <code>{}</code></li>\n",
                                link(code_anchor(one.id),
                                     one.address ? fmt::format("{:04x}", *one.address) : one.id),
                                100 * share(one.spent),
                                html_escaped(one.text.empty() ? one.op : one.text));
        }
        return fmt::format(
            "<tr id=\"{}\"><td class=\"number\">{}</td>{}<td><details style=\"margin:0\">"
            "<summary style=\"white-space:nowrap\"><code style=\"white-space:pre\">{}</code>"
            "</summary><ul>\n{}</ul></details></td></tr>\n",
            line_anchor(at), name,
            numbers(line.spent, line.memory, line.interval, line_waited_for(line), largest_line_),
            html_escaped(text), code);
    }

    std::string line_waited_for(const AnnotatedLine& line) const {
        const std::string name = awaited_.of(line.instructions);
        constexpr std::string_view prefix = "line ";
        if (!name.starts_with(prefix)) return html_escaped(name);
        int number = 0;
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
        for (const AnnotatedLine& one : annotation_.lines)
            if (one.number == number && !one.instructions.empty())
                return link(line_anchor(fmt::format("{}:{}", one.file, one.number)), name);
        return html_escaped(name);
    }

    std::string row(const AnnotatedInstruction& one) const {
        const std::string awaited = awaited_instruction(one);
        return fmt::format("<tr id=\"{}\"><td class=\"number\">{}</td>{}{}<td>{}</td>{}</tr>\n",
                           code_anchor(one.id),
                           one.address ? fmt::format("{:04x}", *one.address) : html_escaped(one.id),
                           numbers(one.spent, one.memory, one.interval,
                                   awaited.empty() ? "" : link(code_anchor(awaited), awaited),
                                   largest_instruction_),
                           number_cell(one.stall ? fmt::format("{}", *one.stall) : ""),
                           one.at.empty() ? "" : link(line_anchor(one.at), one.at),
                           code_cell(one.text.empty() ? one.op : one.text));
    }

    const Annotation& annotation_;
    AwaitedLines awaited_;
    bool memory_;
    double largest_line_ = 0, largest_instruction_ = 0;
};

std::string predictions(const PredictionSet& set) {
    HtmlTable rows{{"model", "cycles", "time", "warps/cycle", "limited by"}, {}, false};
    std::string assumptions;
    std::vector<std::string> known;
    for (const Prediction& one : set.predictions) {
        rows.rows.push_back({{one.model, std::nullopt, ""},
                             {fmt::format("{:.10g}", one.cycles), one.cycles, ""},
                             {fmt::format("{:.4g} us", one.seconds * 1e6), one.seconds, ""},
                             {fmt::format("{:.4g}", one.warps_per_cycle), one.warps_per_cycle, ""},
                             {one.limited_by, std::nullopt, ""}});
        for (const std::string& assumption : one.assumptions)
            if (std::ranges::find(known, assumption) == known.end()) known.push_back(assumption);
    }
    for (const std::string& assumption : known)
        assumptions += fmt::format("<li>{}</li>\n", html_escaped(assumption));
    std::string text = html(rows);
    if (!assumptions.empty())
        text += fmt::format("<details><summary>{} assumptions</summary><ul>\n{}</ul></details>\n",
                            known.size(), assumptions);
    return text;
}

std::string occupancy(const KernelPageMore& more, const Launch& launch) {
    std::string text;
    if (more.occupancy) {
        const Occupancy& found = *more.occupancy;
        text += paragraph(
            fmt::format("A core holds {} group{} of {} warp{} at once, {:.0f} % of its warps.",
                        found.groups, found.groups == 1 ? "" : "s", found.group_warps,
                        found.group_warps == 1 ? "" : "s", 100 * found.share));
        HtmlTable limits{{"limit", "groups that it allows"}, {}, false};
        for (const Occupancy::Limit& one : found.limits)
            limits.rows.push_back(
                {{std::string(occupipe::to_text(one.what)), std::nullopt, ""},
                 {fmt::format("{}", one.groups), static_cast<double>(one.groups), ""}});
        text += html(limits);
    }
    if (more.occupancies.empty()) return text;
    HtmlTable rows{{"groups at once", "warps", "cycles", "time", "limited by"}, {}, false};
    for (const Prediction& one : more.occupancies) {
        const bool own = one.launch.concurrent_groups == launch.concurrent_groups;
        rows.rows.push_back(
            {{fmt::format("{}{}", one.launch.concurrent_groups, own ? " (this one)" : ""),
              static_cast<double>(one.launch.concurrent_groups), ""},
             {fmt::format("{}", one.launch.warps()), static_cast<double>(one.launch.warps()), ""},
             {fmt::format("{:.10g}", one.cycles), one.cycles, ""},
             {fmt::format("{:.4g} us", one.seconds * 1e6), one.seconds, ""},
             {one.limited_by, std::nullopt, ""}});
    }
    return text + paragraph("Predicted by the simulation at each occupancy:") + html(rows);
}

std::string what_ifs(const KernelPageMore& more) {
    HtmlTable rows{{"10 % better", "cycles", "saved"}, {}, false};
    for (const analysis::Sensitivity& one : more.what_ifs)
        rows.rows.push_back(
            {{one.name, std::nullopt, ""},
             {fmt::format("{:.10g}", one.cycles), one.cycles, ""},
             {fmt::format("{:.2f} %", 100 * one.gain / more.cycles), one.gain, ""}});
    return paragraph(
               "Each value of the profile 10 % better by itself: λ, Λ and contention "
               "smaller, the issue limit larger. A negative saving: the launch takes longer, since "
               "warps issue in another order.") +
           html(rows);
}

}  // namespace

std::string annotated_page(const PredictionSet& set, const Annotation& annotation,
                           const KernelPageMore& more) {
    const Page parts(annotation);
    ReportPage page;
    page.section("prediction", "Prediction", predictions(set));
    if (more.occupancy || !more.occupancies.empty())
        page.section("occupancy", "Occupancy", occupancy(more, annotation.launch));
    if (!more.what_ifs.empty()) page.section("what-ifs", "What would help", what_ifs(more));
    page.section("reasons", "What warps wait for", parts.rest());
    std::string notes;
    for (const std::string& note : annotation.notes) notes += paragraph("Note: " + note + ".");
    if (annotation.has_lines())
        page.section(
            "source", "Source",
            paragraph("Click a line for its machine instructions. Executed: by all warps of the "
                      "launch. Cycles: a warp's wait to issue this, on average. Share: of the "
                      "time of all warp slots. Busy: its subsystem is. Issue: the issue limit. "
                      "Result of: what it waits for most. Awaited: cycles "
                      "in which others wait for its result.") +
                notes + parts.source());
    else
        page.section(
            "source", "Source",
            absent("no instruction of this kernel says which source line it comes from") + notes);
    page.section("machine",
                 annotation.instructions.front().address ? "Machine code" : "Instructions",
                 parts.machine_code());
    const std::string title = fmt::format("{} on {}", annotation.kernel, set.device);
    return page.finish(
        title,
        paragraph(fmt::format(
            "{} groups of {} warps, {} at once on a core; the busiest core runs {} warps, {} "
            "at once, in {:.10g} cycles.",
            grouped_number(static_cast<double>(annotation.launch.groups)),
            annotation.launch.group_warps, annotation.launch.concurrent_groups,
            grouped_number(static_cast<double>(annotation.core_warps)), annotation.places,
            annotation.cycles)));
}

}  // namespace occupipe::report
