// SPDX-License-Identifier: MIT
#include "fit/profile/profile_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/profile_fields.h"
#include "core/statistics.h"
#include "fit/profile/field_diff.h"
#include "fit/profile/fit_report.h"
#include "fit/statistics.h"

namespace occupipe {
namespace {

// The errors of a profile are estimates from a handful of launches: a quick sweep's λ and Λ have
// the tails of Student's t with about so many degrees of freedom (docs/how-to/watch-device.md has
// the runs).
constexpr double freedom = 8;
// A clock wanders in steps of its own: less than this is no change of it.
constexpr double least_clock_change = 0.005;
constexpr const char* clock_name = "clock [Hz]";

// Numbers that are watched: what an instruction costs, the issue limit, memory levels, launches.
// Tables, loop costs and contention are other views of the same rows.
bool is_watched(std::string_view name) {
    const auto ends = [&](std::string_view end) { return name.ends_with(end); };
    if (ends("loop λ") || ends("loop Λ") || name.find(" at ") != std::string_view::npos)
        return false;
    return ends(" λ") || ends(" Λ") || name == "issue limit" || ends("[s]");
}

// Counts and limits: no error, and no change without a cause.
bool is_fact(std::string_view name) {
    return name == "cores" || name == "warp size" || name.starts_with("limits ");
}

std::vector<double> witnessed_clocks(std::span<const MeasurementFile> files) {
    std::vector<double> clocks;
    for (const MeasurementFile& file : files)
        for (const MeasurementRow& row : file.rows)
            if (!row.error && row.clock_hz) clocks.push_back(*row.clock_hz);
    return clocks;
}

// Robust relative scatter of the clock over the run.
double clock_scatter(const std::vector<double>& clocks) {
    const double middle = median(clocks);
    return spread_about(middle, clocks) / middle;
}

class Watcher {
public:
    Watcher(const GpuProfile& baseline, const GpuProfile& now,
            std::span<const MeasurementFile> files, const WatchOptions& options)
        : baseline_(baseline), now_(now), files_(files), options_(options) {}

    WatchReport watch() {
        report_.false_alarm_rate = options_.false_alarm_rate;
        report_.relative = options_.relative;
        collect();
        const double numbers = std::max<double>(1, static_cast<double>(with_errors_));
        report_.needed_standard_errors =
            student_critical(options_.false_alarm_rate / numbers / 2, freedom);
        for (Watched& one : report_.compared) judge(one);
        clock();
        std::stable_sort(report_.compared.begin(), report_.compared.end(),
                         [](const Watched& a, const Watched& b) {
                             if (a.moved != b.moved) return a.moved;
                             if (!a.moved) return false;
                             return std::abs(a.standard_errors.value_or(0)) >
                                    std::abs(b.standard_errors.value_or(0));
                         });
        disturbances();
        circumstances();
        return std::move(report_);
    }

private:
    void leave_out(const std::string& name, const std::string& why) {
        report_.not_compared.push_back(fmt::format("{}: {}", name, why));
    }

    void collect() {
        std::unordered_map<std::string, Estimate> found;
        for (const Parameter& p : parameters_of(now_))
            if (p.estimate) found.emplace(p.name, *p.estimate);
        std::set<std::string> seen;
        for (const Parameter& p : parameters_of(baseline_)) {
            seen.insert(p.name);
            if (!p.estimate || (!is_watched(p.name) && !is_fact(p.name))) continue;
            const auto here = found.find(p.name);
            if (here == found.end()) {
                leave_out(p.name, "only in the baseline");
            } else {
                pair(p.name, *p.estimate, here->second);
            }
        }
        for (const Parameter& p : parameters_of(now_))
            if (p.estimate && is_watched(p.name) && !seen.contains(p.name))
                leave_out(p.name, "not in the baseline");
    }

