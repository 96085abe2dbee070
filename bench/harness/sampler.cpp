// SPDX-License-Identifier: MIT
#include "bench/harness/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace occupipe::bench {
namespace {

constexpr int attempts = 12;
constexpr std::chrono::milliseconds longest_witness_age{2};
constexpr double largest_clock_change = 0.01;  // methodology: reject samples whose clock moved more

// Half a millisecond each on a GPU: ten milliseconds of a steady clock are believed, two seconds
// waited for; ten when the clock is lower than half of what the device claims.
constexpr int steady_readings = 20;
constexpr int most_readings = 4000;
constexpr int most_readings_while_low = 20'000;

// Samples at another clock than the reference that are thrown away before the next one is kept, and
// readings (0.2 s) for which the clock's return is waited for.
constexpr int deviating_attempts = 3;
constexpr int skewed_attempts = 3;
constexpr int readings_until_back = 400;

// Of one launch that failed by chance.
constexpr int most_retries = 3;

// On a CPU whatever else the machine does can only lengthen a run: the shortest of a few stands
// for the undisturbed one.
constexpr int cpu_launches_per_sample = 3;

// Memory walks of successive launches start this many lines apart, beyond what one launch reads
// from each of its starting points.
constexpr std::uint32_t lines_between_launches = 7919;

}  // namespace

bool started_apart(const Observation& seen) {
    if (seen.counters.contains("late_groups")) return true;
    const auto skew = seen.counters.find("start_skew_cycles");
    return skew != seen.counters.end() && seen.cycles &&
           skew->second > largest_start_skew * *seen.cycles;
}

Program& Sampler::program_of(const KernelPlan& plan) {
    const std::string key = fmt::format("{}/{}/{}/{}/{}", plan.subject(), plan.chains, plan.unroll,
                                        plan.working_set_bytes, plan.checkpointed);
    if (const auto refused = refused_.find(key); refused != refused_.end()) {
        throw DeviceError(refused->second);
    }
    auto& program = programs_[key];
    if (program) return *program;
    try {
        program = backend_.compile(kernel_source(plan));
    } catch (const DeviceError& error) {
        refused_[key] = error.what();
        if (sink_) sink_(plan, fmt::format("{}\n  REFUSED: {}\n", plan.subject(), error.what()));
        throw;
    }
    if (sink_ && !program->receipt().text.empty()) sink_(plan, program->receipt().text);
    return *program;
}

void Sampler::settle_clock() {
    if (settled_ || backend_.facts().cpu || backend_.facts().model) return;
    settled_ = true;
    const double low = low_clock * backend_.facts().nominal_clock_hz.value_or(0);
    std::optional<double> last = backend_.witness_clock();
    std::optional<double> first =
        last;  // of the readings that agree: a slow rise is no steady clock
    for (int reading = 0, steady = 0;; ++reading) {
        if (!last) return;
        const bool is_low = *last < low;
        if (steady >= steady_readings && !is_low) break;
        if (reading >= (is_low ? most_readings_while_low : most_readings)) break;
        const auto next = backend_.witness_clock();
        if (!next) return;
        const bool agrees = std::abs(*next - *first) <= largest_clock_change * *first;
        steady = agrees ? steady + 1 : 0;
        if (!agrees) first = next;
        last = next;
    }
    if (!reference_clock_) reference_clock_ = last;
}

void Sampler::await_reference_clock() {
    for (int reading = 0; reading < readings_until_back; ++reading) {
        const auto now = backend_.witness_clock();
        if (!now) return;
        if (std::abs(*now / *reference_clock_ - 1) <= largest_clock_deviation) return;
    }
}

std::optional<double> Sampler::clock_deviation(const Observation& seen) const {
    if (!reference_clock_ || !seen.clock_hz) return std::nullopt;
    const double deviation = *seen.clock_hz / *reference_clock_ - 1;
    if (std::abs(deviation) <= largest_clock_deviation) return std::nullopt;
    return deviation;
}

