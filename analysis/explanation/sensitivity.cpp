// SPDX-License-Identifier: MIT
#include "analysis/explanation/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "core/error.h"
#include "core/parallel.h"
#include "sim/machine/machine.h"

namespace occupipe::analysis {
namespace {

constexpr double better = 0.1;

std::set<std::string> used_ops(const GpuProfile& profile, const Kernel& kernel) {
    std::set<std::string> names;
    for (const sim::MachineOp& op : sim::build_machine(profile, kernel).ops) names.insert(op.name);
    return names;
}

// The subsystems in use whose instructions delay one another.
std::vector<std::string> contended(const GpuProfile& profile, const Kernel& kernel) {
    std::vector<std::string> names;
    for (const Subsystem& subsystem : sim::build_machine(profile, kernel).subsystems)
        if (subsystem.contention && subsystem.contention->value > 0)
            names.push_back(subsystem.name);
    return names;
}

Estimate& contention_of(GpuProfile& profile, const std::string& name) {
    return *std::find_if(profile.subsystems.begin(), profile.subsystems.end(),
                         [&](const Subsystem& subsystem) { return subsystem.name == name; })
                ->contention;
}

// Twelve digits, so that 0.9 · 0.1 is 0.09 and times stay short decimals.
double tidy(double value) {
    const double scale = std::pow(10, 11 - std::floor(std::log10(value)));
    return std::round(value * scale) / scale;
}

double draw(double value, double std_error, std::mt19937_64& random) {
    std::normal_distribution<double> distribution(value, std_error);
    while (true) {
        const double drawn = std::round(distribution(random) * 1e6) / 1e6;
        if (drawn > 0) return drawn;
    }
}

// A bound's error says nothing of where the number itself lies.
bool drawable(const Estimate& estimate) {
    return estimate.identifiable() && estimate.std_error.value_or(0) > 0;
}

bool draw(Estimate& estimate, std::mt19937_64& random) {
    if (!drawable(estimate)) return false;
    estimate.value = draw(estimate.value, *estimate.std_error, random);
    return true;
}

// A queue must take less than λ, or 1 as a share of it.
bool draw_below(Estimate& wait, double bound, std::mt19937_64& random) {
    if (!draw(wait, random)) return false;
    wait.value = std::min(wait.value, 0.999 * bound);
    return true;
}

// A generator of its own for each draw of each seed: seed + number would give seed 2 the draws of
// seed 1 but for the first.
std::mt19937_64 generator(std::uint64_t seed, std::uint64_t number) {
    std::seed_seq words{seed, seed >> 32, number, number >> 32};
    return std::mt19937_64(words);
}

// False if nothing had a standard error.
bool draw_profile(GpuProfile& profile, const std::set<std::string>& ops,
                  const std::vector<std::string>& queues, std::mt19937_64 random) {
    bool any = false;
    for (const std::string& op : ops) {
        InstructionTiming& timing = *profile.find_instruction(op);
        any |= draw(timing.cpi, random);
        if (timing.latency) any |= draw(*timing.latency, random);
        if (timing.latency_growth)
            any |= draw_below(*timing.latency_growth, timing.cpi.value, random);
    }
    for (const std::string& name : queues)
        any |= draw_below(contention_of(profile, name), 1, random);
    if (profile.issue.limit && profile.issue.limit_std_error &&
        *profile.issue.limit_std_error > 0) {
        *profile.issue.limit = draw(*profile.issue.limit, *profile.issue.limit_std_error, random);
        any = true;
    }
    return any;
}

// What draw_profile() leaves as it is.
std::vector<std::string> held_fixed(const GpuProfile& profile, const std::set<std::string>& ops,
                                    const std::vector<std::string>& queues) {
    std::vector<std::string> held;
    const auto see = [&](const std::string& name, const Estimate& estimate) {
        if (drawable(estimate)) return;
        if (estimate.identifiable())
            held.push_back(fmt::format("{}: {:.6g}, whose error is unknown", name, estimate.value));
        else
            held.push_back(fmt::format(
                "{}: {:.6g}, which is only {}", name, estimate.value,
                estimate.kind == Estimate::Kind::upper_bound   ? "an upper bound"
                : estimate.kind == Estimate::Kind::lower_bound ? "a lower bound"
                                                               : "a bound of unknown direction"));
    };
    for (const std::string& op : ops) {
        const InstructionTiming& timing = *profile.find_instruction(op);
        see(op + " λ", timing.cpi);
        if (timing.latency) see(op + " Λ", *timing.latency);
        if (timing.latency_growth) see(op + " h", *timing.latency_growth);
    }
    for (const std::string& name : queues)
        see(name + " contention", *profile.find_subsystem(name)->contention);
    if (profile.issue.limit)
        see("issue limit",
            {.value = *profile.issue.limit, .std_error = profile.issue.limit_std_error});
    // They are in the times, not in the cycles.
    held.push_back(fmt::format("clock, in the times in us: {:.6g} MHz, whose error is unknown",
                               profile.clock_hz / 1e6));
    if (const auto& launch = profile.overheads.launch_seconds)
        held.push_back(fmt::format("launch overhead, in the times in us: {:.6g} us{}",
                                   launch->value * 1e6,
                                   drawable(*launch)        ? ""
                                   : launch->identifiable() ? ", whose error is unknown"
                                                            : ", which is only a bound"));
    return held;
}

// Linear interpolation between order statistics.
double quantile(const std::vector<double>& sorted, double q) {
    const double at = q * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

InputError no_errors(const GpuProfile& profile, const char* kernels) {
    return InputError("profile '" + profile.device.name +
                      "' holds no standard error for any value that the " + kernels);
}

// In the order of the profile, so that a seed's draws are the same whatever uses them.
void draw_everything(GpuProfile& profile, std::mt19937_64 random) {
    for (InstructionTiming& timing : profile.instructions) {
        draw(timing.cpi, random);
        if (timing.latency) draw(*timing.latency, random);
        if (timing.latency_growth) draw_below(*timing.latency_growth, timing.cpi.value, random);
        for (ParameterTable& table : timing.tables)
            for (TableRow& row : table.rows) {
                if (row.cpi) draw(*row.cpi, random);
                if (row.latency) draw(*row.latency, random);
            }
    }
    for (Subsystem& subsystem : profile.subsystems)
        if (subsystem.contention) draw_below(*subsystem.contention, 1, random);
    if (profile.issue.limit && profile.issue.limit_std_error.value_or(0) > 0)
        *profile.issue.limit = draw(*profile.issue.limit, *profile.issue.limit_std_error, random);
}

}  // namespace

Interval interval_of(std::vector<double> drawn) {
    std::ranges::sort(drawn);
    return {quantile(drawn, 0.5), quantile(drawn, 0.025), quantile(drawn, 0.975)};
}

GpuProfile drawn_profile(const GpuProfile& profile, std::uint64_t seed, std::uint64_t draw) {
    GpuProfile drawn = profile;
    draw_everything(drawn, generator(seed, draw));
    return drawn;
}

std::vector<Sensitivity> sensitivities(const GpuProfile& profile, const Kernel& kernel,
                                       const Launch& launch, const SimulationOptions& options) {
    std::vector<Sensitivity> rows;
    std::vector<GpuProfile> changed;
    for (const std::string& op : used_ops(profile, kernel)) {
        rows.push_back({.name = op + " λ"});
        changed.push_back(profile);
        Estimate& cpi = changed.back().find_instruction(op)->cpi;
        cpi.value = tidy(cpi.value * (1 - better));
        if (const auto& latency = profile.find_instruction(op)->latency) {
            rows.push_back({.name = op + " Λ"});
            changed.push_back(profile);
            changed.back().find_instruction(op)->latency->value =
                tidy(latency->value * (1 - better));
        }
        if (const auto& growth = profile.find_instruction(op)->latency_growth) {
            rows.push_back({.name = op + " h"});
            changed.push_back(profile);
            changed.back().find_instruction(op)->latency_growth->value =
                tidy(growth->value * (1 - better));
        }
    }
    for (const std::string& name : contended(profile, kernel)) {
        rows.push_back({.name = name + " contention"});
        changed.push_back(profile);
        Estimate& share = contention_of(changed.back(), name);
        share.value = tidy(share.value * (1 - better));
    }
    if (profile.issue.limit) {
        rows.push_back({.name = "issue limit"});
        changed.push_back(profile);
        changed.back().issue.limit = tidy(*profile.issue.limit * (1 + better));
    }
    const double now = simulate(profile, kernel, launch, options).cycles;
    parallel_for(rows.size(), [&](std::size_t i) {
        rows[i].cycles = simulate(changed[i], kernel, launch, options).cycles;
        rows[i].gain = now - rows[i].cycles;
    });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.gain > b.gain; });
    return rows;
}

