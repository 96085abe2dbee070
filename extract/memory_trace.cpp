// SPDX-License-Identifier: MIT
#include "extract/memory_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/buffer_fill.h"
#include "core/parallel.h"
#include "extract/set_cache.h"

namespace occupipe::extract {
namespace {

constexpr std::size_t spaces = site_spaces;
constexpr std::uint64_t sectors_per_line = line_bytes / sector_bytes;
// A line of local memory: warp of the group and word; above them, where lines of both kinds meet,
// the slot.
constexpr std::uint64_t local_line = std::uint64_t{1} << 63;
constexpr int local_warp_shift = 40;
constexpr int local_slot_shift = 46;

bool is_local(const LineReference& one) {
    return one.site() % spaces == static_cast<std::uint32_t>(isa::Space::local);
}

std::uint32_t count_of(std::uint32_t sectors) {
    return (0x4332'3221'3221'2110 >> 4 * sectors) & 0xF;
}

}  // namespace

// A line may stay for ever, however often the others are halved.
constexpr int most_halvings = 32;
constexpr std::size_t most_targets = std::size_t{1} << 16;
constexpr std::uint64_t parts_of_site = std::uint64_t{1} << 14;

class MemoryTrace::Recorder : public isa::GroupObserver {
public:
    explicit Recorder(MemoryTrace& trace)
        : counts(trace.sites_.size()),
          trace_(trace),
          places_(counts.size()),
          patterns_(trace.barriers_.size()),
          most_recorded_(trace.most_references_) {}

    // For the next group.
    void begin(std::uint64_t group) {
        taken = {.group = group, .clocks = 0, .references = {}, .issues = {}};
        for (const std::size_t number : used) {
            counts[number] = {};
            places_[number].warps = 0;
            places_[number].of_them.clear();
        }
        used.clear();
        targets.clear();
        recorded_.clear();
        for (Warp& one : warps_) one.begin();
        latest_.clear();
    }

    void steps(std::uint32_t warp, std::span<const isa::Executed> executed) override {
        if (warp >= warps_.size()) warps_.resize(warp + 1);
        Warp& one = warps_[warp];
        one.steps += static_cast<std::uint32_t>(executed.size());
        for (auto at = executed.begin(); at != executed.end();) {
            if (one.waits) {
                one.clock = std::max(one.clock, latest_[one.barriers - 1]);
                one.waits = false;
            }
            const auto barrier = trace_.has_barriers_
                                     ? std::find_if(at, executed.end(),
                                                    [&](const auto& step) {
                                                        return step.active != 0 &&
                                                               trace_.barriers_[step.instruction];
                                                    })
                                     : executed.end();
            one.clock += static_cast<std::uint32_t>(barrier - at);
            if (barrier == executed.end()) break;
            at = barrier + 1;
            ++one.clock;
            one.waits = true;
            if (one.barriers == latest_.size()) latest_.push_back(0);
            latest_[one.barriers] = std::max(latest_[one.barriers], one.clock);
            ++one.barriers;
        }
        taken.clocks = std::max(taken.clocks, one.clock);
    }

    void access(std::uint32_t warp, std::size_t instruction,
                const isa::MemoryAccess& access) override {
        if (access.active == 0) return;
        const std::size_t number = instruction * spaces + static_cast<std::size_t>(access.space);
        SiteCounts& site = counts[number];
        if (site.counts.requests == 0) used.push_back(number);
        site.kind = access.kind;
        const RequestLines touched(access);
        add_request(site.counts, access, touched, patterns_[instruction]);
        const bool first = is_first(number, warp);
        if (first) add_places(number, touched);
        const bool stores =
            access.kind == isa::AccessKind::store && access.space == isa::Space::global;
        Warp& one = warps_[warp];
        if (stores)
            site.merged += one.stored.merge(touched.lines(), one.steps);
        else
            one.stored.forget();
        if (access.kind == isa::AccessKind::atomic && access.space == isa::Space::global)
            count_targets(number, touched);
        const std::size_t told = number + (first ? trace_.first_sites() : 0);
        const std::uint64_t own = access.space == isa::Space::local
                                      ? local_line | std::uint64_t{warp} << local_warp_shift
                                      : 0;
        const int halvings = trace_.halvings_.load(std::memory_order_relaxed);
        for (const auto& [in_space, sectors] : touched.lines()) {
            const std::uint64_t line = in_space | own;
            if (!stays(line, halvings)) continue;
            recorded_.push_back({.line = line,
                                 .reference = {.clock = one.clock,
                                               .what = LineReference::what_of(
                                                   static_cast<std::uint32_t>(told), sectors)},
                                 .issue = {.warp = warp, .step = one.steps - 1}});
        }
        if (recorded_.size() > most_recorded_) leave_out_lines();
    }

