// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/files/files.h"
#include "tests/support/random_values.h"

namespace occupipe {
namespace {

constexpr const char* example = R"(format: occupipe-profile/1
device: {name: NVIDIA GeForce GTX 1060 6GB, vendor: NVIDIA, architecture: Pascal, compute_capability: "6.1"}
cores: 10
warp_size: 32
clock_hz: 1506000000
limits: {warps: 64, groups: 32, group_warps: 32, registers: 65536, shared_memory_bytes: 98304}
issue: {limit: {value: 4, std_error: 0.25}, schedulers: 2}
subsystems:
  alu: {scope: core}
  mem: {scope: scheduler}
instructions:
  fma.f32: {subsystem: alu, cpi: 0.25, latency: 6}
  ld.global.f32:
    subsystem: mem
    cpi: {value: 12, std_error: 0.08}
    latency: {value: 378, std_error: 1.9, identifiable: false, note: upper bound}
    kind: store
    source: measured
    reference: somewhere
    note: "a note: with a colon"
provenance: {tool: occupipe, files: [a, {name: b, rows: 12}]}
)";

Estimate latency_of(const std::string& quantity) {
    std::string text = example;
    const std::string from = "{value: 378, std_error: 1.9, identifiable: false, note: upper bound}";
    text.replace(text.find(from), from.size(), quantity);
    return *parse_profile(text, "p.yaml").instructions[1].latency;
}

// One instruction with this text in the place of its latency.
std::string with_latency(const std::string& version, const std::string& keys) {
    return "format: occupipe-profile/" + version +
           "\ndevice: {name: a}\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\nsubsystems: {mem: {}}\n"
           "instructions: {ld.global.f32: {subsystem: mem, cpi: 2" +
           keys + "}}\n";
}

TEST(ProfileYaml, AnInstructionWithoutALatencySaysWhy) {
    const GpuProfile p =
        parse_profile(with_latency("2", ", latency_unknown: nothing waited"), "p.yaml");
    EXPECT_FALSE(p.instructions[0].latency);
    EXPECT_EQ(p.instructions[0].latency_unknown, "nothing waited");
    const std::string written = format_profile(p);
    // An older program refuses it by its first line.
    EXPECT_TRUE(written.starts_with("format: occupipe-profile/2\n")) << written;
    EXPECT_EQ(parse_profile(written, "p.yaml"), p);
    // What all have is written as before.
    const GpuProfile known = parse_profile(with_latency("2", ", latency: 5"), "p.yaml");
    EXPECT_TRUE(format_profile(known).starts_with("format: occupipe-profile/1\n"));
    for (const auto& [version, keys] : std::vector<std::pair<std::string, std::string>>{
             {"1", ", latency_unknown: x"},
             {"1", ", latency: 5, latency_unknown: x"},
             {"1", ""},
             {"2", ""},
             {"2", ", latency: 5, latency_unknown: x"},
             {"2", ", latency_unknown: x, latency_growth: 1"},
             {"3", ", latency: 5"}})
        EXPECT_THROW(parse_profile(with_latency(version, keys), "p.yaml"), InputError)
            << version << keys;
}

TEST(ProfileYaml, AScopeThatIsNotKnownStaysSo) {
    GpuProfile p = parse_profile(example, "p.yaml");
    EXPECT_EQ(p.subsystems[0].scope, Scope::core);
    p.subsystems[0].scope.reset();
    const GpuProfile again = parse_profile(format_profile(p), "p.yaml");
    EXPECT_EQ(again, p);
    EXPECT_FALSE(again.subsystems[0].scope);
    EXPECT_EQ(again.copies("alu"), 1);
}

TEST(ProfileYaml, AFalseBoundOfTheFirstVersionIsRead) {
    const GpuProfile p = parse_profile(
        with_latency("1",
                     ", latency: {value: 2.8, identifiable: false, bound: lower, note: the "
                     "instructions do not depend on each other}"),
        "p.yaml");
    EXPECT_FALSE(p.instructions[0].latency);
    EXPECT_EQ(p.instructions[0].latency_unknown, nothing_waited);
}

TEST(ProfileYaml, ABoundSaysItsDirection) {
    using enum Estimate::Kind;
    EXPECT_EQ(latency_of("{value: 3, identifiable: false, bound: upper, note: why}"),
              (Estimate{3, {}, upper_bound, "why"}));
    EXPECT_EQ(latency_of("{value: 3, bound: lower}"), (Estimate{3, {}, lower_bound, ""}));
    EXPECT_EQ(latency_of("{value: 3, identifiable: false}"), (Estimate{3, {}, undetermined, ""}));
}

// The twelve percent of two runs, as every version of the program finds them.
TEST(ProfileYaml, DoubtsAndErrorTermsAreRead) {
    const Estimate e = latency_of(
        "{value: 3, std_error: 0.5, error_terms: {scatter: 0.3, drift: 0.4}, note: x, doubts: "
        "[{kind: runs_disagree, size: 0.12}, {kind: implausible}]}");
    using enum Doubt::Kind;
    EXPECT_EQ(e.doubts, (std::vector<Doubt>{{runs_disagree, 0.12}, {implausible, {}}}));
    EXPECT_EQ(e.error_terms, (std::vector<ErrorTerm>{{"scatter", 0.3}, {"drift", 0.4}}));
    EXPECT_TRUE(is_doubtful(e));
    EXPECT_FALSE(has_doubt(e, at_issue_limit));
    for (const auto& [keys, message] : std::vector<std::pair<std::string, std::string>>{
             {"doubts: [{kind: rns_disagree}]", "'rns_disagree' is not one of law_misses, "},
             {"doubts: [{size: 1}]", "kind"},
             {"doubts: [{kind: far_off, size: large}]", "size"},
             {"doubts: [{kind: far_off, by: 1}]", "by"},
             {"error_terms: {scatter: -1}", "error_terms: must be"},
             {"error_terms: {'a b': 1}", "error_terms"}})
        try {
            latency_of("{value: 3, " + keys + "}");
            ADD_FAILURE() << keys;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
        }
}

// Before the key `doubts` the notes said so: each sentence that fit has ever written.
TEST(ProfileYaml, DoubtsOfAnOlderFileAreReadFromItsNote) {
    using enum Doubt::Kind;
    const auto doubts_of = [](const std::string& note) {
        return latency_of("{value: 3, note: \"" + note + "\"}").doubts;
    };
    EXPECT_EQ(doubts_of("runs disagree by 12 %"), (std::vector<Doubt>{{runs_disagree, 0.12}}));
    EXPECT_EQ(doubts_of("no plateau up to 64; the law misses the measurements by 3.3 % at 3 of 40 "
                        "points; repetitions far off their points' medians: 25 %"),
              (std::vector<Doubt>{{law_misses, 3.3 / 100}, {far_off, 0.25}}));
    EXPECT_EQ(doubts_of("measured in the order of the shapes, and times drift by -2.5 %"),
              (std::vector<Doubt>{{drifts_in_order, -0.025}}));
    EXPECT_EQ(doubts_of("repetitions are of two kinds, apart by 1e+02 %"),
              (std::vector<Doubt>{{two_kinds, 1}}));
    EXPECT_EQ(doubts_of("times are of two states, apart by 30 %; times are not in proportion to "
                        "depth, by 5 %; implausible for plain arithmetic; loop bodies of two "
                        "lengths differ in speed by 12.5 %"),
              (std::vector<Doubt>{{two_states, 0.3},
                                  {implausible, {}},
                                  {bodies_differ, 0.125},
                                  {out_of_proportion, 0.05}}));
    EXPECT_EQ(doubts_of("at the issue limit: the unit itself may be faster"),
              (std::vector<Doubt>{{at_issue_limit, {}}}));
    EXPECT_EQ(doubts_of("from the windows in which all warps ran"), std::vector<Doubt>{});
}

// What is written reads back the same, also where note and doubts say different things.
TEST(ProfileYaml, TheKeyIsBelievedBeforeTheNote) {
    Estimate e = latency_of("{value: 3, note: runs disagree by 12 %, doubts: []}");
    EXPECT_EQ(e.doubts, std::vector<Doubt>{});
    GpuProfile p = parse_profile(example, "p.yaml");
    p.instructions[1].latency = e;
    EXPECT_EQ(parse_profile(format_profile(p), "p.yaml"), p);
    add_doubt(e, {Doubt::Kind::law_misses, 1.0 / 3}, " at 3 of 4 points");
    EXPECT_EQ(e.note,
              "runs disagree by 12 %; the law misses the measurements by 33 % at 3 of 4 "
              "points");
    p.instructions[1].latency = e;
    EXPECT_EQ(parse_profile(format_profile(p), "p.yaml"), p);
}

// Every kind's sentence, as people and older files have it, is read as that kind alone.
TEST(ProfileYaml, EveryDoubtIsReadFromItsSentence) {
    for (const Doubt::Kind kind : words(std::type_identity<Doubt::Kind>{})) {
        Estimate e{.value = 3};
        add_doubt(e, {kind, 0.5});
        EXPECT_EQ(latency_of("{value: 3, note: \"" + e.note + "\"}").doubts, e.doubts)
            << to_string(kind);
    }
}

TEST(ProfileYaml, AStepOfAnOlderFileIsReadFromTheNoteOfLatency) {
    const auto step_of = [](const std::string& keys) {
        return parse_profile(with_latency("1", keys), "p.yaml").instructions[0].step;
    };
    EXPECT_EQ(step_of(", latency: {value: 9, note: a step is ISETP + SEL}"), "ISETP + SEL");
    EXPECT_EQ(step_of(", latency: {value: 9, note: x; a step is 2 SEL; y}"), "2 SEL");
    EXPECT_EQ(step_of(", latency: {value: 9, note: x}, step: A + B"), "A + B");
    EXPECT_EQ(step_of(", latency: 9"), "");
}

// Files from before the key `bound` have the direction at the head of the note.
TEST(ProfileYaml, ABoundOfAnOlderFileIsReadFromItsNote) {
    using enum Estimate::Kind;
    EXPECT_EQ(latency_of("{value: 3, identifiable: false, note: 'lower bound: no chain'}"),
              (Estimate{3, {}, lower_bound, "no chain"}));
    EXPECT_EQ(latency_of("{value: 3, identifiable: false, note: lower bound}"),
              (Estimate{3, {}, lower_bound, ""}));
    EXPECT_EQ(latency_of("{value: 3, identifiable: false, note: some upper bound}"),
              (Estimate{3, {}, undetermined, "some upper bound"}));
    // A value's note is a remark, whatever it says.
    EXPECT_EQ(latency_of("{value: 3, note: 'upper bound: no'}"),
              (Estimate{3, {}, value, "upper bound: no"}));
}

TEST(ProfileYaml, EveryKeyOfTheExampleArrives) {
    const GpuProfile p = parse_profile(example, "p.yaml");
    EXPECT_EQ(p.device.name, "NVIDIA GeForce GTX 1060 6GB");
    EXPECT_EQ(p.device.vendor, "NVIDIA");
    EXPECT_EQ(p.device.architecture, "Pascal");
    EXPECT_EQ(p.device.compute_capability, "6.1");
    EXPECT_EQ(p.cores, 10);
    EXPECT_EQ(p.warp_size, 32);
    EXPECT_EQ(p.clock_hz, 1506e6);
    EXPECT_EQ(p.limits, (Limits{64, 32, 32, 65536, 98304}));
    EXPECT_EQ(p.issue, (Issue{4, 0.25, 2}));
    EXPECT_EQ(p.subsystems,
              (std::vector<Subsystem>{{"alu", Scope::core}, {"mem", Scope::scheduler}}));
    ASSERT_EQ(p.instructions.size(), 2U);
    const InstructionTiming& fma = p.instructions[0];
    EXPECT_EQ(fma.cpi, (Estimate{.value = 0.25}));
    EXPECT_EQ(fma.latency, (Estimate{.value = 6}));
    EXPECT_EQ(fma.source, Source::literature);
    EXPECT_EQ(fma.effective_kind(), InstructionKind::compute);
    const InstructionTiming& load = p.instructions[1];
    EXPECT_EQ(load.cpi, (Estimate{.value = 12, .std_error = 0.08}));
    EXPECT_EQ(load.latency, (Estimate{378, 1.9, Estimate::Kind::upper_bound, ""}));
    EXPECT_EQ(load.effective_kind(), InstructionKind::store);
    EXPECT_EQ(load.source, Source::measured);
    EXPECT_EQ(load.reference, "somewhere");
    EXPECT_EQ(load.note, "a note: with a colon");
    ASSERT_EQ(p.provenance.entries.size(), 2U);
    EXPECT_EQ(p.provenance.entries[1].value.items[1].entries[1].value.text, "12");
}

TEST(ProfileYaml, WhatIsAbsentStaysUnknown) {
    const GpuProfile p = parse_profile(
        "format: occupipe-profile/1\ndevice: {name: x}\ncores: 1\nwarp_size: 1\nclock_hz: 1e9\n"
        "subsystems: {alu: {}}\ninstructions: {}\n",
        "p.yaml");
    EXPECT_EQ(p.limits, Limits{});
    EXPECT_EQ(p.issue, Issue{});
    EXPECT_FALSE(p.issue.limit.has_value());
    EXPECT_EQ(p.provenance, Annotation{});
    EXPECT_EQ(p.find_instruction("fma.f32"), nullptr);
    EXPECT_FALSE(p.find_subsystem("alu")->scope);
    EXPECT_EQ(p.copies("alu"), 1);
}

TEST(ProfileYaml, JsonIsReadAsTheYamlThatItIs) {
    const GpuProfile p = parse_profile(
        R"({"format": "occupipe-profile/1", "device": {"name": "x"}, "cores": 1, "warp_size": 32,
            "clock_hz": 1e9, "subsystems": {"alu": {"scope": "core"}},
            "instructions": {"fma.f32": {"subsystem": "alu", "cpi": 1, "latency": 4}}})",
        "p.json");
    EXPECT_EQ(p.instructions.front().latency->value, 4);
}

