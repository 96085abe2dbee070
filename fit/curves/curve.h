// SPDX-License-Identifier: MIT
// Curves: what the fitter works on. Measurement rows become points (median over repetitions), and
// rows that cannot be used are counted, never dropped silently.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"
#include "core/running_warps.h"
#include "fit/curves/disturbances.h"

namespace occupipe {

// Where a point was measured. Ordered so that points that differ by their depth alone are
// neighbours.
struct PointPlace {
    MeasurementShape shape;
    int busiest = 0;   // warps on the fullest scheduler; 0 = not recorded, spread evenly
    double bytes = 0;  // in flight on the core; 0 = not recorded
    int body = 0;      // steps per chain in the timed loop's body; 0 = not recorded

    bool operator<(const PointPlace& other) const;
    // Whatever the loop's body, which like the depth says how long was measured, not where.
    bool same_but_depth(const PointPlace& other) const;
};

// All repetitions of one subject at one place.
struct CurvePoint {
    MeasurementShape shape;
    int busiest = 0;                  // as in PointPlace
    double bytes_in_flight = 0;       // as in PointPlace
    int body = 0;                     // as in PointPlace
    std::vector<double> repetitions;  // core cycles, ascending
    double cycles = 0;                // their median
    // Last start less first start of a core's warps, median over repetitions [cycles]; 0 where rows
    // do not say. The repetitions above are as if each had had this one.
    double skew = 0;
    // When it was measured, as a part of the run: −0.5 with the subject's first row, 0.5 with the
    // last, mean over repetitions.
    double place = 0;
    // Standard error of log(cycles): of the median over repetitions, spreads pooled over the
    // curve (see weigh()). A relative error, in other words.
    double log_error = 0;
    // Over the cores: least, quartiles and greatest, medians over repetitions; where rows say them.
    std::optional<double> least_core;
    std::optional<double> lower_quartile;
    std::optional<double> upper_quartile;
    std::optional<double> greatest_core;
    // Cycles in which so many of the warps ran, where rows say that warps drifted apart
    // (core/running_warps.h); medians over repetitions.
    std::optional<RunningCycles> running;
    // Last stop less first stop [cycles], and in what order warps stopped; medians, where told.
    std::optional<double> stop_spread;
    std::optional<StopOrder> stop_order;
    // Cycles per instruction of the window in which all warps ran, median over repetitions.
    std::optional<double> window_cpi;
};

// The window in which all warps of a longer run by a checkpointed kernel ran
// (core/running_warps.h); its cycles are no point of the curve, since they hold the checkpoints.
struct CurveWindow {
    MeasurementShape shape;
    int busiest = 0;   // as in PointPlace
    int body = 0;      // as in PointPlace
    double cpi = 0;    // cycles per instruction, median over repetitions
    double error = 0;  // of that, relative: what is not known of the warps' ways
    // What the checkpoints add to the instructions that the loop's iterations hold beside the
    // steps, over these.
    double checkpoint_share = 0;
};

// What rows of one curve have in common beside their subject (docs/reference/file-formats/,
// "Counters that `fit` uses").
struct CurveCounters {
    std::optional<double> shape_n;
    std::optional<double> conflict_degree;  // above 1

    auto operator<=>(const CurveCounters&) const = default;
};

struct Curve {
    std::string subject;  // "fma.f32" or a mix
    CurveCounters counters;
    std::vector<CurvePoint> points;       // by shape, ascending
    std::vector<CurveWindow> windows;     // by shape, ascending
    int rows = 0;                         // in the files, usable or not
    std::map<std::string, int> rejected;  // reason → rows
    bool from_seconds = false;            // cycles = event time × clock for some row
    int rows_at_another_clock = 0;        // kept, since only the core's own cycles count
    int warps_per_instruction = 1;        // the most of any row
    bool independent = false;             // instructions do not wait for each other
    bool off_core = false;                // the time of some row depends on parts outside the core
    std::optional<double> access_bytes;   // per thread and instruction, where all rows agree
    // Of one iteration of the timed loop: machine instructions beside the measured ones over the
    // measured ones, the most of any row; where the rows tell.
    std::optional<double> loop_share;
    // Stall cycles that the assembler counts behind the others, per step of a chain, the most of
    // any row; where the rows tell.
    std::optional<double> loop_stall;
    // The same per iteration of one warp: the others, without those that come once more with each
    // step where bodies of two lengths tell them, and the stall cycles behind all.
    std::optional<double> other_instructions;
    std::optional<double> other_stall;
    // Machine instructions on the chain, per step, where that is more than the measured one alone.
    std::map<std::string, double> chain;
    // Spread of single repetitions about their median, relative, pooled over the curve; only
    // meaningful when spread_known.
    double spread = 0;
    bool spread_known = false;  // some points have several repetitions
    // What the repetitions show about the measurement itself (fit/curves/disturbances.h).
    double resolution = 1;        // of the clock [cycles]
    std::optional<double> drift;  // growth of one point's times over the run, relative
    // Where points' repetitions were taken one after the other: how fast times change.
    std::optional<RepetitionSlope> slope;
    // Of first repetitions over the others, relative; they are left out then.
    std::optional<double> warm_up;
    std::optional<double> lift;  // of medians over the undisturbed time, relative
    double wild = 0;             // share of repetitions far off their point's median
    bool in_order = false;       // points were measured in the order of their shapes
    // From the middle of the subject's rows to the further end of all rows, in units of the
    // subject's range; 0.5 where it has them all.
    double reach = 0.5;
    // Its range of rows as a share of all rows, and where the middle of the range lies: -0.5 first
    // of all rows, 0.5 last.
    double span = 1;
    double middle = 0;

