// SPDX-License-Identifier: MIT
// What AutoMatch keeps of a sequential program: characteristics of no particular machine (Helal et
// al. 2017, section III), from which the cost on any device follows.
//
//   const Workload w = read_workload("stencil.workload.yaml");
//   w.operations.total, w.schedules[0].depth, w.reuse[0].at_most(196608)   // references
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace occupipe::automatch {

// Dynamic counts of floating-point operations; integer operations are none.
struct Operations {
    std::int64_t total = 0;             // W
    std::int64_t single_precision = 0;  // of them, in single precision
    std::int64_t additions = 0;         // W_add, with subtractions
    std::int64_t multiplications = 0;   // W_mul
    std::int64_t divisions = 0;
    std::int64_t square_roots = 0;
    std::int64_t functions = 0;     // calls of the mathematical library
    std::int64_t fused_pairs = 0;   // P: disjoint pairs of a product and the sum it goes into
    std::int64_t vectorisable = 0;  // W_vec

    bool operator==(const Operations&) const = default;
};

// So many levels of a schedule have so many operations each.
struct LevelWidth {
    std::int64_t levels = 0;
    std::int64_t f64 = 0;
    std::int64_t f32 = 0;

    bool operator==(const LevelWidth&) const = default;
};

// So many levels, one after the other, have so many operations together.
struct LevelRange {
    std::int64_t levels = 0;
    std::int64_t f64 = 0;
    std::int64_t f32 = 0;

    bool operator==(const LevelRange&) const = default;
};

// Distances from `from` to `to` occurred so often.
struct DistanceCount {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t count = 0;

    bool operator==(const DistanceCount&) const = default;
};

// How many of them are below `limit`; a bucket that the limit cuts is interpolated linearly.
double below(const std::vector<DistanceCount>& counts, double limit);

// Operations as soon as what they truly depend on is done, on a machine without limits.
struct Schedule {
    // `as-written`: the program's own sums. `trees`: recognised reductions as trees.
    std::string name;
    std::int64_t depth = 0;               // D
    std::vector<LevelWidth> widths;       // by width, ascending
    std::vector<LevelRange> parallelism;  // over the depth, at most 4,096 (Figure 7)
    // By the greatest stack distance, in words of 8 bytes, of what a level's operations loaded;
    // levels without loads and with first references are in none of them.
    std::vector<DistanceCount> reach;
    std::int64_t first_reach = 0;  // levels that needed something never referenced before

    bool operator==(const Schedule&) const = default;
};

// LRU stack distances of loads and stores at one granularity (Figure 8).
struct ReuseDistances {
    std::int64_t unit_bytes = 0;  // 8: words; 64, 128: lines
    std::int64_t references = 0;
    std::int64_t first = 0;  // infinite distance: as many units were touched
    std::vector<DistanceCount> distances;

    bool operator==(const ReuseDistances&) const = default;
};

enum class LoopKind : std::uint8_t { parallel, sequential, reduction };
std::string_view to_string(LoopKind kind);

struct Loop {
    std::string name;    // "stencil.c:12", or the block's where nothing is known of lines
    std::string parent;  // empty: outermost
    LoopKind kind = LoopKind::parallel;
    std::int64_t instances = 0;
    std::int64_t iterations = 0;  // of all instances together
    std::string reason;           // the dependence that made it sequential

    bool operator==(const Loop&) const = default;
};

struct Workload {
    std::string kernel;
    std::string program;    // sources; empty: not told
    std::string arguments;  // of the run
    std::string partial;    // why only a part was counted; empty: all was
    std::string unseen;     // functions it called, what they did was not counted
    std::int64_t calls = 1;
    Operations operations;
    std::vector<Schedule> schedules;  // the first is the literal one
    std::vector<ReuseDistances> reuse;
    std::optional<std::int64_t> synchronisations;  // S; absent: not determined
    std::string synchronisations_from;             // "loops", "annotation", "--sync"
    std::vector<Loop> loops;                       // in the order of the source

    const Schedule& as_written() const { return schedules.front(); }
    const Schedule& best_schedule() const { return schedules.back(); }
    // nullptr when the file has none of this granularity.
    const ReuseDistances* reuse_of(std::int64_t unit_bytes) const;

    bool operator==(const Workload&) const = default;
};

// Throws InputError naming file, line and key.
Workload parse_workload(const std::string& text, const std::string& file_name);
Workload read_workload(const std::filesystem::path& path);
// YAML; parse_workload gives the same value back.
std::string format_workload(const Workload& workload);

}  // namespace occupipe::automatch
