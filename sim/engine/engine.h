// SPDX-License-Identifier: MIT
// What runs one core. Three engines have the same outcome, tick for tick, and differ in what they
// can run and how fast (README.md).
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "sim/engine/run_limits.h"
#include "sim/machine/completion_queue.h"
#include "sim/machine/core_layout.h"
#include "sim/observers/observer.h"

namespace occupipe::sim {

class Engine {
public:
    Engine() = default;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    // Runs until nothing is left to do (true), or `until` instructions have issued one by one.
    // Throws InputError when time overflows.
    virtual bool run(std::int64_t until) = 0;

    virtual RunLimits::State progress() const = 0;
    virtual std::int64_t detection_work() const = 0;  // words compared and copied

    // By scheduler and subsystem [ticks]: Σλ of what it issued there, and when that is free again.
    virtual std::int64_t busy(int scheduler, int subsystem) const = 0;
    virtual std::int64_t free_at(int scheduler, int subsystem) const = 0;

    // Results that are outstanding, as far as they are kept one by one.
    virtual std::span<const CompletionQueue> results() const = 0;
    virtual std::span<const CompletionQueue> waiting() const = 0;

    // For whoever gives a core its groups (CoreLayout::groups is 0).

    // Begins one of a kind in a free slot, from the lowest on.
    virtual void start_group(std::int32_t kind) = 0;
    virtual std::int32_t free_slots() const = 0;
    // Runs until groups end, or `until` instructions have issued in all; it may stop earlier. False
    // once nothing will change any more. Throws InputError when time overflows.
    virtual bool advance(std::int64_t until) = 0;
    // Another core in the same state; nobody observes either.
    virtual std::unique_ptr<Engine> clone() const = 0;

protected:
    Engine(const Engine&) = default;
};

// They stand in the order of their speed.
enum class EngineKind {
    scoreboard,  // InOrderEngine, one event an instruction: where it can_run()
    word,        // EventEngine with sets of warps that are single words: CoreLayout::narrow
    general,     // EventEngine with sets of any size: all
};

// The first of the three that can run the layout.
EngineKind engine_kind(const CoreLayout& layout);

// That one. The layout, and the observer if there is one, must outlive it; nothing is skipped
// where somebody observes.
std::unique_ptr<Engine> make_engine(const CoreLayout& layout, bool detect_periods,
                                    Observer* observer = nullptr);

// Of an engine that has come to its end.
SimulationResult result_of(const CoreLayout& layout, const Engine& engine);

}  // namespace occupipe::sim
