// SPDX-License-Identifier: MIT
// What must hold of every simulation, on seeded random cases. Not among it: that more resources are
// never slower; list scheduling has such anomalies (Graham 1969).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "sim/engine/simulate.h"
#include "sim/machine/machine.h"
#include "sim/models/registry.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

template <typename Check>
void for_random_cases(int count, const Check& check) {
    int used = 0;
    for (std::uint64_t seed = 5'000'000; used < count; ++seed) {
        const Case c = random_case(seed, {.divergence = false});
        check(c, simulate(c.profile, c.kernel, c.launch, c.options));
        ++used;
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << seed << '\n' << describe(c);
            return;
        }
    }
}

TEST(Property, NoRunIsShorterThanItsLongestDependencePath) {
    for_random_cases(1000, [](const Case& c, const SimulationResult& result) {
        const sim::Machine machine = sim::build_machine(Problem(c.profile, c.kernel, c.launch));
        const Idg graph = expand(c.kernel.warps[0]);
        std::vector<std::int64_t> done(graph.nodes.size());
        std::int64_t longest = 0;
        for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
            const Idg::Node& node = graph.nodes[n];
            const Idg::Op& op = graph.ops[node.op];
            const sim::MachineOp& timing = machine.ops[machine.find_op(op.name, op.kind)];
            std::int64_t start = 0;
            for (int i = 0; i < node.predecessor_count; ++i)
                start = std::max(start, done[graph.predecessors[node.first_predecessor + i]]);
            done[n] = start + timing.latency;
            const bool store = timing.kind == InstructionKind::store;
            longest = std::max(longest, start + (store ? timing.cpi : timing.latency));
        }
        EXPECT_GE(result.ticks, longest);
    });
}

TEST(Property, NoUnitIsBusierThanTheRunIsLong) {
    for_random_cases(1000, [](const Case&, const SimulationResult& result) {
        for (const Bound& bound : result.bounds) {
            EXPECT_GE(bound.utilisation, 0);
            EXPECT_LE(bound.utilisation, 1);
        }
    });
}

TEST(Property, EveryInstructionIssuesOnce) {
    for_random_cases(1000, [](const Case& c, const SimulationResult& result) {
        EXPECT_EQ(result.issued, instruction_count(c.kernel.warps[0]) * c.launch.group_warps *
                                     c.launch.groups_per_core(c.profile.cores));
    });
}

// Without an issue limit: its windows begin with the cycles, whatever the instructions take.
TEST(Property, AllTimesDoubledDoubleTheResult) {
    for_random_cases(1000, [](const Case& c, const SimulationResult& result) {
        if (c.profile.issue.limit) return;
        Case slower = c;
        for (InstructionTiming& timing : slower.profile.instructions) {
            timing.cpi.value *= 2;
            timing.latency->value *= 2;
            if (timing.latency_growth) timing.latency_growth->value *= 2;
        }
        EXPECT_DOUBLE_EQ(
            simulate(slower.profile, slower.kernel, slower.launch, slower.options).cycles,
            2 * result.cycles);
    });
}

TEST(Property, TheSameInputGivesTheSameResult) {
    for_random_cases(200, [](const Case& c, const SimulationResult& result) {
        const SimulationResult again = simulate(c.profile, c.kernel, c.launch, c.options);
        EXPECT_EQ(again.ticks, result.ticks);
        EXPECT_EQ(again.bounds, result.bounds);
    });
}

TEST(Property, LongRunsStayBelowTheRoof) {
    for (const char* op : {"a", "b"})
        for (int warps = 1; warps <= 64; warps *= 4) {
            const GpuProfile profile = gpu({{"a", 0.25, 6, "alu"}, {"b", 4, 40, "sfu"}}, 4);
            const Launch launch{.group_warps = 1, .concurrent_groups = warps, .groups = 10 * warps};
            const Kernel kernel = chain(op, 100);
            EXPECT_LE(find_model("pipeline").predict(profile, kernel, launch, {}).warps_per_cycle,
                      find_model("roofline").predict(profile, kernel, launch, {}).warps_per_cycle);
        }
}

}  // namespace
}  // namespace occupipe::test
