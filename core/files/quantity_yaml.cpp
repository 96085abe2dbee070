// SPDX-License-Identifier: MIT
#include "core/files/quantity_yaml.h"

#include <fmt/format.h>

#include <vector>

#include "core/enum_text.h"
#include "core/files/old_notes.h"
#include "core/files/yaml_text.h"

namespace occupipe {
namespace {

constexpr std::size_t line_width = 100;

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

std::vector<Doubt> read_doubts(const Document& document, const DocumentNode& list) {
    std::vector<Doubt> doubts;
    for (const DocumentNode& node : document.items(list)) {
        document.only_keys(node, {"kind", "size"});
        Doubt& doubt = doubts.emplace_back();
        doubt.kind = word_of<Doubt::Kind>(document, document.required(node, "kind"));
        if (const DocumentNode* const size = Document::find(node, "size"))
            doubt.size = document.number(*size);
    }
    return doubts;
}

std::string doubts_text(const std::vector<Doubt>& doubts) {
    std::string text = "[";
    for (const Doubt& doubt : doubts) {
        TextPairs pairs = {{"kind", std::string(to_string(doubt.kind))}};
        if (doubt.size) pairs.emplace_back("size", yaml_number(*doubt.size));
        text += fmt::format("{}{}", text.size() > 1 ? ", " : "", flow_map(pairs));
    }
    return text + "]";
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
    document.only_keys(node, {"value", "std_error", "error_terms", "identifiable", "bound",
                              "source", "note", "doubts"});
    Estimate estimate{.value = document.number(document.required(node, "value")),
                      .std_error = {},
                      .note = optional_text(document, node, "note")};
    if (const DocumentNode* error = Document::find(node, "std_error")) {
        estimate.std_error = document.number(*error);
    }
    if (const DocumentNode* const terms = Document::find(node, "error_terms")) {
        for (const DocumentNode& term : document.entries(*terms))
            estimate.error_terms.push_back({term.key, document.number(term)});
    }
    read_kind(document, node, estimate);
    if (const DocumentNode* const source = Document::find(node, "source"))
        estimate.source = word_of<Source>(document, *source);
    const DocumentNode* const doubts = Document::find(node, "doubts");
    estimate.doubts =
        doubts != nullptr ? read_doubts(document, *doubts) : doubts_in_note(estimate.note);
    return estimate;
}

std::string quantity_text(const Estimate& estimate) {
    if (!estimate.std_error && estimate.identifiable() && estimate.note.empty() &&
        estimate.doubts.empty() && estimate.error_terms.empty() && !estimate.source) {
        return yaml_number(estimate.value);
    }
    TextPairs pairs = {{"value", yaml_number(estimate.value)}};
    if (estimate.std_error) {
        pairs.emplace_back("std_error", yaml_number(*estimate.std_error));
    }
    if (!estimate.error_terms.empty()) {
        TextPairs terms;
        for (const ErrorTerm& term : estimate.error_terms)
            terms.emplace_back(yaml_scalar(term.name), yaml_number(term.size));
        pairs.emplace_back("error_terms", flow_map(terms));
    }
    if (!estimate.identifiable()) {
        pairs.emplace_back("identifiable", "false");
    }
    if (estimate.kind == Estimate::Kind::upper_bound) {
        pairs.emplace_back("bound", "upper");
    } else if (estimate.kind == Estimate::Kind::lower_bound) {
        pairs.emplace_back("bound", "lower");
    }
    if (estimate.source) pairs.emplace_back("source", std::string(to_string(*estimate.source)));
    add_text(pairs, "note", estimate.note);
    // A list of none where the note alone would say otherwise.
    if (!estimate.doubts.empty() || !doubts_in_note(estimate.note).empty())
        pairs.emplace_back("doubts", doubts_text(estimate.doubts));
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
