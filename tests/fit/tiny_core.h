// SPDX-License-Identifier: MIT
// The tests' own event simulation of one core running one kind of instruction, written from
// docs/background/pipeline-model.md, "Simulation", and nothing else: tick by tick, round robin,
// integer time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/measurement.h"

namespace occupipe::test {

struct TinyCore {
    std::int64_t cpi = 1;      // ticks, of one copy of the subsystem
    std::int64_t latency = 1;  // ticks
    int schedulers = 1;        // each with its own copy
    bool barrier = false;

    std::int64_t run(const MeasurementShape& shape) const {
        const int warps = shape.warps();
        const auto chains = static_cast<std::size_t>(shape.chains);
        struct Warp {
            std::vector<std::int64_t> done, ready;  // by chain: instructions issued, time of next
        };
        std::vector<Warp> state(static_cast<std::size_t>(warps));
        for (Warp& w : state)
            w = {std::vector(chains, std::int64_t{0}), std::vector(chains, std::int64_t{0})};
        std::vector<std::int64_t> free_at(static_cast<std::size_t>(schedulers), 0);
        std::vector<int> last(static_cast<std::size_t>(schedulers), -1);
        std::vector<int> arrived(static_cast<std::size_t>(shape.concurrent_groups), 0);
        constexpr std::int64_t never = INT64_MAX;
        std::int64_t left = static_cast<std::int64_t>(warps) * shape.chains * shape.depth;
        std::int64_t end = 0;
        for (std::int64_t t = 0; left > 0; ++t)
            for (int k = 0; k < schedulers; ++k) {
                const auto s = static_cast<std::size_t>(k);
                if (free_at[s] > t) continue;
                // The ring of this scheduler's warps, starting after the one that issued last.
                for (int step = 1; step <= warps; ++step) {
                    const int w = (last[s] + step) % warps;
                    if (w % schedulers != k) continue;
                    Warp& warp = state[static_cast<std::size_t>(w)];
                    // Program order: chain by chain within a step.
                    std::size_t pick = chains;
                    for (std::size_t c = 0; c < chains; ++c)
                        if (warp.done[c] < shape.depth && warp.ready[c] <= t &&
                            (pick == chains || warp.done[c] < warp.done[pick]))
                            pick = c;
                    if (pick == chains) continue;
                    free_at[s] = t + cpi;
                    last[s] = w;
                    --left;
                    ++warp.done[pick];
                    warp.ready[pick] = barrier ? never : t + latency;
                    end = std::max(end, t + latency);
                    const int group = w / shape.group_warps;
                    if (barrier &&
                        ++arrived[static_cast<std::size_t>(group)] == shape.group_warps) {
                        arrived[static_cast<std::size_t>(group)] = 0;
                        for (int i = 0; i < shape.group_warps; ++i)
                            state[static_cast<std::size_t>(group) * shape.group_warps + i]
                                .ready[0] = t + latency;
                    }
                    break;
                }
            }
        return end;
    }
};

}  // namespace occupipe::test
