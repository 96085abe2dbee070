// SPDX-License-Identifier: MIT
// The graph's edges, instance by instance, against a walk over the plain stream.
#include "extract/graph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace occupipe::extract {
namespace {

using Random = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

using File = RegisterName::File;

RegisterName r(int number) { return {File::general, number}; }

struct Program {
    std::vector<StreamInstruction> instructions;
    std::vector<CodeFacts> code;
    std::vector<FoldedItem> items;
};

std::string text(std::span<const GraphItem> items) {
    std::string result;
    for (const GraphItem& item : items) {
        if (!result.empty()) result += "; ";
        if (const auto* loop = std::get_if<GraphLoop>(&item)) {
            result += std::to_string(loop->count) + "[" + text(loop->body) + "]";
            continue;
        }
        const auto& node = std::get<GraphNode>(item);
        result += std::to_string(node.number) + ":";
        for (const GraphEdge& edge : node.after) {
            result += " " + std::to_string(edge.node);
            if (edge.iterations_back != 0) result += "@-" + std::to_string(edge.iterations_back);
        }
    }
    return result;
}

std::string graph_of(const Program& program) {
    return text(dependence_graph(program.items, program.instructions, program.code));
}

constexpr std::uint32_t all = 0xffffffff;

TEST(Graph, NamesTheIterationThatIsWaitedFor) {
    // R2 = load; 3 × R4 += R2; store R4
    Program program;
    program.code = {{.registers = {{}, {r(2)}}},
                    {.registers = {{r(2), r(4)}, {r(4)}}},
                    {.registers = {{r(4)}, {}}}};
    program.instructions = {{0, all}, {1, all}, {2, all}};
    program.items = {0U, FoldedLoop{3, {1U}}, 2U};
    EXPECT_EQ(graph_of(program), "0:; 3[1: 0 1@-1]; 2: 1");
}

TEST(Graph, LetsTheFirstIterationStandAloneWhereItWaitsForAnOuterOne) {
    // Twice: (something; 5 × R4 += …), without a new beginning of R4.
    Program program;
    program.code = {{.registers = {{}, {r(1)}}}, {.registers = {{r(4)}, {r(4)}}}};
    program.instructions = {{0, all}, {1, all}};
    program.items = {FoldedLoop{2, {0U, FoldedLoop{5, {1U}}}}};
    EXPECT_EQ(graph_of(program), "2[0:; 1: 2@-1; 4[2: 1 2@-1]]");
}

TEST(Graph, KeepsLanesApart) {
    // Half of the lanes write R2 here, half there; who reads in one half waits for one.
    Program program;
    program.code = {
        {.registers = {{}, {r(2)}}}, {.registers = {{}, {r(2)}}}, {.registers = {{r(2)}, {r(3)}}}};
    program.instructions = {{0, 0xffff}, {1, 0xffff0000}, {2, 0xffff}, {2, all}};
    program.items = {0U, 1U, 2U, 3U};
    EXPECT_EQ(graph_of(program), "0:; 1:; 2: 0; 3: 0 1");
}

TEST(Graph, BarriersAreWaitedForByWhatFollows) {
    Program program;
    program.code = {{.registers = {{}, {r(2)}}},
                    {.barrier = true},
                    {.registers = {{r(2)}, {r(3)}}},
                    {.registers = {{r(3)}, {}}}};
    program.instructions = {{0, all}, {1, all}, {2, all}, {3, all}};
    program.items = {0U, 1U, 2U, 3U, 1U, 0U};
    EXPECT_EQ(graph_of(program), "0:; 1:; 2: 0 1; 3: 2; 4: 1; 5: 4");
}

TEST(Graph, WhatABranchLeadsToWaitsForIt) {
    // 0; 1 branches to 3; 3 branches back to 0, in the end not any more; 4 is where lanes meet
    Program program;
    program.code = {{.place = 0},
                    {.place = 1, .branch = true},
                    {.place = 2},
                    {.place = 3, .branch = true},
                    {.place = 4, .branch = true, .meets = true},
                    {.place = 5}};
    program.instructions = {{0, all}, {1, all}, {2, all}, {3, all}, {4, all}, {5, all}};
    program.items = {FoldedLoop{3, {0U, 1U, 3U}}, 4U, 5U};
    EXPECT_EQ(graph_of(program), "3[0: 2@-1; 1:; 2: 1]; 3:; 4: 3");
    program.items = {1U, 2U, 3U};
    EXPECT_EQ(graph_of(program), "0:; 1:; 2:");
}

TEST(Graph, AsynchronousCopiesAreWaitedForByGroups) {
    // copy, copy, end; copy, end; wait for all but one group; wait for all
    Program program;
    program.code = {{.copies = true}, {.ends_group = true}, {.leaves = 1}, {.leaves = 0}};
    program.instructions = {{0, all}, {1, all}, {2, all}, {3, all}, {0, 0}};
    program.items = {0U, 0U, 1U, 0U, 1U, 2U, 3U, 3U};
    EXPECT_EQ(graph_of(program), "0:; 1:; 2:; 3:; 4:; 5: 0 1; 6: 3; 7:");
    // A copy in flight while the one before it is used.
    program.items = {0U, 1U, FoldedLoop{4, {0U, 1U, 2U}}};
    EXPECT_EQ(graph_of(program), "0:; 1:; 4[2:; 3:; 4: 0 2@-1]");
    // Two copies in flight: the one of two iterations before is awaited.
    program.items = {0U, 1U, 0U, 1U, FoldedLoop{9, {2U, 0U, 1U}}};
    EXPECT_EQ(graph_of(program), "0:; 1:; 2:; 3:; 9[4: 0 2 5@-2; 5:; 6:]");
    // Nobody's copy.
    program.items = {4U, 1U, 3U};
    EXPECT_EQ(graph_of(program), "0:; 1:; 2:");
}

// What waits for what, instance by instance, straight from the stream.
using Edges = std::set<std::pair<std::uint64_t, std::uint64_t>>;

Edges plain_edges(const Program& program) {
    Edges edges;
    std::map<std::pair<RegisterName, int>, std::uint64_t> writer;
    std::uint64_t time = 0;
    unfold(program.items, [&](std::uint32_t number) {
        const StreamInstruction& one = program.instructions[number];
        const RegisterUse& use = program.code[one.code].registers;
        for (int lane = 0; lane < 32; ++lane) {
            if ((one.active >> lane & 1) == 0) continue;
            for (const RegisterName& name : use.read) {
                const auto found = writer.find({name, lane});
                if (found != writer.end()) edges.insert({time, found->second});
            }
        }
        for (int lane = 0; lane < 32; ++lane) {
            if ((one.active >> lane & 1) == 0) continue;
            for (const RegisterName& name : use.written) writer[{name, lane}] = time;
        }
        ++time;
    });
    return edges;
}

// The graph's, as the kernel format defines NAME and NAME@-N.
class Replay {
public:
    Edges run(const std::vector<GraphItem>& graph) {
        place(graph);
        list(graph);
        return edges_;
    }

private:
    void place(const std::vector<GraphItem>& items) {
        for (const GraphItem& item : items) {
            if (const auto* loop = std::get_if<GraphLoop>(&item)) {
                loops_.push_back(loop);
                place(loop->body);
                loops_.pop_back();
            } else {
                done_[std::get<GraphNode>(item).number].first = loops_;
            }
        }
    }

