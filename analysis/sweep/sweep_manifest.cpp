// SPDX-License-Identifier: MIT
#include "analysis/sweep/sweep_manifest.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "analysis/sweep/sweep_spec.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/json_reader.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "occupipe-sweep-run/2";
constexpr std::array<std::pair<ColumnType, std::string_view>, 4> types = {
    {{ColumnType::whole, "whole"},
     {ColumnType::real, "real"},
     {ColumnType::text, "text"},
     {ColumnType::shares, "shares"}}};

Json columns_json(const std::vector<SweepColumn>& columns) {
    Json all = Json::array();
    for (const SweepColumn& one : columns) {
        Json json = {{"name", one.name}};
        for (const auto& [type, word] : types)
            if (type == one.type) json["type"] = word;
        if (!one.unit.empty()) json["unit"] = one.unit;
        json["meaning"] = one.meaning;
        if (!one.absent.empty()) json["null"] = one.absent;
        all.push_back(std::move(json));
    }
    return all;
}

Json inputs_json(const SweepOrigin& origin) {
    Json all = Json::array();
    for (const auto& [name, hash] : origin.inputs) all.push_back({{"name", name}, {"hash", hash}});
    return all;
}

SweepColumn column_of(const Document& document, const DocumentNode& node) {
    document.only_keys(node, {"name", "type", "unit", "meaning", "null"});
    const auto text = [&](std::string_view key) {
        const DocumentNode* const found = Document::find(node, key);
        return found == nullptr ? std::string() : document.text(*found);
    };
    SweepColumn column{.name = document.text(document.required(node, "name")),
                       .unit = text("unit"),
                       .meaning = text("meaning"),
                       .absent = text("null")};
    const DocumentNode& type = document.required(node, "type");
    bool known = false;
    for (const auto& [one, word] : types)
        if (document.text(type) == word) {
            column.type = one;
            known = true;
        }
    if (!known) document.fail(type, fmt::format("unknown type '{}'", type.text));
    return column;
}

}  // namespace

fs::path manifest_path(const fs::path& output) { return output.string() + ".sweep.json"; }

void write_manifest(const SweepManifest& m, const fs::path& output) {
    Json json = {{"format", format_name},
                 {"program", OCCUPIPE_VERSION},
                 {"made_of", m.made_of},
                 {"shard", {{"number", m.shard.number}, {"count", m.shard.count}}},
                 {"rows", {{"first", m.first}, {"end", m.end}, {"all", m.all}}},
                 {"complete", m.complete}};
    if (m.complete) json["refused"] = m.refused;
    json["limit"] = m.origin.limit;
    json["inputs"] = inputs_json(m.origin);
    json["columns"] = columns_json(m.origin.columns);
    json["spec"] = m.origin.spec;
    write_text_file(manifest_path(output), json.dump(2) + "\n", Overwrite::yes);
}

SweepManifest read_manifest(const fs::path& output) {
    const std::string name = manifest_path(output).string();
    const Document document = parse_json(read_text_file(name), name);
    const DocumentNode& root = document.root();
    document.only_keys(root, {"format", "program", "made_of", "shard", "rows", "complete",
                              "refused", "limit", "inputs", "columns", "spec"});
    const DocumentNode& format = document.required(root, "format");
    if (document.text(format) != format_name)
        document.fail(format, fmt::format("unknown format '{}'", format.text));
    const auto number = [&](std::string_view map, std::string_view key) {
        return document.integer(document.required(document.required(root, map), key), 0,
                                most_sweep_rows);
    };
    SweepManifest m{.made_of = document.text(document.required(root, "made_of")),
                    .shard = {number("shard", "number"), number("shard", "count")},
                    .first = number("rows", "first"),
                    .end = number("rows", "end"),
                    .all = number("rows", "all"),
                    .complete = document.boolean(document.required(root, "complete")),
                    .origin = {}};
    if (m.complete)
        m.refused = document.integer(document.required(root, "refused"), 0, most_sweep_rows);
    m.origin.spec = document.text(document.required(root, "spec"));
    m.origin.limit = document.text(document.required(root, "limit"));
    for (const DocumentNode& one : document.items(document.required(root, "inputs")))
        m.origin.inputs.emplace_back(document.text(document.required(one, "name")),
                                     document.text(document.required(one, "hash")));
    for (const DocumentNode& one : document.items(document.required(root, "columns")))
        m.origin.columns.push_back(column_of(document, one));
    return m;
}

}  // namespace occupipe::analysis
