// SPDX-License-Identifier: MIT
// Devices with planted λ and Λ, and the ways in which measurements of real ones are disturbed.
#pragma once

#include <map>
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
    bool each_scope = false;  // subsystems of their own, of either scope by chance
    bool one_class = false;   // … of instructions whose names suggest one subsystem
    int instructions = 3;
    bool ports = false;       // one unit behind issue ports that bind
    double least_cpi = 0.25;  // λ per core [cycles]
    double greatest_cpi = 16;
    double least_ridge = 3;  // Λ/λ
    double greatest_ridge = 36;
    bool slow_copies = false;  // Λ from 0.2 to 1.5 of λ of a copy, in the place of the above
    bool contention = false;
    double jitter = 0;  // of service times: a round knee
    Choice choice = Choice::loose_round_robin;

    // The measurement.
    bool quick = false;        // the shapes of a quick run
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
    bool placed = true;             // … and how many the fullest scheduler had
    double drift = 0;               // over the run, rows in random order
    int teeth = 0;                  // … of a saw-tooth; 0 = steady
    bool drift_as_planned = false;  // … rows in the order of the plan: common-mode
    // Runs that take longer are slower, by 3 to 10 %: beyond some length, gradually, or by how busy
    // the unit is, too (a clock that sinks under load).
    enum class Throttle { none, step, gradual, by_power } throttle = Throttle::none;
    int repetitions = 5;
    int depth_factor = 1;  // depths are 64, 128 and 256 times this
    // Instructions in the timed loop's body; the middle depth of one chain has a quarter of them,
    // and one of the two bodies may be 5, 10 or 25 % slower than what was planted. 0 = no loop.
    int body = 0;
    enum class Slow { none, long_body, short_body } slow = Slow::none;

    // Several units, and every two instructions mixed (mixed_devices.cpp).
    enum class Mixes { none, exact, inexact } mixes = Mixes::none;
    bool barriers = false;  // groups of warps that meet, in the place of warps by themselves
    double favour = 0;      // how often one scheduler goes before the others at the core's unit
    bool windows = false;   // longer runs by a checkpointed kernel, too

    // What the device table expects: a flag instead of coverage.
    bool must_be_flagged = false;
};

const std::vector<Scenario>& scenarios();

struct PlantedInstruction {
    std::string name;
    double cpi = 1;  // λ per core
    double latency = 1;
    bool copied = false;  // a unit per scheduler
    double ridge_warps() const { return latency / cpi; }
};

struct PlantedDevice {
    int schedulers = 1;          // what staircases can show; 1 = none
    bool scopes_differ = false;  // each instruction has its own subsystem, and some are copied
    double issue_limit = 0;      // 0 = none
    bool limit_shows = false;    // in what was measured, by 2 % at three places
    // Which instructions share a unit, where mixes were measured; exact = each has one unit.
    std::map<std::string, int> unit_of;
    bool exact_partition = true;
    std::vector<PlantedInstruction> instructions;
    MeasurementFile file;
};

PlantedDevice make_device(const Scenario& scenario, std::uint64_t seed);

// As `measure` does: points in random order, the repetitions of each one after the other.
void shuffle_points(std::mt19937_64& random, MeasurementFile& file);

// With several units, mixes, and a limit of issue where the scenario has ports.
PlantedDevice make_mixed_device(const Scenario& scenario, std::uint64_t seed);
// With barriers of groups of different sizes.
PlantedDevice make_barrier_device(const Scenario& scenario, std::uint64_t seed);

}  // namespace occupipe::test
