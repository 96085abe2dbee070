// SPDX-License-Identifier: MIT
#include "fit/profile/profile_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/profile_fields.h"
#include "core/subsystem_scope.h"
#include "fit/profile/field_merge.h"

namespace occupipe {
namespace {

// The hashes of all files that a profile was made from, and their files'.
void add_hashes(const Annotation& annotation, std::set<std::string>& hashes) {
    for (const Annotation& item : annotation.items) add_hashes(item, hashes);
    for (const AnnotationEntry& entry : annotation.entries) {
        if (entry.key == "hash" && !entry.value.text.empty()) hashes.insert(entry.value.text);
        add_hashes(entry.value, hashes);
    }
}

std::set<std::string> sources_of(const NamedProfile& profile) {
    std::set<std::string> hashes;
    if (!profile.content_hash.empty()) hashes.insert(profile.content_hash);
    add_hashes(profile.profile.provenance, hashes);
    return hashes;
}

// One machine under two names would count twice, and halve its own error.
void refuse_duplicates(std::span<const NamedProfile> profiles) {
    std::vector<std::set<std::string>> sources;
    for (const NamedProfile& p : profiles) {
        sources.push_back(sources_of(p));
        for (std::size_t i = 0; i + 1 < sources.size(); ++i) {
            const NamedProfile& earlier = profiles[i];
            if (p.profile == earlier.profile)
                throw InputError(p.path, SourcePosition{}, "",
                                 fmt::format("is the same profile as {}; leave one out, or its "
                                             "machine counts twice",
                                             earlier.path));
            const bool shared = std::ranges::any_of(
                sources.back(), [&](const auto& hash) { return sources[i].contains(hash); });
            if (shared)
                throw InputError(p.path, SourcePosition{}, "provenance",
                                 fmt::format("names a file that {} is made from too; leave one "
                                             "out, or its machine counts twice",
                                             earlier.path));
        }
    }
}

Annotation list_of(std::span<const std::string> lines) {
    Annotation list;
    for (const std::string& line : lines) {
        Annotation one;
        one.text = line;
        list.items.push_back(std::move(one));
    }
    return list;
}

Annotation merged_from(std::span<const NamedProfile> profiles) {
    Annotation list;
    for (const NamedProfile& p : profiles) {
        Annotation file;
        file.text = std::filesystem::path(p.path).filename().string();
        Annotation hash;
        hash.text = p.content_hash;
        Annotation one;
        one.entries.emplace_back("file", std::move(file));
        one.entries.emplace_back("hash", std::move(hash));
        if (!p.profile.provenance.entries.empty())
            one.entries.emplace_back("provenance", p.profile.provenance);
        list.items.push_back(std::move(one));
    }
    Annotation out;
    Annotation tool;
    tool.text = "occupipe " OCCUPIPE_VERSION;
    out.entries.emplace_back("tool", std::move(tool));
    out.entries.emplace_back("merged", std::move(list));
    return out;
}

// What one machine does not know of schedulers and scopes is what the first one that knows it says:
// nothing on that machine contradicts it. One scheduler is what is assumed where none shows.
std::vector<GpuProfile> with_known_scopes(std::span<const NamedProfile> profiles) {
    const auto known = std::ranges::find_if(
        profiles, [](const NamedProfile& p) { return p.profile.issue.schedulers > 1; });
    std::vector<GpuProfile> out;
    for (const NamedProfile& p : profiles) {
        GpuProfile& one = out.emplace_back(p.profile);
        if (one.issue.schedulers == 1 && known != profiles.end())
            one.issue.schedulers = known->profile.issue.schedulers;
        for (const Subsystem& open : p.profile.subsystems)
            for (auto other = profiles.begin(); !open.scope && other != profiles.end(); ++other)
                if (const Subsystem* of_other = other->profile.find_subsystem(open.name);
                    of_other && of_other->scope) {
                    set_scope(one, open.name, of_other->scope);
                    break;
                }
    }
    return out;
}

}  // namespace

MergedProfile merge_profiles(std::span<const NamedProfile> profiles) {
    if (profiles.size() < 2) throw InputError("at least two profiles are needed to merge");
    refuse_duplicates(profiles);
    const std::vector<GpuProfile> alike = with_known_scopes(profiles);
    OfMachines<GpuProfile> machines;
    for (std::size_t i = 0; i < alike.size(); ++i)
        machines.push_back({&alike[i], &profiles[i].path});
    MergedProfile merged;
    merged.profile = merge_fields(machines, merged.contradictions);
    GpuProfile& out = merged.profile;
    // A machine may know what the first does not.
    for (InstructionTiming& timing : out.instructions)
        if (timing.latency) timing.latency_unknown.clear();
    out.provenance = merged_from(profiles);
    if (!merged.contradictions.empty())
        out.provenance.entries.emplace_back("contradictions", list_of(merged.contradictions));
    validate(out);
    return merged;
}

}  // namespace occupipe
