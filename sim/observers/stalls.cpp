// SPDX-License-Identifier: MIT
#include "sim/observers/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/instruction.h"

namespace occupipe::sim {
namespace {

std::string instruction_name(const CoreLayout& layout, const LoopProgram& program,
                             std::int32_t stream) {
    return fmt::format("{} ({})", program.ids[stream],
                       without_part(layout.machine.ops[program.streams[stream].op].name));
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
        case WaitReason::stall:
            return "stall count";
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
    group_.assign(static_cast<std::size_t>(layout.slots), 0);
    const LoopProgram& first = layout.programs.front().program;
    start_ =
        first.ids.front() == group_start_id ? layout.machine.ops[first.streams[0].op].latency : 0;
    ticks_.clear();
    first_.clear();
    std::size_t rows = 0;
    for (const ProgramLayout& program : layout.programs) {
        first_.push_back(rows);
        rows += program.streams.size() + 1;
    }
    ticks_.resize(rows);
}

void StallView::waited(const WaitEvent& event) {
    const std::int32_t program =
        layout_.program(event.warp, group_[event.warp / layout_.group_warps]);
    auto& causes = ticks_[first_[program] + event.wait.stream.value_or(-1) + 1];
    const std::int32_t producer = event.wait.producer.value_or(-1);
    const std::int64_t ticks = event.until - std::max(event.from, start_);
    if (ticks <= 0) return;
    for (Cause& cause : causes)
        if (cause.reason == event.wait.reason && cause.producer == producer) {
            cause.ticks += ticks;
            return;
        }
    causes.push_back({event.wait.reason, producer, ticks});
}

// By program, reason, instruction and producer.
std::map<StallView::Key, std::int64_t> StallView::by_key() const {
    std::map<Key, std::int64_t> all;
    for (std::size_t p = 0; p < first_.size(); ++p)
        for (std::size_t s = 0; s <= layout_.programs[p].streams.size(); ++s)
            for (const Cause& cause : ticks_[first_[p] + s])
                all[{static_cast<std::int32_t>(p), cause.reason, static_cast<std::int32_t>(s) - 1,
                     cause.producer}] = cause.ticks;
    return all;
}

std::vector<StallRow> StallView::rows() const {
    double total = 0;
    const auto all = by_key();
    for (const auto& [key, ticks] : all) total += static_cast<double>(ticks);
    std::vector<StallRow> rows;
    for (const auto& [key, ticks] : all) {
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

std::vector<InstructionWait> StallView::waits() const {
    std::map<std::tuple<std::int32_t, WaitReason, std::string, std::string>, std::int64_t> sums;
    for (const auto& [key, ticks] : by_key()) {
        const std::vector<std::string>& ids = layout_.programs[key.program].program.ids;
        sums[{key.program, key.reason, key.stream >= 0 ? ids[key.stream] : "",
              key.producer >= 0 ? ids[key.producer] : ""}] += ticks;
    }
    std::vector<InstructionWait> waits;
    for (const auto& [key, ticks] : sums) {
        const auto& [program, reason, waiting, on] = key;
        waits.push_back({program, reason, waiting, on, ticks});
    }
    return waits;
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
