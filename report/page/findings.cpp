// SPDX-License-Identifier: MIT
#include "report/page/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "plot/svg.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using analysis::Finding;
using nlohmann::ordered_json;

std::string measured_text(const analysis::Compared& one) {
    if (!one.measured) return "-";
    std::string text = estimate_text(*one.measured);
    if (one.per_scheduler) text += fmt::format(" ({:.4g} per scheduler)", *one.per_scheduler);
    return text;
}

std::string reference_text(const analysis::Compared& one) {
    if (!one.reference) return "-";
    const auto [low, high] = *one.reference;
    if (!std::isfinite(high)) return fmt::format("≥ {:.4g}", low);
    if (low == high) return fmt::format("{:.4g}", low);
    return fmt::format("{:.4g} to {:.4g}", low, high);
}

std::string difference_text(const analysis::Compared& one) {
    if (!one.relative) return "-";
    return *one.relative == 0 ? "inside" : fmt::format("{:+.1f} %", 100 * *one.relative);
}

std::size_t count(const analysis::SelfCheck& check, analysis::Level level) {
    return static_cast<std::size_t>(std::ranges::count_if(
        check.findings, [&](const analysis::Finding& f) { return f.level() == level; }));
}

std::string title_of(const CheckedProfile& one) {
    const DeviceIdentity& device = one.profile->device;
    const std::string backend = analysis::backend_of(*one.profile);
    return fmt::format("Self-check of {}{}{}", device.name,
                       device.compute_capability.empty()
                           ? ""
                           : fmt::format(", compute capability {}", device.compute_capability),
                       backend.empty() ? "" : " by " + backend);
}

std::string summary_of(const CheckedProfile& one) {
    const analysis::SelfCheck& check = one.check;
    return fmt::format("{}: {} serious, {} suspicious, {} notices; {} comparisons agree.", one.file,
                       count(check, analysis::Level::serious),
                       count(check, analysis::Level::suspicious),
                       count(check, analysis::Level::notice), check.agreements.size());
}

// Sources that the comparisons name, in the order of the published files.
std::vector<const analysis::PublishedSource*> cited(const std::vector<CheckedProfile>& profiles,
                                                    const analysis::Published& published) {
    const auto names = [](const analysis::Compared& one, const std::string& id) {
        return one.source.find(id) != std::string::npos;
    };
    std::vector<const analysis::PublishedSource*> sources;
    for (const analysis::PublishedSource& source : published.sources) {
        const bool used = std::ranges::any_of(profiles, [&](const CheckedProfile& one) {
            const auto cites = [&](const analysis::Compared& c) { return names(c, source.id); };
            return std::ranges::any_of(one.check.findings, cites) ||
                   std::ranges::any_of(one.check.agreements, cites);
        });
        if (used) sources.push_back(&source);
    }
    return sources;
}

std::string source_text(const analysis::PublishedSource& source) {
    std::string text = fmt::format("{}: \"{}\"", source.authors, source.title);
    if (source.year) text += fmt::format(", {}", *source.year);
    text += fmt::format("; {}. Method: {}.", source.where, source.method);
    if (!source.read.empty()) text += fmt::format(" Read: {}.", source.read);
    return text;
}

std::string subject_of(const analysis::Compared& one) {
    return one.subject.empty() ? "the profile" : one.subject;
}

// A finding, and others that say the same of other subjects.
struct Alike {
    const analysis::Finding* first = nullptr;  // the most severe
    std::vector<const analysis::Finding*> others;
};

// As many as fill a page are one line each no more: one cause (a clock that moved) can be found in
// every row.
constexpr std::size_t most_alone = 3;

std::vector<Alike> gathered(const std::vector<analysis::Finding>& findings) {
    const auto key = [](const analysis::Finding& one) {
        return std::tuple(one.check, one.level(), one.quantity, one.meaning, one.explanation,
                          one.source, one.look_at);
    };
    std::vector<Alike> all;
    std::map<decltype(key(findings.front())), std::size_t> first_of, count;
    for (const analysis::Finding& one : findings) ++count[key(one)];
    for (const analysis::Finding& one : findings) {
        const bool together = count[key(one)] > most_alone;
        const auto [place, added] = first_of.try_emplace(key(one), all.size());
        if (added || !together)
            all.push_back({&one, {}});
        else
            all[place->second].others.push_back(&one);
    }
    return all;
}

