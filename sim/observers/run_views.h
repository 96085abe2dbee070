// SPDX-License-Identifier: MIT
// The views that several reports want of one run:
//
//   RunViews views({.stalls = true, .timeline_cycles = 100});
//   model.predict(problem, {.observers = views.observers()});  // "pipeline": its run is observed
//   views.run(problem, options);  // simulates only where no model has
//   views.stalls()->rows();
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/engine/simulate.h"
#include "sim/observers/stalls.h"
#include "sim/observers/timeline.h"

namespace occupipe::sim {

class RunViews {
public:
    struct Wanted {
        bool stalls = false;
        std::optional<double> timeline_cycles;  // absent: no timeline
    };
    explicit RunViews(const Wanted& wanted);

    std::span<Observer* const> observers() const { return observers_; }
    // Simulates the problem for the views, unless they have seen a run or there is none. Throws as
    // simulate().
    void run(const Problem& problem, const SimulationOptions& options);

    // Null where not wanted.
    const StallView* stalls() const { return stalls_ ? &*stalls_ : nullptr; }
    const TimelineView* timeline() const { return timeline_ ? &*timeline_ : nullptr; }

private:
    // Notes that a run has ended.
    struct Seen : Observer {
        bool hears_instructions() const override { return false; }
        void ended(std::int64_t) override { ended_run = true; }

        bool ended_run = false;
    };

    std::optional<StallView> stalls_;
    std::optional<TimelineView> timeline_;
    Seen seen_;
    std::vector<Observer*> observers_;
};

}  // namespace occupipe::sim
