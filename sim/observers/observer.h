// SPDX-License-Identifier: MIT
// What happens in a simulation, as events. A report is an Observer; without one nothing is
// recorded.
#pragma once

#include <cstdint>
#include <optional>

namespace occupipe::sim {

struct CoreLayout;

// Why a warp does not issue.
enum class WaitReason {
    dependence,   // its next instruction waits for the result of another
    barrier,      // its next instruction waits for a barrier
    subsystem,    // its next instruction is ready, its subsystem busy
    issue_limit,  // its next instruction is ready, the scheduler's issue window used up
    stall,        // its next instruction is ready, the stall count of the one before not over
    drain,        // all issued, its own results are outstanding
    group,        // finished, but other warps of its group are not
    empty,        // no group left for its slot
};

struct IssueEvent {
    std::int64_t time = 0;  // [ticks]
    std::int32_t warp = 0;  // of the core: slot · |γ| + index
    std::int32_t stream = 0;
    std::int64_t instance = 0;
    std::int32_t scheduler = 0;
};

// A result is available; for a barrier, all warps have arrived.
struct CompletionOf {
    std::int64_t time = 0;  // [ticks]
    std::int32_t warp = 0;
    std::int32_t stream = 0;
    std::int64_t instance = 0;
};

struct GroupEvent {
    std::int64_t time = 0;  // [ticks]
    std::int32_t slot = 0;
    std::int64_t group = 0;
};

// What a warp waits for. `stream` is the instruction that would issue next, `producer` the one that
// it waits for.
struct Wait {
    WaitReason reason = WaitReason::empty;
    std::optional<std::int32_t> stream;
    std::optional<std::int32_t> producer;

    bool operator==(const Wait&) const = default;
};

struct WaitEvent {
    std::int64_t from = 0;  // [ticks]
    std::int64_t until = 0;
    std::int32_t warp = 0;
    Wait wait;
};

// Issuing takes no time of a warp: the waits of all warps cover the whole run. A wait is reported
// when it, or a part of it, is over; a completion as soon as its time is known. So they do not come
// in the order of their times; what concerns one instruction of one warp does.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    // Whether issued() and completed() do anything: telling of each instruction costs time.
    virtual bool hears_instructions() const { return true; }

    virtual void started(const CoreLayout&) {}  // a copy must be kept for later
    virtual void group_started(const GroupEvent&) {}
    virtual void issued(const IssueEvent&) {}
    virtual void completed(const CompletionOf&) {}
    virtual void waited(const WaitEvent&) {}
    virtual void group_ended(const GroupEvent&) {}
    virtual void ended(std::int64_t) {}  // [ticks]
};

}  // namespace occupipe::sim
