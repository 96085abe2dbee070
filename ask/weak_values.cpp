// SPDX-License-Identifier: MIT
#include "ask/weak_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include "core/instruction.h"

namespace occupipe::analysis {

std::vector<std::string> weak_values(const Kernel& kernel, const GpuProfile& profile) {
    std::set<std::string> ops;
    for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
        ops.emplace(without_part(instruction.op));
    });
    // Accesses with prices of their own (NAME~ID) share the row.
    struct Weak {
        std::string of, note;
        std::string_view kind;
        double low = 0, high = 0;
    };
    std::vector<Weak> weak;
    const auto see = [&](const std::string& op, const char* symbol, const Estimate& estimate) {
        if (estimate.identifiable()) return;
        const Weak one{.of = fmt::format("{} of {}", symbol, op.substr(0, op.find('~'))),
                       .note = estimate.note,
                       .kind = to_string(estimate.kind),
                       .low = estimate.value,
                       .high = estimate.value};
        const auto known = std::ranges::find_if(weak, [&](const Weak& other) {
            return std::tie(other.of, other.note, other.kind) ==
                   std::tie(one.of, one.note, one.kind);
        });
        if (known == weak.end()) {
            weak.push_back(one);
        } else {
            known->low = std::min(known->low, one.low);
            known->high = std::max(known->high, one.high);
        }
    };
    for (const std::string& op : ops) {
        const InstructionTiming* timing = profile.find_instruction(op);
        see(op, "λ per core", profile.cpi_per_core(*timing));
        if (timing->latency) see(op, "Λ", *timing->latency);
        if (timing->latency_growth) see(op, "h", *timing->latency_growth);
    }
    std::vector<std::string> said;
    for (const Weak& one : weak) {
        const std::string values =
            one.low == one.high
                ? fmt::format("the {} {:.4g} is used", one.kind, one.low)
                : fmt::format("{}s from {:.4g} to {:.4g} are used", one.kind, one.low, one.high);
        said.push_back(fmt::format("{} was not determined by its measurements; {}{}", one.of,
                                   values, one.note.empty() ? "" : " (" + one.note + ")"));
    }
    return said;
}

}  // namespace occupipe::analysis
