// SPDX-License-Identifier: MIT
// Two versions of a kernel: lines by their text, sums, and the interval of the difference against
// its closed form.
#include "analysis/explanation/kernel_comparison.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "analysis/explanation/line_intervals.h"
#include "report/text/annotated_source.h"
#include "report/text/kernel_comparison.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::analysis {
namespace {

using test::gpu;
using test::instruction;
using test::kernel;
using test::repeat;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

KernelItem at(int line, KernelItem item) {
    std::get<KernelInstruction>(item).at = fmt::format("k.cu:{}", line);
    return item;
}

TEST(EqualLines, AreAsManyAsPossibleAndInOrder) {
    using Lines = std::vector<std::string>;
    EXPECT_THAT(equal_lines(Lines{"a", "b", "c"}, Lines{"a", "x", "b", "c"}),
                ElementsAre(Pair(0, 0), Pair(1, 2), Pair(2, 3)));
    EXPECT_THAT(equal_lines(Lines{"  a;", "b"}, Lines{"a ;", "c"}), ElementsAre(Pair(0, 0)));
    EXPECT_THAT(equal_lines(Lines{}, Lines{"a"}), ElementsAre());
    EXPECT_THAT(equal_lines(Lines{"x", "a", "b", "a"}, Lines{"a", "b", "a", "y"}),
                ElementsAre(Pair(1, 0), Pair(2, 1), Pair(3, 2)));
}

// The most pairs that there can be, by trying everything.
std::size_t most_pairs(const std::vector<std::string>& a, std::size_t i,
                       const std::vector<std::string>& b, std::size_t j) {
    if (i == a.size() || j == b.size()) return 0;
    if (a[i] == b[j])
        return std::max(1 + most_pairs(a, i + 1, b, j + 1), most_pairs(a, i + 1, b, j));
    return std::max(most_pairs(a, i + 1, b, j), most_pairs(a, i, b, j + 1));
}

TEST(EqualLines, AgreeWithTryingEverything) {
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> a, b;
        for (auto n = random() % 8; n > 0; --n)
            a.emplace_back(1, static_cast<char>('a' + random() % 3));
        for (auto n = random() % 8; n > 0; --n)
            b.emplace_back(1, static_cast<char>('a' + random() % 3));
        const auto pairs = equal_lines(a, b);
        EXPECT_EQ(pairs.size(), most_pairs(a, 0, b, 0));
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            EXPECT_EQ(a.at(pairs[i].first), b.at(pairs[i].second));
            if (i == 0) continue;
            EXPECT_LT(pairs[i - 1].first, pairs[i].first);
            EXPECT_LT(pairs[i - 1].second, pairs[i].second);
        }
    }
}

// A line moves down, one goes, one comes, one is changed.
ComparedKernel version_a() {
    return {.file = "a.cu",
            .kernel = kernel({at(2, instruction("a", "op")), at(3, instruction("b", "op", {"a"})),
                              at(4, instruction("c", "op", {"b"})),
                              at(5, instruction("d", "op", {"c"}))}),
            .launch = {},
            .sources = {{"k.cu", "{\nfirst\ngoes\nold words\nlast\n}\n"}}};
}

ComparedKernel version_b() {
    return {.file = "b.cu",
            .kernel = kernel({at(4, instruction("a", "op")),
                              repeat(2, {at(5, instruction("c", "op", {"a", "c@-1"}))}),
                              at(6, instruction("d", "op", {"c"}))}),
            .launch = {},
            .sources = {{"k.cu", "// a comment\n\n{\n  first\nnew words\nlast\n}\n"}}};
}

