// SPDX-License-Identifier: MIT
#include "ask/memory/memory_pricing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "ask/memory/memory_costs.h"
#include "ask/substitutes.h"
#include "core/error.h"
#include "core/instruction.h"

namespace occupipe::analysis {
namespace {

constexpr double sector_bytes = 32;

enum class Kind { load, store, shared, atomic, copy, silent, other };

Kind kind_of_use(const MemoryUse& use) {
    if (use.bytes == 0 && use.sectors == 0 && use.passes == 0) return Kind::silent;
    if (use.sectors == 0 && use.passes > 0) return Kind::shared;
    if (use.passes > 0) return use.device && !use.written ? Kind::copy : Kind::other;
    if (use.device) return use.written ? Kind::atomic : Kind::load;
    return use.written ? Kind::store : Kind::other;
}

// The coalesced 4-byte load of a level.
std::string_view row_of(LevelNumber level) {
    constexpr double coalesced = 4;  // sectors
    return std::ranges::find(memory_levels()[level].accesses[0], coalesced, &LevelAccess::sectors)
        ->chase;
}

std::string hit_in(LevelNumber level) {
    return level == device_memory() ? "device memory"
                                    : fmt::format("a hit in the {}", memory_levels()[level].nth);
}

// A word of each lane, side by side.
const MemoryUse coalesced = {.bytes = 128, .sectors = 4, .least_sectors = 4};

// Sectors that one request of a row asks for, by the width in its name.
double row_sectors(std::string_view op) { return 4 * words_of_lane(op); }

// λ and Λ at this place of a table; absent where the table does not reach so far.
std::optional<RequestCost> at_table(const GpuProfile& profile, const InstructionTiming& row,
                                    std::string_view over, double at) {
    const auto table = std::ranges::find(row.tables, over, &ParameterTable::over);
    if (table == row.tables.end()) return std::nullopt;
    const auto above =
        std::ranges::find_if(table->rows, [&](const TableRow& one) { return one.at >= at; });
    if (above == table->rows.end()) return std::nullopt;
    const auto below = above->at > at && above != table->rows.begin() ? std::prev(above) : above;
    if (below->at > at || !below->cpi || !above->cpi) return std::nullopt;
    const double share = below == above ? 0 : (at - below->at) / (above->at - below->at);
    const double copies = profile.copies(row.subsystem);
    RequestCost cost{
        .cpi = weighted({{1 - share, *below->cpi}, {share, *above->cpi}}).times(1 / copies),
        .latency = {}};
    if (below->latency && above->latency)
        cost.latency = weighted({{1 - share, *below->latency}, {share, *above->latency}});
    return cost;
}

class Pricer {
public:
    Pricer(const Kernel& kernel, const GpuProfile& profile, MemoryPricing pricing,
           const CacheSizes& asked)
        : profile_(profile), pricing_(pricing), costs_(profile) {
        result_.kernel = kernel;
        result_.profile = profile;
        result_.sizes = cache_sizes(kernel, profile, asked);
    }

    PricedMemory run() {
        for (WarpProgram& program : result_.kernel.warps) list(program.instructions, program.share);
        look_at_launch();
        if (result_.rows.empty()) {
            if (pricing_ == MemoryPricing::aggregate)
                throw InputError(
                    "--memory aggregate: the kernel does not say what its instructions ask of "
                    "the memory; 'occupipe extract' writes kernels that do");
            return std::move(result_);
        }
        sum_up();
        if (pricing_ != MemoryPricing::none) {
            say_sizes();
            fetch_first();
            for (WarpProgram& program : result_.kernel.warps) price(program.instructions);
            if (pricing_ == MemoryPricing::per_access) {
                share_banks();
                let_levels_overlap();
                keep_latencies();
            }
        }
        for (auto& said : apply_stand_ins(result_.kernel, result_.profile))
            result_.said.push_back(std::move(said));
        return std::move(result_);
    }

private:
    void say(std::string text) {
        if (std::ranges::find(result_.said, text) == result_.said.end())
            result_.said.push_back(std::move(text));
    }

