// SPDX-License-Identifier: MIT
#include "fit/curves/step_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <span>

namespace occupipe {
namespace {

PointPlace place_of(const CurvePoint& p) { return {p.shape, p.busiest, p.bytes_in_flight}; }

double weight_of(const CurvePoint& p) {
    const double error = p.log_error * p.cycles;
    return 1 / (error * error);
}

// Weighted least squares (any textbook) over depth.
struct Line {
    double slope = 0;
    double mean_depth = 0;
    double mean = 0;
    double spread = 0;  // weighted sum of squares of depths about their mean
};

std::optional<Line> line_over_depth(
    std::span<const CurvePoint> points,
    const std::function<std::optional<double>(const CurvePoint&)>& value) {
    double w0 = 0;
    Line line;
    for (const CurvePoint& p : points) {
        const std::optional<double> at = value(p);
        if (!at) return std::nullopt;
        const double weight = weight_of(p);
        w0 += weight;
        line.mean_depth += weight * static_cast<double>(p.shape.depth);
        line.mean += weight * *at;
    }
    line.mean_depth /= w0;
    line.mean /= w0;
    double product = 0;
    for (const CurvePoint& p : points) {
        const double n = static_cast<double>(p.shape.depth) - line.mean_depth;
        line.spread += weight_of(p) * n * n;
        product += weight_of(p) * n * (*value(p) - line.mean);
    }
    line.slope = product / line.spread;
    const bool usable = line.spread > 0 && std::isfinite(line.spread) && product > 0;
    return usable ? std::optional(line) : std::nullopt;
}

// Where cores spread evenly between two ends, half of the range lies between the quartiles; where
// they spread about one value, less. Two groups of equal size that reach as far as the published
// halves of the H100's second-level cache (docs/background/gpu-runs.md, "Open questions") have 0.71
// there.
constexpr double between_quartiles = 0.65;

bool in_two_groups(const CurvePoint& p) {
    if (!p.least_core || !p.lower_quartile || !p.upper_quartile || !p.greatest_core) return false;
    return *p.upper_quartile - *p.lower_quartile >
           between_quartiles * (*p.greatest_core - *p.least_core);
}

// The slope's error is widened by χ² per degree of freedom where the points scatter by more than
// theirs.
std::optional<StepTime> step_over_depth(std::span<const CurvePoint> points) {
    const auto line = line_over_depth(points, [](const CurvePoint& p) { return p.cycles; });
    if (!line) return std::nullopt;
    StepTime step;
    step.place = place_of(points.front());
    step.depths = points.size();
    step.cycles.value = line->slope;
    step.intercept = line->mean - line->slope * line->mean_depth;
    double chi_square = 0;
    double total = 0;
    for (const CurvePoint& p : points) {
        const double n = static_cast<double>(p.shape.depth) - line->mean_depth;
        chi_square += weight_of(p) * std::pow(p.cycles - line->mean - line->slope * n, 2);
        total += weight_of(p) * std::pow(p.cycles - line->mean, 2);
    }
    step.r_squared = 1 - chi_square / total;
    const double freedom = static_cast<double>(points.size()) - 2;
    const double widen = freedom > 0 ? std::max(1.0, chi_square / freedom) : 1.0;
    step.cycles.std_error = std::sqrt(widen / line->spread);
    if (!std::isfinite(step.cycles.value) || !std::isfinite(*step.cycles.std_error))
        return std::nullopt;
    const auto slope = [&](std::optional<double> CurvePoint::*core) -> std::optional<double> {
        const auto of_core = line_over_depth(points, [&](const CurvePoint& p) { return p.*core; });
        return of_core ? std::optional(of_core->slope) : std::nullopt;
    };
    step.least_core = slope(&CurvePoint::least_core);
    step.lower_quartile = slope(&CurvePoint::lower_quartile);
    step.upper_quartile = slope(&CurvePoint::upper_quartile);
    step.greatest_core = slope(&CurvePoint::greatest_core);
    step.two_groups = std::ranges::all_of(points, in_two_groups);
    return step;
}

struct Row {
    double weight = 0;
    double cpi = 0;  // weighted sums of λ and Λ
    double latency = 0;
    std::vector<StepTime> steps;
};

Estimate pooled(const Row& row, double sum, const std::function<double(const StepTime&)>& value,
                const std::function<double(const StepTime&)>& error) {
    Estimate e;
    e.value = sum / row.weight;
    double squares = 0;
    double weight = 0;
    for (const StepTime& s : row.steps) {
        const double w = std::pow(error(s), -2);
        weight += w;
        squares += w * std::pow(value(s) - e.value, 2);
    }
    const double freedom = static_cast<double>(row.steps.size()) - 1;
    const double widen = freedom > 0 ? std::max(1.0, squares / freedom) : 1.0;
    e.std_error = std::sqrt(widen / weight);
    return e;
}

}  // namespace

std::vector<StepTime> step_times(const Curve& curve) {
    std::vector<StepTime> out;
    const std::vector<CurvePoint>& points = curve.points;
    for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
        const PointPlace place = place_of(points[begin]);
        for (end = begin; end < points.size() && place.same_but_depth(place_of(points[end]));)
            ++end;
        const std::span here(points.data() + begin, end - begin);
        if (here.size() < 2) continue;
        if (auto step = step_over_depth(here)) out.push_back(std::move(*step));
    }
    return out;
}

