// SPDX-License-Identifier: MIT
#include "ask/issue_slots.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/instruction.h"
#include "sim/models/registry.h"

namespace occupipe::analysis {
namespace {

GpuProfile profile_with(std::optional<std::int64_t> slots) {
    GpuProfile profile;
    profile.device.name = "made up";
    profile.cores = 1;
    profile.warp_size = 32;
    profile.clock_hz = 1e9;
    profile.issue = {.limit = 1, .limit_std_error = {}, .policy = {}, .select = {}};
    const auto add = [&](const char* name, const char* subsystem, std::optional<std::int64_t> of) {
        profile.subsystems.push_back(
            {.name = subsystem, .scope = Scope::core, .contention = {}, .issue_slots = of});
        InstructionTiming timing;
        timing.name = name;
        timing.subsystem = subsystem;
        timing.cpi.value = 1;
        timing.latency = Estimate{.value = 4};
        profile.instructions.push_back(timing);
    };
    add("add.f32", "fma", {});
    add("ex2.approx.f32", "special", slots);
    add("issue.slot", "issue-slots", {});
    return profile;
}

KernelInstruction instruction(const char* id, const char* op, std::optional<int> stall = {}) {
    KernelInstruction one;
    one.id = id;
    one.op = op;
    one.stall = stall;
    return one;
}

Kernel mixed() {
    Kernel kernel;
    kernel.name = "mixed";
    kernel.order = Order::in_order;
    Repeat loop{.count = 100,
                .body = {instruction("a", "add.f32", 2), instruction("x", "ex2.approx.f32", 6)}};
    kernel.warps.push_back(
        {.share = 1, .instructions = {instruction("y", "ex2.approx.f32"), loop}});
    return kernel;
}

std::vector<std::string> told(const std::vector<KernelItem>& items) {
    std::vector<std::string> all;
    for_each_instruction(items, [&](const KernelInstruction& one) {
        all.push_back(one.id + " " + one.op + (one.stall ? " " + std::to_string(*one.stall) : ""));
    });
    return all;
}

TEST(IssueSlots, StandBehindTheirInstructions) {
    const Kernel two = with_issue_slots(mixed(), profile_with(2));
    EXPECT_EQ(told(two.warps[0].instructions),
              (std::vector<std::string>{"y ex2.approx.f32", "y~slot issue.slot", "a add.f32 2",
                                        "x ex2.approx.f32", "x~slot issue.slot 5"}));
    const Kernel three = with_issue_slots(mixed(), profile_with(3));
    EXPECT_EQ(told(three.warps[0].instructions),
              (std::vector<std::string>{"y ex2.approx.f32", "y~slot issue.slot",
                                        "y~slot2 issue.slot", "a add.f32 2", "x ex2.approx.f32",
                                        "x~slot issue.slot", "x~slot2 issue.slot 4"}));
    validate(two);
    validate(three);
    EXPECT_EQ(with_issue_slots(mixed(), profile_with({})), mixed());
    GpuProfile without = profile_with(2);
    without.instructions.pop_back();
    EXPECT_EQ(with_issue_slots(mixed(), without), mixed());
}

// The scheduler issues one a cycle: 201 slots of a warp, or 302. Instructions are as many.
TEST(IssueSlots, AreTakenFromTheScheduler) {
    const Launch launch{.group_warps = 32, .concurrent_groups = 1, .groups = 1};
    for (const char* const model : {"pipeline", "roofline"}) {
        const auto predicted = [&](std::optional<std::int64_t> slots) {
            const GpuProfile profile = profile_with(slots);
            return find_model(model).predict(profile, with_issue_slots(mixed(), profile), launch,
                                             {});
        };
        const Prediction one = predicted({}), two = predicted(2);
        EXPECT_NEAR(one.cycles, 32 * 201, 10) << model;
        EXPECT_NEAR(two.cycles, 32 * 302, 10) << model;
        EXPECT_EQ(two.limited_by, "issue") << model;
        EXPECT_NEAR(one.instructions_per_cycle * one.cycles, 32 * 201, 1e-6) << model;
        EXPECT_NEAR(two.instructions_per_cycle * two.cycles, 32 * 201, 1e-6) << model;
    }
}

}  // namespace
}  // namespace occupipe::analysis
