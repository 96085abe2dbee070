// SPDX-License-Identifier: MIT
#include "analysis/roofline/intensity_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "analysis/roofline/device_rates.h"

namespace occupipe::analysis {
namespace {

struct Amount {
    std::string_view instruction;
    double each;  // operations, or bytes, per lane
};
constexpr std::array operations = {Amount{"fma.f32", 2}, Amount{"fma.f64", 2}, Amount{"mad.s32", 2},
                                   Amount{"fma.f16x2", 4}};
constexpr std::array loads = {Amount{"ld.global.f32", 4}, Amount{"ld.global.v4.f32", 16}};

template <class Table>
const Amount* find(const Table& table, std::string_view name) {
    const auto found = std::ranges::find(table, name, &Amount::instruction);
    return found == table.end() ? nullptr : &*found;
}

}  // namespace

IntensitySweep intensity_sweep(const std::vector<MixFit>& mixes, const GpuProfile& profile) {
    IntensitySweep sweep;
    const double lanes = static_cast<double>(profile.warp_size) * profile.cores;
    constexpr double giga = 1e9;
    for (const MixFit& mix : mixes) {
        const Amount* const operation = find(operations, mix.first);
        const Amount* const load = find(loads, mix.second);
        if (operation == nullptr || load == nullptr) continue;
        const auto compute = device_throughput(profile, mix.first, operation->each);
        const auto memory = device_throughput(profile, mix.second, load->each);
        if (!compute || !memory) {
            sweep.left_out.push_back(
                fmt::format("{} with {}: the profile does not determine λ of {}", mix.first,
                            mix.second, compute ? mix.second : mix.first));
            continue;
        }
        std::map<int, const MixPoint*> best;  // by β
        for (const MixPoint& point : mix.points) {
            const MixPoint*& kept = best[point.beta];
            if (kept == nullptr || point.per_cycle > kept->per_cycle) kept = &point;
        }
        for (const auto& [beta, point] : best) {
            const double rate = point->per_cycle * operation->each * lanes * profile.clock_hz;
            const double intensity = beta * operation->each / load->each;
            const double from_memory = intensity * memory->value * giga;
            const double from_compute = compute->value * giga;
            sweep.points.push_back({.operation = mix.first,
                                    .load = mix.second,
                                    .beta = beta,
                                    .intensity = intensity,
                                    .measured = rate,
                                    .measured_error = rate * point->relative_error,
                                    .predicted = std::min(from_memory, from_compute),
                                    .memory_bound = from_memory <= from_compute});
        }
    }
    std::ranges::stable_sort(sweep.points, {}, [](const IntensityPoint& point) {
        return std::tuple(std::string_view(point.operation), std::string_view(point.load),
                          point.beta);
    });
    return sweep;
}

double mean_error(const std::vector<IntensityPoint>& points) {
    double sum = 0;
    for (const IntensityPoint& point : points)
        sum += std::abs(point.predicted - point.measured) / point.measured;
    return 100 * sum / static_cast<double>(points.size());
}

}  // namespace occupipe::analysis