    void pair(const std::string& name, const Estimate& a, const Estimate& b) {
        if (!a.identifiable() || !b.identifiable())
            return leave_out(
                name, fmt::format("a bound in {}", a.identifiable() ? "this run" : "the baseline"));
        const bool fact = is_fact(name);
        const bool errors = a.std_error && b.std_error && *a.std_error > 0 && *b.std_error > 0;
        if (!fact && !errors)
            return leave_out(
                name, fmt::format("no standard error in {}",
                                  a.std_error && *a.std_error > 0 ? "this run" : "the baseline"));
        if (a.value == 0) return leave_out(name, "0 in the baseline");
        Watched one{.name = name,
                    .baseline = a,
                    .now = b,
                    .relative = b.value / a.value - 1,
                    .standard_errors = {}};
        if (!fact) {
            one.standard_errors = (b.value - a.value) / std::hypot(*a.std_error, *b.std_error);
            ++with_errors_;
        }
        report_.compared.push_back(std::move(one));
    }

    void judge(Watched& one) const {
        if (!one.standard_errors) {
            one.moved = one.relative != 0;
            return;
        }
        const double error = std::hypot(*one.baseline.std_error, *one.now.std_error);
        one.least_found = std::max(options_.relative, report_.needed_standard_errors * error /
                                                          std::abs(one.baseline.value));
        one.moved = std::abs(*one.standard_errors) > report_.needed_standard_errors &&
                    std::abs(one.relative) > options_.relative;
    }

    // A profile has no error of its clock: what counts is how far the clock wandered in this run.
    void clock() {
        const std::vector<double> clocks = witnessed_clocks(files_);
        if (clocks.empty()) return leave_out(clock_name, "nothing witnessed it in this run");
        const double now = median(clocks);
        const double scatter = clock_scatter(clocks);
        constexpr double times = 3;
        Watched one{.name = clock_name,
                    .baseline = {.value = baseline_.clock_hz, .std_error = {}, .note = {}},
                    .now = {.value = now, .std_error = scatter * now, .note = {}},
                    .relative = now / baseline_.clock_hz - 1,
                    .standard_errors = {},
                    .least_found = std::max(least_clock_change, times * scatter)};
        one.moved = std::abs(one.relative) > one.least_found;
        if (one.moved)
            report_.circumstances.emplace_back(
                "the clock moved: latencies and rates of device memory, which has a clock of its "
                "own, "
                "move in core cycles with it");
        report_.compared.insert(report_.compared.begin(), std::move(one));
    }

    void disturbances() {
        auto& out = report_.disturbances;
        std::size_t rows = 0;
        std::size_t failed = 0;
        std::size_t deviating = 0;
        std::size_t throttled = 0;
        for (const MeasurementFile& file : files_) {
            for (const char* key : {"clock_warning", "incomplete"})
                if (const auto at = file.context.find(key); at != file.context.end())
                    out.push_back(fmt::format("{}: {}", key, at->second));
            for (const MeasurementRow& row : file.rows) {
                ++rows;
                failed += row.error.has_value();
                deviating += row.counters.contains("clock_deviation");
                const auto reasons = row.counters.find("nvml_throttle_reasons");
                throttled += reasons && slows(*reasons);
            }
        }
        if (failed > 0) out.push_back(fmt::format("{} of {} rows failed", failed, rows));
        if (deviating > 0)
            out.push_back(
                fmt::format("the clock left that of the run in {} of {} rows", deviating, rows));
        if (throttled > 0)
            out.push_back(
                fmt::format("NVML reported throttling (power or heat) in {} rows", throttled));
        const std::vector<double> clocks = witnessed_clocks(files_);
        constexpr std::size_t enough = 12;
        if (clocks.size() < enough) return;
        const auto third = static_cast<std::ptrdiff_t>(clocks.size() / 3);
        const double begin = median(std::vector<double>{clocks.begin(), clocks.begin() + third});
        const double end = median(std::vector<double>{clocks.end() - third, clocks.end()});
        if (std::abs(end / begin - 1) > 2 * least_clock_change)
            out.push_back(fmt::format("the clock drifted by {:+.1f} % over the run",
                                      100 * (end / begin - 1)));
    }

