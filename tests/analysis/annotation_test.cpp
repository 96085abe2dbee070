// SPDX-License-Identifier: MIT
// Time and executions by instruction and line, against hand-counted runs, against what the events
// of a run say, and against the executor's own counts.
#include "analysis/explanation/annotation.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/kernel_graph.h"
#include "extract/run_plan.h"
#include "report/text/annotated_source.h"
#include "sim/machine/core_layout.h"
#include "sim/observers/observer.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::analysis {
namespace {

using sim::WaitReason;
using test::gpu;
using test::kernel;
using test::repeat;
using ::testing::HasSubstr;
using ::testing::Not;

KernelItem at(const char* line, KernelItem item) {
    std::get<KernelInstruction>(item).at = line;
    return item;
}

const AnnotatedLine& line(const Annotation& annotation, int number) {
    for (const AnnotatedLine& one : annotation.lines)
        if (one.number == number) return one;
    throw std::logic_error("no such line");
}

Annotation hand_counted() {
    // One warp: a at 0; b at 10; c at 20, 30 and 40; its last result is there at 50.
    const Kernel loop =
        kernel({at("k.cu:4", test::instruction("a", "op")),
                at("k.cu:4", test::instruction("b", "op", {"a"})),
                repeat(3, {at("k.cu:7", test::instruction("c", "op", {"b", "c@-1"}))})});
    return annotate(gpu({{"op", 1, 10}}), loop, {}, {});
}

TEST(Annotation, MultipliesLoopsOut) {
    const Annotation one = hand_counted();
    EXPECT_DOUBLE_EQ(one.cycles, 50);
    ASSERT_EQ(one.lines.size(), 2U);
    const AnnotatedLine& four = line(one, 4);
    EXPECT_DOUBLE_EQ(four.spent.executions, 2);
    EXPECT_DOUBLE_EQ(four.spent.cycles(), 10);
    EXPECT_DOUBLE_EQ(four.spent.awaited, 20);  // a by b, b by the first c
    const AnnotatedLine& seven = line(one, 7);
    EXPECT_DOUBLE_EQ(seven.spent.executions, 3);
    EXPECT_DOUBLE_EQ(seven.spent.cycles(), 30);
    EXPECT_DOUBLE_EQ(seven.spent.awaited, 20);
    EXPECT_EQ(seven.spent.main_reason(), WaitReason::dependence);
    EXPECT_DOUBLE_EQ(one.rest.at(WaitReason::drain), 10);
    EXPECT_DOUBLE_EQ(one.share(seven.spent.cycles()), 0.6);
    EXPECT_THAT(one.instructions.at(2).waits_for,
                ::testing::UnorderedElementsAre(std::pair("b", 10.0), std::pair("c", 20.0)));
}

TEST(Annotation, KnowsCopiesOfAMachineInstruction) {
    using Name = std::pair<std::string, std::optional<std::int64_t>>;
    EXPECT_EQ(machine_instruction("ffma.0340"), Name("ffma.0340", 0x340));
    EXPECT_EQ(machine_instruction("ffma.0340.2"), Name("ffma.0340", 0x340));
    EXPECT_EQ(machine_instruction("ffma.1a340.17"), Name("ffma.1a340", 0x1a340));
    for (const char* other : {"a", "a.1", "a.03", "ffma.0340.1", "ffma.0340.", "ffma.0340.2.3",
                              "ffma.0340x", ".0340", "x.y.0340"})
        EXPECT_EQ(machine_instruction(other), Name(other, std::nullopt)) << other;
}

// Where warps issue in order, an instruction's time is from the issue before it, or the start of
// the group, to its own.
class Gaps : public sim::Observer {
public:
    void started(const sim::CoreLayout& layout) override {
        layout_ = layout;
        since_.assign(static_cast<std::size_t>(layout.warps()), 0);
    }
    void group_started(const sim::GroupEvent& event) override {
        for (int w = 0; w < layout_.group_warps; ++w)
            since_[static_cast<std::size_t>(event.slot * layout_.group_warps + w)] = event.time;
    }
    void issued(const sim::IssueEvent& event) override {
        const auto warp = static_cast<std::size_t>(event.warp);
        const int program = layout_.program_of[warp];
        const std::string& id =
            layout_.programs[static_cast<std::size_t>(program)].program.ids[event.stream];
        ticks[{program, id}] += event.time - since_[warp];
        since_[warp] = event.time;
    }

