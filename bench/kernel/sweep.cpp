// SPDX-License-Identifier: MIT
#include "bench/kernel/sweep.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <set>

#include "bench/harness/fresh_lines.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

struct MixPair {
    std::string_view first;
    std::string_view second;
};

// The papers' mix is an ALU with a special-function instruction; the others tell which of
// arithmetic, integers, double precision, division and memory share a unit, and how arithmetic and
// memory traffic of any intensity go together. λ1 <= λ2 in each. Two fast instructions of different
// units, one for one, reach an issue limit that no slow one lets show; two such pairs, since a
// limit needs two that agree.
constexpr std::array default_mixes = {
    MixPair{"fma.f32", "cos.approx.f32"}, MixPair{"mul.f32", "cos.approx.f32"},
    MixPair{"fma.f32", "div.f32"},        MixPair{"add.f32", "mul.f32"},
    MixPair{"add.s32", "mul.s32"},        MixPair{"fma.f32", "mul.s32"},
    MixPair{"fma.f32", "fma.f64"},        MixPair{"fma.f32", "ld.shared.u32"},
    MixPair{"fma.f32", "ld.global.f32"},  MixPair{"fma.f32", "add.s32"},
    MixPair{"fma.f32", "xor.b32"},
};
// One of each kind that may have a unit of its own.
constexpr std::array representatives = {
    "fma.f32",       "add.s32",        "mul.s32",           "xor.b32",  "shl.b32",
    "popc.b32",      "cos.approx.f32", "cvt.rni.s32.f32",   "fma.f64",  "fma.f16x2",
    "setp.lt.s32",   "div.f32",        "shfl.sync.idx.b32", "dp4a.s32", "mma.m16n8k16.f32.f16",
    "ld.shared.u32", "ld.const.u32",
};
constexpr std::array default_betas = {1, 2, 4, 8, 16, 32};
constexpr std::array pair_betas = {1, 2, 4};

constexpr int cpu_chase_chains = 8;

// What rates are made of (analysis/roofline/device_rates.h), on registers and from memory.
constexpr std::array rate_rows = {"fma.f32",       "fma.f64",         "mad.s32", "fma.f16x2",
                                  "fma.f32x4",     "fma.f64x2",       "add.s32", "ld.shared.u32",
                                  "ld.global.f32", "ld.global.v4.f32"};
// Operations and traffic of mixbench's experiment.
constexpr std::array intensity_operations = {"fma.f32", "fma.f64", "mad.s32", "fma.f16x2"};
constexpr std::array intensity_loads = {"ld.global.f32", "ld.global.v4.f32"};
constexpr std::array intensity_betas = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64};

struct Shape {
    int group_warps;
    int concurrent_groups;
    int chains;

    bool operator==(const Shape&) const = default;
};

// CPU: one work-item runs at a time, so only chains inside it overlap. 10 chains are more than
// Λ/λ of any x86 unit (8 for a fused multiply-add) and still fit its registers; pointer chases need
// some of these for addresses.
std::vector<Shape> cpu_shapes(const Row& row, bool quick) {
    const bool chase = row.pattern == Pattern::shared_chase || row.pattern == Pattern::global_chase;
    std::vector<Shape> shapes;
    if (measures_launches(row.pattern)) return {{1, 1, 1}};
    for (const int chains : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
        // quick: compiling costs more than running; principal rows get the ridge, too, the others
        // both ends.
        const bool end = chains == 1 || chains == (chase ? cpu_chase_chains : 10);
        const bool ridge = row.principal && (chains == 4 || chains == 8);
        if ((quick && !end && !ridge) || (chase && chains > cpu_chase_chains)) continue;
        if (row.most_chains == 1 && chains > 1) continue;
        if (row.unroll > 0 && chains > 1) continue;  // about the length of one chain's body
        shapes.push_back({1, 1, chains});
    }
    return shapes;
}

std::int64_t require(const std::optional<std::int64_t>& limit, const char* key) {
    if (!limit) {
        throw InputError(fmt::format(
            "limits.{}: is missing; the sweep needs it, so add it to the profile", key));
    }
    return *limit;
}

