// SPDX-License-Identifier: MIT
#include "fit/profile/profile_complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/subsystem_scope.h"

namespace occupipe {
namespace {

template <class T>
void require_same(const char* key, const T& measured, const T& published) {
    if (measured != published)
        throw InputError({}, SourcePosition{}, key,
                         fmt::format("is {} as measured, but {} as published: the profiles are of "
                                     "different devices",
                                     measured, published));
}

template <class T>
void fill(std::optional<T>& to, const std::optional<T>& from) {
    if (!to) to = from;
}

// The subsystem of `other` that has most of the instructions of this one of `profile`; empty: it
// has none of them.
std::string counterpart(const GpuProfile& profile, const std::string& subsystem,
                        const GpuProfile& other) {
    std::map<std::string, int> votes;
    for (const InstructionTiming& one : profile.instructions)
        if (one.subsystem == subsystem)
            if (const InstructionTiming* const there = other.find_instruction(one.name))
                ++votes[there->subsystem];
    const auto most =
        std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
    return most == votes.end() ? std::string() : most->first;
}

// Scopes that the measurements leave open are those of the published unit that has most of a
// subsystem's instructions.
void fill_scopes(GpuProfile& out, const GpuProfile& published) {
    for (const Subsystem& open : GpuProfile(out).subsystems) {
        if (open.scope) continue;
        const std::string unit = counterpart(out, open.name, published);
        if (!unit.empty()) set_scope(out, open.name, published.find_subsystem(unit)->scope);
    }
}

// How sure the measurements are of who shares a unit; none: mixes decided about nobody.
double confidence_in_units(const GpuProfile& measured) {
    double confidence = 0;
    for (const auto& [key, value] : measured.provenance.entries)
        if (key == "subsystems_confidence")
            std::from_chars(value.text.data(), value.text.data() + value.text.size(), confidence);
    return confidence;
}

std::vector<std::string_view> words_of(std::string_view name) {
    std::vector<std::string_view> words;
    for (const auto word : std::views::split(name, '.'))
        words.emplace_back(word.begin(), word.end());
    std::ranges::sort(words);
    return words;
}

// The published unit of an instruction; of one that was not published, the unit of the one of the
// same operation whose name has most words in common, "fma.f32" for "fma.f32.same". Empty: none.
std::string_view published_unit(const GpuProfile& published, std::string_view name) {
    const std::string_view operation = name.substr(0, name.find('.'));
    const auto words = words_of(name);
    std::string_view unit;
    std::size_t most = 0;
    for (const InstructionTiming& one : published.instructions) {
        if (one.name == name) return one.subsystem;
        if (std::string_view(one.name).substr(0, one.name.find('.')) != operation) continue;
        std::vector<std::string_view> common;
        std::ranges::set_intersection(words, words_of(one.name), std::back_inserter(common));
        if (common.size() <= most) continue;
        most = common.size();
        unit = one.subsystem;
    }
    return unit;
}

// Vendors document which pipe executes an instruction. Where mixes were too few to be sure, that
// counts instead of the assumption that all arithmetic shares one.
void take_published_units(GpuProfile& out, const GpuProfile& published) {
    constexpr double sure = 0.9;
    if (confidence_in_units(out) >= sure) return;
    std::vector<Subsystem> units;
    const auto add = [&](const Subsystem& unit) {
        if (std::ranges::find(units, unit.name, &Subsystem::name) == units.end())
            units.push_back(unit);
    };
    for (InstructionTiming& one : out.instructions) {
        const std::string_view name = published_unit(published, one.name);
        const Subsystem* const known =
            published.find_subsystem(name.empty() ? one.subsystem : name);
        const Subsystem& unit = known ? *known : *out.find_subsystem(one.subsystem);
        const double copies = unit.per_scheduler() ? out.issue.schedulers : 1;
        scale_cpi(one, copies / out.copies(one.subsystem));
        one.subsystem = unit.name;
        add(unit);
    }
    out.subsystems = std::move(units);
}

// Where a published unit's instructions go: to the measured subsystem that has most of them, else
// to one of their own.
std::map<std::string, std::string> homes_of(GpuProfile& out, const GpuProfile& published) {
    std::map<std::string, std::string> homes;
    for (const Subsystem& unit : published.subsystems) {
        const std::string own = counterpart(published, unit.name, out);
        homes[unit.name] = own.empty() ? unit.name : own;
        const auto home = std::ranges::find(out.subsystems, homes[unit.name], &Subsystem::name);
        if (home == out.subsystems.end())
            out.subsystems.push_back(unit);
        else if (!home->issue_slots)
            home->issue_slots = unit.issue_slots;
    }
    return homes;
}

// A quantity beside a measured one says where it comes from.
Estimate told(Estimate value, Source source) {
    if (!value.source) value.source = source;
    return value;
}

}  // namespace

bool is_published(const GpuProfile& profile) {
    return !profile.instructions.empty() &&
           std::ranges::none_of(profile.instructions, [](const InstructionTiming& one) {
               return one.source == Source::measured;
           });
}

CompletedProfile complete_profile(const GpuProfile& measured, const GpuProfile& published) {
    require_same("cores", measured.cores, published.cores);
    require_same("warp_size", measured.warp_size, published.warp_size);
    if (!measured.device.compute_capability.empty())
        require_same("device.compute_capability", measured.device.compute_capability,
                     published.device.compute_capability);
    CompletedProfile all{.profile = measured, .measured = {}, .published = {}};
    GpuProfile& out = all.profile;
    fill_scopes(out, published);
    take_published_units(out, published);
    const auto homes = homes_of(out, published);
    for (const InstructionTiming& one : measured.instructions) all.measured.push_back(one.name);
    for (const InstructionTiming& other : published.instructions) {
        InstructionTiming* own = out.find_instruction(other.name);
        const bool lacking = own == nullptr;
        if (lacking) {
            own = &out.instructions.emplace_back(other);
            own->subsystem = homes.at(other.subsystem);
        }
        const bool cpi = lacking || !own->cpi.identifiable();
        const bool latency =
            other.latency && (lacking || !own->latency || !own->latency->identifiable());
        if (cpi) {
            const int copies = out.copies(own->subsystem);
            own->cpi = published.cpi_per_core(other).times(copies);
            const double factor = static_cast<double>(copies) / published.copies(other.subsystem);
            if (lacking)
                for (ParameterTable& table : own->tables)
                    for (TableRow& row : table.rows)
                        if (row.cpi) row.cpi = row.cpi->times(factor);
            if (!lacking) own->cpi = told(own->cpi, other.source);
        }
        if (latency && !lacking) {
            own->latency = told(*other.latency, other.source);
            own->latency_unknown.clear();
        }
        if (cpi || latency) all.published.push_back(other.name);
    }
    for (const MemoryLevel& level : published.memory_levels)
        if (std::ranges::find(measured.memory_levels, level.instruction,
                              &MemoryLevel::instruction) == measured.memory_levels.end())
            out.memory_levels.push_back(level);
    fill(out.limits.warps, published.limits.warps);
    fill(out.limits.groups, published.limits.groups);
    fill(out.limits.group_warps, published.limits.group_warps);
    fill(out.limits.registers, published.limits.registers);
    fill(out.limits.shared_memory_bytes, published.limits.shared_memory_bytes);
    fill(out.issue.limit, published.issue.limit);
    fill(out.overheads.launch_seconds, published.overheads.launch_seconds);
    fill(out.overheads.kernel_seconds, published.overheads.kernel_seconds);
    if (out.match == MatchDevice{}) out.match = published.match;
    out.provenance.entries.emplace_back("published", published.provenance);
    validate(out);
    return all;
}

}  // namespace occupipe
