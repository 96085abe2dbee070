// SPDX-License-Identifier: MIT
// Comma-separated values as in RFC 4180.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace occupipe {

struct CsvRecord {
    int line = 0;  // where it begins, from 1
    std::vector<std::string> fields;
};

// The first record is the header; every other one has as many fields, or ends behind the column
// `last_needed`, where the missing ones are empty. Lines end in LF or CR LF; an empty line is
// refused. Throws InputError naming file and line.
std::vector<CsvRecord> parse_csv(const std::string& text, const std::string& file_name,
                                 std::string_view last_needed = {});

// Throws InputError where semicolons separate the columns of a header, and no commas.
void refuse_semicolons(std::string_view header, const std::string& file_name, int line);

// The header again, as in files that were joined.
void drop_repeated_headers(std::vector<CsvRecord>& records);

// Quoted if necessary.
std::string csv_text(std::string_view field);

}  // namespace occupipe
