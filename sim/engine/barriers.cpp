// SPDX-License-Identifier: MIT
// Barriers: each warp's arrival, and the release once all warps of a group have come.
#include "sim/engine/event_engine.h"

namespace occupipe::sim {

void EventEngine::arrive_at_barrier(std::int32_t warp, std::int32_t stream) {
    const std::int32_t channel = warps_[warp].streams[stream].barrier_channel;
    const std::int32_t slot = warps_[warp].slot;
    const std::int32_t own = warp * layout_.barrier_channels + channel;
    const std::int32_t shared = slot * layout_.barrier_channels + channel;
    state_.barrier_stream[own] = stream;
    // A warp may be more than one barrier ahead of the others.
    if (state_.barriers_issued[own]++ != state_.barriers_released[shared]) return;
    if (++state_.barrier_arrivals[shared] == layout_.group_warps) release_barrier(slot, channel);
}

void EventEngine::release_barrier(std::int32_t slot, std::int32_t channel) {
    const std::int32_t shared = slot * layout_.barrier_channels + channel;
    const std::int64_t released = ++state_.barriers_released[shared];
    std::int32_t arrivals = 0;
    const std::int32_t first = slot * layout_.group_warps;
    for (std::int32_t warp = first; warp < first + layout_.group_warps; ++warp) {
        const std::int32_t own = warp * layout_.barrier_channels + channel;
        const std::int32_t stream = state_.barrier_stream[own];
        const std::int32_t queue = warps_[warp].streams[stream].completion_queue;
        push(queue, warp, stream, state_.now + layout_.queues[queue].delay);
        if (state_.barriers_issued[own] > released) ++arrivals;
    }
    state_.barrier_arrivals[shared] = arrivals;
}

}  // namespace occupipe::sim
