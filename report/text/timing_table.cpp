// SPDX-License-Identifier: MIT
#include "report/text/timing_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "published/shelf.h"
#include "report/text/backend_agreement.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using nlohmann::ordered_json;

// The architecture, as the papers head their tables, unless that would be ambiguous.
std::vector<std::string> headings(const TimingTable& table) {
    std::set<std::string> architectures;
    std::vector<std::string> by_architecture;
    std::vector<std::string> by_name;
    for (const DeviceIdentity& device : table.devices) {
        architectures.insert(device.architecture);
        by_architecture.push_back(device.architecture);
        by_name.push_back(device.name);
    }
    const bool distinct = architectures.size() == table.devices.size() &&
                          architectures.find("") == architectures.end();
    if (distinct) return by_architecture;
    for (std::size_t i = 0; i < by_name.size(); ++i) {
        const bool twice =
            std::ranges::count(table.devices, table.devices[i].name, &DeviceIdentity::name) > 1;
        if (twice && !table.backends[i].empty())
            by_name[i] += fmt::format(" ({})", table.backends[i]);
    }
    return by_name;
}

std::string cell_text(const TimingTable::Row& row, std::size_t device, bool errors) {
    const auto& timing = row.timings[device];
    if (!timing) {
        return "-";
    }
    const auto& one = row.per_scheduler[device];
    // Published figures of an instruction of several warps are for the whole.
    const int warps = timing->warps_per_instruction;
    const std::string whole =
        warps > 1 ? fmt::format(" ({} per {} warps)", value_text(timing->cpi.times(warps)), warps)
                  : "";
    const auto text = [errors](const Estimate& e) {
        return errors ? estimate_text(e) : value_text(e);
    };
    return fmt::format("{}{}{} / {}", text(timing->cpi),
                       one ? fmt::format(" ({:.4g} per scheduler)", *one) : "", whole,
                       timing->latency ? text(*timing->latency) : "?");
}

// Marks values that are those of more than the instruction alone, and says of what below the table.
class Footnotes {
public:
    std::string mark(const std::optional<InstructionTiming>& timing) {
        unknown_ |= timing && !timing->latency;
        const bool assumed = timing && timing->source == Source::assumed;
        assumed_ |= assumed;
        const bool limited = timing && has_doubt(timing->cpi, Doubt::Kind::at_issue_limit);
        limited_ |= limited;
        return (assumed ? " [a]" : "") + mark_misfit(timing) + (limited ? " [i]" : "") +
               mark_step(timing);
    }

    std::string text() const {
        std::string text;
        if (unknown_) text += "\n?: Λ was not measured, as nothing waited for a result\n";
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            text += fmt::format("{}[{}] a step is {}; λ and Λ are the whole step's\n",
                                i == 0 ? "\n" : "", i + 1, steps_[i]);
        }
        if (assumed_)
            text += fmt::format(
                "{}[a] assumed, neither measured nor published: the profile's `reference` says "
                "why\n",
                text.empty() ? "\n" : "");
        if (misfit_) {
            text += fmt::format(
                "{}[!] doubtful, since the law does not fit the measurements or these contradict "
                "themselves: `explain` says how\n",
                text.empty() ? "\n" : "");
        }
        if (limited_)
            text += fmt::format("{}[i] λ is {}\n", text.empty() ? "\n" : "",
                                sentence_of(Doubt::Kind::at_issue_limit));
        return text;
    }

private:
    std::string mark_misfit(const std::optional<InstructionTiming>& timing) {
        const bool misses = timing && (is_doubtful(timing->cpi) ||
                                       (timing->latency && is_doubtful(*timing->latency)));
        misfit_ |= misses;
        return misses ? " [!]" : "";
    }

    std::string mark_step(const std::optional<InstructionTiming>& timing) {
        if (!timing || timing->step.empty()) {
            return {};
        }
        const auto known = std::ranges::find(steps_, timing->step);
        const auto number = known - steps_.begin() + 1;
        if (known == steps_.end()) {
            steps_.push_back(timing->step);
        }
        return fmt::format(" [{}]", number);
    }

    bool assumed_ = false;
    bool misfit_ = false;
    bool limited_ = false;
    bool unknown_ = false;
    std::vector<std::string> steps_;
};

