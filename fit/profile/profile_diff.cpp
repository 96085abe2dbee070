// SPDX-License-Identifier: MIT
#include "fit/profile/profile_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "fit/profile/fit_report.h"

namespace occupipe {
namespace {

Estimate exact(double value) {
    Estimate e;
    e.value = value;
    return e;
}

std::optional<Estimate> issue_limit(const GpuProfile& profile) {
    if (!profile.issue.limit) return std::nullopt;
    Estimate e = exact(*profile.issue.limit);
    e.std_error = profile.issue.limit_std_error;
    return e;
}

// Where the number lies for all that the estimate says.
struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

Range range_of(const Estimate& e, const DiffOptions& options) {
    switch (e.kind) {
        case Estimate::Kind::value: {
            const double error = options.standard_errors *
                                 e.std_error.value_or(options.relative_without_errors * e.value);
            return {.low = e.value - error, .high = e.value + error};
        }
        case Estimate::Kind::upper_bound:
            return {.high = e.value};
        case Estimate::Kind::lower_bound:
            return {.low = e.value};
        case Estimate::Kind::undetermined:
            break;
    }
    return {};
}

// Two estimates of which at least one is a bound differ when their ranges lie apart.
DiffVerdict judge_bounds(const Estimate& a, const Estimate& b, const DiffOptions& options) {
    const Range first = range_of(a, options);
    const Range second = range_of(b, options);
    if (second.low > first.high * (1 + options.relative)) return DiffVerdict::larger;
    if (first.low > second.high * (1 + options.relative)) return DiffVerdict::smaller;
    return DiffVerdict::not_comparable;
}

DiffVerdict judge(ParameterDiff& d, const DiffOptions& options) {
    const Estimate& a = *d.first;
    const Estimate& b = *d.second;
    if (!a.identifiable() || !b.identifiable()) return judge_bounds(a, b, options);
    d.relative = b.value / a.value - 1;
    bool beyond = std::abs(*d.relative) > options.relative;
    if (a.std_error && b.std_error && std::hypot(*a.std_error, *b.std_error) > 0) {
        d.standard_errors = (b.value - a.value) / std::hypot(*a.std_error, *b.std_error);
        beyond = beyond && std::abs(*d.standard_errors) > options.standard_errors;
    } else {
        beyond = std::abs(*d.relative) > options.relative_without_errors;
    }
    if (!beyond) return DiffVerdict::same;
    return *d.relative > 0 ? DiffVerdict::larger : DiffVerdict::smaller;
}

template <typename Choice>
std::string_view word(const std::optional<Choice>& choice) {
    return choice ? to_string(*choice) : std::string_view();
}

std::string value_text(const std::optional<Estimate>& estimate, const std::string& word) {
    if (!word.empty()) return word;
    return estimate ? format_estimate(*estimate) : "none";
}

class Differ {
public:
    explicit Differ(const DiffOptions& options) : options_(options) {}

    void add(const std::string& name, std::optional<Estimate> first,
             std::optional<Estimate> second) {
        if (!first && !second) return;
        ParameterDiff d{name, std::move(first), std::move(second), {}, {}, {}};
        d.verdict = !d.second  ? DiffVerdict::only_first
                    : !d.first ? DiffVerdict::only_second
                               : judge(d, options_);
        diffs.push_back(std::move(d));
    }

    // Words; an empty one is not there.
    void add(const std::string& name, std::string_view first, std::string_view second) {
        if (first.empty() && second.empty()) return;
        ParameterDiff d;
        d.name = name;
        d.first_word = first;
        d.second_word = second;
        d.verdict = second.empty()    ? DiffVerdict::only_first
                    : first.empty()   ? DiffVerdict::only_second
                    : first != second ? DiffVerdict::different
                                      : DiffVerdict::same;
        diffs.push_back(std::move(d));
    }

