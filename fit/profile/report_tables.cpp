// SPDX-License-Identifier: MIT
#include "fit/profile/report_tables.h"

#include <fmt/format.h>

#include "core/instruction.h"
#include "fit/profile/fit_report.h"

namespace occupipe {
namespace {

std::string cell(const std::optional<Estimate>& e) { return e ? format_estimate(*e) : "-"; }

// Slopes and intercepts may be far below one (seconds), where decimals would be lost.
std::string scientific(const Estimate& e) {
    return e.std_error ? fmt::format("{:.5g} ± {:.2g}", e.value, *e.std_error)
                       : fmt::format("{:.5g}", e.value);
}

std::string equation(const LineFit& line, const std::string& unit) {
    if (!line.ok()) return "no line: " + line.reason;
    std::string text = fmt::format("{} {} at 0, {} per unit", scientific(line.intercept), unit,
                                   scientific(line.slope));
    if (line.bend)
        text += fmt::format(" up to {}, then {}", scientific(line.bend->at),
                            scientific(line.bend->slope));
    return text + fmt::format(" (mean error {:.2g} %)", 100 * line.mean_relative_error);
}

bool is_memory(const SubjectReport& s) {
    const InstructionKind kind = kind_of(s.curve.subject);
    return s.fit.ok && (kind == InstructionKind::load || kind == InstructionKind::store);
}

// Λ0, h and B of every load and store: X(M) = min(M/(Λ0 + h·M), B), B = 1/λ.
std::string memory_section(const FitOutcome& outcome) {
    const GpuProfile& profile = outcome.profile;
    std::string rows;
    for (const SubjectReport& s : outcome.subjects) {
        if (!is_memory(s)) continue;
        std::string rate = "-";
        std::string bytes = "-";
        std::string device = "-";
        if (s.fit.cpi.identifiable()) {
            rate = fmt::format("{:.4g}", 1 / s.fit.cpi.value);
            if (s.curve.access_bytes) {
                const double per_cycle =
                    profile.warp_size * *s.curve.access_bytes / s.fit.cpi.value;
                bytes = fmt::format("{:.4g}", per_cycle);
                device = fmt::format("{:.4g}", per_cycle * profile.cores * profile.clock_hz / 1e9);
            }
        }
        rows += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", s.curve.label(),
                            s.curve.access_bytes ? fmt::format("{:g}", *s.curve.access_bytes) : "-",
                            latency_text(s),
                            s.fit.contention ? format_estimate(*s.fit.contention) : "none seen",
                            rate, bytes, device);
    }
    if (rows.empty()) return {};
    return "\n## Memory\n\nΛ0: latency of one access alone; h: its growth per further access in "
           "flight; B = 1/λ: saturated rate.\n\n"
           "| access | bytes per thread | Λ0 | h | B, accesses per cycle and core | bytes per "
           "cycle "
           "and core | GB/s, all cores |\n|---|---|---|---|---|---|---|\n" +
           rows;
}

std::string subsystem_section(const FitOutcome& outcome) {
    std::string out = fmt::format(
        "\n## Subsystems\n\n{} scheduler{} per core{}.", outcome.profile.issue.schedulers,
        outcome.profile.issue.schedulers == 1 ? "" : "s",
        outcome.profile.issue.limit
            ? fmt::format(", issue limit {:.4g} per cycle and core", *outcome.profile.issue.limit)
            : ", issue limit not known");
    const SubsystemMap& map = outcome.partition;
    if (map.confidence)
        out += fmt::format(" The partition by mixes has confidence {:.3f}.", *map.confidence);
    if (outcome.warp_choice)
        out += fmt::format(" Schedulers choose among warps: {} (confidence {:.2f}).",
                           to_string(outcome.warp_choice->order), outcome.warp_choice->confidence);
    out +=
        "\n\n| subsystem | scope | decided by | confidence | instructions |\n"
        "|---|---|---|---|---|\n";
    for (const Subsystem& subsystem : outcome.profile.subsystems) {
        const std::string_view by = map.decided_by(subsystem.name);
        const bool by_mixes = by == "mixes";
        const auto confidence = map.confidence_of.find(subsystem.name);
        std::string members;
        for (const InstructionTiming& t : outcome.profile.instructions)
            if (t.subsystem == subsystem.name)
                members += (members.empty() ? "" : ", ") + t.name +
                           (map.witnessed.contains(t.name) ? "" : "*");
        out += fmt::format(
            "| {} | {} | {} | {} | {} |\n", subsystem.name,
            subsystem.scope ? to_string(*subsystem.scope) : "not known",
            by_mixes ? "mixes" : fmt::format("assumption by {}", by),
            confidence != map.confidence_of.end() ? fmt::format("{:.3f}", confidence->second) : "-",
            members);
    }
    out += "\n\\* no mix with it: by the class that its name suggests.\n";
    for (const std::string& d : map.disagreements) out += fmt::format("\nDisagreement: {}.\n", d);
    return out;
}

}  // namespace

