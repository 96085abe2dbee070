// SPDX-License-Identifier: MIT
#include "published/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "core/error.h"
#include "published/published_files.h"

namespace occupipe::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* example = R"(format: occupipe-published/1
sources:
  one: {title: T, authors: A, year: 2020, where: W, method: M}
operations:
  f32: {instructions: [fma.f32]}
  half: {instructions: [fma.f16x2], results: 2}
throughput:
  - {capability: ["9.0"], source: one, results: {f32: 128, half: 256}}
latency:
  - {capability: ["9.0"], source: one, device: H, at: Table 1, instructions: [fma.f32], cycles: [4, 5]}
issue:
  - {capability: ["9.0"], source: one, width: 4}
memory_bandwidth:
  - {device: H200, source: one, bytes_per_second: 4.8e12}
cores:
  - {name: C, source: one, vendor: V, family: 6, models: [[1, 3]], instructions: {fma.f32: [0.5, 4]}}
)";

TEST(Published, EveryKeyOfTheExampleArrives) {
    const Published p = parse_published(example, "p.yaml");
    ASSERT_THAT(p.sources, SizeIs(1));
    EXPECT_EQ(p.sources[0], (PublishedSource{"one", "T", "A", 2020, "W", "", "M"}));
    EXPECT_EQ(p.cpi("9.0", "fma.f32", 32).at(0).low, 0.25);
    EXPECT_EQ(p.cpi("9.0", "fma.f16x2", 32).at(0).low, 0.25);  // two results of a lane
    EXPECT_THAT(p.cpi("8.0", "fma.f32", 32), IsEmpty());
    EXPECT_THAT(p.cpi("9.0", "add.f32", 32), IsEmpty());
    const auto latency = p.latency("9.0", "fma.f32");
    ASSERT_THAT(latency, SizeIs(1));
    EXPECT_EQ(span_of(latency), (std::pair{4.0, 5.0}));
    EXPECT_EQ(citation(latency[0]), "one, Table 1, H");
    EXPECT_EQ(p.issue_width("9.0").at(0).high, 4);
    EXPECT_EQ(p.memory_bandwidth("NVIDIA H200 NVL").at(0).low, 4.8e12);
    EXPECT_THAT(p.memory_bandwidth("NVIDIA H100"), IsEmpty());
    ASSERT_NE(p.core("V", 6, 3), nullptr);
    EXPECT_EQ(p.core("V", 6, 3)->timings[0].latency, 4);
    EXPECT_EQ(p.core("V", 6, 4), nullptr);
}

struct Bad {
    const char* from;
    const char* to;
    int line;
    const char* key;
    const char* reason;
};

TEST(Published, BadFilesAreRefusedWithLineAndKey) {
    const std::vector<Bad> bad = {
        {"occupipe-published/1", "occupipe-published/2", 1, "format", "unknown format"},
        {"sources:", "origins:", 2, "origins", "unknown key"},
        {"title: T, ", "", 3, "sources.one.title", "is missing"},
        {"title: T", "title: ''", 3, "sources.one.title", "must not be empty"},
        {"year: 2020", "year: 20", 3, "sources.one.year", "from 1900"},
        {"[fma.f16x2], results: 2", "[fma.f32], results: 2", 6, "operations.half.instructions",
         "counted by another"},
        {"source: one, results", "source: two, results", 8, "source", "not among the sources"},
        {"f32: 128", "f64: 128", 8, "f64", "not among the operations"},
        {"f32: 128", "f32: 0", 8, "f32", "positive"},
        {"f32: 128", "f32: -1", 8, "f32", "positive"},
        {"f32: 128", "f32: .nan", 8, "f32", "finite"},
        {"[4, 5]", "[5, 4]", 10, "cycles", "the least must come first"},
        {"[4, 5]", "[4, 5, 6]", 10, "cycles", "[least, greatest]"},
        {"at: Table 1", "table: 1", 10, "table", "unknown key"},
        {"width: 4", "width: wide", 12, "width", "a number"},
        {"device: H200, ", "", 14, "device", "is missing"},
        {"[[1, 3]]", "[[3, 1]]", 16, "models", "first"},
        {"[0.5, 4]", "[0.5]", 16, "fma.f32", "[λ, Λ]"},
    };
    for (const Bad& one : bad) {
        std::string text = example;
        const std::size_t at = text.find(one.from);
        ASSERT_NE(at, std::string::npos) << one.from;
        text.replace(at, std::string(one.from).size(), one.to);
        try {
            parse_published(text, "p.yaml");
            ADD_FAILURE() << "accepted: " << one.to;
        } catch (const InputError& error) {
            EXPECT_THAT(error.what(), HasSubstr("p.yaml:" + std::to_string(one.line) + ":"));
            EXPECT_THAT(error.what(), HasSubstr(one.key));
            EXPECT_THAT(error.what(), HasSubstr(one.reason)) << one.to;
        }
    }
}

// Bytes of the built-in files changed at random: read or refused, nothing else.
TEST(Published, MutatedFilesAreReadOrRefused) {
    std::mt19937_64 random(7);
    int refused = 0;
    for (const EmbeddedFile& file : published::published_files()) {
        for (int trial = 0; trial < 60; ++trial) {
            std::string text(file.text);
            for (int i = 0; i < 3; ++i)
                text[random() % text.size()] = static_cast<char>(' ' + random() % 95);
            try {
                parse_published(text, "m.yaml");
            } catch (const InputError&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 10);
}

TEST(BuiltInFigures, HaveSourcesWithMethodsAndAreUsed) {
    const Published& all = built_in_published();
    std::set<std::string> used;
    for (const auto& t : all.throughputs) used.insert(t.source);
    for (const auto& l : all.latencies) used.insert(l.figure.source);
    for (const auto& r : all.rates) used.insert(r.figure.source);
    for (const auto& i : all.issues) used.insert(i.figure.source);
    for (const auto& b : all.bandwidths) used.insert(b.figure.source);
    for (const auto& c : all.cores) used.insert(c.source);
    for (const PublishedSource& source : all.sources) {
        EXPECT_TRUE(used.contains(source.id)) << source.id;
        EXPECT_FALSE(source.method.empty()) << source.id;
    }
}

// The arithmetic of the vendor's table, as issue texts and papers state it.
TEST(BuiltInFigures, GiveTheKnownNumbersOfHopper) {
    const Published& all = built_in_published();
    const auto cpi = [&](const char* name) { return all.cpi("9.0", name, 32).at(0).low; };
    EXPECT_EQ(cpi("fma.f32"), 0.25);
    EXPECT_EQ(cpi("fma.f64"), 0.5);
    EXPECT_EQ(cpi("mad.s32"), 0.5);
    EXPECT_EQ(cpi("rcp.approx.ftz.f32"), 2);
    EXPECT_EQ(cpi("shfl.sync.idx.b32"), 1);
    const auto l1 = span_of(all.latency("9.0", "ld.global.l1.u32"));
    EXPECT_EQ(l1, (std::pair{32.0, 41.12}));  // luo-2025, luo-suite-h100
    EXPECT_EQ(all.memory_bandwidth("NVIDIA H200").at(0).high, 4.8e12);
}

TEST(BuiltInFigures, KeepContradictingSourcesSideBySide) {
    const auto halves = built_in_published().cpi("12.0", "fma.f16x2", 32);
    ASSERT_THAT(halves, SizeIs(2));
    EXPECT_EQ(span_of(halves), (std::pair{0.25, 0.5}));
}

}  // namespace
}  // namespace occupipe::analysis
