// SPDX-License-Identifier: MIT
// Lanes for things that overlap in time, so that no two on one lane do.
//
//   lane_of(0, 0, 4) → 0     lane_of(0, 2, 6) → 1     lane_of(0, 4, 5) → 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace occupipe::sim {

class Lanes {
public:
    explicit Lanes(std::size_t tracks) : free_(tracks) {}

    // The lowest lane of the track that is free from `begin` on, then taken until `end` [ticks].
    // Calls for one track come by rising `begin`.
    std::size_t take(std::size_t track, std::int64_t begin, std::int64_t end) {
        auto& lanes = free_[track];
        std::size_t lane = 0;
        while (lane < lanes.size() && lanes[lane] > begin) ++lane;
        if (lane == lanes.size()) lanes.push_back(0);
        lanes[lane] = end;
        return lane;
    }

    // Lanes that the track has needed so far.
    std::size_t count(std::size_t track) const { return free_[track].size(); }

private:
    std::vector<std::vector<std::int64_t>> free_;  // per track and lane: when it is free again
};

}  // namespace occupipe::sim
