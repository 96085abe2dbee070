// SPDX-License-Identifier: MIT
#include "extract/memory_trace.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include "core/buffer_fill.h"
#include "extract/set_cache.h"

namespace occupipe::extract {
namespace {

constexpr std::size_t spaces = 4;
constexpr std::uint64_t sectors_per_line = line_bytes / sector_bytes;
// Lines of local memory are numbered apart: warp of the group and word; the slot comes later.
constexpr std::uint64_t local_line = std::uint64_t{1} << 63;
constexpr int local_warp_shift = 40;
constexpr int local_slot_shift = 46;

// Lines of one request with their sectors, ascending.
class RequestLines {
public:
    void add(std::uint64_t line, std::uint32_t sectors) {
        if (count_ > 0 && lines_[count_ - 1].first == line) {
            lines_[count_ - 1].second |= sectors;
            return;
        }
        ascends_ = ascends_ && (count_ == 0 || lines_[count_ - 1].first < line);
        lines_[count_++] = {line, sectors};
    }

    std::span<const std::pair<std::uint64_t, std::uint32_t>> lines() {
        if (!ascends_) {
            const auto end = lines_.begin() + static_cast<std::ptrdiff_t>(count_);
            std::sort(lines_.begin(), end);
            const std::size_t all = std::exchange(count_, 0);
            ascends_ = true;
            for (std::size_t i = 0; i < all; ++i) add(lines_[i].first, lines_[i].second);
        }
        return {lines_.data(), count_};
    }

private:
    std::array<std::pair<std::uint64_t, std::uint32_t>, 32 * 5> lines_;
    std::size_t count_ = 0;
    bool ascends_ = true;
};

void add_global(RequestLines& lines, const isa::MemoryAccess& access) {
    isa::each_of(access.active, [&](int lane) {
        const std::uint64_t first = access.addresses[lane];
        const std::uint64_t last = first + access.bytes - 1;
        for (std::uint64_t at = first / sector_bytes; at <= last / sector_bytes; ++at)
            lines.add(at / sectors_per_line, 1U << (at % sectors_per_line));
    });
}

// Word w of lane l lies at (32 w + l) 4: a line for each word.
void add_local(RequestLines& lines, std::uint32_t warp, const isa::MemoryAccess& access) {
    isa::each_of(access.active, [&](int lane) {
        const std::uint64_t first = access.addresses[lane] / 4;
        const std::uint64_t last = (access.addresses[lane] + access.bytes - 1) / 4;
        for (std::uint64_t word = first; word <= last; ++word)
            lines.add(local_line | (std::uint64_t{warp} << local_warp_shift) | word,
                      1U << (lane / 8));
    });
}

// Positions of `keys` in ascending order of them; equal ones stay as they are.
std::vector<std::uint32_t> sorted_by(const std::vector<std::uint32_t>& keys) {
    std::vector<std::uint32_t> order(keys.size()), other(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    for (const int shift : {0, 16}) {
        std::vector<std::size_t> place(65537, 0);
        for (const std::uint32_t key : keys) ++place[((key >> shift) & 0xFFFF) + 1];
        std::partial_sum(place.begin(), place.end(), place.begin());
        for (const std::uint32_t i : order) other[place[(keys[i] >> shift) & 0xFFFF]++] = i;
        std::swap(order, other);
    }
    return order;
}

}  // namespace

class MemoryTrace::Recorder : public isa::GroupObserver {
public:
    // `empty`: of the kernel's sites.
    Recorder(MemoryTrace& trace, std::uint64_t group, std::vector<SiteCounts> empty)
        : sites(std::move(empty)), trace_(trace) {
        taken.group = group;
    }

    void step(std::uint32_t warp, std::size_t instruction, isa::Mask, isa::Mask) override {
        if (warp >= warps_.size()) warps_.resize(warp + 1);
        Warp& one = warps_[warp];
        if (one.waits) {
            one.clock = std::max(one.clock, latest_[one.barriers - 1]);
            one.waits = false;
        }
        ++one.clock;
        ++one.steps;
        taken.clocks = std::max(taken.clocks, one.clock);
        if (!trace_.barriers_[instruction]) return;
        one.waits = true;
        if (one.barriers == latest_.size()) latest_.push_back(0);
        latest_[one.barriers] = std::max(latest_[one.barriers], one.clock);
        ++one.barriers;
    }

