// SPDX-License-Identifier: MIT
#include "report/text/execution.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "extract/signature.h"
#include "extract/units.h"
#include "isa/decode.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using extract::LaunchResult;
using extract::MemoryCounts;
using extract::MemorySite;

std::string grouped(std::uint64_t number) {
    std::string digits = fmt::format("{}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

double ratio(std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
}

std::string per(std::uint64_t sum, std::uint64_t of) {
    if (of == 0) return "-";
    return sum % of == 0 ? grouped(sum / of) : fmt::format("{:.2f}", ratio(sum, of));
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : fmt::format("{:.1f} %", 100 * ratio(part, whole));
}

std::string size_text(std::uint64_t bytes) {
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.4g} {}", value, units[unit]);
}

std::string indented(const std::string& table) {
    std::string text;
    std::size_t begin = 0;
    while (begin < table.size()) {
        const std::size_t end = std::min(table.find('\n', begin), table.size());
        text += "  " + table.substr(begin, end - begin) + "\n";
        begin = end + 1;
    }
    return text;
}

std::string shape_text(const std::array<std::uint32_t, 3>& shape) {
    return fmt::format("({},{},{})", shape[0], shape[1], shape[2]);
}

std::string counts_table(const char* name, const std::vector<OpcodeCount>& counts,
                         std::uint64_t all) {
    TextTable table{.header = {name, "warp-instructions", "share", "lanes"},
                    .align = {Align::left, Align::right, Align::right, Align::right},
                    .rows = {}};
    for (const OpcodeCount& one : counts)
        table.rows.push_back({one.name, grouped(one.count.warps), percent(one.count.warps, all),
                              per(one.count.lanes, one.count.warps)});
    return plain_text(table);
}

const char* kind_text(isa::AccessKind kind) {
    switch (kind) {
        case isa::AccessKind::load:
            return "load";
        case isa::AccessKind::store:
            return "store";
        case isa::AccessKind::atomic:
            return "atomic";
        case isa::AccessKind::copy:
            return "copy";
    }
    return "";
}

const char* space_text(isa::Space space) {
    switch (space) {
        case isa::Space::global:
            return "global";
        case isa::Space::shared:
            return "shared";
        case isa::Space::local:
            return "local";
        case isa::Space::constant:
            return "constant";
    }
    return "";
}

std::string opcode_text(const isa::Instruction& one) {
    std::string text(one.opcode);
    for (const std::string_view modifier : one.modifiers) text += fmt::format(".{}", modifier);
    return text;
}

std::string line_of(const LaunchResult& launch, std::size_t instruction) {
    return isa::source_line(*launch.kernel, (*launch.execution.code)[instruction].address);
}

// Sectors of global and local memory.
std::string sector_table(const LaunchResult& launch) {
    TextTable table{
        .header = {"address", "access", "requests", "lanes", "sectors", "least", "lines", "passes",
                   "asked", "moved", "source"},
        .align = {Align::right, Align::left, Align::right, Align::right, Align::right, Align::right,
                  Align::right, Align::right, Align::right, Align::right, Align::left},
        .rows = {}};
    for (const MemorySite& site : launch.sites) {
        if (site.space != isa::Space::global && site.space != isa::Space::local) continue;
        const MemoryCounts& counts = site.counts;
        const isa::Instruction& one = (*launch.execution.code)[site.instruction];
        table.rows.push_back(
            {fmt::format("{:04x}", one.address),
             fmt::format("{} {} {}", opcode_text(one), space_text(site.space),
                         kind_text(site.kind)),
             grouped(counts.requests), per(counts.lanes, counts.requests),
             per(counts.sectors, counts.requests), per(counts.least_sectors, counts.requests),
             per(counts.lines, counts.requests), per(counts.passes, counts.requests),
             size_text(counts.bytes_asked), size_text(counts.sectors * extract::sector_bytes),
             line_of(launch, site.instruction)});
    }
    return table.rows.empty() ? "" : plain_text(table);
}

std::string pass_table(const LaunchResult& launch) {
    TextTable table{.header = {"address", "access", "bytes", "requests", "lanes", "passes", "least",
                               "conflicts", "source"},
                    .align = {Align::right, Align::left, Align::right, Align::right, Align::right,
                              Align::right, Align::right, Align::right, Align::left},
                    .rows = {}};
    for (const MemorySite& site : launch.sites) {
        if (site.space != isa::Space::shared) continue;
        const MemoryCounts& counts = site.counts;
        const isa::Instruction& one = (*launch.execution.code)[site.instruction];
        table.rows.push_back(
            {fmt::format("{:04x}", one.address),
             fmt::format("{} {}", opcode_text(one), kind_text(site.kind)),
             fmt::format("{}", site.bytes), grouped(counts.requests),
             per(counts.lanes, counts.requests), per(counts.passes, counts.requests),
             per(counts.phases, counts.requests), grouped(counts.passes - counts.phases),
             line_of(launch, site.instruction)});
    }
    return table.rows.empty() ? "" : plain_text(table);
}

std::string atomic_lines(const LaunchResult& launch) {
    std::string text;
    for (const MemorySite& site : launch.sites) {
        if (site.kind != isa::AccessKind::atomic) continue;
        const isa::Instruction& one = (*launch.execution.code)[site.instruction];
        text += fmt::format("  {:04x} {}: {} lanes of a request at one address on average\n",
                            one.address, opcode_text(one),
                            per(site.counts.same_address, site.counts.requests));
    }
    return text;
}

std::string line_table(const LaunchResult& launch) {
    TextTable table{.header = {"source", "warp-instructions", "share", "lanes", "moved", "passes"},
                    .align = {Align::left, Align::right, Align::right, Align::right, Align::right,
                              Align::right},
                    .rows = {}};
    for (const LineCount& one : by_line(launch))
        table.rows.push_back(
            {one.line, grouped(one.count.warps),
             percent(one.count.warps, launch.execution.warp_instructions),
             per(one.count.lanes, one.count.warps),
             one.memory.sectors == 0 ? "" : size_text(one.memory.sectors * extract::sector_bytes),
             one.memory.passes == 0 ? "" : grouped(one.memory.passes)});
    return table.rows.empty() ? "" : plain_text(table);
}

std::string memory_note(const LaunchResult& launch, std::size_t instruction) {
    std::string text;
    for (const MemorySite& site : launch.sites) {
        if (site.instruction != instruction) continue;
        const MemoryCounts& counts = site.counts;
        if (counts.sectors > 0)
            text += fmt::format("  {} sectors", per(counts.sectors, counts.requests));
        if (site.space == isa::Space::shared || counts.passes > counts.phases)
            text += fmt::format("  {} passes", per(counts.passes, counts.requests));
    }
    return text;
}

std::string listing(const LaunchResult& launch, int architecture) {
    std::string text = fmt::format("{:>18} {:>6}  address\n", "warp-instructions", "lanes");
    std::string line;
    for (std::size_t i = 0; i < launch.execution.code->size(); ++i) {
        const isa::Instruction& one = (*launch.execution.code)[i];
        const isa::InstructionCount& count = launch.execution.counts[i];
        const std::string here = line_of(launch, i);
        if (!here.empty() && here != line) text += fmt::format("{}:\n", here);
        line = here;
        text += fmt::format("{:>18} {:>6}  {:04x}    {}{}\n", grouped(count.warps),
                            count.warps == 0 ? "" : per(count.lanes, count.warps), one.address,
                            isa::to_text(one, architecture), memory_note(launch, i));
    }
    return text;
}

std::string launch_text(const LaunchResult& launch, int architecture, bool disassembly) {
    const isa::Execution& run = launch.execution;
    std::string text = fmt::format(
        "{}<<<{}, {}{}>>> for sm_{}{}\n", extract::readable_name(launch.kernel->name),
        shape_text(launch.launch->grid), shape_text(launch.launch->block),
        launch.launch->shared_bytes > 0 ? fmt::format(", {} bytes", launch.launch->shared_bytes)
                                        : "",
        architecture, launch.times == 1 ? "" : fmt::format(", {} times", grouped(launch.times)));
    text += fmt::format(
        "  {} group{}, {} warp{}; {} warp-instructions, {} per warp; {} lanes active on average\n",
        grouped(run.groups), run.groups == 1 ? "" : "s", grouped(run.warps),
        run.warps == 1 ? "" : "s", grouped(run.warp_instructions),
        per(run.warp_instructions, run.warps), per(run.lane_instructions, run.warp_instructions));
    text += fmt::format("  {} branch{} by warps, {} divergent{}\n", grouped(run.branches),
                        run.branches == 1 ? "" : "es", grouped(run.divergent_branches),
                        run.branches == 0
                            ? ""
                            : fmt::format(" ({})", percent(run.divergent_branches, run.branches)));
    text += "  " + occupancy_text(launch.occupancy) + "\n";
    if (run.in_order)
        text +=
            "  groups ran on one thread: the order of their atomic operations or allocations shows "
            "in the\n"
            "  result, or a loop may wait for what other groups write\n";
    const auto section = [&](const char* title, const std::string& table) {
        if (!table.empty()) text += fmt::format("\n  {}\n{}", title, indented(table));
    };
    section("Printed", run.printed);
    section("By unit", counts_table("unit", by_unit(launch), run.warp_instructions));
    section("By opcode", counts_table("opcode", by_opcode(launch), run.warp_instructions));
    section("Global and local memory: 32-byte sectors and 128-byte lines per request",
            sector_table(launch));
    if (launch.footprint.sectors > 0)
        text += fmt::format("  different sectors: {} read, {} written, {} in all\n",
                            size_text(launch.footprint.sectors_read * extract::sector_bytes),
                            size_text(launch.footprint.sectors_written * extract::sector_bytes),
                            size_text(launch.footprint.sectors * extract::sector_bytes));
    section("Shared memory: passes per request", pass_table(launch));
    text += atomic_lines(launch);
    section("By source line", line_table(launch));
    if (disassembly) text += "\n" + listing(launch, architecture);
    return text;
}

std::string buffer_text(const ExecutedBuffer& one) {
    const extract::BufferSummary& summary = one.summary;
    std::string text =
        fmt::format("{}: {}[{}], first {}", one.buffer.name, to_string(one.buffer.type),
                    one.buffer.count, fmt::join(summary.first, " "));
    if (summary.least)
        text += fmt::format("; from {:.7g} to {:.7g}", *summary.least, *summary.greatest);
    if (summary.mean) text += fmt::format(", mean {:.7g}", *summary.mean);
    if (summary.not_a_number > 0)
        text += fmt::format("; {} not a number", grouped(summary.not_a_number));
    if (summary.infinite > 0) text += fmt::format("; {} infinite", grouped(summary.infinite));
    text += fmt::format("; {}\n", summary.hash);
    if (!one.comparison) return text;
    const extract::BufferComparison& comparison = *one.comparison;
    if (comparison.equal_bits == comparison.elements)
        return text + fmt::format("  equals {} bit for bit\n", one.against);
    std::string largest = "no finite difference";
    if (comparison.greatest_difference)
        largest = fmt::format("largest difference {:.4g} at element {}",
                              *comparison.greatest_difference, comparison.greatest_at);
    if (comparison.agrees())
        return text + fmt::format(
                          "  agrees with {} within the tolerance; {} elements have other "
                          "bits, {}\n",
                          one.against, grouped(comparison.elements - comparison.equal_bits),
                          largest);
    return text + fmt::format(
                      "  DIFFERS from {}: {} of {} elements, the first {}: {}, expected {}; "
                      "{}\n",
                      one.against, grouped(comparison.different), grouped(comparison.elements),
                      *comparison.first, comparison.found, comparison.expected, largest);
}

template <typename KeyOf>
std::vector<OpcodeCount> counted(const LaunchResult& launch, KeyOf key_of) {
    std::map<std::string, isa::InstructionCount> sums;
    for (std::size_t i = 0; i < launch.execution.counts.size(); ++i) {
        const isa::InstructionCount& count = launch.execution.counts[i];
        if (count.warps == 0) continue;
        isa::InstructionCount& sum = sums[std::string(key_of((*launch.execution.code)[i].opcode))];
        sum.warps += count.warps;
        sum.lanes += count.lanes;
    }
    std::vector<OpcodeCount> list;
    for (const auto& [name, count] : sums) list.push_back({name, count});
    std::ranges::stable_sort(list, std::ranges::greater{},
                             [](const OpcodeCount& one) { return one.count.warps; });
    return list;
}

}  // namespace

