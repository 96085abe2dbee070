// SPDX-License-Identifier: MIT
// What the raw repetitions of a curve show about the measurement itself: the step of a coarse
// clock, a drift over the run, a one-sided scatter.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace occupipe {

// The greatest step of which all values are multiples, where it is coarse enough to matter (four
// values or more differ, and the step is above a millionth of the median); absent for values that
// are no multiples of anything, such as means.
std::optional<double> clock_step(std::span<const double> values);

// The repetitions of one point: logarithms of their times, and when each was measured (its row's
// number).
struct PointHistory {
    std::vector<double> log_times;
    std::vector<double> order;
};

// How log time grows from one repetition of a point to the next, by the rows between them.
struct RepetitionSlope {
    double over_run = 0;  // if it went on so over all rows
    double std_error = 0;
    double span = 0;  // of the rows, what the repetitions of one point reach over; 1 = all
    // Root mean square of the points' own slopes, over all rows as well, beyond what the scatter of
    // repetitions in any order makes of them; 0 where that is not clear by four standard errors.
    double of_points = 0;

    bool clear() const;  // by five standard errors
    // Over a fifth of the rows or more. Repetitions that were taken one after the other show how
    // fast times change at the moment, and nothing of the run: teeth of a saw are steep.
    bool over_all_rows() const { return span >= 0.2; }
};
// Absent without points of three repetitions or more that differ.
std::optional<RepetitionSlope> repetition_slope(std::span<const PointHistory> points);

// By how much the first of a point's repetitions takes longer than the others, relative, where that
// is so at nearly all points and more than the others differ by: the device warms up in each point.
// Of each point the times in the order of repetition; absent where it does not show.
std::optional<double> warm_up(std::span<const std::vector<double>> points);

// Whether points were measured one after the other in the order of their shapes (`points` stand in
// that order), so that a drift would look like an effect of occupancy.
bool measured_in_order(std::span<const PointHistory> points);

// How far medians lie above the undisturbed time, relative, where what disturbs can only lengthen a
// run: for exponential delays the location is min − (mean − min)/(n − 1) (the unbiased estimate of
// least variance; Lehmann and Casella 1998, example 2.5). Absent where the scatter is symmetric.
std::optional<double> one_sided_lift(std::span<const PointHistory> points);

// Share of repetitions that take 1.2 times their point's median or more, or that much less, and
// lie ten typical deviations off; over points of three repetitions or more, 0 where there are none.
double wild_share(std::span<const PointHistory> points);

}  // namespace occupipe
