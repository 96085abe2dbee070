// SPDX-License-Identifier: MIT
#include "report/text/machine_code.h"

#include <fmt/format.h>

#include <set>

#include "core/error.h"
#include "isa/decode.h"

namespace occupipe::report {
namespace {

std::string scoreboards(unsigned mask) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
        if (mask >> i & 1) text += fmt::format("{}{}", text.empty() ? "SB" : ",", i);
    }
    return text;
}

// "SB0" is raised until the result is there, "SB1r" until the operands are read.
std::string raised(const isa::Control& control) {
    std::string text;
    if (control.result_scoreboard) text = fmt::format("SB{}", *control.result_scoreboard);
    if (control.operand_scoreboard) {
        text += fmt::format("{}SB{}r", text.empty() ? "" : " ", *control.operand_scoreboard);
    }
    return text;
}

std::string head(const isa::Kernel& kernel, int architecture) {
    std::string text =
        fmt::format("{} for sm_{}: {} instructions", kernel.name, architecture, kernel.code.size());
    if (kernel.registers) text += fmt::format(", {} registers", *kernel.registers);
    if (kernel.stack_bytes) {
        text += *kernel.stack_bytes > 0 ? fmt::format(", {} bytes of stack", *kernel.stack_bytes)
                                        : std::string(", no stack");
    }
    if (const std::int64_t shared = isa::own_shared_bytes(kernel, architecture); shared > 0) {
        text += fmt::format(", {} bytes of shared memory", shared);
    }
    text += '\n';
    if (kernel.bank_0_base && !kernel.parameters.empty()) {
        const char* separator = "parameters: ";
        for (const isa::Parameter& one : kernel.parameters) {
            text += fmt::format("{}{} at c[0x0][{:#x}], {} bytes", separator, one.ordinal,
                                *kernel.bank_0_base + one.offset, one.size);
            separator = "; ";
        }
        text += '\n';
    }
    return text;
}

}  // namespace

Listing machine_code_listing(const isa::Kernel& kernel, int architecture, bool bits) {
    std::vector<isa::Instruction> code = isa::decode(kernel.code, architecture);
    code.resize(isa::own_instructions(kernel));
    std::set<std::int64_t> targets;
    for (const isa::Instruction& one : code) {
        for (const isa::Operand& operand : one.operands) {
            if (operand.kind == isa::Operand::Kind::target && !operand.number) {
                targets.insert(operand.value);
            }
        }
    }
    Listing listing;
    listing.text = head(kernel, architecture) + "address waits for  sets      stall\n";
    for (const isa::Instruction& one : code) {
        if (targets.contains(one.address)) listing.text += fmt::format("{:#x}:\n", one.address);
        listing.text += fmt::format("{:04x}    {:<10} {:<9} {:>5} {:<2} {}", one.address,
                                    scoreboards(one.control.awaited_scoreboards),
                                    raised(one.control), one.control.stall,
                                    one.control.yield ? "y" : "", isa::to_text(one, architecture));
        if (bits) {
            listing.text += fmt::format("  ; {:#018x} {:#018x}", one.word.low, one.word.high);
        }
        listing.text += '\n';
        if (one.unknown.empty()) continue;
        if (++listing.unknown > 1) continue;
        try {
            isa::require_known(one, architecture);
        } catch (const InputError& error) {
            listing.first_unknown = error.what();
        }
    }
    return listing;
}

}  // namespace occupipe::report
