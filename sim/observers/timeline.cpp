// SPDX-License-Identifier: MIT
#include "sim/observers/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/observers/instance_names.h"

namespace occupipe::sim {

void TimelineView::started(const CoreLayout& layout) {
    layout_ = layout;
    entries_.clear();
    open_.clear();
    group_.assign(layout.slots, 0);
    const double ticks_per_cycle = static_cast<double>(layout.machine.scale.tick.denominator) /
                                   static_cast<double>(layout.machine.scale.tick.numerator);
    end_ = static_cast<std::int64_t>(
        std::min(std::ceil(cycles_ * ticks_per_cycle), static_cast<double>(max_ticks)));
}

void TimelineView::group_started(const GroupEvent& event) { group_[event.slot] = event.group; }

void TimelineView::issued(const IssueEvent& event) {
    if (event.time >= end_) return;
    const std::int64_t group = group_[event.warp / layout_.group_warps];
    const LoopProgram& program = layout_.programs[layout_.program(event.warp, group)].program;
    const MachineOp& op = layout_.machine.ops[program.streams[event.stream].op];
    // When it completes shows only later.
    if (op.kind == InstructionKind::barrier || op.queued)
        open_[{event.warp, event.stream, event.instance}] = entries_.size();
    entries_.push_back({.issued = event.time,
                        .completed = event.time + op.latency,
                        .warp = event.warp,
                        .stream = event.stream,
                        .instance = event.instance,
                        .group = group,
                        .scheduler = event.scheduler});
}

void TimelineView::completed(const CompletionOf& event) {
    if (open_.empty()) return;
    const auto found = open_.find({event.warp, event.stream, event.instance});
    if (found == open_.end()) return;
    entries_[found->second].completed = event.time;
    open_.erase(found);
}

std::vector<std::string> TimelineView::instance_names() const {
    std::vector<InstanceNames> names;
    names.reserve(layout_.programs.size());
    for (const ProgramLayout& program : layout_.programs) names.emplace_back(program.program);
    std::vector<std::string> list;
    list.reserve(entries_.size());
    for (const Entry& entry : entries_)
        list.push_back(
            names[layout_.program(entry.warp, entry.group)].name(entry.stream, entry.instance));
    return list;
}

std::string timeline_text(const TimelineView& view) {
    const CoreLayout& layout = view.layout();
    const TickScale& scale = layout.machine.scale;
    const std::vector<std::string> names = view.instance_names();
    struct Row {
        const TimelineView::Entry* entry;
        std::string label;
    };
    std::vector<Row> rows;
    std::size_t width = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto& entry = view.entries()[i];
        rows.push_back({&entry, fmt::format("g{} w{} {}", entry.group,
                                            entry.warp % layout.group_warps, names[i])});
        width = std::max(width, rows.back().label.size());
    }
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
        return std::pair(a.entry->group, a.entry->warp) < std::pair(b.entry->group, b.entry->warp);
    });
    const auto columns = static_cast<std::size_t>(std::ceil(view.cycles()));
    std::string text(width + 2, ' ');
    for (std::size_t c = 0; c < columns; ++c) text += c % 10 == 0 ? '|' : c % 5 == 0 ? ':' : '.';
    text += fmt::format("  one column per cycle, | every ten\n");
    for (const auto& [entry, label] : rows) {
        const auto issue = static_cast<std::size_t>(scale.to_cycles(entry->issued));
        const auto done = static_cast<std::size_t>(scale.to_cycles(entry->completed));
        std::string row(columns, ' ');
        for (std::size_t c = issue; c < std::min(done, columns); ++c) row[c] = '=';
        row[issue] = 'D';
        if (done < columns) row[done] = 'E';
        row.erase(row.find_last_not_of(' ') + 1);
        text += fmt::format("{:<{}}{}\n", label, width + 2, row);
    }
    return text;
}

}  // namespace occupipe::sim
