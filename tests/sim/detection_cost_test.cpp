// SPDX-License-Identifier: MIT
// Looking for repetitions must not cost more than a small part of the run, whatever the kernel:
// counted in words compared and copied, of which an instruction that is issued takes some tens.
#include <gtest/gtest.h>

#include "core/files/files.h"
#include "sim/engine/detection_budget.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/period.h"
#include "sim/engine/simulate.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

using sim::DetectionBudget;

// What one look may overdraw the budget by: its comparison, up to where it looks at the budget.
constexpr std::int64_t overdraft = 1 << 20;

void expect_cheap(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                  SimulationOptions options) {
    for (const Order order : {Order::dataflow, Order::in_order}) {
        options.order = order;
        SimulationResult result;
        try {
            result = simulate(profile, kernel, launch, options);
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
        }
        EXPECT_LE(result.detection_work,
                  DetectionBudget::free_words +
                      DetectionBudget::words_per_instruction * result.simulated + overdraft);
    }
}

std::vector<KernelItem> many(int count, const std::string& op) {
    std::vector<KernelItem> items;
    for (int i = 0; i < count; ++i) items.push_back(instruction("n" + std::to_string(i), op));
    return items;
}

// Loops too short to be worth a skip, in a long body: each look finds the same state.
TEST(DetectionCost, IsBoundedForManyShortLoopsInALongBody) {
    std::vector<KernelItem> body = many(2000, "op");
    for (int i = 0; i < 20; ++i) {
        const std::string id = "l" + std::to_string(i);
        body.push_back(repeat(40, {instruction(id, "op", {id + "@-1"})}));
    }
    expect_cheap(gpu({{"op", 1, 4}}), kernel({repeat(20, body)}), {1, 8, 8}, {});
}

// Streams that run ahead of one another at different rates: all pairs have to be compared.
TEST(DetectionCost, IsBoundedWhereStreamsDriftApart) {
    GpuProfile profile = gpu({{"a", 1, 4, "u"}, {"b", 3, 7, "v"}, {"c", 5, 11, "w"}});
    std::vector<KernelItem> body;
    for (int i = 0; i < 60; ++i) {
        const std::string id = "s" + std::to_string(i);
        body.push_back(
            instruction(id, std::string(1, static_cast<char>('a' + i % 3)), {id + "@-1"}));
    }
    expect_cheap(profile, kernel({repeat(3000, body)}), {4, 1, 8}, {});
}

// More instructions than sets of one word hold, where a state is large.
TEST(DetectionCost, IsBoundedForLargeStates) {
    std::vector<KernelItem> body = many(500, "op");
    body.push_back(repeat(7, {instruction("x", "op", {"x@-1"})}));
    expect_cheap(gpu({{"op", 1, 400}}), kernel({repeat(9, body)}), {16, 3, 24}, {});
}

TEST(DetectionCost, IsBoundedForRandomKernelsWithLongLoops) {
    const CaseShape shape{.max_count = 40, .max_executed = 4000, .max_groups = 40};
    for_each_simulable(
        60, shape, [](const Case& c) { expect_cheap(c.profile, c.kernel, c.launch, c.options); });
}

// While the search rests, the run is not interrupted: here it rests most of the time.
TEST(DetectionCost, ARestIsOneUninterruptedRun) {
    const std::string source = OCCUPIPE_SOURCE_DIR;
    const sim::CoreLayout layout =
        sim::build_layout(Problem(read_profile(source + "/profiles/nvidia-gtx-1060.yaml"),
                                  read_kernel(source + "/sim/kernels/bodies.yaml"), {8, 3, 1000}),
                          {});
    sim::EventEngine engine(layout, false);
    sim::PeriodDetector periods(layout);
    engine.watch(periods.watches());
    std::int64_t stops = 1;
    for (; engine.advance(periods.next_choice()); ++stops)
        if (periods.observe(engine.state(), engine.stopped_at())) engine.watch(periods.watches());
    const std::int64_t simulated = engine.state().issued_total - periods.skipped();
    EXPECT_GT(simulated, 2'000'000);
    EXPECT_LT(stops, simulated / 200);
}

TEST(DetectionBudget, SaysWhenThereIsEnoughAgain) {
    DetectionBudget budget;
    budget.spend(DetectionBudget::free_words + 1000);
    EXPECT_TRUE(budget.exhausted());
    EXPECT_FALSE(budget.spend_if_left(500'000));
    const std::int64_t rested = budget.rested_at();
    budget.set_simulated(rested - 1);
    EXPECT_FALSE(budget.spend_if_left(500'000));
    budget.set_simulated(rested);
    budget.rested();
    EXPECT_FALSE(budget.exhausted());
    EXPECT_TRUE(budget.spend_if_left(500'000));
}

}  // namespace
}  // namespace occupipe::test
