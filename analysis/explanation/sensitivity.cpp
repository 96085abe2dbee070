// SPDX-License-Identifier: MIT
#include "analysis/explanation/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "core/error.h"
#include "core/instruction.h"
#include "core/parallel.h"
#include "sim/problem.h"

namespace occupipe::analysis {
namespace {

constexpr double better = 0.1;

// Ops of the kernel by name, in the order of the names: one of two kinds has two, one whose warps
// differ has several.
using OpsByName = std::map<std::string, std::vector<std::size_t>>;

OpsByName used_ops(const Problem& problem) {
    OpsByName names;
    for (std::size_t op = 0; op < problem.kernel().ops.size(); ++op)
        names[std::string(without_part(problem.kernel().ops[op].name))].push_back(op);
    return names;
}

// The subsystems in use whose instructions delay one another.
std::vector<std::size_t> contended(const Problem& problem) {
    std::vector<std::size_t> found;
    for (std::size_t s = 0; s < problem.gpu().subsystems.size(); ++s) {
        const auto& contention = problem.gpu().subsystems[s].contention;
        if (contention && contention->value > 0 &&
            std::ranges::find(problem.timings(), s, &OpTiming::subsystem) !=
                problem.timings().end())
            found.push_back(s);
    }
    return found;
}

// The numbers of a problem, to be changed.
struct Numbers {
    explicit Numbers(const Problem& problem)
        : gpu(problem.gpu()), timings(problem.timings().begin(), problem.timings().end()) {}

    template <class Value>
    void set(const std::vector<std::size_t>& ops, Value OpTiming::*what, double value) {
        for (const std::size_t op : ops) timings[op].*what = value;
    }
    // Λ of all, whose mean was `before`, in proportion.
    void set_latency(const std::vector<std::size_t>& ops, double before, double value) {
        for (const std::size_t op : ops) {
            std::optional<double>& own = timings[op].latency;
            own = !own || *own == before ? value : *own * value / before;
        }
    }
    Problem in(const Problem& problem) && {
        return problem.with(std::move(gpu), std::move(timings));
    }