Uncertainty uncertainty(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options, int draws, std::uint64_t seed) {
    if (draws < 1) throw InputError("an uncertainty needs at least one draw");
    const auto ops = used_ops(profile, kernel);
    const auto queues = contended(profile, kernel);
    GpuProfile probe = profile;
    if (!draw_profile(probe, ops, queues, generator(seed, 0)))
        throw no_errors(profile, "kernel uses");
    std::vector<double> cycles(draws);
    parallel_for(cycles.size(), [&](std::size_t i) {
        GpuProfile drawn = profile;
        draw_profile(drawn, ops, queues, generator(seed, i));
        cycles[i] = simulate(drawn, kernel, launch, options).cycles;
    });
    const Interval found = interval_of(std::move(cycles));
    return {draws, found.median, found.low, found.high, held_fixed(profile, ops, queues)};
}

Uncertainty uncertainty(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options, int draws, std::uint64_t seed,
                        const Prepare& prepare) {
    if (draws < 1) throw InputError("an uncertainty needs at least one draw");
    const PreparedKernel now = prepare(kernel, profile);
    const auto ops = used_ops(now.profile, now.kernel);
    const auto queues = contended(now.profile, now.kernel);
    GpuProfile probe = now.profile;
    if (!draw_profile(probe, ops, queues, generator(seed, 0)))
        throw no_errors(profile, "kernel uses");
    std::vector<double> cycles(draws);
    parallel_for(cycles.size(), [&](std::size_t i) {
        const GpuProfile drawn = drawn_profile(profile, seed, i);
        const PreparedKernel ready = prepare(kernel, drawn);
        cycles[i] = simulate(ready.profile, ready.kernel, launch, options).cycles;
    });
    const Interval found = interval_of(std::move(cycles));
    return {draws, found.median, found.low, found.high, held_fixed(now.profile, ops, queues)};
}

