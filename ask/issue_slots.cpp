// SPDX-License-Identifier: MIT
#include "ask/issue_slots.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/instruction.h"

namespace occupipe::analysis {
namespace {

std::int64_t slots_of(const KernelInstruction& one, const GpuProfile& profile) {
    const InstructionTiming* const timing = profile.find_instruction(one.op);
    if (timing == nullptr) return 1;
    return profile.find_subsystem(timing->subsystem)->issue_slots.value_or(1);
}

std::vector<KernelItem> with_slots(std::vector<KernelItem> items, const GpuProfile& profile) {
    std::vector<KernelItem> all;
    all.reserve(items.size());
    for (KernelItem& item : items) {
        if (auto* const repeat = std::get_if<Repeat>(&item)) {
            repeat->body = with_slots(std::move(repeat->body), profile);
            all.push_back(std::move(item));
            continue;
        }
        auto& one = std::get<KernelInstruction>(item);
        KernelInstruction slot;
        slot.op = issue_slot;
        slot.at = one.at;
        const std::string id = one.id;
        const auto slots = static_cast<int>(slots_of(one, profile));
        // The last slot ends as long before the warp's next instruction as the first would.
        const auto stall = slots > 1 ? std::exchange(one.stall, {}) : std::nullopt;
        all.push_back(std::move(item));
        for (int further = 1; further < slots; ++further) {
            slot.id = id + std::string(further_slot) + (further > 1 ? std::to_string(further) : "");
            if (stall && further == slots - 1 && *stall > further) slot.stall = *stall - further;
            all.emplace_back(slot);
        }
    }
    return all;
}

}  // namespace

bool takes_further_slots(const GpuProfile& profile) {
    return profile.find_instruction(issue_slot) != nullptr &&
           std::ranges::any_of(profile.subsystems, [](const Subsystem& one) {
               return one.issue_slots.value_or(1) > 1;
           });
}

Kernel with_issue_slots(Kernel kernel, const GpuProfile& profile) {
    if (!takes_further_slots(profile)) return kernel;
    for (WarpProgram& program : kernel.warps)
        program.instructions = with_slots(std::move(program.instructions), profile);
    return kernel;
}

}  // namespace occupipe::analysis
