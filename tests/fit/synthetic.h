// SPDX-License-Identifier: MIT
// Synthetic measurements with known truth: the hull's t(W), or the tests' own event simulation,
// with multiplicative noise, in the form in which files are read.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace occupipe::test {

struct Truth {
    std::string name;
    double cpi = 1;
    double latency = 1;
};

// The GTX 1060's published values (Table 5 of the analysis paper, Pascal).
inline std::vector<Truth> gtx_1060() {
    return {{"cos.approx.f32", 1, 15}, {"mul.f32", 0.25, 6},   {"mul.f64", 8, 43},
            {"mul.s32", 0.75, 12},     {"div.f32", 0.75, 18},  {"div.f64", 47, 376},
            {"div.s32", 5, 100},       {"bar.sync", 2.25, 70}, {"ld.global.s32", 12, 345},
            {"ld.shared.s32", 1, 25}};
}

// docs/background/pipeline-model.md, "The boat hull", its two cases written out as there (not as
// the fitter has them).
inline double hull_time(const Truth& truth, const MeasurementShape& s) {
    const double m = static_cast<double>(s.warps()) * s.chains;
    const double n = static_cast<double>(s.depth);
    if (m <= truth.latency / truth.cpi) return n * truth.latency + (m - 1) * truth.cpi;
    return truth.latency + (n * m - 1) * truth.cpi;
}

inline double barrier_time(const Truth& truth, const MeasurementShape& s) {
    const double g = s.group_warps;
    const double w = s.warps();
    const double n = static_cast<double>(s.depth);
    const double alone = truth.latency + (g - 1) * truth.cpi;
    return truth.latency + (w - 1) * truth.cpi + (n - 1) * std::max(alone, w * truth.cpi);
}

inline double time_of(const Truth& truth, const MeasurementShape& s) {
    return truth.name == "bar.sync" ? barrier_time(truth, s) : hull_time(truth, s);
}

// Group sizes that are powers of two, every number of concurrent groups that fits.
inline std::vector<MeasurementShape> gpu_shapes(int max_warps = 64, int max_groups = 32,
                                                int max_group_warps = 32) {
    std::vector<MeasurementShape> shapes;
    for (int g = 1; g <= max_group_warps; g *= 2)
        for (int y = 1; y <= max_groups && g * y <= max_warps; ++y)
            for (const int depth : {512, 1024, 2048}) shapes.push_back({g, y, 1, depth});
    return shapes;
}

struct Noise {
    double relative = 0.02;
    int repetitions = 5;
    double outlier_share = 0;
    double outlier_factor = 3;
};

using TimeLaw = std::function<double(const MeasurementShape&)>;

inline MeasurementRow row_of(const std::string& subject, const MeasurementShape& shape,
                             double cycles, int repetition) {
    MeasurementRow row;
    row.subject = subject;
    row.shape = shape;
    row.repetition = repetition;
    row.cycles = cycles;
    row.clock_hz = 1.5e9;
    row.seconds = cycles / 1.5e9;
    return row;
}

// As `measure` does: points in random order, the repetitions of each one after the other.
inline void add_rows(MeasurementFile& file, const std::string& subject,
                     const std::vector<MeasurementShape>& shapes, const TimeLaw& law,
                     const Noise& noise, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<std::vector<MeasurementRow>> points;
    for (const MeasurementShape& shape : shapes) {
        std::vector<MeasurementRow>& rows = points.emplace_back();
        for (int r = 0; r < noise.repetitions; ++r) {
            double t = law(shape) * (1 + noise.relative * normal(random));
            if (uniform(random) < noise.outlier_share) t *= noise.outlier_factor;
            rows.push_back(row_of(subject, shape, t, r));
        }
    }
    std::mt19937_64 order(shapes.size());
    std::ranges::shuffle(points, order);
    for (const std::vector<MeasurementRow>& rows : points)
        file.rows.insert(file.rows.end(), rows.begin(), rows.end());
}

// Facts of a device, as `measure` writes them.
inline MeasurementFile empty_file() {
    MeasurementFile file;
    file.path = "synthetic.json";
    file.content_hash = "xxh128:00000000000000000000000000000000";
    file.context = {{"device_name", "Synthetic GPU"},
                    {"device_vendor", "Test"},
                    {"device_architecture", "Pascal"},
                    {"backend", "cuda"},
                    {"cores", "10"},
                    {"warp_size", "32"},
                    {"clock_hz", "1500000000"},
                    {"clock_source", "given by the test"},
                    {"date", "2026-01-01"}};
    return file;
}

// The file as `measure` writes it (Google Benchmark's JSON), up to its first row.
inline std::string json_head(const MeasurementFile& file) {
    std::string out = "{\"context\": {";
    const char* separator = "";
    for (const auto& [key, value] : file.context) {
        out += fmt::format("{}\"{}\": \"{}\"", separator, key, value);
        separator = ", ";
    }
    return out + "}, \"benchmarks\": [";
}

// Rows, separated from each other and, by `separator`, from what stands before.
inline std::string json_rows(const std::vector<MeasurementRow>& rows, const char* separator) {
    std::string out;
    for (const MeasurementRow& row : rows) {
        out += fmt::format(
            "{}{{\"name\": \"{}\", \"run_type\": \"iteration\", \"repetition_index\": {}, "
            "\"real_time\": {:.9e}, \"time_unit\": \"ns\", \"group_warps\": {}, "
            "\"concurrent_groups\": {}, \"chains\": {}, \"depth\": {}",
            separator, row.name(), row.repetition, row.seconds * 1e9, row.shape.group_warps,
            row.shape.concurrent_groups, row.shape.chains, row.shape.depth);
        if (row.cycles) out += fmt::format(", \"cycles\": {:.9e}", *row.cycles);
        if (row.clock_hz) out += fmt::format(", \"clock_hz\": {:.9e}", *row.clock_hz);
        if (row.error)
            out += fmt::format(", \"error_occurred\": true, \"error_message\": \"{}\"", *row.error);
        row.counters.for_each([&](const std::string& name, double value) {
            out += fmt::format(", \"{}\": {}", name, value);
        });
        out += "}";
        separator = ",\n";
    }
    return out;
}

inline constexpr const char* json_end = "\n]}\n";

inline std::string json_text(const MeasurementFile& file) {
    return json_head(file) + json_rows(file.rows, "\n") + json_end;
}

}  // namespace occupipe::test