    std::map<std::pair<int, std::string>, std::int64_t> ticks;

private:
    sim::CoreLayout layout_;
    std::vector<std::int64_t> since_;
};

void set_lines(std::vector<KernelItem>& items, int& next) {
    for (KernelItem& item : items) {
        if (auto* loop = std::get_if<Repeat>(&item))
            set_lines(loop->body, next);
        else if (next++ % 4 != 3)  // some say none
            std::get<KernelInstruction>(item).at = fmt::format("k.cu:{}", 1 + next % 5);
    }
}

// Executions by line, by walking through every iteration.
void walk(const std::vector<KernelItem>& items, double weight,
          std::map<std::string, double>& counts) {
    for (const KernelItem& item : items) {
        if (const auto* loop = std::get_if<Repeat>(&item)) {
            for (std::int64_t i = 0; i < loop->count; ++i) walk(loop->body, weight, counts);
        } else {
            counts[std::get<KernelInstruction>(item).at] += weight;
        }
    }
}

TEST(Annotation, SumsToTheLaunchAndToTheWarpsTimeOnRandomCases) {
    int in_order = 0, divergent = 0;
    test::for_each_simulable(400, {.max_count = 6}, [&](const test::Case& given) {
        test::Case c = given;
        int next = 0;
        for (WarpProgram& program : c.kernel.warps) set_lines(program.instructions, next);
        const Annotation found = annotate(c.profile, c.kernel, c.launch, c.options);
        SCOPED_TRACE(test::describe(c));

        std::map<std::string, double> executed;
        const double warps =
            static_cast<double>(c.launch.groups) * static_cast<double>(c.launch.group_warps);
        for (const WarpProgram& program : c.kernel.warps)
            walk(program.instructions, program.share * warps, executed);
        std::map<std::string, double> by_line;
        double time = 0, awaited = 0, depended = 0;
        for (const AnnotatedLine& one : found.lines) {
            by_line[one.number == 0 ? "" : fmt::format("{}:{}", one.file, one.number)] =
                one.spent.executions;
            time += one.spent.cycles();
            awaited += one.spent.awaited;
            for (const auto& [reason, cycles] : one.spent.waits)
                if (reason == WaitReason::dependence || reason == WaitReason::barrier)
                    depended += cycles;
        }
        ASSERT_EQ(by_line.size(), executed.size());
        for (const auto& [name, count] : executed)
            EXPECT_NEAR(by_line.at(name), count, 1e-9 * count) << name;
        for (const auto& [reason, cycles] : found.rest) time += cycles;
        EXPECT_NEAR(time, found.place_cycles_per_warp(), 1e-9 * time);
        EXPECT_NEAR(awaited, depended, 1e-9 * time);
        EXPECT_EQ(found.cycles, simulate(c.profile, c.kernel, c.launch, c.options).cycles);

        if (c.kernel.warps.size() > 1) ++divergent;
        if (order_of(c.options, c.kernel) != Order::in_order) return;
        ++in_order;
        Gaps gaps;
        const SimulationResult run = simulate(c.profile, c.kernel, c.launch, c.options, gaps);
        std::map<std::tuple<std::string, std::string, std::string>, double> expected;
        for (std::size_t p = 0; p < c.kernel.warps.size(); ++p)
            for_each_instruction(
                c.kernel.warps[p].instructions, [&](const KernelInstruction& node) {
                    expected[{node.id, node.op, node.at}] +=
                        run.scale.to_cycles(gaps.ticks[{static_cast<int>(p), node.id}]);
                });
        for (const AnnotatedInstruction& one : found.instructions)
            EXPECT_NEAR(one.spent.cycles() * static_cast<double>(found.core_warps),
                        expected[std::tuple(one.id, one.op, one.at)], 1e-6)
                << one.id;
    });
    EXPECT_GT(in_order, 50);
    EXPECT_GT(divergent, 20);
}

// A recorded kernel's annotation on a GPU where everything takes 2 cycles and 20.
struct Recorded {
    Annotation annotation;
    std::vector<isa::Instruction> code;
    std::map<std::string, double> executed;  // by line, as the executor counted
};

Recorded recorded(const std::string& name) {
    const std::filesystem::path folder = OCCUPIPE_SOURCE_DIR "/tests/kernels";
    const LaunchPlan plan = read_launches(folder / (name + ".yaml"));
    const isa::Cubin cubin =
        isa::read_cubin(read_text_file(folder / "recorded/sm_80" / (name + ".cubin")));
    extract::PlanRun run(plan, cubin, "");
    const KernelLaunch& launch = std::get<KernelLaunch>(plan.steps.front());
    const std::uint64_t groups = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    extract::StreamObserver streams(extract::all_groups(groups));
    extract::PlanOptions options;
    options.observe = [&](const KernelLaunch& now) { return &now == &launch ? &streams : nullptr; };
    const extract::LaunchResult result = run.execute(options).front();
    Recorded recorded;
    recorded.code = *result.execution.code;
    for (std::size_t i = 0; i < recorded.code.size(); ++i)
        if (const auto warps = result.execution.counts[i].warps; warps > 0)
            recorded.executed[isa::source_line(*result.kernel, recorded.code[i].address)] +=
                static_cast<double>(warps);
    const extract::ExtractedKernel extracted = extract::extract_kernel(
        name, streams.streams(), *result.kernel, recorded.code, extract::names_known_to({}), 1000);
    EXPECT_NEAR(extracted.represented, 1, 1e-12) << name;
    std::set<std::string> ops;
    for_each_instruction(extracted.kernel,
                         [&](const KernelInstruction& node) { ops.insert(node.op); });
    std::vector<test::Timing> costs;
    for (const std::string& op : ops) costs.push_back({op, 2, 20});
    recorded.annotation = annotate(gpu(costs), extracted.kernel,
                                   {.group_warps = result.occupancy.group_warps,
                                    .concurrent_groups = 2,
                                    .groups = static_cast<std::int64_t>(groups)},
                                   {.order = Order::in_order});
    return recorded;
}

TEST(Annotation, LinesOfMachineCodeAreExecutedAsTheExecutorCounted) {
    for (const char* name : {"matmul", "reduction", "transpose", "spmv"}) {
        const Recorded one = recorded(name);
        SCOPED_TRACE(name);
        std::map<std::string, double> found;
        for (const AnnotatedLine& line : one.annotation.lines)
            found[fmt::format("{}:{}", line.file, line.number)] = line.spent.executions;
        ASSERT_EQ(found.size(), one.executed.size());
        for (const auto& [at, count] : one.executed) {
            ASSERT_TRUE(found.contains(at)) << at;
            EXPECT_NEAR(found.at(at), count, 1e-9 * count) << at;
        }
    }
}

TEST(AnnotatedSource, ShowsTextBesideNumbersAndInstructionsBelowLines) {
    Recorded one = recorded("matmul");
    add_machine_code(one.annotation, one.code, 80);
    add_source(one.annotation,
               {{"matmul.cu", read_text_file(OCCUPIPE_SOURCE_DIR "/tests/kernels/matmul.cu")}});
    const std::string text = report::to_text(one.annotation, report::AnnotationView::both);
    EXPECT_THAT(text, HasSubstr("for (int i = 0; i < TILE; ++i) sum = fmaf("));
    EXPECT_THAT(text, HasSubstr("FFMA R4, R29, R8, R5"));
    EXPECT_LT(text.find("sum = fmaf("), text.find("FFMA R4, R29"));
    // What was not executed stands there without numbers.
    EXPECT_THAT(text, HasSubstr("#pragma unroll"));
    const nlohmann::ordered_json json = report::to_json(one.annotation);
    double shares = 0;
    for (const auto& line : json["lines"]) shares += line["share"].get<double>();
    for (const auto& [reason, share] : json["rest"].items()) shares += share.get<double>();
    EXPECT_NEAR(shares, 1, 1e-9);
    EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST(AnnotatedSource, SaysWhereNoLinesAreKnown) {
    const Annotation none = annotate(gpu({{"op", 1, 5}}), test::chain("op", 10), {}, {});
    EXPECT_FALSE(none.has_lines());
    const std::string text = report::to_text(none, report::AnnotationView::source);
    EXPECT_THAT(text, HasSubstr("No instruction of this kernel says which source line"));
    EXPECT_THAT(text, HasSubstr("a (op)"));
    EXPECT_EQ(report::to_json(none)["lines"].size(), 0U);
}

TEST(Annotation, SumsWhatInstructionsAskOfTheMemory) {
    // Twice 4 sectors and once 8, of which 1 and 4 are found in the first level.
    KernelItem a = at("k.cu:1", test::instruction("ldg.0010", "ld"));
    KernelItem b = at("k.cu:1", test::instruction("ldg.0020", "ld", {"ldg.0010"}));
    KernelItem c = at("k.cu:2", test::instruction("c", "op", {"ldg.0020"}));
    std::get<KernelInstruction>(a).memory = MemoryUse{.bytes = 128, .sectors = 4};
    std::get<KernelInstruction>(b).memory = MemoryUse{.bytes = 128, .sectors = 8};
    Annotation one = annotate(gpu({{"ld", 1, 10}, {"op", 1, 10}}), kernel({repeat(2, {a}), b, c}),
                              {.group_warps = 3}, {});
    const auto& memory = line(one, 1).memory;
    ASSERT_TRUE(memory);
    EXPECT_DOUBLE_EQ(memory->global, 9);  // of three warps
    EXPECT_DOUBLE_EQ(memory->sectors, 3 * 16);
    EXPECT_FALSE(line(one, 2).memory);
    EXPECT_THAT(report::to_text(one, report::AnnotationView::source), HasSubstr("5.33 sectors"));

    MemoryRow first{.id = "ldg.0010", .op = "ld", .at = "", .executions = 2, .use = {}};
    first.use.sectors = 4;
    first.read = LevelShares{0.25, 0.75, 0};
    MemoryRow second{.id = "ldg.0020", .op = "ld", .at = "", .executions = 1, .use = {}};
    second.use.sectors = 8;
    second.read = LevelShares{0.5, 0, 0.5};
    add_hits(one, {first, second});
    EXPECT_THAT(report::to_text(one, report::AnnotationView::source),
                HasSubstr("5.33 sectors, 38 % L1, 38 % L2"));  // (2 + 4) and (6 + 0) of 16
}

TEST(Annotation, SaysWhereAGroupCannotHoldTheSharesOfTheLaunch) {
    Kernel two = test::chain("op", 2);
    two.warps.push_back(two.warps.front());
    two.warps[0].share = 0.7;
    two.warps[1].share = 0.3;
    const GpuProfile device = gpu({{"op", 1, 5}});
    const auto notes = [&](int group_warps) {
        return annotate(device, two, {.group_warps = group_warps}, {}).notes;
    };
    EXPECT_THAT(notes(10), ::testing::IsEmpty());
    ASSERT_EQ(notes(2).size(), 1U);
    EXPECT_THAT(notes(2)[0], HasSubstr("50 %, 50 %"));
    EXPECT_THAT(notes(2)[0], HasSubstr("70 %, 30 %"));
}

// Groups 0 and 1 are of `a`, 2 and 3 of `b`: a launch of the first two executes no `b`, one of six
// has four of `a`.
TEST(Annotation, ExecutionsAreOfTheLaunchThatIsAnnotated) {
    Kernel two = kernel({test::instruction("a", "op")});
    two.warps.push_back({0.5, {repeat(3, {test::instruction("b", "op")})}});
    two.warps[0].share = 0.5;
    two.launch = Launch{.group_warps = 2, .concurrent_groups = 1, .groups = 4};
    two.groups = GroupKinds{.kinds = {{0, 0}, {1, 1}}, .order = {{0, 2}, {1, 2}}};
    validate(two);
    const auto executed = [&](std::int64_t groups) {
        const Annotation one =
            annotate(gpu({{"op", 1, 5}}), two,
                     {.group_warps = 2, .concurrent_groups = 1, .groups = groups}, {});
        std::map<std::string, double> counts;
        for (const AnnotatedInstruction& each : one.instructions)
            counts[each.id] = each.spent.executions;
        return counts;
    };
    EXPECT_EQ(executed(4), (std::map<std::string, double>{{"a", 4}, {"b", 12}}));
    EXPECT_EQ(executed(2), (std::map<std::string, double>{{"a", 4}, {"b", 0}}));
    EXPECT_EQ(executed(6), (std::map<std::string, double>{{"a", 8}, {"b", 12}}));
}

TEST(AnnotatedSource, AnotherVersionOfTheSourceIsLeftOut) {
    Annotation one = hand_counted();
    add_source(one, {{"k.cu", "only\nthree\nlines\n"}});
    ASSERT_EQ(one.notes.size(), 1U);
    EXPECT_THAT(one.notes[0],
                HasSubstr("k.cu has 3 lines, but the kernel was made from its line 7"));
    EXPECT_EQ(one.lines.size(), 2U);
    Annotation whole = hand_counted();
    add_source(whole, {{"k.cu", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"}});
    ASSERT_EQ(whole.lines.size(), 8U);  // 2 to 9
    EXPECT_EQ(whole.lines[0].text, "2");
    EXPECT_EQ(line(whole, 7).text, "7");
    EXPECT_DOUBLE_EQ(line(whole, 7).spent.cycles(), 30);
    EXPECT_TRUE(line(whole, 5).instructions.empty());
}

}  // namespace
}  // namespace occupipe::analysis