std::string table_section(const ParameterTable& table) {
    std::string out = fmt::format("Over {}{}{}:\n\n| {} | λ | Λ |\n|---|---|---|\n", table.over,
                                  table.note.empty() ? "" : ": ", table.note, table.over);
    for (const TableRow& row : table.rows)
        out += fmt::format("| {:g} | {} | {} |\n", row.at, cell(row.cpi), cell(row.latency));
    return out;
}

std::string line_section(const std::string& title, const std::string& unit, const LineFit& line) {
    return fmt::format("{}: {}.\n", title, equation(line, unit));
}

std::string family_section(const Family& family) {
    std::string out = fmt::format("\n## {} over {}\n\n", family.name, family.over);
    out += table_section(family.table) + "\n";
    const char* axis = family.over == "conflict_degree" ? "degree less one" : "N";
    out += line_section(fmt::format("λ against {}", axis), "cycles", family.cpi_line);
    out += "\n" + line_section(fmt::format("Λ against {}", axis), "cycles", family.latency_line);
    for (const std::string& note : family.notes) out += fmt::format("\nNote: {}.\n", note);
    return out;
}

std::string overhead_section(const OverheadFit& fit) {
    std::string out = fmt::format("\n## {} over {}\n\n", fit.subject, fit.over);
    if (fit.rejected > 0)
        out += fmt::format("Rejected: {} of {} rows.\n\n", fit.rejected, fit.rows);
    out += line_section("Line", fit.unit, fit.line);
    if (!fit.line.ok()) return out;
    out += fmt::format("\n| {} | {} | fit | residual % |\n|---|---|---|---|\n", fit.over, fit.unit);
    for (std::size_t i = 0; i < fit.points.size(); ++i)
        out +=
            fmt::format("| {:g} | {:.5g} | {:.5g} | {:+.2f} |\n", fit.points[i].x, fit.points[i].y,
                        fit.line.predicted[i], 100 * (fit.line.predicted[i] / fit.points[i].y - 1));
    return out;
}

std::string summary_section(const FitOutcome& outcome) {
    std::string out =
        "\n## Summary\n\n| instruction | subsystem | λ | Λ | notes |\n|---|---|---|---|---|\n";
    for (const SubjectReport& s : outcome.subjects) {
        if (!s.fit.ok) {
            out +=
                fmt::format("| {} | - | - | - | not fitted: {} |\n", s.curve.label(), s.fit.reason);
            continue;
        }
        out += fmt::format("| {} | {} | {} | {} | {} |\n", s.curve.label(),
                           s.subsystem.empty() ? "-" : s.subsystem, format_estimate(s.fit.cpi),
                           latency_text(s), fmt::join(s.fit.notes, "; "));
    }
    return out + subsystem_section(outcome) + memory_section(outcome);
}

std::string family_line(const Family& family) {
    std::string out = fmt::format("{} over {}: λ {}\n", family.name, family.over,
                                  equation(family.cpi_line, "cycles"));
    for (const std::string& note : family.notes) out += "  " + note + "\n";
    return out;
}

std::string overhead_line(const OverheadFit& fit) {
    return fmt::format("{} over {}: {}\n", fit.subject, fit.over, equation(fit.line, fit.unit));
}

std::string partition_line(const FitOutcome& outcome) {
    if (!outcome.partition.confidence) return {};
    return fmt::format("subsystems from mixes: confidence {:.3f}\n", *outcome.partition.confidence);
}

}  // namespace occupipe
