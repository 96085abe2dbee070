// SPDX-License-Identifier: MIT
// One curve and one variant of the hull law as a least-squares problem on log(cycles): measured
// and predicted times differ by factors, so a residual is log(predicted / measured) in units of
// the point's standard error. The median over repetitions commutes with the logarithm.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/instruction.h"
#include "fit/curves/curve.h"
#include "fit/laws/hull_law.h"
#include "fit/solver/least_squares.h"

namespace occupipe {

// The order of the problem's parameters. λ and Λ by their logarithms, so that they stay positive;
// overheads as parts of the shortest measured time, contention and the loop's control as parts of Λ
// and λ, so that all are of order one; the drift as growth of log time from the first row to the
// last.
enum HullParameter : std::size_t {
    log_cpi,
    log_latency,
    overhead_part,
    group_overhead_part,
    loop_latency_part,
    loop_cpi_part,
    contention_part,
    knee_width,
    port_share,
    skew_part,
    drift_part,
    hull_parameter_count
};

// `both` is the law. The other two are what the data would look like if the law's one half never
// showed: they are compared with it to decide whether λ or Λ is determined at all. In them a free
// overhead per instruction in flight stands in the place of the starting ramp (M−1)·λ, so that no
// number is drawn from a few cycles at the start of a kernel.
enum class Regime { both, latency_only, throughput_only };

struct HullVariant {
    Regime regime = Regime::both;
    int schedulers = 1;
    // With schedulers: a copy of the subsystem each, or one that they share, behind ports whose
    // spacing is free, or with none (ρ = 0).
    bool ports = false;
    bool shared = false;
    bool group_overhead = false;
    bool skew = false;  // its share at full throughput is free; else half of it counts
    bool loop = false;  // the loop's own cost is free; else none is assumed
    bool contention = false;
    bool knee = false;
    bool drift = false;         // of the device over the run (CurvePoint::place)
    bool launch_costs = false;  // overheads are not negative

    std::size_t free_parameters(bool overhead_known) const;
    double port_start() const;  // ρ to begin with, or to stay with
};

// Points that differ in their depths and start skews alone.
struct HullPlace {
    HullShape shape;  // of the first, with the largest skew
    std::vector<std::size_t> points;
};

class HullProblem {
public:
    // `curve` must outlive this; it has at least one point.
    HullProblem(const Curve& curve, InstructionKind kind, std::optional<double> known_overhead);

    LeastSquaresProblem problem(const HullVariant& variant, std::vector<double> start,
                                std::optional<double> huber) const;
    std::vector<double> start(const HullVariant& variant) const;
    HullParameters<double> physical(const std::vector<double>& parameters) const;
    double predicted_cycles(const HullVariant& variant, const std::vector<double>& parameters,
                            std::size_t point) const;

    double overhead_scale() const { return scale_; }  // cycles of overhead_part = 1
    double smallest_in_flight() const { return smallest_; }
    double largest_in_flight() const { return largest_; }
    std::size_t distinct_in_flight() const { return distinct_; }
    std::size_t distinct_depths() const { return depths_; }
    std::size_t distinct_groups() const { return groups_; }
    // Loop bodies of two lengths at two places or more: the loop's own cost can be separated.
    bool separates_loop() const { return separates_loop_; }
    // Start skews of a thousandth of the time or more: they take part.
    bool skewed() const { return skewed_; }
    // Part of a point's predicted time that is the loop's own or the start skew's [cycles], the
    // drift as in predicted_cycles().
    double aside_cycles(const HullVariant& variant, const std::vector<double>& parameters,
                        std::size_t point) const;
    const HullShape& smallest_shape() const { return smallest_shape_; }

private:
    template <int Count>
    ResidualsFunction residuals(const HullVariant& variant,
                                const std::vector<std::size_t>& free) const;

    template <class T, class Take>
    bool for_each_time(const HullVariant& variant, const HullParameters<T>& p,
                       const Take& take) const;

    double drifted(const std::vector<double>& parameters, std::size_t point) const;

    const Curve& curve_;
    bool barrier_;
    std::optional<double> known_overhead_;
    std::vector<HullShape> shapes_;  // by point
    std::vector<HullPlace> places_;
    double scale_ = 1;
    double smallest_ = 0;
    double largest_ = 0;
    std::size_t distinct_ = 0;
    std::size_t depths_ = 0;
    std::size_t groups_ = 0;
    bool separates_loop_ = false;
    bool skewed_ = false;
    HullShape smallest_shape_;
    double period_smallest_ = 0;  // cycles per step at the smallest and largest in-flight count
    double period_largest_ = 0;
};

}  // namespace occupipe
