// SPDX-License-Identifier: MIT
// The first cycles of a run, instruction by instruction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/machine/core_layout.h"
#include "sim/observers/observer.h"

namespace occupipe::sim {

// Records what happens before a given time.
class TimelineView : public Observer {
public:
    explicit TimelineView(double cycles) : cycles_(cycles) {}

    struct Entry {
        std::int64_t issued = 0;     // [ticks]
        std::int64_t completed = 0;  // [ticks]; issue + Λ, for a barrier when all have arrived
        std::int32_t warp = 0;
        std::int32_t stream = 0;
        std::int64_t instance = 0;
        std::int64_t group = 0;
        std::int32_t scheduler = 0;
    };

    void started(const CoreLayout& layout) override;
    void group_started(const GroupEvent& event) override;
    void issued(const IssueEvent& event) override;
    void completed(const CompletionOf& event) override;

    const std::vector<Entry>& entries() const { return entries_; }  // by issue
    std::vector<std::string> instance_names() const;                // per entry: "x", "x[17]"
    const CoreLayout& layout() const { return layout_; }
    double cycles() const { return cycles_; }

private:
    double cycles_;
    std::int64_t end_ = 0;             // [ticks]
    CoreLayout layout_;                // a copy, which outlives the run
    std::vector<std::int64_t> group_;  // per slot
    std::vector<Entry> entries_;
    // Barriers whose completion is not known yet: warp, stream, instance → entry.
    std::map<std::tuple<std::int32_t, std::int32_t, std::int64_t>, std::size_t> open_;
};

// A row per warp and instruction, like llvm-mca's timeline: D where it issues, = while its result
// is in flight, E in the column in which the result is available.
std::string timeline_text(const TimelineView& view);

}  // namespace occupipe::sim
