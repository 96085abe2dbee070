// SPDX-License-Identifier: MIT
// ekondis/mixbench: mixbench-*/mix_kernels_*, whose tables have four columns for each kind of
// operation: operations per byte, ms, 10^9 operations/s, GB/s.
#include <fmt/format.h>

#include <array>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"

namespace occupipe::analysis {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kinds = {
    {{"Single Precision ops", "fma.f32"},
     {"Double precision ops", "fma.f64"},
     {"Half precision ops", "fma.f16x2"},
     {"Integer operations", "mad.s32"}}};

struct Cell {
    std::string text;  // without blanks around it
    int column = 0;    // from 1
};

std::vector<Cell> cells_of(const TextLine& line) {
    std::vector<Cell> cells;
    for (std::size_t at = 0; at <= line.text.size();) {
        const std::size_t end = std::min(line.text.find(',', at), line.text.size());
        const std::size_t begin = std::min(line.text.find_first_not_of(" \t\r", at), end);
        std::size_t stop = end;
        while (stop > begin &&
               std::string_view(" \t\r").find(line.text[stop - 1]) != std::string_view::npos)
            --stop;
        cells.push_back({line.text.substr(begin, stop - begin), static_cast<int>(begin) + 1});
        at = end + 1;
    }
    return cells;
}

// A number of the block above the table, "Total SPs:           2304 (36 MPs x 64 SPs/MP)".
std::optional<int> cores_of(const TextLine& line) {
    for (std::size_t i = 1; i < line.words.size(); ++i) {
        const std::string& unit = line.words[i].text;
        if (unit != "MPs" && unit != "CUs") continue;
        std::string number = line.words[i - 1].text;
        if (number.starts_with('(')) number.erase(0, 1);
        constexpr double most = 1e5;
        if (const auto value = positive_number(number); value && *value <= most)
            return static_cast<int>(*value);
    }
    return std::nullopt;
}

constexpr std::size_t group = 4;  // columns of a kind of operation

// A line of the table, after the number of iterations a group of columns for each instruction.
void add_line(const InputText& file, const TextLine& line, const std::vector<Cell>& cells,
              const std::vector<std::string_view>& instructions,
              std::vector<Throughput>& throughputs, LeftOut& left_out) {
    if (cells.size() != 1 + group * instructions.size())
        throw InputError(file.name, {line.number, 1}, "",
                         fmt::format("{} numbers; the table has {}", cells.size(),
                                     1 + group * instructions.size()));
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        const Cell* const of_kind = &cells[1 + group * i];
        const auto add = [&](const Cell& cell, std::string_view instruction, const char* unit) {
            if (const auto value = left_out.figure(cell.text, {line.number, cell.column}, unit))
                throughputs.push_back(
                    {.instruction = instruction,
                     .per_second = *value * 1e9,
                     .reference = fmt::format("mixbench, {} at {} operations per byte: {} {}",
                                              instructions[i], of_kind[0].text, cell.text, unit)});
        };
        if (!instructions[i].empty()) add(of_kind[2], instructions[i], "10^9 operations/s");
        // Its loads of single precision are of 4 bytes.
        if (instructions[i] == "fma.f32") add(of_kind[3], "ld.global.f32", "GB/s");
    }
}

}  // namespace

ImportedProfile import_mixbench(const InputText& file, const DeviceHints& hints) {
    ImportedProfile out;
    DeviceHints known = hints;
    std::optional<int> cores;
    std::vector<std::string_view> instructions;  // by group of columns; empty: of no known kind
    std::vector<Throughput> throughputs;
    LeftOut left_out(file.name);
    for (const TextLine& line : text_lines(file)) {
        const std::string& first = line.words.front().text;
        const std::vector<Cell> cells = cells_of(line);
        if (first == "Device:" && known.name.empty() && line.words.size() > 1) {
            const TextWord& last = line.words.back();
            const auto begin = static_cast<std::size_t>(line.words[1].column) - 1;
            const auto end = static_cast<std::size_t>(last.column) - 1 + last.text.size();
            known.name = line.text.substr(begin, end - begin);
        } else if (first == "WarpSize:" && !known.warp_size) {
            constexpr double most = 1024;
            if (const auto value = positive_number(line.words.back().text);
                value && *value >= 1 && *value <= most)
                known.warp_size = static_cast<int>(*value);
        } else if (first == "Total" && !cores) {
            cores = cores_of(line);
        } else if (first == "Experiment") {
            instructions.clear();
            for (std::size_t c = 1; c < cells.size(); c += group) {
                instructions.emplace_back();
                for (const auto& [kind, instruction] : kinds)
                    if (cells[c].text == kind) instructions.back() = instruction;
            }
        } else if (!instructions.empty() && cells.size() > 1 && first.front() >= '0' &&
                   first.front() <= '9') {
            add_line(file, line, cells, instructions, throughputs, left_out);
        }
    }
    if (throughputs.empty())
        left_out.refuse(InputError(file.name, {1, 1}, "",
                                   "has no line of mixbench's table below 'Experiment ID'"));
    out.profile.device.name = device_name_of(file, known);
    set_rate_facts(out.profile, file, known, cores);
    add_bounds(out, throughputs);
    add_origin(out.profile, file, "mixbench: greatest throughput of mixes, no latency");
    left_out.tell(out.notes);
    out.notes.emplace_back(
        "GB/s are those of loads and stores together, taken for loads of single precision");
    validate_imported(out.profile, file.name);
    return out;
}

}  // namespace occupipe::analysis
