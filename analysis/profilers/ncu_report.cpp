// SPDX-License-Identifier: MIT
#include "analysis/profilers/ncu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "analysis/profilers/profiler_csv.h"
#include "core/error.h"

namespace occupipe::analysis {
namespace {

using Fields = std::vector<std::string>;

// What one of the unit is in base units: "Mbyte" 1e6, "us" 1e-6, "KiB" 1024, "Gbyte/second" 1e9;
// nullopt where it is not known.
std::optional<double> factor_of(std::string_view unit) {
    if (const std::size_t slash = unit.find('/'); slash != std::string_view::npos) {
        const auto over = factor_of(unit.substr(0, slash));
        const auto under = factor_of(unit.substr(slash + 1));
        if (!over || !under) return std::nullopt;
        return *over / *under;
    }
    constexpr std::array bases = {"",     "%",     "byte",    "B",       "second", "s",
                                  "hz",   "Hz",    "inst",    "cycle",   "sector", "thread",
                                  "warp", "block", "request", "register"};
    const auto known = [&](std::string_view base) {
        return std::ranges::find(bases, base) != bases.end();
    };
    if (known(unit)) return 1;
    static const std::map<char, double> prefixes = {{'n', 1e-9}, {'u', 1e-6}, {'m', 1e-3},
                                                    {'K', 1e3},  {'k', 1e3},  {'M', 1e6},
                                                    {'G', 1e9},  {'T', 1e12}};
    const auto prefix = prefixes.find(unit.front());
    const std::string_view rest = unit.substr(1);
    if (prefix == prefixes.end() || rest == "%" || rest.empty()) return std::nullopt;
    if (rest == "iB" && prefix->second >= 1e3)
        return std::pow(1024.0, std::round(std::log10(prefix->second) / 3));
    if (!known(rest)) return std::nullopt;
    return prefix->second;
}

// A number of the table, where it stands.
struct Cell {
    std::size_t launch = 0;  // among the kernels
    std::string metric;
    std::string text;
    std::string unit;
    int line = 0;
};

struct Table {
    std::vector<NcuKernel> kernels;
    std::vector<Cell> cells;
};

// Labels that the page "details" has in the place of metrics, of those that are counts.
std::string metric_of(const std::string& name) {
    static const std::map<std::string, std::string, std::less<>> labels = {
        {"Executed Instructions", "smsp__inst_executed.sum"},
        {"Duration", "gpu__time_duration.sum"}};
    const auto found = labels.find(name);
    return found == labels.end() ? name : found->second;
}

Table long_form(const std::vector<CsvRecord>& records, std::size_t id, std::size_t kernel) {
    const Fields& header = records.front().fields;
    const std::size_t name = *profiler_column(header, "Metric Name");
    const auto unit = profiler_column(header, "Metric Unit");
    const auto value = profiler_column(header, "Metric Value");
    const auto process = profiler_column(header, "Process ID");
    Table table;
    std::string last;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const Fields& fields = records[i].fields;
        const std::string launch = fields[id] + (process ? "," + fields[*process] : "");
        if (table.kernels.empty() || launch != last)
            table.kernels.push_back({fields[kernel], {}, {}});
        last = launch;
        if (fields[name].empty()) continue;  // a rule of the page "details"
        table.cells.push_back({table.kernels.size() - 1, metric_of(fields[name]), fields[*value],
                               unit ? fields[*unit] : "", records[i].line});
    }
    return table;
}

// A line of units, with an empty ID, follows the header.
Table wide_form(const std::vector<CsvRecord>& records, std::size_t id, std::size_t kernel) {
    const Fields& header = records.front().fields;
    Fields units(header.size());
    Table table;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const Fields& fields = records[i].fields;
        if (fields[id].empty()) {
            units = fields;
            continue;
        }
        table.kernels.push_back({fields[kernel], {}, {}});
        for (std::size_t c = 0; c < header.size(); ++c)
            if (header[c].find("__") != std::string::npos)
                table.cells.push_back(
                    {table.kernels.size() - 1, header[c], fields[c], units[c], records[i].line});
    }
    return table;
}

// Whole numbers in the unit itself, so that "1.000" is no number with a fraction.
bool counts(const Cell& cell) {
    constexpr std::array units = {"byte",   "B",    "inst",  "cycle",   "sector",
                                  "thread", "warp", "block", "request", "register"};
    if (cell.unit.empty()) return cell.metric.ends_with(".sum");
    return std::ranges::find(units, cell.unit) != units.end();
}

// Puts the number where it belongs.
void add_metric(NcuKernel& kernel, const Cell& cell, DecimalSign sign) {
    const auto value = profiler_number(cell.text, sign);
    const auto factor = factor_of(cell.unit);
    if (!value)
        kernel.unusable[cell.metric] = {
            cell.line, cell.text.empty() ? "there is nothing in its place"
                                         : fmt::format("'{}' is not a number", cell.text)};
    else if (!factor)
        kernel.unusable[cell.metric] = {cell.line,
                                        fmt::format("the unit '{}' is not known", cell.unit)};
    else
        kernel.metrics[cell.metric] = *value * *factor;
}

void add_metrics(Table& table, const std::string& file_name) {
    std::vector<std::string_view> numbers;
    for (const Cell& cell : table.cells) numbers.emplace_back(cell.text);
    const auto sign = decimal_sign(numbers);
    for (const Cell& cell : table.cells) {
        if (!sign && counts(cell) && cell.text.find('.') != std::string::npos &&
            profiler_number(cell.text, DecimalSign::comma))
            throw InputError(
                file_name, {cell.line, 0}, cell.metric,
                fmt::format("'{}' is thousands where points group digits, as in a German locale, "
                            "and a fraction elsewhere, and no other number of the file shows "
                            "which; export it again with LC_ALL=C",
                            cell.text));
        add_metric(table.kernels[cell.launch], cell, sign.value_or(DecimalSign::point));
    }
}

}  // namespace

std::vector<NcuKernel> parse_ncu_csv(const std::string& text, const std::string& file_name) {
    const auto first = profiler_table_line(text, "ID");
    if (!first)
        throw InputError(file_name, {}, "",
                         "no header with the column ID; this is not the output of ncu --csv");
    const std::vector<CsvRecord> records = profiler_table(text, file_name, *first);
    const Fields& header = records.front().fields;
    const auto id = profiler_column(header, "ID");
    const auto kernel = profiler_column(header, "Kernel Name");
    if (!id || !kernel)
        throw InputError(file_name, {*first, 0}, "",
                         "no column 'Kernel Name'; this is not the output of ncu --csv");
    const bool by_metric = profiler_column(header, "Metric Name").has_value();
    if (by_metric && !profiler_column(header, "Metric Value"))
        throw InputError(file_name, {*first, 0}, "", "no column 'Metric Value'");
    Table table = by_metric ? long_form(records, *id, *kernel) : wide_form(records, *id, *kernel);
    add_metrics(table, file_name);
    return std::move(table.kernels);
}

const double* find_metric(const NcuKernel& kernel, std::string_view name) {
    for (const auto& [metric, value] : kernel.metrics) {
        const std::size_t prefix = metric.find("__");
        const std::string_view bare =
            prefix == std::string::npos ? metric : std::string_view(metric).substr(prefix + 2);
        if (bare == name) return &value;
    }
    return nullptr;
}

}  // namespace occupipe::analysis