    std::vector<ParameterDiff> diffs;

private:
    const DiffOptions& options_;
};

// Every row of every table, λ per core.
using Parameters = std::vector<std::pair<std::string, Estimate>>;

void collect_tables(const GpuProfile& profile, const InstructionTiming& timing, Parameters& out) {
    for (const ParameterTable& table : timing.tables)
        for (const TableRow& row : table.rows) {
            const std::string place = fmt::format("{} at {} {:g}", timing.name, table.over, row.at);
            if (row.cpi) {
                InstructionTiming there = timing;
                there.cpi = *row.cpi;
                out.emplace_back(place + " λ", profile.cpi_per_core(there));
            }
            if (row.latency) out.emplace_back(place + " Λ", *row.latency);
        }
}

// What stands beside the instructions' own λ and Λ.
Parameters further_parameters(const GpuProfile& profile) {
    Parameters out;
    const auto add = [&](const std::string& name, const std::optional<Estimate>& e) {
        if (e) out.emplace_back(name, *e);
    };
    add("launch [s]", profile.overheads.launch_seconds);
    add("awaited launch [s]", profile.overheads.awaited_launch_seconds);
    add("launch in a graph [s]", profile.overheads.graph_launch_seconds);
    add("group launch [s]", profile.overheads.group_seconds);
    add("loop iteration", profile.overheads.loop_cycles);
    for (const InstructionTiming& timing : profile.instructions) {
        add(timing.name + " h", timing.latency_growth);
        collect_tables(profile, timing, out);
    }
    std::map<std::string, int> level;
    for (const MemoryLevel& l : profile.memory_levels)
        out.emplace_back(fmt::format("{} level {} Λ", l.instruction, ++level[l.instruction]),
                         l.latency);
    return out;
}

void add_further(const GpuProfile& first, const GpuProfile& second, Differ& differ) {
    const Parameters a = further_parameters(first);
    const Parameters b = further_parameters(second);
    const auto in = [](const Parameters& all, const std::string& name) {
        const auto it = std::find_if(all.begin(), all.end(),
                                     [&](const auto& entry) { return entry.first == name; });
        return it == all.end() ? std::nullopt : std::optional(it->second);
    };
    for (const auto& [name, e] : a) differ.add(name, e, in(b, name));
    for (const auto& [name, e] : b)
        if (!in(a, name)) differ.add(name, std::nullopt, e);
}

std::string_view describe(DiffVerdict verdict) {
    switch (verdict) {
        case DiffVerdict::same:
            return "same";
        case DiffVerdict::larger:
            return "larger";
        case DiffVerdict::smaller:
            return "smaller";
        case DiffVerdict::different:
            return "different";
        case DiffVerdict::only_first:
            return "only in the first";
        case DiffVerdict::only_second:
            return "only in the second";
        case DiffVerdict::not_comparable:
            break;
    }
    return "not comparable";
}

}  // namespace

std::vector<ParameterDiff> diff_profiles(const GpuProfile& first, const GpuProfile& second,
                                         const DiffOptions& options) {
    Differ differ(options);
    differ.add("cores", exact(first.cores), exact(second.cores));
    differ.add("warp size", exact(first.warp_size), exact(second.warp_size));
    differ.add("clock [Hz]", exact(first.clock_hz), exact(second.clock_hz));
    differ.add("schedulers", exact(first.issue.schedulers), exact(second.issue.schedulers));
    differ.add("issue limit", issue_limit(first), issue_limit(second));
    differ.add("issue policy", word(first.issue.policy), word(second.issue.policy));
    differ.add("issue select", word(first.issue.select), word(second.issue.select));
    for (const InstructionTiming& a : first.instructions) {
        const InstructionTiming* b = second.find_instruction(a.name);
        std::optional<Estimate> cpi;
        std::optional<Estimate> latency;
        if (b != nullptr) {
            cpi = second.cpi_per_core(*b);
            latency = b->latency;
        }
        differ.add(a.name + " λ", first.cpi_per_core(a), cpi);
        differ.add(a.name + " Λ", a.latency, latency);
    }
    for (const InstructionTiming& b : second.instructions) {
        if (first.find_instruction(b.name) != nullptr) continue;
        differ.add(b.name + " λ", std::nullopt, second.cpi_per_core(b));
        differ.add(b.name + " Λ", std::nullopt, b.latency);
    }
    add_further(first, second, differ);
    return std::move(differ.diffs);
}

std::string format_diff(const std::vector<ParameterDiff>& diffs, bool everything) {
    std::string out;
    int different = 0;
    int unknown = 0;
    int missing = 0;
    for (const ParameterDiff& d : diffs) {
        different += d.verdict == DiffVerdict::larger || d.verdict == DiffVerdict::smaller ||
                     d.verdict == DiffVerdict::different;
        unknown += d.verdict == DiffVerdict::not_comparable;
        missing += d.verdict == DiffVerdict::only_first || d.verdict == DiffVerdict::only_second;
        if (d.verdict == DiffVerdict::same && !everything) continue;
        out += fmt::format("{}: {} -> {}: {}", d.name, value_text(d.first, d.first_word),
                           value_text(d.second, d.second_word), describe(d.verdict));
        if (d.relative) out += fmt::format(" ({:+.2f} %", 100 * *d.relative);
        if (d.standard_errors) out += fmt::format(", {:+.1f} standard errors", *d.standard_errors);
        out += d.relative ? ")\n" : "\n";
    }
    return out +
           fmt::format("{} parameters: {} differ, {} in one profile only, {} not comparable\n",
                       diffs.size(), different, missing, unknown);
}

}  // namespace occupipe
