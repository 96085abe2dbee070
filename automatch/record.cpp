// SPDX-License-Identifier: MIT
#include "automatch/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "core/error.h"

namespace occupipe::automatch {
namespace {

// Lines of words, the first of which says what the line is.
class Lines {
public:
    Lines(const std::string& text, std::string name, const std::string& title)
        : text_(text), name_(std::move(name)) {
        std::string line;
        if (!std::getline(text_, line) || line != title) fail("does not begin with " + title);
    }
    bool next() {
        std::string line;
        if (!std::getline(text_, line)) fail("is cut off");
        ++number_;
        words_ = std::istringstream(line);
        words_ >> key_;
        return key_ != "end";
    }
    const std::string& key() const { return key_; }
    std::int64_t integer() {
        std::int64_t value = 0;
        if (!(words_ >> value)) fail("has too few numbers");
        return value;
    }
    // A number of something that was told before.
    std::size_t index(std::size_t count) {
        const std::int64_t value = integer();
        if (value < 0 || static_cast<std::size_t>(value) >= count)
            fail("names something that there is not");
        return static_cast<std::size_t>(value);
    }
    std::string rest() {
        std::string text;
        std::getline(words_ >> std::ws, text);
        return text;
    }
    [[noreturn]] void fail(const std::string& reason) const {
        throw InputError(name_, {number_, 0}, {}, reason);
    }

private:
    std::istringstream text_;
    std::string name_;
    int number_ = 1;
    std::istringstream words_;
    std::string key_;
};

struct Block {
    std::int64_t loop = -1;
    Operations once;
};
struct LoopFacts {
    std::int64_t parent = -1;
    std::string place;  // "12:5"
    std::string name;
    bool innermost = false;
    std::string carried;
    std::string reduction;
    std::int64_t instances = 0;
    std::int64_t iterations = 0;
    std::optional<std::pair<std::size_t, std::size_t>> carries;  // sites: load, store
    std::set<std::size_t> folds;                                 // sums into memory
    std::map<std::size_t, std::size_t> reads;  // sums within an iteration, by which load
};
struct Facts {
    std::string kernel;
    std::map<std::size_t, Block> blocks;
    std::vector<std::string> sites;
    std::vector<LoopFacts> loops;
    std::vector<std::size_t> sums;    // into memory: the site of its store
    std::vector<std::size_t> linked;  // the first of those that go on with each other's
    std::vector<std::string> unseen;

    // As the run counts them, from 1 on.
    std::size_t sum(Lines& lines) const {
        const std::size_t number = lines.index(sums.size() + 1);
        if (number == 0) lines.fail("names something that there is not");
        return number - 1;
    }
};

Facts facts_of(const RecordTexts& record) {
    Facts facts;
    Lines lines(record.facts, record.facts_name, "occupipe-match-facts 1");
    while (lines.next()) {
        const std::string& key = lines.key();
        if (key == "kernel") {
            facts.kernel = lines.rest();
        } else if (key == "block") {
            const std::int64_t number = lines.integer();
            Block block{.loop = lines.integer(), .once = {}};
            Operations& o = block.once;
            for (std::int64_t* const count :
                 {&o.additions, &o.multiplications, &o.divisions, &o.square_roots, &o.functions,
                  &o.single_precision, &o.fused_pairs})
                *count = lines.integer();
            o.total = o.additions + o.multiplications + o.divisions + o.square_roots + o.functions;
            facts.blocks[static_cast<std::size_t>(number)] = block;
        } else if (key == "site") {
            lines.integer();
            facts.sites.push_back(lines.rest());
        } else if (key == "loop") {
            lines.integer();
            LoopFacts loop;
            loop.parent = lines.integer();
            const std::int64_t line = lines.integer();
            const std::int64_t column = lines.integer();
            loop.innermost = lines.integer() != 0;
            loop.name = fmt::format("{}:{}", lines.rest(), column);  // file and line stand there
            loop.place = line > 0 ? loop.name : "";
            facts.loops.push_back(std::move(loop));
        } else if (key == "carried") {
            LoopFacts& loop = facts.loops[lines.index(facts.loops.size())];
            loop.carried = lines.rest();
        } else if (key == "reduction") {
            LoopFacts& loop = facts.loops[lines.index(facts.loops.size())];
            loop.reduction = lines.rest();
        } else if (key == "sum") {
            facts.linked.push_back(facts.sums.size());
            facts.sums.push_back(lines.index(facts.sites.size()));
        } else if (key == "unseen") {
            facts.unseen.push_back(lines.rest());
        } else {
            lines.fail(fmt::format("unknown word '{}'", key));
        }
    }
    return facts;
}

void add_times(Operations& sum, const Operations& once, std::int64_t times) {
    for (const auto member :
         {&Operations::total, &Operations::single_precision, &Operations::additions,
          &Operations::multiplications, &Operations::divisions, &Operations::square_roots,
          &Operations::functions, &Operations::fused_pairs})
        sum.*member += once.*member * times;
}

template <class T>
std::vector<T> take(const std::string& bytes, std::size_t& at, std::size_t count,
                    const std::string& name) {
    if ((bytes.size() - at) / sizeof(T) < count)
        throw InputError(fmt::format("{}.levels: is cut off", name));
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), bytes.data() + at, count * sizeof(T));
    at += count * sizeof(T);
    return values;
}