    void list(const std::vector<KernelItem>& items, double times) {
        for (const KernelItem& item : items) {
            if (const auto* repeat = std::get_if<Repeat>(&item)) {
                list(repeat->body, times * static_cast<double>(repeat->count));
                continue;
            }
            const auto& one = std::get<KernelInstruction>(item);
            if (!one.memory) continue;
            MemoryRow row{
                .id = one.id, .op = one.op, .at = one.at, .executions = times, .use = *one.memory};
            if (one.memory->device) row.read = level_shares(*one.memory, result_.sizes);
            if (const InstructionTiming* timing = profile_.find_instruction(one.op)) {
                row.cpi = profile_.cpi_per_core(*timing);
                row.latency = timing->latency;
            }
            result_.rows.push_back(std::move(row));
        }
    }

    // Of the sectors written: those that cause no further write to DRAM, since they are dirty in
    // the cache already, or are still there when the launch ends.
    double absorbed_share(const MemoryUse& use) const {
        const double dirty =
            share_at(*use.written, bytes_of(result_.sizes, shared_cache()).value_or(0));
        return dirty + (1 - dirty) * kept_;
    }

    // Read from DRAM and written back to it, per execution.
    double dram_bytes(const MemoryUse& use) const {
        double sectors = 0;
        if (use.device) sectors += use.sectors * level_shares(use, result_.sizes).back();
        if (use.written) sectors += use.sectors * (1 - absorbed_share(use));
        return sectors * sector_bytes;
    }

    // What the kernel's launch as a whole tells: which share of the cores is at work, and what of
    // the data written stays in the second level.
    void look_at_launch() {
        const auto tell = [this] {
            for (MemoryRow& row : result_.rows)
                if (row.use.device || row.use.written) row.dram_bytes = dram_bytes(row.use);
        };
        tell();
        const std::optional<Launch>& launch = result_.kernel.launch;
        if (!launch || profile_.cores == 0) return;  // no GPU was named
        const auto groups = static_cast<double>(launch->groups);
        busy_ = groups / static_cast<double>(profile_.cores) /
                static_cast<double>(launch->groups_per_core(profile_.cores));
        double moved = 0;
        for (const MemoryRow& row : result_.rows)
            moved += row.executions * row.dram_bytes.value_or(0);
        moved *= groups * launch->group_warps;
        // What was there before has to go first.
        const double earlier =
            result_.kernel.memory ? static_cast<double>(result_.kernel.memory->earlier_bytes) : 0;
        const double cache = bytes_of(result_.sizes, shared_cache()).value_or(0) - earlier;
        if (moved > 0) kept_ = std::clamp(cache / moved, 0.0, 1.0);
        tell();
    }

    // All cores share the bandwidth of device memory, and those that have no work leave theirs to
    // the others; one alone gets no more than from the second level.
    RequestCost of_device(RequestCost cost, const MemoryUse& use) const {
        if (busy_ == 1) return cost;
        const auto near = costs_.load(shared_cache(), use);
        const double floor = near ? std::min(1.0, near->cpi.value / cost.cpi.value) : 1;
        cost.cpi = cost.cpi.times(std::max(busy_, floor));
        return cost;
    }

    void sum_up() {
        double asked = 0, moved = 0, passes = 0, least = 0;
        for (const MemoryRow& row : result_.rows) {
            if (row.dram_bytes) {
                asked += row.executions * row.use.bytes;
                moved += row.executions * *row.dram_bytes;
            }
            passes += row.executions * row.use.passes;
            least += row.executions * row.use.least_passes;
        }
        if (asked > 0) result_.dram_ratio = moved / asked;
        if (least > 0) result_.conflict_degree = passes / least - 1;
    }

    void say_sizes() {
        const bool global = std::ranges::any_of(
            result_.rows, [](const MemoryRow& row) { return row.dram_bytes.has_value(); });
        if (!global) return;
        constexpr const char* measures =
            "'occupipe measure --instructions ld.global.u32.working_set' measures it";
        for (const LevelRow& cache : cache_levels()) {
            const auto size = result_.sizes.find(cache.name);
            if (size != result_.sizes.end())
                say(fmt::format(
                    "{}-level cache of {:g} KiB{} ({})", cache.nth, size->second.bytes / 1024,
                    cache.sharer == Sharer::core ? " per core" : "", size->second.from));
            else
                say(
                    fmt::format("the size of the {}-level cache is not known: {}; predict --cache "
                                "{}=BYTES gives it, {}",
                                cache.nth, cache.lost, cache.name, measures));
        }
        say_launch();
        if (!result_.kernel.memory) return;
        const MemoryContext& context = *result_.kernel.memory;
        if (context.cores != profile_.cores)
            say(fmt::format("reuse was found for {} cores, the GPU has {}", context.cores,
                            profile_.cores));
    }

