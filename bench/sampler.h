// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bench/backend.h"
#include "bench/sweep.h"

namespace occupipe::bench {

// Takes one sample of a point: compiles once, warms up once per shape, witnesses the clock around
// each launch and throws a launch away when the clock moved.
class Sampler {
public:
    // Called once per kernel with its receipt, or with the reason for which there is none.
    using ReceiptSink = std::function<void(const KernelPlan&, const std::string& text)>;

    explicit Sampler(Backend& backend, ReceiptSink sink = {})
        : backend_(backend), sink_(std::move(sink)) {}
    // Throws DeviceError: what the backend says, or that the clock moved in every attempt.
    // The result has cycles wherever the device or its witnessed clock can tell.
    Observation sample(const PlannedPoint& point);
    int cores() const { return backend_.facts().cores; }
    // Of a kernel that was sampled before.
    const KernelReceipt& receipt_of(const KernelPlan& plan) { return program_of(plan).receipt(); }

private:
    using Clock = std::chrono::steady_clock;
    void settle_clock();
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
    bool settled_ = false;
    std::uint32_t launches_ = 0;
};

}  // namespace occupipe::bench