    // Tells of each site used how far its warps' first requests lie apart.
    void sum_up_places() {
        for (const std::size_t number : used) {
            std::vector<std::uint64_t>& all = places_[number].of_them;
            std::ranges::sort(all);
            const auto same = std::ranges::unique(all);
            counts[number].group_places +=
                static_cast<std::uint64_t>(std::distance(all.begin(), same.begin()));
        }
    }

    // Takes what was recorded, in order; its references have no numbers yet.
    void finish() {
        clocks_.clear();
        for (const Recorded& one : recorded_) clocks_.push_back(one.reference.clock);
        lines.clear();
        taken.references.reserve(recorded_.size());
        taken.issues.reserve(recorded_.size());
        for (const std::uint32_t i : sorted_by(clocks_)) {
            lines.push_back(recorded_[i].line);
            taken.references.push_back(recorded_[i].reference);
            taken.issues.push_back(recorded_[i].issue);
        }
    }

    // Of a group with more references than all are to have, before it ends.
    void leave_out_lines() {
        for (;;) {
            const int halvings = trace_.halvings_.load(std::memory_order_relaxed);
            std::erase_if(recorded_,
                          [&](const Recorded& one) { return !stays(one.line, halvings); });
            most_recorded_ = std::max<std::size_t>(trace_.most_references_, 2 * recorded_.size());
            if (recorded_.size() <= trace_.most_references_ || halvings == most_halvings) return;
            const std::scoped_lock lock(trace_.mutex_);
            if (trace_.halvings_ == halvings) trace_.halve();
        }
    }

    std::vector<SiteCounts> counts;  // by site
    std::vector<std::size_t> used;   // sites
    Targets targets;
    GroupTrace taken;                  // once it is finished
    std::vector<std::uint64_t> lines;  // of its references

private:
    // What a warp stored last. The L1 cache merges stores that follow each other at once; after
    // another access between them the first may have left: after a load it has (H200: public
    // programs).
    class Stored {
    public:
        void begin() {
            forget();
            step_ = 0;
        }
        void forget() { lines_.clear(); }
        // Of the sectors of its next store: those that it wrote in the last one, if that was soon.
        std::uint64_t merge(std::span<const RequestLines::Line> lines, std::uint32_t step) {
            constexpr std::uint32_t soon = 32;  // instructions
            std::uint64_t sectors = 0;
            if (step - step_ < soon) {
                auto old = lines_.begin();
                for (const auto& [line, written] : lines) {
                    while (old != lines_.end() && old->line < line) ++old;
                    if (old != lines_.end() && old->line == line)
                        sectors += count_of(old->sectors & written);
                }
            }
            lines_.assign(lines.begin(), lines.end());
            step_ = step;
            return sectors;
        }

    private:
        std::vector<RequestLines::Line> lines_;
        std::uint32_t step_ = 0;
    };

    struct Warp {
        void begin() {
            stored.begin();
            clock = steps = 0;
            barriers = 0;
            waits = false;
        }

        Stored stored;
        std::uint32_t clock = 0;
        std::uint32_t steps = 0;
        std::size_t barriers = 0;  // that it came to
        bool waits = false;        // at the last of them
    };

    bool is_first(std::size_t number, std::uint32_t warp) {
        constexpr std::uint32_t most_warps = 64;
        std::uint64_t& seen = places_[number].warps;
        if (warp >= most_warps || (seen >> warp & 1) != 0) return false;
        seen |= std::uint64_t{1} << warp;
        return true;
    }

    void count_targets(std::size_t number, const RequestLines& touched) {
        const bool parts = trace_.counts_parts_.load(std::memory_order_relaxed);
        for (const auto& [line, sectors] : touched.lines())
            for (std::uint64_t sector = 0; sector < sectors_per_line; ++sector) {
                if ((sectors >> sector & 1) == 0) continue;
                const std::uint64_t name = random_bits(number, line * sectors_per_line + sector);
                Target& one = targets[parts ? part_of(number, name) : name];
                one.site = number;
                one.group = taken.group;
                ++one.requests;
            }
        if (parts || targets.size() <= most_targets) return;
        to_parts(targets);
        const std::scoped_lock lock(trace_.mutex_);
        trace_.count_parts();
    }

    void add_places(std::size_t number, const RequestLines& touched) {
        Places& seen = places_[number];
        SiteCounts& site = counts[number];
        ++site.first_requests;
        std::uint64_t last = ~std::uint64_t{0};
        for (const RequestLines::Line& one : touched.lines()) {
            const std::uint64_t place = one.line / lines_per_place;
            if (place != last) {
                seen.of_them.push_back(place);
                ++site.places;
            }
            last = place;
        }
    }

    static constexpr std::uint64_t lines_per_place = 8;

