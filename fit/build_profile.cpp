// SPDX-License-Identifier: MIT
#include "fit/build_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/instruction.h"
#include "fit/device_facts.h"
#include "fit/subsystems.h"

namespace occupipe {
namespace {

constexpr const char* model_warning = "from a model device, not hardware";

Annotation text(std::string value) {
    Annotation a;
    a.text = std::move(value);
    return a;
}

Annotation list(const std::vector<std::string>& values) {
    Annotation a;
    for (const std::string& v : values) a.items.push_back(text(v));
    return a;
}

void put(Annotation& map, const std::string& key, Annotation value) {
    if (value.text.empty() && value.items.empty() && value.entries.empty()) return;
    map.entries.emplace_back(key, std::move(value));
}

// The distinct values of a context key, in file order.
std::vector<std::string> values_of(std::span<const MeasurementFile> files, const std::string& key) {
    std::vector<std::string> out;
    for (const MeasurementFile& file : files) {
        const auto it = file.context.find(key);
        if (it == file.context.end() || it->second.empty()) continue;
        if (std::find(out.begin(), out.end(), it->second) == out.end()) out.push_back(it->second);
    }
    return out;
}

Annotation one_or_list(const std::vector<std::string>& values) {
    return values.size() == 1 ? text(values.front()) : list(values);
}

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

std::vector<SubjectReport> fit_subjects(std::vector<Curve>& curves, const FitOptions& options) {
    std::vector<SubjectReport> out;
    for (Curve& curve : curves) {
        if (parse_mix(curve.subject)) continue;
        SubjectReport report;
        report.fit = fit_timing(curve, kind_of(curve.subject), options.timing);
        report.curve = std::move(curve);
        out.push_back(std::move(report));
    }
    return out;
}

MixPartner partner(std::span<const SubjectReport> subjects, const std::string& name) {
    MixPartner p;
    for (const SubjectReport& s : subjects) {
        if (s.curve.subject != name || !s.fit.ok) continue;
        if (s.fit.cpi.identifiable) p.cpi = s.fit.cpi;
        if (s.fit.latency.identifiable) p.latency = s.fit.latency.value;
    }
    return p;
}

// Instructions per cycle of the fastest instruction alone, as low as its error allows; 0 when no λ
// is known.
double highest_throughput(std::span<const SubjectReport> subjects) {
    double highest = 0;
    for (const SubjectReport& s : subjects) {
        if (!s.fit.ok || !s.fit.cpi.identifiable) continue;
        const double slowest = s.fit.cpi.value + 2 * s.fit.cpi.std_error.value_or(0);
        highest = std::max(highest, 1 / slowest);
    }
    return highest;
}

std::vector<MixFit> fit_mixes(std::span<const Curve> curves,
                              std::span<const SubjectReport> subjects) {
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
    const double highest = highest_throughput(subjects);
    for (const auto& pair : order)
        out.push_back(fit_mix(pair.first, pair.second, by_pair.at(pair),
                              partner(subjects, pair.first), partner(subjects, pair.second),
                              highest));
    return out;
}

// The issue limit of the core: the precise mixes' weighted mean.
void set_issue_limit(std::span<const MixFit> mixes, FitOutcome& out) {
    double weight = 0;
    double sum = 0;
    double low = 0;
    double high = 0;
    for (const MixFit& mix : mixes) {
        if (!mix.issue_limit || !mix.issue_limit->identifiable) continue;
        const double v = mix.issue_limit->value;
        const double e = std::max(*mix.issue_limit->std_error, 1e-3 * v);
        low = weight > 0 ? std::min(low, v) : v;
        high = std::max(high, v);
        weight += 1 / (e * e);
        sum += v / (e * e);
    }
    if (!(weight > 0)) return;
    Issue& issue = out.profile.issue;
    issue.limit = sum / weight;
    issue.limit_std_error = std::max(1 / std::sqrt(weight), 0.5 * (high - low));
    if (high > 1.05 * low)
        out.notes.push_back(
            fmt::format("mixes disagree about the issue limit: {:.3g} to {:.3g}", low, high));
}

// Copies per core of each subsystem: a staircase that most of its instructions show.
void set_scopes(FitOutcome& out) {
    std::map<std::string, std::map<int, int>> votes;  // subsystem → schedulers → instructions
    std::map<int, int> all;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        ++votes[s.subsystem][s.fit.schedulers];
        if (s.fit.schedulers > 1) ++all[s.fit.schedulers];
    }
    int schedulers = 1;
    for (const auto& [k, n] : all)
        if (schedulers == 1 || n > all.at(schedulers)) schedulers = k;
    out.profile.issue.schedulers = schedulers;
    if (schedulers == 1) return;
    for (Subsystem& subsystem : out.profile.subsystems) {
        const auto& v = votes.at(subsystem.name);
        int total = 0;
        for (const auto& [k, n] : v) total += n;
        const int with = v.contains(schedulers) ? v.at(schedulers) : 0;
        if (2 * with > total) subsystem.scope = Scope::scheduler;
        const int agree = subsystem.scope == Scope::scheduler ? with : total - with;
        if (agree < total)
            out.notes.push_back(
                fmt::format("{} of {} instructions of subsystem {} do not fit its scope ({})",
                            total - agree, total, subsystem.name, to_string(subsystem.scope)));
    }
}

std::string joined(const std::vector<std::string>& notes) {
    return fmt::format("{}", fmt::join(notes, "; "));
}

void add_instructions(const DeviceFacts& facts, FitOutcome& out) {
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        InstructionTiming timing;
        timing.name = s.curve.subject;
        timing.subsystem = s.subsystem;
        timing.cpi = s.fit.cpi;
        timing.latency = s.fit.latency;
        timing.source = Source::measured;
        std::vector<std::string> notes;
        if (facts.is_model()) notes.emplace_back(model_warning);
        if (out.profile.find_subsystem(s.subsystem)->scope == Scope::scheduler) {
            timing.cpi.value *= out.profile.issue.schedulers;
            if (timing.cpi.std_error) *timing.cpi.std_error *= out.profile.issue.schedulers;
            notes.emplace_back("λ per scheduler");
        }
        if (s.fit.contention)
            notes.push_back(fmt::format("Λ grows by {:.3g} cycles per instruction in flight",
                                        s.fit.contention->value));
        notes.insert(notes.end(), s.fit.notes.begin(), s.fit.notes.end());
        if (s.curve.rejected_rows() > 0)
            notes.push_back(
                fmt::format("{} of {} rows rejected", s.curve.rejected_rows(), s.curve.rows));
        timing.note = joined(notes);
        out.profile.instructions.push_back(std::move(timing));
    }
}

