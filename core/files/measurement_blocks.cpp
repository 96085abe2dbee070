// SPDX-License-Identifier: MIT
#include "core/files/measurement_blocks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/file_kind.h"
#include "core/files/json_reader.h"
#include "core/files/measurement_row.h"

namespace occupipe {
namespace {

// Not what measurement files are written like; never leaves this file.
struct Unusual {};

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Keys in the order of a row, as the rows before had them, too.
struct Layout {
    std::vector<std::string> keys;
    std::array<int, row_key_names.size()> place{};  // of a RowKey; -1: none
    std::vector<std::size_t> counters;              // in the order of their names

    explicit Layout(std::vector<std::string> all) : keys(std::move(all)) {
        place.fill(-1);
        std::vector<std::string_view> sorted(keys.begin(), keys.end());
        std::ranges::sort(sorted);
        if (std::ranges::adjacent_find(sorted) != sorted.end()) throw Unusual();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const auto known = std::ranges::find(row_key_names, keys[i]);
            if (known != row_key_names.end()) {
                place[static_cast<std::size_t>(known - row_key_names.begin())] =
                    static_cast<int>(i);
            }
            if (std::ranges::find(own_numbers, keys[i]) == own_numbers.end()) {
                counters.push_back(i);
            }
        }
        std::ranges::sort(counters, {},
                          [&](std::size_t i) -> const std::string& { return keys[i]; });
    }

    // Which of the counters are numbers hardly differs between rows.
    RowCounters::Names names_of(std::vector<std::size_t> numbers) {
        if (!names_ || numbers != numbers_) {
            auto names = std::make_shared<std::vector<std::string>>();
            for (const std::size_t at : numbers) names->push_back(keys[at]);
            names_ = std::move(names);
            numbers_ = std::move(numbers);
        }
        return names_;
    }

private:
    std::vector<std::size_t> numbers_;
    RowCounters::Names names_;  // of these
};

// Views into the text of a row without lists and maps.
class FlatRow {
public:
    struct Value {
        std::string_view text;
        bool quoted = false, number = false;
    };

    std::vector<Value> values;
    Layout* layout = nullptr;

    const Value* find(RowKey key) const {
        const int at = layout->place[static_cast<std::size_t>(key)];
        return at < 0 ? nullptr : &values[static_cast<std::size_t>(at)];
    }
    const Value& required(RowKey key) const {
        const Value* const value = find(key);
        if (!value) throw Unusual();
        return *value;
    }
    std::string_view text(const Value& value) const {
        if (!value.quoted) throw Unusual();
        return value.text;
    }
    std::string_view plain(const Value& value) const { return value.text; }
    double number(const Value& value) const {
        if (!value.number) throw Unusual();
        double number = 0;
        const char* const end = value.text.data() + value.text.size();
        const auto [stop, fault] = std::from_chars(value.text.data(), end, number);
        if (fault != std::errc{} || stop != end || !std::isfinite(number)) throw Unusual();
        return number;
    }
    std::int64_t integer(const Value& value, std::int64_t from, std::int64_t to) const {
        if (!value.number) throw Unusual();
        std::int64_t number = 0;
        const char* const end = value.text.data() + value.text.size();
        const auto [stop, fault] = std::from_chars(value.text.data(), end, number);
        if (fault != std::errc{} || stop != end || number < from || number > to) throw Unusual();
        return number;
    }
    bool boolean(const Value& value) const {
        if (value.quoted || value.number || value.text == "null") throw Unusual();
        return value.text == "true";
    }
    RowCounters counters() const {
        std::vector<std::size_t> numbers;
        std::ranges::copy_if(layout->counters, std::back_inserter(numbers),
                             [&](std::size_t at) { return values[at].number; });
        std::vector<double> found;
        found.reserve(numbers.size());
        for (const std::size_t at : numbers) found.push_back(number(values[at]));
        return {layout->names_of(std::move(numbers)), std::move(found)};
    }
    [[noreturn]] void fail(const Value&, const std::string&) const { throw Unusual(); }
};

class Blocks {
public:
    Blocks(const std::function<bool(std::string&)>& append, const std::string& file_name,
           const MeasurementDocuments& documents)
        : append_(append), file_name_(file_name), documents_(documents) {}