// As far as the device tells. What the system takes of each group's share, and what a kernel keeps
// there of its own, is 1 KiB and little more on all GPUs known to us.
bool shared_memory_holds(const DeviceFacts& facts, const Row& row, int groups) {
    constexpr std::int64_t besides = 1024 + 128;
    const std::int64_t ring =
        row.pattern == Pattern::shared_chase ? shared_ring_words * std::int64_t{4} : 0;
    const std::int64_t needed = std::max(static_cast<std::int64_t>(row.shared_bytes), ring);
    return needed == 0 || !facts.limits.shared_memory_bytes ||
           groups * (needed + besides) <= *facts.limits.shared_memory_bytes;
}

// Registers are handed out to a warp by eight per thread.
bool registers_hold(const DeviceFacts& facts, const Row& row, std::int64_t warps) {
    const std::int64_t granted = (row.registers + 7) / 8 * 8;
    return !facts.limits.registers || warps * facts.warp_size * granted <= *facts.limits.registers;
}

// As many of the largest groups as a core holds of a kernel with these rows.
Shape fullest(const DeviceFacts& facts, std::initializer_list<const Row*> rows) {
    const auto warps = require(facts.limits.warps, "warps");
    const auto size = std::min(require(facts.limits.group_warps, "group_warps"), warps);
    auto groups = std::min(warps / size, require(facts.limits.groups, "groups"));
    const auto hold = [&](const Row* row) {
        return shared_memory_holds(facts, *row, static_cast<int>(groups)) &&
               registers_hold(facts, *row, size * groups);
    };
    while (groups > 1 && !std::ranges::all_of(rows, hold)) --groups;
    return {static_cast<int>(size), static_cast<int>(groups), 1};
}

// Numbers of warps that two or four schedulers cannot share evenly, beyond those that are measured
// one by one. There most instructions are limited by throughput, and copies of a unit, one unit for
// the core and issue ports take different times.
constexpr std::array uneven_warps = {17, 22, 27, 34, 50};

std::vector<Shape> gpu_shapes(const DeviceFacts& facts, const Row& row, bool quick) {
    const auto warps = require(facts.limits.warps, "warps");
    const auto groups = std::min(require(facts.limits.groups, "groups"), warps);
    const auto group_warps = std::min(require(facts.limits.group_warps, "group_warps"), warps);
    std::vector<Shape> shapes;
    if (row.working_sets || row.pattern == Pattern::empty_loop) return {{1, 1, 1}};
    if (measures_launches(row.pattern)) return {{1, 1, 1}, {static_cast<int>(group_warps), 1, 1}};
    std::set<std::int64_t> warp_counts;
    const bool free = row.group_warps == 1 && row.cluster == 1 && row.pattern != Pattern::barrier;
    // Every warp count up to the ridge of all instructions known to us, then every fourth and some
    // between (quick: of principal rows).
    const auto dense = [&](std::int64_t w) {
        const bool uneven =
            (!quick || row.principal) && std::ranges::find(uneven_warps, w) != uneven_warps.end();
        return w <= (quick ? 8 : 16) || w % 4 == 0 || uneven;
    };
    // Where groups have to be of several warps, two of them: of many, those that begin first leave
    // the others no slot to begin in (H100: 30 µs with 16 to 32 groups of an instruction that fills
    // the issue ports; 60 ns with two).
    std::vector<Shape> pairs;
    for (std::int64_t w = groups + 1; free && groups >= 2 && w <= warps; ++w)
        if (w % 2 == 0 && w / 2 <= group_warps && dense(w) && shared_memory_holds(facts, row, 2) &&
            registers_hold(facts, row, w) && warp_counts.insert(w).second)
            pairs.push_back({static_cast<int>(w / 2), 2, 1});
    for (int size = row.group_warps; size <= group_warps; size *= 2) {
        for (int count = 1; count <= groups && static_cast<std::int64_t>(size) * count <= warps;
             ++count) {
            if (!shared_memory_holds(facts, row, count)) break;
            if (!registers_hold(facts, row, std::int64_t{size} * count)) break;
            // One group per core, so that a neighbour in the cluster is on another core.
            if (row.cluster > 1 && row.shared_bytes > 0 && count > 1) break;
            // Each warp count with its smallest group; in full also the corners of group size x
            // groups. Barriers need the group sizes: quick keeps their corners, full has them all.
            const std::int64_t w = static_cast<std::int64_t>(size) * count;
            const bool corner =
                count == 1 || (count + 1) * size > warps || (count & (count - 1)) == 0;
            const bool first = dense(w) && warp_counts.insert(w).second;
            const bool wanted =
                row.pattern == Pattern::barrier ? corner || !quick : first || (corner && !quick);
            if (wanted) shapes.push_back({size, count, 1});
        }
    }
    std::ranges::copy_if(pairs, std::back_inserter(shapes), [&](const Shape& pair) {
        return std::ranges::find(shapes, pair) == shapes.end();  // a corner, too
    });
    // Where few groups fit, an uneven number is one or two odd groups.
    for (const int w : uneven_warps) {
        if (!free || (quick && !row.principal) || w > warps) continue;
        const auto size = std::min<std::int64_t>(w % 2 == 0 ? w / 2 : w, group_warps);
        const auto count = static_cast<int>(w / size);
        if (w % size == 0 && count <= groups && shared_memory_holds(facts, row, count) &&
            registers_hold(facts, row, w) && warp_counts.insert(w).second)
            shapes.push_back({static_cast<int>(size), count, 1});
    }
    if (!quick && row.pattern == Pattern::chain) {
        for (const int chains : {2, 3, 4, 6, 8}) {
            if (chains > row.most_chains) break;
            for (int size = row.group_warps; size <= group_warps; size *= 4) {
                shapes.push_back({size, 1, chains});
            }
        }
    }
    return shapes;
}

