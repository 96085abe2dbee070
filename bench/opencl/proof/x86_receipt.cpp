// SPDX-License-Identifier: MIT
#include "bench/opencl/proof/x86_receipt.h"

#include <fmt/format.h>

#include <algorithm>

namespace occupipe::bench {
namespace {

// Besides the counted instructions: the loop's counter, comparison and jump, and a few moves.
constexpr std::size_t most_others = 6;

// A link of a chase is a load with a scaled index; other moves are not.
std::string operand_of(const Row& row) {
    const bool chase = row.pattern == Pattern::shared_chase || row.pattern == Pattern::global_chase;
    return chase ? ",4)," : "";
}

std::map<std::string, int> mnemonics(const MachineLoop& loop) {
    std::map<std::string, int> counts;
    for (const std::string& text : loop.instructions) ++counts[text.substr(0, text.find(' '))];
    return counts;
}

}  // namespace

X86Receipt make_x86_receipt(const KernelPlan& plan, const std::vector<MachineLoop>& loops) {
    const Row& row = *plan.first;
    X86Receipt receipt;
    receipt.expression = row.x86;
    receipt.expected = plan.unroll * plan.chains * row.x86_count;
    const MachineLoop* timed = nullptr;
    const auto count = [&](const MachineLoop& loop) {
        return row.x86.empty() ? static_cast<int>(loop.instructions.size())
                               : loop.count(receipt.expression, operand_of(row));
    };
    for (const MachineLoop& loop : loops) {
        if (!timed || count(loop) > count(*timed)) timed = &loop;
    }
    if (!timed) {
        receipt.faults.push_back("no loop in the machine code, or objdump is not installed");
        return receipt;
    }
    receipt.found = row.x86.empty() ? 0 : count(*timed);
    receipt.others = mnemonics(*timed);
    if (row.x86.empty()) {
        receipt.faults.push_back("nothing to count: " + std::string(row.x86_also));
    } else if (receipt.found != receipt.expected) {
        receipt.faults.push_back(fmt::format("{} {} in the timed loop, not {}", receipt.found,
                                             receipt.expression, receipt.expected));
    } else if (row.x86_also.empty() && row.pattern != Pattern::global_stream &&
               timed->instructions.size() >
                   static_cast<std::size_t>(receipt.expected) + most_others) {
        receipt.faults.push_back(
            fmt::format("{} instructions in the timed loop, of which {} are "
                        "counted; the row does not announce the others",
                        timed->instructions.size(), receipt.expected));
    }
    return receipt;
}

std::vector<MachineLoop> loops_that_pocl_makes(Backend& backend, const KernelSource& source,
                                               const std::filesystem::path& cache) {
    const auto before = shared_objects(cache);
    const auto program = backend.compile(source);
    MeasurementShape shape;
    shape.chains = source.plan.chains;
    shape.depth = 2 * source.plan.unroll;
    backend.launch(*program, {.shape = shape, .iterations = 2});
    std::vector<MachineLoop> loops;
    for (const auto& object : shared_objects(cache)) {
        if (std::ranges::find(before, object) != before.end()) continue;
        for (auto& loop : loops_of(object)) loops.push_back(std::move(loop));
    }
    return loops;
}

std::string format_x86_receipt(const X86Receipt& receipt) {
    std::string text;
    if (!receipt.expression.empty()) {
        text = fmt::format("{} of {} in the timed loop, expected {}\n", receipt.found,
                           receipt.expression, receipt.expected);
    }
    text += "the whole loop:";
    for (const auto& [name, count] : receipt.others) text += fmt::format(" {} {}", count, name);
    text += '\n';
    for (const std::string& fault : receipt.faults) text += "NOT PROVED: " + fault + '\n';
    return text;
}

}  // namespace occupipe::bench
