// SPDX-License-Identifier: MIT
// A YAML or JSON file as a tree that knows the position of every value, and the typed questions
// that the readers ask it. Every refusal is an InputError naming file, line, column and key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace occupipe {

struct DocumentNode {
    enum class Kind { null, scalar, sequence, map };

    Kind kind = Kind::null;
    std::string text;     // of a scalar
    bool quoted = false;  // a quoted scalar is not a number
    SourcePosition where;
    std::string key;  // of a map's entry; unique in the map
    SourcePosition key_where;
    std::vector<DocumentNode> children;  // items of a sequence, entries of a map
};

class Document {
public:
    Document(std::string file_name, DocumentNode root)
        : file_name_(std::move(file_name)), root_(std::move(root)) {}

    const DocumentNode& root() const { return root_; }
    const std::string& file_name() const { return file_name_; }

    // Nodes given to the functions below are nodes of this document.
    [[noreturn]] void fail(const DocumentNode& node, const std::string& reason) const;

    // Entry `key` of a map; nullptr when there is none.
    static const DocumentNode* find(const DocumentNode& map, std::string_view key);
    const DocumentNode& required(const DocumentNode& map, std::string_view key) const;
    // Refuses anything but a map, and other keys than these.
    void only_keys(const DocumentNode& map, std::span<const std::string_view> keys) const;
    void only_keys(const DocumentNode& map, std::initializer_list<std::string_view> keys) const {
        only_keys(map, std::span(keys.begin(), keys.end()));
    }
    const std::vector<DocumentNode>& entries(const DocumentNode& map) const;
    const std::vector<DocumentNode>& items(const DocumentNode& sequence) const;

    const std::string& text(const DocumentNode& node) const;
    double number(const DocumentNode& node) const;  // finite
    std::int64_t integer(const DocumentNode& node, std::int64_t at_least,
                         std::int64_t at_most) const;
    bool boolean(const DocumentNode& node) const;

    // Where the value under these keys ("[2]" is an item of a list) stands, or the last of them
    // that there is.
    SourcePosition locate(const std::vector<std::string>& keys) const;

private:
    std::string path_of(const DocumentNode& node) const;

    std::string file_name_;
    DocumentNode root_;
};

// The bytes of a byte order mark that `text` begins with, as Windows programs write it: 0 or 3.
std::size_t mark_length(std::string_view text);

// Throws InputError unless `text` is UTF-8 without control characters other than line ends and
// tabs, and holds more than blanks.
void require_text(std::string_view text, const std::string& file_name);

}  // namespace occupipe