TEST(ProfileYaml, WritingAndReadingGivesTheSameValue) {
    const GpuProfile p = parse_profile(example, "p.yaml");
    EXPECT_EQ(parse_profile(format_profile(p), "again"), p);
}

TEST(ProfileYaml, WhatTheGpuWasFoundToDoArrives) {
    const std::string text =
        "format: occupipe-profile/1\ndevice: {name: x}\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {schedulers: 4, select: warp, policy: gto}\n"
        "subsystems: {zeta: {}, alpha: {}, mu: {}}\ninstructions: {}\n";
    const GpuProfile p = parse_profile(text, "p.yaml");
    EXPECT_EQ(p.issue.select, Select::warp);
    EXPECT_EQ(p.issue.policy, Policy::gto);
    // A scheduler goes through the subsystems in the order of the file: writers keep it.
    const GpuProfile again = parse_profile(format_profile(p), "p.yaml");
    ASSERT_EQ(again.subsystems.size(), 3U);
    EXPECT_EQ(again.subsystems[0].name, "zeta");
    EXPECT_EQ(again.subsystems[1].name, "alpha");
    EXPECT_EQ(again.subsystems[2].name, "mu");
    EXPECT_EQ(again, p);
}

TEST(ProfileYaml, WritingIsStable) {
    const std::string once = format_profile(parse_profile(example, "p.yaml"));
    EXPECT_EQ(format_profile(parse_profile(once, "again")), once);
}

