// SPDX-License-Identifier: MIT
#include "analysis/device/smoke.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/statistics.h"
#include "published/published.h"

namespace occupipe::analysis {
namespace {

constexpr std::array<std::string_view, 20> instructions = {"fma.f32",
                                                           "add.f32",
                                                           "mul.f32",
                                                           "add.s32",
                                                           "mad.s32",
                                                           "xor.b32",
                                                           "fma.f64",
                                                           "fma.f16x2",
                                                           "shfl.sync.idx.b32",
                                                           "popc.b32",
                                                           "ex2.approx.ftz.f32",
                                                           "rsqrt.approx.ftz.f32",
                                                           "setp.lt.s32",
                                                           "ld.shared.u32",
                                                           "ld.global.l1.u32",
                                                           "ld.global.l2.u32",
                                                           "ld.global.u32",
                                                           "bar.sync",
                                                           "mma.m16n8k16.f32.f16",
                                                           "wgmma.m64n256k16.f32.f16"};

// Fixed latencies: the compiler's own stall counts in the machine code, which hold the hardware to
// them. `explain INSTRUCTION --arch` counts them anew.
struct StallCount {
    std::string_view capability;
    std::string_view instruction;
    double cycles;
};
constexpr std::array stall_counts = {
    StallCount{"9.0", "fma.f32", 4}, StallCount{"9.0", "add.f32", 4},
    StallCount{"9.0", "mul.f32", 4}, StallCount{"9.0", "mad.s32", 4},
    StallCount{"9.0", "fma.f64", 8},
};

// The figures' range, widened by what recipes differ by.
std::optional<SmokeRange> range_of(const std::vector<PublishedFigure>& figures, double low,
                                   double high) {
    if (figures.empty()) return std::nullopt;
    const auto [least, most] = span_of(figures);
    return SmokeRange{least * low, most * high, citation(figures.front())};
}

// How far from the expected range is no longer a matter of recipe.
constexpr double too_small = 0.8;
constexpr double too_large = 2;
// λ beside NVIDIA's throughput, Λ beside other people's: a slope has the loop's own instructions in
// it, and walks differ in their recipes.
constexpr double cpi_low = 0.97, cpi_high = 1.2;
constexpr double stall_low = 0.99, stall_high = 1.08;
constexpr double latency_low = 0.75, latency_high = 1.25;
// The middle one of three depths may lie this far from the line through the others, as a part of
// the whole rise.
constexpr double most_bend = 0.1;
// Rows of one GPU that is not being throttled. An H100's clock falls by a seventh while its matrix
// units are busy, unseen by the driver's readings.
constexpr double most_clock_change = 0.2;

struct Line {
    double slope = 0;  // cycles per step
    double bend = 0;
};

// Cycles by depth of one shape of one instruction.
using Curve = std::map<std::int64_t, std::vector<double>>;

std::optional<Line> line_of(const Curve& curve) {
    if (curve.size() < 2) return std::nullopt;
    const auto first = *curve.begin();
    const auto last = *curve.rbegin();
    const double low = median(first.second);
    const double rise = median(last.second) - low;
    const auto run = static_cast<double>(last.first - first.first);
    Line line{.slope = rise / run};
    for (const auto& [depth, cycles] : curve) {
        const double straight = low + line.slope * static_cast<double>(depth - first.first);
        line.bend = std::max(line.bend, std::abs(median(cycles) - straight) / std::abs(rise));
    }
    return line;
}

struct Device {
    bool cpu = false;
    bool nvidia = false;
    std::string capability;
    double warp_size = 1;

    explicit Device(const MeasurementFile& file) {
        const auto fact = [&](const char* key) {
            const auto found = file.context.find(key);
            return found == file.context.end() ? std::string() : found->second;
        };
        cpu = fact("device_type") == "cpu";
        nvidia = fact("device_vendor").find("NVIDIA") != std::string::npos;
        capability = fact("compute_capability");
        const double width = std::atof(fact("warp_size").c_str());
        if (width > 0) warp_size = width;
    }

    // No device at hand does more: sixteen instructions a cycle, on NVIDIA's four schedulers four.
    double least_cpi() const { return nvidia ? 0.24 : 1.0 / 16; }
    // A dependent result in less than half a cycle (a CPU's clock is not read in the kernel).
    double least_latency() const { return cpu ? 0.4 : 0.9; }
};

struct Subject {
    std::map<std::pair<int, int>, Curve> shapes;  // by warps and chains
    std::optional<std::string> error;             // of its first failed row
};

class Judge {
public:
    explicit Judge(const MeasurementFile& file) : file_(file), device_(file) {}

    SmokeVerdict judge() {
        collect();
        check_clock();
        for (const std::string& name : order_) judge_subject(name);
        if (order_.empty()) verdict_.faults.push_back("the file contains no measurement");
        return std::move(verdict_);
    }

private:
    void collect() {
        for (const MeasurementRow& row : file_.rows) {
            if (!subjects_.contains(row.subject)) order_.push_back(row.subject);
            Subject& subject = subjects_[row.subject];
            if (row.error) {
                if (!subject.error) subject.error = fmt::format("{}: {}", row.name(), *row.error);
                continue;
            }
            if (row.clock_hz) clocks_.push_back(*row.clock_hz);
            // A row without cycles is an error only where others of its subject have some.
            if (row.cycles) {
                subject.shapes[{row.shape.warps(), row.shape.chains}][row.shape.depth].push_back(
                    *row.cycles);
            }
        }
    }

