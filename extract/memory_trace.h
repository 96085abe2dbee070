// SPDX-License-Identifier: MIT
// Records which cache lines a launch refers to, in which order, and finds from it what each
// instruction asks of the memory and which capacities its reuse needs (docs/background/memory.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/memory_use.h"
#include "extract/group_trace.h"
#include "extract/line_numbers.h"
#include "extract/memory_requests.h"
#include "extract/reference_order.h"
#include "extract/sector_reuse.h"
#include "isa/machine/machine.h"

namespace occupipe::extract {

struct SiteCounts {
    isa::AccessKind kind = isa::AccessKind::load;
    MemoryCounts counts;
    // Of the first request of each warp: KiB that lie apart, of each request and of all of a
    // group's together, summed.
    std::uint64_t first_requests = 0, places = 0, group_places = 0;
    std::uint64_t merged = 0;  // sectors of stores that the warp's store shortly before wrote, too

    SiteCounts& operator+=(const SiteCounts& other);
};

// A warp's clock counts the instructions that it executes; at a barrier the clocks of a group's
// warps become equal to the latest.
//
// When more than `most_references` were recorded, only every second line stays, chosen by a hash of
// its number, then every fourth, and so on (Waldspurger et al., "Efficient MRC Construction with
// SHARDS", FAST 2015). Counts of requests, sectors and passes stay exact.
class MemoryTrace : public isa::Observer {
public:
    // `barriers`: by instruction of the kernel, whether warps wait for each other there.
    explicit MemoryTrace(std::vector<bool> barriers, std::uint64_t most_references = 1 << 24);
    ~MemoryTrace() override;

    std::unique_ptr<isa::GroupObserver> begin(std::uint64_t group) override;
    void end(std::uint64_t group, std::unique_ptr<isa::GroupObserver> observer) override;

    // After the launch; they do not depend on the number of threads.
    // By site, of first and later executions together.
    const std::vector<SiteCounts>& sites() const { return sites_; }
    // The site of a warp's first execution of an instruction is behind that of the others.
    std::uint32_t first_sites() const { return static_cast<std::uint32_t>(sites_.size()); }
    // Of all requests of a kind.
    MemoryCounts counts_of(isa::Space space, isa::AccessKind kind) const;
    const std::vector<GroupTrace>& groups() const { return groups_; }  // by number
    std::uint64_t one_line_in() const { return std::uint64_t{1} << halvings_; }
    // By site, of atomic operations: requests of the sector that has most, of those that several
    // groups ask for: what a group has for itself, other cores do not wait for. Of more than 65,536
    // such sectors, several may be counted as one: those of one of a site's 16,384 parts.
    std::vector<std::uint64_t> hottest() const;
    // By number: address / 128; local memory: a line of its warp's own, the same in each slot.
    // Which line has which number depends on the order in which groups ended.
    // After some groups: so many will be recorded in all, about as long as these. Lines that would
    // not stay then are left out from here on.
    void expect(std::uint64_t groups);

    const std::vector<std::uint64_t>& global_lines() const { return global_.lines(); }
    std::vector<std::uint64_t> ascending_global_lines() const { return global_.ascending_lines(); }
    const std::vector<std::uint64_t>& local_lines() const { return local_.lines(); }

private:
    class Recorder;
    // A sector that a site's atomic operations go to, by a hash of both; or a part of them all.
    struct Target {
        std::size_t site = 0;
        std::uint64_t group = 0;  // one that asked for it
        std::uint64_t requests = 0;
        bool by_several = false;  // groups

        void add(const Target& other) {
            by_several = by_several || other.by_several || group != other.group;
            requests += other.requests;
        }
    };
    using Targets = std::unordered_map<std::uint64_t, Target>;

    static std::uint64_t part_of(std::size_t site, std::uint64_t name);
    static void to_parts(Targets& targets);
    void count_parts();
    static bool stays(std::uint64_t line, int halvings);
    void halve();
    void number(GroupTrace& group, const std::vector<std::uint64_t>& lines);

