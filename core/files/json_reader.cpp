// SPDX-License-Identifier: MIT
#include "core/files/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace occupipe {
namespace {

constexpr std::size_t depth_limit = 64;

// Follows the text from token to token, since nlohmann's events do not say where they are.
class Cursor {
public:
    explicit Cursor(std::string_view text) : text_(text), at_(mark_length(text)) {}

    SourcePosition where() const { return where_; }
    std::string_view rest() const { return text_.substr(at_); }

    void skip_to_token() {
        while (at_ < text_.size() &&
               std::string_view(" \t\r\n,:]}").find(text_[at_]) != std::string_view::npos) {
            step();
        }
    }
    void step() {
        const auto byte = static_cast<unsigned char>(text_[at_++]);
        if (byte == '\n') {
            where_ = {where_.line + 1, 1};
        } else if ((byte & 0xc0U) != 0x80) {  // a column is a character, not a byte
            ++where_.column;
        }
    }
    void skip_number_or_word() {
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '-' ||
                text_[at_] == '+' || text_[at_] == '.')) {
            step();
        }
    }
    void skip_string() {
        step();
        while (at_ < text_.size() && text_[at_] != '"') {
            if (text_[at_] == '\\') {
                step();
            }
            step();
        }
        step();
    }
    void go_to(std::size_t offset) {
        while (at_ < std::min(offset, text_.size())) {
            step();
        }
    }

private:
    std::string_view text_;
    std::size_t at_;
    SourcePosition where_{1, 1};
};

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    TreeBuilder(std::string_view text, const std::string& file_name, DuplicateKeys duplicates)
        : cursor_(text), file_name_(file_name), duplicates_(duplicates) {}
    DocumentNode take() { return std::move(root_); }

    bool null() override {
        DocumentNode node = made(DocumentNode::Kind::null);
        cursor_.skip_number_or_word();
        place(std::move(node));
        return true;
    }
    bool boolean(bool) override { return literal(); }
    bool number_integer(number_integer_t) override { return literal(); }
    bool number_unsigned(number_unsigned_t) override { return literal(); }
    bool number_float(number_float_t, const string_t&) override { return literal(); }
    bool string(string_t& value) override {
        DocumentNode node = made(DocumentNode::Kind::scalar);
        node.text = value;
        node.quoted = true;
        cursor_.skip_string();
        place(std::move(node));
        return true;
    }
    bool binary(binary_t&) override { return false; }  // no JSON text holds one
    bool start_object(std::size_t) override { return open(DocumentNode::Kind::map); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(DocumentNode::Kind::sequence); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        cursor_.skip_to_token();
        Open& map = open_.back();
        map.key = value;
        map.key_where = cursor_.where();
        if (!map.keys.insert(value).second) {
            if (duplicates_ == DuplicateKeys::refused)
                throw InputError(file_name_, map.key_where, path(), "duplicate key");
            map.has_duplicates = true;
        }
        cursor_.skip_string();
        return true;
    }
    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::json::exception& fault) override {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: REASON"
        std::string reason = fault.what();
        reason = reason.substr(std::min(reason.find("] "), reason.size() - 2) + 2);
        if (reason.starts_with("parse error at")) {
            reason = reason.substr(std::min(reason.find(": "), reason.size() - 2) + 2);
        }
        cursor_.go_to(position > 0 ? position - 1 : 0);
        throw InputError(file_name_, cursor_.where(), path(), "not valid JSON: " + reason);
    }

private:
    struct Open {
        DocumentNode node;
        std::string key;  // of the entry that is being read
        SourcePosition key_where;
        std::set<std::string> keys;
        bool has_duplicates = false;
    };

    // In the place of the first, as Python's dictionaries do.
    static void keep_last(std::vector<DocumentNode>& children) {
        std::map<std::string, std::size_t> places;
        std::vector<DocumentNode> kept;
        for (DocumentNode& one : children) {
            const auto [place, fresh] = places.try_emplace(one.key, kept.size());
            if (fresh)
                kept.push_back(std::move(one));
            else
                kept[place->second] = std::move(one);
        }
        children = std::move(kept);
    }

    std::string path() const {
        std::string path;
        for (const Open& level : open_) {
            if (level.node.kind == DocumentNode::Kind::sequence) {
                path += fmt::format("[{}]", level.node.children.size());
            } else if (!level.key.empty()) {
                path += path.empty() ? level.key : "." + level.key;
            }
        }
        return path;
    }

    DocumentNode made(DocumentNode::Kind kind) {
        cursor_.skip_to_token();
        DocumentNode node;
        node.kind = kind;
        node.where = cursor_.where();
        if (!open_.empty() && open_.back().node.kind == DocumentNode::Kind::map) {
            node.key = open_.back().key;
            node.key_where = open_.back().key_where;
        }
        return node;
    }

    bool literal() {
        DocumentNode node = made(DocumentNode::Kind::scalar);
        const std::string_view before = cursor_.rest();
        cursor_.skip_number_or_word();
        node.text = before.substr(0, before.size() - cursor_.rest().size());
        place(std::move(node));
        return true;
    }

    void place(DocumentNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        open_.back().key.clear();
        open_.back().node.children.push_back(std::move(node));
    }

    bool open(DocumentNode::Kind kind) {
        DocumentNode node = made(kind);
        if (open_.size() == depth_limit) {
            throw InputError(file_name_, node.where, path(),
                             fmt::format("nested more than {} levels deep", depth_limit));
        }
        cursor_.step();
        open_.push_back({std::move(node), {}, {}, {}, false});
        return true;
    }

    bool close() {
        DocumentNode node = std::move(open_.back().node);
        if (open_.back().has_duplicates) keep_last(node.children);
        open_.pop_back();
        place(std::move(node));
        return true;
    }

    Cursor cursor_;
    const std::string& file_name_;
    DuplicateKeys duplicates_;
    DocumentNode root_;
    std::vector<Open> open_;
};

}  // namespace

bool looks_like_json(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n", mark_length(text));
    return first != text.npos && (text[first] == '{' || text[first] == '[');
}

Document parse_json(const std::string& text, const std::string& file_name,
                    DuplicateKeys duplicates) {
    require_text(text, file_name);
    TreeBuilder builder(text, file_name, duplicates);
    nlohmann::json::sax_parse(text, &builder);
    return {file_name, builder.take()};
}

}  // namespace occupipe