    // NVML's bits for a cap by power or heat (nvml.h, nvmlClocksThrottleReason…).
    static bool slows(double reasons) {
        constexpr unsigned power_and_heat = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
        constexpr double most = 4e9;
        return reasons >= 1 && reasons < most &&
               (static_cast<unsigned>(reasons) & power_and_heat) != 0;
    }

    static std::string entry(const Annotation& provenance, std::string_view key) {
        for (const AnnotationEntry& one : provenance.entries)
            if (one.key == key) return one.value.text;
        return {};
    }

    void circumstances() {
        for (const char* key : {"driver", "clock_source", "occupipe_version"}) {
            const std::string before = entry(baseline_.provenance, key);
            const std::string after = entry(now_.provenance, key);
            if (!before.empty() && !after.empty() && before != after)
                report_.circumstances.push_back(fmt::format("{}: {} -> {}", key, before, after));
        }
    }

    const GpuProfile& baseline_;
    const GpuProfile& now_;
    std::span<const MeasurementFile> files_;
    const WatchOptions& options_;
    WatchReport report_;
    std::size_t with_errors_ = 0;
};

std::string line_of(const Watched& one) {
    const std::string by =
        one.standard_errors ? fmt::format(", {:+.1f} standard errors", *one.standard_errors) : "";
    return fmt::format("{}: {} -> {} ({:+.2f} %{})", one.name, format_estimate(one.baseline),
                       format_estimate(one.now), 100 * one.relative, by);
}

}  // namespace

std::size_t WatchReport::moved() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(compared, [](const Watched& one) { return one.moved; }));
}

WatchReport watch_profile(const GpuProfile& baseline, const GpuProfile& now,
                          std::span<const MeasurementFile> files, const WatchOptions& options) {
    return Watcher(baseline, now, files, options).watch();
}

namespace {

std::string what_would_be_found(const std::vector<double>& least) {
    const std::string half = fmt::format("{:.2g} %", 100 * median(least));
    const std::string all = fmt::format("{:.2g} %", 100 * *std::ranges::max_element(least));
    if (half == all) return fmt::format("A change of {} would have been found in each number", all);
    return fmt::format(
        "A change of {} would have been found in half of the numbers, one of {} in all", half, all);
}

}  // namespace

std::string format_watch(const WatchReport& report, const std::string& baseline,
                         const std::string& device, bool everything) {
    std::string out;
    const std::size_t moved = report.moved();
    out += fmt::format("{}: {} of {} numbers moved against {}\n", device, moved,
                       report.compared.size(), baseline);
    for (const std::string& text : report.circumstances) out += fmt::format("  {}\n", text);
    for (const std::string& text : report.disturbances)
        out += fmt::format("  DISTURBED: {}; measure again before you believe it\n", text);
    for (const Watched& one : report.compared)
        if (one.moved) out += fmt::format("MOVED  {}\n", line_of(one));
    std::vector<double> least;
    for (const Watched& one : report.compared) {
        if (one.standard_errors) least.push_back(one.least_found);
        if (!one.moved && everything)
            out += fmt::format("same   {}; {:.2g} % would have been found\n", line_of(one),
                               100 * one.least_found);
    }
    if (!least.empty())
        out += fmt::format(
            "A number counts as moved beyond {:.1f} standard errors of the difference and {:g} %: "
            "a false alarm in {:g} of 100 reports. {}.\n",
            report.needed_standard_errors, 100 * report.relative, 100 * report.false_alarm_rate,
            what_would_be_found(least));
    if (!report.not_compared.empty()) {
        out += fmt::format("{} not compared{}\n", report.not_compared.size(),
                           everything ? ":" : " (--all lists them)");
        if (everything)
            for (const std::string& text : report.not_compared) out += fmt::format("  {}\n", text);
    }
    return out;
}

}  // namespace occupipe
