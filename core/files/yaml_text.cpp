// SPDX-License-Identifier: MIT
#include "core/files/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/text.h"

namespace occupipe {
namespace {

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Scalars that some YAML readers would not read as text.
bool reads_as_another_type(std::string_view text) {
    constexpr std::array<std::string_view, 9> words = {"null", "true", "false", "yes", "no",
                                                       "on",   "off",  "y",     "n"};
    const std::string lower = lower_case(text);
    const bool digits_first = std::isdigit(static_cast<unsigned char>(text.front())) != 0;
    double number = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return std::find(words.begin(), words.end(), lower) != words.end() ||
           (digits_first && stop == text.data() + text.size()) || lower.starts_with("0x") ||
           lower.starts_with("0o") || fault == std::errc::result_out_of_range;
}

bool is_plain_safe(std::string_view text) {
    if (text.empty() || text.back() == ' ' || text.back() == ':') {
        return false;
    }
    const char first = text.front();
    if (!is_alphanumeric(first) && first != '_' && first != '/' && first != '(') {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const char next = i + 1 < text.size() ? text[i + 1] : '\0';
        const bool is_blank_run = c == ' ' && next == ' ';
        const bool ends_key = c == ':' && !is_alphanumeric(next) && next != '/' && next != '_';
        if (is_blank_run || ends_key ||
            (!is_alphanumeric(c) &&
             std::string_view("_./+-()*%=<>~;@': ").find(c) == std::string_view::npos)) {
            return false;
        }
    }
    return !reads_as_another_type(text);
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
    if (is_plain_safe(text)) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (c == '\n') {
            quoted += "\\n";
        } else if (c == '\t') {
            quoted += "\\t";
        } else if (byte < 0x20 || byte == 0x7f) {
            quoted += fmt::format("\\x{:02x}", byte);
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string yaml_number(double value) { return fmt::format("{}", value); }

}  // namespace occupipe