DifferenceUncertainty difference_uncertainty(const GpuProfile& profile, const Kernel& before,
                                             const Launch& before_launch, const Kernel& after,
                                             const Launch& after_launch,
                                             const SimulationOptions& options, int draws,
                                             std::uint64_t seed, const Prepare& prepare) {
    if (draws < 1) throw InputError("an uncertainty needs at least one draw");
    const auto prepared = [&](const Kernel& kernel, const GpuProfile& drawn) {
        return prepare ? prepare(kernel, drawn) : PreparedKernel{kernel, drawn};
    };
    bool any = false;
    std::vector<std::string> held;
    for (const Kernel* kernel : {&before, &after}) {
        const PreparedKernel ready = prepared(*kernel, profile);
        const auto ops = used_ops(ready.profile, ready.kernel);
        const auto queues = contended(ready.profile, ready.kernel);
        GpuProfile probe = ready.profile;
        any = draw_profile(probe, ops, queues, generator(seed, 0)) || any;
        for (std::string& value : held_fixed(ready.profile, ops, queues))
            if (std::ranges::find(held, value) == held.end()) held.push_back(std::move(value));
    }
    if (!any) throw no_errors(profile, "kernels use");
    std::vector<double> first(draws), second(draws), difference(draws), ratio(draws);
    parallel_for(first.size(), [&](std::size_t i) {
        const GpuProfile drawn = drawn_profile(profile, seed, i);
        const auto cycles = [&](const Kernel& kernel, const Launch& launch) {
            const PreparedKernel ready = prepared(kernel, drawn);
            return simulate(ready.profile, ready.kernel, launch, options).cycles;
        };
        first[i] = cycles(before, before_launch);
        second[i] = cycles(after, after_launch);
        difference[i] = second[i] - first[i];
        ratio[i] = second[i] / first[i];
    });
    const auto faster = std::ranges::count_if(difference, [](double d) { return d < 0; });
    return {.draws = draws,
            .before = interval_of(std::move(first)),
            .after = interval_of(std::move(second)),
            .difference = interval_of(std::move(difference)),
            .ratio = interval_of(std::move(ratio)),
            .after_faster = static_cast<double>(faster) / draws,
            .held = std::move(held)};
}

}  // namespace occupipe::analysis