std::string as_markdown(const TimingTable& table, bool errors) {
    TextTable text;
    text.header = {"λ / Λ"};
    text.align = {Align::left};
    for (const std::string& heading : headings(table)) {
        text.header.push_back(heading);
        text.align.push_back(Align::right);
    }
    Footnotes footnotes;
    for (const TimingTable::Row& row : table.rows) {
        std::vector<std::string> cells = {row.instruction};
        for (std::size_t i = 0; i < row.timings.size(); ++i) {
            cells.push_back(cell_text(row, i, errors) + footnotes.mark(row.timings[i]));
        }
        text.rows.push_back(std::move(cells));
    }
    return markdown(text) + footnotes.text();
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + '"';
}

std::string csv_estimate(const Estimate& estimate) {
    return fmt::format("{},{},{}", estimate.value,
                       estimate.std_error ? fmt::format("{}", *estimate.std_error) : "",
                       estimate.identifiable());
}

// "upper" and "lower"; empty for a value and where the direction is not known.
std::string_view direction(const Estimate& estimate) {
    if (estimate.kind == Estimate::Kind::upper_bound) return "upper";
    return estimate.kind == Estimate::Kind::lower_bound ? "lower" : "";
}

// One line per instruction and device that has it.
std::string as_csv(const TimingTable& table) {
    std::string text =
        "instruction,device,architecture,λ,λ std_error,λ identifiable,"
        "Λ,Λ std_error,Λ identifiable,source,λ bound,Λ bound,λ per scheduler,"
        "warps per instruction\n";
    for (const TimingTable::Row& row : table.rows) {
        for (std::size_t i = 0; i < row.timings.size(); ++i) {
            if (const auto& timing = row.timings[i]) {
                text += fmt::format(
                    "{},{},{},{},{},{},{},{},{},{}\n", csv_field(row.instruction),
                    csv_field(table.devices[i].name), csv_field(table.devices[i].architecture),
                    csv_estimate(timing->cpi),
                    timing->latency ? csv_estimate(*timing->latency) : ",,",
                    to_string(timing->source), direction(timing->cpi),
                    timing->latency ? direction(*timing->latency) : "",
                    row.per_scheduler[i] ? fmt::format("{}", *row.per_scheduler[i]) : "",
                    timing->warps_per_instruction);
            }
        }
    }
    return text;
}

std::string latex_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) {
            result += '\\';
        }
        if (c == '\\') {
            result += "\\textbackslash{}";
        } else if (c == '~') {
            result += "\\textasciitilde{}";
        } else if (c == '^') {
            result += "\\textasciicircum{}";
        } else {
            result += c;
        }
    }
    return result;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
    return text;
}

std::string as_latex(const TimingTable& table, bool errors) {
    std::string text = fmt::format("\\begin{{tabular}}{{l{}}}\n\\hline\n$\\lambda$ / $\\Lambda$",
                                   std::string(table.devices.size(), 'r'));
    for (const std::string& heading : headings(table)) {
        text += " & " + latex_text(heading);
    }
    text += " \\\\\n\\hline\n";
    for (const TimingTable::Row& row : table.rows) {
        text += fmt::format("\\texttt{{{}}}", latex_text(row.instruction));
        for (std::size_t i = 0; i < row.timings.size(); ++i) {
            std::string cell = row.timings[i] ? cell_text(row, i, errors) : "--";
            if (row.timings[i] && row.timings[i]->source == Source::assumed) cell += " (assumed)";
            cell = replaced(std::move(cell), "±", "$\\pm$");
            cell = replaced(std::move(cell), "≤", "$\\le$");
            cell = replaced(std::move(cell), "≥", "$\\ge$");
            text += " & " + cell;
        }
        text += " \\\\\n";
    }
    return text + "\\hline\n\\end{tabular}\n";
}

