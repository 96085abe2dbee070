// SPDX-License-Identifier: MIT
#include "fit/profile/profile_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "fit/curves/curve.h"

namespace occupipe {
namespace {

void require_same(std::span<const NamedProfile> profiles) {
    const NamedProfile& first = profiles.front();
    const auto fail = [&](const NamedProfile& p, const char* key, const auto& a, const auto& b) {
        throw InputError(p.path, SourcePosition{}, key,
                         fmt::format("is '{}', but '{}' in {}: only runs of one device model can "
                                     "be merged",
                                     b, a, first.path));
    };
    for (const NamedProfile& p : profiles) {
        const GpuProfile& a = first.profile;
        const GpuProfile& b = p.profile;
        if (a.device.name != b.device.name) fail(p, "device.name", a.device.name, b.device.name);
        if (a.cores != b.cores) fail(p, "cores", a.cores, b.cores);
        if (a.warp_size != b.warp_size) fail(p, "warp_size", a.warp_size, b.warp_size);
        if (a.issue.schedulers != b.issue.schedulers)
            fail(p, "issue.schedulers", a.issue.schedulers, b.issue.schedulers);
    }
}

// What one of them does not say, or says otherwise, is not known of all.
template <typename Choice>
void keep_agreed(std::optional<Choice>& merged, const std::optional<Choice>& other) {
    if (merged != other) merged.reset();
}

// Variance between machines by DerSimonian and Laird's method of moments; zero when the machines'
// own errors explain their differences.
double variance_between(std::span<const Estimate> known) {
    double w1 = 0, w2 = 0, mean = 0, q = 0;
    for (const Estimate& e : known) {
        const double w = std::pow(*e.std_error, -2);
        w1 += w;
        w2 += w * w;
        mean += w * e.value;
    }
    mean /= w1;
    for (const Estimate& e : known) q += std::pow((e.value - mean) / *e.std_error, 2);
    const double freedom = static_cast<double>(known.size()) - 1;
    return std::max(0.0, (q - freedom) / (w1 - w2 / w1));
}

Pooled plain_mean(std::span<const Estimate> known) {
    Pooled out;
    const double n = static_cast<double>(known.size());
    for (const Estimate& e : known) out.estimate.value += e.value / n;
    double squares = 0;
    for (const Estimate& e : known) squares += std::pow(e.value - out.estimate.value, 2);
    if (known.size() > 1) {
        out.between = std::sqrt(squares / (n - 1));
        out.estimate.std_error = out.between / std::sqrt(n);
    } else {
        out.estimate = known.front();
    }
    return out;
}

std::string spread_note(const char* symbol, const Pooled& p) {
    if (p.machines < 2) return {};
    return fmt::format("{} of {} machines: {:.5g} to {:.5g}, {:.2g} % between them", symbol,
                       p.machines, p.lowest, p.highest, 100 * p.between / p.estimate.value);
}

void append(std::string& notes, const std::string& note) {
    if (note.empty()) return;
    notes += (notes.empty() ? "" : "; ") + note;
}

// Rows that every machine with the table has; without them a pooled row would stand for fewer
// machines than its neighbours.
std::vector<ParameterTable> merge_tables(std::span<const InstructionTiming> machines) {
    std::vector<ParameterTable> out;
    for (const ParameterTable& table : machines.front().tables) {
        ParameterTable merged{table.over, table.note, {}};
        for (const TableRow& row : table.rows) {
            std::vector<Estimate> cpi;
            std::vector<Estimate> latency;
            for (const InstructionTiming& machine : machines)
                for (const ParameterTable& t : machine.tables) {
                    if (t.over != table.over) continue;
                    for (const TableRow& r : t.rows) {
                        if (r.at != row.at) continue;
                        if (r.cpi) cpi.push_back(*r.cpi);
                        if (r.latency) latency.push_back(*r.latency);
                    }
                }
            TableRow pooled{row.at, {}, {}};
            if (cpi.size() == machines.size()) pooled.cpi = pool(cpi).estimate;
            if (latency.size() == machines.size()) pooled.latency = pool(latency).estimate;
            if (pooled.cpi || pooled.latency) merged.rows.push_back(std::move(pooled));
        }
        if (!merged.rows.empty()) out.push_back(std::move(merged));
    }
    return out;
}

std::optional<Estimate> pool_present(const std::vector<std::optional<Estimate>>& values) {
    std::vector<Estimate> known;
    for (const auto& v : values)
        if (v) known.push_back(*v);
    return known.empty() ? std::nullopt : std::optional(pool(known).estimate);
}

// Levels that every machine shows for the same working sets.
std::vector<MemoryLevel> merge_levels(std::span<const NamedProfile> profiles) {
    std::vector<MemoryLevel> out;
    for (const MemoryLevel& level : profiles.front().profile.memory_levels) {
        std::vector<Estimate> latency;
        MemoryLevel merged = level;
        for (const NamedProfile& p : profiles)
            for (const MemoryLevel& l : p.profile.memory_levels) {
                if (l.instruction != level.instruction || l.first_bytes != level.first_bytes ||
                    l.last_bytes != level.last_bytes)
                    continue;
                latency.push_back(l.latency);
                if (merged.edge_confidence && l.edge_confidence)
                    merged.edge_confidence = std::min(*merged.edge_confidence, *l.edge_confidence);
            }
        if (latency.size() != profiles.size()) continue;
        merged.latency = pool(latency).estimate;
        out.push_back(std::move(merged));
    }
    return out;
}

Overheads merge_overheads(std::span<const NamedProfile> profiles) {
    const auto pooled = [&](std::optional<Estimate> Overheads::*which) {
        std::vector<std::optional<Estimate>> values;
        for (const NamedProfile& p : profiles) values.push_back(p.profile.overheads.*which);
        return pool_present(values);
    };
    return {pooled(&Overheads::launch_seconds), pooled(&Overheads::awaited_launch_seconds),
            pooled(&Overheads::graph_launch_seconds), pooled(&Overheads::group_seconds),
            pooled(&Overheads::loop_cycles)};
}

// λ, in tables too, as one copy has it elsewhere: machines may differ in the scope that was seen.
InstructionTiming rescaled(InstructionTiming timing, double factor) {
    timing.cpi = timing.cpi.times(factor);
    for (ParameterTable& table : timing.tables)
        for (TableRow& row : table.rows)
            if (row.cpi) row.cpi = row.cpi->times(factor);
    return timing;
}

InstructionTiming merge_instruction(std::span<const NamedProfile> profiles,
                                    const std::string& name) {
    std::vector<Estimate> cpi;
    std::vector<Estimate> latency;
    std::vector<std::optional<Estimate>> growth;
    std::vector<InstructionTiming> machines;
    InstructionTiming out;
    double copies_here = 1;
    for (const NamedProfile& p : profiles) {
        const InstructionTiming* t = p.profile.find_instruction(name);
        if (t == nullptr) continue;
        const double copies_there = p.profile.copies(t->subsystem);
        const std::string file = std::filesystem::path(p.path).filename().string();
        if (machines.empty()) {
            out = *t;
            out.note.clear();
            copies_here = copies_there;
        } else if (t->subsystem != out.subsystem) {
            append(out.note, fmt::format("{} has it in subsystem {}", file, t->subsystem));
        }
        if (copies_there != copies_here)
            append(out.note, fmt::format("{} has its subsystem at another scope", file));
        machines.push_back(rescaled(*t, copies_here / copies_there));
        cpi.push_back(machines.back().cpi);
        latency.push_back(t->latency);
        growth.push_back(t->latency_growth);
    }
    const Pooled pooled_cpi = pool(cpi);
    const Pooled pooled_latency = pool(latency);
    out.cpi = pooled_cpi.estimate;
    out.latency = pooled_latency.estimate;
    out.latency_growth = pool_present(growth);
    out.tables = merge_tables(machines);
    append(out.note, spread_note("λ", pooled_cpi));
    append(out.note, spread_note("Λ", pooled_latency));
    return out;
}

void merge_issue_limit(std::span<const NamedProfile> profiles, GpuProfile& out) {
    std::vector<Estimate> limits;
    for (const NamedProfile& p : profiles) {
        if (!p.profile.issue.limit) continue;
        Estimate e;
        e.value = *p.profile.issue.limit;
        e.std_error = p.profile.issue.limit_std_error;
        limits.push_back(e);
    }
    if (limits.empty()) return;
    const Pooled pooled = pool(limits);
    out.issue.limit = pooled.estimate.value;
    out.issue.limit_std_error = pooled.estimate.std_error;
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

// Of bounds alone: the least upper one, else the greatest lower one.
Estimate tightest_bound(std::span<const Estimate> bounds) {
    const Estimate* best = &bounds.front();
    const auto better = [](const Estimate& a, const Estimate& b) {
        if (a.kind != b.kind) return a.kind < b.kind;  // upper, lower, of unknown direction
        return a.kind == Estimate::Kind::lower_bound ? a.value > b.value : a.value < b.value;
    };
    for (const Estimate& bound : bounds)
        if (better(bound, *best)) best = &bound;
    return *best;
}

}  // namespace

Pooled pool(std::span<const Estimate> estimates) {
    std::vector<Estimate> known;
    for (const Estimate& e : estimates)
        if (e.identifiable()) known.push_back(e);
    if (known.empty()) {
        Pooled out;
        out.estimate = tightest_bound(estimates);
        return out;
    }
    const bool errors_known = std::all_of(known.begin(), known.end(), [](const Estimate& e) {
        return e.std_error && *e.std_error > 0;
    });
    Pooled out;
    if (!errors_known || known.size() == 1) {
        out = plain_mean(known);
    } else {
        const double between = variance_between(known);
        double weight = 0;
        for (const Estimate& e : known) {
            const double w = 1 / (*e.std_error * *e.std_error + between);
            weight += w;
            out.estimate.value += w * e.value;
        }
        out.estimate.value /= weight;
        out.estimate.std_error = 1 / std::sqrt(weight);
        out.between = std::sqrt(between);
    }
    const auto [low, high] =
        std::minmax_element(known.begin(), known.end(),
                            [](const Estimate& a, const Estimate& b) { return a.value < b.value; });
    out.lowest = low->value;
    out.highest = high->value;
    out.machines = known.size();
    return out;
}

GpuProfile merge_profiles(std::span<const NamedProfile> profiles) {
    if (profiles.size() < 2) throw InputError("at least two profiles are needed to merge");
    require_same(profiles);
    GpuProfile out = profiles.front().profile;
    std::vector<double> clocks;
    std::vector<std::string> order;
    for (const NamedProfile& p : profiles) {
        clocks.push_back(p.profile.clock_hz);
        for (const Subsystem& s : p.profile.subsystems)
            if (out.find_subsystem(s.name) == nullptr) out.subsystems.push_back(s);
        for (const InstructionTiming& t : p.profile.instructions)
            if (std::find(order.begin(), order.end(), t.name) == order.end())
                order.push_back(t.name);
    }
    out.clock_hz = median(std::move(clocks));
    merge_issue_limit(profiles, out);
    for (const NamedProfile& p : profiles) {
        keep_agreed(out.issue.policy, p.profile.issue.policy);
        keep_agreed(out.issue.select, p.profile.issue.select);
    }
    out.overheads = merge_overheads(profiles);
    out.memory_levels = merge_levels(profiles);
    out.instructions.clear();
    for (const std::string& name : order)
        out.instructions.push_back(merge_instruction(profiles, name));
    out.provenance = merged_from(profiles);
    validate(out);
    return out;
}

}  // namespace occupipe