    void list(const std::vector<GraphItem>& items) {
        for (const GraphItem& item : items) {
            if (const auto* loop = std::get_if<GraphLoop>(&item)) {
                path_.push_back({loop, 0});
                for (; path_.back().second < loop->count; ++path_.back().second) list(loop->body);
                path_.pop_back();
            } else {
                step(std::get<GraphNode>(item));
            }
        }
    }

    void step(const GraphNode& node) {
        for (const GraphEdge& edge : node.after) {
            const auto& [writer_path, instances] = done_[edge.node];
            if (edge.iterations_back == 0) {
                ASSERT_LT(edge.node, node.number);
                ASSERT_FALSE(instances.empty());
                edges_.insert({time_, instances.rbegin()->second});
                continue;
            }
            std::size_t common = 0;
            while (common < path_.size() && common < writer_path.size() &&
                   path_[common].first == writer_path[common])
                ++common;
            ASSERT_GT(common, 0U);
            std::vector<std::int64_t> key;
            for (std::size_t i = 0; i < common; ++i) key.push_back(path_[i].second);
            key.back() -= edge.iterations_back;
            if (key.back() < 0) continue;  // dropped
            // The last instance in that iteration.
            auto past = instances.upper_bound([&] {
                std::vector<std::int64_t> end = key;
                end.push_back(INT64_MAX);
                return end;
            }());
            ASSERT_NE(past, instances.begin());
            --past;
            ASSERT_TRUE(std::equal(key.begin(), key.end(), past->first.begin()));
            edges_.insert({time_, past->second});
        }
        std::vector<std::int64_t> key;
        for (const auto& [loop, iteration] : path_) key.push_back(iteration);
        done_[node.number].second[key] = time_++;
    }