    struct Recorded {
        std::uint64_t line = 0;
        LineReference reference;
        Issue issue;
    };

    MemoryTrace& trace_;
    std::vector<Places> places_;         // by site
    std::vector<BankPattern> patterns_;  // by instruction
    std::vector<Recorded> recorded_;     // as executed
    std::size_t most_recorded_;          // before lines are left out
    std::vector<std::uint64_t> clocks_;  // of these
    std::vector<Warp> warps_;
    std::vector<std::uint32_t> latest_;  // clock at each barrier
};

SiteCounts& SiteCounts::operator+=(const SiteCounts& other) {
    kind = other.kind;
    counts += other.counts;
    first_requests += other.first_requests;
    places += other.places;
    group_places += other.group_places;
    merged += other.merged;
    return *this;
}

SiteReuse& SiteReuse::operator+=(const SiteReuse& other) {
    core += other.core;
    device += other.device;
    written += other.written;
    core_requests += other.core_requests;
    device_requests += other.device_requests;
    lines_read += other.lines_read;
    hottest = std::max(hottest, other.hottest);
    return *this;
}

SiteReuse& SiteReuse::operator*=(std::uint64_t times) {
    for (ReuseCounts* const counts : {&core, &device, &written, &core_requests, &device_requests})
        *counts *= times;
    lines_read *= times;
    return *this;
}

MemoryTrace::MemoryTrace(std::vector<bool> barriers, std::uint64_t most_references)
    : barriers_(std::move(barriers)),
      has_barriers_(std::ranges::count(barriers_, true) > 0),
      most_references_(most_references),
      sites_(barriers_.size() * spaces) {}

MemoryTrace::~MemoryTrace() = default;

bool MemoryTrace::stays(std::uint64_t line, int halvings) {
    return halvings == 0 || (random_bits(19, line) & ((std::uint64_t{1} << halvings) - 1)) == 0;
}

std::unique_ptr<isa::GroupObserver> MemoryTrace::begin(std::uint64_t group) {
    std::unique_ptr<Recorder> recorder;
    {
        const std::scoped_lock lock(mutex_);
        if (!resting_.empty()) {
            recorder = std::move(resting_.back());
            resting_.pop_back();
        }
    }
    if (!recorder) recorder = std::make_unique<Recorder>(*this);
    recorder->begin(group);
    return recorder;
}

MemoryCounts MemoryTrace::counts_of(isa::Space space, isa::AccessKind kind) const {
    MemoryCounts sum;
    for (std::size_t i = static_cast<std::size_t>(space); i < sites_.size(); i += spaces)
        if (sites_[i].kind == kind) sum += sites_[i].counts;
    return sum;
}

// Leaves out the lines that do not stay, and numbers the others.
void MemoryTrace::number(GroupTrace& group, const std::vector<std::uint64_t>& lines) {
    const int halvings = halvings_.load(std::memory_order_relaxed);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::uint64_t line = lines[i];
        if (!stays(line, halvings)) continue;
        LineReference one = group.references[i];
        one.line = (line & local_line) != 0 ? local_.of(line) : global_.of(line);
        one.what &= ~LineReference::goes_on;
        if (kept > 0 && group.issues[kept - 1] == group.issues[i] &&
            group.references[kept - 1].site() == one.site())
            one.what |= LineReference::goes_on;
        group.references[kept] = one;
        group.issues[kept++] = group.issues[i];
    }
    if (kept == lines.size()) return;
    group.references.resize(kept);
    group.references.shrink_to_fit();
    group.issues.resize(kept);
    group.issues.shrink_to_fit();
}

void MemoryTrace::halve() {
    ++halvings_;
    references_ = 0;
    const LineNumbers global = std::exchange(global_, {}), local = std::exchange(local_, {});
    for (GroupTrace& group : groups_) {
        std::vector<std::uint64_t> lines;
        lines.reserve(group.references.size());
        for (const LineReference& one : group.references)
            lines.push_back((is_local(one) ? local : global).lines()[one.line]);
        number(group, lines);
        references_ += group.references.size();
    }
}

// Of a part, its own part again.
std::uint64_t MemoryTrace::part_of(std::size_t site, std::uint64_t name) {
    return site * parts_of_site + name % parts_of_site;
}

// The same sums in whatever order sectors came and became parts.
void MemoryTrace::to_parts(Targets& targets) {
    Targets parts;
    for (const auto& [name, one] : targets) {
        const auto [known, fresh] = parts.emplace(part_of(one.site, name), one);
        if (!fresh) known->second.add(one);
    }
    targets = std::move(parts);
}

void MemoryTrace::count_parts() {
    if (counts_parts_) return;
    counts_parts_ = true;
    to_parts(targets_);
}

std::vector<std::uint64_t> MemoryTrace::hottest() const {
    std::vector<std::uint64_t> most(sites_.size(), 0);
    for (const auto& [name, one] : targets_)
        if (one.by_several) most[one.site] = std::max(most[one.site], one.requests);
    return most;
}

void MemoryTrace::expect(std::uint64_t groups) {
    const std::scoped_lock lock(mutex_);
    const std::uint64_t recorded = std::max<std::size_t>(1, groups_.size());
    const double times =
        static_cast<double>(std::max(groups, recorded)) / static_cast<double>(recorded);
    while (references_ > 1 &&
           static_cast<double>(references_) * times > static_cast<double>(most_references_))
        halve();
}

void MemoryTrace::end(std::uint64_t, std::unique_ptr<isa::GroupObserver> observer) {
    std::unique_ptr<Recorder> recorder(&dynamic_cast<Recorder&>(*observer.release()));
    GroupTrace& taken = recorder->taken;
    recorder->finish();
    recorder->sum_up_places();
    const std::scoped_lock lock(mutex_);
    for (const std::size_t i : recorder->used) sites_[i] += recorder->counts[i];
    if (counts_parts_) to_parts(recorder->targets);
    for (const auto& [name, one] : recorder->targets) {
        const auto [known, fresh] = targets_.emplace(name, one);
        if (!fresh) known->second.add(one);
    }
    if (targets_.size() > most_targets) count_parts();
    number(taken, recorder->lines);
    references_ += taken.references.size();
    const auto place = std::ranges::lower_bound(groups_, taken.group, {}, &GroupTrace::group);
    groups_.insert(place, std::move(taken));
    // What a long group needed is not kept.
    constexpr std::size_t most_kept = std::size_t{1} << 16;
    if (recorder->lines.size() <= most_kept) resting_.push_back(std::move(recorder));
    while (references_ > most_references_ && halvings_ < most_halvings) halve();
}

namespace {

std::span<const GroupTrace> first_groups(const MemoryTrace& trace, std::uint64_t groups) {
    const auto& all = trace.groups();
    const auto end = std::ranges::lower_bound(all, groups, {}, &GroupTrace::group);
    return std::span(all).first(static_cast<std::size_t>(end - all.begin()));
}

ReferenceOrder order_of(const MemoryTrace& trace, const MemoryContext& context,
                        std::uint64_t groups, const ClockOf& clock_of = {}) {
    return {first_groups(trace, groups),
            context,
            {.global = static_cast<std::uint32_t>(trace.global_lines().size()),
             .local = static_cast<std::uint32_t>(trace.local_lines().size())},
            clock_of};
}

// Groups that were not looked at do as the later half of those that were. To tell these, their
// sites are numbered behind all others. Those that were share their cores as all do: they run on as
// few as that takes.
class LaterGroups {
public:
    LaterGroups(const MemoryTrace& trace, const ReuseOptions& options)
        : groups_(first_groups(trace, options.groups).size()),
          launched_(std::max<std::uint64_t>(options.launched, groups_)),
          sites_(2 * std::size_t{trace.first_sites()}) {}