    void say_launch() {
        const auto writes = [](const MemoryRow& row) { return row.use.written.has_value(); };
        constexpr double few = 0.05;  // that nobody would miss
        if (busy_ < 1 - few)
            say(
                fmt::format("the launch keeps {:.2g} % of the cores at work: these share the "
                            "bandwidth of device memory",
                            100 * busy_));
        if (kept_ > few && std::ranges::any_of(result_.rows, writes))
            say(fmt::format("{:.0f} % of what the launch writes stays in the second-level cache",
                            100 * kept_));
    }

    // A kernel begins when its first instructions and then its first arguments have come, from DRAM
    // or, where the device was at work before, from the second level.
    void fetch_first() {
        if (!result_.kernel.memory || !profile_.overheads.kernel_seconds) return;
        const LevelNumber from =
            result_.kernel.memory->earlier_bytes > 0 ? shared_cache() : device_memory();
        const auto cost = costs_.load(from, coalesced);
        if (!cost || !cost->latency) return;
        Estimate& start = *result_.profile.overheads.kernel_seconds;
        const Estimate fetched = cost->latency->times(2 / profile_.clock_hz);
        start.value += fetched.value;
        if (start.std_error)
            start.std_error = std::hypot(*start.std_error, fetched.std_error.value_or(0));
    }

    void price(std::vector<KernelItem>& items) {
        for (KernelItem& item : items) {
            if (auto* repeat = std::get_if<Repeat>(&item)) {
                price(repeat->body);
                continue;
            }
            auto& one = std::get<KernelInstruction>(item);
            if (!one.memory) continue;
            MemoryRow& row = result_.rows[next_++];
            if (kind_of_use(*one.memory) == Kind::silent) {
                one.op = issue_slot;
                one.kind = {};
                row.cpi = {};
                row.latency = {};
                continue;
            }
            const Priced& priced = priced_like(one);
            if (!priced.cost) continue;
            if (!one.kind) one.kind = kind_of_op(one.op);
            one.op = priced.name;
            row.cpi = priced.cost->cpi;
            row.latency = priced.cost->latency;
            for (const auto& [level, cpi] : priced.loads)
                busy_cycles_[level] += row.executions * cpi;
            if (!priced.loads.empty()) global_rows_.push_back(next_ - 1);
            if (kind_of_use(row.use) == Kind::shared) {
                shared_rows_.push_back(next_ - 1);
                shared_cycles_ += row.executions * row.cpi->value;
            }
        }
    }

    // Shared memory and the first level are the same banks: what goes through them for one keeps
    // the other waiting, in turns, and so at most as long again.
    void share_banks() {
        const double own = shared_cycles_, other = busy_cycles_[0];
        if (own == 0 || other == 0) return;
        busy_cycles_[0] += own;
        const double longer = 1 + std::min(1.0, other / own);
        for (const std::size_t row : shared_rows_)
            result_.rows[row].cpi = result_.rows[row].cpi->times(longer);
        for (const Priced& one : priced_)
            if (!one.name.empty() && kind_of_use(one.use) == Kind::shared) {
                InstructionTiming& timing = *result_.profile.find_instruction(one.name);
                timing.cpi = timing.cpi.times(longer);
            }
    }

    // λ of an access is the sum of what it takes of each level, but the levels work at the same
    // time: all accesses together take what the busiest level takes.
    void let_levels_overlap() {
        double sum = 0, most = 0;
        for (const std::size_t row : global_rows_)
            sum += result_.rows[row].executions * result_.rows[row].cpi->value;
        for (const auto& [level, cycles] : busy_cycles_) most = std::max(most, cycles);
        if (sum == 0 || most >= sum) return;
        for (const std::size_t row : global_rows_)
            result_.rows[row].cpi = result_.rows[row].cpi->times(most / sum);
        for (const Priced& one : priced_) {
            if (one.loads.empty()) continue;
            InstructionTiming& timing = *result_.profile.find_instruction(one.name);
            timing.cpi = timing.cpi.times(most / sum);
        }
        constexpr double few = 0.05;  // that nobody would miss
        if (most < (1 - few) * sum)
            say(fmt::format(
                "the levels of memory work at the same time: λ of accesses is {:.2g} of "
                "the sum over the levels",
                most / sum));
    }

