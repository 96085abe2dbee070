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

// Puts the metric where it belongs.
void add_metric(NcuKernel& kernel, const std::string& metric, const std::string& text,
                std::string_view unit, int line) {
    const auto value = profiler_number(text);
    const auto factor = factor_of(unit);
    if (!value)
        kernel.unusable[metric] = {line, text.empty() ? "nothing stands in its place"
                                                      : fmt::format("'{}' is not a number", text)};
    else if (!factor)
        kernel.unusable[metric] = {line, fmt::format("the unit '{}' is not known", unit)};
    else
        kernel.metrics[metric] = *value * *factor;
}

std::vector<NcuKernel> long_form(const std::vector<CsvRecord>& records, std::size_t id,
                                 std::size_t kernel) {
    const Fields& header = records.front().fields;
    const std::size_t name = *profiler_column(header, "Metric Name");
    const auto unit = profiler_column(header, "Metric Unit");
    const auto value = profiler_column(header, "Metric Value");
    std::vector<NcuKernel> kernels;
    std::string last;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const Fields& fields = records[i].fields;
        if (kernels.empty() || fields[id] != last) kernels.push_back({fields[kernel], {}, {}});
        last = fields[id];
        add_metric(kernels.back(), fields[name], fields[*value], unit ? fields[*unit] : "",
                   records[i].line);
    }
    return kernels;
}

// A line of units, with an empty ID, follows the header.
std::vector<NcuKernel> wide_form(const std::vector<CsvRecord>& records, std::size_t id,
                                 std::size_t kernel) {
    const Fields& header = records.front().fields;
    Fields units(header.size());
    std::vector<NcuKernel> kernels;
    for (std::size_t i = 1; i < records.size(); ++i) {
        const Fields& fields = records[i].fields;
        if (fields[id].empty()) {
            units = fields;
            continue;
        }
        kernels.push_back({fields[kernel], {}, {}});
        for (std::size_t c = 0; c < header.size(); ++c) {
            if (header[c].find("__") == std::string::npos) continue;
            add_metric(kernels.back(), header[c], fields[c], units[c], records[i].line);
        }
    }
    return kernels;
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
    return by_metric ? long_form(records, *id, *kernel) : wide_form(records, *id, *kernel);
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
