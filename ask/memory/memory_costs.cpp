// SPDX-License-Identifier: MIT
#include "ask/memory/memory_costs.h"

#include <algorithm>
#include <cmath>

namespace occupipe::analysis {

Estimate weighted(const std::vector<std::pair<double, Estimate>>& parts) {
    Estimate sum;
    double variance = 0;
    bool known = true;
    for (const auto& [share, part] : parts) {
        if (share == 0) continue;
        sum.value += share * part.value;
        known = known && part.std_error.has_value();
        if (part.std_error) variance += share * *part.std_error * share * *part.std_error;
        if (sum.identifiable() && !part.identifiable()) {
            sum.kind = part.kind;
            sum.note = part.note;
            sum.doubts = part.doubts;
        } else if (!part.identifiable() && part.kind != sum.kind) {
            sum.kind = Estimate::Kind::undetermined;
        }
    }
    if (known) sum.std_error = std::sqrt(variance);
    return sum;
}

// Rows of one access pattern: a chase for Λ, a stream for λ, where there are both.
struct MemoryCosts::Names {
    double sectors;
    std::string_view chase;
    std::string_view stream;
};

std::optional<MemoryCosts::Row> MemoryCosts::row(const Names& names) const {
    const InstructionTiming* const chase = profile_.find_instruction(names.chase);
    const InstructionTiming* const stream = profile_.find_instruction(names.stream);
    if (!chase && !stream) return std::nullopt;
    Row row{.sectors = names.sectors, .cost = {}};
    // Throughput: of the stream where it was determined.
    const bool take_stream = stream && (!chase || stream->cpi.identifiable());
    row.timing = take_stream ? stream : chase;
    row.cost.cpi = profile_.cpi_per_core(*row.timing);
    if (chase && chase->latency)
        row.cost.latency = chase->latency;
    else if (stream && stream->latency)
        row.cost.latency = stream->latency;
    return row;
}

MemoryCosts::Rows MemoryCosts::rows_of(std::initializer_list<Names> names) const {
    Rows rows;
    for (const Names& one : names) {
        if (!rows.empty() && rows.back().sectors == one.sectors) continue;
        if (const auto found = row(one)) rows.push_back(*found);
    }
    return rows;
}

MemoryCosts::MemoryCosts(const GpuProfile& profile) : profile_(profile) {
    levels_ = {{rows_of({{4, "ld.global.l1.u32", ""}}), rows_of({{8, "ld.global.l1.u64", ""}}),
                rows_of({{16, "ld.global.l1.v2.u64", ""}})},
               {rows_of({{1, "ld.global.l2.u32.broadcast", ""},
                         {4, "ld.global.l2.u32", "ld.global.l2.f32"},
                         {8, "ld.global.l2.u32.stride2", ""},
                         {16, "ld.global.l2.u32.stride4", ""},
                         {32, "ld.global.l2.u32.stride8", ""}}),
                rows_of({{8, "ld.global.l2.u64", ""}}),
                rows_of({{16, "ld.global.l2.v2.u64", "ld.global.l2.v4.f32"}})},
               // Papers measure one load of a word, under one of its names.
               {rows_of({{4, "ld.global.u32", "ld.global.f32"}, {4, "ld.global.s32", ""}}),
                rows_of({{8, "ld.global.u64", "ld.global.v2.f32"}}),
                rows_of({{16, "ld.global.v2.u64", "ld.global.v4.f32"}})}};
}

const char* MemoryCosts::row_of(Level level) {
    switch (level) {
        case Level::first:
            return "ld.global.l1.u32";
        case Level::second:
            return "ld.global.l2.u32";
        default:
            return "ld.global.u32";
    }
}

const MemoryCosts::Rows& MemoryCosts::rows(Level level, double least) const {
    const auto& by_width = levels_[static_cast<std::size_t>(level)];
    const std::size_t width = least <= 4 ? 0 : least <= 8 ? 1 : 2;
    return by_width[width].empty() ? by_width[0] : by_width[width];
}

const InstructionTiming* MemoryCosts::load_row() const {
    for (const char* name : {"ld.global.u32", "ld.global.f32", "ld.global.s32", "ld.global.l2.u32",
                             "ld.global.l1.u32"})
        if (const InstructionTiming* found = profile_.find_instruction(name)) return found;
    for (const auto& by_width : levels_)
        for (const Rows& rows : by_width)
            if (!rows.empty()) return rows.front().timing;
    return nullptr;
}

std::optional<RequestCost> MemoryCosts::load(Level level, double sectors, double least) const {
    const Rows& rows = this->rows(level, least);
    if (rows.empty()) return std::nullopt;
    const Row& first = rows.front();
    const Row& last = rows.back();
    if (sectors >= last.sectors) {
        const double times = sectors / last.sectors;
        RequestCost cost{.cpi = last.cost.cpi.times(times), .latency = last.cost.latency};
        if (cost.latency && times > 1)
            cost.latency = weighted({{1, *last.cost.latency}, {times - 1, last.cost.cpi}});
        return cost;
    }
    if (sectors <= first.sectors) {
        RequestCost cost = first.cost;
        if (level == Level::first) return cost;
        cost.cpi = first.cost.cpi.times(sectors / first.sectors);
        const Rows& hits = this->rows(Level::first, 0);
        if (!hits.empty() && hits.front().cost.cpi.value > cost.cpi.value)
            cost.cpi = first.cost.cpi.value < hits.front().cost.cpi.value ? first.cost.cpi
                                                                          : hits.front().cost.cpi;
        return cost;
    }
    const auto above =
        std::ranges::find_if(rows, [&](const Row& row) { return row.sectors >= sectors; });
    const auto below = std::prev(above);
    const double share = (sectors - below->sectors) / (above->sectors - below->sectors);
    RequestCost cost{.cpi = weighted({{1 - share, below->cost.cpi}, {share, above->cost.cpi}}),
                     .latency = {}};
    if (below->cost.latency && above->cost.latency)
        cost.latency = weighted({{1 - share, *below->cost.latency}, {share, *above->cost.latency}});
    else
        cost.latency = below->cost.latency;
    return cost;
}

}  // namespace occupipe::analysis