    MeasurementFile read() {
        std::string around = up_to_rows();
        refuse_other_kinds(FileKind::measurements, around, file_name_);
        std::vector<std::vector<MeasurementRow>> parts(1);
        if (next() == ']') {
            ++at_;
        } else {
            for (;;) {
                constexpr std::size_t most = 4096;
                if (parts.back().size() >= most) parts.emplace_back().reserve(most);
                read_row(parts.back());
                const char c = next();
                ++at_;
                if (c == ']') break;
                if (c != ',' || next() != '{') throw Unusual();
            }
        }
        while (more()) {
        }
        around += ']';
        around += std::string_view(text_).substr(at_);
        MeasurementFile file = documents_.file(parse_json(around, file_name_));
        file.rows = joined(std::move(parts));
        return file;
    }

private:
    // One list that grew would be there twice each time that it grows.
    static std::vector<MeasurementRow> joined(std::vector<std::vector<MeasurementRow>> parts) {
        std::size_t rows = 0;
        for (const auto& part : parts) rows += part.size();
        std::vector<MeasurementRow> all;
        all.reserve(rows);
        for (auto& part : parts) {
            std::ranges::move(part, std::back_inserter(all));
            std::vector<MeasurementRow>().swap(part);
        }
        return all;
    }

    // Makes the text longer, without what was read; false at its end.
    bool more() {
        text_.erase(0, at_);
        at_ = 0;
        return append_(text_);
    }

    // The next character that is not blank.
    char next() {
        for (;;) {
            while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
            if (at_ < text_.size()) return text_[at_];
            if (!more()) throw Unusual();
        }
    }

    // Behind the string that begins at `at`, or npos where it goes on beyond the text.
    std::size_t behind_string(std::size_t at) const {
        for (++at; at < text_.size(); ++at) {
            if (text_[at] == '\\') {
                ++at;
            } else if (text_[at] == '"') {
                return at + 1;
            }
        }
        return std::string::npos;
    }

    // All up to and with the bracket that opens the root's list of rows.
    std::string up_to_rows() {
        constexpr std::size_t most = std::size_t{1} << 22U;
        while (text_.size() < most) {
            int depth = 0;
            for (std::size_t at = 0; at < text_.size(); ++at) {
                const char c = text_[at];
                depth += c == '{' || c == '[';
                depth -= c == '}' || c == ']';
                if (c != '"') continue;
                const std::size_t behind = behind_string(at);
                if (behind == std::string::npos) break;
                const bool rows =
                    depth == 1 && text_.compare(at, behind - at, "\"benchmarks\"") == 0;
                at = behind - 1;
                if (!rows) continue;
                const std::size_t colon = text_.find_first_not_of(" \t\r\n", behind);
                if (colon == std::string::npos) break;
                if (text_[colon] != ':') continue;  // a value
                const std::size_t list = text_.find_first_not_of(" \t\r\n", colon + 1);
                if (list == std::string::npos) break;
                if (text_[list] != '[') throw Unusual();
                at_ = list + 1;
                return text_.substr(0, at_);
            }
            const std::size_t before = text_.size();
            if (!append_(text_) || text_.size() == before) throw Unusual();
        }
        throw Unusual();
    }

    void read_row(std::vector<MeasurementRow>& rows) {
        if (next() != '{') throw Unusual();
        try {
            while (!read_entries()) {
                if (!more()) throw Unusual();
            }
            const RowReader reader(row_);
            if (!reader.is_aggregate()) rows.push_back(reader.read());
            at_ = row_end_;
        } catch (const Unusual&) {
            documents_.row(parse_json(whole_row(), file_name_), rows);
        }
    }

    // A row as text, strings with escapes, lists and all.
    std::string whole_row() {
        for (;;) {
            int depth = 0;
            for (std::size_t at = at_; at < text_.size(); ++at) {
                const char c = text_[at];
                if (c == '"') {
                    at = behind_string(at);
                    if (at == std::string::npos) break;
                    --at;
                }
                depth += c == '{' || c == '[';
                depth -= c == '}' || c == ']';
                if (depth == 0) {
                    std::string row = text_.substr(at_, at + 1 - at_);
                    at_ = at + 1;
                    return row;
                }
            }
            if (!more()) throw Unusual();
        }
    }

