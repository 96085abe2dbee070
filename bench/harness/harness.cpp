// SPDX-License-Identifier: MIT
#include "bench/harness/harness.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "bench/harness/finished_point.h"
#include "bench/harness/journal.h"
#include "bench/harness/point_counters.h"
#include "bench/harness/sampler.h"
#include "bench/kernel/order.h"
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

// Hands on each finished point, as Google Benchmark has it.
class PointReporter : public benchmark::BenchmarkReporter {
public:
    explicit PointReporter(std::function<void(FinishedPoint point)> sink)
        : sink_(std::move(sink)) {}

    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& report) override {
        FinishedPoint point;
        for (const Run& run : report) {
            const bool skipped = run.error_occurred && run.error_message == enough;
            if (run.run_type != Run::RT_Iteration || skipped) continue;
            // Without the library's own settings ("/repeats:5/manual_time").
            point.name = run.run_name.function_name;
            point.repetitions.push_back(repetition_of(run));
        }
        if (point.repetitions.empty()) return;
        for (Repetition& one : point.repetitions)
            one.repetitions = static_cast<std::int64_t>(point.repetitions.size());
        sink_(std::move(point));
    }

private:
    static Repetition repetition_of(const Run& run) {
        Repetition one{.family_index = run.family_index,
                       .per_family_instance_index = run.per_family_instance_index,
                       .repetition_index = run.repetition_index,
                       .threads = run.threads,
                       .iterations = run.iterations,
                       .error = {},
                       .real_time = run.GetAdjustedRealTime(),
                       .cpu_time = run.GetAdjustedCPUTime(),
                       .time_unit = benchmark::GetTimeUnitString(run.time_unit),
                       .counters = {},
                       .label = run.report_label};
        if (run.error_occurred) one.error = run.error_message;
        for (const auto& [key, counter] : run.counters) one.counters[key] = counter.value;
        return one;
    }

    std::function<void(FinishedPoint)> sink_;
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

// What the points of a run share.
struct Run {
    Sampler& sampler;
    Journal& journal;
    const StoppingRule& rule;
    const std::atomic<bool>* stop = nullptr;
    Clock::time_point begin;
    TimeBudget budget;
    std::string under_way;            // the point last begun
    std::optional<std::string> lost;  // why the device is of no use any more
    bool abandoned = false;           // … and the point under way is not to blame
    std::exception_ptr problem;       // what stops the run otherwise

    bool ends() const { return (stop && *stop) || lost || problem; }
};

