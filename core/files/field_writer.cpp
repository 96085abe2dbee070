// SPDX-License-Identifier: MIT
#include "core/files/field_writer.h"

#include <algorithm>

namespace occupipe {
namespace {

bool all_scalars(const YamlTree& tree) {
    return std::ranges::all_of(
        tree.children, [](const YamlTree& child) { return child.kind == YamlTree::Kind::scalar; });
}

TextPairs pairs_of(const YamlTree& tree) {
    TextPairs pairs;
    for (const YamlTree& child : tree.children) pairs.emplace_back(child.key, child.text);
    return pairs;
}

std::string children_lines(const YamlTree& tree, std::size_t indent) {
    std::string lines;
    for (const YamlTree& child : tree.children) lines += yaml_lines(child, indent);
    return lines;
}

// "- {…}", or "- " before the first of several lines.
std::string item_lines(const YamlTree& item, std::size_t indent) {
    const std::string margin(indent, ' ');
    if (all_scalars(item)) return fmt::format("{}- {}\n", margin, flow_map(pairs_of(item)));
    std::string lines = children_lines(item, indent + 2);
    lines[indent] = '-';
    return lines;
}

}  // namespace

std::string yaml_lines(const YamlTree& tree, std::size_t indent) {
    const std::string head = fmt::format("{:{}}{}:", "", indent, tree.key);
    switch (tree.kind) {
        case YamlTree::Kind::scalar:
            return fmt::format("{} {}\n", head, tree.text);
        case YamlTree::Kind::verbatim:
            return head + tree.text;
        case YamlTree::Kind::map:
            if (all_scalars(tree)) return map_lines(indent, tree.key, pairs_of(tree));
            return fmt::format("{}\n{}", head, children_lines(tree, indent + 2));
        case YamlTree::Kind::list:
            break;
    }
    if (tree.children.empty()) return head + " []\n";
    std::string lines = head + "\n";
    for (const YamlTree& item : tree.children) lines += item_lines(item, indent + 2);
    return lines;
}

std::string annotation_text(const Annotation& annotation, std::size_t indent) {
    const std::string margin(indent, ' ');
    std::string lines;
    for (const auto& [key, value] : annotation.entries) {
        lines +=
            fmt::format("\n{}{}:{}", margin, yaml_scalar(key), annotation_text(value, indent + 2));
    }
    for (const Annotation& item : annotation.items) {
        lines += fmt::format("\n{}-{}", margin, annotation_text(item, indent + 2));
    }
    return lines.empty() ? fmt::format(" {}", yaml_scalar(annotation.text)) : lines;
}

}  // namespace occupipe
