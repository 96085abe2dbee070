// SPDX-License-Identifier: MIT
#include "ask/weak_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/instruction.h"

namespace occupipe::analysis {

std::vector<std::string> weak_values(const Kernel& kernel, const GpuProfile& profile) {
    std::vector<std::string> weak;
    std::set<std::string> ops;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        ops.emplace(without_part(instruction.op));
    });
    const auto see = [&](const std::string& op, const char* symbol, const Estimate& estimate) {
        if (estimate.identifiable()) return;
        std::string said =
            fmt::format("{} of {} was not determined by its measurements; the {} {:.4g} is used{}",
                        symbol, op.substr(0, op.find('~')), to_string(estimate.kind),
                        estimate.value, estimate.note.empty() ? "" : " (" + estimate.note + ")");
        // Accesses with prices of their own (NAME~ID) share the row and mostly the value.
        if (std::ranges::find(weak, said) == weak.end()) weak.push_back(std::move(said));
    };
    for (const std::string& op : ops) {
        const InstructionTiming* timing = profile.find_instruction(op);
        see(op, "λ per core", profile.cpi_per_core(*timing));
        if (timing->latency) see(op, "Λ", *timing->latency);
        if (timing->latency_growth) see(op, "h", *timing->latency_growth);
    }
    return weak;
}

}  // namespace occupipe::analysis