    std::size_t sites() const { return extrapolates() ? 2 * sites_ : sites_; }
    bool extrapolates() const { return launched_ > groups_; }
    std::size_t first() const { return groups_ / 2; }
    std::size_t apart() const { return sites_; }

    void number(ReferenceOrder& order) const {
        if (extrapolates()) order.number_apart(first(), static_cast<std::uint32_t>(sites_));
    }

    MemoryContext placed(MemoryContext context) const {
        const double each = static_cast<double>(launched_) / context.cores;
        const double at_once = std::clamp<double>(each, 1, context.concurrent_groups);
        const auto groups = static_cast<double>(groups_);
        if (extrapolates())
            context.cores =
                static_cast<int>(std::clamp<double>(std::ceil(groups / at_once), 1, context.cores));
        // Beyond what a core has of all groups, more at once change nothing.
        context.concurrent_groups = static_cast<int>(
            std::clamp<double>(std::ceil(groups / context.cores), 1, context.concurrent_groups));
        return context;
    }

    // The launch's counts, times the number of the later groups.
    void extrapolate(std::vector<SiteReuse>& sites) const {
        if (!extrapolates()) return;
        for (std::size_t i = 0; i < sites_; ++i) {
            sites[i] *= groups_ - first();
            sites[sites_ + i] *= launched_ - first();
            sites[i] += sites[sites_ + i];
        }
        sites.resize(sites_);
    }

private:
    std::size_t groups_;
    std::uint64_t launched_;
    std::size_t sites_;
};

// What a site does with both levels.
struct SiteKind {
    bool reads = false, writes = false;
    bool uses_first = false, found_in_first = false;  // takes part in it; is counted there
};

std::size_t thread_count(unsigned threads) {
    return threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : threads;
}

std::vector<SiteKind> kinds_of(const MemoryTrace& trace,
                               const std::vector<bool>& passes_first_level,
                               const LaterGroups& later) {
    std::vector<SiteKind> kinds;
    for (std::size_t told = 0; told < later.sites(); ++told) {
        const std::size_t site = told % trace.first_sites();
        const isa::AccessKind kind = trace.sites()[site].kind;
        const bool stores = kind == isa::AccessKind::store;
        const bool atomic = kind == isa::AccessKind::atomic;
        const bool first = !atomic && !passes_first_level[site / spaces];
        kinds.push_back({.reads = !stores,
                         .writes = stores || atomic,
                         .uses_first = first,
                         .found_in_first = first && !stores});
    }
    return kinds;
}

// A group of the later half that comes to something before the first half does, as all run at once,
// brings nothing new: it swaps what it finds with the group of the first half that comes to it
// later.
class FirstHalf {
public:
    // `apart`: where the later half's sites are numbered from.
    FirstHalf(std::span<const GroupTrace> groups, std::size_t lines, std::size_t apart,
              const std::vector<SiteKind>& kinds)
        : apart_(apart), sectors_(lines) {
        for (const GroupTrace& group : groups)
            for (const LineReference& one : group.references)
                if (!is_local(one))
                    sectors_[one.line] |= static_cast<std::uint16_t>(
                        one.sectors() << touched |
                        (kinds[one.site()].writes ? one.sectors() << written : 0));
    }