    void access(std::uint32_t warp, std::size_t instruction,
                const isa::MemoryAccess& access) override {
        if (access.active == 0) return;
        const std::size_t number = instruction * spaces + static_cast<std::size_t>(access.space);
        SiteCounts& site = sites[number];
        if (site.counts.requests == 0) used.push_back(number);
        site.kind = access.kind;
        add_request(site.counts, access);
        RequestLines lines;
        if (access.space == isa::Space::global)
            add_global(lines, access);
        else if (access.space == isa::Space::local)
            add_local(lines, warp, access);
        else
            return;
        const int halvings = trace_.halvings_.load(std::memory_order_relaxed);
        for (const auto& [line, sectors] : lines.lines()) {
            if (!stays(line, halvings)) continue;
            taken.references.push_back({.line = line,
                                        .clock = warps_[warp].clock,
                                        .site = static_cast<std::uint32_t>(number) & 0xFFFFFFF,
                                        .sectors = sectors & 0xF,
                                        .step = warps_[warp].steps - 1,
                                        .warp = warp});
        }
    }

    std::vector<SiteCounts> sites;
    std::vector<std::size_t> used;  // of them
    GroupTrace taken;

private:
    struct Warp {
        std::uint32_t clock = 0;
        std::uint32_t steps = 0;
        std::size_t barriers = 0;  // that it came to
        bool waits = false;        // at the last of them
    };