TEST(ProfileYaml, ShortEntriesStandOnOneLine) {
    const std::string text = format_profile(parse_profile(example, "p.yaml"));
    EXPECT_NE(
        text.find("\n  fma.f32: {subsystem: alu, cpi: 0.25, latency: 6, source: literature}\n"),
        std::string::npos)
        << text;
}

TEST(ProfileYaml, NumbersKeepEveryBit) {
    GpuProfile p = parse_profile(example, "p.yaml");
    for (const double value : {0.1, 1.0 / 3, 1e-300, 1.7976931348623157e308, 4.9e-324, 1e22}) {
        p.instructions[0].cpi.value = value;
        EXPECT_EQ(parse_profile(format_profile(p), "again").instructions[0].cpi.value, value);
    }
}

Annotation random_annotation(test::RandomValues& random, int depth) {
    Annotation result;
    const std::int64_t form = depth == 0 ? 0 : random.between(0, 2);
    if (form == 0) {
        result.text = random.text();
        return result;
    }
    for (std::int64_t i = random.between(1, 3); i > 0; --i) {
        Annotation child = random_annotation(random, depth - 1);
        if (form == 1) {
            result.items.push_back(std::move(child));
        } else {
            result.entries.emplace_back(random.text() + std::to_string(i), std::move(child));
        }
    }
    return result;
}