std::string occupancy_text(const Occupancy& occupancy) {
    return fmt::format("a core holds {} group{} of {} warp{}, {:.0f} % of its warps; limited by {}",
                       occupancy.groups, occupancy.groups == 1 ? "" : "s", occupancy.group_warps,
                       occupancy.group_warps == 1 ? "" : "s", 100 * occupancy.share,
                       to_text(occupancy.limits.front().what));
}

std::vector<OpcodeCount> by_opcode(const LaunchResult& launch) {
    return counted(launch, [](std::string_view opcode) { return opcode; });
}

std::vector<OpcodeCount> by_unit(const LaunchResult& launch) {
    return counted(launch, [](std::string_view opcode) { return extract::unit_of(opcode); });
}

std::vector<LineCount> by_line(const LaunchResult& launch) {
    // By file, then number.
    std::map<std::pair<std::string, int>, LineCount> lines;
    std::vector<LineCount*> of_instruction(launch.execution.counts.size());
    for (std::size_t i = 0; i < launch.execution.counts.size(); ++i) {
        const isa::InstructionCount& count = launch.execution.counts[i];
        const std::string text = line_of(launch, i);
        if (count.warps == 0 || text.empty()) continue;
        const std::size_t colon = text.rfind(':');
        LineCount& line = lines[{text.substr(0, colon), std::atoi(text.c_str() + colon + 1)}];
        line.line = text;
        line.count.warps += count.warps;
        line.count.lanes += count.lanes;
        of_instruction[i] = &line;
    }
    for (const MemorySite& site : launch.sites)
        if (of_instruction[site.instruction] != nullptr)
            of_instruction[site.instruction]->memory += site.counts;
    std::vector<LineCount> list;
    for (auto& [key, line] : lines) list.push_back(std::move(line));
    return list;
}

