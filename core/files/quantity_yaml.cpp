// SPDX-License-Identifier: MIT
#include "core/files/quantity_yaml.h"

#include <fmt/format.h>

#include "core/files/yaml_text.h"

namespace occupipe {
namespace {

constexpr std::size_t line_width = 100;

// A note that says which bound it is, as files had it before `bound`: the direction, and what the
// note says beside it.
struct NotedBound {
    Estimate::Kind kind = Estimate::Kind::undetermined;
    std::string note;
};

NotedBound bound_in_note(const std::string& note) {
    for (const Estimate::Kind kind : {Estimate::Kind::upper_bound, Estimate::Kind::lower_bound}) {
        const std::string_view words = to_string(kind);
        if (note == words) return {kind, {}};
        const std::string prefix = std::string(words) + ": ";
        if (note.starts_with(prefix)) return {kind, note.substr(prefix.size())};
    }
    return {Estimate::Kind::undetermined, note};
}

Estimate::Kind read_bound(const Document& document, const DocumentNode& node) {
    const std::string& direction = document.text(node);
    if (direction == "upper") return Estimate::Kind::upper_bound;
    if (direction == "lower") return Estimate::Kind::lower_bound;
    document.fail(node, fmt::format("must be 'upper' or 'lower', not '{}'", direction));
}

void read_kind(const Document& document, const DocumentNode& map, Estimate& estimate) {
    const DocumentNode* const identifiable = Document::find(map, "identifiable");
    const bool value = identifiable == nullptr || document.boolean(*identifiable);
    if (const DocumentNode* const bound = Document::find(map, "bound")) {
        if (identifiable != nullptr && value) {
            document.fail(*bound, "a bound is not identifiable: identifiable must be false");
        }
        estimate.kind = read_bound(document, *bound);
    } else if (!value) {
        auto [kind, note] = bound_in_note(estimate.note);
        estimate.kind = kind;
        estimate.note = std::move(note);
    }
}

}  // namespace

std::string optional_text(const Document& document, const DocumentNode& map, std::string_view key) {
    const DocumentNode* const node = Document::find(map, key);
    return node != nullptr ? document.text(*node) : std::string();
}

Estimate read_quantity(const Document& document, const DocumentNode& node) {
    if (node.kind != DocumentNode::Kind::map) {
        return {.value = document.number(node), .std_error = {}, .note = {}};
    }
    document.only_keys(node, {"value", "std_error", "identifiable", "bound", "note"});
    Estimate estimate{.value = document.number(document.required(node, "value")),
                      .std_error = {},
                      .note = optional_text(document, node, "note")};
    if (const DocumentNode* error = Document::find(node, "std_error")) {
        estimate.std_error = document.number(*error);
    }
    read_kind(document, node, estimate);
    return estimate;
}

std::string quantity_text(const Estimate& estimate) {
    if (!estimate.std_error && estimate.identifiable() && estimate.note.empty()) {
        return yaml_number(estimate.value);
    }
    TextPairs pairs = {{"value", yaml_number(estimate.value)}};
    if (estimate.std_error) {
        pairs.emplace_back("std_error", yaml_number(*estimate.std_error));
    }
    if (!estimate.identifiable()) {
        pairs.emplace_back("identifiable", "false");
    }
    if (estimate.kind == Estimate::Kind::upper_bound) {
        pairs.emplace_back("bound", "upper");
    } else if (estimate.kind == Estimate::Kind::lower_bound) {
        pairs.emplace_back("bound", "lower");
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
