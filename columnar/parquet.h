// SPDX-License-Identifier: MIT
// Tables as Parquet files, by Apache Arrow where this program was built with it.
//   const auto file = columnar::parquet().write("rows.parquet", {.columns = {{.name = "cycles",
//       .type = columnar::ColumnType::real, .unit = "core cycles"}}, .metadata = {}});
//   file->append({"48386"});
//   file->finish();
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace occupipe::columnar {

enum class ColumnType : std::uint8_t {
    whole,   // int64
    real,    // double
    text,    // UTF-8
    shares,  // text → double: "alu=0.25 mem=1"
};

struct Column {
    std::string name;
    ColumnType type = ColumnType::text;
    std::string unit;     // "core cycles"; empty: it has none
    std::string meaning;  // one line
    std::string absent;   // the cell that says there is no value, as text; null in the file

    bool operator==(const Column&) const = default;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

struct Table {
    std::vector<Column> columns;
    Metadata metadata;  // of the file: key → value
};

// Rows of a file of Parquet are compressed and found in groups of so many.
inline constexpr std::int64_t rows_per_group = 65'536;

// Both take and give a row as its cells' text. Numbers are text that reads back as the same number
// (fmt's "{}"), so that rows that were written, read and written again are the same bytes. Both
// throw std::runtime_error with the path where the file cannot be written or read.
class TableWriter {
public:
    virtual ~TableWriter() = default;
    // As many cells as columns. Throws InputError where one is no value of its column's type.
    virtual void append(const std::vector<std::string>& cells) = 0;
    virtual void finish() = 0;  // without it, the file has no end and cannot be read
};

class TableReader {
public:
    virtual ~TableReader() = default;
    virtual const Table& table() const = 0;
    virtual std::int64_t rows() const = 0;
    virtual bool next(std::vector<std::string>& cells) = 0;  // false: there was no further row
};

class Parquet {
public:
    virtual ~Parquet() = default;
    // Replaces what is there. The bytes depend on table, rows and library alone.
    virtual std::unique_ptr<TableWriter> write(const std::filesystem::path& path,
                                               const Table& table) const = 0;
    // Of a file that write() made. Throws InputError for any other.
    virtual std::unique_ptr<TableReader> read(const std::filesystem::path& path) const = 0;
    virtual std::string library() const = 0;  // "Arrow 21.0.0"
};

// Opened at the first call. Throws InputError that says what to install where there is none, or
// where OCCUPIPE_PARQUET=none is in the environment.
const Parquet& parquet();

}  // namespace occupipe::columnar