// The depth in the middle has a shorter loop body than the other two, so that steps, iterations and
// what a launch costs are three independent unknowns of three equations (second_unroll). One body
// where several chains make other bodies anyway, on CPUs, where compiling takes longer than
// measuring, and for walks over working sets, whose latencies hide the loop.
void add_points(SweepPlan& sweep, const DeviceFacts& facts, KernelPlan plan, const Shape& shape,
                std::array<std::int64_t, 3> depths) {
    plan.chains = shape.chains;
    plan.unroll = default_unroll(*plan.first, plan.second, plan.beta, shape.chains, facts.cpu);
    const std::int64_t warps =
        std::int64_t{facts.cores} * shape.group_warps * shape.concurrent_groups;
    if (!facts.cpu && !keep_to_fresh_lines(plan, depths, facts.tables, warps)) return;
    const bool two = !facts.cpu && shape.chains == 1 && plan.working_set_bytes == 0;
    const std::array bodies = {plan.unroll, two ? second_unroll(plan) : plan.unroll, plan.unroll};
    for (std::size_t i = 0; i < depths.size(); ++i) {
        plan.unroll = bodies[i];
        const std::int64_t iterations = std::max<std::int64_t>(1, depths[i] / plan.unroll);
        sweep.points.push_back({plan,
                                {.group_warps = shape.group_warps,
                                 .concurrent_groups = shape.concurrent_groups,
                                 .chains = shape.chains,
                                 .depth = iterations * plan.unroll}});
    }
}

// Where a unit may be busy, one longer run more for each number of warps (`done`), by a
// checkpointed kernel: the window in which all warps run says λ where they drift apart. Its cycles
// hold the checkpoints, so that it is a point of its own and no part of the curve. Barriers hold
// their warps together, and so do steps that wait for more than their own chain.
void add_window(SweepPlan& sweep, const DeviceFacts& facts, const Row& row, const Shape& shape,
                std::int64_t deepest, bool quick, std::set<std::int64_t>& done) {
    const std::int64_t warps = std::int64_t{shape.group_warps} * shape.concurrent_groups;
    const bool chosen = warps >= 8 && warps % (quick ? 8 : 4) == 0 && shape.chains == 1;
    const bool fits = row.pattern != Pattern::barrier && row.order != Order::waits &&
                      row.cluster == 1 && row.group_warps == 1;
    if (!facts.checkpoints || !chosen || !fits || !done.insert(warps).second) return;
    KernelPlan plan{.first = &row, .chains = 1, .checkpointed = true};
    plan.unroll = default_unroll(row, nullptr, 0, 1, false);
    std::array<std::int64_t, 3> depths = {deepest / 2, deepest, 2 * deepest};
    if (!keep_to_fresh_lines(plan, depths, facts.tables, facts.cores * warps)) return;
    const std::int64_t parts = checkpoints + 1;
    const std::int64_t iterations = depths.back() / plan.unroll / parts * parts;
    if (iterations < parts) return;
    sweep.points.push_back({plan,
                            {.group_warps = shape.group_warps,
                             .concurrent_groups = shape.concurrent_groups,
                             .chains = 1,
                             .depth = iterations * plan.unroll}});
}