void round_for_reports(FitOutcome& out) {
    const std::optional<double>& limit = out.profile.issue.limit;
    if (!limit) return;
    const auto rounded = [&](const Estimate& e) -> std::optional<double> {
        const double multiple = std::round(e.value * std::round(*limit));
        if (!e.identifiable || multiple < 1 || std::round(*limit) < 1) return std::nullopt;
        return multiple / std::round(*limit);
    };
    for (SubjectReport& s : out.subjects) {
        if (!s.fit.ok) continue;
        s.rounded_cpi = rounded(s.fit.cpi);
        s.rounded_latency = rounded(s.fit.latency);
    }
}

Annotation provenance(std::span<const MeasurementFile> files, const DeviceFacts& facts,
                      const SubsystemMap& map, const FitOutcome& out) {
    Annotation p;
    if (facts.is_model())
        put(p, "warning", text(fmt::format("NOT HARDWARE: all times come {}", model_warning)));
    put(p, "tool", text("occupipe " OCCUPIPE_VERSION));
    put(p, "backend", text(facts.backend));
    for (const char* key : {"date", "driver", "clock_source", "occupipe_version"})
        put(p, std::string(key) == "occupipe_version" ? "measured_with" : key,
            one_or_list(values_of(files, key)));
    Annotation measured;
    for (const MeasurementFile& file : files) {
        Annotation one;
        put(one, "file", text(std::filesystem::path(file.path).filename().string()));
        put(one, "hash", text(file.content_hash));
        measured.items.push_back(std::move(one));
    }
    put(p, "measurements", std::move(measured));
    Annotation subsystems;
    for (const auto& [name, by_mix] : map.measured)
        put(subsystems, name, text(by_mix ? "from mixes" : "assumed by instruction class"));
    put(p, "subsystems", std::move(subsystems));
    Annotation mixes;
    for (const MixFit& mix : out.mixes)
        put(mixes, fmt::format("{} with {}", mix.first, mix.second),
            text(!mix.ok ? mix.reason
                 : mix.margin < undecided_margin
                     ? fmt::format("undecided; best: {} (margin {:.2g})", to_string(mix.best),
                                   mix.margin)
                     : fmt::format("{} (margin {:.3g})", to_string(mix.best), mix.margin)));
    put(p, "mixes", std::move(mixes));
    Annotation failed;
    for (const SubjectReport& s : out.subjects)
        if (!s.fit.ok) put(failed, s.curve.subject, text(s.fit.reason));
    put(p, "not_fitted", std::move(failed));
    put(p, "notes", list(out.notes));
    return p;
}

}  // namespace

FitOutcome fit_measurements(std::span<const MeasurementFile> files, const FitOptions& options) {
    const DeviceFacts facts = device_facts(files);
    FitOutcome out;
    std::vector<Curve> curves = curves_of(files);
    sort_as_planned(files, curves);
    out.subjects = fit_subjects(curves, options);
    out.mixes = fit_mixes(curves, out.subjects);
    out.working_sets = fit_working_sets(files);
    out.notes = facts.notes;

    std::vector<std::string> fitted;
    std::vector<std::string> reasons;
    for (const SubjectReport& s : out.subjects) {
        if (s.fit.ok) {
            fitted.push_back(s.curve.subject);
        } else {
            reasons.push_back(fmt::format("{}: {}", s.curve.subject, s.fit.reason));
        }
    }
    if (fitted.empty())
        throw InputError(files.front().path, SourcePosition{}, "benchmarks",
                         reasons.empty() ? "holds no instruction's measurements"
                                         : "no instruction could be fitted: " + joined(reasons));
    const SubsystemMap map = assign_subsystems(fitted, out.mixes);
    GpuProfile& profile = out.profile;
    profile.device = facts.device;
    profile.cores = facts.cores;
    profile.warp_size = facts.warp_size;
    profile.clock_hz = facts.clock_hz;
    profile.limits = facts.limits;
    for (SubjectReport& s : out.subjects) {
        if (!s.fit.ok) continue;
        s.subsystem = map.subsystem_of.at(s.curve.subject);
        if (!profile.find_subsystem(s.subsystem))
            profile.subsystems.push_back({s.subsystem, Scope::core});
    }
    set_issue_limit(out.mixes, out);
    set_scopes(out);
    for (const std::string& d : map.disagreements) out.notes.push_back(d);
    add_instructions(facts, out);
    round_for_reports(out);
    profile.provenance = provenance(files, facts, map, out);
    validate(profile);
    return out;
}

}  // namespace occupipe