    void keep_latencies() {
        for (const Priced& one : priced_)
            if (!one.name.empty() && one.latencies.size() > 1)
                result_.latencies[one.name] = one.latencies;
    }

    using Loads = std::map<LevelNumber, double>;  // cycles of each level [per execution]

    struct Priced {
        std::string op;
        MemoryUse use;
        std::optional<RequestCost> cost;
        std::string name;
        Loads loads;
        LatencyParts latencies;
    };

    // The same op that asks for the same costs the same.
    const Priced& priced_like(const KernelInstruction& one) {
        for (const Priced& other : priced_)
            if (other.op == one.op && other.use == *one.memory) return other;
        loads_.clear();
        latencies_.clear();
        priced_.push_back({one.op, *one.memory, cost_of(one), {}, {}, {}});
        if (!priced_.back().cost) return priced_.back();
        priced_.back().loads = loads_;
        priced_.back().latencies = latencies_;
        priced_.back().name = add_timing(one, priced_.back());
        return priced_.back();
    }

    InstructionKind kind_of_op(const std::string& op) const {
        const InstructionTiming* const row = profile_.find_instruction(op);
        return row ? row->effective_kind() : kind_of(op);
    }

    std::string add_timing(const KernelInstruction& one, const Priced& priced) {
        const InstructionTiming* const own = profile_.find_instruction(one.op);
        InstructionTiming timing = own ? *own : *costs_.load_row();
        timing.name = fmt::format("{}~{}", one.op, one.id);
        for (int copy = 2; result_.profile.find_instruction(timing.name); ++copy)
            timing.name = fmt::format("{}~{}~{}", one.op, one.id, copy);
        // All that goes through the levels of memory waits for each other there.
        const InstructionTiming* const load = costs_.load_row();
        if (load && !priced.loads.empty()) timing.subsystem = load->subsystem;
        timing.cpi = priced.cost->cpi.times(profile_.copies(timing.subsystem));
        if (priced.cost->latency) {
            timing.latency = priced.cost->latency;
            timing.latency_unknown.clear();
        }
        timing.tables.clear();
        timing.loop_cpi.reset();
        timing.loop_latency.reset();
        if (timing.latency_growth && priced.use.device)
            timing.latency_growth =
                timing.latency_growth->times(farthest_levels(priced.use, result_.sizes).back());
        if (timing.latency_growth && timing.latency_growth->value == 0)
            timing.latency_growth.reset();
        timing.note = fmt::format("priced by --memory {}", to_string(pricing_));
        result_.profile.instructions.push_back(timing);
        return timing.name;
    }

    std::optional<RequestCost> cost_of(const KernelInstruction& one) {
        const Kind kind = kind_of_use(*one.memory);
        if (kind == Kind::other) {
            say(
                fmt::format("{} does not say what caches find of what it asks for: it keeps the "
                            "profile's λ and Λ",
                            one.op));
            return std::nullopt;
        }
        if (kind == Kind::shared) return shared(one);
        if (kind == Kind::atomic) return atomic(one);
        if (kind == Kind::copy)
            say("asynchronous copies are priced as loads by the levels that answer; their writing "
                "to shared memory is not priced");
        const bool stores = kind == Kind::store;
        if (pricing_ == MemoryPricing::aggregate) return by_ratio(one, stores);
        return stores ? store(one) : load(one);
    }

