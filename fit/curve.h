// SPDX-License-Identifier: MIT
// Curves: what the fitter works on. Measurement rows become points (median over repetitions), and
// rows that cannot be used are counted, never dropped in silence.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/measurement.h"

namespace occupipe {

// All repetitions of one subject at one shape.
struct CurvePoint {
    MeasurementShape shape;
    std::vector<double> repetitions;  // core cycles, ascending
    double cycles = 0;                // their median
    // Standard error of log(cycles): of the median over repetitions, spreads pooled over the
    // curve (see weigh()). A relative error, in other words.
    double log_error = 0;
};

struct Curve {
    std::string subject;                  // "fma.f32" or a mix
    std::vector<CurvePoint> points;       // by shape, ascending
    int rows = 0;                         // in the files, usable or not
    std::map<std::string, int> rejected;  // reason → rows
    bool from_seconds = false;            // cycles = event time × clock for some row
    // Spread of single repetitions about their median, relative, pooled over the curve; only
    // meaningful when spread_known.
    double spread = 0;
    bool spread_known = false;  // some points have several repetitions

    int rejected_rows() const;
    std::string rejection_summary() const;  // "3 launch failed; 1 no cycles"; empty when none
};

// Builds the curve of one subject from rows of any number of files. A row without a cycles counter
// is used with event time × witnessed clock where both are known.
class CurveBuilder {
public:
    void add(const MeasurementRow& row);
    Curve finish(const std::string& subject) &&;

private:
    std::map<MeasurementShape, std::vector<double>> samples_;
    std::map<std::string, int> rejected_;
    int rows_ = 0;
    bool from_seconds_ = false;
};

// One curve per subject of the files, in order of first appearance; working-set rows aside.
std::vector<Curve> curves_of(std::span<const MeasurementFile> files);

double median_of_sorted(std::span<const double> ascending);  // not empty
double median(std::vector<double> values);                   // not empty

// Variance of the median of n normal values of variance one.
double median_variance(std::size_t n);

}  // namespace occupipe
