// SPDX-License-Identifier: MIT
#include "bench/harness.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "bench/journal.h"
#include "bench/point_counters.h"
#include "bench/point_rows.h"
#include "bench/sampler.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char* interrupted = "interrupted";
constexpr const char* enough = "enough";  // a repetition that the stopping rule did not want

std::string known_or_empty(const std::optional<std::int64_t>& limit) {
    return limit ? std::to_string(*limit) : "";
}

// Google Benchmark writes names with its own settings in them ("/repeats:5/manual_time"); the
// format wants the point's name alone.
benchmark::BenchmarkReporter::Run with_plain_name(benchmark::BenchmarkReporter::Run run) {
    const std::string name = run.run_name.function_name;
    run.run_name = {};
    run.run_name.function_name = name;
    return run;
}

// Turns each finished point into rows, through Google Benchmark's own JSON reporter.
class RowReporter : public benchmark::BenchmarkReporter {
public:
    explicit RowReporter(std::function<void(const std::string& name, const Json& rows)> sink)
        : sink_(std::move(sink)) {}

    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& report) override {
        std::vector<Run> runs;
        for (const Run& run : report) {
            const bool skipped = run.error_occurred && run.error_message == enough;
            if (run.run_type == Run::RT_Iteration && !skipped) runs.push_back(with_plain_name(run));
        }
        if (runs.empty()) return;
        for (Run& run : runs) run.repetitions = static_cast<std::int64_t>(runs.size());
        std::ostringstream text;
        benchmark::JSONReporter json;
        json.SetOutputStream(&text);
        json.SetErrorStream(&std::cerr);
        json.ReportRuns(runs);
        sink_(runs.front().run_name.function_name, Json::parse("[" + text.str() + "]"));
    }

private:
    std::function<void(const std::string&, const Json&)> sink_;
};

Json library_context() {
    std::ostringstream text;
    benchmark::JSONReporter json;
    json.SetOutputStream(&text);
    json.SetErrorStream(&std::cerr);
    json.ReportContext(benchmark::BenchmarkReporter::Context());
    Json context = Json::parse(text.str() + "]}").at("context");
    context.erase("host_name");  // results are for sharing: what was measured, not whose it is
    context.erase("executable");
    context.erase("load_avg");
    return context;
}

