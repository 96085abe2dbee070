// SPDX-License-Identifier: MIT
// The CSV among what NVIDIA's profilers print: messages ("==PROF== …"), what the program printed,
// then a table.
//   const auto first = profiler_table_line(text, "ID");
//   for (const CsvRecord& record : profiler_table(text, "ncu.csv", *first))
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/csv.h"

namespace occupipe::analysis {

// The line of the header, from 1: the first whose first column is this word.
std::optional<int> profiler_table_line(const std::string& text, std::string_view first_column);

// From that line on, without messages and blank lines; lines of records are those of the file.
// Throws InputError as parse_csv() does.
std::vector<CsvRecord> profiler_table(const std::string& text, const std::string& file_name,
                                      int first_line);

std::optional<std::size_t> profiler_column(const std::vector<std::string>& header,
                                           std::string_view name);

// As profilers write numbers: "1,234.5" with digits in groups of three, "1.5e+09"; finite.
std::optional<double> profiler_number(std::string_view text);

}  // namespace occupipe::analysis