    std::vector<const GraphLoop*> loops_;
    std::vector<std::pair<const GraphLoop*, std::int64_t>> path_;
    std::map<std::uint32_t, std::pair<std::vector<const GraphLoop*>,
                                      std::map<std::vector<std::int64_t>, std::uint64_t>>>
        done_;
    std::uint64_t time_ = 0;
    Edges edges_;
};

std::vector<FoldedItem> random_items(Random& random, std::uint32_t symbols, int depth) {
    std::vector<FoldedItem> items;
    for (std::uint32_t i = 1 + random() % 5; i > 0; --i) {
        if (depth > 0 && random() % 3 == 0)
            items.emplace_back(FoldedLoop{1 + static_cast<std::int64_t>(random() % 4),
                                          random_items(random, symbols, depth - 1)});
        else
            items.emplace_back(static_cast<std::uint32_t>(random() % symbols));
    }
    return items;
}

TEST(Graph, EveryDependenceOfTheStreamIsInTheGraph) {
    Random random(11);
    std::size_t edges = 0, further = 0;
    for (int round = 0; round < 1500; ++round) {
        Program program;
        const auto registers = [&](std::uint32_t most) {
            std::vector<RegisterName> names;
            for (std::uint32_t i = random() % (most + 1); i > 0; --i)
                names.push_back(r(static_cast<int>(random() % 5)));
            return names;
        };
        for (std::uint32_t i = 0; i < 6; ++i)
            program.code.push_back({.registers = {registers(2), registers(1)}});
        constexpr std::uint32_t masks[] = {all, all, all, 0xffff, 0xffff0000, 0};
        for (std::uint32_t i = 0; i < 8; ++i)
            program.instructions.push_back(
                {static_cast<std::uint32_t>(random() % 6), masks[random() % 6]});
        program.items = random_items(random, 8, 3);
        const Edges expected = plain_edges(program);
        const auto graph = dependence_graph(program.items, program.instructions, program.code);
        const Edges found = Replay().run(graph);
        if (HasFatalFailure()) return;
        for (const auto& edge : expected)
            ASSERT_TRUE(found.contains(edge))
                << round << ": " << edge.first << " after " << edge.second << " in " << text(graph);
        edges += expected.size();
        further += found.size() - expected.size();
    }
    EXPECT_GT(edges, 20'000U);
    // A graph cannot drop an edge after a loop's first iteration, so there are some that the stream
    // does not have; they point to what an earlier iteration has waited for.
    EXPECT_LT(further, edges);
    RecordProperty("edges", static_cast<int>(edges));
    RecordProperty("further", static_cast<int>(further));
}

}  // namespace
}  // namespace occupipe::extract
