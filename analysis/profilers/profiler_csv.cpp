// SPDX-License-Identifier: MIT
#include "analysis/profilers/profiler_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/error.h"
#include "core/files/document.h"

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

// What groups digits beside points and commas, as one sign: apostrophes and narrow blanks.
std::string with_one_apostrophe(std::string_view text) {
    constexpr std::array<std::string_view, 3> signs = {"\u00a0", "\u202f", "\u2019"};
    std::string plain(text);
    for (const std::string_view sign : signs)
        for (std::size_t at = 0; (at = plain.find(sign, at)) != std::string::npos;)
            plain.replace(at, sign.size(), "'");
    return plain;
}

}  // namespace

std::optional<int> profiler_table_line(const std::string& text, std::string_view first_column) {
    const std::string quoted = fmt::format("\"{}\"", first_column);
    std::optional<int> found;
    for_each_line(text, [&](std::string_view one, int line) {
        if (line == 1) one.remove_prefix(mark_length(one));
        for (const std::string_view name : {std::string_view(quoted), first_column})
            if (one.starts_with(name) && one.size() > name.size() &&
                (one[name.size()] == ',' || one[name.size()] == ';'))
                found = line;
        return !found;
    });
    return found;
}

std::vector<CsvRecord> profiler_table(const std::string& text, const std::string& file_name,
                                      int first_line, std::string_view last_needed) {
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
        records = parse_csv(table, file_name, last_needed);
    } catch (const InputError& error) {
        if (first_line == 1) throw;
        throw InputError(fmt::format("{} (lines counted from the table's header in line {})",
                                     error.what(), first_line));
    }
    for (CsvRecord& record : records)
        record.line = lines[static_cast<std::size_t>(record.line) - 1];
    drop_repeated_headers(records);  // of several processes each may have one
    return records;
}

std::optional<std::size_t> profiler_column(const std::vector<std::string>& header,
                                           std::string_view name) {
    const auto found = std::ranges::find(header, name);
    if (found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
}

std::optional<DecimalSign> decimal_sign(const std::vector<std::string_view>& numbers) {
    bool point = false;
    bool comma = false;
    for (const std::string_view text : numbers) {
        const bool as_point = profiler_number(text, DecimalSign::point).has_value();
        const bool as_comma = profiler_number(text, DecimalSign::comma).has_value();
        point = point || (as_point && !as_comma);
        comma = comma || (as_comma && !as_point);
    }
    if (point == comma) return std::nullopt;
    return point ? DecimalSign::point : DecimalSign::comma;
}

std::optional<double> profiler_number(std::string_view text, DecimalSign sign) {
    const std::string plain = with_one_apostrophe(text);
    const char fraction = sign == DecimalSign::point ? '.' : ',';
    const char group = plain.find('\'') != std::string::npos ? '\''
                       : sign == DecimalSign::point          ? ','
                                                             : '.';
    std::string digits;
    const std::size_t end_of_groups = std::min(plain.find(fraction), plain.size());
    const std::size_t first = plain.find(group);
    if (first != std::string::npos) {
        // Groups of three up to the fraction, the first of one to three and not 0.
        const std::size_t begin = plain.starts_with('-') ? 1 : 0;
        if (first == begin || first > begin + 3 || plain[begin] == '0') return std::nullopt;
        for (std::size_t at = 0; at < plain.size(); ++at)
            if ((plain[at] == group) !=
                (at >= first && at < end_of_groups && (at - first) % 4 == 0))
                return std::nullopt;
        if ((end_of_groups - first) % 4 != 0) return std::nullopt;
    }
    for (const char c : plain) {
        if (c == group) continue;
        if (c == '.' && fraction != '.') return std::nullopt;
        digits += c == fraction ? '.' : c;
    }
    double value = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (fault != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

}  // namespace occupipe::analysis