// Long enough that one run is well over the timer's noise (CPU: tens of microseconds and more by
// events; GPU: thousands of cycles by the core's own counter), and four times round a long body.
std::array<std::int64_t, 3> depths_of(const DeviceFacts& facts, const Row& row) {
    if (measures_launches(row.pattern)) return {16, 64, 256};
    std::int64_t least = facts.cpu ? (row.x86.empty() ? 8192 : 65536) : 512;
    least = std::max<std::int64_t>(least, 4 * row.unroll);
    return {least, 2 * least, 4 * least};
}

// Of the tables of one curve. A level is seen by three sizes, memory's too: on a GPU these are
// twice, four and eight times its last cache and more, where its memory has room for them.
std::set<std::size_t> working_sets(const DeviceFacts& facts, bool quick) {
    constexpr std::size_t smallest = 4096;
    constexpr std::size_t share_of_memory = 8;
    std::set<std::size_t> sizes;
    for (std::size_t bytes = smallest; bytes <= facts.tables.beyond_caches;
         bytes *= quick ? 4 : 2) {
        sizes.insert(bytes);
    }
    if (facts.cpu || facts.tables.cache_bytes == 0) return sizes;
    const std::size_t far = std::bit_ceil(2 * facts.tables.cache_bytes);
    for (const std::size_t bytes : {far, 2 * far, 4 * far}) {
        const bool room =
            facts.global_memory_bytes == 0 ||
            bytes <= static_cast<std::size_t>(facts.global_memory_bytes) / share_of_memory;
        if (room) sizes.insert(bytes);
    }
    return sizes;
}

// One curve over the size of the table. The first launch of a point walks once around whatever a
// core's own caches may hold; the others find that in place.
void add_working_sets(SweepPlan& sweep, const DeviceFacts& facts, const Row& row, bool quick) {
    constexpr std::size_t largest_near = 1u << 20;  // beyond any core's own cache
    const std::int64_t line_bytes = facts.cpu ? 64 : 128;
    for (const std::size_t bytes : working_sets(facts, quick)) {
        const auto lines = static_cast<std::int64_t>(std::min(bytes, largest_near)) / line_bytes;
        const std::int64_t least = std::max<std::int64_t>(facts.cpu ? 65536 : 512, lines);
        add_points(sweep, facts, {.first = &row, .working_set_bytes = bytes}, {1, 1, 1},
                   {2 * least, 3 * least, 4 * least});
    }
}

const Row* find_in(const Backend& backend, const std::string& id) {
    const auto rows = backend.rows();
    const auto found = std::ranges::find(rows, id, &Row::id);
    return found == rows.end() ? nullptr : &*found;
}

// Why these two cannot be mixed here; empty when they can.
std::string mix_fault(const Backend& backend, const Mix& mix) {
    const Row* first = find_in(backend, mix.first);
    const Row* second = find_in(backend, mix.second);
    for (const auto& [row, id] : {std::pair{first, mix.first}, std::pair{second, mix.second}}) {
        if (!row) return fmt::format("this device has no instruction {}", id);
        if (const auto why = backend.unsupported(*row)) return fmt::format("{}: {}", id, *why);
    }
    if (first->pattern != Pattern::chain || first->order != Order::registers) {
        return fmt::format("{}: only an instruction on registers can come first in a mix",
                           mix.first);
    }
    const bool fits = (second->pattern == Pattern::chain && second->order == Order::registers) ||
                      second->pattern == Pattern::shared_chase ||
                      second->pattern == Pattern::global_stream;
    if (!fits || second->order == Order::waits) {
        return fmt::format("{}: waits for more than its own chain and cannot be mixed", mix.second);
    }
    for (const Row* row : {first, second}) {
        if (row->unroll > 0)
            return fmt::format("{}: needs its own loop body and cannot be mixed", row->id);
    }
    return {};
}

