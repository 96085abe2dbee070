// SPDX-License-Identifier: MIT
// The issue limit: a window per cycle (docs/background/pipeline-model.md, "Issue limit"). In cycle
// n scheduler j of k issues at most before(j, n + 1) − before(j, n) instructions, with
//   before(j, n) = ⌊(IL·n + k − 1 − j) / k⌋
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/machine/ticks.h"

namespace occupipe::sim {

class IssueWindow {
public:
    // Throws InputError if the limit's decimal text is not a fraction of 64-bit numbers.
    IssueWindow(double limit, int schedulers, std::int64_t cycle);

    // Instructions that the scheduler may issue in cycle `n` (times n ≤ t < n + 1).
    std::int64_t allowed(int scheduler, std::int64_t n) const {
        if (constant_) return *constant_;
        return before(scheduler, n + 1) - before(scheduler, n);
    }

    // The same for the cycle that ends at `end` [ticks].
    std::int64_t allowed_until(int scheduler, std::int64_t end) const {
        return constant_ ? *constant_ : allowed(scheduler, end / cycle_ - 1);
    }

    // The end of the cycle that `time` ≥ 0 lies in [ticks].
    std::int64_t end_of_cycle(std::int64_t time) const {
        return cycle_mask_ ? (time | *cycle_mask_) + 1 : (time / cycle_ + 1) * cycle_;
    }

    // The earliest time from `time` on in whose cycle the scheduler may issue anything [ticks]; a
    // time beyond max_ticks when that is too far away.
    std::int64_t first_open(int scheduler, std::int64_t time) const;

    // What all schedulers together may issue in the cycles that begin before `end` [ticks].
    double capacity(std::int64_t end) const;

    // What each scheduler may issue in each cycle, if that is always the same.
    std::optional<std::int64_t> constant() const { return constant_; }
    // In every cycle each scheduler may issue something.
    bool always_open() const { return always_open_; }
    // The windows recur after this time [ticks]; none if that is beyond max_ticks.
    std::optional<std::int64_t> period() const { return period_; }
    std::int64_t cycle() const { return cycle_; }  // [ticks]
    // cycle() - 1, if cycle() is a power of two: all its bits are set in the last tick of a cycle.
    std::optional<std::int64_t> cycle_mask() const { return cycle_mask_; }

private:
    std::int64_t before(int scheduler, std::int64_t n) const;

    Rational limit_;
    int schedulers_;
    std::int64_t cycle_;
    std::optional<std::int64_t> cycle_mask_;
    bool always_open_;
    std::optional<std::int64_t> constant_;  // the same in all cycles and for all schedulers
    std::optional<std::int64_t> period_;
};

}  // namespace occupipe::sim
