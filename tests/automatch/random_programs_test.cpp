// SPDX-License-Identifier: MIT
// Random nests of loops over one array, counted by the instrumented program and by a plain
// interpreter of the same nest that shares nothing with it: levels, widths, stack distances of
// words and lines, which loops carry dependences, synchronisations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <list>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "automatch/program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::automatch {
namespace {

constexpr int words = 256;

// Word (by[0] i0 + by[1] i1 + by[2] i2 + offset) mod 256 of the array.
struct Access {
    int by[3] = {};
    int offset = 0;
    int site = 0;
};
struct Node {
    int loop = -1;  // its number; -1: a statement
    int trips = 0;
    std::vector<Node> body;
    // store = (loads[0] first loads[1]) second loads[2] …, or sqrt(loads[0])
    Access store;
    std::vector<Access> loads;
    std::string operators;  // one fewer than loads; "r": a square root; none: a copy
};

class Generator {
public:
    explicit Generator(unsigned seed) : random_(seed) {}

    std::vector<Node> nest(int depth) {
        std::vector<Node> nodes;
        const int count = 1 + below(3);
        for (int i = 0; i < count; ++i) {
            if (depth < 3 && below(3) != 0) {
                Node loop;
                loop.loop = loops_++;
                loop.trips = 1 + below(5);
                loop.body = nest(depth + 1);
                nodes.push_back(std::move(loop));
            } else {
                nodes.push_back(statement(depth));
            }
        }
        return nodes;
    }

private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    Access access(int depth) {
        Access a;
        constexpr int steps[] = {0, 1, 1, 2, 8, 16};
        for (int d = 0; d < depth; ++d) a.by[d] = steps[below(6)];
        a.offset = below(4) * 64 + below(3);
        a.site = sites_++;
        return a;
    }
    Node statement(int depth) {
        Node node;
        if (below(6) == 0) {
            node.operators = "r";
        } else {
            const int operations = below(3);
            for (int i = 0; i < operations; ++i) node.operators += "+-*/"[below(4)];
        }
        const std::size_t loads = node.operators == "r" ? 1 : node.operators.size() + 1;
        for (std::size_t i = 0; i < loads; ++i) node.loads.push_back(access(depth));
        node.store = access(depth);
        return node;
    }

    std::mt19937 random_;
    int loops_ = 0;
    int sites_ = 0;
};

std::string text_of(const Access& a) {
    std::string sum = std::to_string(a.offset);
    for (int d = 0; d < 3; ++d)
        if (a.by[d] != 0) sum += " + " + std::to_string(a.by[d]) + " * i" + std::to_string(d);
    return "m[(" + sum + ") % 256]";
}
std::string text_of(const std::vector<Node>& nodes, int depth) {
    std::string text;
    for (const Node& node : nodes) {
        if (node.loop >= 0) {
            const std::string i = "i" + std::to_string(depth);
            text += "for (int " + i + " = 0; " + i + " < t" + std::to_string(node.loop) + "; ++" +
                    i + ") {\n" + text_of(node.body, depth + 1) + "}\n";
            continue;
        }
        std::string value = text_of(node.loads[0]);
        if (node.operators == "r")
            value = "sqrt(" + value + ")";
        else
            for (std::size_t n = 0; n < node.operators.size(); ++n)
                value =
                    "(" + value + " " + node.operators[n] + " " + text_of(node.loads[n + 1]) + ")";
        text += text_of(node.store) + " = " + value + ";\n";
    }
    return text;
}
void trips_of(const std::vector<Node>& nodes, std::vector<int>& trips) {
    for (const Node& node : nodes)
        if (node.loop >= 0) {
            trips.push_back(node.trips);
            trips_of(node.body, trips);
        }
}

struct Stack {
    std::list<std::int64_t> units;
    std::map<std::int64_t, std::int64_t> distances;
    std::int64_t first = 0;
    std::int64_t references = 0;

    void touch(std::int64_t unit) {
        ++references;
        std::int64_t distance = 0;
        auto at = units.begin();
        for (; at != units.end() && *at != unit; ++at) ++distance;
        if (at == units.end()) {
            ++first;
        } else {
            ++distances[distance];
            units.erase(at);
        }
        units.push_front(unit);
    }
};

class Interpreter {
public:
    void run(const std::vector<Node>& nodes) {
        for (const Node& node : nodes) {
            if (node.loop < 0) {
                execute(node);
                continue;
            }
            Count& count = loops[node.loop];
            count.parent = path_.empty() ? -1 : path_.back().loop;
            ++count.instances;
            path_.push_back({node.loop, ++instances_, 0});
            for (int i = 0; i < node.trips; ++i) {
                path_.back().iteration = i;
                ++count.iterations;
                run(node.body);
            }
            path_.pop_back();
        }
    }
    std::int64_t synchronisations() const {
        std::int64_t sum = 0;
        for (const auto& [number, loop] : loops) {
            if (!loop.carries || !parallel_inside(number)) continue;
            bool alone = false;
            for (int up = loop.parent; up >= 0; up = loops.at(up).parent)
                alone = alone || !loops.at(up).carries;
            if (!alone) sum += loop.iterations - loop.instances;
        }
        return sum;
    }

