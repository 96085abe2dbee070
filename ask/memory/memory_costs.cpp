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

std::optional<MemoryCosts::Row> MemoryCosts::row(const LevelAccess& access) const {
    const InstructionTiming* const chase = profile_.find_instruction(access.chase);
    const InstructionTiming* const stream = profile_.find_instruction(access.stream);
    if (!chase && !stream) return std::nullopt;
    Row row{.sectors = access.sectors, .cost = {}};
    // Throughput: of the stream where it was determined; of two upper bounds the lower one.
    const auto upper = [](const InstructionTiming& one) {
        return one.cpi.kind == Estimate::Kind::upper_bound;
    };
    const bool take_stream =
        stream && (!chase || stream->cpi.identifiable() ||
                   (upper(*chase) && upper(*stream) &&
                    profile_.cpi_per_core(*stream).value < profile_.cpi_per_core(*chase).value));
    row.timing = take_stream ? stream : chase;
    row.cost.cpi = profile_.cpi_per_core(*row.timing);
    if (chase && chase->latency)
        row.cost.latency = chase->latency;
    else if (stream && stream->latency)
        row.cost.latency = stream->latency;
    return row;
}

MemoryCosts::Rows MemoryCosts::rows_of(std::span<const LevelAccess> accesses) const {
    Rows rows;
    for (const LevelAccess& one : accesses) {
        if (!rows.empty() && rows.back().sectors == one.sectors) continue;
        if (const auto found = row(one)) rows.push_back(*found);
    }
    return rows;
}

MemoryCosts::MemoryCosts(const GpuProfile& profile) : profile_(profile) {
    for (const LevelRow& level : memory_levels())
        levels_.push_back(
            {rows_of(level.accesses[0]), rows_of(level.accesses[1]), rows_of(level.accesses[2])});
}

const MemoryCosts::Rows& MemoryCosts::rows(LevelNumber level, double least_sectors) const {
    const auto& by_width = levels_[level];
    const std::size_t width = least_sectors <= 4 ? 0 : least_sectors <= 8 ? 1 : 2;
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

void MemoryCosts::spread(RequestCost& cost, LevelNumber level, const SpreadAccess& access,
                         double count) const {
    const InstructionTiming* const many = profile_.find_instruction(access.chase);
    if (!many) return;
    const Estimate cpi = profile_.cpi_per_core(*many).times(count / access.count);
    if (cpi.value > cost.cpi.value) cost.cpi = cpi;
    const auto one = by_sectors(level, 4, 4);
    if (!cost.latency || !many->latency || !one || !one->latency) return;
    const double share = std::clamp((count - 1) / (access.count - 1), 0.0, 1.0);
    const Estimate latency = weighted({{1 - share, *one->latency}, {share, *many->latency}});
    if (latency.value > cost.latency->value) cost.latency = latency;
}

std::optional<RequestCost> MemoryCosts::load(LevelNumber level, const MemoryUse& use) const {
    auto cost = by_sectors(level, use.sectors, std::max(use.least_sectors, 1.0));
    if (!cost) return cost;
    const LevelRow& row = memory_levels()[level];
    if (use.lines) spread(*cost, level, row.lines, *use.lines);
    if (use.bank_passes && use.core) {
        spread(*cost, level, row.passes, *use.bank_passes);
        const auto hit = by_sectors(0, 4, 4);
        if (hit && hit->cpi.value * *use.bank_passes > cost->cpi.value)
            cost->cpi = hit->cpi.times(*use.bank_passes);
    }
    return cost;
}

std::optional<Estimate> MemoryCosts::store(const MemoryUse& use) const {
    const auto load = this->load(shared_cache(), use);
    if (!load) return std::nullopt;
    // H200: 6.9 cycles of a core's share against 3.7; a line of its own for each lane 4.2 per line
    // (transpositions of public programs) against 1.7.
    const InstructionTiming* const stored = profile_.find_instruction("st.global.l2.f32");
    const auto coalesced = by_sectors(shared_cache(), 4, 4);
    if (stored && stored->cpi.identifiable() && coalesced)
        return load->cpi.times(profile_.cpi_per_core(*stored).value / coalesced->cpi.value);
    constexpr double times = 2, error = 0.5;  // of a GPU where it was not measured
    Estimate cpi = load->cpi.times(times);
    cpi.std_error = std::hypot(cpi.std_error.value_or(0), error * load->cpi.value);
    return cpi;
}

std::optional<RequestCost> MemoryCosts::by_sectors(LevelNumber level, double sectors,
                                                   double least_sectors) const {
    const Rows& rows = this->rows(level, least_sectors);
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
        if (level == 0) return cost;
        cost.cpi = first.cost.cpi.times(sectors / first.sectors);
        const Rows& hits = this->rows(0, 0);
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