ordered_json json_estimate(const Estimate& estimate) {
    ordered_json json = {{"value", estimate.value}};
    if (estimate.std_error) {
        json["std_error"] = *estimate.std_error;
    }
    json["identifiable"] = estimate.identifiable();
    if (!direction(estimate).empty()) {
        json["bound"] = direction(estimate);
    }
    if (!estimate.note.empty()) {
        json["note"] = estimate.note;
    }
    for (const Doubt& doubt : estimate.doubts) {
        ordered_json& one = json["doubts"].emplace_back();
        one["kind"] = to_string(doubt.kind);
        if (doubt.size) one["size"] = *doubt.size;
    }
    return json;
}

std::string as_json(const TimingTable& table) {
    ordered_json json = {{"format", "occupipe-table/1"},
                         {"devices", ordered_json::array()},
                         {"instructions", ordered_json::array()}};
    for (const DeviceIdentity& device : table.devices) {
        json["devices"].push_back({{"name", device.name}, {"architecture", device.architecture}});
    }
    for (const TimingTable::Row& row : table.rows) {
        ordered_json timings = ordered_json::array();
        for (std::size_t i = 0; i < row.timings.size(); ++i) {
            const auto& timing = row.timings[i];
            if (timing) {
                timings.push_back({{"cpi", json_estimate(timing->cpi)}});
                if (timing->latency)
                    timings.back()["latency"] = json_estimate(*timing->latency);
                else
                    timings.back()["latency_unknown"] = timing->latency_unknown;
                timings.back()["subsystem"] = timing->subsystem;
                timings.back()["source"] = to_string(timing->source);
                if (!timing->reference.empty()) timings.back()["reference"] = timing->reference;
                if (!timing->note.empty()) timings.back()["note"] = timing->note;
                const auto published =
                    analysis::shelf_evidence(table.devices[i].compute_capability, row.instruction);
                if (!published.empty()) timings.back()["published"] = published;
                if (row.per_scheduler[i]) {
                    timings.back()["cpi_per_scheduler"] = *row.per_scheduler[i];
                }
                if (timing->warps_per_instruction > 1) {
                    timings.back()["warps_per_instruction"] = timing->warps_per_instruction;
                }
            } else {
                timings.push_back(nullptr);
            }
        }
        json["instructions"].push_back({{"name", row.instruction}, {"timings", timings}});
    }
    return json.dump(2) + '\n';
}

}  // namespace

TimingTable timing_table(const std::vector<GpuProfile>& profiles) {
    TimingTable table;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        table.devices.push_back(profiles[i].device);
        table.backends.push_back(backend_of(profiles[i]));
        for (const InstructionTiming& timing : profiles[i].instructions) {
            auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                    [&](const auto& r) { return r.instruction == timing.name; });
            if (row == table.rows.end()) {
                table.rows.push_back({timing.name, {}, {}});
                row = std::prev(table.rows.end());
                row->timings.resize(profiles.size());
                row->per_scheduler.resize(profiles.size());
            }
            row->timings[i] = timing;
            row->timings[i]->cpi = profiles[i].cpi_per_core(timing);
            if (profiles[i].copies(timing.subsystem) > 1) {
                row->per_scheduler[i] = timing.cpi.value;
            }
        }
    }
    return table;
}

std::string format_timing_table(const TimingTable& table, TableFormat format, bool errors) {
    switch (format) {
        case TableFormat::markdown:
            return as_markdown(table, errors);
        case TableFormat::csv:
            return as_csv(table);
        case TableFormat::latex:
            return as_latex(table, errors);
        case TableFormat::json:
            return as_json(table);
    }
    return {};
}

}  // namespace occupipe::report
