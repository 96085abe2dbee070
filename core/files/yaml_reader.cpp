// SPDX-License-Identifier: MIT
#include "core/files/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <set>
#include <sstream>

namespace occupipe {
namespace {

SourcePosition position(const YAML::Mark& mark) {
    return mark.is_null() ? SourcePosition{} : SourcePosition{mark.line + 1, mark.column + 1};
}

class TreeBuilder : public YAML::EventHandler {
public:
    explicit TreeBuilder(const std::string& file_name) : file_name_(file_name) {}

    DocumentNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(mark, "", anchor, DocumentNode::Kind::null);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        fail(mark, "aliases are not supported; repeat the value");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        if (!open_.empty() && open_.back().node.kind == DocumentNode::Kind::map &&
            !open_.back().has_key) {
            refuse_marks(mark, tag, anchor);
            start_entry(mark, value);
            return;
        }
        DocumentNode& node = add(mark, tag, anchor, DocumentNode::Kind::scalar);
        node.text = value;
        node.quoted = tag == "!";
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, DocumentNode::Kind::sequence);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, DocumentNode::Kind::map);
    }
    void OnMapEnd() override { close(); }

private:
    struct Open {
        DocumentNode node;
        bool has_key = false;  // a map's entry waits for its value
        std::string key;
        SourcePosition key_where;
        std::set<std::string> keys;
    };

    [[noreturn]] void fail(const YAML::Mark& mark, const std::string& reason) const {
        throw InputError(file_name_, position(mark), key_here(), reason);
    }

    std::string key_here() const {
        std::string path;
        for (const Open& level : open_) {
            if (level.node.kind == DocumentNode::Kind::sequence) {
                path += fmt::format("[{}]", level.node.children.size());
            } else if (level.has_key) {
                path += path.empty() ? level.key : "." + level.key;
            }
        }
        return path;
    }

    // yaml-cpp gives "?" for a plain scalar, "!" for a quoted one, and "" or "?" for the others.
    void refuse_marks(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
        if (anchor != YAML::NullAnchor) {
            fail(mark, "anchors are not supported; repeat the value");
        }
        if (!tag.empty() && tag != "?" && tag != "!") {
            fail(mark, "tags are not supported; remove it");
        }
    }

    void start_entry(const YAML::Mark& mark, const std::string& key) {
        Open& map = open_.back();
        map.has_key = true;
        map.key = key;
        map.key_where = position(mark);
        if (!map.keys.insert(key).second) {
            fail(mark, "duplicate key");
        }
    }

    DocumentNode made(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                      DocumentNode::Kind kind) {
        refuse_marks(mark, tag, anchor);
        DocumentNode node;
        node.kind = kind;
        node.where = position(mark);
        if (!open_.empty() && open_.back().node.kind == DocumentNode::Kind::map) {
            Open& map = open_.back();
            if (!map.has_key) {
                fail(mark, "a key must be text");
            }
            node.key = map.key;
            node.key_where = map.key_where;
        }
        return node;
    }

    DocumentNode& place(DocumentNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return root_;
        }
        open_.back().has_key = false;
        return open_.back().node.children.emplace_back(std::move(node));
    }

    DocumentNode& add(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                      DocumentNode::Kind kind) {
        return place(made(mark, tag, anchor, kind));
    }

    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
              DocumentNode::Kind kind) {
        DocumentNode node = made(mark, tag, anchor, kind);
        open_.push_back({std::move(node), false, {}, {}, {}});
    }

    void close() {
        DocumentNode node = std::move(open_.back().node);
        open_.pop_back();
        place(std::move(node));
    }

    const std::string& file_name_;
    DocumentNode root_;
    std::vector<Open> open_;
};

}  // namespace

Document parse_yaml(const std::string& text, const std::string& file_name) {
    require_text(text, file_name);
    std::istringstream stream(text);
    TreeBuilder builder(file_name);
    try {
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(builder)) {
            throw InputError(file_name, {}, {}, "contains no YAML document");
        }
        DocumentNode root = builder.take();
        TreeBuilder rest(file_name);
        if (parser.HandleNextDocument(rest)) {
            throw InputError(file_name, rest.take().where, {},
                             "contains more than one YAML document; split the file");
        }
        return {file_name, std::move(root)};
    } catch (const YAML::Exception& fault) {
        throw InputError(file_name, position(fault.mark), {}, "not valid YAML: " + fault.msg);
    }
}

}  // namespace occupipe
