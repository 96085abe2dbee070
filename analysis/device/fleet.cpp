// SPDX-License-Identifier: MIT
#include "analysis/device/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analysis/device/outliers.h"
#include "core/error.h"
#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

constexpr std::size_t fewest = 4;
// Of four values with normal errors the standard deviation is this many errors in 6 of a million.
constexpr double far_above_errors = 3;

struct Sample {
    std::size_t member = 0;
    Estimate estimate;
};
// In the order in which the first profile has them.
using Quantities = std::vector<std::pair<std::string, std::vector<Sample>>>;

void add(Quantities& all, const std::string& name, std::size_t member, const Estimate& estimate) {
    if (!estimate.identifiable()) return;
    auto found = std::ranges::find(all, name, [](const auto& one) { return one.first; });
    if (found == all.end()) found = all.insert(all.end(), {name, {}});
    found->second.push_back({member, estimate});
}

void add_quantities(Quantities& all, std::size_t member, const GpuProfile& profile) {
    add(all, "clock [Hz]", member, Estimate{.value = profile.clock_hz});
    if (profile.issue.limit)
        add(all, "issue limit [instructions/cycle]", member,
            Estimate{.value = *profile.issue.limit, .std_error = profile.issue.limit_std_error});
    for (const InstructionTiming& one : profile.instructions) {
        add(all, one.name + " λ per core [cycles]", member, profile.cpi_per_core(one));
        if (one.latency) add(all, one.name + " Λ [cycles]", member, *one.latency);
    }
}

// Says which members do not have what most have.
template <typename Of>
void compare_counts(const char* what, const std::vector<const FleetMember*>& members, const Of& of,
                    std::vector<std::string>& said) {
    std::map<std::int64_t, std::size_t> counts;
    for (const FleetMember* const one : members) ++counts[of(one->profile)];
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
    for (const FleetMember* const one : members)
        if (of(one->profile) != most->first)
            said.push_back(fmt::format("{}: {} {}, {} of {} have {}", one->name, of(one->profile),
                                       what, most->second, members.size(), most->first));
}

void compare_instructions(const std::vector<const FleetMember*>& members,
                          std::vector<std::string>& said) {
    std::map<std::string, std::size_t> counts;
    for (const FleetMember* const one : members)
        for (const InstructionTiming& timing : one->profile.instructions) ++counts[timing.name];
    for (const FleetMember* const one : members) {
        std::string lacking;
        for (const auto& [name, count] : counts)
            if (2 * count > members.size() && !one->profile.find_instruction(name))
                lacking += (lacking.empty() ? "" : ", ") + name;
        if (!lacking.empty())
            said.push_back(fmt::format("{}: no {}, which most have", one->name, lacking));
    }
}

std::vector<FleetOutlier> outliers_in(const std::string& quantity,
                                      const std::vector<Sample>& samples,
                                      const std::vector<const FleetMember*>& members, double level,
                                      double relative) {
    std::vector<double> values;
    std::vector<std::optional<double>> errors;
    for (const Sample& one : samples) {
        values.push_back(one.estimate.value);
        errors.push_back(one.estimate.std_error);
    }
    const double centre = median(values);
    std::vector<FleetOutlier> found;
    const std::vector<Outlier> outliers = find_outliers(values, errors, level);
    for (const Outlier& one : outliers) {
        const double away = values[one.index] / centre - 1;
        if (std::abs(away) < relative) continue;
        found.push_back({.member = members[samples[one.index].member]->name,
                         .quantity = quantity,
                         .value = values[one.index],
                         .std_error = errors[one.index],
                         .median = centre,
                         .spread = spread_about(centre, values),
                         .relative = away,
                         .members = values.size(),
                         .distance = outliers.back().distance,
                         .critical = outliers.back().critical});
    }
    return found;
}

std::optional<FleetSpread> spread_in(const std::string& quantity,
                                     const std::vector<Sample>& samples,
                                     const std::vector<const FleetMember*>& members,
                                     const std::vector<FleetOutlier>& outliers, double relative) {
    std::vector<double> values;
    double squares = 0;
    for (const Sample& one : samples) {
        const std::string& name = members[one.member]->name;
        if (std::ranges::find(outliers, name, &FleetOutlier::member) != outliers.end()) continue;
        const std::optional<double>& error = one.estimate.std_error;
        if (!error || !(*error > 0)) return std::nullopt;
        values.push_back(one.estimate.value);
        squares += *error * *error;
    }
    if (values.size() < fewest) return std::nullopt;
    const auto count = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value / count;
    double variance = 0;
    for (const double value : values) variance += (value - mean) * (value - mean) / (count - 1);
    const auto [least, most] = std::ranges::minmax(values);
    FleetSpread found{.quantity = quantity,
                      .least = least,
                      .most = most,
                      .deviation = std::sqrt(variance),
                      .error = std::sqrt(squares / count),
                      .members = values.size()};
    if (found.deviation <= far_above_errors * found.error) return std::nullopt;
    if (most - least < relative * std::abs(median(values))) return std::nullopt;
    return found;
}

}  // namespace

Fleet examine_fleet(const std::vector<FleetMember>& members, const FleetOptions& options) {
    std::set<std::string> names;
    std::map<std::string, std::vector<const FleetMember*>> by_model;
    for (const FleetMember& one : members) {
        if (!names.insert(one.name).second) throw InputError(one.name + ": is given twice");
        by_model[one.profile.device.name].push_back(&one);
    }
    Fleet fleet;
    std::map<std::string, Quantities> quantities;
    for (const auto& [device, those] : by_model) {
        Quantities& all = quantities[device];
        for (std::size_t i = 0; i < those.size(); ++i) add_quantities(all, i, those[i]->profile);
        for (const auto& [name, samples] : all) fleet.quantities += samples.size() >= fewest;
    }
    fleet.level = fleet.quantities == 0
                      ? options.false_alarms
                      : options.false_alarms / static_cast<double>(fleet.quantities);
    for (const auto& [device, those] : by_model) {
        FleetModel model{.device = device};
        for (const FleetMember* const one : those) model.members.push_back(one->name);
        for (const auto& [name, samples] : quantities[device]) {
            (samples.size() >= fewest ? model.quantities : model.untested) += 1;
            std::vector<FleetOutlier> outliers =
                outliers_in(name, samples, those, fleet.level, options.relative);
            if (const auto spread = spread_in(name, samples, those, outliers, options.relative))
                model.spreads.push_back(*spread);
            std::ranges::move(outliers, std::back_inserter(model.outliers));
        }
        std::ranges::stable_sort(model.outliers, [](const FleetOutlier& a, const FleetOutlier& b) {
            return a.member != b.member ? a.member < b.member
                                        : std::abs(a.relative) > std::abs(b.relative);
        });
        compare_counts(
            "cores", those, [](const GpuProfile& p) { return p.cores; }, model.differences);
        compare_counts(
            "threads of a warp", those, [](const GpuProfile& p) { return p.warp_size; },
            model.differences);
        compare_counts(
            "schedulers of a core", those, [](const GpuProfile& p) { return p.issue.schedulers; },
            model.differences);
        compare_instructions(those, model.differences);
        fleet.models.push_back(std::move(model));
    }
    return fleet;
}

}  // namespace occupipe::analysis
