// SPDX-License-Identifier: MIT
#include "core/files/parameter_table_yaml.h"

#include <fmt/format.h>

#include <optional>

#include "core/files/quantity_yaml.h"
#include "core/files/yaml_text.h"

namespace occupipe {
namespace {

std::optional<Estimate> optional_quantity(const Document& document, const DocumentNode& map,
                                          std::string_view key) {
    const DocumentNode* const node = Document::find(map, key);
    return node == nullptr ? std::nullopt : std::optional(read_quantity(document, *node));
}

void add_quantity(TextPairs& pairs, const char* key, const std::optional<Estimate>& estimate) {
    if (estimate) {
        pairs.emplace_back(key, quantity_text(*estimate));
    }
}

TableRow read_row(const Document& document, const DocumentNode& node) {
    document.only_keys(node, {"at", "cpi", "latency"});
    TableRow row;
    row.at = document.number(document.required(node, "at"));
    row.cpi = optional_quantity(document, node, "cpi");
    row.latency = optional_quantity(document, node, "latency");
    if (!row.cpi && !row.latency) {
        document.fail(node, "has neither cpi nor latency");
    }
    return row;
}

}  // namespace

std::vector<ParameterTable> read_tables(const Document& document, const DocumentNode& node) {
    std::vector<ParameterTable> tables;
    for (const DocumentNode& item : document.items(node)) {
        document.only_keys(item, {"over", "note", "rows"});
        ParameterTable table;
        table.over = document.text(document.required(item, "over"));
        table.note = optional_text(document, item, "note");
        for (const DocumentNode& row : document.items(document.required(item, "rows"))) {
            table.rows.push_back(read_row(document, row));
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

std::string table_lines(const std::vector<ParameterTable>& tables, std::size_t indent) {
    const std::string margin(indent, ' ');
    std::string lines = margin + "tables:\n";
    for (const ParameterTable& table : tables) {
        lines += fmt::format("{}  - over: {}\n", margin, yaml_scalar(table.over));
        if (!table.note.empty()) {
            lines += fmt::format("{}    note: {}\n", margin, yaml_scalar(table.note));
        }
        lines += fmt::format("{}    rows:{}\n", margin, table.rows.empty() ? " []" : "");
        for (const TableRow& row : table.rows) {
            TextPairs pairs = {{"at", yaml_number(row.at)}};
            add_quantity(pairs, "cpi", row.cpi);
            add_quantity(pairs, "latency", row.latency);
            lines += fmt::format("{}      - {}\n", margin, flow_map(pairs));
        }
    }
    return lines;
}

std::vector<MemoryLevel> read_memory_levels(const Document& document, const DocumentNode& node) {
    std::vector<MemoryLevel> levels;
    for (const DocumentNode& item : document.items(node)) {
        document.only_keys(
            item, {"instruction", "latency", "first_bytes", "last_bytes", "edge_confidence"});
        MemoryLevel level;
        level.instruction = document.text(document.required(item, "instruction"));
        level.latency = read_quantity(document, document.required(item, "latency"));
        level.first_bytes = document.number(document.required(item, "first_bytes"));
        level.last_bytes = document.number(document.required(item, "last_bytes"));
        if (const DocumentNode* confidence = Document::find(item, "edge_confidence")) {
            level.edge_confidence = document.number(*confidence);
        }
        levels.push_back(std::move(level));
    }
    return levels;
}

std::string memory_level_lines(const std::vector<MemoryLevel>& levels) {
    std::string lines = levels.empty() ? "" : "memory_levels:\n";
    for (const MemoryLevel& level : levels) {
        TextPairs pairs = {{"instruction", yaml_scalar(level.instruction)},
                           {"latency", quantity_text(level.latency)},
                           {"first_bytes", yaml_number(level.first_bytes)},
                           {"last_bytes", yaml_number(level.last_bytes)}};
        if (level.edge_confidence) {
            pairs.emplace_back("edge_confidence", yaml_number(*level.edge_confidence));
        }
        lines += fmt::format("  - {}\n", flow_map(pairs));
    }
    return lines;
}

Overheads read_overheads(const Document& document, const DocumentNode& node) {
    document.only_keys(node, {"launch_seconds", "awaited_launch_seconds", "graph_launch_seconds",
                              "group_seconds", "loop_cycles"});
    Overheads overheads;
    overheads.launch_seconds = optional_quantity(document, node, "launch_seconds");
    overheads.awaited_launch_seconds = optional_quantity(document, node, "awaited_launch_seconds");
    overheads.graph_launch_seconds = optional_quantity(document, node, "graph_launch_seconds");
    overheads.group_seconds = optional_quantity(document, node, "group_seconds");
    overheads.loop_cycles = optional_quantity(document, node, "loop_cycles");
    return overheads;
}

std::string overheads_line(const Overheads& overheads) {
    TextPairs pairs;
    add_quantity(pairs, "launch_seconds", overheads.launch_seconds);
    add_quantity(pairs, "awaited_launch_seconds", overheads.awaited_launch_seconds);
    add_quantity(pairs, "graph_launch_seconds", overheads.graph_launch_seconds);
    add_quantity(pairs, "group_seconds", overheads.group_seconds);
    add_quantity(pairs, "loop_cycles", overheads.loop_cycles);
    return pairs.empty() ? std::string() : map_lines(0, "overheads", pairs);
}

}  // namespace occupipe
