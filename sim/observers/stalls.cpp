// SPDX-License-Identifier: MIT
#include "sim/observers/stalls.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::sim {
namespace {

std::string instruction_name(const CoreLayout& layout, const LoopProgram& program,
                             std::int32_t stream) {
    return fmt::format("{} ({})", program.ids[stream],
                       layout.machine.ops[program.streams[stream].op].name);
}

}  // namespace

std::string_view to_string(WaitReason reason) {
    switch (reason) {
        case WaitReason::dependence:
            return "dependence";
        case WaitReason::barrier:
            return "barrier";
        case WaitReason::subsystem:
            return "subsystem busy";
        case WaitReason::issue_limit:
            return "issue limit";
        case WaitReason::drain:
            return "last results";
        case WaitReason::group:
            return "rest of the group";
        case WaitReason::empty:
            break;
    }
    return "no group left";
}

void StallView::started(const CoreLayout& layout) {
    layout_ = layout;
    ticks_.clear();
}

void StallView::waited(const WaitEvent& event) {
    ticks_[{layout_.program_of[event.warp], event.wait.reason, event.wait.stream.value_or(-1),
            event.wait.producer.value_or(-1)}] += event.until - event.from;
}

std::vector<StallRow> StallView::rows() const {
    double total = 0;
    for (const auto& [key, ticks] : ticks_) total += static_cast<double>(ticks);
    std::vector<StallRow> rows;
    for (const auto& [key, ticks] : ticks_) {
        StallRow next = row(key, static_cast<double>(ticks) / total);
        // Copies of one instruction, and programs in which it has the same name, are one row.
        const auto same = std::find_if(rows.begin(), rows.end(), [&](const StallRow& r) {
            return r.reason == next.reason && r.waiting == next.waiting && r.on == next.on;
        });
        if (same == rows.end())
            rows.push_back(std::move(next));
        else
            same->share += next.share;
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const StallRow& a, const StallRow& b) { return a.share > b.share; });
    return rows;
}

StallRow StallView::row(const Key& key, double share) const {
    const LoopProgram& program = layout_.programs[key.program].program;
    StallRow row{key.reason, "", "", share};
    if (key.stream >= 0) {
        row.waiting = instruction_name(layout_, program, key.stream);
        if (key.reason == WaitReason::subsystem)
            row.on = layout_.machine
                         .subsystems[layout_.programs[key.program].streams[key.stream].subsystem]
                         .name;
    }
    if (key.producer >= 0) row.on = instruction_name(layout_, program, key.producer);
    return row;
}

}  // namespace occupipe::sim