    enum Place : std::uint8_t { touched = 0, written = 4, to_swap = 8 };  // of four sectors

    // Sectors that count as new although they were found, or as found although they were new.
    std::uint32_t swapped(std::size_t site, std::uint64_t line, std::uint32_t sectors,
                          NeededLines needed, Place place) {
        if (line >= sectors_.size()) return 0;
        std::uint16_t& all = sectors_[line];
        const bool later = site >= apart_;
        if (later && needed.bin() != NeededLines::none) return 0;
        const std::uint32_t swapped = sectors & all >> (later ? place : place + to_swap);
        all ^= static_cast<std::uint16_t>(swapped << (place + to_swap));
        return swapped;
    }

private:
    std::size_t apart_;
    std::vector<std::uint16_t> sectors_;  // by global line
};

struct NothingSwapped {
    static std::uint32_t swapped(std::size_t, std::uint64_t, std::uint32_t, NeededLines,
                                 FirstHalf::Place) {
        return 0;
    }
};

// What the sector of a request needs that needs most, of those looked at so far.
class Request {
public:
    void begin() { most_ = 0; }
    void needs(NeededLines lines) { most_ = std::max(most_, lines.bin()); }
    NeededLines needed() const { return NeededLines::of_bin(most_); }

private:
    std::uint8_t most_ = 0;
};

// `last`: of its request.
template <typename Cache, typename Line>
[[gnu::always_inline]] inline void in_first_level(Cache& cache, Line line, const Turn& one,
                                                  bool last, const std::vector<SiteKind>& kinds,
                                                  std::vector<SiteReuse>& sites, Request& request) {
    const SiteKind kind = kinds[one.site()];
    if (!kind.uses_first) return;
    SiteReuse& site = sites[one.site()];
    if (!one.goes_on()) request.begin();
    cache.read(line, one.sectors(), [&](NeededLines needed, std::uint32_t of) {
        if (kind.found_in_first) site.core.add(needed, count_of(of));
        request.needs(needed);
    });
    if (last && kind.found_in_first) site.core_requests.add(request.needed());
}

// `seen`: lines so far.
template <typename Cache, typename Line, typename Swaps>
[[gnu::always_inline]] inline void in_second_level(Cache& cache, Line line, const Turn& one,
                                                   bool last, const std::vector<SiteKind>& kinds,
                                                   std::vector<SiteReuse>& sites, Swaps& swaps,
                                                   std::uint64_t seen, Request& request) {
    const SiteKind kind = kinds[one.site()];
    SiteReuse& site = sites[one.site()];
    if (!one.goes_on()) request.begin();
    const auto each = [&](NeededLines needed, std::uint32_t of, FirstHalf::Place place,
                          const auto& count) {
        if (const auto swapped = swaps.swapped(one.site(), line, of, needed, place)) {
            const bool is_new = needed.bin() == NeededLines::none;
            count(is_new ? NeededLines(seen) : NeededLines(), swapped);
            of &= ~swapped;
        }
        if (of != 0) count(needed, of);
    };
    const auto read = [&](NeededLines needed, std::uint32_t of) {
        each(needed, of, FirstHalf::touched, [&](NeededLines lines, std::uint32_t sectors) {
            site.device.add(lines, count_of(sectors));
            request.needs(lines);
        });
    };
    const auto written = [&](NeededLines needed, std::uint32_t of) {
        each(needed, of, FirstHalf::written, [&](NeededLines lines, std::uint32_t sectors) {
            site.written.add(lines, count_of(sectors));
        });
    };
    if (kind.reads && kind.writes)
        cache.read_and_write(line, one.sectors(), read, written);
    else if (kind.writes)
        cache.write(line, one.sectors(), written);
    else
        cache.read(line, one.sectors(), read);
    if (!kind.reads) return;
    ++site.lines_read;
    if (last) site.device_requests.add(request.needed());
}

// Turns of one request are of one piece of the order.
[[gnu::always_inline]] inline bool ends_request(std::span<const Turn> turns, std::size_t turn) {
    return turn + 1 == turns.size() || !turns[turn + 1].goes_on();
}

// A level's references, one after the other; the first level's are of one core.
enum class Level : std::uint8_t { first, second };

template <Level level, typename Swaps>
[[gnu::always_inline]] inline void touch_each(std::span<const Turn> turns, SectorReuse& cache,
                                              const std::vector<SiteKind>& kinds,
                                              std::vector<SiteReuse>& sites, Swaps& swaps) {
    constexpr std::size_t ahead = 12;  // so many references ahead their lines are looked for
    Request request;
    for (std::size_t i = 0; i < turns.size(); ++i) {
        cache.expect(turns[std::min(i + ahead, turns.size() - 1)].line);
        const bool last = ends_request(turns, i);
        if constexpr (level == Level::first)
            in_first_level(cache, turns[i].line, turns[i], last, kinds, sites, request);
        else
            in_second_level(cache, turns[i].line, turns[i], last, kinds, sites, swaps,
                            cache.lines(), request);
    }
}

#if defined(__x86_64__)
template <Level level, typename Swaps>
[[gnu::target("popcnt")]] void touch_counting(std::span<const Turn> turns, SectorReuse& cache,
                                              const std::vector<SiteKind>& kinds,
                                              std::vector<SiteReuse>& sites, Swaps& swaps) {
    touch_each<level>(turns, cache, kinds, sites, swaps);
}
#endif

template <Level level, typename Swaps>
void touch(std::span<const Turn> turns, SectorReuse& cache, const std::vector<SiteKind>& kinds,
           std::vector<SiteReuse>& sites, Swaps& swaps) {
#if defined(__x86_64__)
    static const bool counts = __builtin_cpu_supports("popcnt") != 0;
    if (counts) return touch_counting<level>(turns, cache, kinds, sites, swaps);
#endif
    touch_each<level>(turns, cache, kinds, sites, swaps);
}

// By number: lines that the device touched since it last touched this one, before the launch.
std::vector<std::uint64_t> earlier_lines(const MemoryTrace& trace,
                                         const EarlierReferences& earlier) {
    std::vector<std::uint64_t> lines;
    if (!earlier) return lines;
    const std::uint64_t bytes = line_bytes * trace.one_line_in();
    for (const std::uint64_t line : trace.global_lines()) {
        const std::optional<std::uint64_t> since = earlier(line);
        constexpr std::uint64_t most = std::uint64_t{1} << 30;  // that NeededLines tells apart
        lines.push_back(since && *since / bytes < most ? *since / bytes + 1 : 0);
    }
    return lines;
}

}  // namespace

MemoryReuse reuse_of(const MemoryTrace& trace, const MemoryContext& context,
                     const std::vector<bool>& passes_first_level, const ReuseOptions& options) {
    const LaterGroups later(trace, options);
    const MemoryContext placed = later.placed(context);
    ReferenceOrder order = order_of(trace, placed, options.groups, options.clock_of);
    later.number(order);
    const std::vector<SiteKind> kinds = kinds_of(trace, passes_first_level, later);
    MemoryReuse result;
    // The cores in as many parts as there are threads beside the one of the second level, which
    // takes about as long as all of the first.
    const auto cores = static_cast<std::size_t>(placed.cores);
    const std::size_t parts = std::clamp<std::size_t>(thread_count(options.threads), 2, cores + 1);
    std::vector<std::vector<SiteReuse>> sites(parts, std::vector<SiteReuse>(kinds.size()));
    parallel_for(
        parts,
        [&](std::size_t part) {
            if (part == 0) {
                SectorReuse cache(order.device_lines(), earlier_lines(trace, options.earlier));
                const auto touch_all = [&](auto swaps) {
                    order.of_device([&](std::span<const Turn> turns) {
                        touch<Level::second>(turns, cache, kinds, sites[part], swaps);
                        result.references += turns.size();
                    });
                };
                if (later.extrapolates())
                    touch_all(FirstHalf(first_groups(trace, options.groups).first(later.first()),
                                        trace.global_lines().size(), later.apart(), kinds));
                else
                    touch_all(NothingSwapped());
                result.lines = cache.lines();
                return;
            }
            SectorReuse cache(order.core_lines());
            NothingSwapped none;
            for (std::size_t core = part - 1; core < cores; core += parts - 1) {
                cache.clear();
                order.of_core(static_cast<int>(core), [&](std::span<const Turn> turns) {
                    touch<Level::first>(turns, cache, kinds, sites[part], none);
                });
            }
        },
        options.threads);
    result.sites = std::move(sites[0]);
    for (std::size_t part = 1; part < parts; ++part)
        for (std::size_t site = 0; site < kinds.size(); ++site)
            result.sites[site] += sites[part][site];
    later.extrapolate(result.sites);
    const std::vector<std::uint64_t> hottest = trace.hottest();
    for (std::size_t site = 0; site < hottest.size(); ++site)
        result.sites[site].hottest = hottest[site];
    return result;
}

MemoryReuse hashed_reuse(const MemoryTrace& trace, const MemoryContext& context,
                         const std::vector<bool>& passes_first_level, const CacheShape& shape,
                         const ReuseOptions& options) {
    const LaterGroups later(trace, options);
    const MemoryContext placed = later.placed(context);
    ReferenceOrder order = order_of(trace, placed, options.groups);
    later.number(order);
    const std::vector<SiteKind> kinds = kinds_of(trace, passes_first_level, later);
    MemoryReuse result;
    result.sites.resize(kinds.size());
    // Sets follow from the lines themselves. `core`: the slots of this core alone.
    const auto line_of = [&](std::uint32_t line, std::uint64_t core, std::uint64_t cores) {
        if (!order.is_local(line)) return trace.global_lines()[line];
        const std::uint64_t slot = order.slot_of(line) * cores + core;
        return trace.local_lines()[order.in_slot(line)] | slot << local_slot_shift;
    };
    Request request;
    // Of one line in so many, a cache has as many fewer.
    const std::uint64_t line_size = line_bytes * trace.one_line_in();
    const auto cores = static_cast<std::uint64_t>(placed.cores);
    for (std::uint64_t core = 0; core < cores; ++core) {
        SetCache cache(shape.core_bytes / line_size, shape.ways, shape.seed);
        order.of_core(static_cast<int>(core), [&](std::span<const Turn> turns) {
            for (std::size_t i = 0; i < turns.size(); ++i)
                in_first_level(cache, line_of(turns[i].line, core, cores), turns[i],
                               ends_request(turns, i), kinds, result.sites, request);
        });
    }
    SetCache second(shape.device_bytes / line_size, shape.ways, shape.seed);
    std::vector<bool> seen(order.device_lines(), false);
    NothingSwapped none;
    order.of_device([&](std::span<const Turn> turns) {
        result.references += turns.size();
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const std::uint32_t line = turns[i].line;
            in_second_level(second, line_of(line, 0, 1), turns[i], ends_request(turns, i), kinds,
                            result.sites, none, result.lines, request);
            result.lines += !seen[line];
            seen[line] = true;
        }
    });
    later.extrapolate(result.sites);
    return result;
}

