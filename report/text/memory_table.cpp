// SPDX-License-Identifier: MIT
#include "report/text/memory_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <vector>

#include "analysis/explanation/annotation.h"
#include "report/text/text_table.h"

namespace occupipe::report {
namespace {

using analysis::MemoryRow;
using analysis::PricedMemory;

// One machine instruction may stand in several programs, and more than once in each.
std::string machine_id(const MemoryRow& row) { return analysis::machine_instruction(row.id).first; }

std::vector<MemoryRow> merged(const PricedMemory& priced) {
    std::vector<MemoryRow> rows;
    for (const MemoryRow& row : priced.rows) {
        if (row.use == MemoryUse{}) continue;  // executed without any active lane
        const auto same = std::ranges::find_if(rows, [&](const MemoryRow& other) {
            return other.id == machine_id(row) && other.op == row.op && other.use == row.use;
        });
        if (same != rows.end()) {
            same->executions += row.executions;
            continue;
        }
        rows.push_back(row);
        rows.back().id = machine_id(row);
    }
    return rows;
}

// Of its unit: every warp that the core finishes takes λ as often as it executes the instruction.
std::optional<double> share_of_time(const MemoryRow& row, const Prediction* prediction) {
    if (!prediction || !row.cpi) return std::nullopt;
    return row.executions * row.cpi->value * prediction->warps_per_cycle;
}

// Unrolled code has thousands; these tell where the time goes.
constexpr std::size_t most_rows = 24;

double cycles(const MemoryRow& row) { return row.cpi ? row.executions * row.cpi->value : 0; }

// Those that take the most of their units' time, in program order, and how many others there are.
struct Rows {
    std::vector<MemoryRow> shown;
    std::size_t others = 0;
};
Rows longest(std::vector<MemoryRow> rows) {
    Rows found;
    if (rows.size() <= most_rows) return {.shown = std::move(rows)};
    std::vector<std::size_t> order(rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return cycles(rows[i]); });
    found.others = rows.size() - most_rows;
    order.resize(most_rows);
    std::ranges::sort(order);
    for (const std::size_t i : order) found.shown.push_back(std::move(rows[i]));
    return found;
}

// Whether the instruction's accesses go through this level.
bool answers(const MemoryRow& row, std::size_t level) {
    const bool of_core = analysis::memory_levels()[level].sharer == analysis::Sharer::core;
    return row.read && (row.use.core || !of_core);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

}  // namespace

std::string memory_table(const PricedMemory& priced, const Prediction* prediction) {
    if (priced.rows.empty()) return {};
    TextTable table;
    table.header = {"instruction", "line", "per warp", "sectors", "least", "passes", "least"};
    const std::span levels = analysis::memory_levels();
    for (std::size_t level = 0; level < levels.size(); ++level)
        table.header.push_back(analysis::heading(level));
    for (const char* more : {"DRAM bytes", "λ", "Λ"}) table.header.emplace_back(more);
    table.align.assign(table.header.size(), Align::right);
    table.align[0] = table.align[1] = Align::left;
    if (prediction) {
        table.header.emplace_back("of its unit");
        table.align.push_back(Align::right);
    }
    const auto number = [](double value) { return fmt::format("{:.4g}", value); };
    const Rows rows = longest(merged(priced));
    for (const MemoryRow& row : rows.shown) {
        const bool sectors = row.use.sectors > 0, passes = row.use.passes > 0;
        std::vector<std::string> cells = {fmt::format("{} {}", row.id, row.op),
                                          row.at,
                                          number(row.executions),
                                          sectors ? number(row.use.sectors) : "",
                                          sectors ? number(row.use.least_sectors) : "",
                                          passes ? number(row.use.passes) : "",
                                          passes ? number(row.use.least_passes) : ""};
        for (std::size_t level = 0; level < levels.size(); ++level)
            cells.push_back(answers(row, level) ? percent((*row.read)[level]) : "");
        cells.push_back(row.dram_bytes ? number(*row.dram_bytes) : "");
        cells.push_back(row.cpi ? number(row.cpi->value) : "");
        cells.push_back(row.latency ? number(row.latency->value) : "");
        if (prediction) {
            const auto share = share_of_time(row, prediction);
            cells.push_back(share ? percent(*share) : "");
        }
        table.rows.push_back(std::move(cells));
    }
    std::string text = "Memory, per execution by a warp\n" + plain_text(table);
    if (rows.others == 1) text += "and one more; --json has all\n";
    if (rows.others > 1) text += fmt::format("and {} more; --json has all\n", rows.others);
    if (priced.dram_ratio)
        text += fmt::format("R = {:.4g} bytes from and to DRAM per byte asked of global memory\n",
                            *priced.dram_ratio);
    if (priced.conflict_degree)
        text += fmt::format("D = {:.4g} further passes through shared memory per pass needed\n",
                            *priced.conflict_degree);
    return text;
}

nlohmann::ordered_json memory_json(const PricedMemory& priced, const Prediction* prediction) {
    nlohmann::ordered_json json;
    const auto optional = [](nlohmann::ordered_json& to, const char* key,
                             const std::optional<double>& value) {
        if (value) to[key] = *value;
    };
    for (const analysis::LevelRow& cache : analysis::cache_levels())
        if (const auto size = priced.sizes.find(cache.name); size != priced.sizes.end())
            json[fmt::format("{}_bytes", cache.name)] = size->second.bytes;
    optional(json, "dram_ratio", priced.dram_ratio);
    optional(json, "conflict_degree", priced.conflict_degree);
    json["instructions"] = nlohmann::ordered_json::array();
    for (const MemoryRow& row : merged(priced)) {
        nlohmann::ordered_json one;
        one["id"] = row.id;
        one["op"] = row.op;
        if (!row.at.empty()) one["at"] = row.at;
        one["executions_per_warp"] = row.executions;
        one["bytes"] = row.use.bytes;
        if (row.use.sectors > 0) {
            one["sectors"] = row.use.sectors;
            one["least_sectors"] = row.use.least_sectors;
            optional(one, "lines", row.use.lines);
            optional(one, "bank_passes", row.use.bank_passes);
        }
        if (row.use.passes > 0) {
            one["passes"] = row.use.passes;
            one["least_passes"] = row.use.least_passes;
        }
        for (std::size_t level = 0; level < analysis::memory_levels().size(); ++level)
            if (answers(row, level))
                one[fmt::format("{}_share", analysis::memory_levels()[level].name)] =
                    (*row.read)[level];
        optional(one, "dram_bytes", row.dram_bytes);
        if (row.cpi) one["cpi"] = row.cpi->value;
        if (row.latency) one["latency"] = row.latency->value;
        optional(one, "share_of_time", share_of_time(row, prediction));
        json["instructions"].push_back(std::move(one));
    }
    return json;
}

}  // namespace occupipe::report
