// SPDX-License-Identifier: MIT
// Start and stop of every warp of carried launches, in a file beside launches.csv
// (docs/how-to/measure-elsewhere.md).
#pragma once

#include <map>
#include <string>

#include "bench/offline/launches.h"

namespace occupipe::bench {

// Adds to each launch that the table has stamps of the counters that they give (`running_01` …,
// `stop_spread_cycles`, …, `start_skew_cycles`): those of the core whose time is nearest to the
// launch's cycles. Throws InputError (FILE:LINE: KEY: REASON) for other columns, launches that are
// not in launches.csv, stops before starts, and where no core's time is within 2 % of the cycles.
void add_warp_stamps(const std::string& text, const std::string& file_name,
                     std::vector<ReturnedTime>& times);

}  // namespace occupipe::bench
