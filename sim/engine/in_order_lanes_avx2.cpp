// SPDX-License-Identifier: MIT
// The in-order engine's loop with vectors of 256 bits.
#include "sim/engine/in_order_engine.h"

#ifdef __x86_64__
#define OCCUPIPE_LANES_TARGET "avx2,bmi,bmi2,popcnt"
#define OCCUPIPE_LANES_INLINE \
    [[gnu::target(OCCUPIPE_LANES_TARGET), gnu::always_inline]] static inline

#include "sim/engine/in_order_lanes_loop.h"
#include "sim/engine/in_order_lanes_vectors.h"

namespace occupipe::sim {

bool InOrderEngine::run_avx2(std::int64_t until) {
    return LaneLoop<Avx2>::run_all(*this, *lanes_, until);
}

}  // namespace occupipe::sim

#endif