    MemoryTrace& trace_;
    std::vector<Warp> warps_;
    std::vector<std::uint32_t> latest_;  // clock at each barrier
};

MemoryTrace::MemoryTrace(std::vector<bool> barriers, std::uint64_t most_references)
    : barriers_(std::move(barriers)),
      most_references_(most_references),
      sites_(barriers_.size() * spaces) {}

MemoryTrace::~MemoryTrace() = default;

bool MemoryTrace::stays(std::uint64_t line, int halvings) {
    return halvings == 0 || (random_bits(19, line) & ((std::uint64_t{1} << halvings) - 1)) == 0;
}

std::unique_ptr<isa::GroupObserver> MemoryTrace::begin(std::uint64_t group) {
    std::vector<SiteCounts> sites;
    {
        const std::scoped_lock lock(mutex_);
        if (!resting_.empty()) {
            sites = std::move(resting_.back());
            resting_.pop_back();
        }
    }
    sites.resize(sites_.size());
    return std::make_unique<Recorder>(*this, group, std::move(sites));
}

MemoryCounts MemoryTrace::counts_of(isa::Space space, isa::AccessKind kind) const {
    MemoryCounts sum;
    for (std::size_t i = static_cast<std::size_t>(space); i < sites_.size(); i += spaces)
        if (sites_[i].kind == kind) sum += sites_[i].counts;
    return sum;
}

void MemoryTrace::drop(GroupTrace& group) const {
    std::erase_if(group.references, [&](const LineReference& one) {
        return !stays(one.line, halvings_.load(std::memory_order_relaxed));
    });
    group.references.shrink_to_fit();
}

void MemoryTrace::halve() {
    ++halvings_;
    references_ = 0;
    for (GroupTrace& group : groups_) {
        drop(group);
        references_ += group.references.size();
    }
}

void MemoryTrace::end(std::uint64_t, std::unique_ptr<isa::GroupObserver> observer) {
    auto& recorder = dynamic_cast<Recorder&>(*observer);
    GroupTrace& taken = recorder.taken;
    std::ranges::stable_sort(taken.references, {}, &LineReference::clock);
    const std::scoped_lock lock(mutex_);
    for (const std::size_t i : recorder.used) {
        sites_[i].kind = recorder.sites[i].kind;
        sites_[i].counts += recorder.sites[i].counts;
        recorder.sites[i] = {};
    }
    resting_.push_back(std::move(recorder.sites));
    drop(taken);
    references_ += taken.references.size();
    const auto place = std::ranges::lower_bound(groups_, taken.group, {}, &GroupTrace::group);
    groups_.insert(place, std::move(taken));
    // A line may stay for ever, however often it is halved.
    constexpr int most_halvings = 32;
    while (references_ > most_references_ && halvings_ < most_halvings) halve();
}

namespace {

// References in the order of their clocks.
struct Ordered {
    std::vector<const LineReference*> references;
    std::vector<std::uint64_t> slots;  // of each, over all cores
    std::vector<std::uint32_t> cores;
};

std::span<const GroupTrace> first_groups(const MemoryTrace& trace, std::uint64_t groups) {
    const auto& all = trace.groups();
    const auto end = std::ranges::lower_bound(all, groups, {}, &GroupTrace::group);
    return std::span(all).first(static_cast<std::size_t>(end - all.begin()));
}

Ordered in_order(std::span<const GroupTrace> groups, const MemoryContext& context,
                 const ClockOf& clock_of) {
    Ordered all;
    std::size_t count = 0;
    for (const GroupTrace& group : groups) count += group.references.size();
    std::vector<std::uint64_t> clocks;
    clocks.reserve(count);
    std::vector<const LineReference*> references;
    references.reserve(count);
    std::vector<std::uint64_t> slots;
    slots.reserve(count);
    const auto cores = static_cast<std::uint64_t>(context.cores);
    const auto at_once = static_cast<std::uint64_t>(context.concurrent_groups);
    for (const GroupTrace& group : groups) {
        const std::uint64_t slot = group.group % (cores * at_once);
        for (const LineReference& one : group.references) {
            clocks.push_back(clock_of(group, one));
            references.push_back(&one);
            slots.push_back(slot);
        }
    }
    const std::uint64_t latest = clocks.empty() ? 0 : std::ranges::max(clocks);
    int shift = 0;
    while ((latest >> shift) > 0xFFFFFFFF) ++shift;
    std::vector<std::uint32_t> keys;
    keys.reserve(count);
    for (const std::uint64_t clock : clocks)
        keys.push_back(static_cast<std::uint32_t>(clock >> shift));
    for (const std::uint32_t i : sorted_by(keys)) {
        all.references.push_back(references[i]);
        all.slots.push_back(slots[i]);
        all.cores.push_back(static_cast<std::uint32_t>(slots[i] % cores));
    }
    return all;
}

bool is_local(const LineReference& one) { return (one.line & local_line) != 0; }

std::uint64_t line_of(const LineReference& one, std::uint64_t slot) {
    return is_local(one) ? one.line | (slot << local_slot_shift) : one.line;
}

// So many references ahead their lines are looked for.
constexpr std::size_t ahead = 12;

// `empty`: a cache of a core.
template <typename Cache>
void first_level(const MemoryTrace& trace, const Ordered& all, int cores,
                 const std::vector<bool>& passes_first_level, const Cache& empty,
                 MemoryReuse& result) {
    const std::vector<std::uint32_t> by_core = sorted_by(all.cores);
    std::size_t at = 0;
    for (std::uint32_t core = 0; core < static_cast<std::uint32_t>(cores); ++core) {
        Cache cache = empty;
        for (; at < by_core.size() && all.cores[by_core[at]] == core; ++at) {
            const LineReference& one = *all.references[by_core[at]];
            if (at + ahead < by_core.size()) {
                const std::uint32_t next = by_core[at + ahead];
                cache.expect(line_of(*all.references[next], all.slots[next]));
            }
            const isa::AccessKind kind = trace.sites()[one.site].kind;
            const bool stores = kind == isa::AccessKind::store;
            if (kind == isa::AccessKind::atomic || (stores && !is_local(one)) ||
                passes_first_level[one.site / spaces])
                continue;
            ReuseCounts& counts = result.sites[one.site].core;
            cache.read(line_of(one, all.slots[by_core[at]]), one.sectors,
                       [&](const NeededLines& needed) {
                           if (!stores) counts.add(needed);
                       });
        }
    }
}

template <typename Cache>
void second_level(const MemoryTrace& trace, const Ordered& all, Cache& cache, MemoryReuse& result) {
    for (std::size_t i = 0; i < all.references.size(); ++i) {
        const LineReference& one = *all.references[i];
        SiteReuse& site = result.sites[one.site];
        if (i + ahead < all.references.size())
            cache.expect(line_of(*all.references[i + ahead], all.slots[i + ahead]));
        const std::uint64_t line = line_of(one, all.slots[i]);
        const auto read = [&](const NeededLines& needed) { site.device.add(needed); };
        const auto written = [&](const NeededLines& needed) { site.written.add(needed); };
        switch (trace.sites()[one.site].kind) {
            case isa::AccessKind::store:
                cache.write(line, one.sectors, written);
                break;
            case isa::AccessKind::atomic:
                cache.read_and_write(line, one.sectors, read, written);
                break;
            default:
                cache.read(line, one.sectors, read);
        }
    }
}

// Calls use(clock_of) with the times at which groups run in their slots.
template <typename Use>
MemoryReuse in_slots(const MemoryTrace& trace, const MemoryContext& context, std::uint64_t groups,
                     const Use& use) {
    // When each group's slot was free, in the order of groups.
    std::vector<std::uint64_t> free(static_cast<std::size_t>(context.cores) *
                                    static_cast<std::size_t>(context.concurrent_groups));
    std::vector<std::uint64_t> begins;
    const std::span<const GroupTrace> launched = first_groups(trace, groups);
    begins.reserve(launched.size());
    for (const GroupTrace& group : launched) {
        std::uint64_t& slot = free[group.group % free.size()];
        begins.push_back(slot);
        slot += group.clocks;
    }
    const GroupTrace* const first = launched.data();
    return use([&](const GroupTrace& group, const LineReference& one) {
        return begins[static_cast<std::size_t>(&group - first)] + one.clock;
    });
}

}  // namespace

MemoryReuse reuse_of(const MemoryTrace& trace, const MemoryContext& context,
                     const std::vector<bool>& passes_first_level, std::uint64_t groups) {
    return in_slots(trace, context, groups, [&](const auto& clock_of) {
        return reuse_of(trace, context, passes_first_level, clock_of, groups);
    });
}

MemoryReuse hashed_reuse(const MemoryTrace& trace, const MemoryContext& context,
                         const std::vector<bool>& passes_first_level, const CacheShape& shape,
                         std::uint64_t groups) {
    return in_slots(trace, context, groups, [&](const auto& clock_of) {
        MemoryReuse result;
        result.sites.resize(trace.sites().size());
        const Ordered all = in_order(first_groups(trace, groups), context, clock_of);
        // Of one line in so many, a cache has as many fewer.
        const std::uint64_t line = line_bytes * trace.one_line_in();
        const SetCache first(shape.first_bytes / line, shape.ways, shape.seed);
        first_level(trace, all, context.cores, passes_first_level, first, result);
        SetCache second(shape.second_bytes / line, shape.ways, shape.seed);
        second_level(trace, all, second, result);
        std::vector<std::uint64_t> lines;
        lines.reserve(all.references.size());
        for (std::size_t i = 0; i < all.references.size(); ++i)
            lines.push_back(line_of(*all.references[i], all.slots[i]));
        std::ranges::sort(lines);
        result.lines =
            static_cast<std::uint64_t>(std::ranges::unique(lines).begin() - lines.begin());
        return result;
    });
}

MemoryReuse reuse_of(const MemoryTrace& trace, const MemoryContext& context,
                     const std::vector<bool>& passes_first_level, const ClockOf& clock_of,
                     std::uint64_t groups) {
    MemoryReuse result;
    result.sites.resize(trace.sites().size());
    const Ordered all = in_order(first_groups(trace, groups), context, clock_of);
    first_level(trace, all, context.cores, passes_first_level, SectorReuse(), result);
    SectorReuse second;
    second_level(trace, all, second, result);
    result.lines = second.lines();
    return result;
}

namespace {

// Of an instruction that asked for so many sectors. Where none of its lines is of the sample, it
// has few: fewer than three times as many as one stands for, in 95 of 100 samples. What it asks
// for beyond these is found again, where all lines of the launch fit at the latest.
Reuse reuse_in(const ReuseCounts& counts, std::uint64_t sectors, std::uint64_t lines,
               std::uint64_t one_line_in) {
    const double scaled_line = static_cast<double>(line_bytes) * static_cast<double>(one_line_in);
    if (counts.total() > 0 || one_line_in == 1) return counts.reuse(scaled_line);
    constexpr std::uint64_t few = 3;
    const auto fresh = static_cast<double>(few * one_line_in * sectors_per_line);
    const double share = 1 - fresh / static_cast<double>(sectors);
    if (!(share > 0)) return {};
    return {{static_cast<std::int64_t>(static_cast<double>(lines + few) * scaled_line), share}};
}

}  // namespace

std::optional<MemoryUse> memory_use(const MemoryTrace& trace, const MemoryReuse& reuse,
                                    const std::vector<bool>& passes_first_level,
                                    std::size_t instruction) {
    const auto mean = [](std::uint64_t sum, std::uint64_t requests) {
        return static_cast<double>(sum) / static_cast<double>(requests);
    };
    MemoryUse use;
    MemoryCounts moved;
    SiteReuse found;
    bool reads = false, writes = false, first = false;
    std::optional<double> bytes;
    for (const isa::Space space : {isa::Space::global, isa::Space::local}) {
        const std::size_t site = instruction * spaces + static_cast<std::size_t>(space);
        const SiteCounts& counts = trace.sites()[site];
        if (counts.counts.requests == 0) continue;
        moved += counts.counts;
        found.core += reuse.sites[site].core;
        found.device += reuse.sites[site].device;
        found.written += reuse.sites[site].written;
        const bool stores = counts.kind == isa::AccessKind::store;
        const bool atomic = counts.kind == isa::AccessKind::atomic;
        reads = reads || !stores;
        writes = writes || stores || atomic;
        first = first || (!stores && !atomic && !passes_first_level[instruction]);
    }
    if (moved.requests > 0) {
        bytes = mean(moved.bytes_asked, moved.requests);
        use.sectors = mean(moved.sectors, moved.requests);
        use.least_sectors = mean(moved.least_sectors, moved.requests);
        const auto told = [&](const ReuseCounts& counts) {
            return reuse_in(counts, moved.sectors, reuse.lines, trace.one_line_in());
        };
        if (first) use.core = told(found.core);
        if (reads) use.device = told(found.device);
        if (writes) use.written = told(found.written);
    }
    const MemoryCounts& shared =
        trace.sites()[instruction * spaces + static_cast<std::size_t>(isa::Space::shared)].counts;
    if (shared.requests > 0) {
        if (!bytes) bytes = mean(shared.bytes_asked, shared.requests);
        use.passes = mean(shared.passes, shared.requests);
        use.least_passes = mean(shared.phases, shared.requests);
    }
    if (!bytes) return std::nullopt;
    use.bytes = *bytes;
    return use;
}

std::vector<bool> barriers_of(const std::vector<isa::Instruction>& code) {
    std::vector<bool> result;
    result.reserve(code.size());
    for (const isa::Instruction& one : code)
        result.push_back(one.opcode == "BAR" && !one.has("ARV"));
    return result;
}

std::vector<bool> passing_first_level(const std::vector<isa::Instruction>& code) {
    std::vector<bool> result;
    result.reserve(code.size());
    for (const isa::Instruction& one : code) {
        const bool strong =
            (one.has("STRONG") || one.has("MMIO")) && !one.has("CTA") && !one.has("SM");
        result.push_back(strong || one.has("BYPASS") || one.has("NA"));
    }
    return result;
}

}  // namespace occupipe::extract
