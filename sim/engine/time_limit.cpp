// SPDX-License-Identifier: MIT
#include "sim/engine/time_limit.h"

#include <fmt/format.h>

#include <chrono>

namespace occupipe {

Checkpoint time_limit(double seconds) {
    using Clock = std::chrono::steady_clock;
    return [seconds, start = Clock::now()](const RunProgress& progress) {
        if (std::chrono::duration<double>(Clock::now() - start).count() <= seconds) return;
        throw LimitReached(fmt::format("no answer after {:.3g} s of one simulation: {}", seconds,
                                       to_text(progress)));
    };
}

}  // namespace occupipe
