// SPDX-License-Identifier: MIT
// Devices with planted λ and Λ, and the ways in which measurements of real ones are disturbed.
#pragma once

#include <string>
#include <vector>

#include "core/measurement.h"
#include "tests/accuracy/event_core.h"

namespace occupipe::test {

enum class Placement { even, uneven_recorded, uneven_not_recorded };

// How a device is made and how it is measured.
struct Scenario {
    std::string name;

    // The device. Ranges are drawn log-uniformly, for each instruction anew.
    std::vector<int> schedulers{1};
    bool copies = false;      // a unit per scheduler
    bool ports = false;       // one unit behind issue ports that bind
    double least_cpi = 0.25;  // λ per core [cycles]
    double greatest_cpi = 16;
    double least_ridge = 3;  // Λ/λ
    double greatest_ridge = 36;
    bool contention = false;
    double jitter = 0;  // of service times: a round knee
    Choice choice = Choice::loose_round_robin;

    // The measurement.
    double gaussian = 0.005;   // relative, each repetition by itself
    double outlier_share = 0;  // of repetitions, which take three times as long
    double exponential = 0;    // mean of what is added, relative to the time
    double tick_seconds = 0;   // event times in such ticks, no cycle counter
    double counter_step = 0;   // the clock counts in steps of so many cycles
    double greatest_intercept = 100;
    Placement placement = Placement::even;
    double greatest_skew = 0;       // of starts, as a share of the shortest run
    double shape_error = 0;         // common to all depths and repetitions of a shape
    double point_error = 0;         // common to all repetitions of a point
    bool stops = false;             // rows say how many warps ran for how long
    double drift = 0;               // over the run, rows in random order
    int teeth = 0;                  // … of a saw-tooth; 0 = steady
    bool drift_as_planned = false;  // … rows in the order of the plan: common-mode
    int repetitions = 5;
    int depth_factor = 1;  // depths are 64, 128 and 256 times this

    // What the device table expects: a flag instead of coverage.
    bool must_be_flagged = false;
};

const std::vector<Scenario>& scenarios();

struct PlantedInstruction {
    std::string name;
    double cpi = 1;  // λ per core
    double latency = 1;
    double ridge_warps() const { return latency / cpi; }
};

struct PlantedDevice {
    int schedulers = 1;  // what staircases can show; 1 = none
    bool copies = false;
    double issue_limit = 0;  // 0 = none
    std::vector<PlantedInstruction> instructions;
    MeasurementFile file;
};

inline constexpr int instructions_per_device = 3;

PlantedDevice make_device(const Scenario& scenario, std::uint64_t seed);

}  // namespace occupipe::test
