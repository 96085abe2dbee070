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

// The line of the header, from 1: the first whose first column is this word. Also where semicolons
// separate columns, which profiler_table() refuses.
std::optional<int> profiler_table_line(const std::string& text, std::string_view first_column);

// From that line on, without messages and blank lines; lines of records are those of the file.
// Throws InputError as parse_csv() does.
std::vector<CsvRecord> profiler_table(const std::string& text, const std::string& file_name,
                                      int first_line, std::string_view last_needed = {});

std::optional<std::size_t> profiler_column(const std::vector<std::string>& header,
                                           std::string_view name);

// The sign before a fraction, after the locale that the profiler ran in: "1,234.5", or "1.234,5" as
// in German. Blanks and apostrophes may group digits in both.
enum class DecimalSign { point, comma };

// The one that these numbers prove, as "12.5" or "1.234.567" do and "1.234" does not; absent where
// none does, or some prove the other.
std::optional<DecimalSign> decimal_sign(const std::vector<std::string_view>& numbers);

// As profilers write numbers: "1,234.5" with digits in groups of three, "1.5e+09"; finite.
std::optional<double> profiler_number(std::string_view text, DecimalSign sign = DecimalSign::point);

}  // namespace occupipe::analysis
