// SPDX-License-Identifier: MIT
#include "analysis/exchange/text_table.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "core/field_rules.h"
#include "core/files/document.h"
#include "core/name_rules.h"

namespace occupipe::analysis {
namespace {

constexpr double most_figure = 1e18;
constexpr const char* not_positive = "is not a number above 0 and at most 1e18";

}  // namespace

std::vector<TextLine> text_lines(const InputText& file) {
    require_text(file.text, file.name);
    std::vector<TextLine> lines;
    std::istringstream in(file.text.substr(mark_length(file.text)));
    std::string text;
    for (int number = 1; std::getline(in, text); ++number) {
        TextLine line{.number = number, .text = text, .words = {}};
        constexpr const char* blanks = " \t\r";
        std::size_t at = 0;
        while ((at = text.find_first_not_of(blanks, at)) != std::string::npos) {
            const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
            line.words.push_back({text.substr(at, end - at), static_cast<int>(at) + 1});
            at = end;
        }
        if (!line.words.empty()) lines.push_back(std::move(line));
    }
    return lines;
}

void fail_at(const InputText& file, const TextLine& line, const TextWord& word,
             const std::string& key, const std::string& reason) {
    throw InputError(file.name, {line.number, word.column}, key, reason);
}

std::optional<double> positive_number(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || !(value > 0) || value > most_figure)
        return std::nullopt;
    return value;
}

double positive_at(const InputText& file, const TextLine& line, const TextWord& word,
                   const std::string& key) {
    const auto value = positive_number(word.text);
    if (!value)
        fail_at(file, line, word, key,
                fmt::format("'{}' {}", word.text.substr(0, 40), not_positive));
    return *value;
}

std::optional<double> LeftOut::figure(std::string_view text, SourcePosition where,
                                      const std::string& key) {
    const auto value = positive_number(text);
    if (!value)
        add(where, key,
            text.empty() ? "has no number"
                         : fmt::format("'{}' {}", text.substr(0, 40), not_positive));
    return value;
}

void LeftOut::add(SourcePosition where, const std::string& key, const std::string& reason) {
    if (!first_) first_.emplace(file_, where, key, reason);
    ++count_;
}

void LeftOut::tell(std::vector<std::string>& notes) const {
    if (first_)
        notes.push_back(fmt::format("{} figure{} left out; the first: {}", count_,
                                    count_ == 1 ? "" : "s", first_->what()));
}

void LeftOut::refuse(const InputError& otherwise) const { throw first_ ? *first_ : otherwise; }

std::size_t chosen_device(const InputText& file, const std::vector<std::string>& names,
                          std::optional<int> wanted, bool first_of_several,
                          std::vector<std::string>& notes) {
    std::string list;
    for (std::size_t i = 0; i < names.size(); ++i)
        list += fmt::format("{}{} '{}'", i == 0 ? "" : ", ", i + 1, names[i]);
    const std::string has = fmt::format("the file has {} device{}: {}", names.size(),
                                        names.size() == 1 ? "" : "s", list);
    if (wanted && (*wanted < 1 || static_cast<std::size_t>(*wanted) > names.size()))
        throw InputError(file.name, {}, "device", fmt::format("is {}, and {}", *wanted, has));
    if (!wanted && names.size() > 1 && !first_of_several)
        throw InputError(file.name, {}, "device",
                         fmt::format("{}; --given device=N says which one", has));
    const std::size_t taken = wanted ? static_cast<std::size_t>(*wanted - 1) : 0;
    if (names.size() > 1)
        notes.push_back(
            fmt::format("device {} is taken, '{}', and {} (--given device=N takes another)",
                        taken + 1, names[taken], has));
    return taken;
}

std::vector<TextLine> numbered_lines(const std::vector<TextLine>& lines) {
    std::vector<TextLine> out;
    for (const TextLine& line : lines)
        if (const char c = line.words.front().text.front(); c >= '0' && c <= '9')
            out.push_back(line);
    return out;
}

std::string text_of_name(const std::string& file_name) {
    if (file_name.empty()) return file_name;
    try {
        require_text(file_name, "");
        if (!control_character_fault(file_name)) return file_name;
    } catch (const InputError&) {  // which bytes do not matter
    }
    std::string text = file_name;
    for (char& c : text)
        if (c < ' ' || c > '~') c = '?';
    return text;
}

std::string device_name_of(const InputText& file, const DeviceHints& hints) {
    if (!hints.name.empty()) return hints.name;
    const std::string stem = text_of_name(std::filesystem::path(file.name).stem().string());
    return stem.empty() ? "unknown" : stem;
}

void validate_imported(const GpuProfile& profile, const std::string& file) {
    check_profile(profile, [&](const Keys& keys, const std::string& reason) {
        throw InputError(file, {}, key_path(keys), reason);
    });
}

}  // namespace occupipe::analysis