std::string others_of(const Alike& alike) {
    return alike.others.empty() ? "" : fmt::format(" and {} others", alike.others.size());
}

// Label and text of a finding's lines.
std::vector<std::pair<std::string, std::string>> details(const Alike& alike) {
    const analysis::Finding& finding = *alike.first;
    std::vector<std::pair<std::string, std::string>> lines = {
        {"measured",
         fmt::format("{} {} {}", finding.quantity, measured_text(finding), finding.unit)},
        {"expected", fmt::format("{} {}{}", reference_text(finding), finding.unit,
                                 finding.source.empty() ? "" : " (" + finding.source + ")")},
        {"could be", finding.explanation},
        {"look at", finding.look_at}};
    if (alike.others.empty()) return lines;
    std::vector<std::string> others;
    for (const analysis::Finding* other : alike.others)
        others.push_back(fmt::format("{} ({})", subject_of(*other), measured_text(*other)));
    lines.insert(lines.begin() + 1, {"and", fmt::format("{}", fmt::join(others, ", "))});
    return lines;
}

TextTable agreements_table(const analysis::SelfCheck& check) {
    TextTable table{{"check", "of", "quantity", "measured", "expected", "unit", "off"},
                    {Align::left, Align::left, Align::left, Align::right, Align::right, Align::left,
                     Align::right},
                    {}};
    for (const analysis::Compared& one : check.agreements)
        table.rows.push_back({std::string(analysis::to_string(one.check)), subject_of(one),
                              one.quantity, measured_text(one), reference_text(one), one.unit,
                              difference_text(one)});
    return table;
}

ordered_json json_of(const analysis::Compared& one) {
    ordered_json json = {
        {"check", analysis::to_string(one.check)}, {"quantity", one.quantity}, {"unit", one.unit}};
    if (!one.subject.empty()) json["subject"] = one.subject;
    if (one.measured) {
        json["measured"] = one.measured->value;
        if (one.measured->std_error) json["std_error"] = *one.measured->std_error;
        if (!one.measured->identifiable()) json["bound"] = to_string(one.measured->kind);
    }
    if (one.per_scheduler) json["per_scheduler"] = *one.per_scheduler;
    if (one.reference) {
        json["expected_low"] = one.reference->first;
        if (std::isfinite(one.reference->second)) json["expected_high"] = one.reference->second;
    }
    if (!one.source.empty()) json["source"] = one.source;
    if (one.relative) json["relative"] = *one.relative;
    return json;
}

// The few rules that a page of tables needs.
constexpr const char* style =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}td,th{border-bottom:1px solid #ccc;padding:.2em .6em;"
    "text-align:left}.serious{color:#a00000}.suspicious{color:#8a5a00}dt{font-weight:600}"
    "dd{margin:0 0 .2em 1.5em}";

std::string html_list(const std::vector<std::string>& items) {
    std::string text = "<ul>\n";
    for (const std::string& item : items)
        text += fmt::format("<li>{}</li>\n", plot::html_escaped(item));
    return text + "</ul>\n";
}

std::string html_table(const TextTable& table) {
    std::string text = "<table>\n<tr>";
    for (const std::string& cell : table.header)
        text += fmt::format("<th>{}</th>", plot::html_escaped(cell));
    text += "</tr>\n";
    for (const auto& row : table.rows) {
        text += "<tr>";
        for (const std::string& cell : row)
            text += fmt::format("<td>{}</td>", plot::html_escaped(cell));
        text += "</tr>\n";
    }
    return text + "</table>\n";
}

}  // namespace

