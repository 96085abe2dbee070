// SPDX-License-Identifier: MIT
#include "fit/profile/fit_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "fit/curves/step_time.h"
#include "fit/profile/report_tables.h"

namespace occupipe {
namespace {

// Columns are padded by characters, not bytes: λ, ± and ≤ take two or three bytes each.
std::string padded(const std::string& text, std::size_t width) {
    const auto characters =
        static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
            return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
        }));
    return text + std::string(width > characters ? width - characters : 1, ' ');
}

std::string flags(const SubjectReport& s) {
    std::vector<std::string> words;
    const auto say_bound = [&](const char* symbol, const Estimate& e) {
        if (!e.identifiable())
            words.push_back(fmt::format("{} {}: {}", symbol, to_string(e.kind), e.note));
    };
    say_bound("λ", s.fit.cpi);
    if (s.fit.cpi.identifiable() && has_doubt(s.fit.cpi, Doubt::Kind::at_issue_limit))
        words.push_back(fmt::format("λ {}", sentence_of(Doubt::Kind::at_issue_limit)));
    if (s.curve.independent)
        words.push_back(fmt::format("Λ not measured: {}", nothing_waited));
    else
        say_bound("Λ", s.fit.latency);
    if (s.fit.schedulers > 1)
        words.push_back(fmt::format("one copy per scheduler ({})", s.fit.schedulers));
    if (s.fit.sharing_schedulers > 1)
        words.push_back(fmt::format("{} schedulers share it in turn", s.fit.sharing_schedulers));
    if (s.fit.contention)
        words.push_back(fmt::format("Λ +{:.3g} per warp", s.fit.contention->value));
    if (s.fit.knee) words.push_back(fmt::format("round knee {:.2g}", s.fit.knee->value));
    words.insert(words.end(), s.fit.notes.begin(), s.fit.notes.end());
    if (s.curve.rejected_rows() > 0)
        words.push_back(
            fmt::format("{} of {} rows rejected", s.curve.rejected_rows(), s.curve.rows));
    return fmt::format("{}", fmt::join(words, "; "));
}

std::string mix_line(const MixFit& mix) {
    if (!mix.ok) return fmt::format("{} with {}: {}", mix.first, mix.second, mix.reason);
    std::string text = fmt::format("{} with {}: {}{} (margin {:.3g})", mix.first, mix.second,
                                   mix.margin < undecided_margin ? "undecided, best " : "",
                                   to_string(mix.best), mix.margin);
    if (mix.issue_limit)
        text += mix.issue_limit->identifiable()
                    ? fmt::format(", IL {}", format_estimate(*mix.issue_limit))
                    : fmt::format(", IL at least {:.3g}", mix.issue_limit->value);
    return text;
}

std::string optional_row(const char* name, const std::optional<Estimate>& e) {
    return e ? fmt::format("| {} | {} |\n", name, format_estimate(*e)) : std::string{};
}

std::string rounded(const std::optional<double>& value) {
    return value ? fmt::format(" (nearest multiple of 1/IL: {:g})", *value) : std::string{};
}

std::string shape_label(const MeasurementShape& shape, int busiest) {
    return fmt::format("{} x {} x {}{}", shape.group_warps, shape.concurrent_groups, shape.chains,
                       busiest > 0 ? fmt::format(", {} on one scheduler", busiest) : "");
}

// The hull: cycles per instruction against instructions in flight, deepest point of each shape.
std::string curve_table(const SubjectReport& s) {
    std::string out =
        "| group x groups x chains | in flight | depth | cycles | cycles/instruction | fit | "
        "residual % | in std. errors |\n|---|---|---|---|---|---|---|---|\n";
    for (std::size_t i = 0; i < s.curve.points.size(); ++i) {
        const CurvePoint& p = s.curve.points[i];
        const double m = static_cast<double>(p.shape.warps()) * p.shape.chains;
        const double instructions = m * static_cast<double>(p.shape.depth);
        out += fmt::format("| {} | {} | {} | {:.1f} | {:.5g} | {:.5g} | {:+.2f} | {:+.1f} |\n",
                           shape_label(p.shape, p.busiest), m, p.shape.depth, p.cycles,
                           p.cycles / instructions, s.fit.predicted[i] / instructions,
                           100 * (s.fit.predicted[i] / p.cycles - 1), s.fit.residuals[i]);
    }
    return out;
}