namespace {

// What the places with one number of warps and chains reached: the least cycles per step, with what
// its error leaves of it on either side.
struct Reached {
    double cycles = 0;
    double low = 0;
    double high = 0;
};

using ReachedBy = std::map<int, Reached>;  // number of warps → …

bool contradicted(const ReachedBy& all, ReachedBy::const_iterator at) {
    constexpr double room = 1.02;
    constexpr int several = 2;
    const auto exceeds = [&](const Reached& other, double times) {
        return other.low > room * times * at->second.high;
    };
    if (at != all.begin() && exceeds(std::prev(at)->second, 1)) return true;
    int longer = 0;
    for (auto more = std::next(at); more != all.end(); ++more) {
        const int times = (more->first + at->first - 1) / at->first;
        if (!exceeds(more->second, times)) continue;
        if (more == std::next(at) || ++longer == several) return true;
    }
    return false;
}

}  // namespace

std::vector<StepTime> believable_steps(const std::vector<StepTime>& steps) {
    constexpr double errors = 3;
    constexpr double as_fast = 1.1;
    constexpr int fewest_doubtful = 2;
    std::map<int, ReachedBy> by_chains;
    for (const StepTime& step : steps) {
        const double error = errors * *step.cycles.std_error;
        const Reached here{step.cycles.value, step.cycles.value - error, step.cycles.value + error};
        const auto [at, first] =
            by_chains[step.place.shape.chains].try_emplace(step.place.shape.warps(), here);
        if (!first && here.cycles < at->second.cycles) at->second = here;
    }
    struct OfWarps {
        double per_step = std::numeric_limits<double>::infinity();
        double per_instruction = std::numeric_limits<double>::infinity();
        bool doubtful = false;
    };
    std::map<int, OfWarps> of_warps;
    for (const auto& [chains, all] : by_chains)
        for (auto at = all.begin(); at != all.end(); ++at) {
            OfWarps& here = of_warps[at->first];
            here.per_step = std::min(here.per_step, at->second.cycles);
            here.per_instruction =
                std::min(here.per_instruction, at->second.cycles / (at->first * chains));
            here.doubtful |= contradicted(all, at);
        }
    const auto seconded = [&](int warps, double OfWarps::*reached) {
        int doubtful = 0;
        for (const auto& [others, other] : of_warps) {
            if (others == warps || other.*reached > as_fast * of_warps.at(warps).*reached) continue;
            if (!other.doubtful) return true;
            ++doubtful;
        }
        return doubtful >= fewest_doubtful;
    };
    std::vector<StepTime> out;
    for (const StepTime& step : steps) {
        const int warps = step.place.shape.warps();
        if (!of_warps.at(warps).doubtful ||
            (seconded(warps, &OfWarps::per_step) && seconded(warps, &OfWarps::per_instruction)))
            out.push_back(step);
    }
    return out.empty() ? steps : out;
}

std::optional<std::string> spread_over_cores(const Curve& curve) {
    constexpr double told = 1.05;
    const std::vector<StepTime> steps = step_times(curve);
    const auto alone = std::ranges::min_element(steps, {}, &StepTime::in_flight);
    if (alone == steps.end() || !alone->least_core || !alone->greatest_core) return std::nullopt;
    if (*alone->greatest_core < told * *alone->least_core) return std::nullopt;
    const bool can_tell = curve.off_core && alone->lower_quartile && alone->upper_quartile;
    return fmt::format("{:.5g} to {:.5g} cycles per step over the cores, with {:g} in flight{}",
                       *alone->least_core, *alone->greatest_core, alone->in_flight(),
                       !can_tell              ? ""
                       : two_distances(curve) ? ": a near and a far half"
                                              : "; no two groups of cores can be distinguished");
}

std::optional<TwoDistances> two_distances(const Curve& curve) {
    constexpr double told = 1.1;
    if (!curve.off_core || curve.independent) return std::nullopt;
    const std::vector<StepTime> steps = step_times(curve);
    const auto alone = std::ranges::min_element(steps, {}, &StepTime::in_flight);
    if (alone == steps.end() || !alone->two_groups) return std::nullopt;
    if (!alone->least_core || !alone->lower_quartile || !alone->upper_quartile ||
        !alone->greatest_core)
        return std::nullopt;
    if (!(*alone->upper_quartile > told * *alone->lower_quartile)) return std::nullopt;
    // The quartiles repeat as well as the median does.
    const double relative = *alone->cycles.std_error / alone->cycles.value;
    TwoDistances out;
    out.near = {*alone->lower_quartile, relative * *alone->lower_quartile};
    out.far = {*alone->upper_quartile, relative * *alone->upper_quartile};
    out.note = fmt::format(
        "1: the near half of the cores, from {:.5g} to the quartile; 2: the far half, from the "
        "quartile to {:.5g}; with {:g} in flight",
        *alone->least_core, *alone->greatest_core, alone->in_flight());
    return out;
}

ParameterTable step_table(const Curve& curve, const std::string& over,
                          const std::function<std::optional<double>(const StepTime&)>& axis) {
    std::map<double, Row> rows;
    for (const StepTime& step : step_times(curve)) {
        const auto at = axis(step);
        if (!at || !(*at > 0)) continue;
        Row& row = rows[*at];
        const double w = std::pow(*step.cycles.std_error / step.cycles.value, -2);
        row.weight += w;
        row.cpi += w * step.cycles.value / step.in_flight();
        row.latency += w * step.cycles.value;
        row.steps.push_back(step);
    }
    ParameterTable table;
    table.over = over;
    if (rows.size() < 2) return table;
    for (const auto& [at, row] : rows) {
        TableRow out;
        out.at = at;
        out.cpi = pooled(
            row, row.cpi, [](const StepTime& s) { return s.cycles.value / s.in_flight(); },
            [](const StepTime& s) { return *s.cycles.std_error / s.in_flight(); });
        if (!curve.independent)
            out.latency = pooled(
                row, row.latency, [](const StepTime& s) { return s.cycles.value; },
                [](const StepTime& s) { return *s.cycles.std_error; });
        table.rows.push_back(std::move(out));
    }
    return table;
}

}  // namespace occupipe