// What is known of a point between its repetitions. A point whose first repetition failed is
// failed. (Google Benchmark 1.7.1 takes its statistics from the first repetition's report, and
// crashes when that one is an error and two later ones are not.)
struct PointUnderWay {
    std::string failure;  // from the start where earlier runs say that it must not be tried
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

// Once per point, before the device hears of it.
void begin(Run& run, const PlannedPoint& point, PointUnderWay& so_far) {
    try {
        run.journal.begin(point.name());
        run.under_way = point.name();
        so_far.begin = Clock::now();
    } catch (...) {
        run.problem = std::current_exception();
        so_far.failure = interrupted;
    }
}

// Times that no run can have, and that no reader of the file accepts: the point failed.
void require_possible(const Observation& seen) {
    const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
    if (seen.cycles && !positive(*seen.cycles))
        throw DeviceError(fmt::format("the device counted {:g} cycles", *seen.cycles));
    if (seen.clock_hz && !positive(*seen.clock_hz))
        throw DeviceError(fmt::format("the device gave {:g} Hz as its clock", *seen.clock_hz));
    if (!std::isfinite(seen.seconds) || seen.seconds < 0)
        throw DeviceError(fmt::format("the device's timer gave {:g} s", seen.seconds));
}

void measure_once(benchmark::State& state, Run& run, const PlannedPoint& point,
                  PointUnderWay& so_far) {
    const Observation seen = run.sampler.sample(point);
    require_possible(seen);
    state.SetIterationTime(seen.seconds);
    set_counters(state, point, seen, run.sampler.cores());
    const KernelReceipt& receipt = run.sampler.receipt_of(point.plan);
    if (!receipt.hash.empty()) state.SetLabel(receipt.hash);
    if (receipt.registers) state.counters["registers"] = *receipt.registers;
    for (const auto& [key, value] : receipt.counters) state.counters[key] = value;
    so_far.values.push_back(seen.cycles.value_or(seen.seconds));
}

void run_point(benchmark::State& state, Run& run, const PlannedPoint& point,
               PointUnderWay& so_far) {
    std::string& failure = so_far.failure;
    if (failure.empty() && run.ends()) failure = interrupted;
    const bool wanted = repeat(run.rule, so_far.values, so_far.seconds());
    const bool must = static_cast<int>(so_far.values.size()) < run.rule.least;
    const bool may = must || run.budget.allows_more(seconds_since(run.begin));
    if (failure.empty() && !(wanted && may)) failure = enough;
    if (failure.empty() && !so_far.begin) begin(run, point, so_far);
    if (!failure.empty()) {
        // One row per wanted repetition says so, no more.
        return skip(state, so_far.repetitions++ < run.rule.least ? failure : enough);
    }
    const auto begin = Clock::now();
    for ([[maybe_unused]] const auto _ : state) {
        try {
            measure_once(state, run, point, so_far);
        } catch (const DeviceLost& error) {
            run.lost = error.what();
            run.abandoned = error.cause == DeviceLost::Cause::abandoned;
            failure = run.abandoned ? interrupted : error.what();
        } catch (const DeviceError& error) {
            failure = error.what();
        } catch (...) {
            // Not through the library's own frames.
            run.problem = std::current_exception();
            failure = interrupted;
        }
        if (!failure.empty()) {
            state.SkipWithError(failure.c_str());
            break;
        }
    }
    ++so_far.repetitions;
    run.budget.repetition_took(seconds_since(begin));
}

std::string journal_key(const Backend& backend, const SweepPlan& sweep) {
    std::string text = backend.facts().id + "|" + backend.facts().name + "|" +
                       backend.facts().driver + "|" + std::to_string(sweep.repetitions) + "|" +
                       order_text();
    for (const PlannedPoint& point : sweep.points) {
        text += fmt::format("|{},{}{}", point.name(), point.plan.unroll,
                            point.plan.checkpointed ? ",checkpoints" : "");
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
    context["order"] = order_text();
    for (const SkippedSubject& skipped : sweep.skipped) {
        context["not_measured." + skipped.subject] = skipped.reason;
    }
    return context;
}

std::size_t number_of_points(const SweepPlan& sweep) {
    std::set<std::string> names;
    for (const PlannedPoint& point : sweep.points) names.insert(point.name());
    return names.size();
}

struct PointToMeasure {
    const PlannedPoint* point = nullptr;
    std::string refusal;  // why it is not tried any more; empty = it is
};

// What killed a process once may have been anything; twice, it is the point.
constexpr int most_beginnings = 2;

std::string refusal(const Journal& journal, const std::string& name) {
    if (const auto hung = journal.hung().find(name); hung != journal.hung().end()) {
        return fmt::format("{}; not tried again", hung->second);
    }
    const auto unended = journal.unended().find(name);
    if (unended == journal.unended().end() || unended->second < most_beginnings) return {};
    return fmt::format("{} earlier runs began this point and never ended it; not tried again",
                       unended->second);
}

// Those that no earlier session finished, each once; counts them and the others. A point in which
// an earlier session died comes last, so that all others are there before it can do so again.
std::vector<PointToMeasure> points_to_measure(const SweepPlan& sweep, const Journal& journal,
                                              HarnessResult& result) {
    std::vector<PointToMeasure> points;
    std::vector<PointToMeasure> once_more;
    std::set<std::string> names;
    for (const PlannedPoint* point : measuring_order(sweep)) {
        const std::string name = point->name();
        if (!names.insert(name).second) continue;
        if (journal.finished().contains(name)) {
            ++result.resumed;
            continue;
        }
        PointToMeasure next{.point = point, .refusal = refusal(journal, name)};
        const bool died = next.refusal.empty() && journal.unended().contains(name);
        (died ? once_more : points).push_back(std::move(next));
    }
    result.points = names.size();
    points.insert(points.end(), once_more.begin(), once_more.end());
    return points;
}

constexpr const char* reference_clock_key = "reference_clock_hz";
constexpr const char* clock_warning_key = "clock_warning";

// All sessions of a measurement have the first one's reference. Tells the user, and the file, of a
// clock that is not what it should be.
void keep_reference_clock(const DeviceFacts& facts, Sampler& sampler, Journal& journal,
                          const HarnessOptions& options) {
    const auto clock = sampler.reference_clock();
    if (!clock) return;
    std::string warning;
    if (facts.nominal_clock_hz && *clock < low_clock * *facts.nominal_clock_hz) {
        warning = fmt::format(
            "the core clock stays at {:.0f} MHz, below half of the {:.0f} MHz that the device "
            "claims",
            *clock * 1e-6, *facts.nominal_clock_hz * 1e-6);
    }
    const std::string first = journal.context(reference_clock_key);
    if (!first.empty()) {
        const double reference = std::strtod(first.c_str(), nullptr);
        sampler.set_reference_clock(reference);
        if (std::abs(*clock / reference - 1) > largest_clock_deviation) {
            warning += fmt::format(
                "{}the core clock is {:.0f} MHz now and was {:.0f} MHz when this measurement "
                "began",
                warning.empty() ? "" : "; ", *clock * 1e-6, reference * 1e-6);
        }
    }
    if (warning.empty()) return;
    if (options.note) options.note("WARNING: " + warning);
    const std::string earlier = journal.context(clock_warning_key);
    if (earlier.find(warning) != std::string::npos) return;
    journal.note(clock_warning_key, earlier.empty() ? warning : earlier + "; " + warning);
}

// What the backend has to say by now, once each: to the user and into the file's context.
void keep_remarks(const Backend& backend, Journal& journal, const HarnessOptions& options) {
    for (const auto& [key, text] : backend.remarks()) {
        if (journal.context(key) == text) continue;
        if (options.note) options.note(text);
        journal.note(key, text);
    }
}

// While alive, the backend waits as the options say.
class Watched {
public:
    Watched(Backend& backend, const HarnessOptions& options, Journal& journal, const Run& run)
        : backend_(backend) {
        DeviceWatch::Rules rules{.limit_seconds = options.hang_seconds, .stop = options.stop};
        if (options.leave) {
            rules.blocked = [&options, &journal, &run](const std::string& reason, bool stopped) {
                // Another thread is in a call to the device and does not come back.
                if (!stopped) journal.hang(run.under_way, reason);
                options.leave(reason);
            };
        }
        backend_.watch(std::make_shared<DeviceWatch>(std::move(rules)));
    }
    ~Watched() { backend_.watch(std::make_shared<DeviceWatch>()); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

private:
    Backend& backend_;
};

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
    if (options.overwrite == Overwrite::no && std::filesystem::exists(options.output) &&
        !Journal::finishing(options.output)) {
        throw InputError(fmt::format("{}: exists; --force replaces it", options.output.string()));
    }
    initialise_library(options.benchmark_flags);
    HarnessResult result;
    const StoppingRule rule = stopping_rule(sweep, options);
    Sampler sampler(backend, options.receipt);
    // The clock as the device shows it at the start; each row carries its own.
    sampler.settle_clock();
    HarnessOptions with_clock = options;
    const auto clock = sampler.reference_clock();
    if (const auto witnessed = clock ? clock : backend.witness_clock()) {
        with_clock.context["clock_hz"] = fmt::format("{:.0f}", *witnessed);
    }
    if (clock) with_clock.context[reference_clock_key] = fmt::format("{:.0f}", *clock);
    Journal journal(options.output, journal_key(backend, sweep),
                    file_context(backend, sweep, with_clock, rule).dump(), number_of_points(sweep));
    keep_reference_clock(backend.facts(), sampler, journal, options);
    const auto points = points_to_measure(sweep, journal, result);
    Run run{.sampler = sampler,
            .journal = journal,
            .rule = rule,
            .stop = options.stop,
            .begin = Clock::now(),
            .budget = {options.budget_seconds, points.size(), rule.least}};
    const Watched watched(backend, options, journal, run);
    std::size_t done_now = 0;
    benchmark::ClearRegisteredBenchmarks();
    for (const PointToMeasure& next : points) {
        auto so_far = std::make_shared<PointUnderWay>();
        so_far->failure = next.refusal;
        auto* registered = benchmark::RegisterBenchmark(
            next.point->name().c_str(),
            [&run, point = next.point, so_far](benchmark::State& state) {
                run_point(state, run, *point, *so_far);
            });
        registered->UseManualTime()->Iterations(1)->Repetitions(rule.most);
    }
    if (options.begin) options.begin(result.points, result.resumed);
    PointReporter reporter([&](FinishedPoint point) {
        std::string error;
        for (const Repetition& one : point.repetitions) error = one.error.value_or(error);
        if (run.problem) return;
        if (error == interrupted) {
            if (point.name == run.under_way && !run.abandoned) journal.leave(point.name);
            return;
        }
        try {
            point.statistics = statistics_of(point.repetitions, rule);
            journal.append(point);
            keep_remarks(backend, journal, options);
        } catch (...) {
            run.problem = std::current_exception();
            return;
        }
        ++done_now;
        run.budget.point_done();
        result.failed += error.empty() ? 0 : 1;
        if (!options.progress) return;
        const double elapsed = seconds_since(run.begin);
        const std::size_t done = result.resumed + done_now;
        options.progress({.done = done,
                          .total = result.points,
                          .elapsed_seconds = elapsed,
                          .remaining_seconds = elapsed / static_cast<double>(done_now) *
                                               static_cast<double>(result.points - done),
                          .point = point.name,
                          .error = error});
    });
    if (!points.empty()) benchmark::RunSpecifiedBenchmarks(&reporter);
    benchmark::ClearRegisteredBenchmarks();
    if (run.problem) std::rethrow_exception(run.problem);
    journal.sync();
    result.lost = run.lost;
    if (journal.restored() && options.note) {
        options.note(fmt::format("{}: was removed while measuring, and written anew",
                                 Journal::path_for(options.output).string()));
    }
    if (!points.empty() && done_now == 0 && !run.ends()) {
        if (result.resumed == 0 && journal.unended().empty() && journal.hung().empty())
            journal.discard();
        throw InputError(fmt::format(
            "none of the {} points left to measure was measured: the flags after -- ({}) leave "
            "out all of them; {} is as it was",
            points.size(), fmt::join(options.benchmark_flags, " "), options.output.string()));
    }
    // Fewer are done where the library was told to leave some out.
    if (run.ends() && result.resumed + done_now < result.points) return result;
    journal.finish();
    result.complete = true;
    return result;
}

}  // namespace occupipe::bench