std::string findings_markdown(const std::vector<CheckedProfile>& profiles,
                              const analysis::Published& published) {
    std::string text;
    for (const CheckedProfile& one : profiles) {
        text +=
            fmt::format("{}# {}\n\n{}\n", text.empty() ? "" : "\n", title_of(one), summary_of(one));
        if (!one.check.findings.empty())
            text += "\n## Disagreements, the most suspicious first\n\n";
        int number = 0;
        for (const Alike& alike : gathered(one.check.findings)) {
            const analysis::Finding& finding = *alike.first;
            text += fmt::format("{}. **{}** ({:.0f}) `{}`{}: {}\n", ++number,
                                analysis::to_string(finding.level()), finding.severity,
                                subject_of(finding), others_of(alike), finding.meaning);
            for (const auto& [label, line] : details(alike))
                text += fmt::format("   - {}: {}\n", label, line);
        }
        if (!one.check.agreements.empty())
            text += fmt::format("\n## What agrees\n\n{}", markdown(agreements_table(one.check)));
        if (!one.check.not_compared.empty()) text += "\n## Not compared\n\n";
        for (const std::string& reason : one.check.not_compared)
            text += fmt::format("- {}\n", reason);
    }
    const auto sources = cited(profiles, published);
    if (!sources.empty()) text += "\n## Sources\n\n";
    for (const analysis::PublishedSource* source : sources)
        text += fmt::format("- `{}`: {}\n", source->id, source_text(*source));
    return text;
}

std::string findings_html(const std::vector<CheckedProfile>& profiles,
                          const analysis::Published& published) {
    std::string body;
    for (const CheckedProfile& one : profiles) {
        body += fmt::format("<h1>{}</h1>\n<p>{}</p>\n", plot::html_escaped(title_of(one)),
                            plot::html_escaped(summary_of(one)));
        if (!one.check.findings.empty())
            body += "<h2>Disagreements, the most suspicious first</h2>\n<ol>\n";
        for (const Alike& alike : gathered(one.check.findings)) {
            const analysis::Finding& finding = *alike.first;
            body += fmt::format(
                "<li><strong class=\"{0}\">{0}</strong> ({1:.0f}) <code>{2}</code>{3}: {4}\n<dl>",
                analysis::to_string(finding.level()), finding.severity,
                plot::html_escaped(subject_of(finding)), others_of(alike),
                plot::html_escaped(finding.meaning));
            for (const auto& [label, line] : details(alike))
                body += fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, plot::html_escaped(line));
            body += "</dl></li>\n";
        }
        if (!one.check.findings.empty()) body += "</ol>\n";
        if (!one.check.agreements.empty())
            body += "<h2>What agrees</h2>\n" + html_table(agreements_table(one.check));
        if (!one.check.not_compared.empty())
            body += "<h2>Not compared</h2>\n" + html_list(one.check.not_compared);
    }
    std::vector<std::string> sources;
    for (const analysis::PublishedSource* source : cited(profiles, published))
        sources.push_back(fmt::format("{}: {}", source->id, source_text(*source)));
    if (!sources.empty()) body += "<h2>Sources</h2>\n" + html_list(sources);
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Self-check"
        "</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
        style, body);
}

std::string findings_json(const std::vector<CheckedProfile>& profiles) {
    ordered_json json = {{"format", "occupipe-selfcheck/1"}, {"profiles", ordered_json::array()}};
    for (const CheckedProfile& one : profiles) {
        ordered_json findings = ordered_json::array();
        for (const analysis::Finding& finding : one.check.findings) {
            ordered_json entry = {{"level", analysis::to_string(finding.level())},
                                  {"severity", finding.severity}};
            entry.update(json_of(finding));
            entry["meaning"] = finding.meaning;
            entry["explanation"] = finding.explanation;
            entry["look_at"] = finding.look_at;
            findings.push_back(std::move(entry));
        }
        ordered_json agreements = ordered_json::array();
        for (const analysis::Compared& agreement : one.check.agreements)
            agreements.push_back(json_of(agreement));
        json["profiles"].push_back({{"file", one.file},
                                    {"device", one.profile->device.name},
                                    {"findings", std::move(findings)},
                                    {"agreements", std::move(agreements)},
                                    {"not_compared", one.check.not_compared}});
    }
    return json.dump(2) + '\n';
}

}  // namespace occupipe::report
