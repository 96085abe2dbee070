// SPDX-License-Identifier: MIT
#include "ask/substitutes.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <string>

#include "ask/answer.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuProfile profile(const std::string& instructions) {
    return parse_profile(
        "format: occupipe-profile/1\ndevice: {name: test}\ncores: 1\nwarp_size: 32\n"
        "clock_hz: 1e9\nsubsystems: {alu: {}}\ninstructions:\n" +
            instructions,
        "p.yaml");
}

Kernel kernel(const std::string& op) {
    return parse_kernel(
        "format: occupipe-kernel/1\nname: k\ninstructions: [{id: x, op: " + op + "}]\n", "k.yaml");
}

TEST(StandIns, ALoadIsTheSameInstructionWhateverTheType) {
    GpuProfile p = profile("  ld.global.u32: {subsystem: alu, cpi: 2, latency: 400}\n");
    EXPECT_THAT(apply_stand_ins(kernel("ld.global.s32"), p),
                ElementsAre(HasSubstr("ld.global.s32 uses the numbers of ld.global.u32")));
    ASSERT_NE(p.find_instruction("ld.global.s32"), nullptr);
    EXPECT_EQ(p.find_instruction("ld.global.s32")->latency->value, 400);
}

TEST(StandIns, AnIssueSlotTakesTheIssueLimitAndNoUnit) {
    GpuProfile p = profile(
        "  fma.f32: {subsystem: alu, cpi: 0.5, latency: 4}\n"
        "  div.f32: {subsystem: alu, cpi: 8, latency: 40}\n"
        "  ld.global.u32: {subsystem: alu, cpi: 2, latency: 3}\n");
    p.issue.limit = 2;
    EXPECT_THAT(apply_stand_ins(kernel("issue.slot"), p),
                ElementsAre(AllOf(HasSubstr("0.5 cycles of the issue limit"),
                                  HasSubstr("after 4 cycles, as fma.f32's"))));
    const InstructionTiming* slot = p.find_instruction("issue.slot");
    ASSERT_NE(slot, nullptr);
    EXPECT_EQ(slot->cpi.value, 0.5);
    EXPECT_EQ(slot->latency->value, 4);
    EXPECT_EQ(slot->source, Source::assumed);
    EXPECT_NE(slot->subsystem, "alu");
    EXPECT_NO_THROW(validate(p));
}

TEST(StandIns, AnEntryOfTheOpsOwnNameIsNeverReplaced) {
    GpuProfile p = profile(
        "  ld.global.u32: {subsystem: alu, cpi: 2, latency: 400}\n"
        "  ld.global.s32: {subsystem: alu, cpi: 3, latency: 500}\n");
    EXPECT_THAT(apply_stand_ins(kernel("ld.global.s32"), p), IsEmpty());
    EXPECT_EQ(p.find_instruction("ld.global.s32")->latency->value, 500);
}

TEST(StandIns, AStreamOfLoadsGivesNoLatency) {
    GpuProfile p = profile("  ld.global.f32: {subsystem: alu, cpi: 2, latency: 4}\n");
    EXPECT_THAT(apply_stand_ins(kernel("ld.global.s32"), p), IsEmpty());
    EXPECT_EQ(p.find_instruction("ld.global.s32"), nullptr);
}

TEST(StandIns, TheBoundIsTakenOnlyWhereThereIsNoValue) {
    const std::string bound =
        "  ld.shared.u32: {subsystem: alu, cpi: 2, latency: {value: 30, identifiable: false, "
        "bound: "
        "lower}}\n";
    GpuProfile both = profile(bound + "  ld.shared.b32: {subsystem: alu, cpi: 2, latency: 29}\n");
    apply_stand_ins(kernel("ld.shared.s32"), both);
    EXPECT_EQ(both.find_instruction("ld.shared.s32")->latency->value, 29);
    GpuProfile one = profile(bound);
    apply_stand_ins(kernel("ld.shared.s32"), one);
    ASSERT_NE(one.find_instruction("ld.shared.s32"), nullptr);
    EXPECT_FALSE(one.find_instruction("ld.shared.s32")->latency->identifiable());
}

