// SPDX-License-Identifier: MIT
#include "core/files/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/files/document.h"

namespace occupipe {
namespace {

class Reader {
public:
    Reader(const std::string& text, const std::string& file_name)
        : text_(text), file_name_(file_name), at_(mark_length(text)) {}

    std::vector<CsvRecord> read(std::string_view last_needed) {
        refuse_semicolons(text_.substr(0, text_.find('\n')), file_name_, 1);
        std::vector<CsvRecord> records;
        while (at_ < text_.size()) {
            CsvRecord one = record();
            if (one.fields.size() == 1 && one.fields.front().empty()) {
                fail(one.line, "is empty");
            }
            if (!records.empty()) {
                const std::vector<std::string>& names = records.front().fields;
                const auto last =
                    last_needed.empty() ? names.end() : std::ranges::find(names, last_needed);
                const auto least = std::min<std::size_t>(
                    static_cast<std::size_t>(last - names.begin()) + 1, names.size());
                if (one.fields.size() > names.size() || one.fields.size() < least)
                    fail(one.line, fmt::format("has {} fields, but the header has {}",
                                               one.fields.size(), names.size()));
                one.fields.resize(names.size());
            }
            records.push_back(std::move(one));
        }
        return records;
    }

private:
    [[noreturn]] void fail(int line, const std::string& reason) const {
        throw InputError(file_name_, {line, 0}, "", reason);
    }

    CsvRecord record() {
        CsvRecord one{line_, {}};
        for (;;) {
            one.fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
            if (at_ == text_.size()) return one;
            const char end = text_[at_++];
            if (end == ',') continue;
            if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
            ++line_;
            return one;
        }
    }

    std::string plain() {
        const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
        std::string field = text_.substr(at_, end - at_);
        if (field.find('"') != std::string::npos) {
            fail(line_, "a quote inside a field that does not begin with one");
        }
        at_ = end;
        return field;
    }

    std::string quoted() {
        const int begin = line_;
        std::string field;
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] == '"') {
                if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') {
                    ++at_;
                    if (at_ < text_.size() &&
                        std::string_view(",\r\n").find(text_[at_]) == std::string_view::npos) {
                        fail(line_, "text after a closing quote");
                    }
                    return field;
                }
                ++at_;
            }
            line_ += text_[at_] == '\n';
            field += text_[at_];
        }
        fail(begin, "a quote is not closed");
    }

    const std::string& text_;
    const std::string& file_name_;
    std::size_t at_;
    int line_ = 1;
};

}  // namespace

std::vector<CsvRecord> parse_csv(const std::string& text, const std::string& file_name,
                                 std::string_view last_needed) {
    require_text(text, file_name);
    return Reader(text, file_name).read(last_needed);
}

void refuse_semicolons(std::string_view header, const std::string& file_name, int line) {
    if (header.find(';') != header.npos && header.find(',') == header.npos)
        throw InputError(file_name, {line, 0}, "",
                         "its columns are separated by semicolons; commas are needed");
}

void drop_repeated_headers(std::vector<CsvRecord>& records) {
    if (records.empty()) return;
    const std::vector<std::string> header = records.front().fields;
    records.erase(std::remove_if(records.begin() + 1, records.end(),
                                 [&](const CsvRecord& one) { return one.fields == header; }),
                  records.end());
}

std::string csv_text(std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
    std::string quoted = "\"";
    for (const char c : field) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

}  // namespace occupipe