Estimate random_estimate(test::RandomValues& random) {
    Estimate estimate{.value = random.positive()};
    if (random.chance(0.5)) {
        estimate.std_error = random.positive();
    }
    constexpr std::array kinds = {Estimate::Kind::value, Estimate::Kind::upper_bound,
                                  Estimate::Kind::lower_bound, Estimate::Kind::undetermined};
    if (random.chance(0.3)) estimate.kind = kinds[static_cast<std::size_t>(random.between(0, 3))];
    estimate.note = random.chance(0.3) ? random.text() : "";
    for (const Doubt::Kind kind : words(std::type_identity<Doubt::Kind>{}))
        if (random.chance(0.05)) {
            const Doubt doubt{kind,
                              random.chance(0.5) ? std::optional(random.positive()) : std::nullopt};
            if (random.chance(0.5))
                add_doubt(estimate, doubt);
            else
                estimate.doubts.push_back(doubt);
        }
    for (std::int64_t i = random.chance(0.2) ? random.between(1, 3) : 0; i > 0; --i)
        estimate.error_terms.push_back({random.name(i), random.positive()});
    return estimate;
}

std::vector<ParameterTable> random_tables(test::RandomValues& random) {
    std::vector<ParameterTable> tables;
    for (std::int64_t i = random.between(0, 2); i > 0; --i) {
        ParameterTable table{random.name(i), random.chance(0.5) ? random.text() : "", {}};
        double at = random.positive();
        for (std::int64_t n = random.between(1, 4); n > 0; --n, at *= 1.5) {
            TableRow row{.at = at, .cpi = {}, .latency = random_estimate(random)};
            if (random.chance(0.5)) {
                row.cpi = random_estimate(random);
            }
            table.rows.push_back(std::move(row));
        }
        tables.push_back(std::move(table));
    }
    return tables;
}

