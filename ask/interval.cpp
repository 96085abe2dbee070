// SPDX-License-Identifier: MIT
#include "ask/interval.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

namespace occupipe::analysis {
namespace {

// What is left between predicted and measured times beside the profile's own errors, as a standard
// deviation of the logarithm, by what limits. From the measurements of
// docs/background/real-gpus.md; it widens intervals and moves no prediction.
struct Dispersion {
    std::string_view limiter;
    double size;
};
constexpr Dispersion dispersions[] = {
    {"shared", 0.09}, {"fma", 0.16}, {"issue", 0.17}, {"mem", 0.16}, {"latency", 0.16},
};
constexpr double any_limiter = 0.12;  // of all together

double dispersion_of(std::string_view limiter) {
    const auto* const found = std::ranges::find(dispersions, limiter, &Dispersion::limiter);
    return found == std::ranges::end(dispersions) ? any_limiter : found->size;
}

// A number whose error the profile does not tell is as uncertain as one that stands for another
// (docs/background/shelf.md, "substitute").
constexpr double untold = 0.25;

double error_of(const Estimate& one) { return one.std_error.value_or(untold * one.value); }

// Sums over the instructions that a mean warp executes.
struct Work {
    double cycles = 0, error = 0;

    void add(double times, const Estimate& one) {
        cycles += times * one.value;
        error += times * error_of(one);
    }
    double relative() const { return cycles > 0 ? error / cycles : 0; }
};

// What errors of λ and Λ do to the time: of λ in as far as the busiest unit is busy, of Λ
// otherwise. Instructions of one unit share their sources, so their errors are taken to go
// together.
double of_profile(const Told& told, const Prediction& made) {
    const Problem& problem = *told.problem;
    const Bound* busiest = nullptr;
    for (const Bound& one : made.bounds)
        if (!busiest || one.utilisation > busiest->utilisation) busiest = &one;
    Work unit, chain;
    std::vector<const InstructionTiming*> timings;
    for (const ResolvedKernel::Op& op : problem.kernel().ops)
        timings.push_back(told.profile().find_instruction(op.name));
    const std::vector<double> shares = problem.groups().program_shares();
    for (std::size_t program = 0; program < shares.size(); ++program) {
        if (shares[program] <= 0) continue;
        for_each_execution(problem.kernel().programs[program], shares[program],
                           [&](std::int32_t op, double times) {
                               const InstructionTiming& one =
                                   *timings[static_cast<std::size_t>(op)];
                               if (busiest && one.subsystem == busiest->name)
                                   unit.add(times, one.cpi);
                               if (one.latency) chain.add(times, *one.latency);
                           });
    }
    double rate = unit.relative();
    const Issue& issue = problem.gpu().issue;
    if (busiest && busiest->name == "issue" && issue.limit)
        rate = issue.limit_std_error.value_or(0) / *issue.limit;
    const double busy = busiest ? std::min(1.0, busiest->utilisation) : 0;
    return std::hypot(busy * rate, (1 - busy) * chain.relative());
}

}  // namespace

std::optional<PredictionInterval> interval_of(const Told& told, const Model& model,
                                              const Prediction& made) {
    if (!model.observable || !told.problem || !told.kernel().memory) return std::nullopt;
    const double clock = made.cycles / told.problem->gpu().clock_hz;
    const double run = clock / made.seconds;  // the rest is the launch
    PredictionInterval interval;
    const auto add = [&](const char* name, double size) {
        if (size > 0) interval.terms.push_back({name, size});
    };
    add("profile", run * of_profile(told, made));
    if (const auto& launch = told.profile().kernel_overhead())
        add("launch", (1 - run) * error_of(*launch) / launch->value);
    add("sample", run * told.priced->sample_error.value_or(0));
    if (made.estimate_error) add("estimate", run * *made.estimate_error / 3);  // three times it
    add("model", dispersion_of(made.limited_by));
    double variance = 0;
    for (const ErrorTerm& one : interval.terms) variance += one.size * one.size;
    constexpr double of_95_percent = 1.96;
    const double factor = std::exp(of_95_percent * std::sqrt(variance));
    interval.low = made.seconds / factor;
    interval.high = made.seconds * factor;
    return interval;
}

}  // namespace occupipe::analysis
