// SPDX-License-Identifier: MIT
#include "fit/structure/class_split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace occupipe {
namespace {

// A curve that its law misses by more is no clear evidence.
constexpr double too_much_misfit = 0.01;
// One unit behind issue ports that take nearly as long as it looks like copies: so near one the
// ports' free share comes out where copies are all there is.
constexpr double only_copies = 0.99;
// … and of ports that others show, copies are told that are so much slower.
constexpr double nearly_a_port = 0.9;

bool would_show(const TimingFit& fit, int schedulers) {
    return std::ranges::find(fit.visible_copies, schedulers) != fit.visible_copies.end();
}

// What the law alone says, however little it is better than others.
std::optional<Scope> scope_of_law(const TimingFit& fit, int schedulers) {
    if (fit.schedulers == schedulers) return Scope::scheduler;
    if (fit.schedulers == 1 && would_show(fit, schedulers)) return Scope::core;
    return std::nullopt;
}

// Instructions per cycle that issue ports allow, by the profile or as any curve hints; the least.
std::optional<double> least_port_limit(const FitOutcome& out) {
    std::optional<double> least = out.profile.issue.limit;
    const auto hint = [&](double limit) { least = std::min(limit, least.value_or(limit)); };
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        const TimingFit& fit = s.fit;
        if (fit.port_limit) hint(fit.port_limit->value);
        if (fit.port_share && *fit.port_share < only_copies)
            hint(1 / (*fit.port_share * fit.cpi.value));
    }
    return least;
}

std::optional<Scope> clear_scope(const TimingFit& fit, int schedulers,
                                 const std::optional<double>& port_limit) {
    if (!fit.cpi.identifiable() || !would_show(fit, schedulers)) return std::nullopt;
    if (fit.misfit && fit.misfit->relative_size > too_much_misfit) return std::nullopt;
    const std::optional<Scope> scope = scope_of_law(fit, schedulers);
    if (scope != Scope::scheduler) return scope;
    const bool may_be_ports = fit.port_share.value_or(0) < only_copies ||
                              (port_limit && 1 / fit.cpi.value > nearly_a_port * *port_limit);
    return may_be_ports ? std::nullopt : scope;
}

// The number that all staircases and placements show; nullopt where none does or they contradict
// each other.
std::optional<int> schedulers_without_doubt(const FitOutcome& out) {
    std::set<int> shown;
    for (const SubjectReport& s : out.subjects) {
        if (s.subsystem.empty()) continue;
        for (const int k : {schedulers_seen(s.curve), s.fit.schedulers, s.fit.sharing_schedulers})
            if (k > 1) shown.insert(k);
    }
    return shown.size() == 1 ? std::optional(*shown.begin()) : std::nullopt;
}

struct Member {
    SubjectReport* subject = nullptr;
    bool witnessed = false;
    std::optional<Scope> clear;
    std::optional<Scope> of_law;
};

using Members = std::vector<Member>;

std::ptrdiff_t count_clear(const Members& members, Scope scope) {
    return std::ranges::count(members, std::optional(scope), &Member::clear);
}

// The scope of those that stay: of what mixes hold together, else one unit for the core, by whose
// name the class goes. nullopt: mixes hold both scopes together, or nothing clear.
std::optional<Scope> scope_that_stays(const Members& members) {
    std::set<Scope> held;
    bool any = false;
    for (const Member& m : members) {
        any |= m.witnessed;
        if (m.witnessed && m.clear) held.insert(*m.clear);
    }
    if (!any) return Scope::core;
    return held.size() == 1 ? std::optional(*held.begin()) : std::nullopt;
}

Members members_of(FitOutcome& out, const std::string& subsystem, int schedulers) {
    const std::optional<double> port_limit = least_port_limit(out);
    Members members;
    for (SubjectReport& s : out.subjects)
        if (s.subsystem == subsystem)
            members.push_back({&s, out.partition.witnessed.contains(s.curve.subject),
                               clear_scope(s.fit, schedulers, port_limit),
                               scope_of_law(s.fit, schedulers)});
    return members;
}

std::string names_of(const Members& members) {
    std::vector<std::string> names;
    for (const Member& m : members) names.push_back(m.subject->curve.subject);
    return fmt::format("{}", fmt::join(names, ", "));
}

void split(const std::string& subsystem, int schedulers, FitOutcome& out) {
    const Members members = members_of(out, subsystem, schedulers);
    const auto copies = count_clear(members, Scope::scheduler);
    const auto one = count_clear(members, Scope::core);
    const std::optional<Scope> stays = scope_that_stays(members);
    if (copies == 0 || one == 0 || !stays) return;
    const Scope most = copies > one ? Scope::scheduler : Scope::core;
    Members leaving;
    Members staying;
    for (const Member& m : members) {
        const bool leaves = !m.witnessed && m.clear.value_or(m.of_law.value_or(most)) != *stays;
        (leaves ? leaving : staying).push_back(m);
    }
    if (leaving.empty()) return;
    const Scope other = *stays == Scope::core ? Scope::scheduler : Scope::core;
    const std::string name = fmt::format("{}.{}", subsystem, to_string(other));
    for (const Member& m : leaving) {
        m.subject->subsystem = name;
        out.partition.subsystem_of[m.subject->curve.subject] = name;
    }
    out.partition.measured[name] = false;
    out.partition.split_by_scope.insert({subsystem, name});
    out.profile.subsystems.push_back({.name = name});
    const auto scope_text = [](Scope scope) {
        return scope == Scope::core ? "one unit for the core" : "a copy per scheduler";
    };
    out.notes.push_back(fmt::format("class {} is split by what curves show: {} ({}) {}, {} ({}) {}",
                                    subsystem, names_of(staying), subsystem, scope_text(*stays),
                                    names_of(leaving), name, scope_text(other)));
}

}  // namespace

void split_classes(FitOutcome& out) {
    const std::optional<int> schedulers = schedulers_without_doubt(out);
    if (!schedulers) return;
    std::vector<std::string> subsystems;
    for (const Subsystem& s : out.profile.subsystems) subsystems.push_back(s.name);
    for (const std::string& name : subsystems) split(name, *schedulers, out);
}

}  // namespace occupipe