// Slope, not quotient: what each shape's depths say by themselves, without any law.
std::string lines_over_depth(const Curve& curve) {
    std::string out =
        "| group x groups x chains | depths | cycles per step | per instruction | cycles at depth "
        "0 | r² | least to greatest core |\n|---|---|---|---|---|---|---|\n";
    const std::vector<StepTime> steps = step_times(curve);
    for (const StepTime& step : steps) {
        const std::string cores =
            step.least_core && step.greatest_core
                ? fmt::format("{:.5g} to {:.5g}", *step.least_core, *step.greatest_core)
                : "";
        out += fmt::format("| {} | {} | {} | {:.5g} | {:.1f} | {:.7f} | {} |\n",
                           shape_label(step.place.shape, step.place.busiest), step.depths,
                           format_estimate(step.cycles), step.cycles.value / step.in_flight(),
                           step.intercept, step.r_squared, cores);
    }
    return steps.empty() ? std::string{}
                         : "\nLines through the depths of each shape, without any law:\n\n" + out;
}

std::string subject_section(const SubjectReport& s) {
    std::string out = fmt::format("\n## {}\n\n", s.curve.label());
    if (s.curve.rejected_rows() > 0)
        out += fmt::format("Rejected: {} of {} rows: {}.\n\n", s.curve.rejected_rows(),
                           s.curve.rows, s.curve.rejection_summary());
    if (!s.fit.ok) return out + fmt::format("Not fitted: {}.\n", s.fit.reason);
    out += "| parameter | value |\n|---|---|\n";
    out +=
        fmt::format("| λ per core | {}{} |\n", format_estimate(s.fit.cpi), rounded(s.rounded_cpi));
    if (s.curve.warps_per_instruction > 1)
        out += fmt::format("| {0} λ: the whole instruction of {0} warps | {1} |\n",
                           s.curve.warps_per_instruction,
                           format_estimate(s.fit.cpi.times(s.curve.warps_per_instruction)));
    out += fmt::format("| Λ | {}{} |\n", latency_text(s), rounded(s.rounded_latency));
    if (!s.subsystem.empty()) out += fmt::format("| subsystem | {} |\n", s.subsystem);
    if (s.fit.schedulers > 1)
        out += fmt::format("| copies per core | {}: one per scheduler |\n", s.fit.schedulers);
    if (s.fit.sharing_schedulers > 1)
        out +=
            fmt::format("| schedulers that share it | {}, in turn |\n", s.fit.sharing_schedulers);
    if (s.fit.port_limit)
        out += fmt::format("| issue ports of {} schedulers, per cycle and core | {} |\n",
                           s.fit.sharing_schedulers, format_estimate(*s.fit.port_limit));
    out += optional_row("overhead, cycles", s.fit.overhead);
    out += optional_row("overhead per group, cycles", s.fit.group_overhead);
    out += optional_row("loop control, cycles per iteration of one warp", s.fit.loop_latency);
    out += optional_row("loop control at full throughput, cycles per iteration", s.fit.loop_cpi);
    out += optional_row("contention h, cycles per instruction in flight", s.fit.contention);
    out += optional_row("knee width q", s.fit.knee);
    if (s.curve.spread_known)
        out += fmt::format("| spread of single repetitions | {:.2g} % |\n", 100 * s.curve.spread);
    out += fmt::format("| residuals, in standard errors of their points | {:.2f} |\n",
                       s.fit.residual_scale);
    for (const std::string& note : s.fit.notes) out += fmt::format("\nNote: {}.\n", note);
    out += "\n" + curve_table(s);
    out += lines_over_depth(steps_alone(s.curve, s.fit));
    for (const ParameterTable& table : s.tables) out += "\n" + table_section(table);
    if (s.barrier_line)
        out += "\n" + line_section("Time of a step of one group against its warps less one",
                                   "cycles", *s.barrier_line);
    return out;
}

std::string mix_section(const MixFit& mix) {
    std::string out =
        fmt::format("\n## mix of {} (β) with {}\n\n{}.\n", mix.first, mix.second, mix_line(mix));
    for (const std::string& note : mix.notes) out += fmt::format("\nNote: {}.\n", note);
    if (!mix.ok) return out;
    out += fmt::format("\n| β | in flight | {} per cycle | std. error % |", mix.first);
    std::string rule = "|---|---|---|---|";
    std::string criteria = "| AICc | | | |";
    for (std::size_t law = 0; law < mix_law_count; ++law) {
        if (mix.predicted[law].empty()) continue;
        out += fmt::format(" {} |", to_string(static_cast<MixLaw>(law)));
        rule += "---|";
        criteria += mix.criterion[law] ? fmt::format(" {:.2f} |", *mix.criterion[law])
                                       : std::string(" too few points |");
    }
    out += "\n" + rule + "\n";
    for (std::size_t i = 0; i < mix.points.size(); ++i) {
        out += fmt::format("| {} | {} | {:.5g} | {:.2f} |", mix.points[i].beta,
                           mix.points[i].in_flight, mix.points[i].per_cycle,
                           100 * mix.points[i].relative_error);
        for (const auto& predicted : mix.predicted)
            if (!predicted.empty()) out += fmt::format(" {:.5g} |", predicted[i]);
        out += "\n";
    }
    return out + criteria + "\n";
}

