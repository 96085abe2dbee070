// SPDX-License-Identifier: MIT
#include "fit/laws/fit_working_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "fit/curves/counters.h"
#include "fit/curves/curve.h"
#include "fit/curves/step_time.h"

namespace occupipe {
namespace {

constexpr std::size_t fewest_for_a_level = 3;
// Plateaus of real caches are not flat to their timer's noise.
constexpr double plateau_roughness = 0.01;

struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Weighted sums over points 0…i of log latency, for the cost of any piece in constant time.
class PieceCost {
public:
    PieceCost(std::span<const double> values, std::span<const double> errors) {
        w_.push_back(0);
        wy_.push_back(0);
        wyy_.push_back(0);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double w = 1 / (errors[i] * errors[i]);
            w_.push_back(w_.back() + w);
            wy_.push_back(wy_.back() + w * values[i]);
            wyy_.push_back(wyy_.back() + w * values[i] * values[i]);
        }
    }
    double operator()(std::size_t begin, std::size_t end) const {
        const double y = wy_[end] - wy_[begin];
        return std::max(0.0, wyy_[end] - wyy_[begin] - y * y / weight(begin, end));
    }
    double weight(std::size_t begin, std::size_t end) const { return w_[end] - w_[begin]; }
    double mean(std::size_t begin, std::size_t end) const {
        return (wy_[end] - wy_[begin]) / weight(begin, end);
    }

private:
    std::vector<double> w_, wy_, wyy_;
};

std::vector<Piece> best_pieces(const PieceCost& cost, std::size_t n) {
    // Two parameters per piece (its mean and its end), Schwarz' log(n) each, twice over against
    // the many places where an end may lie.
    const double penalty = 4 * std::log(static_cast<double>(n));
    std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
    std::vector<std::size_t> from(n + 1, 0);
    best[0] = 0;
    for (std::size_t end = 1; end <= n; ++end)
        for (std::size_t begin = 0; begin < end; ++begin) {
            const double c = best[begin] + cost(begin, end) + penalty;
            if (c < best[end]) {
                best[end] = c;
                from[end] = begin;
            }
        }
    std::vector<Piece> pieces;
    for (std::size_t end = n; end > 0; end = from[end]) pieces.push_back({from[end], end});
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

std::vector<Piece> plateaus(std::span<const double> values, std::span<const double> errors) {
    std::vector<Piece> out = best_pieces(PieceCost(values, errors), values.size());
    std::erase_if(out, [](const Piece& p) { return p.end - p.begin < fewest_for_a_level; });
    return out;
}

// Share of curves with newly drawn noise that have an edge between the same two points.
std::vector<double> edge_confidences(std::span<const double> values, std::span<const double> errors,
                                     const std::vector<Piece>& found) {
    constexpr int samples = 200;
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<double> share(found.empty() ? 0 : found.size() - 1, 0.0);
    std::vector<double> drawn(values.begin(), values.end());
    for (int s = 0; s < samples; ++s) {
        for (std::size_t i = 0; i < values.size(); ++i)
            drawn[i] = values[i] + errors[i] * normal(random);
        const std::vector<Piece> again = plateaus(drawn, errors);
        for (std::size_t e = 0; e + 1 < found.size(); ++e)
            for (std::size_t a = 0; a + 1 < again.size(); ++a)
                if (again[a].end == found[e].end && again[a + 1].begin == found[e + 1].begin)
                    share[e] += 1;
    }
    for (double& s : share) s /= samples;
    return share;
}

// Cycles per dependent access: the slope over depth with the fewest instructions in flight, else
// cycles / depth there.
std::optional<WorkingSetPoint> point_of(double bytes, const Curve& curve) {
    std::optional<StepTime> alone;
    for (const StepTime& step : step_times(curve))
        if (!alone || step.in_flight() < alone->in_flight()) alone = step;
    if (alone)
        return WorkingSetPoint{bytes, alone->cycles.value,
                               *alone->cycles.std_error / alone->cycles.value};
    const CurvePoint* fewest = nullptr;
    const auto in_flight = [](const CurvePoint& p) {
        return static_cast<double>(p.shape.warps()) * p.shape.chains;
    };
    for (const CurvePoint& p : curve.points)
        if (fewest == nullptr || in_flight(p) < in_flight(*fewest)) fewest = &p;
    if (fewest == nullptr) return std::nullopt;
    return WorkingSetPoint{bytes, fewest->cycles / static_cast<double>(fewest->shape.depth),
                           fewest->log_error};
}

}  // namespace

WorkingSetFit fit_working_set(const std::string& subject, std::vector<WorkingSetPoint> points) {
    WorkingSetFit out;
    out.subject = subject;
    std::sort(points.begin(), points.end(),
              [](const WorkingSetPoint& a, const WorkingSetPoint& b) { return a.bytes < b.bytes; });
    out.points = std::move(points);
    if (out.points.size() < 2 * fewest_for_a_level) {
        out.reason = fmt::format("{} working sets, at least {} are needed", out.points.size(),
                                 2 * fewest_for_a_level);
        return out;
    }
    std::vector<double> values;
    std::vector<double> errors;
    for (const WorkingSetPoint& p : out.points) {
        values.push_back(std::log(p.cycles));
        errors.push_back(std::hypot(p.relative_error, plateau_roughness));
    }
    const std::vector<Piece> pieces = plateaus(values, errors);
    if (pieces.empty()) {
        out.reason = "no plateau of three working sets or more";
        return out;
    }
    const PieceCost cost(values, errors);
    const std::vector<double> confidence = edge_confidences(values, errors, pieces);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Piece& p = pieces[i];
        CacheLevel level;
        level.latency.value = std::exp(cost.mean(p.begin, p.end));
        const double freedom = static_cast<double>(p.end - p.begin) - 1;
        const double shown = std::max(1.0, cost(p.begin, p.end) / freedom);
        level.latency.std_error =
            level.latency.value * std::sqrt(shown / cost.weight(p.begin, p.end));
        level.first_bytes = out.points[p.begin].bytes;
        level.last_bytes = out.points[p.end - 1].bytes;
        if (i < confidence.size()) level.edge_confidence = confidence[i];
        out.levels.push_back(std::move(level));
    }
    return out;
}

std::vector<WorkingSetFit> fit_working_sets(std::span<const MeasurementFile> files) {
    std::vector<std::string> order;
    std::map<std::string, std::map<double, CurveBuilder>> builders;
    for (const MeasurementFile& file : files) {
        const std::optional<ReferenceClock> clock = reference_clock(file);
        for (const MeasurementRow& row : file.rows) {
            const std::optional<double> bytes = counter(row, working_set_counter);
            if (!bytes || !(*bytes > 0)) continue;
            if (!builders.contains(row.subject)) order.push_back(row.subject);
            builders[row.subject][*bytes].add(row, clock);
        }
    }
    std::vector<WorkingSetFit> out;
    for (const std::string& subject : order) {
        std::vector<WorkingSetPoint> points;
        for (auto& [bytes, builder] : builders.at(subject))
            if (const auto p = point_of(bytes, std::move(builder).finish(subject)))
                points.push_back(*p);
        out.push_back(fit_working_set(subject, std::move(points)));
    }
    return out;
}

}  // namespace occupipe
