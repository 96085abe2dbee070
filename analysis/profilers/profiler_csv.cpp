// SPDX-License-Identifier: MIT
#include "analysis/profilers/profiler_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.h"

namespace occupipe::analysis {
namespace {

// Calls `visit` with each line and its number until it returns false.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
    int line = 1;
    for (std::size_t at = 0; at < text.size(); ++line) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        if (!visit(text.substr(at, end - at), line)) return;
        at = end + 1;
    }
}

}  // namespace

std::optional<int> profiler_table_line(const std::string& text, std::string_view first_column) {
    const std::string quoted = fmt::format("\"{}\",", first_column);
    const std::string plain = fmt::format("{},", first_column);
    std::optional<int> found;
    for_each_line(text, [&](std::string_view one, int line) {
        if (one.starts_with(quoted) || one.starts_with(plain)) found = line;
        return !found;
    });
    return found;
}

std::vector<CsvRecord> profiler_table(const std::string& text, const std::string& file_name,
                                      int first_line) {
    std::string table;
    std::vector<int> lines;  // of the file, by line of the table
    for_each_line(text, [&](std::string_view one, int line) {
        const bool blank = one.find_first_not_of("\r ") == std::string_view::npos;
        if (line >= first_line && !one.starts_with("==") && !blank) {
            table.append(one).push_back('\n');
            lines.push_back(line);
        }
        return true;
    });
    std::vector<CsvRecord> records;
    try {
        records = parse_csv(table, file_name);
    } catch (const InputError& error) {
        if (first_line == 1) throw;
        throw InputError(fmt::format("{} (lines counted from the table's header in line {})",
                                     error.what(), first_line));
    }
    for (CsvRecord& record : records)
        record.line = lines[static_cast<std::size_t>(record.line) - 1];
    return records;
}

std::optional<std::size_t> profiler_column(const std::vector<std::string>& header,
                                           std::string_view name) {
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
}

std::optional<double> profiler_number(std::string_view text) {
    std::string digits;
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::size_t first = text.find(',');
    if (first != std::string_view::npos) {
        // Groups of three up to the point, the first of one to three.
        if (first == 0 || first > 3) return std::nullopt;
        for (std::size_t at = 0; at < text.size(); ++at)
            if ((text[at] == ',') != (at >= first && at < point && (at - first) % 4 == 0))
                return std::nullopt;
        if ((point - first) % 4 != 0) return std::nullopt;
    }
    for (const char c : text)
        if (c != ',') digits += c;
    double value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

}  // namespace occupipe::analysis
