// SPDX-License-Identifier: MIT
#include "fit/profile/profile_complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GpuProfile measured() {
    return parse_profile(
        "format: occupipe-profile/2\n"
        "device: {name: here, compute_capability: \"8.0\"}\n"
        "cores: 2\nwarp_size: 32\nclock_hz: 1.1e9\n"
        "issue: {schedulers: 4}\n"
        "subsystems: {alu: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: alu, cpi: {value: 0.5, std_error: 0.01}, latency: 4.1, source: "
        "measured}\n"
        "  add.f32: {subsystem: alu, cpi: {value: 0.9, bound: upper}, latency_unknown: no chain, "
        "source: measured}\n"
        "provenance: {tool: fit, subsystems_confidence: 0.95}\n",
        "measured.yaml");
}

GpuProfile published() {
    return parse_profile(
        "format: occupipe-profile/1\n"
        "device: {name: card, compute_capability: \"8.0\"}\n"
        "cores: 2\nwarp_size: 32\nclock_hz: 1.4e9\n"
        "limits: {warps: 64}\n"
        "issue: {limit: 4, schedulers: 4}\n"
        "subsystems: {fma: {scope: scheduler}, mem: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: fma, cpi: 2, latency: 4, source: vendor}\n"
        "  add.f32: {subsystem: fma, cpi: 2, latency: 4, source: vendor}\n"
        "  mul.f32: {subsystem: fma, cpi: 2, latency: 4, source: vendor}\n"
        "  ld.global.u32: {subsystem: mem, cpi: 9, latency: 400, source: literature}\n"
        "provenance: {made: published}\n",
        "card.yaml");
}

TEST(CompleteProfile, KeepsWhatWasMeasuredAndTakesTheRest) {
    const CompletedProfile made = complete_profile(measured(), published());
    const GpuProfile& profile = made.profile;
    EXPECT_THAT(made.measured, ElementsAre("fma.f32", "add.f32"));
    EXPECT_THAT(made.published, ElementsAre("add.f32", "mul.f32", "ld.global.u32"));
    EXPECT_EQ(profile.clock_hz, 1.1e9);
    EXPECT_EQ(profile.device.name, "here");
    EXPECT_EQ(*profile.find_instruction("fma.f32"), *measured().find_instruction("fma.f32"));
    // A bound and what is unknown give way; λ is of one unit for the core here, as measured.
    const InstructionTiming& add = *profile.find_instruction("add.f32");
    EXPECT_EQ(add.cpi.value, 0.5);
    EXPECT_EQ(add.latency->value, 4);
    EXPECT_EQ(add.source, Source::measured);
    EXPECT_EQ(add.cpi.source, Source::vendor);
    EXPECT_EQ(add.latency->source, Source::vendor);
    const InstructionTiming& mul = *profile.find_instruction("mul.f32");
    EXPECT_EQ(mul.subsystem, "alu");
    EXPECT_EQ(mul.cpi.value, 0.5);
    EXPECT_EQ(mul.source, Source::vendor);
    EXPECT_EQ(profile.find_instruction("ld.global.u32")->subsystem, "mem");
    EXPECT_EQ(*profile.limits.warps, 64);
}

// λ of the core stays what it was.
TEST(CompleteProfile, ScopesThatAreOpenAreThePublishedUnits) {
    GpuProfile open = measured();
    open.subsystems.front().scope.reset();
    const GpuProfile profile = complete_profile(open, published()).profile;
    EXPECT_EQ(profile.find_subsystem("alu")->scope, Scope::scheduler);
    const InstructionTiming& fma = *profile.find_instruction("fma.f32");
    EXPECT_EQ(fma.cpi.value, 2);
    EXPECT_EQ(fma.cpi.std_error, 0.04);
    EXPECT_EQ(profile.cpi_per_core(fma).value, 0.5);
    EXPECT_EQ(profile.find_instruction("add.f32")->cpi.value, 2);
}

// Without mixes that tell, arithmetic is of the units that the vendor documents; λ stays.
TEST(CompleteProfile, TakesPublishedUnitsWhereMixesWereTooFew) {
    GpuProfile one_unit = measured();
    one_unit.provenance.entries.clear();
    InstructionTiming like = *one_unit.find_instruction("fma.f32");
    like.name = "fma.f32.same";
    one_unit.instructions.push_back(like);
    like.name = "odd";
    one_unit.instructions.push_back(like);
    const GpuProfile profile = complete_profile(one_unit, published()).profile;
    EXPECT_EQ(profile.find_instruction("fma.f32")->subsystem, "fma");
    EXPECT_EQ(profile.find_instruction("fma.f32.same")->subsystem, "fma");
    EXPECT_EQ(profile.find_instruction("odd")->subsystem, "alu");
    for (const char* name : {"fma.f32", "fma.f32.same", "odd"})
        EXPECT_DOUBLE_EQ(profile.cpi_per_core(*profile.find_instruction(name)).value,
                         one_unit.cpi_per_core(*one_unit.find_instruction(name)).value);
}

TEST(CompleteProfile, RefusesAnotherDevice) {
    GpuProfile other = published();
    other.cores = 3;
    try {
        complete_profile(measured(), other);
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("cores: is 2 as measured, but 3 as published"));
    }
}

TEST(CompleteProfile, TellsWhatIsPublished) {
    EXPECT_TRUE(is_published(published()));
    EXPECT_FALSE(is_published(measured()));
}

}  // namespace
}  // namespace occupipe
