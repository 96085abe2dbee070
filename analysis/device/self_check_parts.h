// SPDX-License-Identifier: MIT
// Shared by the files of the self-check: how a comparison becomes an agreement or a finding.
#pragma once

#include <optional>
#include <string>

#include "analysis/device/self_check.h"

namespace occupipe::analysis {

// The range that the estimate allows: three standard errors, or one side.
struct Range {
    double low = 0;
    double high = 0;
};
Range range_of(const Estimate& estimate);

// A number without an error.
Estimate exact(double value);

enum class Side { below, inside, above };

class Comparison {
public:
    // Where the measured range lies beside the reference, which `tolerance` widens.
    static Side side_of(const Compared& compared, double tolerance);

    void agree(Compared compared);
    // `doubt`: 1, or less where the disagreement has harmless causes, too.
    void find(Compared compared, std::string meaning, std::string explanation, std::string look_at,
              double doubt = 1);
    void skip(Check check, const std::string& reason);
    SelfCheck finish();

private:
    static void relate(Compared& compared);
    SelfCheck out_;
};

void check_clock(const SelfCheckInput& input, Comparison& out);
void check_profiled(const SelfCheckInput& input, Comparison& out);
void check_missing(const SelfCheckInput& input, Comparison& out);

// Two transfers per cycle of the memory's clock times the bus; nullopt where the file does not say.
std::optional<double> peak_bandwidth_of_bus(const MeasurementFile& file);

}  // namespace occupipe::analysis