namespace {

// Of an instruction that asked for so many sectors, of so many lines request by request. Where none
// of its lines is of the sample, it has few: fewer than three times as many as one stands for, in
// 95 of 100 samples, and about one on average. What it asks for beyond these is found again, on
// average after as many references of the device as it makes one in, so often as it has lines; at
// the latest where all lines of the launch fit.
Reuse reuse_in(const ReuseCounts& counts, double sectors, double lines, const MemoryReuse& all,
               std::uint64_t one_line_in) {
    const auto one_in = static_cast<double>(one_line_in);
    const double scaled_line = static_cast<double>(line_bytes) * one_in;
    if (counts.total() > 0 || one_line_in == 1) return counts.reuse(scaled_line);
    constexpr double few = 3;
    const double share = 1 - few * one_in * static_cast<double>(sectors_per_line) / sectors;
    if (!(share > 0)) return {};
    const double between = static_cast<double>(all.references) * one_in / lines;
    const double needed = std::min(static_cast<double>(all.lines), between) + few;
    return {{static_cast<std::int64_t>(needed * scaled_line), share}};
}

// Of requests of `lines` lines each, where one line in so many was looked at: as many of a
// request's lines as are found or not on their own are taken to be in proportion to the others that
// it has.
Reuse whole_requests(const ReuseCounts& requests, const Reuse& sectors, const SiteReuse& site,
                     double lines, std::uint64_t one_line_in) {
    const std::uint64_t seen = site.device_requests.total();
    if (seen == 0) return sectors;
    Reuse whole =
        requests.reuse(static_cast<double>(line_bytes) * static_cast<double>(one_line_in));
    if (one_line_in == 1) return whole;
    const double looked_at = static_cast<double>(site.lines_read) / static_cast<double>(seen);
    Reuse points;
    for (ReusePoint& point : whole) {
        const double each = share_at(sectors, static_cast<double>(point.bytes));
        if (each > 0 && each < 1 && looked_at > 1) {
            const double alone = std::clamp(
                (std::log(point.share) / std::log(each) - 1) / (looked_at - 1), 0.0, 1.0);
            point.share = std::pow(each, 1 + alone * (lines - 1));
        }
        if (point.share > (points.empty() ? 0 : points.back().share)) points.push_back(point);
    }
    return points;
}

}  // namespace