Estimate random_seconds(test::RandomValues& random) {
    Estimate seconds = random_estimate(random);
    seconds.value = std::min(seconds.value, 1e6);
    return seconds;
}

GpuProfile random_profile(test::RandomValues& random) {
    GpuProfile p;
    p.device = {random.title(), random.title(), random.chance(0.5) ? random.title() : "", "7.5"};
    p.cores = static_cast<int>(random.between(1, 1 << 30));
    p.warp_size = static_cast<int>(random.between(1, 128));
    p.clock_hz = std::clamp(random.positive(), 1.0, 1e15);
    if (random.chance(0.5)) {
        p.limits = {
            random.between(1, 64), {}, random.between(1, 32), {}, random.between(1, 1 << 20)};
        p.issue.limit = random.positive();
    }
    if (p.issue.limit && random.chance(0.5)) {
        p.issue.limit_std_error = random.positive();
    }
    p.issue.schedulers = static_cast<int>(random.between(1, 8));
    if (random.chance(0.5)) p.issue.policy = static_cast<Policy>(random.between(0, 2));
    if (random.chance(0.5)) p.issue.select = static_cast<Select>(random.between(0, 1));
    for (std::int64_t i = random.between(1, 4); i > 0; --i) {
        p.subsystems.push_back(
            {random.name(i), random.chance(0.5) ? Scope::core : Scope::scheduler});
        if (random.chance(0.3)) {
            p.subsystems.back().contention = random_estimate(random);
            p.subsystems.back().contention->value = static_cast<double>(random.between(0, 9)) / 10;
        }
    }
    for (std::int64_t i = random.between(0, 8); i > 0; --i) {
        InstructionTiming t;
        t.name = random.name(i);
        t.subsystem = p.subsystems[static_cast<std::size_t>(random.between(
                                       0, static_cast<int>(p.subsystems.size()) - 1))]
                          .name;
        t.cpi = random_estimate(random);
        if (random.chance(0.2))
            t.latency_unknown = "nobody looked " + random.text();
        else
            t.latency = random_estimate(random);
        if (random.chance(0.3)) t.loop_cpi = random_estimate(random);
        if (random.chance(0.3)) t.loop_latency = random_estimate(random);
        if (t.latency && random.chance(0.3)) {
            t.latency_growth = random_estimate(random);
        }
        if (random.chance(0.3)) t.step = random.title();
        if (random.chance(0.3)) t.warps_per_instruction = static_cast<int>(random.between(1, 64));
        t.tables = random_tables(random);
        if (random.chance(0.3)) {
            t.kind = static_cast<InstructionKind>(random.between(0, 3));
        }
        t.source = static_cast<Source>(random.between(0, 3));
        t.reference = random.chance(0.5) ? random.text() : "";
        t.note = random.chance(0.5) ? random.text() : "";
        p.instructions.push_back(std::move(t));
    }
    for (std::int64_t i = random.between(0, 2); i > 0; --i) {
        MemoryLevel level{random.name(i), random_estimate(random), random.positive(), 0, {}};
        level.last_bytes = 2 * level.first_bytes;
        if (random.chance(0.5)) {
            level.edge_confidence = 0.01 * static_cast<double>(random.between(0, 100));
        }
        p.memory_levels.push_back(std::move(level));
    }
    if (random.chance(0.3)) {
        p.overheads.launch_seconds = random_seconds(random);
        p.overheads.awaited_launch_seconds = random_seconds(random);
        p.overheads.graph_launch_seconds = random_seconds(random);
    }
    if (random.chance(0.3)) {
        p.overheads.loop_cycles = random_estimate(random);
        p.overheads.group_seconds = random_seconds(random);
    }
    for (std::int64_t i = random.between(0, 3); i > 0; --i) {
        p.provenance.entries.emplace_back(random.text() + std::to_string(i),
                                          random_annotation(random, 3));
    }
    return p;
}

