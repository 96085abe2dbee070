// SPDX-License-Identifier: MIT
// columnar/parquet.h by Apache Arrow.
#include <arrow/api.h>
#include <arrow/config.h>
#include <arrow/io/file.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>
#include <parquet/exception.h>

#include <charconv>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string_view>

#include "columnar/parquet.h"
#include "core/error.h"

namespace occupipe::columnar {
namespace {

namespace fs = std::filesystem;

template <typename... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    throw std::runtime_error(fmt::format(text, std::forward<Arguments>(arguments)...));
}

void require(const arrow::Status& status, const fs::path& path) {
    if (!status.ok()) fail("{}: {}", path.string(), status.ToString());
}

template <typename Value>
Value require(arrow::Result<Value> result, const fs::path& path) {
    require(result.status(), path);
    return std::move(result).ValueUnsafe();
}

std::shared_ptr<arrow::DataType> arrow_type(ColumnType type) {
    switch (type) {
        case ColumnType::whole:
            return arrow::int64();
        case ColumnType::real:
            return arrow::float64();
        case ColumnType::text:
            return arrow::utf8();
        case ColumnType::shares:
            return arrow::map(arrow::utf8(), arrow::float64());
    }
    return arrow::utf8();
}

ColumnType column_type(const arrow::DataType& type, const fs::path& path) {
    for (const ColumnType one :
         {ColumnType::whole, ColumnType::real, ColumnType::text, ColumnType::shares})
        if (arrow_type(one)->id() == type.id()) return one;
    throw InputError(fmt::format("{}: has a column of type {}, which no table of occupipe has",
                                 path.string(), type.ToString()));
}

std::shared_ptr<arrow::Schema> schema_of(const Table& table) {
    arrow::FieldVector fields;
    for (const Column& one : table.columns) {
        std::vector<std::string> keys, values;
        const auto tell = [&](const char* key, const std::string& value) {
            if (value.empty()) return;
            keys.emplace_back(key);
            values.push_back(value);
        };
        tell("unit", one.unit);
        tell("meaning", one.meaning);
        tell("null", one.absent);
        auto field = arrow::field(one.name, arrow_type(one.type));
        if (!keys.empty())
            field =
                field->WithMetadata(arrow::key_value_metadata(std::move(keys), std::move(values)));
        fields.push_back(std::move(field));
    }
    std::vector<std::string> keys, values;
    for (const auto& [key, value] : table.metadata) {
        keys.push_back(key);
        values.push_back(value);
    }
    return arrow::schema(std::move(fields),
                         arrow::key_value_metadata(std::move(keys), std::move(values)));
}

arrow::Compression::type compression() {
    for (const auto one : {arrow::Compression::ZSTD, arrow::Compression::SNAPPY})
        if (arrow::util::Codec::IsAvailable(one)) return one;
    return arrow::Compression::UNCOMPRESSED;
}

template <typename Number>
Number number(std::string_view text, const Column& column) {
    Number value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault != std::errc() || end != text.data() + text.size())
        throw InputError(
            fmt::format("column {}: '{}' is not a number of its type", column.name, text));
    return value;
}

class Writer : public TableWriter {
public:
    Writer(fs::path path, const Table& table)
        : path_(std::move(path)), columns_(table.columns), schema_(schema_of(table)) {
        sink_ = require(arrow::io::FileOutputStream::Open(path_.string()), path_);
        const auto properties = parquet::WriterProperties::Builder()
                                    .compression(compression())
                                    ->max_row_group_length(rows_per_group)
                                    ->build();
        const auto as_arrow = parquet::ArrowWriterProperties::Builder().store_schema()->build();
        file_ = require(parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(),
                                                         sink_, properties, as_arrow),
                        path_);
        for (const Column& one : columns_)
            builders_.push_back(require(arrow::MakeBuilder(arrow_type(one.type)), path_));
    }

    void append(const std::vector<std::string>& cells) override {
        if (cells.size() != columns_.size())
            throw InputError(fmt::format("{}: a row of {} cells for {} columns", path_.string(),
                                         cells.size(), columns_.size()));
        for (std::size_t i = 0; i < cells.size(); ++i)
            require(append(columns_[i], cells[i], *builders_[i]), path_);
        if (++rows_ == rows_per_group) flush();
    }

    void finish() override {
        if (rows_ > 0) flush();
        require(file_->Close(), path_);
        require(sink_->Close(), path_);
    }