    struct Count {
        int parent = -1;
        std::int64_t instances = 0;
        std::int64_t iterations = 0;
        bool carries = false;
    };
    std::map<int, Count> loops;
    std::map<std::int64_t, std::int64_t> widths;  // by level
    Stack by8;
    Stack by64;
    Stack by128;
    std::map<char, std::int64_t> operations;

private:
    struct Step {
        int loop;
        int instance;
        int iteration;
    };
    bool parallel_inside(int number) const {
        for (const auto& [other, loop] : loops) {
            if (loop.carries) continue;
            for (int up = loop.parent; up >= 0; up = loops.at(up).parent)
                if (up == number) return true;
        }
        return false;
    }
    int refer(const Access& a) {
        int word = a.offset;
        for (std::size_t d = 0; d < path_.size(); ++d) word += a.by[d] * path_[d].iteration;
        word %= words;
        by8.touch(word);
        if (!lines64_.contains(a.site) || lines64_[a.site] != word / 8) by64.touch(word / 8);
        if (!lines128_.contains(a.site) || lines128_[a.site] != word / 16) by128.touch(word / 16);
        lines64_[a.site] = word / 8;
        lines128_[a.site] = word / 16;
        return word;
    }
    std::int64_t load(const Access& a) {
        const int word = refer(a);
        const auto stored = paths_.find(word);
        if (stored == paths_.end()) return 0;
        for (std::size_t d = 0; d < std::min(path_.size(), stored->second.size()); ++d) {
            if (path_[d].instance != stored->second[d].instance) break;
            if (path_[d].iteration == stored->second[d].iteration) continue;
            loops[path_[d].loop].carries = true;
            break;
        }
        return levels_[word];
    }
    void execute(const Node& node) {
        std::vector<std::int64_t> ready;
        for (const Access& a : node.loads) ready.push_back(load(a));
        std::int64_t level = ready[0];
        for (std::size_t n = 0; n < node.operators.size(); ++n) {
            if (node.operators != "r") level = std::max(level, ready[n + 1]);
            ++widths[++level];
            ++operations[node.operators[n]];
        }
        const int word = refer(node.store);
        levels_[word] = level;
        paths_[word] = path_;
    }