    std::string label() const;  // the subject and, where there are any, its counters
    int rejected_rows() const;
    std::string rejection_summary() const;  // "3 launch failed; 1 no cycles"; empty when none
};

// What the core clock was meant to be while a file was measured.
struct ReferenceClock {
    double hz = 0;
    // By so much the interval may be wrong from which a row's clock follows: 99 % of the shortest
    // quarter of the file's rows are within; 0 of short files. In short rows a clock that really
    // differs makes little of it.
    double interval_error_seconds = 0;
};

// Builds the curve of one subject from rows of any number of files. A row without a cycles counter
// is used with event time × witnessed clock where both are known.
class CurveBuilder {
public:
    // reference: of the row's file (fit/curves/counters.h).
    // number: of the row among all rows; the subject's rows are counted where absent.
    void add(const MeasurementRow& row, const std::optional<ReferenceClock>& reference = {},
             std::optional<double> number = {});
    // Rows without a cycles counter are left out from now on: the launch is in their event times.
    void only_counted() { only_counted_ = true; }
    // Number of the last of all rows, where the subject has not all of them.
    void last_row(double number) { last_row_ = number; }
    Curve finish(const std::string& subject, const CurveCounters& counters = {}) &&;

private:
    struct Sample {
        double cycles = 0;
        double skew = 0;
        double order = 0;    // the row's number
        bool first = false;  // repetition of its point
    };
    using Samples = std::map<PointPlace, std::vector<Sample>>;
    std::optional<double> find_warm_up() const;
    void find_places(Curve& curve) const;
    void look_for_disturbances(const Samples& samples, Curve& curve) const;
    std::optional<std::string> fault_of(const MeasurementRow& row, double& cycles);
    void add_running(const PointPlace& place, const MeasurementRow& row, double cycles);
    void add_window(const MeasurementRow& row);
    std::vector<CurveWindow> finish_windows() const;
    void finish_running(const PointPlace& place, CurvePoint& point) const;
    bool skew_is_starvation() const;
    static std::vector<double> at_skew(const std::vector<Sample>& samples, double skew);

    Samples samples_;
    int rows_at_another_clock_ = 0;
    int warps_per_instruction_ = 1;
    // What rows say of their cores, by the member of CurvePoint that becomes its median.
    std::map<PointPlace, std::vector<std::vector<double>>> over_cores_;
    std::map<PointPlace, std::vector<RunningCycles>> running_;  // over the row's cycles
    std::map<PointPlace, std::vector<double>> window_cpi_;
    std::map<PointPlace, std::vector<CurveWindow>> windows_;  // of checkpointed kernels
    struct StopSamples {
        std::vector<double> spread;
        std::vector<double> correlation;
        std::vector<double> telling;
    };
    std::map<PointPlace, StopSamples> stops_;
    bool off_core_ = false;
    std::set<double> access_bytes_;
    std::optional<double> loop_share_;
    std::optional<double> loop_stall_;
    std::map<int, double> other_instructions_;  // the most, by the steps of a body
    std::optional<double> other_stall_;
    std::map<std::string, double> chain_;  // the most of any row
    bool independent_ = false;
    std::map<std::string, int> rejected_;
    int rows_ = 0;
    bool from_seconds_ = false;
    bool only_counted_ = false;
    std::optional<double> last_row_;
    std::vector<double> counts_;   // cycles as the counter gave them
    std::vector<double> seconds_;  // where there was none
    double highest_clock_hz_ = 0;
};

// One curve per subject and set of counters, in order of first appearance; rows that belong to a
// working-set curve or to an overhead's line aside.
std::vector<Curve> curves_of(std::span<const MeasurementFile> files);

// The places that were measured with loop bodies of two lengths or more: there the cost of the
// loop itself can be told from that of the steps.
struct SeveralBodies {
    std::size_t places = 0;
    // Steps of a chain in the bodies, and the chains, of the first of these places.
    double shortest = 0;
    double longest = 0;
    double chains = 1;
};
SeveralBodies several_bodies(const Curve& curve);

// Schedulers of a core by recorded placements: W warps of which the fullest scheduler has b need at
// least ⌈W/b⌉ of them, and an even placement exactly so many. 1 when nothing was recorded.
int schedulers_seen(const Curve& curve);

// Variance of the median of n normal values of variance one.
double median_variance(std::size_t n);

}  // namespace occupipe
