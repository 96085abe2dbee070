// SPDX-License-Identifier: MIT
#include "fit/profile/profile_merge.h"

#include <filesystem>

#include "core/error.h"
#include "core/profile_fields.h"
#include "fit/profile/field_merge.h"

namespace occupipe {
namespace {

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

}  // namespace

GpuProfile merge_profiles(std::span<const NamedProfile> profiles) {
    if (profiles.size() < 2) throw InputError("at least two profiles are needed to merge");
    OfMachines<GpuProfile> machines;
    for (const NamedProfile& p : profiles) machines.push_back({&p.profile, &p.path});
    GpuProfile out = merge_fields(machines);
    // A machine may know what the first does not.
    for (InstructionTiming& timing : out.instructions)
        if (timing.latency) timing.latency_unknown.clear();
    out.provenance = merged_from(profiles);
    validate(out);
    return out;
}

}  // namespace occupipe