std::string level_text(const WorkingSetFit& fit, std::size_t i) {
    const CacheLevel& level = fit.levels[i];
    std::string text = fmt::format("{} cycles", format_estimate(level.latency));
    if (level.edge_confidence)
        text += fmt::format(" up to {:.4g} to {:.4g} KiB (confidence {:.0f} %)",
                            level.last_bytes / 1024, fit.levels[i + 1].first_bytes / 1024,
                            100 * *level.edge_confidence);
    return text;
}

std::string working_set_section(const WorkingSetFit& fit) {
    std::string out = fmt::format("\n## {} over the working set\n\n", fit.subject);
    if (!fit.ok()) return out + fmt::format("Not fitted: {}.\n", fit.reason);
    for (std::size_t i = 0; i < fit.levels.size(); ++i)
        out += fmt::format("- {}\n", level_text(fit, i));
    out += "\n| KiB | cycles | std. error % |\n|---|---|---|\n";
    for (const WorkingSetPoint& p : fit.points)
        out += fmt::format("| {:.4g} | {:.4g} | {:.2f} |\n", p.bytes / 1024, p.cycles,
                           100 * p.relative_error);
    return out;
}

}  // namespace

std::string latency_text(const SubjectReport& report) {
    return report.curve.independent ? "not measured" : format_estimate(report.fit.latency);
}

std::string format_estimate(const Estimate& e) {
    return estimate_text(e) + (e.identifiable() || e.note.empty() ? "" : " (" + e.note + ")");
}

std::string format_fit_table(const FitOutcome& outcome) {
    std::size_t width = 12;
    for (const SubjectReport& s : outcome.subjects)
        width = std::max(width, s.curve.label().size() + 2);
    std::string out = padded("instruction", width) + padded("subsystem", 11) +
                      padded("λ [cycles]", 22) + padded("Λ [cycles]", 22) + "flags\n";
    for (const SubjectReport& s : outcome.subjects) {
        out += padded(s.curve.label(), width);
        std::string line = s.fit.ok ? padded(s.subsystem.empty() ? "-" : s.subsystem, 11) +
                                          padded(estimate_text(s.fit.cpi), 22) +
                                          padded(s.curve.independent ? "not measured"
                                                                     : estimate_text(s.fit.latency),
                                                 22) +
                                          flags(s)
                                    : "not fitted: " + s.fit.reason;
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    for (const MixFit& mix : outcome.mixes) out += "mix " + mix_line(mix) + "\n";
    for (const WorkingSetFit& fit : outcome.working_sets) {
        out += fmt::format("{} levels: {}", fit.subject, fit.reason);
        for (std::size_t i = 0; i < fit.levels.size(); ++i)
            out += (i > 0 ? "; " : "") + level_text(fit, i);
        out += "\n";
    }
    for (const Family& family : outcome.families) out += family_line(family);
    for (const OverheadFit& fit : outcome.overheads) out += overhead_line(fit);
    out += partition_line(outcome);
    if (outcome.profile.issue.limit)
        out += fmt::format("issue limit {:.3g} warp-instructions per cycle per core\n",
                           *outcome.profile.issue.limit);
    for (const std::string& note : outcome.notes) out += "note: " + note + "\n";
    return out;
}

std::string format_fit_report(const FitOutcome& outcome) {
    const GpuProfile& profile = outcome.profile;
    std::string out =
        fmt::format("# Fit of {}\n\n{} cores, {} threads per warp, {:.4g} MHz\n",
                    profile.device.name, profile.cores, profile.warp_size, profile.clock_hz / 1e6);
    for (const auto& [key, value] : profile.provenance.entries)
        if (key == "warning") out += fmt::format("\n**{}**\n", value.text);
    for (const std::string& note : outcome.notes) out += fmt::format("\nNote: {}.\n", note);
    out +=
        "\nλ: cycles per instruction and core; Λ: latency in cycles; ± one standard error. "
        "How they are found: docs/background/fitting.md.\n";
    out += summary_section(outcome);
    for (const SubjectReport& s : outcome.subjects) out += subject_section(s);
    for (const Family& family : outcome.families) out += family_section(family);
    for (const MixFit& mix : outcome.mixes) out += mix_section(mix);
    for (const WorkingSetFit& fit : outcome.working_sets) out += working_set_section(fit);
    for (const OverheadFit& fit : outcome.overheads) out += overhead_section(fit);
    return out;
}

}  // namespace occupipe