TEST(ProfileYaml, RandomProfilesSurviveARoundTrip) {
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        test::RandomValues random(seed);
        const GpuProfile p = random_profile(random);
        const std::string text = format_profile(p);
        try {
            ASSERT_EQ(parse_profile(text, "p.yaml"), p) << "seed " << seed << "\n" << text;
        } catch (const InputError& fault) {
            FAIL() << "seed " << seed << ": " << fault.what() << "\n" << text;
        }
    }
}

TEST(ProfileYaml, TablesLevelsAndOverheadsArrive) {
    const std::string text = std::string(example) + R"(
memory_levels:
  - {instruction: ld.global.f32, latency: 33, first_bytes: 4096, last_bytes: 131072, edge_confidence: 0.99}
  - {instruction: ld.global.f32, latency: 270, first_bytes: 262144, last_bytes: 33554432}
overheads: {launch_seconds: {value: 2.5e-6, std_error: 1e-8}, loop_cycles: 12}
)";
    const GpuProfile p = parse_profile(text, "p.yaml");
    ASSERT_EQ(p.memory_levels.size(), 2U);
    EXPECT_EQ(p.memory_levels[0].edge_confidence, 0.99);
    EXPECT_EQ(p.memory_levels[1].edge_confidence, std::nullopt);
    EXPECT_EQ(p.memory_levels[1].latency.value, 270);
    EXPECT_EQ(p.overheads.launch_seconds.value().std_error, 1e-8);
    EXPECT_EQ(p.overheads.loop_cycles.value().value, 12);
    EXPECT_FALSE(p.overheads.group_seconds);
}

