// SPDX-License-Identifier: MIT
#include "fit/profile/profile_extend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two schedulers with an arithmetic unit each, and memory of the core.
GpuProfile base() {
    return parse_profile(
        "format: occupipe-profile/1\n"
        "device: {name: A GPU}\n"
        "cores: 4\nwarp_size: 32\nclock_hz: 1e9\n"
        "issue: {limit: 2, schedulers: 2}\n"
        "subsystems: {fp: {scope: scheduler}, memory: {scope: core}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: fp, cpi: 2, latency: 4}\n"
        "  ld.global.u32: {subsystem: memory, cpi: 8, latency: 400}\n"
        "provenance: {tool: by hand}\n",
        "base.yaml");
}

// As a fit has it: λ per core where no mix showed a copy per scheduler.
GpuProfile more(const std::string& change_from = "", const std::string& change_to = "") {
    std::string text =
        "format: occupipe-profile/1\n"
        "device: {name: A GPU}\n"
        "cores: 4\nwarp_size: 32\nclock_hz: 1.1e9\n"
        "issue: {limit: 3, schedulers: 2}\n"
        "subsystems: {alu: {scope: core}, sfu: {scope: core}, mem: {scope: scheduler}}\n"
        "instructions:\n"
        "  fma.f32: {subsystem: alu, cpi: 77, latency: 99}\n"
        "  add.s32:\n"
        "    subsystem: alu\n"
        "    cpi: {value: 0.5, std_error: 0.01}\n"
        "    latency: 5\n"
        "    loop_cpi: 0.125\n"
        "    tables: [{over: in_flight, rows: [{at: 1, cpi: 3, latency: 5}, {at: 8, cpi: 0.5}]}]\n"
        "  cos.approx.f32: {subsystem: sfu, cpi: 2, latency: 18}\n"
        "  ld.global.u64: {subsystem: mem, cpi: 12, latency: 410}\n"
        "memory_levels:\n"
        "  - {instruction: ld.global.u64, latency: 33, first_bytes: 4096, last_bytes: 65536}\n"
        "  - {instruction: ld.global.u32, latency: 44, first_bytes: 4096, last_bytes: 65536}\n"
        "provenance: {tool: fitted}\n";
    if (!change_from.empty()) text.replace(text.find(change_from), change_from.size(), change_to);
    return parse_profile(text, "more.yaml");
}

TEST(ExtendProfile, AddsWhatIsMissingAndChangesNothingElse) {
    const ProfileExtension made = extend_profile(base(), more(), "rows.json", "xxh128:12");
    EXPECT_THAT(made.added, ElementsAre("add.s32", "cos.approx.f32", "ld.global.u64"));
    const GpuProfile& profile = made.profile;
    EXPECT_EQ(*profile.find_instruction("fma.f32"), *base().find_instruction("fma.f32"));
    EXPECT_EQ(profile.issue, base().issue);
    EXPECT_EQ(profile.clock_hz, 1e9);
    // λ per core stays what it is: 0.5 of a core are 1 of each scheduler's unit, 12 of a
    // scheduler's are 6 of the core's.
    const InstructionTiming& add = *profile.find_instruction("add.s32");
    EXPECT_EQ(add.subsystem, "fp");
    EXPECT_EQ(add.cpi.value, 1);
    EXPECT_EQ(add.cpi.std_error, 0.02);
    EXPECT_EQ(add.loop_cpi->value, 0.25);
    EXPECT_EQ(add.tables.at(0).rows.at(0).cpi->value, 6);
    EXPECT_EQ(add.tables.at(0).rows.at(0).latency->value, 5);
    EXPECT_EQ(add.latency->value, 5);
    EXPECT_EQ(profile.cpi_per_core(add).value, 0.5);
    const InstructionTiming& load = *profile.find_instruction("ld.global.u64");
    EXPECT_EQ(load.subsystem, "memory");
    EXPECT_EQ(load.cpi.value, 6);
    // A class that the profile has not: its own subsystem comes along.
    EXPECT_EQ(profile.find_instruction("cos.approx.f32")->subsystem, "sfu");
    EXPECT_EQ(profile.subsystems.size(), 3U);
    ASSERT_EQ(profile.memory_levels.size(), 1U);
    EXPECT_EQ(profile.memory_levels[0].instruction, "ld.global.u64");
    EXPECT_THAT(made.notes.at(0), HasSubstr("add.s32 is put into the subsystem fp, as the "
                                            "profile's others of its class"));
    const std::string text = format_profile(profile);
    EXPECT_THAT(text, HasSubstr("tool: by hand"));
    EXPECT_THAT(text, HasSubstr("file: rows.json"));
    EXPECT_THAT(text, HasSubstr("xxh128:12"));
    EXPECT_EQ(parse_profile(text, "again.yaml"), profile);
}

TEST(ExtendProfile, TwiceKeepsBothSources) {
    const GpuProfile once = extend_profile(base(), more(), "one.json", "xxh128:1").profile;
    const ProfileExtension again = extend_profile(once, more(), "two.json", "xxh128:2");
    EXPECT_TRUE(again.added.empty());
    EXPECT_EQ(again.profile, once);
    const GpuProfile fewer = [] {
        GpuProfile profile = more();
        std::erase_if(profile.instructions,
                      [](const InstructionTiming& one) { return one.name != "add.s32"; });
        profile.memory_levels.clear();
        return profile;
    }();
    const GpuProfile first = extend_profile(base(), fewer, "one.json", "xxh128:1").profile;
    const std::string text =
        format_profile(extend_profile(first, more(), "two.json", "xxh128:2").profile);
    EXPECT_THAT(text, HasSubstr("xxh128:1"));
    EXPECT_THAT(text, HasSubstr("xxh128:2"));
}

TEST(ExtendProfile, RefusesOtherDevices) {
    const auto refusal = [](const std::string& from, const std::string& to) -> std::string {
        try {
            extend_profile(base(), more(from, to), "rows.json", "");
        } catch (const InputError& error) {
            return error.what();
        }
        return "taken";
    };
    EXPECT_THAT(refusal("A GPU", "B GPU"), HasSubstr("device.name A GPU there, B GPU here"));
    EXPECT_THAT(refusal("cores: 4", "cores: 5"), HasSubstr("cores 4 there, 5 here"));
    EXPECT_THAT(refusal("warp_size: 32", "warp_size: 64"), HasSubstr("warp_size"));
    EXPECT_THAT(refusal("schedulers: 2", "schedulers: 4"), HasSubstr("issue.schedulers"));
}

// A class that was split by scope has two subsystems: what is new goes to that of its own scope.
TEST(ExtendProfile, OfASplitClassTheSubsystemOfTheScopeIsTaken) {
    GpuProfile split = base();
    split.subsystems.push_back({.name = "fp.core", .scope = Scope::core});
    InstructionTiming one = split.instructions.front();
    one.name = "mul.s32";
    one.subsystem = "fp.core";
    split.instructions.push_back(one);
    const GpuProfile profile = extend_profile(split, more(), "rows.json", "xxh128:12").profile;
    EXPECT_EQ(profile.find_instruction("add.s32")->subsystem, "fp.core");
    EXPECT_EQ(profile.find_instruction("add.s32")->cpi.value, 0.5);
}

}  // namespace
}  // namespace occupipe
