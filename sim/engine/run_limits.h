// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "sim/engine/simulate.h"
#include "sim/machine/completion_queue.h"
#include "sim/machine/core_layout.h"

namespace occupipe::sim {

// Ends a run that takes too much, by counted work only, so that every machine gives the same
// answer: too many instructions issued one by one, or too many results outstanding at once. Whoever
// drives an engine calls both checks at the start and whenever next_check() is reached.
class RunLimits {
public:
    struct State {
        std::int64_t now = 0;      // [ticks]
        std::int64_t issued = 0;   // instructions
        std::int64_t skipped = 0;  // of these, not issued one by one
        std::int64_t ended_groups = 0;
    };

    RunLimits(const CoreLayout& layout, const SimulationOptions& options);

    // Of instructions issued one by one.
    std::int64_t next_check() const { return next_check_; }

    // Tells options.checkpoint. Throws LimitReached, or what that throws.
    void check(const State& state);

    // Throws InputError above max_outstanding.
    void check_outstanding(std::span<const CompletionQueue> queues) const;

private:
    const CoreLayout& layout_;
    const SimulationOptions& options_;
    std::int64_t next_check_ = 0;
};

}  // namespace occupipe::sim