    // Λ of DRAM is measured with requests one behind the other. Elsewhere it is longer, and a
    // request waits for the farthest of its places, a KiB each: as if each took a time of its own,
    // of which the longest of n grows with ln n (H200, 2026-11-27-latency.txt: 785 cycles at one
    // place, 935 at four, 1228 at 32, of which reading the clock takes some 25; one behind the
    // other 683).
    void far_apart(RequestCost& cost, const MemoryUse& use) const {
        constexpr double each = 0.19;
        const auto base = costs_.load(device_memory(), coalesced);
        if (!use.places || !base || !base->latency || !cost.latency) return;
        const Estimate latency = base->latency->times(1 + elsewhere() * apart(use) +
                                                      each * std::log(std::max(1.0, *use.places)));
        if (latency.value > cost.latency->value) cost.latency = latency;
    }

    // Others measure with requests at random places.
    double elsewhere() const {
        const InstructionTiming* const row = profile_.find_instruction(row_of(device_memory()));
        if (!row || !row->latency) return 0;
        return row->latency->source.value_or(row->source) == Source::measured ? 0.11 : 0;
    }

    // Up to 1: the requests of a group's warps are each in a place of its own. Where words lie side
    // by side, eight warps share a place; a group of fewer has one of its own, which does not tell
    // that its neighbours are far away.
    double apart(const MemoryUse& use) const {
        constexpr double shared = 1.0 / 8;
        const std::optional<Launch>& launch = result_.kernel.launch;
        const double least = launch ? std::max(shared, 1.0 / launch->group_warps) : shared;
        if (!use.group_places) return 0;
        if (least == 1) return shared;
        return std::clamp(shared + (1 - shared) * (*use.group_places - least) / (1 - least), 0.0,
                          1.0);
    }

    // Shares of the requests to DRAM, from the fastest to the slowest. They scatter by 21 % of Λ
    // where they lie apart, by 7 % where they lie side by side (H200: standard deviation of 165 of
    // 785 cycles; groups of 32 warps wait 12 % longer than one).
    std::vector<std::pair<double, double>> scatter_of(const MemoryUse& use) const {
        // Means of the eighths of a normal distribution.
        constexpr std::array<double, 8> eighths = {-1.647, -0.895, -0.491, -0.158,
                                                   0.158,  0.491,  0.895,  1.647};
        std::vector<std::pair<double, double>> parts;
        const double deviation = 0.07 + 0.14 * apart(use);
        for (const double at : eighths)
            parts.emplace_back(1.0 / eighths.size(), 1 + deviation * at);
        return parts;
    }

    struct LevelCost {
        LevelNumber level;  // whose cost it is
        RequestCost cost;
    };

    // The cost at a level, or at the next one that the profile has measured.
    std::optional<LevelCost> level_cost(LevelNumber level, const KernelInstruction& one) {
        const MemoryUse& use = *one.memory;
        for (LevelNumber at = level; at < memory_levels().size(); ++at) {
            if (auto cost = costs_.load(at, use)) {
                if (at == device_memory()) {
                    cost = of_device(std::move(*cost), use);
                    far_apart(*cost, use);
                }
                if (at != level)
                    say(fmt::format(
                        "the profile has no {}: what the {} level finds costs as much as {}; "
                        "'occupipe measure --instructions {}' measures it",
                        row_of(level), memory_levels()[level].nth, hit_in(at), row_of(level)));
                return LevelCost{at, *std::move(cost)};
            }
        }
        const InstructionTiming* const own = profile_.find_instruction(one.op);
        if (!own) return std::nullopt;
        say(
            fmt::format("the profile has no {}: {} keeps its own numbers there, scaled by its "
                        "sectors; 'occupipe measure --instructions {}' measures it",
                        row_of(device_memory()), one.op, row_of(device_memory())));
        return LevelCost{
            device_memory(),
            of_device({.cpi = profile_.cpi_per_core(*own).times(use.sectors / row_sectors(one.op)),
                       .latency = own->latency},
                      use)};
    }

    std::optional<RequestCost> load(const KernelInstruction& one) {
        const LevelShares shares = level_shares(*one.memory, result_.sizes);
        const LevelShares farthest = farthest_levels(*one.memory, result_.sizes);
        std::vector<Part> parts;
        for (LevelNumber level = 0; level < shares.size(); ++level)
            parts.push_back({level, shares[level], farthest[level]});
        return mixed(one, parts);
    }

    // What a level does of an access.
    struct Part {
        LevelNumber level;
        double share;  // of the sectors
        double waits;  // of the requests, which wait for it
    };