    void check_clock() {
        if (clocks_.empty()) {
            verdict_.faults.push_back("no row has a measured core clock");
            return;
        }
        const auto [low, high] = std::ranges::minmax(clocks_);
        if (!(low >= 1e7 && high <= 1e11)) {
            verdict_.faults.push_back(fmt::format(
                "the core clock reads {:.4g} to {:.4g} Hz: no processor has that", low, high));
        } else if (!device_.cpu && high > low * (1 + most_clock_change)) {
            verdict_.faults.push_back(fmt::format(
                "the core clock varied between {:.4g} and {:.4g} Hz from row to row", low, high));
        }
    }

    std::optional<SmokeRange> expected_latency(const std::string& name) const {
        if (!device_.nvidia) return std::nullopt;
        for (const StallCount& one : stall_counts) {
            if (one.instruction != name || one.capability != device_.capability) continue;
            return SmokeRange{one.cycles * stall_low, one.cycles * stall_high,
                              "stall count in the machine code"};
        }
        return range_of(built_in_published().latency(device_.capability, name), latency_low,
                        latency_high);
    }

    std::optional<SmokeRange> expected_cpi(const std::string& name) const {
        if (!device_.nvidia) return std::nullopt;
        // Three different registers come from two banks, one of each per cycle (docs/background/
        // gpu-runs.md).
        const double ports = name == "fma.f32" ? 2 : name == "fma.f64" ? 1.5 : 1;
        return range_of(
            built_in_published().cpi(device_.capability, name, static_cast<int>(device_.warp_size)),
            cpi_low, cpi_high * ports);
    }

    void judge_subject(const std::string& name) {
        const Subject& subject = subjects_.at(name);
        if (subject.error) {
            verdict_.figures.push_back({.instruction = name, .quantity = "Λ", .fault = "failed"});
            verdict_.faults.push_back(*subject.error);
            return;
        }
        if (subject.shapes.empty()) {
            verdict_.figures.push_back(
                {.instruction = name, .quantity = "Λ", .fault = "no cycles"});
            verdict_.faults.push_back(fmt::format("{}: its rows have no cycles", name));
            return;
        }
        const auto& [least, alone] = *subject.shapes.begin();
        const auto& [most, full] = *subject.shapes.rbegin();
        const auto latency =
            figure(name, "Λ", alone, 1, device_.least_latency(), expected_latency(name));
        if (least == most) return;
        const auto cpi = figure(name, "λ", full, most.first * most.second, device_.least_cpi(),
                                expected_cpi(name));
        const bool grouped = least.first > 1;  // several warps make one instruction
        if (latency && cpi && !grouped && *cpi > 1.25 * *latency) {
            fault(
                fmt::format("an instruction takes longer with others ({:.3g} cycles each) than "
                            "alone ({:.3g})",
                            *cpi, *latency));
        }
    }

    void fault(const std::string& why) {
        SmokeFigure& figure = verdict_.figures.back();
        if (figure.fault.empty()) figure.fault = why;
        verdict_.faults.push_back(
            fmt::format("{}: {}: {}", figure.instruction, figure.quantity, why));
    }

    std::optional<double> figure(const std::string& name, const char* quantity, const Curve& curve,
                                 int together, double least,
                                 const std::optional<SmokeRange>& expected) {
        verdict_.figures.push_back(
            {.instruction = name, .quantity = quantity, .expected = expected});
        SmokeFigure& figure = verdict_.figures.back();
        const auto line = line_of(curve);
        if (!line) {
            fault("fewer than two depths");
            return std::nullopt;
        }
        const double value = line->slope / together;
        if (!std::isfinite(value) || value <= 0) {
            fault("more steps do not take more cycles");
            return std::nullopt;
        }
        figure.measured = value;
        if (!device_.cpu && line->bend > most_bend) {
            fault(
                fmt::format("the time does not grow with the depth in a straight line ({:.0f} % "
                            "off)",
                            100 * line->bend));
        } else if (value < least) {
            fault(fmt::format("{:.3g} cycles: no hardware is that fast; instructions were lost",
                              value));
        } else if (expected &&
                   (value < too_small * expected->low || value > too_large * expected->high)) {
            fault(fmt::format("{:.4g} cycles, expected {:.4g} to {:.4g} ({})", value, expected->low,
                              expected->high, expected->source));
        } else if (expected && (value < expected->low || value > expected->high)) {
            figure.notice = "outside of what is expected";
        }
        return value;
    }

    const MeasurementFile& file_;
    Device device_;
    std::map<std::string, Subject> subjects_;
    std::vector<std::string> order_;  // of first appearance
    std::vector<double> clocks_;
    SmokeVerdict verdict_;
};

}  // namespace

std::vector<std::string_view> smoke_instructions() {
    return {instructions.begin(), instructions.end()};
}

SmokeVerdict judge_smoke(const MeasurementFile& file) { return Judge(file).judge(); }

}  // namespace occupipe::analysis
