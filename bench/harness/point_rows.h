// SPDX-License-Identifier: MIT
// A finished point's rows, completed by what only all of them together tell.
#pragma once

#include <string>

#include "bench/harness/stopping.h"

namespace occupipe::bench {

// `rows_json`: the repetitions of one point, an array of Google Benchmark's rows. Adds to each the
// counters `relative_standard_error` and `target_met` (1: the rule's target, 0: repetitions or time
// ran out), and behind them an aggregate row with median and quartiles. Nothing is dropped: a
// repetition far from the others stays. Rows of a point that failed come back as they are.
std::string with_statistics(const std::string& rows_json, const StoppingRule& rule);

}  // namespace occupipe::bench
