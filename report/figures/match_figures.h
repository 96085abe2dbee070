// SPDX-License-Identifier: MIT
// AutoMatch's pictures (Helal et al. 2017, Figures 7, 8, 10 and 9 or 11).
#pragma once

#include <vector>

#include "match/workload.h"
#include "plot/figure.h"
#include "report/text/match_output.h"

namespace occupipe::report {

// Operations by level of the schedule (Figure 7), and loads and stores by stack distance (Figure
// 8).
plot::Picture workload_profiles(const match::Workload& workload);
// Rate on each device by each model (Figures 9 and 11), and what bounds it there (Figure 10).
plot::Picture match_performance(const match::Workload& workload,
                                const std::vector<MatchCell>& cells);

}  // namespace occupipe::report