// Exact up to 4,096, then by a sixteenth of an octave.
std::pair<std::int64_t, std::int64_t> bucket_of(std::int64_t distance) {
    constexpr std::int64_t exact = 4096;
    if (distance <= exact) return {distance, distance};
    const int shift = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(distance))) - 5;
    const std::int64_t low = std::max(exact + 1, distance >> shift << shift);
    return {low, (((distance >> shift) + 1) << shift) - 1};
}

// Schedules stand one after the other in `levels`, the next one at `at`.
Schedule schedule_of(const char* schedule_name, const std::string& levels, std::size_t& at,
                     std::int64_t depth, const std::string& name) {
    constexpr std::int64_t most_ranges = 4096;
    constexpr std::uint32_t first_reference = ~std::uint32_t{0};
    Schedule schedule{.name = schedule_name, .depth = depth};
    const auto count = static_cast<std::size_t>(depth);
    const auto f64 = take<std::int64_t>(levels, at, count, name);
    const auto f32 = take<std::int64_t>(levels, at, count, name);
    const auto reach = take<std::uint32_t>(levels, at, count, name);
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> widths;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> reached;
    const std::int64_t part = std::max<std::int64_t>(1, (depth + most_ranges - 1) / most_ranges);
    for (std::size_t i = 0; i < count; ++i) {
        ++widths[{f64[i], f32[i]}];
        if (i % static_cast<std::size_t>(part) == 0) schedule.parallelism.emplace_back();
        LevelRange& range = schedule.parallelism.back();
        ++range.levels;
        range.f64 += f64[i];
        range.f32 += f32[i];
        if (reach[i] == first_reference)
            ++schedule.first_reach;
        else if (reach[i] > 0)
            ++reached[bucket_of(static_cast<std::int64_t>(reach[i]) - 1)];
    }
    for (const auto& [width, number] : widths)
        schedule.widths.push_back({number, width.first, width.second});
    for (const auto& [bucket, number] : reached)
        schedule.reach.push_back({bucket.first, bucket.second, number});
    return schedule;
}

LoopKind kind_of(const LoopFacts& loop, const Facts& facts, std::string& reason) {
    if (loop.carries) {
        reason = fmt::format("{} reads what {} left in an earlier iteration",
                             facts.sites[loop.carries->first], facts.sites[loop.carries->second]);
        return LoopKind::sequential;
    }
    if (!loop.carried.empty()) {
        reason = loop.carried;
        return LoopKind::sequential;
    }
    for (const auto& [sum, load] : loop.reads) {
        const bool same = std::ranges::any_of(loop.folds, [&](std::size_t folded) {
            return facts.linked[folded] == facts.linked[sum];
        });
        if (!same) continue;
        reason = fmt::format("{} reads what {} sums up over the iterations", facts.sites[load],
                             facts.sites[facts.sums[sum]]);
        return LoopKind::sequential;
    }
    if (!loop.folds.empty()) {
        reason = "into memory: " + facts.sites[facts.sums[*loop.folds.begin()]];
        return LoopKind::reduction;
    }
    if (loop.reduction.empty()) return LoopKind::parallel;
    reason = loop.reduction;
    return LoopKind::reduction;
}

