// SPDX-License-Identifier: MIT
#include "fit/profile_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "fit/curve.h"

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

InstructionTiming merge_instruction(std::span<const NamedProfile> profiles,
                                    const std::string& name) {
    std::vector<Estimate> cpi;
    std::vector<Estimate> latency;
    InstructionTiming out;
    for (const NamedProfile& p : profiles) {
        const InstructionTiming* t = p.profile.find_instruction(name);
        if (t == nullptr) continue;
        if (cpi.empty()) {
            out = *t;
            out.note.clear();
        } else if (t->subsystem != out.subsystem) {
            append(out.note,
                   fmt::format("{} has it in subsystem {}",
                               std::filesystem::path(p.path).filename().string(), t->subsystem));
        }
        cpi.push_back(t->cpi);
        latency.push_back(t->latency);
    }
    const Pooled pooled_cpi = pool(cpi);
    const Pooled pooled_latency = pool(latency);
    out.cpi = pooled_cpi.estimate;
    out.latency = pooled_latency.estimate;
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

}  // namespace

Pooled pool(std::span<const Estimate> estimates) {
    std::vector<Estimate> known;
    for (const Estimate& e : estimates)
        if (e.identifiable) known.push_back(e);
    if (known.empty()) {
        Pooled out;
        out.estimate = *std::min_element(
            estimates.begin(), estimates.end(),
            [](const Estimate& a, const Estimate& b) { return a.value < b.value; });
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
    out.instructions.clear();
    for (const std::string& name : order)
        out.instructions.push_back(merge_instruction(profiles, name));
    out.provenance = merged_from(profiles);
    validate(out);
    return out;
}

}  // namespace occupipe
