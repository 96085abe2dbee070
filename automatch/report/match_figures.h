// SPDX-License-Identifier: MIT
// AutoMatch's pictures (Helal et al. 2017, Figures 7, 8, 10 and 9 or 11).
#pragma once

#include <vector>

#include "automatch/report/match_output.h"
#include "automatch/workload.h"
#include "plot/figure.h"

namespace occupipe::automatch {

// Operations by level of the schedule (Figure 7), and loads and stores by stack distance (Figure
// 8).
plot::Picture workload_profiles(const Workload& workload);
// Rate on each device by each model (Figures 9 and 11), and what bounds it there (Figure 10).
plot::Picture match_performance(const Workload& workload, const std::vector<MatchCell>& cells);

}  // namespace occupipe::automatch
