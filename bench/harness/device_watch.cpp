// SPDX-License-Identifier: MIT
#include "bench/harness/device_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bench/harness/device_errors.h"

namespace occupipe::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double patience_after_stop = 2;  // seconds
constexpr double second_line = 1.5;        // of the limit: the waiting thread itself comes first
constexpr std::int64_t nobody_waits = 0;
constexpr std::int64_t process_ends = -1;

double seconds_from(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace

DeviceWatch::DeviceWatch(Rules rules) : rules_(std::move(rules)) {
    if (rules_.blocked) thread_ = std::thread([this] { run(); });
}

DeviceWatch::~DeviceWatch() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    end_.notify_all();
    thread_.join();
}

bool DeviceWatch::user_waits_no_longer(double seconds) const {
    return rules_.stop && *rules_.stop && seconds > patience_after_stop;
}

std::string DeviceWatch::reason(const char* call, bool stopped) const {
    return stopped ? fmt::format("interrupted while {} did not return", call)
                   : fmt::format("the device hangs: no answer within {:g} s in {}",
                                 rules_.limit_seconds, call);
}

void DeviceWatch::run() {
    using std::chrono::duration;
    const double limit = rules_.limit_seconds * second_line;
    const auto look = duration<double>(std::min(0.25, limit / 10));
    std::unique_lock lock(mutex_);
    while (!end_.wait_for(lock, look, [this] { return ending_; })) {
        std::int64_t since = since_;
        if (since == nobody_waits) continue;
        const double waited = seconds_from(Clock::time_point(std::chrono::nanoseconds(since)));
        const bool stopped = user_waits_no_longer(waited / second_line);
        if (!stopped && waited <= limit) continue;
        const char* call = call_;
        // Whoever waited and comes back at this very moment stays where it is.
        if (since_.compare_exchange_strong(since, process_ends)) {
            rules_.blocked(reason(call, stopped), stopped);
        }
    }
}

DeviceWatch::Wait::Wait(DeviceWatch& watch, const char* call)
    : watch_(watch), call_(call), begin_(Clock::now()) {
    watch_.call_ = call;
    watch_.since_ =
        std::chrono::duration_cast<std::chrono::nanoseconds>(begin_.time_since_epoch()).count();
}

DeviceWatch::Wait::~Wait() {
    if (watch_.since_.exchange(nobody_waits) != process_ends) return;
    watch_.since_ = process_ends;
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

double DeviceWatch::Wait::seconds() const { return seconds_from(begin_); }

void DeviceWatch::Wait::check() const {
    const double waited = seconds();
    if (watch_.user_waits_no_longer(waited)) {
        throw DeviceLost(DeviceLost::Cause::abandoned, watch_.reason(call_, true));
    }
    if (waited > watch_.rules_.limit_seconds) {
        throw DeviceLost(DeviceLost::Cause::hung, watch_.reason(call_, false));
    }
}

}  // namespace occupipe::bench
