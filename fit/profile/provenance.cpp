// SPDX-License-Identifier: MIT
#include "fit/profile/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace occupipe {
namespace {

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

Annotation subsystem_notes(const SubsystemMap& map) {
    Annotation out;
    for (const auto& [name, by_mix] : map.measured) {
        std::string source =
            fmt::format("{} {}", by_mix ? "from" : "assumed by", map.decided_by(name));
        const auto it = map.confidence_of.find(name);
        if (it != map.confidence_of.end())
            source += fmt::format(" (confidence {:.3f})", it->second);
        put(out, name, text(source));
    }
    return out;
}

Annotation family_notes(const FitOutcome& out) {
    Annotation notes;
    for (const Family& f : out.families) {
        std::vector<std::string> lines{fmt::format(
            "table over {} at {}", f.over, out.subjects[f.members.front().second].curve.subject)};
        lines.insert(lines.end(), f.notes.begin(), f.notes.end());
        put(notes, f.name, text(fmt::format("{}", fmt::join(lines, "; "))));
    }
    return notes;
}

}  // namespace

Annotation provenance(std::span<const MeasurementFile> files, const DeviceFacts& facts,
                      const FitOutcome& out) {
    const SubsystemMap& map = out.partition;
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
    put(p, "subsystems", subsystem_notes(map));
    if (map.confidence)
        put(p, "subsystems_confidence", text(fmt::format("{:.3f}", *map.confidence)));
    if (out.warp_choice)
        put(p, "choice_among_warps",
            text(fmt::format("{} (confidence {:.2f}, by the stops of warps at {} places)",
                             to_string(out.warp_choice->order), out.warp_choice->confidence,
                             out.warp_choice->places)));
    Annotation mixes;
    for (const MixFit& mix : out.mixes)
        put(mixes, fmt::format("{} with {}", mix.first, mix.second),
            text(!mix.ok ? mix.reason
                 : mix.margin < undecided_margin
                     ? fmt::format("undecided; best: {} (margin {:.2g})", to_string(mix.best),
                                   mix.margin)
                     : fmt::format("{} (margin {:.3g})", to_string(mix.best), mix.margin)));
    put(p, "mixes", std::move(mixes));
    put(p, "families", family_notes(out));
    Annotation failed;
    for (const SubjectReport& s : out.subjects)
        if (!s.fit.ok) put(failed, s.curve.label(), text(s.fit.reason));
    put(p, "not_fitted", std::move(failed));
    put(p, "notes", list(out.notes));
    return p;
}

}  // namespace occupipe