    GpuFacts gpu;
    std::vector<OpTiming> timings;
};

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

// False if nothing had a standard error. `profile`: the problem's.
bool draw_numbers(Numbers& numbers, const Problem& problem, const GpuProfile& profile,
                  std::mt19937_64 random) {
    bool any = false;
    for (const auto& [name, ops] : used_ops(problem)) {
        const InstructionTiming& timing = *profile.find_instruction(name);
        Estimate cpi = timing.cpi;
        any |= draw(cpi, random);
        numbers.set(ops, &OpTiming::cpi, cpi.value);
        if (auto latency = timing.latency) {
            any |= draw(*latency, random);
            numbers.set_latency(ops, timing.latency->value, latency->value);
        }
        if (auto growth = timing.latency_growth) {
            any |= draw_below(*growth, cpi.value, random);
            numbers.set(ops, &OpTiming::latency_growth, growth->value);
        }
    }
    for (const std::size_t s : contended(problem))
        any |= draw_below(*numbers.gpu.subsystems[s].contention, 1, random);
    Issue& issue = numbers.gpu.issue;
    if (issue.limit && issue.limit_std_error && *issue.limit_std_error > 0) {
        *issue.limit = draw(*issue.limit, *issue.limit_std_error, random);
        any = true;
    }
    return any;
}

bool draws_anything(const Problem& problem, const GpuProfile& profile) {
    Numbers probe(problem);
    return draw_numbers(probe, problem, profile, std::mt19937_64());
}

// What draw_numbers() leaves as it is.
std::vector<std::string> held_fixed(const Problem& problem, const GpuProfile& profile) {
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
    for (const auto& [op, numbers] : used_ops(problem)) {
        const InstructionTiming& timing = *profile.find_instruction(op);
        see(op + " λ", timing.cpi);
        if (timing.latency) see(op + " Λ", *timing.latency);
        if (timing.latency_growth) see(op + " h", *timing.latency_growth);
    }
    for (const std::size_t s : contended(problem))
        see(profile.subsystems[s].name + " contention", *profile.subsystems[s].contention);
    if (profile.issue.limit)
        see("issue limit",
            {.value = *profile.issue.limit, .std_error = profile.issue.limit_std_error});
    // They are in the times, not in the cycles.
    held.push_back(fmt::format("clock, in the times in us: {:.6g} MHz, whose error is unknown",
                               profile.clock_hz / 1e6));
    if (const auto& launch = profile.kernel_overhead())
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
    const Problem problem(profile, kernel, launch);
    std::vector<Sensitivity> rows;
    std::vector<Problem> changed;
    const auto change = [&](const std::string& name, const auto& set) {
        Numbers numbers(problem);
        set(numbers);
        rows.push_back({.name = name});
        changed.push_back(std::move(numbers).in(problem));
    };
    const auto less = [](double value) { return tidy(value * (1 - better)); };
    for (const auto& entry : used_ops(problem)) {
        const std::vector<std::size_t>& ops = entry.second;
        const auto improve = [&](const char* what, auto member, double value) {
            change(entry.first + what,
                   [&](Numbers& numbers) { numbers.set(ops, member, less(value)); });
        };
        const OpTiming& timing = problem.timings()[ops.front()];
        improve(" λ", &OpTiming::cpi, timing.cpi);
        if (timing.latency)
            change(entry.first + " Λ", [&](Numbers& numbers) {
                numbers.set_latency(ops, *timing.latency, less(*timing.latency));
            });
        if (timing.latency_growth) improve(" h", &OpTiming::latency_growth, *timing.latency_growth);
    }
    for (const std::size_t s : contended(problem))
        change(problem.gpu().subsystems[s].name + " contention", [&](Numbers& numbers) {
            double& share = numbers.gpu.subsystems[s].contention->value;
            share = less(share);
        });
    if (problem.gpu().issue.limit)
        change("issue limit", [&](Numbers& numbers) {
            numbers.gpu.issue.limit = tidy(*numbers.gpu.issue.limit * (1 + better));
        });
    const double now = simulate(problem, options).cycles;
    parallel_for(rows.size(), [&](std::size_t i) {
        rows[i].cycles = simulate(changed[i], options).cycles;
        rows[i].gain = now - rows[i].cycles;
    });
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Sensitivity& a, const Sensitivity& b) { return a.gain > b.gain; });
    return rows;
}

Uncertainty uncertainty(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options, int draws, std::uint64_t seed) {
    if (draws < 1) throw InputError("an uncertainty needs at least one draw");
    const Problem problem(profile, kernel, launch);
    if (!draws_anything(problem, profile)) throw no_errors(profile, "kernel uses");
    std::vector<double> cycles(draws);
    parallel_for(cycles.size(), [&](std::size_t i) {
        Numbers drawn(problem);
        draw_numbers(drawn, problem, profile, generator(seed, i));
        cycles[i] = simulate(std::move(drawn).in(problem), options).cycles;
    });
    const Interval found = interval_of(std::move(cycles));
    return {draws, found.median, found.low, found.high, held_fixed(problem, profile)};
}

Uncertainty uncertainty(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                        const SimulationOptions& options, int draws, std::uint64_t seed,
                        const Prepare& prepare) {
    if (draws < 1) throw InputError("an uncertainty needs at least one draw");
    const PreparedKernel now = prepare(kernel, profile);
    const Problem problem(now.profile, now.kernel, launch);
    if (!draws_anything(problem, now.profile)) throw no_errors(profile, "kernel uses");
    std::vector<double> cycles(draws);
    parallel_for(cycles.size(), [&](std::size_t i) {
        const GpuProfile drawn = drawn_profile(profile, seed, i);
        const PreparedKernel ready = prepare(kernel, drawn);
        cycles[i] = simulate(ready.profile, ready.kernel, launch, options).cycles;
    });
    const Interval found = interval_of(std::move(cycles));
    return {draws, found.median, found.low, found.high, held_fixed(problem, now.profile)};
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
    for (const auto& [kernel, launch] :
         {std::pair(&before, &before_launch), std::pair(&after, &after_launch)}) {
        const PreparedKernel ready = prepared(*kernel, profile);
        const Problem problem(ready.profile, ready.kernel, *launch);
        any = draws_anything(problem, ready.profile) || any;
        for (std::string& value : held_fixed(problem, ready.profile))
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
