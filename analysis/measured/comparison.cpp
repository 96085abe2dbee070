// SPDX-License-Identifier: MIT
#include "analysis/measured/comparison.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "analysis/measured/accuracy.h"
#include "analysis/measured/measured_graph.h"
#include "core/running_warps.h"
#include "core/statistics.h"

namespace occupipe::analysis {
namespace {

// Sums of percentages, so that curves of different length weigh by their points.
struct Sum {
    double percent = 0;
    int points = 0;

    void add(const std::optional<double>& mean, std::size_t count) {
        if (!mean) return;
        percent += *mean * static_cast<double>(count);
        points += static_cast<int>(count);
    }
    std::optional<double> mean() const {
        if (points == 0) return std::nullopt;
        return percent / points;
    }
};

struct Sums {
    Sum level;
    Sum shape;
};

using CurveKey = std::tuple<std::string, int, std::int64_t>;  // subject, chains, depth

std::map<CurveKey, std::vector<AccuracyPoint>> curves(const std::vector<MeasuredPoint>& points,
                                                      const Predictor& predictor) {
    std::map<CurveKey, std::vector<AccuracyPoint>> result;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const MeasuredPoint& point = points[i];
        if (!predictor.cycles[i]) continue;
        const double warps = point.shape.warps();
        result[{point.subject, point.shape.chains, point.shape.depth}].push_back(
            {warps, warps / point.cycles, warps / *predictor.cycles[i]});
    }
    return result;
}

}  // namespace

std::vector<MeasuredPoint> measured_points(const MeasurementFile& file) {
    struct Repetitions {
        const MeasurementRow* first = nullptr;
        std::vector<double> cycles;
    };
    std::map<std::pair<std::string, MeasurementShape>, Repetitions> repetitions;
    for (const MeasurementRow& row : file.rows) {
        if (row.error || !row.cycles || !(*row.cycles > 0)) continue;
        if (row.counters.contains("full")) continue;               // beside the curve
        if (row.counters.contains(checkpoints_counter)) continue;  // its cycles hold these, too
        Repetitions& of = repetitions[{row.subject, row.shape}];
        if (!of.first) of.first = &row;
        of.cycles.push_back(*row.cycles);
    }
    std::vector<MeasuredPoint> points;
    points.reserve(repetitions.size());
    for (const auto& [key, of] : repetitions)
        points.push_back({key.first, key.second, median(of.cycles), kernel_of(file, *of.first)});
    return points;
}

namespace {

bool is_of(const MeasuredPoint& point, const std::string& subject) {
    return subject == everything || point.subject == subject;
}

void rank(std::span<Accuracy> rows) {
    const auto place = [](const Accuracy& row) { return std::pair(-row.points, row.mape); };
    std::ranges::stable_sort(rows, {}, place);
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].rank = i > 0 && place(rows[i]) == place(rows[i - 1]) ? rows[i - 1].rank
                                                                     : static_cast<int>(i) + 1;
}

// What the rows' predictors say of the points that all of them predict.
void compare_in_common(const std::vector<MeasuredPoint>& points,
                       const std::vector<Predictor>& predictors, std::span<Accuracy> rows) {
    std::vector<const Predictor*> of_row;
    for (const Accuracy& row : rows)
        of_row.push_back(&*std::ranges::find(predictors, row.predictor, &Predictor::name));
    std::vector<std::vector<AccuracyPoint>> common(rows.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!is_of(points[i], rows.front().subject)) continue;
        if (!std::ranges::all_of(of_row, [&](const auto* p) { return p->cycles[i].has_value(); }))
            continue;
        const double warps = points[i].shape.warps();
        for (std::size_t r = 0; r < rows.size(); ++r)
            common[r].push_back({warps, warps / points[i].cycles, warps / *of_row[r]->cycles[i]});
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
        rows[r].common_points = static_cast<int>(common[r].size());
        rows[r].common_mape = mape(common[r]);
    }
}

}  // namespace

std::vector<Accuracy> accuracies(const std::vector<MeasuredPoint>& points,
                                 const std::vector<Predictor>& predictors) {
    std::vector<Accuracy> result;
    std::vector<std::string> subjects;
    for (const MeasuredPoint& point : points)
        if (subjects.empty() || subjects.back() != point.subject) subjects.push_back(point.subject);
    subjects.emplace_back(everything);
    std::map<std::string, std::map<std::string, Sums>> sums;  // subject → predictor
    for (const Predictor& predictor : predictors)
        for (const auto& [key, curve] : curves(points, predictor))
            for (const std::string& subject : {std::get<0>(key), std::string(everything)}) {
                Sums& sum = sums[subject][predictor.name];
                sum.level.add(mape(curve), curve.size());
                sum.shape.add(mape_shape(curve), curve.size());
            }
    for (const std::string& subject : subjects) {
        const std::size_t first = result.size();
        const auto of_points = static_cast<int>(std::ranges::count_if(
            points, [&](const MeasuredPoint& point) { return is_of(point, subject); }));
        for (const Predictor& predictor : predictors) {
            const Sums& sum = sums[subject][predictor.name];
            if (sum.level.points == 0) continue;
            result.push_back({.subject = subject,
                              .predictor = predictor.name,
                              .points = sum.level.points,
                              .of_points = of_points,
                              .mape = sum.level.mean(),
                              .mape_shape = sum.shape.mean(),
                              .common_mape = {}});
        }
        const std::span rows = std::span(result).subspan(first);
        if (rows.empty()) continue;
        rank(rows);
        compare_in_common(points, predictors, rows);
    }
    return result;
}

}  // namespace occupipe::analysis