TEST(ProfileYaml, BadTablesAreRefusedWithTheirPlace) {
    const std::string head =
        "format: occupipe-profile/1\ndevice: {name: d}\ncores: 1\nwarp_size: 32\nclock_hz: 1e9\n"
        "subsystems: {a: {}}\ninstructions:\n  x:\n    subsystem: a\n    cpi: 1\n    latency: 2\n";
    const auto refused = [&](const std::string& tail, const std::string& why) {
        try {
            parse_profile(head + tail, "p.yaml");
            ADD_FAILURE() << tail << " was read";
        } catch (const InputError& fault) {
            EXPECT_NE(std::string(fault.what()).find(why), std::string::npos) << fault.what();
        }
    };
    const std::string table = "    tables:\n      - over: shape_n\n        rows:\n";
    parse_profile(head + table + "          - {at: 8, cpi: 2}\n", "p.yaml");
    refused(table + "          - {at: 8}\n", "neither cpi nor latency");
    refused(table + "          - {at: 8, cpi: 0}\n", "positive");
    refused(table + "          - {at: 8, cpi: 1}\n          - {at: 8, cpi: 1}\n",
            "p.yaml:16:18: instructions.x.tables[0].rows[1].at: rows must ascend");
    refused("    tables:\n      - {over: shape_n, rows: []}\n", "no rows");
    refused(
        "    tables: [{over: n, rows: [{at: 1, cpi: 1}, {at: 3, cpi: 2}]}, "
        "{over: n, rows: [{at: 2, cpi: 1}]}]\n",
        "tables[1]: overlaps another table over n");
    refused("    tables: [{over: a b, rows: [{at: 1, cpi: 1}]}]\n", "over");
    refused("    latency_growth: -1\n", "latency_growth");
    refused("overheads: {launch: 1}\n", "launch");
    refused("memory_levels: [{instruction: x, latency: 1, first_bytes: 2, last_bytes: 1}]\n",
            "below first_bytes");
}

TEST(ProfileRules, LevelsOfAnInstructionAscendWithoutOverlap) {
    GpuProfile p = parse_profile(example, "p.yaml");
    p.memory_levels = {{"ld.global.u32", {.value = 30}, 4096, 65536, {}},
                       {"ld.global.s32", {.value = 30}, 4096, 65536, {}},
                       {"ld.global.u32", {.value = 270}, 131072, 1048576, {}}};
    EXPECT_NO_THROW(validate(p));
    for (const double first : {65536.0, 5000.0, 1024.0}) {
        p.memory_levels[2].first_bytes = first;
        try {
            validate(p);
            ADD_FAILURE() << first;
        } catch (const InputError& fault) {
            EXPECT_TRUE(std::string(fault.what()).starts_with("memory_levels[2].first_bytes: "))
                << fault.what();
        }
    }
}

TEST(ProfileRules, HoldForProfilesThatNoFileHeld) {
    GpuProfile p = parse_profile(example, "p.yaml");
    p.instructions[0].latency->value = -1;
    try {
        validate(p);
        FAIL();
    } catch (const InputError& fault) {
        EXPECT_STREQ(fault.what(),
                     "instructions.fma.f32.latency: must be a positive finite number, not -1");
    }
    p.instructions[0].latency->value = 1;
    p.instructions.push_back(p.instructions[0]);
    EXPECT_THROW(validate(p), InputError);
    p.instructions.pop_back();
    p.subsystems.push_back(p.subsystems[0]);
    EXPECT_THROW(validate(p), InputError);
}

}  // namespace
}  // namespace occupipe
