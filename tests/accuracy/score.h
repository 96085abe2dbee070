// SPDX-License-Identifier: MIT
// Planted against found, counted.
#pragma once

#include <string>
#include <vector>

#include "fit/profile/build_profile.h"
#include "tests/accuracy/scenarios.h"

namespace occupipe::test {

// One parameter, λ or Λ, over all curves of a scenario.
struct ParameterScore {
    int values = 0;      // found as a value, not as a bound
    int within_one = 0;  // standard errors
    int within_two = 0;
    double bias = 0;             // sum of (found / planted − 1)
    std::vector<double> errors;  // |found / planted − 1|
};

struct Score {
    int devices = 0;
    int curves = 0;
    int failed = 0;  // no result at all
    ParameterScore cpi;
    ParameterScore latency;
    int bounds = 0;
    int false_bounds = 0;      // contradict what was planted by more than 1 %
    int wrong_schedulers = 0;  // curves with a number of copies that is not the planted one
    int invented_growth = 0;   // latency_growth where Λ does not grow
    int invented_limits = 0;   // devices with an issue limit that have none
    int limits = 0;            // devices that have one …
    int found_limits = 0;      // … and it was found
    int wrong_limits = 0;      // … more than 5 % off
    int shown_limits = 0;      // devices whose limit lengthens what was measured
    int right_limits = 0;      // … and it was found within 5 %
    int partitions = 0;        // devices with mixes
    int right_partitions = 0;  // … whose instructions are sorted as planted
    int sure_partitions = 0;   // … that claim a confidence above 0.9
    int sure_and_wrong = 0;    // … and are not sorted so, or cannot be
    int scopes = 0;            // subsystems of either scope, each of one instruction
    int wrong_scopes = 0;      // … that have another one in the profile
    int unknown_scopes = 0;    // … or none
    int torn_units = 0;        // devices of one unit, or its copies, that got two subsystems
    int silent = 0;   // values > 3 % and > 3 standard errors off, on a curve without a flag
    int flagged = 0;  // curves with a flag
    std::vector<std::string> details;  // of what went wrong, for --details

    void add(const Score& other);
};

// Fits the device and compares.
Score score_device(const Scenario& scenario, std::uint64_t seed);

// All scenarios or one of them, `devices` each, on `threads` threads; the same for any number of
// them.
std::vector<Score> score_scenarios(const std::vector<Scenario>& of, int devices, int threads);

std::string markdown_table(const std::vector<Scenario>& of, const std::vector<Score>& scores);

}  // namespace occupipe::test
