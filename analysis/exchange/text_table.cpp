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

double number_at(const InputText& file, const TextLine& line, const TextWord& word,
                 const std::string& key) {
    double value = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, value);
    constexpr double most = 1e18;
    if (error != std::errc() || stop != end || !std::isfinite(value) || value < 0 || value > most)
        fail_at(file, line, word, key,
                fmt::format("'{}' is not a number of at least 0", word.text.substr(0, 40)));
    return value;
}

double positive_at(const InputText& file, const TextLine& line, const TextWord& word,
                   const std::string& key) {
    const double value = number_at(file, line, word, key);
    if (!(value > 0)) fail_at(file, line, word, key, "is 0, and has to be above");
    return value;
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