    std::optional<RequestCost> mixed(const KernelInstruction& one, const std::vector<Part>& parts) {
        std::vector<std::pair<double, Estimate>> cpi, latency;
        latencies_.clear();
        for (const auto& [level, share, waits] : parts) {
            if (share == 0 && waits == 0) continue;
            const auto found = level_cost(level, one);
            if (!found) return std::nullopt;
            const RequestCost& cost = found->cost;
            cpi.emplace_back(share, cost.cpi);
            loads_[found->level] += share * cost.cpi.value;
            // What comes from a level passes those before it.
            for (LevelNumber nearer = one.memory->core ? 0 : shared_cache(); nearer < level;
                 ++nearer)
                if (const auto passed = costs_.load(nearer, *one.memory))
                    loads_[nearer] += share * passed->cpi.value;
            std::optional<Estimate> cycles = cost.latency;
            if (!cycles) {
                say(
                    fmt::format("no Λ is known of {}, which {} needs: its own is taken; "
                                "'occupipe measure --instructions {}' measures it",
                                row_of(level), one.op, row_of(level)));
                const InstructionTiming* const own = profile_.find_instruction(one.op);
                if (!own || !own->latency) return std::nullopt;
                cycles = own->latency;
            }
            if (waits == 0) continue;
            latency.emplace_back(waits, *cycles);
            if (found->level == device_memory() && one.memory->places)
                for (const auto& [part, times] : scatter_of(*one.memory))
                    latencies_.emplace_back(waits * part, cycles->times(times));
            else
                latencies_.emplace_back(waits, *cycles);
        }
        std::ranges::sort(latencies_, {}, [](const auto& part) { return part.second.value; });
        return RequestCost{.cpi = weighted(cpi), .latency = weighted(latency)};
    }

    // Memory of a thread lies in the same levels as that of all: one row prices both.
    static std::string store_row(const std::string& op) {
        constexpr std::string_view local = "st.local.";
        return op.starts_with(local) ? "st.global." + op.substr(local.size()) : op;
    }

    // What is dirty in the second level already costs a write there, all else one to DRAM.
    std::optional<RequestCost> store(const KernelInstruction& one) {
        const MemoryUse& use = *one.memory;
        const double absorbed = absorbed_share(use);
        const std::string row = store_row(one.op);
        const InstructionTiming* const own = profile_.find_instruction(row);
        if (!own) {
            say(
                fmt::format("the profile has no {}: {} is priced as a load by the same levels; "
                            "'occupipe measure --instructions {}' measures it",
                            row, row == one.op ? "it" : one.op, row));
            return mixed(one, {{shared_cache(), absorbed, absorbed},
                               {device_memory(), 1 - absorbed, 1 - absorbed}});
        }
        const double sectors = use.sectors / row_sectors(own->name) * partly_written(use);
        const Estimate to_dram =
            of_device({.cpi = profile_.cpi_per_core(*own).times(sectors), .latency = {}}, use).cpi;
        const auto near = costs_.store(use);
        // What the L1 cache merges with the store before takes its banks alone.
        const auto banks = use.merged ? costs_.load(0, use) : std::nullopt;
        const double merged =
            banks && use.sectors > 0 ? std::min(absorbed, *use.merged / use.sectors) : 0;
        std::vector<std::pair<double, Estimate>> cpi = {
            {1 - absorbed, to_dram}, {absorbed - merged, near ? *near : to_dram}};
        loads_[device_memory()] += (near ? 1 - absorbed : 1 - merged) * to_dram.value;
        if (near) loads_[shared_cache()] += (1 - merged) * near->value;
        if (banks) {
            cpi.emplace_back(merged, banks->cpi);
            loads_[0] += merged * banks->cpi.value;
        }
        return RequestCost{.cpi = weighted(cpi), .latency = own->latency};
    }

    // λ of a request to DRAM over that of one whose sectors are written whole.
    double partly_written(const MemoryUse& use) const {
        constexpr std::string_view whole = "st.global.f32", parts = "st.global.f32.stride8";
        const InstructionTiming* const one = profile_.find_instruction(whole);
        const InstructionTiming* const other = profile_.find_instruction(parts);
        if (one == nullptr || other == nullptr || !one->cpi.identifiable() ||
            !other->cpi.identifiable() || use.least_sectors == 0)
            return 1;
        constexpr double words = 8;  // of a sector, of which the row writes one
        const double more =
            profile_.cpi_per_core(*other).value / words / profile_.cpi_per_core(*one).value;
        const double share = (use.sectors / use.least_sectors - 1) / (words - 1);
        return 1 + std::clamp(share, 0.0, 1.0) * std::max(0.0, more - 1);
    }