// A witness run costs more than most launches. On a GPU the one behind the last launch also stands
// before the next one, when that follows at once.
std::optional<double> Sampler::clock_before() {
    const bool fresh = last_clock_ && Clock::now() - last_clock_at_ < longest_witness_age;
    return fresh && !backend_.facts().cpu ? last_clock_ : backend_.witness_clock();
}

Observation Sampler::launch(Program& program, const PlannedPoint& point) {
    const LaunchRequest request{.shape = point.shape,
                                .iterations = point.shape.depth / point.plan.unroll,
                                .start = launches_++ * lines_between_launches};
    for (int failures = 0;; ++failures) {
        try {
            return backend_.launch(program, request);
        } catch (const TransientDeviceError& error) {
            if (failures == most_retries) {
                throw DeviceError(fmt::format("{} ({} times)", error.what(), failures + 1));
            }
            ++retries_;
        }
    }
}

Observation Sampler::attempt(Program& program, const PlannedPoint& point, bool* clock_held) {
    const auto before = clock_before();
    Observation best = launch(program, point);
    if (backend_.facts().cpu) {
        for (int i = 1; i < cpu_launches_per_sample; ++i) {
            const Observation next = launch(program, point);
            if (next.seconds < best.seconds) best = next;
        }
    }
    const auto after = backend_.witness_clock();
    last_clock_ = after;
    last_clock_at_ = Clock::now();
    *clock_held = true;
    if (before && after) {
        const double change = std::abs(*after - *before) / *before;
        *clock_held = change <= largest_clock_change;
        best.counters["clock_change"] = change;
        if (!best.clock_hz) best.clock_hz = 0.5 * (*before + *after);
    }
    if (!best.cycles && best.clock_hz) best.cycles = best.seconds * *best.clock_hz;
    return best;
}

Observation Sampler::sample(const PlannedPoint& point) {
    retries_ = 0;
    Program& program = program_of(point.plan);
    settle_clock();
    // Some runtimes compile again for each group size, and caches start cold. A model has neither.
    const std::string shape =
        fmt::format("{}/{}/{}/{}/{}/{}/{}", point.plan.subject(), point.plan.working_set_bytes,
                    point.plan.unroll, point.plan.checkpointed, point.shape.chains,
                    point.shape.group_warps, point.shape.concurrent_groups);
    if (!warm_[shape] && !backend_.facts().model) {
        launch(program, point);
        warm_[shape] = true;
    }
    double change = 0;
    int deviating = 0;
    int skewed = 0;
    for (int i = 0; i < attempts; ++i) {
        bool clock_held = false;
        Observation observation = attempt(program, point, &clock_held);
        if (!clock_held) {
            change = std::max(change, observation.counters["clock_change"]);
            continue;
        }
        const auto deviation = clock_deviation(observation);
        if (deviation && !deviating_.contains(shape) && deviating++ < deviating_attempts) {
            await_reference_clock();
            continue;
        }
        if (deviation) {
            observation.counters["clock_deviation"] = *deviation;
            deviating_.insert(shape);
        } else {
            deviating_.erase(shape);
        }
        const bool apart = started_apart(observation);
        if (apart && !skewed_.contains(shape) && skewed++ < skewed_attempts) continue;
        if (apart) {
            observation.counters["start_skew_kept"] = 1;
            skewed_.insert(shape);
        } else {
            skewed_.erase(shape);
        }
        observation.counters["rejected"] = i;
        if (retries_ > 0) observation.counters["retries"] = retries_;
        for (const Row* row : {point.plan.first, point.plan.second}) {
            if (row && backend_.unproved(*row)) observation.counters["unproved"] = 1;
        }
        return observation;
    }
    throw DeviceError(fmt::format(
        "the core clock moved by up to {:.1f} % during each of {} attempts; all rejected",
        100 * change, attempts));
}

}  // namespace occupipe::bench