void add_mix(SweepPlan& sweep, const Backend& backend, const Mix& mix, bool required) {
    if (const std::string reason = mix_fault(backend, mix); !reason.empty()) {
        if (required) sweep.skipped.push_back({mix_name(mix), reason});
        return;
    }
    const Row* first = find_in(backend, mix.first);
    const Row* second = find_in(backend, mix.second);
    const DeviceFacts& facts = backend.facts();
    const KernelPlan plan{
        .first = first, .second = second, .beta = mix.beta, .chains = 1, .unroll = 1};
    const Shape shape = facts.cpu
                            ? Shape{1, 1, std::min({8, first->most_chains, second->most_chains})}
                            : fullest(facts, {first, second});
    add_points(sweep, facts, plan, shape, depths_of(facts, *second));
}

bool matches(const std::string& pattern, std::string_view name) {
    return fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0;
}

bool wanted(const SweepRequest& request, std::string_view name) {
    return request.patterns.empty() ||
           std::ranges::any_of(request.patterns,
                               [&](const std::string& p) { return matches(p, name); });
}

void add_mixes(SweepPlan& sweep, const Backend& backend, const SweepRequest& request) {
    std::set<std::string> added;
    for (const MixPair& pair : default_mixes) {
        for (const int beta : default_betas) {
            // Each is a kernel of its own; a CPU's compiler takes longer than the measurement.
            if (request.quick && backend.facts().cpu && beta != 1 && beta != 4 && beta != 16)
                continue;
            const Mix mix{std::string(pair.first), beta, std::string(pair.second)};
            if (wanted(request, mix_name(mix))) {
                add_mix(sweep, backend, mix, false);
                added.insert(mix_name(mix));
            }
        }
    }
    for (const std::string& pattern : request.patterns) {
        const auto mix = parse_mix(pattern);
        if (mix && added.insert(pattern).second) add_mix(sweep, backend, *mix, true);
    }
}

// The second of a pair may be a walk through shared memory; the first never. The laws of a mix are
// told apart by how the time grows with β (fit/structure/fit_mix.h wants two values of it at
// least).
void add_pairs(SweepPlan& sweep, const Backend& backend, const SweepRequest& request) {
    std::vector<std::string> chosen;
    if (request.patterns.empty()) {
        chosen.assign(representatives.begin(), representatives.end());
    } else {
        for (const Row& row : backend.rows()) {
            if (wanted(request, row.id)) chosen.emplace_back(row.id);
        }
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        for (std::size_t j = i + 1; j < chosen.size(); ++j) {
            for (const int beta : pair_betas) {
                const Mix mix{chosen[i], beta, chosen[j]};
                const Mix turned{chosen[j], beta, chosen[i]};
                const Mix& one = mix_fault(backend, mix).empty() ? mix : turned;
                const bool planned =
                    std::ranges::any_of(sweep.points, [&](const PlannedPoint& point) {
                        return point.plan.second && point.plan.subject() == mix_name(one);
                    });
                if (!planned) add_mix(sweep, backend, one, beta == pair_betas.front());
            }
        }
    }
}

// Every warp that the core holds, each with several chains; on a CPU as many chains as its
// registers take. One body: what the loop itself costs belongs to the rate.
void add_full(SweepPlan& sweep, const DeviceFacts& facts, const Row& row) {
    Shape shape = facts.cpu ? cpu_shapes(row, false).back() : Shape{1, 1, 1};
    if (!facts.cpu) {
        constexpr int several = 4;
        shape = fullest(facts, {&row});
        if (row.pattern == Pattern::chain && !facts.model)
            shape.chains = std::min(several, row.most_chains);
    }
    SweepPlan own;
    add_points(own, facts, {.first = &row}, shape, depths_of(facts, row));
    int longest = 0;
    for (const PlannedPoint& point : own.points) longest = std::max(longest, point.plan.unroll);
    for (PlannedPoint& point : own.points) {
        if (point.plan.unroll != longest) continue;
        point.full = true;
        sweep.points.push_back(point);
    }
}

bool is_rate(const Row& row) { return std::ranges::find(rate_rows, row.id) != rate_rows.end(); }

void add_intensity(SweepPlan& sweep, const Backend& backend, bool quick) {
    const auto has = [&](const char* name) {
        const Row* row = find_in(backend, name);
        return row != nullptr && !backend.unsupported(*row);
    };
    std::set<std::string> planned;
    for (const PlannedPoint& point : sweep.points) planned.insert(point.plan.subject());
    for (const char* operation : intensity_operations)
        for (const char* load : intensity_loads)
            for (const int beta : intensity_betas) {
                if (quick && !std::has_single_bit(static_cast<unsigned>(beta))) continue;
                const Mix mix{operation, beta, load};
                if (has(operation) && has(load) && planned.insert(mix_name(mix)).second)
                    add_mix(sweep, backend, mix, beta == 1);
            }
}