private:
    static arrow::Status append(const Column& column, const std::string& cell,
                                arrow::ArrayBuilder& builder) {
        if (cell == column.absent) return builder.AppendNull();
        switch (column.type) {
            case ColumnType::whole:
                return static_cast<arrow::Int64Builder&>(builder).Append(
                    number<std::int64_t>(cell, column));
            case ColumnType::real:
                return static_cast<arrow::DoubleBuilder&>(builder).Append(
                    number<double>(cell, column));
            case ColumnType::text:
                return static_cast<arrow::StringBuilder&>(builder).Append(cell);
            case ColumnType::shares:
                return append_shares(column, cell, static_cast<arrow::MapBuilder&>(builder));
        }
        return arrow::Status::OK();
    }

    // "alu=0.25 mem=1"
    static arrow::Status append_shares(const Column& column, std::string_view cell,
                                       arrow::MapBuilder& builder) {
        ARROW_RETURN_NOT_OK(builder.Append());
        auto& names = static_cast<arrow::StringBuilder&>(*builder.key_builder());
        auto& values = static_cast<arrow::DoubleBuilder&>(*builder.item_builder());
        while (!cell.empty()) {
            const std::size_t end = std::min(cell.find(' '), cell.size());
            const std::string_view word = cell.substr(0, end);
            const std::size_t equals = word.rfind('=');
            if (equals == std::string_view::npos)
                throw InputError(
                    fmt::format("column {}: '{}' is not NAME=SHARE", column.name, word));
            ARROW_RETURN_NOT_OK(names.Append(word.substr(0, equals)));
            ARROW_RETURN_NOT_OK(values.Append(number<double>(word.substr(equals + 1), column)));
            cell.remove_prefix(std::min(end + 1, cell.size()));
        }
        return arrow::Status::OK();
    }

    void flush() {
        arrow::ArrayVector arrays;
        for (const auto& builder : builders_) arrays.push_back(require(builder->Finish(), path_));
        require(file_->WriteTable(*arrow::Table::Make(schema_, std::move(arrays), rows_), rows_),
                path_);
        rows_ = 0;
    }

    fs::path path_;
    std::vector<Column> columns_;
    std::shared_ptr<arrow::Schema> schema_;
    std::shared_ptr<arrow::io::FileOutputStream> sink_;
    std::unique_ptr<parquet::arrow::FileWriter> file_;
    std::vector<std::unique_ptr<arrow::ArrayBuilder>> builders_;
    std::int64_t rows_ = 0;  // in the builders
};

class Reader : public TableReader {
public:
    explicit Reader(fs::path path) : path_(std::move(path)) {
        auto file = require(arrow::io::ReadableFile::Open(path_.string()), path_);
        parquet::arrow::FileReaderBuilder builder;
        if (const arrow::Status status = builder.Open(std::move(file)); !status.ok())
            throw InputError(fmt::format("{}: is not a whole Parquet file ({})", path_.string(),
                                         status.message()));
        require(builder.Build(&file_), path_);
        std::shared_ptr<arrow::Schema> schema;
        require(file_->GetSchema(&schema), path_);
        for (const auto& field : schema->fields()) {
            Column column{.name = field->name(), .type = column_type(*field->type(), path_)};
            if (const auto& told = field->metadata()) {
                const auto get = [&](const char* key) { return told->Get(key).ValueOr(""); };
                column.unit = get("unit");
                column.meaning = get("meaning");
                column.absent = get("null");
            }
            table_.columns.push_back(std::move(column));
        }
        if (const auto& told = schema->metadata())
            for (std::int64_t i = 0; i < told->size(); ++i)
                table_.metadata.emplace_back(told->key(i), told->value(i));
    }

    const Table& table() const override { return table_; }
    std::int64_t rows() const override { return file_->parquet_reader()->metadata()->num_rows(); }

    bool next(std::vector<std::string>& cells) override {
        while (row_ == rows_in_group_) {
            if (group_ == file_->num_row_groups()) return false;
            std::shared_ptr<arrow::Table> read;
            require(file_->ReadRowGroup(group_++, &read), path_);
            const auto whole = require(read->CombineChunks(), path_);
            arrays_.clear();
            for (const auto& column : whole->columns())
                arrays_.push_back(column->num_chunks() > 0 ? column->chunk(0) : nullptr);
            row_ = 0;
            rows_in_group_ = whole->num_rows();
        }
        cells.resize(arrays_.size());
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            cells[i] = text(table_.columns[i], *arrays_[i]);
        ++row_;
        return true;
    }

private:
    std::string text(const Column& column, const arrow::Array& array) const {
        if (array.IsNull(row_)) return column.absent;
        switch (column.type) {
            case ColumnType::whole:
                return fmt::format("{}", static_cast<const arrow::Int64Array&>(array).Value(row_));
            case ColumnType::real:
                return fmt::format("{}", static_cast<const arrow::DoubleArray&>(array).Value(row_));
            case ColumnType::text:
                return static_cast<const arrow::StringArray&>(array).GetString(row_);
            case ColumnType::shares: {
                const auto& map = static_cast<const arrow::MapArray&>(array);
                const auto& names = static_cast<const arrow::StringArray&>(*map.keys());
                const auto& values = static_cast<const arrow::DoubleArray&>(*map.items());
                std::string all;
                for (auto i = map.value_offset(row_); i < map.value_offset(row_ + 1); ++i)
                    fmt::format_to(std::back_inserter(all), "{}{}={}", all.empty() ? "" : " ",
                                   names.GetView(i), values.Value(i));
                return all;
            }
        }
        return {};
    }

    fs::path path_;
    Table table_;
    std::unique_ptr<parquet::arrow::FileReader> file_;
    int group_ = 0;  // the next
    std::vector<std::shared_ptr<arrow::Array>> arrays_;
    std::int64_t row_ = 0, rows_in_group_ = 0;
};

// Arrow's own exceptions stay in here: who opened this module does not know their types.
template <typename Run>
auto guarded(const fs::path& path, const Run& run) {
    try {
        return run();
    } catch (const parquet::ParquetException& error) {
        fail("{}: {}", path.string(), error.what());
    }
}

class ByArrow : public Parquet {
public:
    std::unique_ptr<TableWriter> write(const fs::path& path, const Table& table) const override {
        return guarded(path, [&] { return std::make_unique<Writer>(path, table); });
    }
    std::unique_ptr<TableReader> read(const fs::path& path) const override {
        return guarded(path, [&] { return std::make_unique<Reader>(path); });
    }
    std::string library() const override { return "Arrow " ARROW_VERSION_STRING; }
};

}  // namespace
}  // namespace occupipe::columnar

extern "C" __attribute__((visibility("default"))) const occupipe::columnar::Parquet*
occupipe_parquet_1() {
    static const occupipe::columnar::ByArrow arrow;
    return &arrow;
}
