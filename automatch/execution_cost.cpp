// SPDX-License-Identifier: MIT
#include "automatch/execution_cost.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "core/error.h"
#include "core/suggestions.h"

namespace occupipe::automatch {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// Doubles and singles have rates of their own.
struct Rates {
    double f64 = 0;
    double f32 = 0;
};

Rates rates_of(const Workload& workload, const Device& device, CostModel model,
               std::vector<std::string>& remarks) {
    const bool literal = model == CostModel::literal;
    if (workload.operations.single_precision > 0 && literal)
        remarks.emplace_back("single precision counts as double: the paper has one rate");
    else if (workload.operations.single_precision > 0 && !device.f32_flops)
        remarks.emplace_back("f32_flops_per_second is not known: taken as that of doubles");
    return {device.flops, literal ? device.flops : device.f32_flops.value_or(device.flops)};
}

// Σ over levels of the time of a level whose operations its processors share.
double level_seconds(const Schedule& schedule, const Device& device, const Rates& rates) {
    double sum = 0;
    for (const LevelWidth& width : schedule.widths) {
        const double operations = real(width.f64) + real(width.f32);
        if (operations == 0) continue;
        const double one = real(width.f64) / rates.f64 + real(width.f32) / rates.f32;
        sum += real(width.levels) * one / std::min(operations, device.processors);
    }
    return sum;
}

// Loads and stores at the granularity of the device's lines, or at the next finer one.
const ReuseDistances* lines_of(const Workload& workload, double line_bytes) {
    const ReuseDistances* best = nullptr;
    for (const ReuseDistances& one : workload.reuse)
        if (real(one.unit_bytes) <= line_bytes &&
            (best == nullptr || one.unit_bytes > best->unit_bytes))
            best = &one;
    return best;
}

constexpr std::int64_t word_bytes = 8;
constexpr const char* without_words =
    "the workload has no stack distances of words (reuse with unit_bytes: 8)";
constexpr const char* without_synchronisations =
    "the number of synchronisations is not known; give it with --sync";

// Equations 1 to 5.
Cost literal(const Workload& workload, const Device& device) {
    Cost cost;
    const Operations& o = workload.operations;
    const Schedule& schedule = workload.as_written();
    const ReuseDistances* const words = workload.reuse_of(word_bytes);
    if (words == nullptr) return cost.silent = without_words, cost;
    if (!workload.synchronisations) return cost.silent = without_synchronisations, cost;
    const Rates rates = rates_of(workload, device, CostModel::literal, cost.remarks);
    if (o.total > 0) {
        const double greater = real(std::max(o.additions, o.multiplications));
        if (greater == 0)
            return cost.silent =
                       "there is neither an addition nor a multiplication: equation 1 "
                       "is 0/0",
                   cost;
        if (o.vectorisable == 0)
            return cost.silent = "no operation can be vectorised: equation 3 is infinite", cost;
        const double mix = real(o.additions + o.multiplications) / (2 * greater);
        const double vectors = real(o.vectorisable) / real(o.total);
        cost.computation = real(schedule.depth) / device.flops +
                           level_seconds(schedule, device, rates) / (vectors * mix);
    }
    const double capacity = std::floor(device.fast_bytes / real(word_bytes));
    const double fast = below(words->distances, capacity + 1);  // "less or equal"
    const double slow = real(words->references) - fast;
    cost.memory = (device.fast_latency + device.slow_latency) * real(schedule.depth) +
                  (fast / device.fast_bandwidth + slow / device.slow_bandwidth) * device.line_bytes;
    cost.synchronisation = real(*workload.synchronisations) * device.synchronisation;
    cost.seconds = cost.computation + cost.memory + cost.synchronisation;
    return cost;
}

Cost corrected(const Workload& workload, const Device& device) {
    Cost cost;
    const Operations& o = workload.operations;
    const Schedule& schedule = workload.best_schedule();
    const ReuseDistances* const lines = lines_of(workload, device.line_bytes);
    if (lines == nullptr)
        return cost.silent = fmt::format(
                   "the workload has no stack distances of units of at most "
                   "{} bytes",
                   device.line_bytes),
               cost;
    if (!workload.synchronisations) return cost.silent = without_synchronisations, cost;
    if (!device.vector_width && o.vectorisable < o.total)
        return cost.silent =
                   "the profile lacks match.vector_width, and not all operations can be "
                   "vectorised",
               cost;
    const Rates rates = rates_of(workload, device, CostModel::corrected, cost.remarks);
    if (o.total > 0) {
        const double scalar = real(o.total - o.vectorisable);
        const double vectors =
            (real(o.vectorisable) + device.vector_width.value_or(1) * scalar) / real(o.total);
        // A peak counts two operations for a pair that fuses; what has no partner takes a turn.
        const double turns = 2 * real(o.total - o.fused_pairs) / real(o.total);
        cost.computation = real(schedule.depth) / device.flops +
                           level_seconds(schedule, device, rates) * vectors * turns;
    }
    const double unit = real(lines->unit_bytes);
    const double capacity = std::floor(device.fast_bytes / unit);
    const double fast = below(lines->distances, capacity);
    const double slow = real(lines->references) - fast;
    double reached = real(schedule.first_reach);
    for (const DistanceCount& c : schedule.reach) reached += real(c.count);
    const double fast_levels =
        below(schedule.reach, std::floor(device.fast_bytes / real(word_bytes)));
    cost.memory = device.fast_latency * reached + device.slow_latency * (reached - fast_levels) +
                  (fast / device.fast_bandwidth + slow / device.slow_bandwidth) * unit;
    cost.synchronisation = real(*workload.synchronisations) * device.synchronisation;
    cost.seconds = std::max(cost.computation, cost.memory) + cost.synchronisation;
    return cost;
}

// All operations at the device's full rate, and what the fast memory cannot hold read once. Depth
// bounds nothing: sums can be trees, and recurrences scans.
Cost lower_bound(const Workload& workload, const Device& device) {
    Cost cost;
    const Operations& o = workload.operations;
    if (o.single_precision > 0 && !device.f32_flops)
        return cost.silent = "the profile lacks match.f32_flops_per_second", cost;
    const Rates rates{device.flops, device.f32_flops.value_or(device.flops)};
    if (o.total > 0) {
        // A peak counts two operations a turn, of different kinds: one kind alone reaches half. Of
        // which precision the kinds are is not told where there are both.
        const bool both = o.single_precision > 0 && o.single_precision < o.total;
        const double kind = real(
            std::max({o.additions, o.multiplications, o.divisions, o.square_roots, o.functions}));
        const double turns = both ? 1 : std::max(1.0, 2 * kind / real(o.total));
        cost.computation = (real(o.total - o.single_precision) / rates.f64 +
                            real(o.single_precision) / rates.f32) *
                           turns / device.processors;
    }
    if (const ReuseDistances* const lines = lines_of(workload, device.line_bytes))
        cost.memory =
            std::max(0.0, real(lines->first) * real(lines->unit_bytes) - device.fast_bytes) /
            device.slow_bandwidth;
    cost.seconds = std::max(cost.computation, cost.memory);
    return cost;
}

constexpr std::array<CostModelName, 3> models = {{
    {CostModel::literal, "automatch", "the paper's equations 1 to 5, word for word"},
    {CostModel::corrected, "automatch-corrected",
     "vectors by Amdahl's law, pairs that fuse, latency where something is missed, whole lines"},
    {CostModel::bound, "automatch-bound", "only what no implementation can beat"},
}};

Cost cost_by(const Workload& workload, const Device& device, CostModel model) {
    switch (model) {
        case CostModel::literal:
            return literal(workload, device);
        case CostModel::corrected:
            return corrected(workload, device);
        case CostModel::bound:
            break;
    }
    return lower_bound(workload, device);
}

}  // namespace