    // Entries of the row that begins at at_; false where it goes on beyond the text.
    bool read_entries() {
        row_.values.clear();
        const char* p = text_.data() + at_ + 1;
        const char* const end = text_.data() + text_.size();
        const auto skip = [&] {
            while (p < end && is_blank(*p)) ++p;
            return p < end;
        };
        keys_.clear();
        if (!skip()) return false;
        if (*p == '}') throw Unusual();
        for (;;) {
            std::string_view key;
            if (!string(p, end, key)) return false;
            keys_.push_back(key);
            if (!skip()) return false;
            if (*p++ != ':') throw Unusual();
            if (!skip()) return false;
            FlatRow::Value value;
            if (*p == '"') {
                value.quoted = true;
                if (!string(p, end, value.text)) return false;
            } else if (!scalar(p, end, value)) {
                return false;
            }
            row_.values.push_back(value);
            if (!skip()) return false;
            if (*p == '}') break;
            if (*p++ != ',') throw Unusual();
            if (!skip()) return false;
        }
        row_end_ = static_cast<std::size_t>(p + 1 - text_.data());
        row_.layout = &layout();
        return true;
    }

    // Printable characters without escapes, between quotes; false where they go on beyond the end.
    static bool string(const char*& p, const char* end, std::string_view& text) {
        if (*p != '"') throw Unusual();
        const char* const begin = ++p;
        while (p < end && *p != '"') {
            if (*p < ' ' || *p == '\\' || *p == 0x7f) throw Unusual();  // char is signed
            ++p;
        }
        if (p == end) return false;
        text = {begin, static_cast<std::size_t>(p - begin)};
        ++p;
        return true;
    }

    static bool scalar(const char*& p, const char* end, FlatRow::Value& value) {
        const char* const begin = p;
        while (p < end && *p != ',' && *p != '}' && !is_blank(*p)) ++p;
        if (p == end) return false;
        value.text = {begin, static_cast<std::size_t>(p - begin)};
        value.number = is_number(value.text);
        const bool word = value.text == "true" || value.text == "false" || value.text == "null";
        if (!value.number && !word) throw Unusual();
        return true;
    }

    // As JSON writes them, of a size that every double has.
    static bool is_number(std::string_view text) {
        const char* p = text.data();
        const char* const end = p + text.size();
        const auto digits = [&] {
            const char* const begin = p;
            while (p < end && is_digit(*p)) ++p;
            return p - begin;
        };
        if (p < end && *p == '-') ++p;
        const char* const first = p;
        const auto whole = digits();
        if (whole == 0 || whole > 18 || (*first == '0' && whole > 1)) return false;
        if (p < end && *p == '.') {
            ++p;
            if (digits() == 0) return false;
        }
        if (p < end && (*p == 'e' || *p == 'E')) {
            ++p;
            if (p < end && (*p == '-' || *p == '+')) ++p;
            const auto exponent = digits();
            if (exponent == 0 || exponent > 2) return false;
        }
        return p == end;
    }

    Layout& layout() {
        for (Layout& one : layouts_) {
            if (std::ranges::equal(one.keys, keys_)) return one;
        }
        constexpr std::size_t most = 16;
        if (layouts_.size() == most) layouts_.pop_front();
        return layouts_.emplace_back(std::vector<std::string>(keys_.begin(), keys_.end()));
    }

    const std::function<bool(std::string&)>& append_;
    const std::string& file_name_;
    const MeasurementDocuments& documents_;
    std::string text_;
    std::size_t at_ = 0;  // what was read of it
    std::vector<std::string_view> keys_;
    FlatRow row_;
    std::size_t row_end_ = 0;
    std::deque<Layout> layouts_;
};

}  // namespace

std::optional<MeasurementFile> read_measurement_blocks(
    const std::function<bool(std::string&)>& append, const std::string& file_name,
    const MeasurementDocuments& documents) {
    try {
        return Blocks(append, file_name, documents).read();
    } catch (const Unusual&) {
        return std::nullopt;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

}  // namespace occupipe