std::string to_text(const ExecutionReport& report, bool disassembly) {
    std::string text;
    if (!report.compiler.empty())
        text += fmt::format("{}: compiled by {} with {}\n", report.kernels, report.compiler,
                            fmt::join(report.options, " "));
    isa::Execution all;
    std::uint64_t launches = 0;
    for (const LaunchResult& launch : report.launches) {
        if (!text.empty()) text += "\n";
        text += launch_text(launch, report.architecture, disassembly);
        launches += launch.times;
        all.warp_instructions += launch.execution.warp_instructions;
        all.lane_instructions += launch.execution.lane_instructions;
        all.branches += launch.execution.branches;
        all.divergent_branches += launch.execution.divergent_branches;
    }
    if (launches > 1)
        text += fmt::format(
            "\nAll {} launches: {} warp-instructions, {} lanes active on average; {} branches, {} "
            "divergent\n",
            grouped(launches), grouped(all.warp_instructions),
            per(all.lane_instructions, all.warp_instructions), grouped(all.branches),
            grouped(all.divergent_branches));
    if (!report.ended_early.empty()) text += "\n" + report.ended_early + "\n";
    if (!report.buffers.empty()) text += "\n";
    for (const ExecutedBuffer& one : report.buffers) text += buffer_text(one);
    return text;
}

}  // namespace occupipe::report
