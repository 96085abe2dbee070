// SPDX-License-Identifier: MIT
#include "core/files/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace occupipe {
namespace {

// Appends the way from `from` to `target`; false when it is not below `from`.
bool append_path(const DocumentNode& from, const DocumentNode* target, std::string& path) {
    if (&from == target) {
        return true;
    }
    const std::size_t length = path.size();
    for (std::size_t i = 0; i < from.children.size(); ++i) {
        const DocumentNode& child = from.children[i];
        if (from.kind == DocumentNode::Kind::sequence) {
            path += fmt::format("[{}]", i);
        } else {
            path += path.empty() ? child.key : "." + child.key;
        }
        if (append_path(child, target, path)) {
            return true;
        }
        path.resize(length);
    }
    return false;
}

// Length of the UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) {
            return 0;
        }
    }
    // Overlong forms, surrogates and what lies beyond U+10FFFF.
    const unsigned char second = byte(1);
    const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return bad ? 0 : length;
}

std::string_view without_plus(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') {
        text.remove_prefix(1);
    }
    return text;
}

bool is_plain_scalar(const DocumentNode& node) {
    return node.kind == DocumentNode::Kind::scalar && !node.quoted;
}

// How YAML writes infinities and not-a-number.
bool is_yaml_special(std::string_view text) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        text.remove_prefix(1);
    }
    return text == ".inf" || text == ".Inf" || text == ".INF" || text == ".nan" || text == ".NaN" ||
           text == ".NAN";
}

// Item "[2]" of a list; nullptr when there is none.
const DocumentNode* item(const DocumentNode& sequence, std::string_view key) {
    std::size_t index = 0;
    if (!key.starts_with('[')) return nullptr;
    const auto [stop, fault] = std::from_chars(key.data() + 1, key.data() + key.size(), index);
    return fault == std::errc{} && index < sequence.children.size() ? &sequence.children[index]
                                                                    : nullptr;
}

}  // namespace

std::string Document::path_of(const DocumentNode& node) const {
    std::string path;
    append_path(root_, &node, path);
    return path;
}

void Document::fail(const DocumentNode& node, const std::string& reason) const {
    throw InputError(file_name_, node.where, path_of(node), reason);
}

const DocumentNode* Document::find(const DocumentNode& map, std::string_view key) {
    if (map.kind == DocumentNode::Kind::map) {
        for (const DocumentNode& child : map.children) {
            if (child.key == key) {
                return &child;
            }
        }
    }
    return nullptr;
}

const DocumentNode& Document::required(const DocumentNode& map, std::string_view key) const {
    entries(map);
    const DocumentNode* const found = find(map, key);
    if (found == nullptr) {
        const std::string path = path_of(map);
        throw InputError(file_name_, map.where,
                         path.empty() ? std::string(key) : fmt::format("{}.{}", path, key),
                         "is missing");
    }
    return *found;
}

void Document::only_keys(const DocumentNode& map, std::span<const std::string_view> keys) const {
    for (const DocumentNode& child : entries(map)) {
        if (std::find(keys.begin(), keys.end(), child.key) == keys.end()) {
            throw InputError(file_name_, child.key_where, path_of(child),
                             fmt::format("unknown key; known here: {}", fmt::join(keys, ", ")));
        }
    }
}

const std::vector<DocumentNode>& Document::entries(const DocumentNode& map) const {
    if (map.kind != DocumentNode::Kind::map) {
        fail(map, "must be a map");
    }
    return map.children;
}

const std::vector<DocumentNode>& Document::items(const DocumentNode& sequence) const {
    if (sequence.kind != DocumentNode::Kind::sequence) {
        fail(sequence, "must be a list");
    }
    return sequence.children;
}

const std::string& Document::text(const DocumentNode& node) const {
    if (node.kind != DocumentNode::Kind::scalar) {
        fail(node, "must be text");
    }
    return node.text;
}

double Document::number(const DocumentNode& node) const {
    const std::string_view digits = without_plus(node.text);
    double value = 0;
    const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool complete = stop == digits.data() + digits.size();
    if (is_plain_scalar(node) &&
        (is_yaml_special(node.text) ||
         (complete && (fault == std::errc::result_out_of_range || !std::isfinite(value))))) {
        fail(node, fmt::format("must be a finite number within the range of a double, not {}",
                               node.text));
    }
    if (!is_plain_scalar(node) || !complete || fault != std::errc{}) {
        fail(node, "must be a number");
    }
    return value;
}

std::int64_t Document::integer(const DocumentNode& node, std::int64_t at_least,
                               std::int64_t at_most) const {
    const std::string_view digits = without_plus(node.text);
    std::int64_t value = 0;
    const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool complete = stop == digits.data() + digits.size();
    if (!is_plain_scalar(node) || !complete || fault == std::errc::invalid_argument) {
        fail(node, "must be a whole number");
    }
    if (fault != std::errc{} || value < at_least || value > at_most) {
        fail(node, fmt::format("must be a whole number from {} to {}, not {}", at_least, at_most,
                               node.text));
    }
    return value;
}

bool Document::boolean(const DocumentNode& node) const {
    if (!is_plain_scalar(node) || (node.text != "true" && node.text != "false")) {
        fail(node, "must be true or false");
    }
    return node.text == "true";
}

SourcePosition Document::locate(const std::vector<std::string>& keys) const {
    const DocumentNode* node = &root_;
    for (const std::string& key : keys) {
        const DocumentNode* const child =
            node->kind == DocumentNode::Kind::sequence ? item(*node, key) : find(*node, key);
        if (child == nullptr) {
            break;
        }
        node = child;
    }
    const bool is_entry = node->key_where.line > 0;
    return node->kind == DocumentNode::Kind::scalar || !is_entry ? node->where : node->key_where;
}

std::size_t mark_length(std::string_view text) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.starts_with(mark) ? mark.size() : 0;
}

void require_text(std::string_view text, const std::string& file_name) {
    SourcePosition where{1, 1};
    bool blank = true;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text.substr(i));
        if (length == 0) {
            throw InputError(file_name, where, {}, "is not UTF-8 text");
        }
        const char c = text[i];
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
            c == 0x7f) {
            throw InputError(
                file_name, where, {},
                fmt::format("control character U+{:04X}", static_cast<unsigned char>(c)));
        }
        blank = blank && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
        ++where.column;
        if (c == '\n') {
            where = {where.line + 1, 1};
        }
        i += length;
    }
    if (blank) {
        throw InputError(file_name, {}, {}, "is empty");
    }
}

}  // namespace occupipe
