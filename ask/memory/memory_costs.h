// SPDX-License-Identifier: MIT
// What the levels of a GPU's memory cost a warp, from the rows of its profile.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ask/memory_levels.h"
#include "core/gpu_profile.h"

namespace occupipe::analysis {

// λ per core and Λ of one request.
struct RequestCost {
    Estimate cpi;
    std::optional<Estimate> latency;
};

// Sum of costs, each times its share; a bound where one of them is one; the error where all have
// one, as of independent quantities.
Estimate weighted(const std::vector<std::pair<double, Estimate>>& parts);

class MemoryCosts {
public:
    explicit MemoryCosts(const GpuProfile& profile);

    // A load all of whose sectors this level answers; absent: no row measures the level.
    //
    // Between rows that ask for fewer and more sectors λ and Λ are interpolated. Beyond the last, λ
    // grows with the sectors and Λ by λ for each further time the row's sectors; below the first, λ
    // shrinks with the sectors, but not below that of a hit in the nearest level. Its lines may
    // take longer, and, where the nearest level is asked, its passes through the banks: in
    // proportion to a row of many, Λ between that row and one with one of them.
    std::optional<RequestCost> load(LevelNumber level, const MemoryUse& use) const;
    // λ of a store that the nearest level of all cores absorbs: that of a load which hits it, times
    // the ratio of both where the profile has measured a store there, else 2.
    std::optional<Estimate> store(const MemoryUse& use) const;

    // The instruction whose subsystem loads take; nullptr: no row measures a load.
    const InstructionTiming* load_row() const;

private:
    struct Row {
        double sectors = 0;
        RequestCost cost;
        const InstructionTiming* timing = nullptr;  // of λ
    };
    using Rows = std::vector<Row>;  // ascending

    Rows rows_of(std::span<const LevelAccess> accesses) const;
    const Rows& rows(LevelNumber level, double least_sectors) const;
    std::optional<RequestCost> by_sectors(LevelNumber level, double sectors,
                                          double least_sectors) const;
    void spread(RequestCost& cost, LevelNumber level, const SpreadAccess& access,
                double count) const;
    std::optional<Row> row(const LevelAccess& access) const;

    const GpuProfile& profile_;
    std::vector<std::array<Rows, 3>> levels_;  // 4, 8 and 16 bytes of a lane
};

}  // namespace occupipe::analysis
