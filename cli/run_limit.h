// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/option.h"
#include "sim/models/model.h"

namespace occupipe::cli {

// Adds --limit. `limit` holds the default.
void add_limit_option(const Command& command, std::string& limit);

// What a command spends on simulations: ends them at --limit and at Ctrl-C, and shows from two
// seconds on how far they are. Must outlive the simulations.
//   RunLimit limit("60s");
//   limit.apply(model_options);
class RunLimit {
public:
    // "90s", "0.5s": seconds of the whole command; "1000000": instructions that each simulation may
    // issue one by one. Throws InputError for anything else.
    explicit RunLimit(const std::string& text);
    RunLimit(const RunLimit&) = delete;
    RunLimit& operator=(const RunLimit&) = delete;

    void apply(ModelOptions& options);

    // How many predictions there are in all; one of them is done.
    void expect(std::size_t predictions) { expected_ = predictions; }
    void add_done();

private:
    using Clock = std::chrono::steady_clock;

    void check(const RunProgress& progress);
    void show(const RunProgress& progress, double elapsed);
    std::string done_text() const;

    StopOnSignal stop_;
    Clock::time_point start_ = Clock::now();
    std::optional<double> seconds_;
    std::optional<std::int64_t> instructions_;
    std::mutex mutex_;  // of what follows
    std::size_t expected_ = 0;
    std::size_t done_ = 0;
    double next_line_ = 2;  // seconds after the start
    bool terminal_ = false;
};

}  // namespace occupipe::cli