void set_counters(benchmark::State& state, const PlannedPoint& point, const Observation& seen,
                  int cores) {
    const auto set = [&](const std::string& key, double value) {
        if (std::isfinite(value)) state.counters[key] = value;
    };
    for (const auto& [key, value] : seen.counters) set(key, value);
    if (seen.cycles) set("cycles", *seen.cycles);
    if (seen.clock_hz) set("clock_hz", *seen.clock_hz);
    for (const auto& [key, value] : point_counters(point, cores)) set(key, value);
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Schedule {
    Clock::time_point begin;
    TimeBudget budget;
};

// What is known of a point between its repetitions. A point whose first repetition failed is
// failed. (Google Benchmark 1.7.1 takes its statistics from the first repetition's report, and
// crashes when that one is an error and two later ones are not.)
struct PointUnderWay {
    std::string failure;
    int repetitions = 0;
    std::vector<double> values;  // cycles, or seconds where the device cannot tell
    std::optional<Clock::time_point> begin;

    double seconds() const { return begin ? seconds_since(*begin) : 0; }
};

// From inside the loop: the library wants the same number of iterations of all repetitions.
void skip(benchmark::State& state, const std::string& reason) {
    for ([[maybe_unused]] const auto _ : state) {
        state.SetIterationTime(0);
        state.SkipWithError(reason.c_str());
        break;
    }
}

void run_point(benchmark::State& state, Sampler& sampler, const PlannedPoint& point,
               const StoppingRule& rule, Schedule& schedule, const std::atomic<bool>* stop,
               PointUnderWay& so_far) {
    std::string& failure = so_far.failure;
    if (failure.empty() && stop && *stop) failure = interrupted;
    const bool wanted = repeat(rule, so_far.values, so_far.seconds());
    const bool must = static_cast<int>(so_far.values.size()) < rule.least;
    const bool may = must || schedule.budget.allows_more(seconds_since(schedule.begin));
    if (failure.empty() && !(wanted && may)) failure = enough;
    if (!failure.empty()) {
        // One row per wanted repetition says so, no more.
        return skip(state, so_far.repetitions++ < rule.least ? failure : enough);
    }
    const auto begin = Clock::now();
    if (!so_far.begin) so_far.begin = begin;
    for ([[maybe_unused]] const auto _ : state) {
        try {
            const Observation seen = sampler.sample(point);
            state.SetIterationTime(seen.seconds);
            set_counters(state, point, seen, sampler.cores());
            const KernelReceipt& receipt = sampler.receipt_of(point.plan);
            if (!receipt.hash.empty()) state.SetLabel(receipt.hash);
            if (receipt.registers) state.counters["registers"] = *receipt.registers;
            so_far.values.push_back(seen.cycles.value_or(seen.seconds));
        } catch (const DeviceError& error) {
            failure = error.what();
            state.SkipWithError(failure.c_str());
            break;
        }
    }
    ++so_far.repetitions;
    schedule.budget.repetition_took(seconds_since(begin));
}

// Random order, so that drift (temperature, other load) does not become the shape of a curve.
std::vector<const PlannedPoint*> shuffled(const SweepPlan& sweep, unsigned seed) {
    std::vector<const PlannedPoint*> order;
    order.reserve(sweep.points.size());
    for (const PlannedPoint& point : sweep.points) order.push_back(&point);
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    return order;
}

std::string journal_key(const Backend& backend, const SweepPlan& sweep) {
    std::string text = backend.facts().id + "|" + backend.facts().name + "|" +
                       backend.facts().driver + "|" + std::to_string(sweep.repetitions);
    for (const PlannedPoint& point : sweep.points) {
        text += fmt::format("|{},{}", point.name(), point.plan.unroll);
    }
    return content_hash(text);
}

void initialise_library(const std::vector<std::string>& flags) {
    static std::string program = "occupipe";  // the library keeps a pointer to it
    std::vector<std::string> words = flags;
    std::vector<char*> arguments = {program.data()};
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    int count = static_cast<int>(arguments.size());
    benchmark::Initialize(&count, arguments.data());
    if (count > 1) {
        throw InputError(fmt::format("'{}' is not a flag of Google Benchmark", arguments[1]));
    }
}

// A number of repetitions on the command line is meant as it is.
StoppingRule stopping_rule(const SweepPlan& sweep, const HarnessOptions& options) {
    constexpr std::string_view repetitions_flag = "--benchmark_repetitions=";
    for (const std::string& flag : options.benchmark_flags) {
        if (!flag.starts_with(repetitions_flag)) continue;
        const int repetitions = std::atoi(flag.c_str() + repetitions_flag.size());
        if (repetitions < 1) throw InputError(fmt::format("'{}': at least 1", flag));
        return StoppingRule::exactly(repetitions);
    }
    if (options.stopping) return *options.stopping;
    StoppingRule rule;
    rule.least = sweep.repetitions;
    rule.most = 3 * sweep.repetitions;
    return rule;
}

constexpr unsigned order_seed = 20160217;

Json file_context(const Backend& backend, const SweepPlan& sweep, const HarnessOptions& options,
                  const StoppingRule& rule) {
    Json context = library_context();
    for (const auto& [key, value] : device_context(backend.facts())) context[key] = value;
    for (const auto& [key, value] : options.context) context[key] = value;
    context["repetitions"] =
        fmt::format("{} to {}: until the relative standard error is {} or the point has taken {} s",
                    rule.least, rule.most, rule.relative_error, rule.seconds);
    if (options.budget_seconds)
        context["budget"] = fmt::format("{:g} s; beyond the least repetitions only while within it",
                                        *options.budget_seconds);
    std::vector<std::string> subjects;  // as planned; the rows come shuffled
    for (const PlannedPoint& point : sweep.points) {
        const std::string subject = point.plan.subject();
        if (subjects.empty() || subjects.back() != subject) subjects.push_back(subject);
    }
    for (const PlannedPoint& point : sweep.points) {
        for (const Row* row : {point.plan.first, point.plan.second}) {
            const auto doubt = row ? backend.unproved(*row) : std::nullopt;
            if (doubt) context["not_proved." + std::string(row->id)] = *doubt;
        }
    }
    context["subjects"] = fmt::format("{}", fmt::join(subjects, " "));
    context["order"] = fmt::format("points shuffled, seed {}", order_seed);
    for (const SkippedSubject& skipped : sweep.skipped) {
        context["not_measured." + skipped.subject] = skipped.reason;
    }
    return context;
}

// Those that no earlier session finished, each once; counts them and the others.
std::vector<const PlannedPoint*> points_to_measure(const SweepPlan& sweep, const Journal& journal,
                                                   HarnessResult& result) {
    std::vector<const PlannedPoint*> points;
    std::set<std::string> names;
    for (const PlannedPoint* point : shuffled(sweep, order_seed)) {
        if (!names.insert(point->name()).second) continue;
        if (journal.finished().contains(point->name()))
            ++result.resumed;
        else
            points.push_back(point);
    }
    result.points = names.size();
    return points;
}

}  // namespace

