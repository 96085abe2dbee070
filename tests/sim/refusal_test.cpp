// SPDX-License-Identifier: MIT
// What cannot be simulated is refused with one clear line, never a hang or a number.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/error.h"
#include "sim/engine/simulate.h"
#include "sim/models/registry.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/build.h"

namespace occupipe::test {
namespace {

std::string refusal(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                    const SimulationOptions& options = {}) {
    try {
        simulate(profile, kernel, launch, options);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

const GpuProfile& plain() {
    static const GpuProfile profile = gpu({{"op", 1, 4}, {"bar.sync", 1, 10, "bar"}});
    return profile;
}

TEST(Refusal, OfAnUnknownInstructionNamesItAndItsPlace) {
    Kernel unknown = chain("nop", 3);
    std::get<KernelInstruction>(std::get<Repeat>(unknown.warps[0].instructions[0]).body[0])
        .where = {12, 7};
    EXPECT_EQ(refusal(plain(), unknown, {}),
              "kernel 'test':12:7: op: profile 'test' has no instruction 'nop'");
}

TEST(Refusal, OfAWaitForAResultWhoseLatencyNobodyKnows) {
    GpuProfile profile =
        gpu({{"op", 1, 4}, {"ld.stream", 2, 100, "mem"}, {"bar.sync", 1, 10, "bar"}});
    for (const char* name : {"ld.stream", "bar.sync"}) {
        profile.find_instruction(name)->latency.reset();
        profile.find_instruction(name)->latency_unknown = nothing_waited;
    }
    Kernel kernel;
    kernel.name = "k";
    kernel.warps.push_back({1, {instruction("l", "ld.stream"), instruction("u", "op", {"l"})}});
    const std::string said =
        "the latency of ld.stream is needed, and profile 'test' has none (the instructions do not "
        "depend on each other)";
    EXPECT_EQ(refusal(profile, kernel, {}), "kernel 'k': u waits for l: " + said);
    EXPECT_THROW(simulate_reference(profile, kernel, {}), InputError);
    // Through a loop, too.
    kernel.warps[0].instructions = {
        repeat(3, {instruction("l", "ld.stream", {"u@-1"}), instruction("u", "op")})};
    EXPECT_EQ(refusal(profile, kernel, {}), "");
    kernel.warps[0].instructions = {
        repeat(3, {instruction("u", "op", {"l@-1"}), instruction("l", "ld.stream")})};
    EXPECT_EQ(refusal(profile, kernel, {}), "kernel 'k': u waits for l: " + said);
    // All warps of a group wait for a barrier; a queue holds a load until its result is there.
    kernel.warps[0].instructions = {instruction("b", "bar.sync")};
    EXPECT_NE(refusal(profile, kernel, {}), "");
    kernel.warps[0].instructions = {instruction("l", "ld.stream")};
    EXPECT_EQ(refusal(profile, kernel, {}), "");
    profile.subsystems[1].contention = Estimate{.value = 0.5};
    EXPECT_EQ(refusal(profile, kernel, {}), said);
}

TEST(Refusal, OfModelsThatNeedTheLatencyOfAnAccess) {
    GpuProfile profile = gpu({{"op", 1, 4}, {"ld.stream", 2, 100, "mem"}});
    profile.find_instruction("ld.stream")->latency.reset();
    profile.find_instruction("ld.stream")->latency_unknown = nothing_waited;
    Kernel kernel;
    kernel.name = "k";
    kernel.warps.push_back(
        {1, {repeat(8, {instruction("l", "ld.stream"), instruction("c", "op", {"c@-1"})})}});
    // Its time is that of the loads' unit: nothing waits.
    EXPECT_EQ(simulate(profile, kernel, {}).cycles, 8 * 4);
    EXPECT_NO_THROW(find_model("roofline").predict(profile, kernel, {}, {}));
    EXPECT_THROW(find_model("mwp-cwp").predict(profile, kernel, {}, {}), InputError);
}

TEST(Refusal, OfABarrierThatSomeWarpsNeverReach) {
    Kernel divergent;
    divergent.name = "divergent";
    divergent.warps.push_back({0.5, {instruction("a", "op"), instruction("b", "bar.sync", {"a"})}});
    divergent.warps.push_back({0.5, {instruction("a", "op")}});
    EXPECT_EQ(refusal(plain(), divergent, {.group_warps = 4, .concurrent_groups = 1, .groups = 1}),
              "deadlock: some warps of a group execute 1 barriers, others 0");
    EXPECT_THROW(simulate_reference(plain(), divergent,
                                    {.group_warps = 4, .concurrent_groups = 1, .groups = 1}),
                 InputError);
    // A group of one warp holds only warps of the first program.
    EXPECT_EQ(refusal(plain(), divergent, {}), "");
}

TEST(Refusal, OfDivergentWarpsWithUnorderedBarriers) {
    Kernel divergent;
    divergent.name = "divergent";
    for (int p = 0; p < 2; ++p)
        divergent.warps.push_back(
            {0.5, {instruction("a", "bar.sync"), instruction("b", "bar.sync")}});
    EXPECT_EQ(refusal(plain(), divergent, {.group_warps = 2, .concurrent_groups = 1, .groups = 1}),
              "kernel 'divergent': where warps diverge, each barrier must depend on the one "
              "before: put a into the "
              "`after` of b, or of what b waits for");
    Kernel looped;
    looped.name = "looped";
    for (int p = 0; p < 2; ++p)
        looped.warps.push_back({0.5, {repeat(3, {instruction("b", "bar.sync")})}});
    EXPECT_EQ(refusal(plain(), looped, {.group_warps = 2, .concurrent_groups = 1, .groups = 1}),
              "kernel 'looped': where warps diverge, each barrier must depend on the one before: "
              "put b@-1 into the "
              "`after` of b, or of what b waits for");
    // What it says mends it.
    for (WarpProgram& program : looped.warps)
        program.instructions = {repeat(3, {instruction("b", "bar.sync", {"b@-1"})})};
    EXPECT_EQ(refusal(plain(), looped, {.group_warps = 2, .concurrent_groups = 1, .groups = 1}),
              "");
}

// The path from one barrier to the next goes through a dependence N iterations back.
TEST(Refusal, OfUnorderedBarriersKnowsDependencesOverSeveralIterations) {
    for (const int back : {1, 2, 3, 7}) {
        const auto kernel_with = [&](const std::string& distance) {
            Kernel kernel;
            kernel.name = "distant";
            for (int p = 0; p < 2; ++p)
                kernel.warps.push_back({0.5,
                                        {instruction("first", "bar.sync"),
                                         repeat(10, {instruction("use", "op", {"make" + distance}),
                                                     instruction("make", "op", {"first"})}),
                                         instruction("second", "bar.sync", {"use"})}});
            return kernel;
        };
        SCOPED_TRACE(back);
        const Launch launch{.group_warps = 2, .concurrent_groups = 1, .groups = 2};
        const Kernel kernel = kernel_with("@-" + std::to_string(back));
        EXPECT_EQ(refusal(plain(), kernel, launch), "");
        EXPECT_EQ(simulate(plain(), kernel, launch).ticks,
                  simulate_reference(plain(), kernel, launch).ticks);
        // Eleven iterations ago is never there.
        EXPECT_EQ(refusal(plain(), kernel_with("@-11"), launch),
                  "kernel 'distant': where warps diverge, each barrier must depend on the one "
                  "before: put first into "
                  "the `after` of second, or of what second waits for");
    }
}

TEST(Refusal, OfAbsurdLaunches) {
    const Kernel one = chain("op", 1);
    EXPECT_NE(refusal(plain(), one, {.group_warps = 0, .concurrent_groups = 1, .groups = 1}), "");
    EXPECT_NE(refusal(plain(), one, {.group_warps = 1, .concurrent_groups = -3, .groups = 1}), "");
    EXPECT_NE(refusal(plain(), one, {.group_warps = 1, .concurrent_groups = 1, .groups = 0}), "");
    EXPECT_NE(
        refusal(plain(), one,
                {.group_warps = 2'000'000'000, .concurrent_groups = 2'000'000'000, .groups = 1}),
        "");
}

TEST(Refusal, OfMoreGroupsThanCanBeCounted) {
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_NE(
        refusal(plain(), chain("op", 1), {.group_warps = 1, .concurrent_groups = 1, .groups = huge})
            .find("9223372036854775807 groups"),
        std::string::npos);
}

TEST(Refusal, OfMoreInstructionsThanCanBeCounted) {
    const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    EXPECT_NE(refusal(plain(), chain("op", std::int64_t{1} << 40),
                      {.group_warps = 1, .concurrent_groups = 1, .groups = huge}),
              "");
    EXPECT_NE(
        refusal(plain(), kernel({repeat(1LL << 40, {repeat(1LL << 40, {instruction("a", "op")})})}),
                {}),
        "");
}

TEST(Refusal, OfARunThatWouldTakeForever) {
    // Irregular enough that no period is found soon; the limit ends it.
    SimulationOptions options;
    options.max_simulated = 1000;
    const Kernel straight = [] {
        std::vector<KernelItem> items;
        for (int i = 0; i < 3000; ++i) items.push_back(instruction("n" + std::to_string(i), "op"));
        return kernel(items);
    }();
    for (const Order order : {Order::dataflow, Order::in_order}) {
        options.order = order;
        try {
            simulate(plain(), straight, {}, options);
            FAIL() << "an answer within the limit";
        } catch (const LimitReached& limit) {
            EXPECT_NE(std::string(limit.what()).find("1000 instructions issued one by one"),
                      std::string::npos)
                << limit.what();
        }
    }
    options.max_simulated = 3000;
    EXPECT_EQ(simulate(plain(), straight, {}, options).simulated, 3000);
}

TEST(Refusal, OfMoreOutstandingResultsThanFitIntoMemory) {
    // Free loads: nothing waits for them.
    const GpuProfile slow = gpu({{"ld.a", 1, 1e9, "mem"}});
    const Kernel free = kernel({repeat(100'000'000, {instruction("load", "ld.a")})});
    const std::string reason = refusal(slow, free, {});
    EXPECT_NE(reason.find("results are outstanding"), std::string::npos) << reason;
    EXPECT_NE(reason.find("'load'"), std::string::npos) << reason;
}

TEST(Checkpoint, IsCalledAtTheStartAndMayEndTheRun) {
    struct Enough {};
    const auto straight = kernel({repeat(1000, {instruction("a", "op"), instruction("b", "op")})});
    for (const Order order : {Order::dataflow, Order::in_order}) {
        SimulationOptions options{.order = order, .detect_periods = false};
        std::vector<std::int64_t> seen;
        options.checkpoint = [&](const RunProgress& progress) {
            seen.push_back(progress.simulated);
            EXPECT_EQ(progress.instructions, 2000.0 * 8 * 50);
            EXPECT_EQ(progress.all_groups, 50);
            EXPECT_LE(progress.share(), 1.0);
            if (seen.size() == 4) throw Enough();
        };
        EXPECT_THROW(simulate(plain(), straight, {8, 2, 50}, options), Enough);
        EXPECT_EQ(seen, (std::vector<std::int64_t>{0, checkpoint_interval, 2 * checkpoint_interval,
                                                   3 * checkpoint_interval}));
    }
}

TEST(Refusal, OfTimesBeyondTheResolution) {
    EXPECT_NE(refusal(gpu({{"op", 1e-12, 4}}), chain("op", 2), {}), "");
    EXPECT_NE(refusal(gpu({{"op", 1, 1e200}}), chain("op", 2), {}), "");
    EXPECT_NE(refusal(gpu({{"op", 1, -4}}), chain("op", 2), {}), "");
    EXPECT_NE(
        refusal(gpu({{"op", std::numeric_limits<double>::quiet_NaN(), 4}}), chain("op", 2), {}),
        "");
}

TEST(Refusal, OfSimulatedTimeThatOverflows) {
    EXPECT_NE(refusal(gpu({{"op", 1, 1e15}}), chain("op", 100'000), {}), "");
}

TEST(Refusal, OfTooManyOverlappingIterations) {
    // Each outer iteration starts a chain of its own; nothing orders them.
    const Kernel loose =
        kernel({repeat(1'000'000, {repeat(100, {instruction("a", "op", {"a@-1"})})})});
    EXPECT_NE(refusal(plain(), loose, {}).find("order in_order"), std::string::npos);
}

TEST(Refusal, OfAnUnknownModelNamesThoseThereAre) {
    try {
        find_model("crystal-ball");
        FAIL();
    } catch (const InputError& error) {
        for (const Model& model : models())
            EXPECT_NE(std::string(error.what()).find(model.name), std::string::npos);
    }
}

}  // namespace
}  // namespace occupipe::test
