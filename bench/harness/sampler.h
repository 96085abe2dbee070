// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bench/backend.h"
#include "bench/kernel/sweep.h"

namespace occupipe::bench {

// A sample belongs to the run when its clock is within this of the reference, relative.
inline constexpr double largest_clock_deviation = 0.02;
// A settled clock below this part of what the device claims is not what it works at.
inline constexpr double low_clock = 0.5;

// A core's warps are to start together, within this part of what the run takes, and no group after
// the moment that was set for all.
inline constexpr double largest_start_skew = 0.03;
bool started_apart(const Observation& seen);

// Takes one sample of a point: compiles once, warms up once per shape, witnesses the clock around
// each launch, and repeats a launch during which the clock moved, that ran at another clock than
// the rest, or that failed by chance.
class Sampler {
public:
    // Called once per kernel with its receipt, or with the reason for which there is none.
    using ReceiptSink = std::function<void(const KernelPlan&, const std::string& text)>;

    explicit Sampler(Backend& backend, ReceiptSink sink = {})
        : backend_(backend), sink_(std::move(sink)) {}
    // An idle GPU's clock is low and takes its time to rise: waits until it is steady and at least
    // half of what the device claims, with patience for each. Before the first sample.
    void settle_clock();
    // What the clock is to be [Hz]: at the end of settle_clock(); absent where nothing can tell.
    std::optional<double> reference_clock() const { return reference_clock_; }
    void set_reference_clock(double clock_hz) { reference_clock_ = clock_hz; }
    // Throws DeviceError: what the backend says, or that the clock moved in every attempt.
    // A sample whose warps started apart is repeated, and kept when they do so again and again; the
    // row's start_skew_cycles tell how far, and start_skew_kept that it was given up.
    // A sample that ran at another clock than the reference is kept when it does so again and
    // again, with the counter clock_deviation (relative; largest_clock_deviation is exceeded).
    // The result has cycles wherever the device or its witnessed clock can tell.
    Observation sample(const PlannedPoint& point);
    int cores() const { return backend_.facts().cores; }
    // Of a kernel that was sampled before.
    const KernelReceipt& receipt_of(const KernelPlan& plan) { return program_of(plan).receipt(); }

private:
    using Clock = std::chrono::steady_clock;
    void await_reference_clock();
    std::optional<double> clock_deviation(const Observation& seen) const;
    std::optional<double> clock_before();
    Program& program_of(const KernelPlan& plan);
    Observation launch(Program& program, const PlannedPoint& point);
    Observation attempt(Program& program, const PlannedPoint& point, bool* clock_held);

    Backend& backend_;
    ReceiptSink sink_;
    std::map<std::string, std::unique_ptr<Program>> programs_;
    std::map<std::string, std::string> refused_;  // why there is no program
    std::optional<double> last_clock_;
    Clock::time_point last_clock_at_;
    std::map<std::string, bool> warm_;
    std::set<std::string> skewed_;  // shapes whose last sample's warps started apart
    bool settled_ = false;
    std::optional<double> reference_clock_;
    std::set<std::string> deviating_;  // shapes whose last sample ran at another clock
    int retries_ = 0;                  // of the sample under way
    std::uint32_t launches_ = 0;
};

}  // namespace occupipe::bench