std::optional<MemoryUse> memory_use(const MemoryTrace& trace, const MemoryReuse& reuse,
                                    const std::vector<bool>& passes_first_level,
                                    std::size_t instruction, Executions executions) {
    const auto mean = [](std::uint64_t sum, std::uint64_t requests) {
        return static_cast<double>(sum) / static_cast<double>(requests);
    };
    MemoryUse use;
    MemoryCounts moved;
    SiteReuse found;
    bool reads = false, writes = false, first = false;
    std::uint64_t first_requests = 0;
    std::optional<double> bytes;
    for (const isa::Space space : {isa::Space::global, isa::Space::local}) {
        const std::size_t site = instruction * spaces + static_cast<std::size_t>(space);
        const SiteCounts& counts = trace.sites()[site];
        if (counts.counts.requests == 0) continue;
        moved += counts.counts;
        first_requests += counts.first_requests;
        if (executions != Executions::first) found += reuse.sites[site];
        if (executions != Executions::later) found += reuse.sites[site + trace.first_sites()];
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
        use.lines = mean(moved.lines, moved.requests);
        use.bank_passes = mean(moved.passes, moved.requests);
        const auto asked =
            static_cast<double>(executions == Executions::first ? first_requests : moved.requests);
        const auto told = [&](const ReuseCounts& counts) {
            return reuse_in(counts, use.sectors * asked, *use.lines * asked, reuse,
                            trace.one_line_in());
        };
        if (first) use.core = told(found.core);
        if (reads) use.device = told(found.device);
        if (writes) use.written = told(found.written);
        const SiteCounts& global =
            trace.sites()[instruction * spaces + static_cast<std::size_t>(isa::Space::global)];
        if (!reads && global.counts.requests > 0 && global.merged > 0)
            use.merged = mean(global.merged, moved.requests);
        if (reads && global.first_requests > 0) {
            use.places = mean(global.places, global.first_requests);
            use.group_places = mean(global.group_places, global.first_requests);
        }
        if (reads && writes) {
            use.same_address = mean(moved.same_address, moved.requests);
            use.hottest = std::min(1.0, mean(found.hottest, moved.requests));
        }
        // One sector is all of its request.
        if (reads && moved.sectors > moved.requests) {
            const auto whole = [&](const ReuseCounts& requests, const Reuse& sectors) {
                return whole_requests(requests, sectors, found, *use.lines, trace.one_line_in());
            };
            if (first) use.core_requests = whole(found.core_requests, *use.core);
            use.device_requests = whole(found.device_requests, *use.device);
        }
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

std::vector<bool> first_is_new(const MemoryTrace& trace) {
    constexpr std::size_t most_groups = 8;
    constexpr double much = 0.5;
    const std::uint32_t sites = trace.first_sites();
    struct Asked {
        std::uint64_t sectors = 0, fresh = 0;
        double share() const {
            return static_cast<double>(fresh) /
                   static_cast<double>(std::max<std::uint64_t>(1, sectors));
        }
    };
    std::vector<Asked> asked(2 * std::size_t{sites});
    const std::vector<GroupTrace>& groups = trace.groups();
    const std::size_t step = (groups.size() + most_groups - 1) / most_groups;
    for (std::size_t i = 0; i < groups.size(); i += step) {
        std::unordered_map<std::uint64_t, std::uint32_t> lines;  // sectors that were asked for
        for (const LineReference& one : groups[i].references) {
            std::uint32_t& seen = lines[is_local(one) ? local_line | one.line : one.line];
            asked[one.site()].sectors += count_of(one.sectors());
            asked[one.site()].fresh += count_of(one.sectors() & ~seen);
            seen |= one.sectors();
        }
    }
    std::vector<bool> result(sites / spaces);
    for (std::size_t site = 0; site < sites; ++site)
        if (trace.sites()[site].kind == isa::AccessKind::load && asked[site].sectors > 0 &&
            asked[site + sites].share() > asked[site].share() + much)
            result[site / spaces] = true;
    return result;
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
