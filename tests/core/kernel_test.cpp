// SPDX-License-Identifier: MIT
#include "core/kernel.h"

#include <gtest/gtest.h>

#include "core/benchmark_kernel.h"
#include "core/files/files.h"

namespace occupipe {
namespace {

WarpProgram program(const std::string& list) {
    return parse_kernel("format: occupipe-kernel/1\nname: k\ninstructions:\n" + list, "k.yaml")
        .warps.front();
}

// "op<predecessors", one per node.
std::vector<std::string> nodes(const Idg& idg) {
    std::vector<std::string> result;
    for (const Idg::Node& node : idg.nodes) {
        std::string text = idg.ops[static_cast<std::size_t>(node.op)].name + "<";
        for (int i = 0; i < node.predecessor_count; ++i) {
            text += (i == 0 ? "" : ",") +
                    std::to_string(
                        idg.predecessors[static_cast<std::size_t>(node.first_predecessor + i)]);
        }
        result.push_back(text);
    }
    return result;
}

using Nodes = std::vector<std::string>;

TEST(Expand, StraightLineCodeIsItsOwnGraph) {
    const Idg idg =
        expand(program("  - {id: i, op: mad.s32}\n"
                       "  - {id: x, op: ld.global.f32, after: [i]}\n"
                       "  - {id: y, op: fma.f32, after: [i, x]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"mad.s32<", "ld.global.f32<0", "fma.f32<0,1"}));
}

TEST(Expand, TheExampleOfTheFileFormat) {
    const Idg idg =
        expand(program("  - {id: i, op: mad}\n"
                       "  - {id: x, op: ld, after: [i]}\n"
                       "  - repeat: 3\n"
                       "    body:\n"
                       "      - {id: a, op: fma, after: [x, a@-1]}\n"
                       "  - {id: s, op: st, after: [a]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"mad<", "ld<0", "fma<1", "fma<1,2", "fma<1,3", "st<4"}));
}

TEST(Expand, PreviousIterationMayNameALaterInstruction) {
    const Idg idg =
        expand(program("  - repeat: 3\n"
                       "    body:\n"
                       "      - {id: a, op: a, after: [b@-1]}\n"
                       "      - {id: b, op: b, after: [a]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"a<", "b<0", "a<1", "b<2", "a<3", "b<4"}));
}

TEST(Expand, PreviousIterationOfAnEarlierInstructionIsNotItsCurrentInstance) {
    const Idg idg =
        expand(program("  - repeat: 3\n"
                       "    body:\n"
                       "      - {id: a, op: a}\n"
                       "      - {id: b, op: b, after: [a@-1]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"a<", "b<", "a<", "b<0", "a<", "b<2"}));
}

TEST(Expand, SeveralIterationsBackAreDroppedInAsManyFirstIterations) {
    const Idg idg =
        expand(program("  - repeat: 4\n"
                       "    body:\n"
                       "      - {id: a, op: a, after: [a@-2, b@-3]}\n"
                       "      - {id: b, op: b}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"a<", "b<", "a<", "b<", "a<0", "b<", "a<2,1", "b<"}));
    // In each run of the loop anew.
    const Idg twice =
        expand(program("  - repeat: 2\n"
                       "    body:\n"
                       "      - repeat: 3\n"
                       "        body:\n"
                       "          - {id: a, op: a, after: [a@-2]}\n"));
    EXPECT_EQ(nodes(twice), (Nodes{"a<", "a<", "a<0", "a<", "a<", "a<3"}));
}

TEST(Expand, AnInnerLoopStartsAnewInEveryOuterIteration) {
    const Idg idg =
        expand(program("  - repeat: 2\n"
                       "    body:\n"
                       "      - repeat: 2\n"
                       "        body:\n"
                       "          - {id: a, op: a, after: [a@-1]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"a<", "a<0", "a<", "a<2"}));
}

TEST(Expand, TheInnermostRepeatThatHoldsBothCounts) {
    // o is in the outer repeat only, so o@-1 from the inner one is the outer's previous iteration.
    const Idg idg =
        expand(program("  - repeat: 2\n"
                       "    body:\n"
                       "      - {id: o, op: o}\n"
                       "      - repeat: 2\n"
                       "        body:\n"
                       "          - {id: a, op: a, after: [o, o@-1]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"o<", "a<0", "a<0", "o<", "a<3,0", "a<3,0"}));
}

TEST(Expand, PreviousIterationOfANestedInstructionIsItsLastInstance) {
    const Idg idg =
        expand(program("  - repeat: 2\n"
                       "    body:\n"
                       "      - {id: o, op: o, after: [a@-1]}\n"
                       "      - repeat: 2\n"
                       "        body:\n"
                       "          - {id: a, op: a}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"o<", "a<", "a<", "o<2", "a<", "a<"}));
}

TEST(Expand, PreviousIterationReachesBetweenSiblingRepeats) {
    const Idg idg =
        expand(program("  - repeat: 2\n"
                       "    body:\n"
                       "      - repeat: 2\n"
                       "        body:\n"
                       "          - {id: a, op: a, after: [b@-1]}\n"
                       "      - repeat: 1\n"
                       "        body:\n"
                       "          - {id: b, op: b, after: [a]}\n"));
    EXPECT_EQ(nodes(idg), (Nodes{"a<", "a<", "b<1", "a<2", "a<2", "b<4"}));
}

TEST(Expand, AWordUsedWithTwoKindsGivesTwoOps) {
    const Idg idg =
        expand(program("  - {id: a, op: f}\n"
                       "  - {id: b, op: f, kind: store}\n"
                       "  - {id: c, op: f}\n"));
    ASSERT_EQ(idg.ops.size(), 2U);
    EXPECT_FALSE(idg.ops[0].kind.has_value());
    EXPECT_EQ(idg.ops[1].kind, InstructionKind::store);
    EXPECT_EQ(idg.nodes[2].op, 0);
}

TEST(Expand, EdgesPointBackwardsInDeepNests) {
    std::string list;
    for (int depth = 0; depth < 8; ++depth) {
        const std::string margin(static_cast<std::size_t>(2 + 4 * depth), ' ');
        list += margin + "- repeat: 3\n" + margin + "  body:\n";
        const std::string n = std::to_string(depth);
        list += margin + "    - {id: x" + n + ", op: x, after: [x" + n + "@-1" +
                (depth > 0 ? ", x" + std::to_string(depth - 1) + "@-1" : "") + "]}\n";
    }
    const WarpProgram nest = program(list);
    const Idg idg = expand(nest);
    EXPECT_EQ(static_cast<std::int64_t>(idg.nodes.size()), instruction_count(nest));
    EXPECT_EQ(idg.nodes.size(), 9840U);  // 3 + 9 + … + 3^8
    for (std::size_t i = 0; i < idg.nodes.size(); ++i) {
        for (int k = 0; k < idg.nodes[i].predecessor_count; ++k) {
            const auto p =
                idg.predecessors[static_cast<std::size_t>(idg.nodes[i].first_predecessor + k)];
            ASSERT_LT(p, static_cast<std::int32_t>(i));
            ASSERT_GE(p, 0);
        }
    }
}

TEST(Expand, RefusesAGraphBeyondTheLimit) {
    const WarpProgram big = program("  - repeat: 1000\n    body: [{id: a, op: a}]\n");
    EXPECT_EQ(expand(big, 1000).nodes.size(), 1000U);
    EXPECT_THROW(expand(big, 999), InputError);
}

TEST(InstructionCount, GoesTo2ToThe62AndNoFurther) {
    const std::string nest =
        "  - repeat: 2147483648\n    body:\n      - repeat: 2147483648\n        body:\n"
        "          - {id: a, op: a}\n";
    EXPECT_EQ(instruction_count(program(nest)), std::int64_t{1} << 62);
    EXPECT_THROW(program(nest + "          - {id: b, op: a}\n"), InputError);
    EXPECT_THROW(program(nest + "  - {id: b, op: a}\n"), InputError);
}

Nodes nodes_of(const BenchmarkKernel& kernel, const MeasurementShape& shape,
               const GraphOptions& options = {}) {
    return nodes(expand(measured_graph(kernel, shape, options).warps.front()));
}

TEST(BenchmarkGraph, InterleavesDependentChains) {
    const Kernel kernel = measured_graph(chained_kernel("fma.f32", 2), {.chains = 2, .depth = 3});
    EXPECT_EQ(nodes(expand(kernel.warps.front())),
              (Nodes{"fma.f32<", "fma.f32<", "fma.f32<0", "fma.f32<1", "fma.f32<2", "fma.f32<3"}));
    EXPECT_EQ(kernel.name, "fma.f32/group_warps:1/concurrent_groups:1/chains:2/depth:3");
    EXPECT_FALSE(kernel.launch.has_value());
}

TEST(BenchmarkGraph, AMixInOneChainIsADependentSequence) {
    EXPECT_EQ(nodes_of(chained_kernel("mix(a*2,b)", 1), {.chains = 1, .depth = 6}),
              (Nodes{"a<", "a<0", "b<1", "a<2", "a<3", "b<4"}));
}

TEST(BenchmarkGraph, AMixOfTwoTypesIsTwoChainsThatDoNotWaitForEachOther) {
    BenchmarkKernel kernel = chained_kernel("mix(a*2,b)", 1);
    kernel.separate_chains = true;
    EXPECT_EQ(nodes_of(kernel, {.chains = 1, .depth = 6}),
              (Nodes{"a<", "a<0", "b<", "a<1", "a<3", "b<2"}));
}

TEST(BenchmarkGraph, NothingWaitsForAStreamsLoadButItsAddition) {
    BenchmarkKernel kernel = chained_kernel("ld", 1);
    kernel.first = {.name = "ld", .chained = false, .gathered_by = "add", .words = 2};
    EXPECT_EQ(nodes_of(kernel, {.chains = 1, .depth = 2}),
              (Nodes{"ld<", "add<0", "add<1,0", "ld<", "add<2,3", "add<4,3"}));
    EXPECT_EQ(nodes_of(kernel, {.chains = 1, .depth = 2}, {.gathers_wait = false}),
              (Nodes{"ld<", "add<", "add<1", "ld<", "add<2", "add<4"}));
}

TEST(BenchmarkGraph, FourWordsAreAddedAmongThemselvesFirst) {
    BenchmarkKernel kernel = chained_kernel("ld", 1);
    kernel.first = {.name = "ld", .chained = false, .gathered_by = "add", .words = 4};
    EXPECT_EQ(nodes_of(kernel, {.chains = 1, .depth = 2}),
              (Nodes{"ld<", "add<0", "add<0", "add<1,2", "add<3", "ld<", "add<5", "add<5",
                     "add<6,7", "add<4,8"}));
}

TEST(BenchmarkGraph, ABarrierIsTheWarpsWhateverItsChains) {
    BenchmarkKernel kernel = chained_kernel("bar.sync", 4);
    kernel.first.one_chain = true;
    EXPECT_EQ(nodes_of(kernel, {.chains = 4, .depth = 2}), (Nodes{"bar.sync<", "bar.sync<0"}));
}

TEST(BenchmarkGraph, TheLoopCountsComparesAndBranches) {
    BenchmarkKernel kernel = chained_kernel("a", 1);
    kernel.body = 2;
    EXPECT_EQ(nodes_of(kernel, {.chains = 1, .depth = 4}, {.loop = LoopForm::instructions}),
              (Nodes{"a<", "a<0", "add.s32<", "setp.lt.s32<2", "bra<3", "a<1,4", "a<5",
                     "add.s32<2,4", "setp.lt.s32<7", "bra<8"}));
}

TEST(BenchmarkGraph, TheLastStepsOfAnIterationPayForTheLoop) {
    BenchmarkKernel kernel = chained_kernel("mix(a*1,b)", 2);
    kernel.body = 4;
    const MeasurementShape shape{.chains = 2, .depth = 4};
    EXPECT_EQ(
        nodes_of(kernel, shape, {.loop = LoopForm::costs}),
        (Nodes{"a<", "a<", "b<0", "b<1", "a<2", "a.loop_time<3", "b.loop_chain<4", "b.loop<5"}));
    EXPECT_EQ(nodes_of(kernel, shape, {.loop = LoopForm::costs, .first_pays = false})[5], "a<3");
}

TEST(BenchmarkGraph, RefusesWhatIsNoKernel) {
    EXPECT_THROW(measured_graph(chained_kernel("mix(a*2,b)", 1), {.chains = 1, .depth = 7}),
                 InputError);
    EXPECT_THROW(measured_graph(chained_kernel("fma.f32", 0), {.chains = 0, .depth = 7}),
                 InputError);
    BenchmarkKernel cut = chained_kernel("mix(a*2,b)", 1);
    cut.body = 4;
    EXPECT_THROW(benchmark_graph(cut, 3), InputError);
}

TEST(InstructionKinds, FollowFromTheName) {
    EXPECT_EQ(kind_of("bar.sync"), InstructionKind::barrier);
    EXPECT_EQ(kind_of("st.global.f32"), InstructionKind::store);
    EXPECT_EQ(kind_of("ld.shared.s32"), InstructionKind::load);
    EXPECT_EQ(kind_of("fma.f32"), InstructionKind::compute);
    EXPECT_EQ(kind_of("start"), InstructionKind::compute);
}

}  // namespace
}  // namespace occupipe