    std::vector<bool> barriers_;
    bool has_barriers_;
    std::uint64_t most_references_;
    std::mutex mutex_;
    std::vector<GroupTrace> groups_;
    std::vector<SiteCounts> sites_;
    // Of a group, warp by warp.
    struct Places {
        std::uint64_t warps = 0;  // bits: whose first request was seen
        std::vector<std::uint64_t> of_them;
    };
    std::vector<std::unique_ptr<Recorder>> resting_;  // of no group now
    LineNumbers global_, local_;
    Targets targets_;
    std::atomic<bool> counts_parts_ = false;  // of a site's sectors, as they are too many
    std::uint64_t references_ = 0;
    std::atomic<int> halvings_ = 0;
};

// What an instruction does with the caches.
struct SiteReuse {
    ReuseCounts core, device;  // of the sectors read; core: none where they pass it by
    ReuseCounts written;       // of the sectors written
    // Of the requests that read: what the sector needs that needs most.
    ReuseCounts core_requests, device_requests;
    std::uint64_t lines_read = 0;  // by these requests; one line in `one_line_in` is looked at
    std::uint64_t hottest = 0;     // MemoryTrace::hottest()

    SiteReuse& operator+=(const SiteReuse& other);
    SiteReuse& operator*=(std::uint64_t times);
};

// References are taken in the order of their clocks (ReferenceOrder).
//
// First level: a core's reads and stores; a store goes on to the second level as well.
// `passes_first_level`: by instruction, reads that the first level takes no part in; atomic
// operations never do.
// Second level: everything, hits in the first level included.
inline constexpr std::uint64_t every_group = ~std::uint64_t{0};
struct MemoryReuse {
    std::vector<SiteReuse> sites;  // by site, those of first executions behind the others
    std::uint64_t lines = 0;       // different ones, of those looked at
    std::uint64_t references = 0;  // to these, of the device
};
// So many bytes the device referred to between its last reference to this line of global memory
// (address / 128) and the launch; absent: there was none.
using EarlierReferences = std::function<std::optional<std::uint64_t>(std::uint64_t line)>;
struct ReuseOptions {
    std::uint64_t groups = every_group;  // those of smaller numbers alone are looked at
    // Of the launch: groups that are not looked at find what the later half of the others finds, as
    // the first ones find caches that hold nothing yet. Counts are then multiples. As many of these
    // share a core as of all.
    std::uint64_t launched = 0;
    ClockOf clock_of;           // absent: the slots' times
    EarlierReferences earlier;  // absent: caches are empty when the launch begins
    unsigned threads = 1;       // 0: one per core; the outcome does not depend on it
};
MemoryReuse reuse_of(const MemoryTrace& trace, const MemoryContext& context,
                     const std::vector<bool>& passes_first_level, const ReuseOptions& options = {});

// The same launch in caches of these sizes whose lines a hash assigns to sets (set_cache.h): what
// they find is found from a capacity of one line on.
struct CacheShape {
    std::uint64_t core_bytes = 0;    // of each core
    std::uint64_t device_bytes = 0;  // of the device
    int ways = 1;
    std::uint64_t seed = 1;
};
MemoryReuse hashed_reuse(const MemoryTrace& trace, const MemoryContext& context,
                         const std::vector<bool>& passes_first_level, const CacheShape& shape,
                         const ReuseOptions& options = {});

// What the kernel file says of an instruction: means over its requests. Absent: it made none.
// `executions`: whose reuse it is; how much is asked for is the mean of all.
enum class Executions : std::uint8_t { all, first, later };
std::optional<MemoryUse> memory_use(const MemoryTrace& trace, const MemoryReuse& reuse,
                                    const std::vector<bool>& passes_first_level,
                                    std::size_t instruction,
                                    Executions executions = Executions::all);

// By instruction: loads that bring something new to their group where a warp executes them for the
// first time, and find what the group has asked for where it executes them again.
std::vector<bool> first_is_new(const MemoryTrace& trace);

// By instruction of a kernel: barriers of the group; reads that pass the first level by (.cg,
// volatile and stronger loads, cp.async of 16 bytes by the second level only, L1::no_allocate).
std::vector<bool> barriers_of(const std::vector<isa::Instruction>& code);
std::vector<bool> passing_first_level(const std::vector<isa::Instruction>& code);

}  // namespace occupipe::extract
