// SPDX-License-Identifier: MIT
#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>

namespace occupipe::cli {
namespace {

std::atomic<bool> stop_requested = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");

extern "C" void request_stop(int signal) {
    stop_requested = true;
    std::signal(signal, SIG_DFL);
}

constexpr double seconds_between_lines = 10;
constexpr int line_width = 100;

}  // namespace

StopOnSignal::StopOnSignal() {
    stop_requested = false;
    std::signal(SIGINT, request_stop);
    std::signal(SIGTERM, request_stop);
}

StopOnSignal::~StopOnSignal() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

const std::atomic<bool>& StopOnSignal::stopped() { return stop_requested; }

std::string duration_text(double seconds) {
    const long whole = std::lround(seconds);
    if (whole >= 3600) {
        return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    }
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::function<void(const bench::Progress&)> progress_printer() {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    auto last_shown = std::make_shared<double>(-seconds_between_lines);
    return [terminal, last_shown](const bench::Progress& now) {
        const bool last = now.done == now.total;
        if (!now.error.empty()) {
            fmt::print(stderr, "{}{}: {}\n", terminal ? "\r\033[K" : "", now.point, now.error);
        }
        if (!terminal && !last && now.elapsed_seconds < *last_shown + seconds_between_lines) return;
        *last_shown = now.elapsed_seconds;
        std::string line = fmt::format("{:5}/{} points, {} left  {}", now.done, now.total,
                                       duration_text(now.remaining_seconds), now.point);
        if (terminal && line.size() > line_width) line.resize(line_width);
        fmt::print(stderr, "{}{}{}", terminal ? "\r\033[K" : "", line,
                   terminal && !last ? "" : "\n");
        std::fflush(stderr);
    };
}

}  // namespace occupipe::cli
