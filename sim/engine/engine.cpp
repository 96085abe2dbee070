// SPDX-License-Identifier: MIT
#include "sim/engine/engine.h"

#include "sim/engine/event_engine.h"
#include "sim/engine/in_order_engine.h"

namespace occupipe::sim {

EngineKind engine_kind(const CoreLayout& layout) {
    if (InOrderEngine::can_run(layout)) return EngineKind::scoreboard;
    return layout.narrow ? EngineKind::word : EngineKind::general;
}

std::unique_ptr<Engine> make_engine(const CoreLayout& layout, bool detect_periods,
                                    Observer* observer) {
    if (engine_kind(layout) == EngineKind::scoreboard)
        return std::make_unique<InOrderEngine>(layout, detect_periods, observer);
    return std::make_unique<EventEngine>(layout, detect_periods, observer);
}

}  // namespace occupipe::sim
