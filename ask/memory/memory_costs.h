// SPDX-License-Identifier: MIT
// What the levels of a GPU's memory cost a warp, from the rows of its profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/gpu_profile.h"

namespace occupipe::analysis {

enum class Level { first, second, dram };

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

    // A load of so many sectors, all answered by this level; absent: no row measures the level.
    // `least`: sectors that the same bytes take side by side, 4 per 4 bytes of a lane.
    //
    // Between rows that ask for fewer and more sectors λ and Λ are interpolated. Beyond the last, λ
    // grows with the sectors and Λ by λ for each further time the row's sectors; below the first, λ
    // shrinks with the sectors, but not below that of a hit in the first level.
    std::optional<RequestCost> load(Level level, double sectors, double least) const;

    // The row of coalesced 4-byte loads, to be measured where there is none.
    static const char* row_of(Level level);

    // The instruction whose subsystem loads take; nullptr: no row measures a load.
    const InstructionTiming* load_row() const;

private:
    struct Row {
        double sectors = 0;
        RequestCost cost;
        const InstructionTiming* timing = nullptr;  // of λ
    };
    using Rows = std::vector<Row>;  // ascending

    struct Names;
    Rows rows_of(std::initializer_list<Names> names) const;
    const Rows& rows(Level level, double least) const;
    std::optional<Row> row(const Names& names) const;

    const GpuProfile& profile_;
    // By level; 4, 8 and 16 bytes of a lane.
    std::vector<std::vector<Rows>> levels_;
};

}  // namespace occupipe::analysis