    // Λ and λ of an atomic operation whose lanes ask for so many sectors, found in the second
    // level, where it is executed: between the row of one sector, where the profile has it, and
    // that of a word of its own for each lane; beyond it in proportion.
    RequestCost at_second_level(const InstructionTiming& own, double sectors) const {
        const double full = row_sectors(own.name);
        const Estimate cpi = profile_.cpi_per_core(own);
        const InstructionTiming* const narrow = profile_.find_instruction(own.name + ".sector");
        if (sectors < full) {
            if (narrow == nullptr) return {.cpi = cpi, .latency = own.latency};
            const double share = std::clamp((sectors - 1) / (full - 1), 0.0, 1.0);
            RequestCost cost{
                .cpi = weighted({{1 - share, profile_.cpi_per_core(*narrow)}, {share, cpi}}),
                .latency = own.latency};
            if (own.latency && narrow->latency)
                cost.latency = weighted({{1 - share, *narrow->latency}, {share, *own.latency}});
            return cost;
        }
        RequestCost cost{.cpi = cpi.times(sectors / full), .latency = own.latency};
        if (own.latency) cost.latency = weighted({{1, *own.latency}, {sectors / full - 1, cpi}});
        return cost;
    }

    // Lanes of a request at one address take turns, as in the row where all do; and so do the
    // requests of all cores that go to one sector: the second level takes some 3.5 cycles for each
    // lane there (H200: 3.5 where all lanes of a launch add to one word, 4.6 where they add to
    // 100).
    void meet_at_one_address(RequestCost& cost, const InstructionTiming& own,
                             const MemoryUse& use) const {
        if (!use.same_address || !use.hottest) return;
        constexpr double lane_cycles = 3.5;
        const double lanes = *use.same_address;
        const auto at_least = [&](const Estimate& cycles) {
            if (cycles.value > cost.cpi.value) cost.cpi = cycles;
        };
        const InstructionTiming* same = profile_.find_instruction(own.name + ".same");
        if (same == nullptr) same = profile_.find_instruction("atom.global.add.u32.same");
        if (same != nullptr && lanes > 1)
            at_least(profile_.cpi_per_core(*same).times(lanes / profile_.warp_size));
        Estimate hot = cost.cpi;
        hot.value = *use.hottest * lanes * lane_cycles * busy_ * profile_.cores;
        hot.std_error = hot.value / 4;
        at_least(hot);
    }

    // What the second level lacks comes from DRAM and goes back there: the slower of the two rates.
    std::optional<RequestCost> atomic(const KernelInstruction& one) {
        const MemoryUse& use = *one.memory;
        const InstructionTiming* const own = profile_.find_instruction(one.op);
        const double missing =
            1 - share_at(*use.device, bytes_of(result_.sizes, shared_cache()).value_or(0));
        const double written = 1 - absorbed_share(use);
        if (own == nullptr) {
            say(fmt::format(
                "the profile has no {}: it is priced as a load by the levels behind the "
                "first; 'occupipe measure --instructions {}' measures it",
                one.op, one.op));
            return mixed(one, {{shared_cache(), 1 - missing, 1 - missing},
                               {device_memory(), missing, missing}});
        }
        RequestCost cost = at_second_level(*own, use.sectors);
        meet_at_one_address(cost, *own, use);
        loads_[shared_cache()] = cost.cpi.value;
        if (missing + written == 0) return cost;
        const auto dram = costs_.load(device_memory(), use);
        if (!dram) return cost;
        const Estimate moved = of_device(*dram, use).cpi.times(missing + written);
        loads_[device_memory()] = moved.value;
        if (moved.value > cost.cpi.value) cost.cpi = moved;
        const auto far = costs_.load(device_memory(), coalesced),
                   near = costs_.load(shared_cache(), coalesced);
        if (missing > 0 && cost.latency && far && near && far->latency && near->latency &&
            far->latency->value > near->latency->value)
            cost.latency = weighted(
                {{1, *cost.latency}, {missing, *far->latency}, {-missing, *near->latency}});
        return cost;
    }