std::map<std::string, std::string> device_context(const DeviceFacts& facts) {
    std::map<std::string, std::string> context = facts.more;
    context["device"] = facts.id;
    context["backend"] = facts.backend;
    context["device_name"] = facts.name;
    context["device_vendor"] = facts.vendor;
    context["device_architecture"] = facts.architecture;
    context["compute_capability"] = facts.compute_capability;
    context["driver"] = facts.driver;
    context["device_type"] = facts.model ? "model, not hardware" : facts.cpu ? "cpu" : "gpu";
    context["cores"] = std::to_string(facts.cores);
    context["warp_size"] = std::to_string(facts.warp_size);
    if (facts.nominal_clock_hz)
        context["nominal_clock_hz"] = fmt::format("{:.0f}", *facts.nominal_clock_hz);
    context["clock_source"] = facts.clock_source;
    context["limits_warps"] = known_or_empty(facts.limits.warps);
    context["limits_groups"] = known_or_empty(facts.limits.groups);
    context["limits_group_warps"] = known_or_empty(facts.limits.group_warps);
    context["limits_registers"] = known_or_empty(facts.limits.registers);
    context["limits_shared_memory_bytes"] = known_or_empty(facts.limits.shared_memory_bytes);
    std::erase_if(context, [](const auto& entry) { return entry.second.empty(); });
    return context;
}

HarnessResult run_sweep(Backend& backend, const SweepPlan& sweep, const HarnessOptions& options) {
    if (options.overwrite == Overwrite::no && std::filesystem::exists(options.output)) {
        throw InputError(fmt::format("{}: exists; --force replaces it", options.output.string()));
    }
    initialise_library(options.benchmark_flags);
    HarnessResult result;
    const StoppingRule rule = stopping_rule(sweep, options);
    Sampler sampler(backend, options.receipt);
    // The clock as the device shows it at the start; each row carries its own.
    HarnessOptions with_clock = options;
    if (const auto clock = backend.witness_clock()) {
        with_clock.context["clock_hz"] = fmt::format("{:.0f}", *clock);
    }
    Journal journal(options.output, journal_key(backend, sweep),
                    file_context(backend, sweep, with_clock, rule).dump());
    const auto points = points_to_measure(sweep, journal, result);
    Schedule schedule{Clock::now(), {options.budget_seconds, points.size(), rule.least}};
    std::size_t done_now = 0;
    benchmark::ClearRegisteredBenchmarks();
    for (const PlannedPoint* point : points) {
        auto* registered = benchmark::RegisterBenchmark(
            point->name().c_str(),
            [&sampler, &rule, &schedule, point, stop = options.stop,
             so_far = std::make_shared<PointUnderWay>()](benchmark::State& state) {
                run_point(state, sampler, *point, rule, schedule, stop, *so_far);
            });
        registered->UseManualTime()->Iterations(1)->Repetitions(rule.most);
    }
    if (options.begin) options.begin(result.points, result.resumed);
    RowReporter reporter([&](const std::string& name, const Json& rows) {
        std::string error;
        for (const Json& row : rows) error = row.value("error_message", error);
        if (error == interrupted) return;
        journal.append(with_statistics(rows.dump(), rule));
        ++done_now;
        schedule.budget.point_done();
        result.failed += error.empty() ? 0 : 1;
        if (!options.progress) return;
        const double elapsed = seconds_since(schedule.begin);
        const std::size_t done = result.resumed + done_now;
        options.progress({.done = done,
                          .total = result.points,
                          .elapsed_seconds = elapsed,
                          .remaining_seconds = elapsed / static_cast<double>(done_now) *
                                               static_cast<double>(result.points - done),
                          .point = name,
                          .error = error});
    });
    if (result.resumed < result.points) benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();
    if (options.stop && *options.stop) return result;
    journal.finish();
    result.complete = true;
    return result;
}

}  // namespace occupipe::bench
