// SPDX-License-Identifier: MIT
#include "fit/profile/build_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "core/automatch_rows.h"
#include "core/chain_step.h"
#include "core/error.h"
#include "core/instruction.h"
#include "core/parallel.h"
#include "core/statistics.h"
#include "fit/laws/wandering.h"
#include "fit/profile/contradictions.h"
#include "fit/profile/copied_rows.h"
#include "fit/profile/device_facts.h"
#include "fit/profile/provenance.h"
#include "fit/structure/class_split.h"
#include "fit/structure/scopes.h"
#include "fit/tables/full_rates.h"
#include "fit/tables/subject_tables.h"

namespace occupipe {
namespace {

// Files list their subjects as planned, while their rows come in the random order of measuring.
void sort_as_planned(std::span<const MeasurementFile> files, std::vector<Curve>& curves) {
    std::map<std::string, std::size_t> place;
    for (const MeasurementFile& file : files) {
        const auto it = file.context.find("subjects");
        if (it == file.context.end()) continue;
        std::istringstream subjects(it->second);
        for (std::string subject; subjects >> subject;) place.try_emplace(subject, place.size());
    }
    std::ranges::stable_sort(curves, {}, [&](const Curve& curve) {
        const auto it = place.find(curve.subject);
        return it == place.end() ? place.size() : it->second;
    });
}

void mark_primaries(std::vector<SubjectReport>& subjects) {
    std::map<std::string, SubjectReport*> best;
    for (SubjectReport& s : subjects) {
        SubjectReport*& current = best.try_emplace(s.curve.subject, &s).first->second;
        const bool better =
            s.fit.ok == current->fit.ok ? s.curve.counters < current->curve.counters : s.fit.ok;
        if (better) current = &s;
    }
    for (SubjectReport& s : subjects) s.primary = best.at(s.curve.subject) == &s;
}

void fit_each(std::span<SubjectReport* const> subjects, const FitOptions& options) {
    parallel_for(subjects.size(), [&](std::size_t i) {
        SubjectReport& report = *subjects[i];
        const Curve& curve = report.curve;
        report.fit = fit_timing(curve, kind_of(curve.subject), options.timing);
        if (!report.fit.ok) return;
        const Curve steps = steps_alone(curve, report.fit);
        report.tables = subject_tables(steps, report.fit);
        report.barrier_line = barrier_line(steps);
    });
}

// The height of a drift to and fro that all curves of a run show together: what was measured
// between two points of one curve tells of teeth that are too short for it.
double wandering_of_run(std::span<const SubjectReport> subjects) {
    std::vector<TimedResidual> residuals;
    std::vector<double> sizes;
    for (std::size_t s = 0; s < subjects.size(); ++s) {
        const Curve& curve = subjects[s].curve;
        const TimingFit& fit = subjects[s].fit;
        if (!fit.ok || curve.in_order || fit.residuals.size() != curve.points.size()) continue;
        for (std::size_t i = 0; i < curve.points.size(); ++i) {
            const CurvePoint& point = curve.points[i];
            residuals.push_back(
                {curve.middle + point.place * curve.span, s, -fit.residuals[i] * point.log_error});
            sizes.push_back(std::abs(residuals.back().away));
        }
    }
    if (residuals.empty()) return 0;
    const double clip = 3 * normal_mad * median(std::move(sizes));
    for (TimedResidual& r : residuals) r.away = std::clamp(r.away, -clip, clip);
    return wandering_height(std::move(residuals));
}

// Each curve by itself, so all cores take part; once more those that do not tell what all together
// do.
std::vector<SubjectReport> fit_subjects(std::vector<Curve>& curves, FitOptions options) {
    std::vector<SubjectReport> out;
    for (Curve& curve : curves)
        if (!parse_mix(curve.subject)) out.emplace_back().curve = std::move(curve);
    std::vector<SubjectReport*> all;
    for (SubjectReport& report : out) all.push_back(&report);
    fit_each(all, options);
    options.timing.wandering = wandering_of_run(out);
    std::erase_if(all, [&](const SubjectReport* report) {
        return !report->fit.ok || report->curve.in_order ||
               report->fit.wandering >= options.timing.wandering;
    });
    fit_each(all, options);
    mark_primaries(out);
    return out;
}

// Of one subject, repetitions or runs that contradict each other.
void doubt_contradictions(const Contradictions& found, std::vector<SubjectReport>& subjects) {
    for (SubjectReport& s : subjects) {
        if (const auto it = found.two_kinds.find(s.curve.subject); it != found.two_kinds.end()) {
            const TwoKinds& two = it->second;
            const auto kind = two.one_factor ? Doubt::Kind::two_states : Doubt::Kind::two_kinds;
            const auto widen = [&](const char* symbol, Estimate& e) {
                widen_by_two_kinds(two.factor, kind, e);
                s.fit.notes.push_back(
                    fmt::format("{}: {}", symbol, doubt_text({kind, two.factor - 1})));
            };
            if (two.with != TwoKinds::With::few) widen("λ", s.fit.cpi);
            if (two.with != TwoKinds::With::many) widen("Λ", s.fit.latency);
        }
        if (const auto it = found.disagreeing.find(s.curve.subject); it != found.disagreeing.end())
            for (Estimate* e : {&s.fit.cpi, &s.fit.latency})
                add_doubt(*e, {Doubt::Kind::runs_disagree, it->second});
    }
}

MixPartner partner(std::span<const SubjectReport> subjects, const std::string& name) {
    MixPartner p;
    for (const SubjectReport& s : subjects) {
        if (s.curve.subject != name || !s.fit.ok || !s.primary) continue;
        if (s.fit.cpi.identifiable()) p.cpi = s.fit.cpi;
        if (s.fit.latency.identifiable()) p.latency = s.fit.latency.value;
    }
    return p;
}

// Instructions per cycle of the fastest instruction alone, as low as its error allows; 0 when no λ
// is known.
double highest_throughput(std::span<const SubjectReport> subjects) {
    double highest = 0;
    for (const SubjectReport& s : subjects) {
        if (!s.fit.ok || !s.fit.cpi.identifiable()) continue;
        const double slowest = s.fit.cpi.value + 2 * s.fit.cpi.std_error.value_or(0);
        highest = std::max(highest, 1 / slowest);
    }
    return highest;
}

// Growth of log time over the run that most instructions show: mixes, measured at one shape, cannot
// tell it by themselves. Absent where instructions were measured one after the other, since then
// no run is another's.
std::optional<double> common_drift(std::span<const SubjectReport> subjects) {
    constexpr double most_of_the_run = 0.75;
    std::vector<double> drifts;
    for (const SubjectReport& s : subjects) {
        if (!s.fit.ok || s.curve.in_order || s.curve.span < most_of_the_run) continue;
        drifts.push_back(s.fit.drift ? s.fit.drift->value / s.curve.span : 0);
    }
    if (drifts.empty()) return std::nullopt;
    const double drift = median(std::move(drifts));
    return drift != 0 ? std::optional(drift) : std::nullopt;
}

// Points as in the middle of the run.
Curve without_drift(Curve curve, double drift) {
    for (CurvePoint& point : curve.points) point.place = curve.middle + point.place * curve.span;
    TimingFit fit;
    fit.drift = Estimate{.value = drift};
    return steps_alone(curve, fit);
}

// Instructions per cycle, of both kinds together, of the fastest mix, as low as its error allows.
double highest_of(std::span<const MixFit> mixes) {
    constexpr double errors = 3;
    double highest = 0;
    for (const MixFit& mix : mixes)
        for (const MixPoint& p : mix.points)
            highest = std::max(
                highest, p.per_cycle * (p.beta + 1) / p.beta * (1 - errors * p.relative_error));
    return highest;
}

std::vector<MixFit> fit_mixes(std::vector<Curve> curves, std::span<const SubjectReport> subjects,
                              std::vector<std::string>& notes) {
    if (const auto drift = common_drift(subjects)) {
        bool any = false;
        for (Curve& curve : curves)
            if (parse_mix(curve.subject)) {
                curve = without_drift(curve, *drift);
                any = true;
            }
        if (any)
            notes.push_back(fmt::format(
                "times drift by {:.2g} % over the run; mixes are as in its middle", 100 * *drift));
    }
    std::vector<std::pair<std::string, std::string>> order;
    std::map<std::pair<std::string, std::string>, std::vector<const Curve*>> by_pair;
    for (const Curve& curve : curves) {
        const std::optional<Mix> mix = parse_mix(curve.subject);
        if (!mix) continue;
        const std::pair pair{mix->first, mix->second};
        auto& members = by_pair[pair];
        if (members.empty()) order.push_back(pair);
        members.push_back(&curve);
    }
    std::vector<MixFit> out;
    out.reserve(order.size());
    const auto fit = [&](const auto& pair, double highest) {
        return fit_mix(pair.first, pair.second, by_pair.at(pair), partner(subjects, pair.first),
                       partner(subjects, pair.second), highest);
    };
    double highest = highest_throughput(subjects);
    for (const auto& pair : order) out.push_back(fit(pair, highest));
    // A limit that another mix exceeds is none: such a pair follows one of the other laws.
    highest = std::max(highest, highest_of(out));
    for (std::size_t i = 0; i < out.size(); ++i)
        if (out[i].best == MixLaw::two_with_issue_limit && out[i].issue_limit &&
            out[i].issue_limit->value < highest)
            out[i] = fit(order[i], highest);
    return out;
}

std::string joined(const std::vector<std::string>& notes) {
    return fmt::format("{}", fmt::join(notes, "; "));
}

// λ of a subsystem with a copy per scheduler is the copy's.
void to_scope(double copies, Estimate& cpi) { cpi = cpi.times(copies); }

// In a profile: scatter alone is what every error is.
void drop_single_term(Estimate& estimate) {
    if (estimate.error_terms.size() == 1) estimate.error_terms.clear();
}

// The tables that stand at this subject: its own and its families'.
std::vector<ParameterTable> tables_at(std::size_t subject, double copies, const FitOutcome& out) {
    std::vector<ParameterTable> tables = out.subjects[subject].tables;
    for (const Family& family : out.families)
        if (family.members.front().second == subject) {
            tables.push_back(family.table);
            tables.back().note = joined(family.notes);
        }
    for (ParameterTable& table : tables)
        for (TableRow& row : table.rows)
            if (row.cpi) to_scope(copies, *row.cpi);
    return tables;
}

// Loop control in the shadow of something else comes out as nothing, with either sign.
std::optional<Estimate> clear_cost(const std::optional<Estimate>& cost) {
    if (!cost || !cost->identifiable() || !cost->std_error) return std::nullopt;
    if (!(cost->value > 3 * *cost->std_error)) return std::nullopt;
    return cost;
}

void add_instructions(const DeviceFacts& facts, const std::map<std::string, ParameterTable>& full,
                      FitOutcome& out) {
    for (std::size_t i = 0; i < out.subjects.size(); ++i) {
        const SubjectReport& s = out.subjects[i];
        if (s.subsystem.empty()) continue;
        const bool copied = out.profile.find_subsystem(s.subsystem)->per_scheduler();
        const double copies = copied ? out.profile.issue.schedulers : 1;
        InstructionTiming timing;
        timing.name = s.curve.subject;
        timing.subsystem = s.subsystem;
        timing.cpi = s.fit.cpi;
        timing.warps_per_instruction = s.curve.warps_per_instruction;
        to_scope(copies, timing.cpi);
        if (s.curve.independent) {
            timing.latency_unknown = nothing_waited;
        } else {
            timing.latency = s.fit.latency;
        }
        timing.loop_cpi = clear_cost(s.fit.loop_cpi);
        if (timing.loop_cpi) to_scope(copies, *timing.loop_cpi);
        timing.loop_latency = clear_cost(s.fit.loop_latency);
        drop_single_term(timing.cpi);
        if (timing.latency) {
            drop_single_term(*timing.latency);
            timing.step = chain_step_text(s.curve.chain);
            if (!timing.step.empty()) add_note(*timing.latency, "a step is " + timing.step);
        }
        if (timing.latency && s.fit.contention && s.fit.contention->value > 0)
            timing.latency_growth = s.fit.contention;
        timing.tables = tables_at(i, copies, out);
        if (const auto found = full.find(timing.name); found != full.end()) {
            timing.tables.push_back(found->second);
            to_scope(copies, *timing.tables.back().rows.front().cpi);
        }
        timing.source = Source::measured;
        std::vector<std::string> notes;
        if (facts.is_model()) notes.emplace_back(model_warning);
        if (copied) notes.emplace_back("λ per scheduler");
        notes.insert(notes.end(), s.fit.notes.begin(), s.fit.notes.end());
        if (s.curve.warps_per_instruction > 1)
            notes.push_back(fmt::format("λ per warp; one instruction of {0} warps takes {0} λ",
                                        s.curve.warps_per_instruction));
        if (s.curve.rejected_rows() > 0)
            notes.push_back(fmt::format("{} of {} rows rejected: {}", s.curve.rejected_rows(),
                                        s.curve.rows, s.curve.rejection_summary()));
        timing.note = joined(notes);
        out.profile.instructions.push_back(std::move(timing));
    }
}

// A policy that the profile has from elsewhere stays; stops do not tell greedy from oldest first.
void set_warp_choice(FitOutcome& out) {
    constexpr double sure = 0.9;
    std::vector<WarpChoiceEvidence> evidence;
    for (const SubjectReport& s : out.subjects) evidence.push_back({&s.curve, &s.fit});
    out.warp_choice = warp_choice(evidence, out.profile.issue.schedulers);
    if (!out.warp_choice || out.warp_choice->confidence < sure || out.profile.issue.policy) return;
    if (out.warp_choice->order == WarpOrder::oldest_first) out.profile.issue.policy = Policy::gto;
}

// Where the last cache ends between two working sets, the driver's size of it is what fits.
void add_memory_levels(const DeviceFacts& facts, FitOutcome& out) {
    for (const WorkingSetFit& fit : out.working_sets)
        for (std::size_t i = 0; i < fit.levels.size(); ++i) {
            const CacheLevel& level = fit.levels[i];
            double last = level.last_bytes;
            if (i > 0 && i + 2 == fit.levels.size() && facts.last_cache_bytes) {
                const auto told = static_cast<double>(*facts.last_cache_bytes);
                if (told > last && told < fit.levels[i + 1].first_bytes) last = told;
            }
            out.profile.memory_levels.push_back(
                {fit.subject, level.latency, level.first_bytes, last, level.edge_confidence});
        }
}

std::vector<Family> families_of(std::span<const SubjectReport> subjects) {
    std::vector<FamilyMember> members;
    members.reserve(subjects.size());
    for (const SubjectReport& s : subjects) members.push_back({&s.curve, &s.fit});
    return find_families(members);
}

void round_for_reports(FitOutcome& out) {
    const std::optional<double>& limit = out.profile.issue.limit;
    if (!limit) return;
    const auto rounded = [&](const Estimate& e) -> std::optional<double> {
        const double multiple = std::round(e.value * std::round(*limit));
        if (!e.identifiable() || multiple < 1 || std::round(*limit) < 1) return std::nullopt;
        return multiple / std::round(*limit);
    };
    for (SubjectReport& s : out.subjects) {
        if (!s.fit.ok) continue;
        s.rounded_cpi = rounded(s.fit.cpi);
        if (!s.curve.independent) s.rounded_latency = rounded(s.fit.latency);
    }
}

// The instructions that the profile has. Throws InputError where there are none, with each reason.
std::vector<std::string> fitted_names(std::span<const SubjectReport> subjects,
                                      const std::string& path) {
    std::vector<std::string> fitted;
    std::vector<std::pair<std::string, std::string>> reasons;  // and who has them
    for (const SubjectReport& s : subjects) {
        if (!s.fit.ok) {
            const auto same =
                std::ranges::find(reasons, s.fit.reason, [](const auto& r) { return r.first; });
            if (same == reasons.end())
                reasons.emplace_back(s.fit.reason, s.curve.label());
            else
                same->second += ", " + s.curve.label();
        } else if (s.primary) {
            fitted.push_back(s.curve.subject);
        }
    }
    if (fitted.empty()) {
        std::vector<std::string> texts;
        for (const auto& [reason, who] : reasons)
            texts.push_back(fmt::format("{}: {}", who, reason));
        throw InputError(path, SourcePosition{}, "benchmarks",
                         texts.empty() ? "contains no measurements of instructions"
                                       : "no instruction could be fitted: " + joined(texts));
    }
    return fitted;
}

void start_profile(const DeviceFacts& facts, FitOutcome& out) {
    GpuProfile& profile = out.profile;
    profile.device = facts.device;
    profile.cores = facts.cores;
    profile.warp_size = facts.warp_size;
    profile.clock_hz = facts.clock_hz;
    profile.limits = facts.limits;
    profile.overheads = overheads_of(out.overheads);
}

}  // namespace

FitOutcome fit_device_alone(std::span<const MeasurementFile> files,
                            std::vector<std::string> notes) {
    const DeviceFacts facts = device_facts(files);
    refuse_duplicates(files);
    FitOutcome out;
    out.notes = std::move(notes);
    start_profile(facts, out);
    out.notes.insert(out.notes.end(), facts.notes.begin(), facts.notes.end());
    out.profile.provenance = provenance(files, facts, out);
    validate(out.profile);
    return out;
}

FitOutcome fit_measurements(std::span<const MeasurementFile> all, const FitOptions& options) {
    const DeviceFacts facts = device_facts(all);
    refuse_duplicates(all);
    FitOutcome out;
    std::vector<MeasurementFile> rest;
    std::span<const MeasurementFile> files = all;
    if (has_automatch_rows(all)) {
        rest = without_automatch_rows(all);
        files = rest;
        if (std::ranges::all_of(rest, [](const auto& file) { return file.rows.empty(); }))
            throw InputError(files.front().path, SourcePosition{}, "benchmarks",
                             "contains no measurements of instructions, but AutoMatch's, of which "
                             "'automatch fit' makes a profile");
    }
    Contradictions contradicting = contradictions(files);  // before curves take memory
    std::vector<Curve> curves = curves_of(files);
    sort_as_planned(files, curves);
    out.subjects = fit_subjects(curves, options);
    doubt_contradictions(contradicting, out.subjects);
    std::vector<std::string> mix_notes;
    out.mixes = fit_mixes(std::move(curves), out.subjects, mix_notes);
    out.families = families_of(out.subjects);
    out.working_sets = fit_working_sets(files);
    out.overheads = fit_overheads(files);
    out.notes.insert(out.notes.end(), facts.notes.begin(), facts.notes.end());
    std::ranges::move(mix_notes, std::back_inserter(out.notes));
    std::ranges::move(contradicting.notes, std::back_inserter(out.notes));
    if (options.timing.known_overhead_cycles)
        out.notes.push_back(fmt::format("an overhead of {:g} cycles was given, not fitted",
                                        *options.timing.known_overhead_cycles));
    const auto ordered = static_cast<std::size_t>(std::ranges::count_if(
        out.subjects, [](const SubjectReport& r) { return r.curve.in_order; }));
    if (2 * ordered > out.subjects.size())
        out.notes.emplace_back(
            "measured in the order of the shapes: a drift over the run would look like an effect "
            "of "
            "occupancy");

    out.partition = assign_subsystems(fitted_names(out.subjects, files.front().path), out.mixes);
    start_profile(facts, out);
    for (SubjectReport& s : out.subjects) {
        if (!s.fit.ok || !s.primary) continue;
        s.subsystem = out.partition.subsystem_of.at(s.curve.subject);
        if (!out.profile.find_subsystem(s.subsystem))
            out.profile.subsystems.push_back({.name = s.subsystem});
    }
    set_issue_limit(out);
    note_values_at_issue_limit(out);
    split_classes(out);
    set_scopes(out);
    set_warp_choice(out);
    for (const std::string& d : out.partition.disagreements) out.notes.push_back(d);
    add_instructions(facts, full_rates(files), out);
    note_rate_disagreements(out.profile, out.notes);
    add_memory_levels(facts, out);
    round_for_reports(out);
    out.profile.provenance = provenance(files, facts, out);
    validate(out.profile);
    return out;
}

}  // namespace occupipe