    // The paper's rule for global memory (docs/background/memory.md): R of the whole kernel.
    std::optional<RequestCost> by_ratio(const KernelInstruction& one, bool stores) {
        const double ratio = *result_.dram_ratio;
        const InstructionTiming* const own = profile_.find_instruction(one.op);
        std::optional<RequestCost> dram = costs_.load(device_memory(), coalesced);
        if (own && (stores || !dram))
            dram = RequestCost{.cpi = profile_.cpi_per_core(*own), .latency = own->latency};
        if (!dram) return std::nullopt;
        if (!dram->latency && own) dram->latency = own->latency;
        if (ratio >= 1) {
            RequestCost cost{.cpi = dram->cpi.times(ratio), .latency = dram->latency};
            if (dram->latency)
                cost.latency = weighted({{1, *dram->latency}, {ratio - 1, dram->cpi}});
            return cost;
        }
        std::optional<RequestCost> second = costs_.load(shared_cache(), coalesced);
        if (!second) {
            say(
                fmt::format("the profile has no {}: R of DRAM and 1 − R of the second level are "
                            "both priced as DRAM; 'occupipe measure --instructions {}' measures "
                            "it",
                            row_of(shared_cache()), row_of(shared_cache())));
            second = dram;
        }
        RequestCost cost{.cpi = weighted({{ratio, dram->cpi}, {1 - ratio, second->cpi}}),
                         .latency = dram->latency};
        if (dram->latency && second->latency)
            cost.latency = weighted({{ratio, *dram->latency}, {1 - ratio, *second->latency}});
        return cost;
    }

    // Λ' = Λ + D λ, λ' = (1 + D) λ; where the profile tells of conflicts, as it tells: a request
    // may take longer than a pass, which then costs nothing.
    std::optional<RequestCost> shared(const KernelInstruction& one) {
        const InstructionTiming* const own = profile_.find_instruction(one.op);
        if (!own) return std::nullopt;
        const MemoryUse& use = *one.memory;
        const double more = pricing_ == MemoryPricing::aggregate ? *result_.conflict_degree
                            : use.least_passes > 0               ? use.passes / use.least_passes - 1
                                                                 : 0;
        if (pricing_ == MemoryPricing::per_access)
            if (auto cost = at_table(profile_, *own, "conflict_degree", 1 + more)) return cost;
        const Estimate cpi = profile_.cpi_per_core(*own);
        RequestCost cost{.cpi = cpi.times(1 + more), .latency = own->latency};
        if (own->latency) cost.latency = weighted({{1, *own->latency}, {more, cpi}});
        return cost;
    }

    const GpuProfile& profile_;
    MemoryPricing pricing_;
    MemoryCosts costs_;
    PricedMemory result_;
    std::vector<Priced> priced_;
    Loads loads_;                           // of the access that is being priced
    LatencyParts latencies_;                // likewise
    Loads busy_cycles_;                     // of all accesses of a warp
    std::vector<std::size_t> global_rows_;  // that have loads
    std::vector<std::size_t> shared_rows_;
    double shared_cycles_ = 0;  // of all accesses of a warp to shared memory
    std::size_t next_ = 0;      // row
    double busy_ = 1;           // mean work of a core over that of the busiest
    double kept_ = 0;           // of the sectors on their way to DRAM: still cached at the end
};

}  // namespace

PricedMemory price_memory(const Kernel& kernel, const GpuProfile& profile, MemoryPricing pricing,
                          const CacheSizes& asked) {
    return Pricer(kernel, profile, pricing, asked).run();
}

std::optional<double> dram_bytes_per_warp(const PricedMemory& memory) {
    if (memory.rows.empty()) return std::nullopt;
    double bytes = 0;
    for (const MemoryRow& row : memory.rows) {
        if (row.use.sectors > 0 && !row.dram_bytes) return std::nullopt;
        bytes += row.executions * row.dram_bytes.value_or(0);
    }
    return bytes;
}

}  // namespace occupipe::analysis