TEST(KernelComparison, MatchesLinesByTheirText) {
    // Without `goes`, one line stands in the place of two: both are told apart.
    const KernelComparison found =
        compare_kernels(gpu({{"op", 1, 10}}), version_a(), version_b(), {}, 0, 1);
    EXPECT_EQ(found.cycles.before, 40);
    EXPECT_EQ(found.cycles.after, 40);
    std::vector<std::string> lines;
    for (const LineChange& line : found.lines)
        lines.push_back(fmt::format("{} {}>{} {} {} {} {}", static_cast<int>(line.fate),
                                    line.before, line.after, line.executions.before,
                                    line.executions.after, line.cycles.before, line.cycles.after));
    const auto fate = [](LineFate one) { return std::to_string(static_cast<int>(one)); };
    EXPECT_THAT(lines, ElementsAre(fate(LineFate::same) + " k.cu:2>k.cu:4 1 1 0 0",
                                   fate(LineFate::removed) + " k.cu:3> 1 0 10 0",
                                   fate(LineFate::removed) + " k.cu:4> 1 0 10 0",
                                   fate(LineFate::added) + " >k.cu:5 0 2 0 20",
                                   fate(LineFate::same) + " k.cu:5>k.cu:6 1 1 10 10",
                                   fate(LineFate::unknown) + " > 0 0 10 10"));
}

TEST(KernelComparison, TakesOneLineInThePlaceOfOneForChanged) {
    ComparedKernel after = version_a();
    after.sources["k.cu"] = "{\nfirst\ngoes\nnew words\nlast\n}\n";
    const KernelComparison found =
        compare_kernels(gpu({{"op", 1, 10}}), version_a(), after, {}, 0, 1);
    ASSERT_EQ(found.lines.size(), 5U);
    EXPECT_EQ(found.lines[2].fate, LineFate::changed);
    EXPECT_EQ(found.lines[2].text, "new words");
    EXPECT_EQ(found.lines[1].fate, LineFate::same);
    // Without the text there are only numbers to go by, which is said.
    after.sources.clear();
    const KernelComparison blind =
        compare_kernels(gpu({{"op", 1, 10}}), version_a(), after, {}, 0, 1);
    EXPECT_EQ(blind.lines.size(), 5U);
    ASSERT_EQ(blind.notes.size(), 1U);
    EXPECT_THAT(blind.notes[0], HasSubstr("matched by their number alone"));
}

void set_lines(std::vector<KernelItem>& items, std::mt19937& random) {
    for (KernelItem& item : items) {
        if (auto* loop = std::get_if<Repeat>(&item))
            set_lines(loop->body, random);
        else if (random() % 5 != 0)
            std::get<KernelInstruction>(item).at = fmt::format("k.cu:{}", 1 + random() % 6);
    }
}

std::string random_text(std::mt19937& random) {
    std::string text;
    for (int i = 0; i < 6; ++i) text += fmt::format("line {}\n", random() % 4);
    return text;
}

TEST(KernelComparison, LinesReasonsAndInstructionsSumToBothPredictionsOnRandomCases) {
    std::mt19937 random(9);
    test::for_each_simulable(150, {}, [&](const test::Case& given) {
        ComparedKernel sides[2];
        for (ComparedKernel& side : sides) {
            side.kernel = given.kernel;
            for (WarpProgram& program : side.kernel.warps) set_lines(program.instructions, random);
            side.launch = given.launch;
            side.sources["k.cu"] = random_text(random);
        }
        sides[1].launch.groups += 1 + static_cast<std::int64_t>(random() % 5);
        const KernelComparison found =
            compare_kernels(given.profile, sides[0], sides[1], given.options, 0, 1);
        BeforeAfter lines, reasons, by_line, by_op;
        const auto add = [](BeforeAfter& sum, const BeforeAfter& one) {
            sum.before += one.before;
            sum.after += one.after;
        };
        for (const LineChange& line : found.lines) {
            add(lines, line.cycles);
            add(by_line, line.executions);
        }
        for (const auto& [reason, cycles] : found.reasons) add(reasons, cycles);
        for (const auto& [op, executions] : found.instructions) add(by_op, executions);
        for (const auto& [sum, whole] :
             {std::pair(lines, found.cycles), std::pair(reasons, found.cycles),
              std::pair(by_line, by_op)}) {
            EXPECT_NEAR(sum.before, whole.before, 1e-9 * whole.before) << test::describe(given);
            EXPECT_NEAR(sum.after, whole.after, 1e-9 * whole.after) << test::describe(given);
        }
        const auto executed = [&](const ComparedKernel& side) {
            double sum = 0;
            for (const WarpProgram& program : side.kernel.warps)
                sum += program.share * static_cast<double>(instruction_count(program));
            return sum * static_cast<double>(side.launch.groups) * side.launch.group_warps;
        };
        EXPECT_NEAR(by_op.before, executed(sides[0]), 1e-9 * by_op.before);
        EXPECT_NEAR(by_op.after, executed(sides[1]), 1e-9 * by_op.after);
    });
}