void check_patterns(const SweepPlan& sweep, const SweepRequest& request) {
    for (const std::string& pattern : request.patterns) {
        const bool planned = std::ranges::any_of(sweep.points, [&](const PlannedPoint& p) {
            return matches(pattern, p.plan.subject());
        });
        const bool skipped = std::ranges::any_of(sweep.skipped, [&](const SkippedSubject& s) {
            return matches(pattern, s.subject) || s.subject == pattern;
        });
        if (!planned && !skipped) {
            throw InputError(fmt::format(
                "--instructions: nothing matches '{}'; see 'occupipe list instructions'", pattern));
        }
    }
}

}  // namespace

std::string PlannedPoint::name() const {
    std::string subject = plan.subject();
    if (plan.working_set_bytes > 0) {
        subject += fmt::format("/working_set_bytes:{}", plan.working_set_bytes);
    }
    if (full) subject += "/full:1";
    return measurement_name(subject, shape);
}

std::vector<std::string> split_patterns(const std::string& text) {
    std::vector<std::string> parts(1);
    int nesting = 0;
    for (const char c : text) {
        if (c == ',' && nesting == 0) {
            parts.emplace_back();
            continue;
        }
        nesting += c == '(' ? 1 : c == ')' ? -1 : 0;
        parts.back() += c;
    }
    std::erase(parts, "");
    return parts;
}

SweepPlan only_point(SweepPlan sweep, const std::string& name) {
    const auto found = std::ranges::find(sweep.points, name, &PlannedPoint::name);
    if (found == sweep.points.end()) {
        const std::string subject = name.substr(0, name.find('/'));
        std::string near;
        for (const PlannedPoint& point : sweep.points) {
            if (point.plan.subject() == subject) near = point.name();
        }
        throw InputError(fmt::format(
            "--point: no point '{}'{}", name,
            near.empty() ? fmt::format(": no instruction or mix is called {}", subject)
                         : fmt::format("; one of {} is {}; --dry-run prints all", subject, near)));
    }
    const PlannedPoint point = *found;
    sweep.points = {point};
    sweep.skipped.clear();
    return sweep;
}

SweepPlan make_sweep(const Backend& backend, const SweepRequest& asked) {
    SweepRequest request = asked;
    if (request.intensity) {
        if (!request.patterns.empty() || request.pairs)
            throw InputError(
                "--intensity chooses the instructions itself; leave --instructions and --pairs "
                "out");
        request.rates = true;
    }
    const bool rates_alone = request.rates && request.patterns.empty();
    if (rates_alone) request.patterns.assign(rate_rows.begin(), rate_rows.end());
    SweepPlan sweep;
    const DeviceFacts& facts = backend.facts();
    // A GPU's own clock scatters little; the stopping rule asks for more where it does.
    const bool gpu = !facts.cpu && !facts.model;
    sweep.repetitions = request.quick ? (facts.model ? 5 : 3) : (gpu ? 5 : 9);
    for (const Row& row : backend.rows()) {
        if (!wanted(request, row.id)) continue;
        if (const auto reason = backend.unsupported(row)) {
            sweep.skipped.push_back({std::string(row.id), *reason});
            continue;
        }
        if (row.working_sets) {
            add_working_sets(sweep, facts, row, request.quick);
            continue;
        }
        const auto shapes =
            facts.cpu ? cpu_shapes(row, request.quick) : gpu_shapes(facts, row, request.quick);
        if (request.rates && is_rate(row)) add_full(sweep, facts, row);
        std::set<std::int64_t> windows;
        for (const Shape& shape : shapes) {
            add_points(sweep, facts, {.first = &row}, shape, depths_of(facts, row));
            add_window(sweep, facts, row, shape, depths_of(facts, row).back(), request.quick,
                       windows);
        }
    }
    add_mixes(sweep, backend, request);
    if (request.pairs) add_pairs(sweep, backend, request);
    if (request.intensity) add_intensity(sweep, backend, request.quick);
    check_patterns(sweep, asked);
    return sweep;
}

}  // namespace occupipe::bench
