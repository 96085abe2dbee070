// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/files/file_kind.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"
#include "core/files/measurement_blocks.h"
#include "core/files/measurement_row.h"
#include "core/files/text_blocks.h"

namespace occupipe {
namespace {

std::string compact(const DocumentNode& node) {
    switch (node.kind) {
        case DocumentNode::Kind::null:
            return "null";
        case DocumentNode::Kind::scalar:
            return node.quoted ? nlohmann::json(node.text).dump() : node.text;
        case DocumentNode::Kind::sequence:
        case DocumentNode::Kind::map:
            break;
    }
    const bool is_map = node.kind == DocumentNode::Kind::map;
    std::vector<std::string> parts;
    for (const DocumentNode& child : node.children) {
        parts.push_back((is_map ? nlohmann::json(child.key).dump() + ":" : "") + compact(child));
    }
    return fmt::format("{}{}{}", is_map ? '{' : '[', fmt::join(parts, ","), is_map ? '}' : ']');
}

// A row in a document.
class DocumentRow {
public:
    using Value = DocumentNode;

    DocumentRow(const Document& document, const DocumentNode& node)
        : document_(document), node_(node) {
        document_.entries(node);
    }

    const Value* find(RowKey key) const { return Document::find(node_, name_of(key)); }
    const Value& required(RowKey key) const { return document_.required(node_, name_of(key)); }
    const std::string& text(const Value& value) const {
        if (value.kind != DocumentNode::Kind::scalar || !value.quoted) {
            document_.fail(value, "must be text");
        }
        return value.text;
    }
    const std::string& plain(const Value& value) const { return value.text; }
    double number(const Value& value) const { return document_.number(value); }
    std::int64_t integer(const Value& value, std::int64_t from, std::int64_t to) const {
        return document_.integer(value, from, to);
    }
    bool boolean(const Value& value) const { return document_.boolean(value); }
    RowCounters counters() const {
        std::map<std::string, double> counters;
        for (const DocumentNode& child : node_.children) {
            const bool is_number = child.kind == DocumentNode::Kind::scalar && !child.quoted &&
                                   child.text != "true" && child.text != "false";
            if (is_number &&
                std::find(own_numbers.begin(), own_numbers.end(), child.key) == own_numbers.end()) {
                counters[child.key] = document_.number(child);
            }
        }
        return counters;
    }
    [[noreturn]] void fail(const Value& value, const std::string& reason) const {
        document_.fail(value, reason);
    }

private:
    const Document& document_;
    const DocumentNode& node_;
};

void add_row(const Document& document, const DocumentNode& node,
             std::vector<MeasurementRow>& rows) {
    const DocumentRow row(document, node);
    const RowReader reader(row);
    if (!reader.is_aggregate()) rows.push_back(reader.read());
}

MeasurementFile file_of(const Document& document) {
    const DocumentNode& root = document.root();
    document.only_keys(root, {"context", "benchmarks"});
    MeasurementFile file;
    file.path = document.file_name();
    for (const DocumentNode& node : document.entries(document.required(root, "context"))) {
        const bool is_text = node.kind == DocumentNode::Kind::scalar;
        file.context[node.key] = is_text ? node.text : compact(node);
    }
    for (const DocumentNode& node : document.items(document.required(root, "benchmarks"))) {
        add_row(document, node, file.rows);
    }
    return file;
}

const MeasurementDocuments documents = {
    .row = [](const Document& row, auto& rows) { add_row(row, row.root(), rows); },
    .file = file_of};

}  // namespace

MeasurementFile parse_measurements_as_document(const std::string& text,
                                               const std::string& file_name) {
    refuse_other_kinds(FileKind::measurements, text, file_name);
    MeasurementFile file = file_of(parse_json(text, file_name));
    file.content_hash = content_hash(text);
    return file;
}

MeasurementFile parse_measurements(const std::string& text, const std::string& file_name) {
    std::string_view rest = text;
    const auto append = [&](std::string& block) {
        const std::string_view some = rest.substr(0, std::size_t{1} << 16U);
        block += some;
        rest.remove_prefix(some.size());
        return !some.empty();
    };
    // What is refused is read as a document, which knows where what is wrong stands.
    auto file = read_measurement_blocks(append, file_name, documents);
    if (!file) return parse_measurements_as_document(text, file_name);
    file->content_hash = content_hash(text);
    return *std::move(file);
}

MeasurementFile read_measurements(const std::filesystem::path& path) {
    TextBlocks blocks(path);
    if (!blocks.is_regular_file()) {
        std::string text;
        while (blocks.append(text)) {
        }
        return parse_measurements(text, path.string());
    }
    const auto append = [&](std::string& block) { return blocks.append(block); };
    auto file = read_measurement_blocks(append, path.string(), documents);
    if (!file) return parse_measurements_as_document(read_text_file(path), path.string());
    file->content_hash = blocks.content_hash();
    return *std::move(file);
}

}  // namespace occupipe
