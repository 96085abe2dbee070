// SPDX-License-Identifier: MIT
// Several observers of one run.
#pragma once

#include <algorithm>
#include <span>

#include "sim/observers/observer.h"

namespace occupipe::sim {

// Tells each of them everything, in their order; they must outlive it.
class ObserverFan : public Observer {
public:
    explicit ObserverFan(std::span<Observer* const> all) : all_(all) {}

    bool hears_instructions() const override {
        return std::ranges::any_of(all_, &Observer::hears_instructions);
    }
    void started(const CoreLayout& layout) override { tell(&Observer::started, layout); }
    void group_started(const GroupEvent& event) override { tell(&Observer::group_started, event); }
    void issued(const IssueEvent& event) override { tell(&Observer::issued, event); }
    void completed(const CompletionOf& event) override { tell(&Observer::completed, event); }
    void waited(const WaitEvent& event) override { tell(&Observer::waited, event); }
    void group_ended(const GroupEvent& event) override { tell(&Observer::group_ended, event); }
    void ended(std::int64_t ticks) override {
        for (Observer* const one : all_) one->ended(ticks);
    }

private:
    template <class Event>
    void tell(void (Observer::*what)(const Event&), const Event& event) {
        for (Observer* const one : all_) (one->*what)(event);
    }

    std::span<Observer* const> all_;
};

}  // namespace occupipe::sim
