// SPDX-License-Identifier: MIT
#include "cli/run_limit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/error.h"

namespace occupipe::cli {
namespace {

constexpr double seconds_between_lines = 10;
constexpr double seconds_between_terminal_lines = 0.5;

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
    Number value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size() || !(value > 0))
        return std::nullopt;
    return value;
}

}  // namespace

Option add_limit_option(const Command& command, std::string& limit) {
    return command
        .add_option(
            "--limit", limit,
            "Give up (exit code 4) after this many seconds of the whole command (60s, 0.5s),\n"
            "or after one simulation has issued this many instructions one by one "
            "(1000000)")
        .show_default()
        .type_name("N|Ns");
}

std::optional<double> seconds_in(std::string_view text) {
    if (!text.ends_with('s')) return std::nullopt;
    const auto seconds = number_of<double>(text.substr(0, text.size() - 1));
    return seconds && std::isfinite(*seconds) ? seconds : std::nullopt;
}

Limit parse_limit(const std::string& text, const std::string& counted) {
    const Limit limit{.seconds = seconds_in(text), .count = number_of<std::int64_t>(text)};
    if (!limit.count && !limit.seconds)
        throw InputError(
            fmt::format("--limit {}: expected a positive number of {}, such "
                        "as 1000000, or of seconds, such as 60s",
                        text, counted));
    return limit;
}

bool ProgressLine::is_terminal() { return isatty(STDERR_FILENO) != 0; }

void ProgressLine::show(double elapsed, const std::string& text) {
    next_ = elapsed + (terminal_ ? seconds_between_terminal_lines : seconds_between_lines);
    shown_ = true;
    fmt::print(stderr, "{}{:.0f} s: {}{}", terminal_ ? "\r\033[K" : "", elapsed, text,
               terminal_ ? "" : "\n");
    std::fflush(stderr);
}

void ProgressLine::end() const {
    if (shown_ && terminal_) fmt::print(stderr, "\r\033[K");
}

RunLimit::RunLimit(const std::string& text) : limit_(parse_limit(text)) {}

void RunLimit::apply(ModelOptions& options) {
    options.max_simulated = limit_.count.value_or(std::numeric_limits<std::int64_t>::max() / 4);
    options.checkpoint = [this](const RunProgress& progress) { check(progress); };
}

void RunLimit::apply(analysis::Asking& asking) {
    ModelOptions options;
    apply(options);
    asking.max_simulated = options.max_simulated;
    asking.checkpoint = options.checkpoint;
    asking.expect = [this](std::size_t predictions) { expect(predictions); };
    asking.done = [this] { add_done(); };
}

void RunLimit::add_done() {
    const std::lock_guard guard(mutex_);
    ++done_;
}

void RunLimit::begin_stage(const std::string& name, std::size_t done, std::size_t all,
                           std::optional<double> left) {
    const std::lock_guard guard(mutex_);
    stage_ = name + " ";
    done_ = done_before_ = done;
    expected_ = all;
    stage_start_ = elapsed();
    stage_end_.reset();
    if (left) stage_end_ = stage_start_ + *left;
    if (stage_start_ >= ProgressLine::first) line_.show(stage_start_, done_text() + "executing");
}

std::string RunLimit::done_text() const {
    return expected_ > 1 ? fmt::format("{} of {} {}predictions; now ", done_, expected_, stage_)
                         : "";
}

// ", 3:12 left" once some of the time shows how fast it goes.
std::string RunLimit::left_text(double elapsed) const {
    constexpr double least = 6;
    const double spent = elapsed - stage_start_;
    if (done_ >= expected_ || spent < least) return "";
    std::optional<double> left;
    if (done_ > done_before_)
        left = spent / static_cast<double>(done_ - done_before_) *
               static_cast<double>(expected_ - done_);
    if (stage_end_) left = std::min(left.value_or(*stage_end_), *stage_end_ - elapsed);
    return left ? fmt::format(", {} left", duration_text(std::max(0.0, *left))) : "";
}

double RunLimit::elapsed() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool RunLimit::over_at(double elapsed) const {
    return StopOnSignal::stopped() || (limit_.seconds && elapsed > *limit_.seconds);
}

void RunLimit::end(double elapsed, const std::string& now) const {
    if (StopOnSignal::stopped())
        throw Interrupted(
            fmt::format("interrupted after {:.1f} s: {}{}", elapsed, done_text(), now));
    throw LimitReached(
        fmt::format("no answer after {:.3g} s (--limit): {}{}", *limit_.seconds, done_text(), now));
}

void RunLimit::check(const RunProgress& progress) {
    const double now = elapsed();
    const std::lock_guard guard(mutex_);
    if (over_at(now)) end(now, to_text(progress));
    if (line_.due(now))
        line_.show(now, done_text() + (progress.issued == 0 ? "simulating" : to_text(progress)));
}

bool RunLimit::over() {
    const double now = elapsed();
    const std::lock_guard guard(mutex_);
    if (line_.due(now)) line_.show(now, done_text() + "executing and simulating" + left_text(now));
    return over_at(now);
}

void RunLimit::end_line() {
    const std::lock_guard guard(mutex_);
    line_.end();
}

void RunLimit::require_time() {
    const double now = elapsed();
    const std::lock_guard guard(mutex_);
    line_.end();
    if (over_at(now)) end(now, "the rest is not predicted");
}

}  // namespace occupipe::cli