    std::vector<Step> path_;
    int instances_ = 0;
    std::map<int, std::int64_t> levels_;
    std::map<int, std::vector<Step>> paths_;
    std::map<int, int> lines64_;
    std::map<int, int> lines128_;
};

TEST(RandomPrograms, AreCountedAsAPlainInterpreterCountsThem) {
    if (!OCCUPIPE_MATCH_INSTRUMENTS) GTEST_SKIP() << "LLVM 19 was not there when this was built";
    const test::TemporaryFolder folder;
    int with_synchronisations = 0;
    const unsigned programs = std::getenv("OCCUPIPE_FULL") != nullptr ? 100 : 3;
    for (unsigned seed = 1; seed <= programs; ++seed) {
        Generator generator(seed);
        std::vector<Node> nodes;
        for (int part = 0; part < 2; ++part)
            std::ranges::copy(generator.nest(0), std::back_inserter(nodes));
        std::vector<int> trips;
        trips_of(nodes, trips);
        // Bounds come as arguments: they are no references, and no compiler knows them.
        std::string parameters;
        std::string arguments;
        for (std::size_t i = 0; i < trips.size(); ++i) {
            parameters += ", int t" + std::to_string(i);
            arguments += ", " + std::to_string(trips[i]) + " * one";
        }
        const auto path = folder.path / "random.c";
        const std::string source =
            "#include <math.h>\nvoid kernel(volatile double* m" + parameters + ") {\n" +
            text_of(nodes, 0) +
            "}\n_Alignas(128) double m[256];\nint main(int one, char** argv) { kernel(m" +
            arguments + "); }\n";
        std::ofstream(path) << source;
        ProgramRun run;
        run.sources = {path};
        run.kernel = "kernel";
        const Workload w = analyse_program(run, {});
        // In another way, which has to come to the same; in full for all.
        run.distances = false;
        const Workload alone = analyse_program(run, {});
        Interpreter plain;
        plain.run(nodes);
        SCOPED_TRACE(source);

        EXPECT_EQ(alone.as_written().widths, w.as_written().widths);
        EXPECT_EQ(alone.operations, w.operations);
        EXPECT_EQ(alone.loops, w.loops);
        EXPECT_EQ(alone.synchronisations, w.synchronisations);
        EXPECT_EQ(alone.schedules.size(), w.schedules.size());
        EXPECT_EQ(alone.schedules.back().widths, w.schedules.back().widths);
        const Operations& o = w.operations;
        EXPECT_EQ(o.additions, plain.operations['+'] + plain.operations['-']);
        EXPECT_EQ(o.multiplications, plain.operations['*']);
        EXPECT_EQ(o.divisions, plain.operations['/']);
        EXPECT_EQ(o.square_roots, plain.operations['r']);
        std::map<std::int64_t, std::int64_t> widths;
        for (const auto& [level, count] : plain.widths) ++widths[count];
        std::map<std::int64_t, std::int64_t> found;
        for (const LevelWidth& width : w.as_written().widths) found[width.f64] += width.levels;
        EXPECT_EQ(found, widths);
        ASSERT_EQ(w.loops.size(), plain.loops.size());
        for (std::size_t i = 0; i < w.loops.size(); ++i) {
            const auto& loop = plain.loops.at(static_cast<int>(i));
            EXPECT_EQ(w.loops[i].kind == LoopKind::sequential, loop.carries)
                << w.loops[i].name << ": " << w.loops[i].reason;
            EXPECT_EQ(w.loops[i].instances, loop.instances);
            EXPECT_EQ(w.loops[i].iterations, loop.iterations);
        }
        EXPECT_EQ(w.synchronisations, plain.synchronisations());
        with_synchronisations += plain.synchronisations() > 0 ? 1 : 0;
        const std::pair<int, const Stack*> stacks[] = {
            {8, &plain.by8}, {64, &plain.by64}, {128, &plain.by128}};
        for (const auto& [unit, stack] : stacks) {
            const ReuseDistances& reuse = *w.reuse_of(unit);
            EXPECT_EQ(reuse.references, stack->references) << unit;
            EXPECT_EQ(reuse.first, stack->first) << unit;
            std::map<std::int64_t, std::int64_t> distances;
            for (const DistanceCount& one : reuse.distances) distances[one.from] = one.count;
            EXPECT_EQ(distances, stack->distances) << unit;
        }
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(with_synchronisations, 0);
}

// ---- choices by comparisons
// -----------------------------------------------------------------------------------------------

// Loops that keep values of an array by random conditions on those kept so far. One that is called
// a reduction has to be one: of each part of the array at most two elements tell what the whole
// part does to whatever was kept before.
struct Kept {
    int low;
    int high;
    int at;
    bool operator==(const Kept&) const = default;
};
struct Element {
    int value;
    int key;
};
struct Comparison {
    char of;  // low, high, at
    int relation;
    static constexpr const char* texts[] = {"<", "<=", ">", ">=", "==", "!="};

    bool holds(const Kept& kept, const Element& e) const {
        const int a = of == 'a' ? e.key : e.value;
        const int b = of == 'l' ? kept.low : of == 'h' ? kept.high : kept.at;
        const bool all[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};
        return all[relation];
    }
    std::string text() const {
        return std::string(of == 'a' ? "k[i] " : "v[i] ") + texts[relation] +
               (of == 'l'   ? " low"
                : of == 'h' ? " high"
                            : " at");
    }
};
// if (a || (b && c)) { … }, or the first alone, or the last two.
struct Branch {
    std::vector<Comparison> all;
    std::string chosen;

    bool holds(const Kept& kept, const Element& e) const {
        const auto is = [&](std::size_t n) { return all[n].holds(kept, e); };
        if (all.size() == 1) return is(0);
        if (all.size() == 2) return is(0) && is(1);
        return is(0) || (is(1) && is(2));
    }
    std::string text() const {
        std::string condition = all[0].text();
        if (all.size() == 2) condition += " && " + all[1].text();
        if (all.size() == 3) condition += " || (" + all[1].text() + " && " + all[2].text() + ")";
        std::string body;
        for (const char one : chosen)
            body += one == 'l' ? " low = v[i];" : one == 'h' ? " high = v[i];" : " at = k[i];";
        return "if (" + condition + ") {" + body + " }";
    }
};
struct Choosing {
    bool begins_with_first = false;
    std::vector<Branch> branches;

    Kept begin(const Element& first) const {
        if (begins_with_first) return {first.value, first.value, first.key};
        return {9, -9, 9};
    }
    Kept step(Kept kept, const Element& e) const {
        for (const Branch& branch : branches) {
            if (!branch.holds(kept, e)) continue;
            for (const char one : branch.chosen)
                (one == 'l'   ? kept.low
                 : one == 'h' ? kept.high
                              : kept.at) = one == 'a' ? e.key : e.value;
            break;
        }
        return kept;
    }
    std::string text() const {
        std::string body = branches[0].text();
        if (branches.size() > 1) body += " else " + branches[1].text();
        return std::string("{ int low = ") +
               (begins_with_first ? "v[0], high = v[0], at = k[0]" : "9, high = -9, at = 9") +
               "; for (int i = 1; i < n; ++i) { " + body + " } all += low + 3 * high + 7 * at; }";
    }
};

Choosing random_choosing(std::mt19937& random) {
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    Choosing choosing{.begins_with_first = below(2) == 0, .branches = {}};
    const char* const kinds[] = {"l", "la", "h", "ha", "lh", "l"};
    for (unsigned n = 1 + below(2); n > 0; --n) {
        Branch branch;
        branch.chosen = kinds[below(6)];
        for (unsigned k = 1 + below(3); k > 0; --k)
            branch.all.push_back({"lhal"[below(4)], static_cast<int>(below(6))});
        // Half of them of a likely form.
        if (below(2) == 0) {
            const int less = branch.chosen[0] == 'l' ? 0 : 2;
            branch.all[0] = {branch.chosen[0], less};
            if (branch.all.size() == 2) branch.all.pop_back();
            if (branch.all.size() == 3) {
                branch.all[1] = {branch.chosen[0], 4};
                branch.all[2] = {'a', static_cast<int>(below(4))};
            }
        }
        choosing.branches.push_back(branch);
    }
    return choosing;
}

// A part of which no two elements stand for all, whatever was kept before; empty: none was found.
std::vector<Element> part_that_is_needed_whole(const Choosing& choosing, std::mt19937& random) {
    const auto some = [&](std::size_t least, std::size_t most) {
        std::vector<Element> all(least + random() % (most - least + 1));
        for (Element& e : all) e = {static_cast<int>(random() % 5), static_cast<int>(random() % 5)};
        return all;
    };
    for (int trial = 0; trial < 80; ++trial) {
        const std::vector<Element> part = some(3, 6);
        const Element first = some(1, 1)[0];
        std::vector<Kept> before;
        for (int n = 0; n < 40; ++n) {
            std::vector<Element> earlier = some(1, 5);
            earlier[0] = first;
            Kept kept = choosing.begin(first);
            for (const Element& e : earlier) kept = choosing.step(kept, e);
            before.push_back(n == 0 && !choosing.begins_with_first ? choosing.begin(first) : kept);
        }
        const auto stand_for_all = [&](std::size_t one, std::size_t other) {
            return std::ranges::all_of(before, [&](Kept kept) {
                Kept whole = kept;
                for (const Element& e : part) whole = choosing.step(whole, e);
                kept = choosing.step(kept, part[one]);
                return (one == other ? kept : choosing.step(kept, part[other])) == whole;
            });
        };
        bool found = false;
        for (std::size_t one = 0; one < part.size(); ++one)
            for (std::size_t other = one; other < part.size(); ++other)
                found = found || stand_for_all(one, other);
        if (!found) return part;
    }
    return {};
}

TEST(RandomPrograms, WhatIsCalledAReductionIsOne) {
    if (!OCCUPIPE_MATCH_INSTRUMENTS) GTEST_SKIP() << "LLVM 19 was not there when this was built";
    const test::TemporaryFolder folder;
    std::mt19937 random(5);
    int reductions = 0;
    int ranked = 0;
    const int kernels = std::getenv("OCCUPIPE_FULL") != nullptr ? 6 : 1;
    for (int kernel = 0; kernel < kernels; ++kernel) {
        std::vector<Choosing> all;
        std::string text = "int kernel(int n, const int* v, const int* k) { int all = 0;\n";
        for (int n = 0; n < 60; ++n) {
            all.push_back(random_choosing(random));
            text += all.back().text() + "\n";
        }
        const auto path = folder.path / "choices.c";
        std::ofstream(path) << text
                            << "return all; }\nint main() { int v[30], k[30];"
                               " for (int i = 0; i < 30; ++i) { v[i] = i * 7 % 11; k[i] = i; }"
                               " volatile int end = kernel(30, v, k); }\n";
        ProgramRun run;
        run.sources = {path};
        run.kernel = "kernel";
        const Workload w = analyse_program(run, {});
        ASSERT_EQ(w.loops.size(), all.size());
        for (std::size_t n = 0; n < all.size(); ++n) {
            if (w.loops[n].kind == LoopKind::sequential) continue;
            ++reductions;
            ranked += all[n].branches.size() > 1 || all[n].branches[0].all.size() > 1 ? 1 : 0;
            EXPECT_TRUE(part_that_is_needed_whole(all[n], random).empty())
                << all[n].text() << ": " << w.loops[n].reason;
        }
    }
    EXPECT_GT(reductions, 10 * kernels);
    EXPECT_GT(ranked, 3 * kernels);
}

}  // namespace
}  // namespace occupipe::automatch
