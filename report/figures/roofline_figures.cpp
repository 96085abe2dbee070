// SPDX-License-Identifier: MIT
#include "report/figures/roofline_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/roofline/device_rates.h"

namespace occupipe::report {
namespace {

using plot::Mark;
using plot::Scale;
using plot::Series;

struct Amount {
    std::string_view instruction;
    double amount;  // FLOP or bytes per lane
};

// A multiply-add counts as two operations, an f16x2 instruction as two of each.
constexpr std::array arithmetic = {
    Amount{"fma.f16x2", 4}, Amount{"fma.f32x4", 8}, Amount{"fma.f32", 2},
    Amount{"mul.f32", 1},   Amount{"add.f32", 1},   Amount{"fma.f64x2", 4},
    Amount{"fma.f64", 2},   Amount{"mul.f64", 1},   Amount{"add.f64", 1}};
constexpr std::array streaming = {Amount{"ld.global.f32", 4}, Amount{"ld.global.u32", 4},
                                  Amount{"ld.global.s32", 4}, Amount{"ld.global.v4.f32", 16}};

template <class Amounts>
std::vector<Peak> peaks(const GpuProfile& profile, const Amounts& amounts) {
    std::vector<Peak> found;
    for (const Amount& a : amounts)
        if (const auto rate = analysis::device_throughput(profile, a.instruction, a.amount))
            found.push_back({std::string(a.instruction), rate->value});
    std::ranges::stable_sort(found, std::ranges::greater{}, &Peak::per_second);
    return found;
}

struct KnownKernel {
    std::string_view name;
    double intensity;  // FLOP per byte of global memory, 4-byte elements, each moved once
};
// Per element: one addition for three accesses; a multiply-add for three and for two; five
// multiply-adds for two; 16 multiply-adds for two (tiles of 16 × 16 in shared memory).
constexpr std::array kernels = {KnownKernel{"vector add", 1.0 / 12}, KnownKernel{"saxpy", 2.0 / 12},
                                KnownKernel{"dot product", 2.0 / 8},
                                KnownKernel{"5-point stencil", 10.0 / 8},
                                KnownKernel{"matrix product in 16 × 16 tiles", 32.0 / 8}};

// Measured mixes of multiply-adds with streaming loads: β multiply-adds per load.
Series measured_mixes(const GpuProfile& profile, const std::vector<MixFit>& mixes) {
    Series series{"measured: β fma.f32, one load", Mark::points, 1, {}};
    const double lanes = profile.warp_size * static_cast<double>(profile.cores);
    for (const MixFit& mix : mixes) {
        const auto load = std::ranges::find(streaming, mix.second, &Amount::instruction);
        if (mix.first != "fma.f32" || load == streaming.end()) continue;
        for (const MixPoint& p : mix.points) {
            const double rate = p.per_cycle * 2 * lanes * profile.clock_hz * 1e-9;
            series.points.push_back(
                {2 * p.beta / load->amount, rate, rate * p.relative_error, std::nullopt});
        }
    }
    return series;
}

}  // namespace

std::vector<Peak> compute_peaks(const GpuProfile& profile) { return peaks(profile, arithmetic); }

std::optional<Peak> memory_peak(const GpuProfile& profile) {
    const auto found = peaks(profile, streaming);
    if (found.empty()) return std::nullopt;
    return found.front();
}

plot::Picture roofline_picture(const GpuProfile& profile, const std::vector<MixFit>& mixes) {
    const std::vector<Peak> compute = compute_peaks(profile);
    const double bandwidth = memory_peak(profile)->per_second;
    plot::Figure figure{.title = "",
                        .x = {"operational intensity in FLOP/byte", Scale::log2},
                        .y = {"GFLOP/s", Scale::log10},
                        .key = plot::Key::outside};
    const Series measured = measured_mixes(profile, mixes);
    const double ridge = compute.front().per_second / bandwidth;
    double low = std::min(1.0 / 16, ridge / 4);
    double high = std::max(16.0, 8 * ridge);
    for (const plot::Point& p : measured.points) {
        low = std::min(low, p.x);
        high = std::max(high, p.x);
    }
    int style = 0;
    for (const Peak& peak : compute) {
        const double corner = peak.per_second / bandwidth;
        Series roof{fmt::format("{}: {:.4g} GFLOP/s", peak.instruction, peak.per_second),
                    Mark::line,
                    (style += 2) % plot::style_count,
                    {}};
        // Left of the corner all roofs are the fastest one's.
        if (&peak == &compute.front()) roof.points.push_back({low, low * bandwidth});
        roof.points.push_back({corner, peak.per_second});
        roof.points.push_back({high, peak.per_second});
        figure.series.push_back(roof);
    }
    Series attainable{"kernels by the model", Mark::points, 0, {}};
    for (const KnownKernel& kernel : kernels) {
        const double rate = std::min(kernel.intensity * bandwidth, compute.front().per_second);
        attainable.points.push_back({kernel.intensity, rate});
        figure.labels.push_back({kernel.intensity, rate, std::string(kernel.name), false, true});
    }
    figure.series.push_back(attainable);
    if (!measured.points.empty()) figure.series.push_back(measured);
    return {.description =
                fmt::format("Roofline of {}: the diagonal is {:.4g} GB/s ({}).",
                            profile.device.name, bandwidth, memory_peak(profile)->instruction),
            .panels = {figure},
            .width = 900,
            .height = 460};
}

plot::Picture textbook_quadrants(const std::vector<GpuProfile>& devices) {
    plot::Figure figure{.title = "",
                        .x = {"memory bandwidth in GB/s"},
                        .y = {"compute throughput in GFLOP/s"},
                        .key = plot::Key::outside};
    double most_memory = 0;
    double most_compute = 0;
    Series points{"devices", Mark::points, 0, {}};
    for (const GpuProfile& device : devices) {
        const auto memory = memory_peak(device);
        const auto compute = compute_peaks(device);
        if (!memory || compute.empty()) continue;
        points.points.push_back({memory->per_second, compute.front().per_second});
        figure.labels.push_back(
            {memory->per_second, compute.front().per_second, device.device.name});
        most_memory = std::max(most_memory, memory->per_second);
        most_compute = std::max(most_compute, compute.front().per_second);
    }
    const double right = 1.3 * most_memory;
    for (plot::Label& label : figure.labels) label.left = label.x > right / 2;
    const double top = 1.2 * most_compute;
    int style = 1;
    for (const KnownKernel& kernel : kernels) {
        const double end = std::min(right, top / kernel.intensity);
        figure.series.push_back(
            {fmt::format("{} ({:.3g} FLOP/byte)", kernel.name, kernel.intensity),
             Mark::line,
             style,
             {{0, 0}, {end, end * kernel.intensity}}});
        style += 4;
    }
    figure.series.push_back(points);
    figure.x.low = 0;
    figure.x.high = right;
    figure.y.low = 0;
    figure.y.high = top;
    return {.description =
                "Quadrant split: a device above a kernel's half-line runs it limited by "
                "memory, one below it by compute.",
            .panels = {figure},
            .width = 900,
            .height = 440};
}

}  // namespace occupipe::report
