// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "ask/answer.h"
#include "cli/console.h"
#include "cli/option.h"
#include "sim/models/model.h"

namespace occupipe::cli {

// Adds --limit. `limit` holds the default.
Option add_limit_option(const Command& command, std::string& limit);

// Seconds of the whole command, or so many of what is counted.
struct Limit {
    std::optional<double> seconds;
    std::optional<std::int64_t> count;
};

// Of "600s", positive and finite; absent: it is something else.
std::optional<double> seconds_in(std::string_view text);

// "90s", "0.5s"; "1000000". Throws InputError for anything else, which names what is counted.
Limit parse_limit(const std::string& text, const std::string& counted = "instructions");

// How far a command has come, from two seconds on: rewritten in place on a terminal, else a line
// every ten seconds.
class ProgressLine {
public:
    static constexpr double first = 2;  // seconds after the start

    bool due(double elapsed) const { return elapsed >= next_; }
    void show(double elapsed, const std::string& text);
    void end() const;  // the next line is another's

private:
    bool terminal_ = is_terminal();
    bool shown_ = false;
    double next_ = first;

    static bool is_terminal();
};

// What a command spends on simulations: ends them at --limit and at Ctrl-C, and shows from two
// seconds on how far they are. Must outlive the simulations.
//   RunLimit limit("60s");
//   limit.apply(model_options);
class RunLimit {
public:
    // As parse_limit(): seconds, or instructions that each simulation may issue one by one.
    explicit RunLimit(const std::string& text);
    RunLimit(const RunLimit&) = delete;
    RunLimit& operator=(const RunLimit&) = delete;

    void apply(ModelOptions& options);
    void apply(analysis::Asking& asking);
    // Of work that is no simulation: whether to end it, asked often. Shows how far it is.
    bool over();
    // Throws LimitReached or Interrupted, where it is over.
    void require_time();

    // How many predictions there are in all; one of them is done.
    void expect(std::size_t predictions) { expected_ = predictions; }
    void add_done();
    // The same in stages: `done` of `all` predictions of this one, called so ("coarse"), which ends
    // in `left` seconds at the latest.
    void begin_stage(const std::string& name, std::size_t done, std::size_t all,
                     std::optional<double> left);
    // Leaves the line of progress, where there is one.
    void end_line();

private:
    using Clock = std::chrono::steady_clock;

    double elapsed() const;
    bool over_at(double elapsed) const;
    [[noreturn]] void end(double elapsed, const std::string& now) const;
    void check(const RunProgress& progress);
    std::string done_text() const;
    std::string left_text(double elapsed) const;

    StopOnSignal stop_;
    Clock::time_point start_ = Clock::now();
    Limit limit_;
    std::mutex mutex_;  // of what follows
    std::size_t expected_ = 0;
    std::size_t done_ = 0;
    std::string stage_;            // "coarse "; empty: there are none
    std::size_t done_before_ = 0;  // of the stage
    double stage_start_ = 0;       // seconds after the start
    std::optional<double> stage_end_;
    ProgressLine line_;
};

}  // namespace occupipe::cli
