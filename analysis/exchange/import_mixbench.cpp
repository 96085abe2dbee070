// SPDX-License-Identifier: MIT
// ekondis/mixbench: mixbench-*/mix_kernels_*, whose tables have four columns for each kind of
// operation: operations per byte, ms, 10^9 operations/s, GB/s.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/exchange/imported.h"
#include "analysis/exchange/text_table.h"
#include "analysis/exchange/throughput_bounds.h"
#include "core/files/csv.h"

namespace occupipe::analysis {
namespace {

using Kind = std::pair<std::string_view, std::string_view>;
constexpr std::array<Kind, 4> kinds = {{{"Single Precision ops", "fma.f32"},
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

// A number of the block above the table, "Total SPs:           2304 (36 MPs x 64 SPs/MP)", or
// "Total CUs:           8" of OpenCL and SYCL.
std::optional<int> cores_of(const TextLine& line) {
    for (std::size_t i = 1; i < line.words.size(); ++i) {
        const std::string& unit = line.words[i].text;
        const bool before = unit == "MPs" || unit == "CUs";
        const bool behind = (unit == "MPs:" || unit == "CUs:") && i + 1 < line.words.size();
        if (!before && !behind) continue;
        std::string number = line.words[before ? i - 1 : i + 1].text;
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

// What the file says of one device, in one run or several.
struct MixbenchDevice {
    std::string name;  // empty: not told
    std::optional<int> warp_size;
    std::optional<int> cores;
    std::vector<Throughput> throughputs;
    LeftOut left_out;
    std::vector<std::string> unknown;  // kinds of operations
};

class Reader {
public:
    explicit Reader(const InputText& file) : file_(file) {}

    // Those with a table.
    std::vector<MixbenchDevice> read() {
        for (const TextLine& line : text_lines(file_)) one(line);
        std::erase_if(devices_, [&](const MixbenchDevice& one) {
            if (!one.throughputs.empty()) return false;
            nothing_ = one.left_out;
            return true;
        });
        if (devices_.empty())
            nothing_.refuse(InputError(file_.name, {1, 1}, "",
                                       "has no line of mixbench's table below 'Experiment ID'"));
        return std::move(devices_);
    }

private:
    MixbenchDevice& device(const std::string& name) {
        auto found = std::ranges::find(devices_, name, &MixbenchDevice::name);
        if (found == devices_.end()) {
            devices_.push_back({.name = name,
                                .warp_size = {},
                                .cores = {},
                                .throughputs = {},
                                .left_out = LeftOut(file_.name),
                                .unknown = {}});
            found = std::prev(devices_.end());
        }
        return *found;
    }

    void one(const TextLine& line) {
        const std::string& first = line.words.front().text;
        const std::vector<Cell> cells = cells_of(line);
        if (first == "Device:") {
            name_.clear();
            if (line.words.size() > 1) {
                const TextWord& last = line.words.back();
                const auto begin = static_cast<std::size_t>(line.words[1].column) - 1;
                const auto end = static_cast<std::size_t>(last.column) - 1 + last.text.size();
                name_ = line.text.substr(begin, end - begin);
            }
            instructions_.clear();
        }
        MixbenchDevice& now = device(name_);
        if (first == "WarpSize:" && !now.warp_size) {
            constexpr double most = 1024;
            if (const auto value = positive_number(line.words.back().text);
                value && *value >= 1 && *value <= most)
                now.warp_size = static_cast<int>(*value);
        } else if (first == "Total" && !now.cores) {
            now.cores = cores_of(line);
        } else if (first == "Experiment") {
            refuse_semicolons(line.text, file_.name, line.number);
            instructions_.clear();
            for (std::size_t c = 1; c < cells.size(); c += group) {
                const auto kind = std::ranges::find(kinds, cells[c].text, &Kind::first);
                instructions_.push_back(kind == kinds.end() ? "" : kind->second);
                if (kind == kinds.end() &&
                    std::ranges::find(now.unknown, cells[c].text) == now.unknown.end())
                    now.unknown.push_back(cells[c].text);
            }
        } else if (!instructions_.empty() && cells.size() > 1 && first.front() >= '0' &&
                   first.front() <= '9') {
            add_line(file_, line, cells, instructions_, now.throughputs, now.left_out);
        }
    }

    const InputText& file_;
    std::string name_;                            // of the device that the lines are of
    std::vector<std::string_view> instructions_;  // by group of columns; empty: of no known kind
    std::vector<MixbenchDevice> devices_;
    LeftOut nothing_{file_.name};  // of devices without a table
};

}  // namespace

ImportedProfile import_mixbench(const InputText& file, const DeviceHints& hints) {
    ImportedProfile out;
    const std::vector<MixbenchDevice> devices = Reader(file).read();
    std::vector<std::string> names;
    for (const MixbenchDevice& one : devices) names.push_back(one.name);
    const MixbenchDevice& found =
        devices[chosen_device(file, names, hints.device, false, out.notes)];
    DeviceHints known = hints;
    if (known.name.empty()) known.name = found.name;
    if (!known.warp_size) known.warp_size = found.warp_size;
    out.profile.device.name = device_name_of(file, known);
    set_rate_facts(out.profile, file, known, found.cores);
    add_bounds(out, found.throughputs);
    add_origin(out.profile, file, "mixbench: greatest throughput of mixes, no latency");
    found.left_out.tell(out.notes);
    if (!found.unknown.empty())
        out.notes.push_back(
            fmt::format("left out, of no known instruction: {}", fmt::join(found.unknown, ", ")));
    out.notes.emplace_back(
        "GB/s are those of loads and stores together, taken for loads of single precision");
    validate_imported(out.profile, file.name);
    return out;
}

}  // namespace occupipe::analysis
