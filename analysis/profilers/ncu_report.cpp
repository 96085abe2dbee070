// SPDX-License-Identifier: MIT
#include "analysis/profilers/ncu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "analysis/profilers/profiler_csv.h"
#include "core/error.h"
#include "core/files/document.h"

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

// The columns that say what was launched.
struct LaunchColumns {
    explicit LaunchColumns(const Fields& header)
        : id(*profiler_column(header, "ID")),
          kernel(*profiler_column(header, "Kernel Name")),
          process(profiler_column(header, "Process ID")),
          device(profiler_column(header, "Device")),
          grid(profiler_column(header, "Grid Size")),
          block(profiler_column(header, "Block Size")) {}

    static std::string text(const Fields& fields, std::optional<std::size_t> column) {
        return column ? fields[*column] : "";
    }
    NcuKernel launch(const Fields& fields) const {
        return {.kernel = fields[kernel],
                .device = text(fields, device),
                .size = text(fields, grid) + " x " + text(fields, block),
                .metrics = {},
                .unusable = {}};
    }

    std::size_t id, kernel;
    std::optional<std::size_t> process, device, grid, block;
};

// Lines of a launch have its ID, in any order. It is another launch, of a file that was joined,
// where the lines begin anew.
Table long_form(const std::vector<CsvRecord>& records) {
    const Fields& header = records.front().fields;
    const LaunchColumns columns(header);
    const std::size_t name = *profiler_column(header, "Metric Name");
    const auto unit = profiler_column(header, "Metric Unit");
    const auto value = profiler_column(header, "Metric Value");
    const auto section = profiler_column(header, "Section Name");
    struct Launch {
        std::size_t at = 0;  // among the kernels
        std::set<std::string> metrics;
    };
    std::map<std::string, Launch> launches;
    Table table;
    std::string last;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const Fields& fields = records[i].fields;
        const std::string key = fields[columns.id] + "," +
                                LaunchColumns::text(fields, columns.process) + "," +
                                fields[columns.kernel];
        const std::string metric = LaunchColumns::text(fields, section) + "," + fields[name];
        Launch& launch = launches[key];
        const bool again = key != last && !fields[name].empty() && launch.metrics.contains(metric);
        if (launch.metrics.empty() || again) {
            launch = {.at = table.kernels.size(), .metrics = {}};
            table.kernels.push_back(columns.launch(fields));
        }
        launch.metrics.insert(metric);
        last = key;
        if (fields[name].empty()) continue;  // a rule of the page "details"
        table.cells.push_back({launch.at, metric_of(fields[name]), fields[*value],
                               LaunchColumns::text(fields, unit), records[i].line});
    }
    return table;
}

// A line of units, with an empty ID, follows the header, or units are in its names: "[us]".
Table wide_form(const std::vector<CsvRecord>& records) {
    Fields names = records.front().fields;
    const LaunchColumns columns(names);
    Fields units(names.size());
    for (std::size_t c = 0; c < names.size(); ++c)
        if (const std::size_t bracket = names[c].find(" [");
            names[c].ends_with(']') && bracket != std::string::npos) {
            units[c] = names[c].substr(bracket + 2, names[c].size() - bracket - 3);
            names[c].resize(bracket);
        }
    Table table;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const Fields& fields = records[i].fields;
        if (fields[columns.id].empty()) {
            units = fields;
            continue;
        }
        table.kernels.push_back(columns.launch(fields));
        for (std::size_t c = 0; c < names.size(); ++c)
            if (names[c].find("__") != std::string::npos)
                table.cells.push_back(
                    {table.kernels.size() - 1, names[c], fields[c], units[c], records[i].line});
    }
    return table;
}

// Counts by their name, which need no unit.
bool is_count(const std::string& metric) {
    constexpr std::array words = {"inst", "sectors", "requests", "cycles", "threads", "warps"};
    return metric.ends_with(".sum") && std::ranges::any_of(words, [&](const char* word) {
               return metric.find(word) != std::string::npos;
           });
}

// Whole numbers in the unit itself, so that "1.000" is no number with a fraction.
bool is_whole(const Cell& cell) {
    constexpr std::array units = {"byte", "B",     "inst",    "cycle",    "sector", "thread",
                                  "warp", "block", "request", "register", "ns",     "nsecond"};
    return cell.unit.empty() ? is_count(cell.metric)
                             : std::ranges::find(units, cell.unit) != units.end();
}

// Puts the number where it belongs.
void add_metric(NcuKernel& kernel, const Cell& cell, DecimalSign sign) {
    const auto value = profiler_number(cell.text, sign);
    const auto factor = factor_of(cell.unit);
    if (!value)
        kernel.unusable[cell.metric] = {
            cell.line, cell.text.empty() ? "there is nothing in its place"
                                         : fmt::format("'{}' is not a number", cell.text)};
    else if (cell.unit.empty() && !is_count(cell.metric))
        kernel.unusable[cell.metric] = {cell.line, "the file has no unit for it"};
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
        if (!sign && is_whole(cell) && cell.text.find('.') != std::string::npos &&
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
    if (!first) {
        require_text(text, file_name);
        throw InputError(file_name, {}, "",
                         "no header with the column ID; this is not the output of ncu --csv");
    }
    // Lines of the page "details" without a rule end before its columns.
    const std::vector<CsvRecord> records = profiler_table(text, file_name, *first, "Metric Value");
    const Fields& header = records.front().fields;
    if (!profiler_column(header, "Kernel Name"))
        throw InputError(file_name, {*first, 0}, "",
                         "no column 'Kernel Name'; this is not the output of ncu --csv");
    const bool by_metric = profiler_column(header, "Metric Name").has_value();
    if (by_metric && !profiler_column(header, "Metric Value"))
        throw InputError(file_name, {*first, 0}, "", "no column 'Metric Value'");
    Table table = by_metric ? long_form(records) : wide_form(records);
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
