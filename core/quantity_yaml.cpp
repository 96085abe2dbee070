// SPDX-License-Identifier: MIT
#include "core/quantity_yaml.h"

#include <fmt/format.h>

#include "core/yaml_text.h"

namespace occupipe {
namespace {

constexpr std::size_t line_width = 100;

}  // namespace

std::string optional_text(const Document& document, const DocumentNode& map, std::string_view key) {
    const DocumentNode* const node = Document::find(map, key);
    return node != nullptr ? document.text(*node) : std::string();
}

Estimate read_quantity(const Document& document, const DocumentNode& node) {
    if (node.kind != DocumentNode::Kind::map) {
        return {.value = document.number(node), .std_error = {}, .note = {}};
    }
    document.only_keys(node, {"value", "std_error", "identifiable", "note"});
    Estimate estimate{.value = document.number(document.required(node, "value")),
                      .std_error = {},
                      .note = optional_text(document, node, "note")};
    if (const DocumentNode* error = Document::find(node, "std_error")) {
        estimate.std_error = document.number(*error);
    }
    if (const DocumentNode* identifiable = Document::find(node, "identifiable")) {
        estimate.identifiable = document.boolean(*identifiable);
    }
    return estimate;
}

std::string quantity_text(const Estimate& estimate) {
    if (!estimate.std_error && estimate.identifiable && estimate.note.empty()) {
        return yaml_number(estimate.value);
    }
    TextPairs pairs = {{"value", yaml_number(estimate.value)}};
    if (estimate.std_error) {
        pairs.emplace_back("std_error", yaml_number(*estimate.std_error));
    }
    if (!estimate.identifiable) {
        pairs.emplace_back("identifiable", "false");
    }
    add_text(pairs, "note", estimate.note);
    return flow_map(pairs);
}

std::string flow_map(const TextPairs& pairs) {
    std::string text = "{";
    for (const auto& [key, value] : pairs) {
        text += fmt::format("{}{}: {}", text.size() > 1 ? ", " : "", key, value);
    }
    return text + "}";
}

std::string block_lines(std::size_t indent, const TextPairs& pairs) {
    const std::string margin(indent, ' ');
    std::string lines;
    for (const auto& [name, value] : pairs) {
        lines += fmt::format("{}{}: {}\n", margin, name, value);
    }
    return lines;
}

std::string map_lines(std::size_t indent, const std::string& key, const TextPairs& pairs) {
    const std::string margin(indent, ' ');
    std::string line = fmt::format("{}{}: {}\n", margin, key, flow_map(pairs));
    if (line.size() <= line_width) {
        return line;
    }
    return fmt::format("{}{}:\n{}", margin, key, block_lines(indent + 2, pairs));
}

void add_text(TextPairs& pairs, const char* key, const std::string& text) {
    if (!text.empty()) {
        pairs.emplace_back(key, yaml_scalar(text));
    }
}

}  // namespace occupipe