// Chains take N·Λ: with both drawn together the difference of 30 and 20 instructions has 10 times
// the error of Λ, where independent draws would give it √(30² + 20²) = 36 times.
TEST(KernelComparison, TheUncertaintyOfTheDifferenceIsThatOfOneProfile) {
    GpuProfile device = gpu({{"op", 1, 10}});
    device.instructions[0].latency->std_error = 0.1;
    const ComparedKernel before{
        .file = "a", .kernel = test::chain("op", 30), .launch = {}, .sources = {}};
    const ComparedKernel after{
        .file = "b", .kernel = test::chain("op", 20), .launch = {}, .sources = {}};
    const KernelComparison found = compare_kernels(device, before, after, {}, 4000, 5);
    ASSERT_TRUE(found.uncertainty) << found.no_uncertainty;
    const DifferenceUncertainty& u = *found.uncertainty;
    EXPECT_NEAR(u.difference.median, -100, 0.1);
    EXPECT_NEAR((u.difference.high - u.difference.low) / 2, 1.96 * 10 * 0.1, 0.1);
    EXPECT_NEAR((u.before.high - u.before.low) / 2, 1.96 * 30 * 0.1, 0.3);
    EXPECT_NEAR(u.ratio.low, 2.0 / 3, 1e-9);
    EXPECT_NEAR(u.ratio.high, 2.0 / 3, 1e-9);
    EXPECT_EQ(u.after_faster, 1);
    // λ's error is unknown; the clock's too.
    EXPECT_THAT(u.held, ::testing::Contains(HasSubstr("op λ: 1, whose error is unknown")));

    const KernelComparison same = compare_kernels(device, before, before, {}, 50, 5);
    EXPECT_EQ(same.uncertainty->difference.low, 0);
    EXPECT_EQ(same.uncertainty->difference.high, 0);
    EXPECT_EQ(same.uncertainty->after_faster, 0);
}