// A program that was ended in the midst of a block counted that block whole and its operations in
// part: what the levels have is what was done, to the operation; of which kind the last few were
// is not known.
void agree(Workload& workload) {
    Operations& o = workload.operations;
    const auto done = [](const Schedule& schedule) {
        std::pair<std::int64_t, std::int64_t> sum;
        for (const LevelWidth& width : schedule.widths) {
            sum.first += width.levels * width.f64;
            sum.second += width.levels * width.f32;
        }
        return sum;
    };
    const auto written = done(workload.as_written());
    const std::int64_t f64 = written.first;
    const std::int64_t f32 = written.second;
    while (o.total != f64 + f32) {
        const auto most =
            std::max({&Operations::additions, &Operations::multiplications, &Operations::divisions,
                      &Operations::square_roots, &Operations::functions},
                     [&](auto one, auto other) { return o.*one < o.*other; });
        const std::int64_t change = std::max(f64 + f32 - o.total, -(o.*most));
        o.*most += change;
        o.total += change;
    }
    o.single_precision = f32;
    o.vectorisable = std::min(o.vectorisable, o.total);
    o.fused_pairs = std::min({o.fused_pairs, o.additions, o.multiplications});
    std::erase_if(workload.schedules, [&](const Schedule& schedule) {
        return done(schedule) != std::pair{f64, f32};
    });
    for (ReuseDistances& reuse : workload.reuse) {
        reuse.references = reuse.first;
        for (const DistanceCount& one : reuse.distances) reuse.references += one.count;
    }
}

}  // namespace

