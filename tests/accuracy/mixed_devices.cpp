// SPDX-License-Identifier: MIT
// Planted devices beyond one unit and warps by themselves: mixes, and barriers.
#include <algorithm>
#include <ranges>

#include "tests/accuracy/mixed_core.h"
#include "tests/accuracy/scenarios.h"
#include "tests/fit/synthetic_device.h"

namespace occupipe::test {
namespace {

constexpr int mixed_warps = 64;

void add_point(const Scenario& s, const std::string& subject, const MeasurementShape& shape,
               double cycles, Dice& dice, MeasurementFile& file) {
    std::normal_distribution<double> normal;
    for (int r = 0; r < s.repetitions; ++r)
        file.rows.push_back(
            row_of(subject, shape, cycles * (1 + s.gaussian * normal(dice.random)), r));
}

// Of `units` units one, or, where the scenario says so, a part of another, too.
Station draw_station(const Scenario& s, double cpi, std::size_t unit, std::size_t units,
                     bool of_two, Dice& dice) {
    Station station;
    station.service.assign(units, 0.0);
    station.service[unit] = cpi;
    if (of_two) station.service[(unit + 1) % units] = dice.between(0.4, 1) * cpi;
    const double least = std::max(s.least_ridge, 2 / cpi);
    station.latency = cpi * dice.log_between(std::min(least, s.greatest_ridge), s.greatest_ridge);
    return station;
}

}  // namespace

PlantedDevice make_mixed_device(const Scenario& s, std::uint64_t seed) {
    Dice dice(seed);
    PlantedDevice device;
    device.file = empty_file();
    const double intercept = dice.between(20, s.greatest_intercept);
    MixedCore core;
    core.schedulers = s.schedulers[dice.random() % s.schedulers.size()];
    core.units = static_cast<std::size_t>(dice.pick({2, 3}));
    device.issue_limit = s.ports ? dice.pick({1.0, 2.0, 4.0}) : 0;
    core.port = device.issue_limit > 0 ? core.schedulers / device.issue_limit : 0;
    device.schedulers = core.schedulers;
    const double fastest = device.issue_limit > 0 ? 1.05 / device.issue_limit : 0.5;
    for (int i = 0; i < 4; ++i) {
        PlantedInstruction one;
        one.name = fmt::format("{}.f32", static_cast<char>('a' + i));
        one.cpi = dice.log_between(fastest, (s.ports ? 2 : 6) * fastest);
        // The first two have different units, so that a limit of issue can show.
        const std::size_t unit = i < 2 ? static_cast<std::size_t>(i) : dice.random() % core.units;
        const bool of_two = s.mixes == Scenario::Mixes::inexact && i == 3;
        core.stations.push_back(draw_station(s, one.cpi, unit, core.units, of_two, dice));
        one.latency = core.stations.back().latency;
        device.unit_of[one.name] = static_cast<int>(unit);
        device.instructions.push_back(one);
    }
    // Two units are one where no other instruction goes to the second.
    for (std::size_t a = 0; a < core.stations.size(); ++a)
        for (std::size_t b = a + 1; b < core.stations.size(); ++b) {
            const auto& first = core.stations[a].service;
            const auto& second = core.stations[b].service;
            const auto busy = [](double service) { return service > 0; };
            const bool common =
                std::ranges::any_of(std::views::iota(std::size_t{0}, core.units),
                                    [&](std::size_t u) { return first[u] > 0 && second[u] > 0; });
            const bool several =
                std::ranges::count_if(first, busy) > 1 || std::ranges::count_if(second, busy) > 1;
            const bool same = device.unit_of.at(device.instructions[a].name) ==
                              device.unit_of.at(device.instructions[b].name);
            if (several && common && !same) device.exact_partition = false;
        }
    for (std::size_t i = 0; i < device.instructions.size(); ++i)
        for (const int w : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24, 32, 48, 64})
            for (const int depth : {32, 64, 128})
                add_point(s, device.instructions[i].name, {w, 1, 1, depth},
                          run_mixed(core, {i}, depth, w) + intercept, dice, device.file);
    double most = 0;  // instructions per cycle that the units together would take of some mix
    for (std::size_t a = 0; a < device.instructions.size(); ++a)
        for (std::size_t b = a + 1; b < device.instructions.size(); ++b)
            for (const int beta : {1, 2, 4}) {
                std::vector<std::size_t> pattern(static_cast<std::size_t>(beta), a);
                pattern.push_back(b);
                const std::string subject =
                    mix_name({device.instructions[a].name, beta, device.instructions[b].name});
                for (const int depth : {30, 60, 120})
                    add_point(s, subject, {32, mixed_warps / 32, 1, depth},
                              run_mixed(core, pattern, depth, mixed_warps) + intercept, dice,
                              device.file);
                double busiest = 0;
                for (std::size_t u = 0; u < core.units; ++u)
                    busiest = std::max(
                        busiest, beta * core.stations[a].service[u] + core.stations[b].service[u]);
                most = std::max(most, (beta + 1) / busiest);
            }
    shuffle_points(dice.random, device.file);
    device.limit_shows = device.issue_limit > 0 && most > 1.02 * device.issue_limit;
    return device;
}

PlantedDevice make_barrier_device(const Scenario& s, std::uint64_t seed) {
    Dice dice(seed);
    PlantedDevice device;
    device.file = empty_file();
    const double intercept = dice.between(20, s.greatest_intercept);
    PlantedInstruction one;
    one.name = "bar.sync";
    one.cpi = dice.log_between(0.5, 8);
    one.latency = one.cpi * dice.log_between(3, 30);
    for (int group = 1; group <= 32; group *= 2)
        for (int groups = 1; groups * group <= 64 && groups <= 32; ++groups) {
            const bool wanted = groups <= 4 || groups % 4 == 0;
            if (!wanted) continue;
            for (const int depth : {64, 128, 256})
                add_point(s, one.name, {group, groups, 1, depth},
                          run_barriers(one.cpi, one.latency, groups, group, depth) + intercept,
                          dice, device.file);
        }
    device.instructions.push_back(one);
    shuffle_points(dice.random, device.file);
    return device;
}

}  // namespace occupipe::test