std::span<const CostModelName> cost_models() { return models; }

std::string_view to_string(CostModel model) {
    return std::ranges::find(models, model, &CostModelName::model)->name;
}

CostModel cost_model(std::string_view name) {
    std::vector<std::string> names;
    for (const CostModelName& one : models) {
        if (one.name == name) return one.model;
        names.emplace_back(one.name);
    }
    throw InputError(
        fmt::format("--model {}: there are {}, and all", name, fmt::join(names, ", ")));
}

std::string_view Cost::bottleneck() const {
    if (synchronisation >= computation && synchronisation >= memory && synchronisation > 0)
        return "synchronisation";
    return memory > computation ? "memory" : "computation";
}

Cost execution_cost(const Workload& workload, const Device& device, CostModel model) {
    Cost cost = cost_by(workload, device, model);
    if (cost.seconds && !std::isfinite(*cost.seconds)) {
        cost.seconds.reset();
        cost.silent = "the time is larger than numbers here can be";
    }
    return cost;
}

std::vector<Sensitivity> sensitivity(const Workload& workload, const GpuProfile& profile,
                                     CostModel model) {
    constexpr double step = 0.01;
    const Device device = device_of(profile);
    const Cost cost = execution_cost(workload, device, model);
    std::vector<Sensitivity> all;
    if (!cost.seconds || *cost.seconds <= 0) return all;
    for (const DeviceNumber& number : device_numbers()) {
        // Of the others, lines are those that were counted.
        if (number.value == &Device::line_bytes && model != CostModel::literal) continue;
        Device less = device;
        Device more = device;
        less.*number.value /= 1 + step;
        more.*number.value *= 1 + step;
        const auto low = execution_cost(workload, less, model).seconds;
        const auto high = execution_cost(workload, more, model).seconds;
        if (!low || !high || *low <= 0 || *high <= 0) continue;
        Sensitivity one{.symbol = number.symbol,
                        .exponent = std::log(*high / *low) / (2 * std::log1p(step)),
                        .std_error = {}};
        if (std::abs(one.exponent) < 1e-9) one.exponent = 0;
        if (number.estimate == nullptr) {
            one.std_error = 0;  // counted, or told by the maker
        } else if (const auto& estimate = profile.match.*number.estimate;
                   estimate && estimate->std_error) {
            one.std_error =
                std::abs(one.exponent) * *cost.seconds * *estimate->std_error / estimate->value;
        }
        all.push_back(one);
    }
    return all;
}

std::optional<double> standard_error(const std::vector<Sensitivity>& all) {
    if (all.empty()) return std::nullopt;
    double squares = 0;
    for (const Sensitivity& one : all) {
        if (one.exponent == 0) continue;
        if (!one.std_error) return std::nullopt;
        squares += *one.std_error * *one.std_error;
    }
    return std::sqrt(squares);
}

Split split(std::span<const double> costs) {
    if (costs.empty()) throw std::invalid_argument("nothing to split over");
    double inverse = 0;
    for (const double cost : costs) {
        if (!(cost > 0) || !std::isfinite(cost))
            throw std::invalid_argument("a cost is not positive and finite");
        inverse += 1 / cost;
    }
    Split result;
    for (const double cost : costs) result.shares.push_back(1 / cost / inverse);
    result.seconds = 1 / inverse;
    result.gain =
        *std::ranges::max_element(costs) / static_cast<double>(costs.size()) / result.seconds;
    return result;
}

}  // namespace occupipe::automatch