TEST(StandIns, WhatAPaperSaysOfTheMultiplicationHoldsForItsUnitButNoMeasurementDoes) {
    GpuProfile published = profile(
        "  mul.f32: {subsystem: alu, cpi: 0.5, latency: 4, source: literature, reference: Table "
        "5}\n");
    EXPECT_THAT(apply_stand_ins(kernel("fma.f32"), published),
                ElementsAre(HasSubstr("fma.f32 uses the numbers of mul.f32")));
    GpuProfile measured =
        profile("  mul.f32: {subsystem: alu, cpi: 0.5, latency: 4, source: measured}\n");
    EXPECT_THAT(apply_stand_ins(kernel("fma.f32"), measured), IsEmpty());
}

TEST(StandIns, AnAssumptionOfTheProfileIsSaidOfTheKernelsOwnInstructionsOnce) {
    const GpuProfile assumed = profile(
        "  fma.f32: {subsystem: alu, cpi: 0.5, latency: 4, source: assumed, reference: Table 5's "
        "mul.f32 stands for it}\n"
        "  add.f32: {subsystem: alu, cpi: 0.5, latency: 4, source: assumed, reference: other}\n");
    EXPECT_THAT(
        assumed_in_profile(kernel("fma.f32"), assumed),
        ElementsAre("the profile assumes the numbers of fma.f32: Table 5's mul.f32 stands for "
                    "it"));
    EXPECT_THAT(assumed_in_profile(kernel("mul.f32"), assumed), IsEmpty());
    GpuProfile slots = assumed;
    apply_stand_ins(kernel("issue.slot"), slots);
    EXPECT_THAT(assumed_in_profile(kernel("issue.slot"), slots), IsEmpty());
}

TEST(StandIns, AScopeThatNoMeasurementShowedIsSaid) {
    GpuProfile measured = profile(
        "  fma.f32: {subsystem: alu, cpi: 0.5, latency: 4, source: measured}\n"
        "  add.f32: {subsystem: alu, cpi: 0.5, latency: 4, source: measured}\n");
    measured.issue.schedulers = 4;
    measured.subsystems[0].scope = Scope::core;
    EXPECT_THAT(assumed_scopes(measured), IsEmpty());
    measured.subsystems[0].scope.reset();
    EXPECT_THAT(assumed_scopes(measured), ElementsAre(HasSubstr("one for the core is assumed")));
    EXPECT_THAT(assumed_in_profile(kernel("fma.f32"), measured), assumed_scopes(measured));
    EXPECT_THAT(assumed_in_profile(kernel("mul.f32"), measured), IsEmpty());
    measured.issue.schedulers = 1;
    EXPECT_THAT(assumed_scopes(measured), ElementsAre(HasSubstr("one scheduler is assumed")));
}

// What each kernel of the tree lacks on each profile of the tree is listed in
// sim/kernels/README.md; everything else runs.
TEST(StandIns, EveryKernelHasItsInstructionsOnEveryProfileButTheListedOnes) {
    namespace fs = std::filesystem;
    const fs::path root = OCCUPIPE_SOURCE_DIR;
    const std::set<std::string> names_of_their_own = {"example", "mmul_8x8", "mmul_16x16"};
    const std::set<std::string> profiles_beside = {"example_gpu", "mmul_fermi", "mmul_pascal"};
    std::vector<fs::path> profiles;
    for (const fs::path& folder : {root / "profiles", root / "results/cpu-amd-zen4-pocl"})
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".yaml") profiles.push_back(entry.path());
    ASSERT_GE(profiles.size(), 8U);
    int pairs = 0;
    for (const auto& entry : fs::directory_iterator(root / "sim/kernels")) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() != ".yaml" || profiles_beside.contains(name) ||
            names_of_their_own.contains(name))
            continue;
        const Kernel kernel = read_kernel(entry.path());
        for (const fs::path& path : profiles) {
            GpuProfile profile = read_profile(path);
            apply_stand_ins(kernel, profile);
            const bool cpu = path.string().find("cpu-") != std::string::npos;
            for_each_instruction(kernel, [&](const KernelInstruction& instruction) {
                if (cpu && instruction.op == "bar.sync") return;
                EXPECT_NE(profile.find_instruction(instruction.op), nullptr)
                    << name << " on " << path << " lacks " << instruction.op;
            });
            ++pairs;
        }
    }
    EXPECT_GE(pairs, 15 * 8);
}

}  // namespace
}  // namespace occupipe::analysis