// A line's chain of N takes N·Λ: its interval is ±1.96 N σ about it, and that of the change of two
// lines of one text ±1.96 (30 − 20) σ.
TEST(KernelComparison, LinesHaveIntervals) {
    GpuProfile device = gpu({{"op", 1, 10}});
    device.instructions[0].latency->std_error = 0.1;
    const auto version = [](const char* file, std::int64_t length) {
        Kernel chain = test::chain("op", length);
        auto& loop = std::get<Repeat>(chain.warps[0].instructions[0]);
        std::get<KernelInstruction>(loop.body[0]).at = "k.cu:1";
        return ComparedKernel{
            .file = file, .kernel = chain, .launch = {}, .sources = {{"k.cu", "x = x * y;\n"}}};
    };
    const ComparedKernel before = version("a", 30), after = version("b", 20);
    const KernelComparison found = compare_kernels(device, before, after, {}, 4000, 5);
    EXPECT_EQ(found.line_draws, 100);
    ASSERT_TRUE(found.lines[0].difference);
    const Interval& line = *found.lines[0].difference;
    EXPECT_NEAR(line.median, found.lines[0].cycles.difference(), 0.5);
    EXPECT_NEAR((line.high - line.low) / 2, 1.96 * 10 * 0.1, 0.7);
    EXPECT_THAT(report::to_text({found, "p.yaml", "test", {}}),
                HasSubstr("95 %: of the change, in 100 draws"));

    Annotation alone = annotate(device, before.kernel, before.launch, {});
    EXPECT_EQ(draws_by_line(alone, 4000), 4000);
    EXPECT_EQ(draws_by_line(alone, 19), 0);
    add_intervals(alone, device, before.kernel, before.launch, {}, 4000, 5);
    ASSERT_TRUE(alone.lines[0].interval && alone.instructions[0].interval);
    const Interval& cycles = *alone.lines[0].interval;
    EXPECT_NEAR(cycles.median, alone.lines[0].spent.cycles(), 0.4);
    // The first of the chain waits for nothing.
    EXPECT_NEAR((cycles.high - cycles.low) / 2, 1.96 * 29 * 0.1, 0.3);
    EXPECT_THAT(report::to_text(alone, report::AnnotationView::source),
                HasSubstr("in 4000 draws of the profile's standard errors"));
}

// `a` costs as much as the profile says, `b` twice: both follow the same draw.
TEST(KernelComparison, PreparesBothForEachDrawnProfile) {
    GpuProfile device = gpu({{"op", 1, 10}});
    device.instructions[0].latency->std_error = 0.1;
    const Prepare prepare = [](const Kernel& kernel, const GpuProfile& profile) {
        PreparedKernel ready{kernel, profile};
        if (kernel.name != "twice") return ready;
        InstructionTiming priced = profile.instructions[0];
        priced.name = "op~a";
        *priced.latency = priced.latency->times(2);
        ready.profile.instructions.push_back(priced);
        auto& loop = std::get<Repeat>(ready.kernel.warps[0].instructions[0]);
        std::get<KernelInstruction>(loop.body[0]).op = "op~a";
        return ready;
    };
    ComparedKernel before{
        .file = "a", .kernel = test::chain("op", 20), .launch = {}, .sources = {}};
    ComparedKernel after = before;
    after.kernel.name = "twice";
    const KernelComparison found = compare_kernels(device, before, after, {}, 2000, 5, prepare);
    EXPECT_EQ(found.cycles.before, 200);
    EXPECT_EQ(found.cycles.after, 400);
    EXPECT_EQ(found.instructions.size(), 1U);
    EXPECT_TRUE(found.instructions.contains("op"));
    ASSERT_TRUE(found.uncertainty) << found.no_uncertainty;
    EXPECT_NEAR(found.uncertainty->ratio.low, 2, 1e-6);
    EXPECT_NEAR(found.uncertainty->ratio.high, 2, 1e-6);
    const Interval& difference = found.uncertainty->difference;
    EXPECT_NEAR((difference.high - difference.low) / 2, 1.96 * 20 * 0.1, 0.3);
}

TEST(KernelComparison, AProfileWithoutErrorsHasNoInterval) {
    const KernelComparison found =
        compare_kernels(gpu({{"op", 1, 10}}), version_a(), version_b(), {}, 10, 1);
    EXPECT_FALSE(found.uncertainty);
    EXPECT_THAT(found.no_uncertainty, HasSubstr("no standard error"));
    const report::KernelComparisonReport report{found, "p.yaml", "test", {}};
    EXPECT_THAT(report::to_text(report), HasSubstr("No uncertainty: profile 'test'"));
    const nlohmann::ordered_json json = report::to_json(report);
    EXPECT_FALSE(json.contains("uncertainty"));
    EXPECT_EQ(json["cycles"]["change"], 0);
    EXPECT_EQ(json["lines"].size(), 6U);
}

}  // namespace
}  // namespace occupipe::analysis