Workload workload_of(const RecordTexts& record) {
    Facts facts = facts_of(record);
    Workload workload;
    workload.kernel = facts.kernel;
    std::map<std::size_t, std::int64_t> executed;
    std::int64_t depth = 0;
    std::optional<std::int64_t> tree_depth;
    std::int64_t calls_that_read = 0;
    std::int64_t annotated = 0;
    Lines lines(record.counts, record.counts_name, "occupipe-match-record 1");
    while (lines.next()) {
        const std::string& key = lines.key();
        if (key == "partial") {
            workload.partial = lines.rest();
        } else if (key == "calls") {
            workload.calls = lines.integer();
            calls_that_read = lines.integer();
        } else if (key == "block") {
            const std::int64_t number = lines.integer();
            executed[static_cast<std::size_t>(number)] = lines.integer();
        } else if (key == "nanoseconds") {
            lines.integer();  // of the analysis, not of the program: automatch/program.cpp tells it
        } else if (key == "loop") {
            LoopFacts& loop = facts.loops[lines.index(facts.loops.size())];
            loop.instances = lines.integer();
            loop.iterations = lines.integer();
        } else if (key == "carries") {
            LoopFacts& loop = facts.loops[lines.index(facts.loops.size())];
            const std::size_t load = lines.index(facts.sites.size());
            loop.carries = {load, lines.index(facts.sites.size())};
        } else if (key == "folds") {
            LoopFacts& loop = facts.loops[lines.index(facts.loops.size())];
            loop.folds.insert(facts.sum(lines));
        } else if (key == "reads") {
            const std::size_t loop = lines.index(facts.loops.size());
            const std::size_t sum = facts.sum(lines);
            const std::size_t load = lines.index(facts.sites.size());
            // Within an iteration of this loop is within one of each around it.
            for (auto at = static_cast<std::int64_t>(loop); at >= 0;
                 at = facts.loops[static_cast<std::size_t>(at)].parent)
                facts.loops[static_cast<std::size_t>(at)].reads.insert({sum, load});
        } else if (key == "linked") {
            const std::size_t one = facts.linked[facts.sum(lines)];
            const std::size_t other = facts.linked[facts.sum(lines)];
            std::ranges::replace(facts.linked, other, one);
        } else if (key == "depth") {
            depth = lines.integer();
            if (depth < 0) lines.fail("is negative");
        } else if (key == "trees") {
            tree_depth = lines.integer();
            if (*tree_depth < 0) lines.fail("is negative");
        } else if (key == "synchronisations") {
            annotated = lines.integer();
        } else if (key == "reuse") {
            ReuseDistances reuse{.unit_bytes = lines.integer()};
            reuse.references = lines.integer();
            reuse.first = lines.integer();
            workload.reuse.push_back(std::move(reuse));
        } else if (key == "distance") {
            if (workload.reuse.empty()) lines.fail("stands before its granularity");
            DistanceCount count{.from = lines.integer()};
            count.to = lines.integer();
            count.count = lines.integer();
            workload.reuse.back().distances.push_back(count);
        } else {
            lines.fail(fmt::format("unknown word '{}'", key));
        }
    }

    std::vector<bool> parallel_inside(facts.loops.size(), false);
    std::int64_t synchronisations = calls_that_read;
    for (const LoopFacts& loop : facts.loops) {
        Loop told{.name = loop.name, .instances = loop.instances, .iterations = loop.iterations};
        if (loop.parent >= 0) told.parent = facts.loops[static_cast<std::size_t>(loop.parent)].name;
        told.kind = kind_of(loop, facts, told.reason);
        workload.loops.push_back(std::move(told));
    }
    for (std::size_t i = 0; i < facts.loops.size(); ++i) {
        if (workload.loops[i].kind == LoopKind::sequential || facts.loops[i].iterations == 0)
            continue;
        for (std::int64_t up = facts.loops[i].parent; up >= 0;
             up = facts.loops[static_cast<std::size_t>(up)].parent)
            parallel_inside[static_cast<std::size_t>(up)] = true;
    }
    for (std::size_t i = 0; i < facts.loops.size(); ++i) {
        if (workload.loops[i].kind != LoopKind::sequential || !parallel_inside[i]) continue;
        // Within an iteration of a parallel loop, one processor does it alone.
        bool alone = false;
        for (std::int64_t up = facts.loops[i].parent; up >= 0 && !alone;
             up = facts.loops[static_cast<std::size_t>(up)].parent)
            alone = workload.loops[static_cast<std::size_t>(up)].kind != LoopKind::sequential;
        if (!alone) synchronisations += facts.loops[i].iterations - facts.loops[i].instances;
    }
    workload.synchronisations = record.synchronisations_annotated ? annotated : synchronisations;
    workload.synchronisations_from = record.synchronisations_annotated ? "annotation" : "loops";

    for (const auto& [number, times] : executed) {
        const auto block = facts.blocks.find(number);
        if (block == facts.blocks.end()) continue;
        add_times(workload.operations, block->second.once, times);
        if (block->second.loop < 0) continue;
        const auto loop = static_cast<std::size_t>(block->second.loop);
        if (facts.loops[loop].innermost && record.vectorised.contains(facts.loops[loop].place) &&
            workload.loops[loop].kind != LoopKind::sequential)
            workload.operations.vectorisable += block->second.once.total * times;
    }
    std::size_t at = 0;
    workload.schedules = {schedule_of(record.order_memory ? "memory-order" : "as-written",
                                      record.levels, at, depth, record.counts_name)};
    if (tree_depth)
        workload.schedules.push_back(
            schedule_of("trees", record.levels, at, *tree_depth, record.counts_name));
    if (!workload.partial.empty()) agree(workload);
    if (!facts.unseen.empty()) workload.unseen = fmt::format("{}", fmt::join(facts.unseen, ", "));
    return workload;
}

std::set<std::string> vectorised_loops(const std::string& remarks) {
    std::set<std::string> found;
    std::istringstream lines(remarks);
    bool passed = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("--- ")) passed = line.starts_with("--- !Passed");
        if (!passed || !line.starts_with("DebugLoc:")) continue;
        for (std::string more; line.find('}') == std::string::npos && std::getline(lines, more);)
            line += more;  // long paths are broken into several lines
        const auto after = [&](const std::string& key) {
            const std::size_t at = line.find(key);
            if (at == std::string::npos) return std::string();
            const std::size_t begin = at + key.size();
            return line.substr(begin, line.find_first_of(",}", begin) - begin);
        };
        std::string file = after("File: ");
        std::erase(file, '\'');
        file = file.substr(file.find_last_of('/') + 1);
        const auto trimmed = [](std::string text) {
            std::erase(text, ' ');
            return text;
        };
        found.insert(fmt::format("{}:{}:{}", trimmed(file), trimmed(after("Line: ")),
                                 trimmed(after("Column: "))));
    }
    return found;
}

}  // namespace occupipe::automatch
