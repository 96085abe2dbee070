// SPDX-License-Identifier: MIT
#include "automatch/workload.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "automatch/record.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::automatch {
namespace {

constexpr const char* file = R"(format: occupipe-workload/1
kernel: figure_5
operations: {total: 12, additions: 8, multiplications: 4, fused_pairs: 3, vectorisable: 6}
schedules:
  - name: as-written
    depth: 3
    widths:
      - {levels: 2, f64: 1}
      - {levels: 1, f64: 10}
reuse:
  - unit_bytes: 8
    references: 10
    first: 6
    distances:
      - {from: 0, to: 0, count: 1}
      - {from: 1, to: 1, count: 1}
      - {from: 2, to: 2, count: 1}
      - {from: 4, to: 4, count: 1}
synchronisations: 5
loops:
  - {name: "a.c:3", kind: sequential, instances: 1, iterations: 6, reason: "a.c:5 reads what a.c:6 stored"}
  - {name: "a.c:4", parent: "a.c:3", kind: parallel, instances: 6, iterations: 60}
)";

TEST(Workload, IsReadAndWritten) {
    const Workload w = parse_workload(file, "w.yaml");
    EXPECT_EQ(w.operations.additions, 8);
    EXPECT_EQ(w.reuse_of(8)->distances.size(), 4u);
    EXPECT_EQ(w.reuse_of(64), nullptr);
    EXPECT_EQ(w.loops[1].parent, "a.c:3");
    EXPECT_EQ(w.calls, 1);
    EXPECT_EQ(parse_workload(format_workload(w), "again.yaml"), w);
}

TEST(Workload, TheExampleOfTheDocumentIsOne) {
    const std::string text = read_text_file(std::filesystem::path(OCCUPIPE_SOURCE_DIR) /
                                            "docs/reference/file-formats/workload.md");
    const std::string fence = "```yaml\n";
    const std::size_t at = text.find(fence + "format: occupipe-workload/1");
    ASSERT_NE(at, std::string::npos);
    const std::size_t begin = at + fence.size();
    const Workload w = parse_workload(text.substr(begin, text.find("```", begin) - begin), "doc");
    EXPECT_EQ(w.kernel, "jacobi");
}

TEST(Workload, DistancesBelowALimit) {
    const Workload w = parse_workload(file, "w.yaml");
    const std::vector<DistanceCount>& distances = w.reuse_of(8)->distances;
    EXPECT_EQ(below(distances, 0), 0);
    EXPECT_EQ(below(distances, 4), 3);  // a real LRU memory of 4 words
    EXPECT_EQ(below(distances, 5), 4);  // "less or equal 4"
    EXPECT_EQ(below(distances, 1e18), 4);
    // A bucket of ten distances with twenty references, cut in its middle.
    EXPECT_DOUBLE_EQ(below({{.from = 10, .to = 19, .count = 20}}, 15), 10);
}

std::string refusal(const std::string& from, const std::string& to) {
    std::string text = file;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    try {
        parse_workload(text, "w.yaml");
    } catch (const InputError& error) {
        return error.what();
    }
    return "read";
}

TEST(Workload, WhatCannotBeIsRefusedWithFileLineAndKey) {
    const std::vector<std::vector<std::string>> cases = {
        {"total: 12", "total: 13",
         "w.yaml:3:21: operations.total: is not the sum of additions, multiplications, divisions, "
         "square_roots and functions"},
        {"fused_pairs: 3", "fused_pairs: 5",
         "w.yaml:3:72: operations.fused_pairs: is more than there are additions or "
         "multiplications"},
        {"vectorisable: 6", "vectorisable: 60",
         "w.yaml:3:89: operations.vectorisable: is more than total"},
        {"depth: 3", "depth: 4",
         "w.yaml:7:5: schedules[0].widths: their levels do not add up to depth"},
        {"f64: 10", "f64: 9",
         "w.yaml:7:5: schedules[0].widths: their operations do not add up to operations.total"},
        {"first: 6", "first: 5",
         "w.yaml:12:17: reuse[0].references: is not the sum of first and the counts of distances"},
        {"from: 4, to: 4", "from: 4, to: 3",
         "w.yaml:18:9: reuse[0].distances[3]: its end is before its begin"},
        {"from: 4, to: 4", "from: 2, to: 4",
         "w.yaml:18:9: reuse[0].distances[3]: distances must ascend and not overlap"},
        {"total: 12", "total: -1", "w.yaml:3:21: operations.total: must be a whole number"},
        {"kind: sequential", "kind: serial", "w.yaml:21:27: loops[0].kind: 'serial' is not one of"},
        {"synchronisations: 5", "synchronisation: 5", "w.yaml:19:1: synchronisation: unknown key"},
        {"occupipe-workload/1", "occupipe-workload/2",
         "w.yaml:1:9: format: unknown format 'occupipe-workload/2'; expected occupipe-workload/1"},
    };
    for (const auto& one : cases) {
        const std::string said = refusal(one[0], one[1]);
        EXPECT_TRUE(said.starts_with(one[2].substr(0, one[2].find(':', 7)))) << said;
        EXPECT_NE(said, "read") << one[1];
        SCOPED_TRACE(said);
        EXPECT_EQ(said.substr(0, one[2].size()), one[2]);
    }
}

TEST(Record, VectorisedLoopsStandInTheRemarks) {
    const std::string remarks =
        "--- !Analysis\nDebugLoc:        { File: a.c, Line: 1, Column: 2 }\n...\n"
        "--- !Passed\nName:            Vectorized\nDebugLoc:        { File: a.c, Line: 10, Column: "
        "9 }\n...\n--- !Passed\nDebugLoc:        { File: '/a/long/path/program.c', \n"
        "                   Line: 12, Column: 5 }\n...\n--- !Missed\nDebugLoc: { File: a.c, Line: "
        "3, Column: 3 }\n";
    EXPECT_EQ(vectorised_loops(remarks), (std::set<std::string>{"a.c:10:9", "program.c:12:5"}));
}

std::string record_fault(const std::string& facts, const std::string& counts,
                         const std::string& levels = {}) {
    try {
        workload_of({.facts = facts,
                     .facts_name = "facts",
                     .counts = counts,
                     .counts_name = "counts",
                     .levels = levels,
                     .vectorised = {}});
    } catch (const InputError& error) {
        return error.what();
    }
    return "read";
}

TEST(Record, WhatIsCutOffOrContradictoryIsRefused) {
    const std::string facts = "occupipe-match-facts 1\nkernel k\nsite 0 a.c:1 load\nend\n";
    const std::string counts = "occupipe-match-record 1\ncalls 1 0\n";
    EXPECT_EQ(record_fault(facts, counts + "depth 0\nend\n"), "read");
    EXPECT_EQ(record_fault("facts of another kind\n", counts),
              "facts:1: does not begin with occupipe-match-facts 1");
    EXPECT_EQ(record_fault(facts, counts), "counts:2: is cut off");
    EXPECT_EQ(record_fault(facts, counts + "depth\nend\n"), "counts:3: has too few numbers");
    EXPECT_EQ(record_fault(facts, counts + "loop 0 1 1\nend\n"),
              "counts:3: names something that there is not");
    EXPECT_EQ(record_fault(facts, counts + "depth 3\nend\n"), "counts.levels: is cut off");
    EXPECT_EQ(record_fault(facts, counts + "distance 1 1 1\nend\n"),
              "counts:3: stands before its granularity");
    EXPECT_EQ(record_fault(facts, counts + "levels 1\nend\n"), "counts:3: unknown word 'levels'");
}

}  // namespace
}  // namespace occupipe::automatch
