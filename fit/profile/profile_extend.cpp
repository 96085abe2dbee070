// SPDX-License-Identifier: MIT
#include "fit/profile/profile_extend.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "fit/structure/subsystems.h"

namespace occupipe {
namespace {

void require_same_device(const GpuProfile& base, const GpuProfile& more) {
    const auto refuse = [](const char* what, const auto& of_base, const auto& of_more) {
        throw InputError(
            fmt::format("the profile is of another device than the measurement ({} "
                        "{} there, {} here): their numbers do not go together",
                        what, of_base, of_more));
    };
    // What a profile's own model is called as a device.
    if (base.device.name != more.device.name && base.device.name + " (model)" != more.device.name)
        refuse("device.name", base.device.name, more.device.name);
    if (base.cores != more.cores) refuse("cores", base.cores, more.cores);
    if (base.warp_size != more.warp_size) refuse("warp_size", base.warp_size, more.warp_size);
    // Few rows may show too few schedulers, never too many.
    if (base.issue.schedulers < more.issue.schedulers)
        refuse("issue.schedulers", base.issue.schedulers, more.issue.schedulers);
}

// λ as of one copy of a subsystem with this many copies instead of that many.
void to_copies(InstructionTiming& timing, double from, double to) {
    const double factor = to / from;
    timing.cpi = timing.cpi.times(factor);
    if (timing.loop_cpi) timing.loop_cpi = timing.loop_cpi->times(factor);
    for (ParameterTable& table : timing.tables)
        for (TableRow& row : table.rows)
            if (row.cpi) row.cpi = row.cpi->times(factor);
}

// Where instructions of the same class are in the profile, in a subsystem of this scope if any is;
// empty: it has none.
std::string subsystem_of_class(const GpuProfile& profile, const std::string& name,
                               const std::optional<Scope>& scope) {
    const std::string wanted = assumed_subsystem(name);
    std::string found;
    for (const InstructionTiming& one : profile.instructions) {
        if (assumed_subsystem(one.name) != wanted) continue;
        if (found.empty()) found = one.subsystem;
        if (scope && profile.find_subsystem(one.subsystem)->scope == scope) return one.subsystem;
    }
    return found;
}

Annotation text(std::string value) {
    Annotation made;
    made.text = std::move(value);
    return made;
}

void add_provenance(GpuProfile& profile, const GpuProfile& more,
                    const std::vector<std::string>& added, const std::string& measurement,
                    const std::string& hash) {
    Annotation one, names;
    for (const std::string& name : added) names.items.push_back(text(name));
    one.entries.emplace_back("instructions", std::move(names));
    one.entries.emplace_back("file", text(measurement));
    one.entries.emplace_back("hash", text(hash));
    one.entries.emplace_back("provenance", more.provenance);
    auto& entries = profile.provenance.entries;
    const auto found = std::ranges::find(entries, "extended", &AnnotationEntry::key);
    if (found != entries.end()) {
        found->value.items.push_back(std::move(one));
        return;
    }
    Annotation list;
    list.items.push_back(std::move(one));
    entries.emplace_back("extended", std::move(list));
}

}  // namespace

ProfileExtension extend_profile(const GpuProfile& base, const GpuProfile& more,
                                const std::string& measurement, const std::string& hash) {
    require_same_device(base, more);
    ProfileExtension extension;
    GpuProfile& profile = extension.profile;
    profile = base;
    for (const InstructionTiming& measured : more.instructions) {
        if (base.find_instruction(measured.name)) continue;
        InstructionTiming timing = measured;
        const std::string joined =
            subsystem_of_class(base, timing.name, more.find_subsystem(timing.subsystem)->scope);
        const double copies = more.copies(timing.subsystem);
        if (!joined.empty()) {
            to_copies(timing, copies, base.copies(joined));
            timing.subsystem = joined;
        } else if (const Subsystem* known = profile.find_subsystem(timing.subsystem)) {
            to_copies(timing, copies, profile.copies(known->name));
        } else {
            profile.subsystems.push_back(*more.find_subsystem(timing.subsystem));
        }
        extension.notes.push_back(fmt::format(
            "{} is put into the subsystem {}, {}; no mix showed it", timing.name, timing.subsystem,
            joined.empty() ? "as its name suggests" : "as the profile's others of its class"));
        extension.added.push_back(timing.name);
        profile.instructions.push_back(std::move(timing));
    }
    for (const MemoryLevel& level : more.memory_levels)
        if (std::ranges::count(extension.added, level.instruction))
            profile.memory_levels.push_back(level);
    if (!extension.added.empty()) add_provenance(profile, more, extension.added, measurement, hash);
    validate(profile);
    return extension;
}

}  // namespace occupipe
