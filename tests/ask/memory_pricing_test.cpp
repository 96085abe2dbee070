// SPDX-License-Identifier: MIT
// Prices of memory instructions by hand: shares of levels, sectors, passes, the paper's R and D.
#include "ask/memory/memory_pricing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ask/answer.h"
#include "ask/what_if.h"
#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr const char* rows = R"(
format: occupipe-profile/2
device: {name: made up}
cores: 4
warp_size: 32
clock_hz: 1000000000
issue: {schedulers: 2}
subsystems:
  mem: {scope: core}
  shared: {scope: scheduler}
instructions:
  ld.global.l1.u32: {subsystem: mem, cpi: 1, latency: 30, source: measured}
  ld.global.l2.u32: {subsystem: mem, cpi: 4, latency: 200, source: measured}
  ld.global.l2.u32.stride2: {subsystem: mem, cpi: 9, latency: 230, source: measured}
  ld.global.u32: {subsystem: mem, cpi: 10, latency: 500, source: measured}
  ld.global.f32: {subsystem: mem, cpi: 8, latency_unknown: the instructions do not depend on each other, source: measured}
  st.global.f32: {subsystem: mem, cpi: 12, latency: 20, source: measured}
  atom.global.add.u32: {subsystem: mem, cpi: 3, latency: 300, source: measured}
  ld.shared.u32: {subsystem: shared, cpi: 2, latency: 20, source: measured}
)";

GpuProfile with_rows(const std::string& more = {}) {
    return parse_profile(std::string(rows + 1) + more, "rows.yaml");
}

GpuProfile without(GpuProfile profile, const std::string& name) {
    std::erase_if(profile.instructions,
                  [&](const InstructionTiming& one) { return one.name == name; });
    return profile;
}

Kernel kernel_of(const std::string& instructions) {
    return parse_kernel(
        "format: occupipe-kernel/1\nname: k\n"
        "memory: {cores: 4, concurrent_groups: 2, group_shared_bytes: 1000}\ninstructions:\n" +
            instructions,
        "k.yaml");
}

const CacheSizes small{{"l1", {1024, "a"}}, {"l2", {4096, "b"}}};

struct Price {
    double cpi = 0, latency = 0;
};

// Of the first instruction, in units of its subsystem.
Price price_of(const PricedMemory& priced) {
    const auto& one = std::get<KernelInstruction>(priced.kernel.warps[0].instructions[0]);
    const InstructionTiming* const timing = priced.profile.find_instruction(one.op);
    EXPECT_NE(timing, nullptr) << one.op;
    if (!timing) return {};
    return {timing->cpi.value, timing->latency ? timing->latency->value : -1};
}

PricedMemory per_access(const std::string& memory, const GpuProfile& profile = with_rows(),
                        const std::string& op = "ld.global.f32", const CacheSizes& sizes = small) {
    return price_memory(kernel_of("  - {id: a, op: " + op + ", memory: " + memory + "}\n"), profile,
                        MemoryPricing::per_access, sizes);
}

TEST(MemoryPricing, LevelsCountByTheirShares) {
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [[1024, 0.5]], device: [[2048, 0.75]]}");
    // Half of it in the first level, a quarter in the second and in DRAM each. Throughput of DRAM
    // is that of the stream. The levels work at the same time: all of it passes the first, half of
    // it the second.
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, std::max({1.0, 0.5 * 4, 0.25 * 8}));
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 0.5 * 30 + 0.25 * 200 + 0.25 * 500);
    ASSERT_EQ(priced.rows.size(), 1);
    EXPECT_DOUBLE_EQ(*priced.rows[0].dram_bytes, 32);
    EXPECT_DOUBLE_EQ(*priced.dram_ratio, 0.25);
    EXPECT_DOUBLE_EQ(priced.rows[0].cpi->value, price_of(priced).cpi);
}

// A quarter of the sectors is in DRAM, but half of the requests wait for one of these.
TEST(MemoryPricing, ARequestWaitsForItsFarthestSector) {
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [[1024, 0.5]], device: [[2048, 0.75]], "
        "core_requests: [[1024, 0.2]], device_requests: [[2048, 0.5]]}");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, std::max({1.0, 0.5 * 4, 0.25 * 8}));
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 0.2 * 30 + 0.3 * 200 + 0.5 * 500);
}

TEST(MemoryPricing, PlacesFarApartInDramTakeLonger) {
    const auto latency = [](const std::string& places) {
        return price_of(per_access("{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: "
                                   "[]" +
                                   places + "}"))
            .latency;
    };
    EXPECT_DOUBLE_EQ(latency(""), 500);
    EXPECT_DOUBLE_EQ(latency(", places: 1, group_places: 0"), 500);
    EXPECT_DOUBLE_EQ(latency(", places: 1, group_places: 1"), 500 * 1.11);
    EXPECT_DOUBLE_EQ(latency(", places: 8, group_places: 8"), 500 * (1.11 + 0.19 * std::log(8)));
    // What a warp waits for scatters about it.
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: [], places: 1, "
        "group_places: 1}");
    ASSERT_EQ(priced.latencies.size(), 1U);
    double mean = 0, square = 0;
    for (const auto& [share, one] : priced.latencies.begin()->second) {
        mean += share * one.value;
        square += share * one.value * one.value;
    }
    EXPECT_NEAR(mean, 500 * 1.11, 1e-9);
    EXPECT_NEAR(std::sqrt(square - mean * mean) / mean, 0.21, 0.02);
}

// Eight warps share a KiB where words lie side by side; two or one are taken to be no farther.
TEST(MemoryPricing, PlacesOfAGroupAreComparedWithOneForAll) {
    const auto latency = [](int warps, const std::string& group_places) {
        Kernel kernel = kernel_of(
            "  - {id: a, op: ld.global.f32, memory: {bytes: 128, sectors: 4, least_sectors: 4, "
            "core: [], device: [], places: 1, group_places: " +
            group_places + "}}\n");
        kernel.launch = {.group_warps = warps, .concurrent_groups = 1, .groups = 4};
        return price_of(price_memory(kernel, with_rows(), MemoryPricing::per_access, small))
            .latency;
    };
    const double near = 500 * (1 + 0.11 / 8), far = 500 * 1.11;
    EXPECT_DOUBLE_EQ(latency(1, "1"), near);
    EXPECT_DOUBLE_EQ(latency(2, "0.5"), near);
    EXPECT_DOUBLE_EQ(latency(2, "1"), far);
    EXPECT_DOUBLE_EQ(latency(4, "0.625"), (near + far) / 2);
    EXPECT_DOUBLE_EQ(latency(16, "0.125"), near);
}

// One access of each level: together they take what the busiest level does.
TEST(MemoryPricing, LevelsWorkAtTheSameTime) {
    const std::string far = "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: []}";
    const std::string near =
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [[128, 1]], device: [[128, 1]]}";
    const auto sum_of = [&](const std::string& more) {
        const PricedMemory priced = price_memory(
            kernel_of("  - {id: far, op: ld.global.f32, memory: " + far +
                      "}\n  - {id: near, op: ld.global.f32, memory: " + near + "}\n" + more),
            with_rows(), MemoryPricing::per_access, small);
        return priced.rows[0].cpi->value + priced.rows[1].cpi->value;
    };
    // DRAM 8; the first level has both, 2.
    EXPECT_DOUBLE_EQ(sum_of(""), 8);
    const auto shared = [](int passes) {
        return "  - {id: s, op: ld.shared.u32, memory: {bytes: 128, passes: " +
               std::to_string(passes) + ", least_passes: 1}}\n";
    };
    // Shared memory and the first level are one: with six passes still no more than DRAM's.
    EXPECT_DOUBLE_EQ(sum_of(shared(6)), 8);
    EXPECT_DOUBLE_EQ(sum_of(shared(7)), 9);  // by itself, that is: both take nine
    EXPECT_DOUBLE_EQ(sum_of(shared(30)), 9);
}

// Six passes for shared memory, then two for loads that find their data in the first level and one
// that does not.
TEST(MemoryPricing, SharedMemoryWaitsForTheFirstLevelsPasses) {
    const PricedMemory priced = price_memory(
        kernel_of("  - {id: s, op: ld.shared.u32, memory: {bytes: 128, passes: 6, least_passes: "
                  "1}}\n  - repeat: 2\n    body:\n      - {id: near, op: ld.global.f32, memory: "
                  "{bytes: 128, sectors: 4, least_sectors: 4, core: [[128, 1]], device: [[128, "
                  "1]]}}\n  - {id: far, op: ld.global.f32, memory: {bytes: 128, sectors: 4, "
                  "least_sectors: 4, core: [], device: []}}\n"),
        with_rows(), MemoryPricing::per_access, small);
    // λ of ld.shared.u32 is one cycle of a core, a hit's too.
    EXPECT_DOUBLE_EQ(priced.rows[0].cpi->value, 6 + 2 + 1);
    EXPECT_DOUBLE_EQ(priced.profile.find_instruction("ld.shared.u32~s")->cpi.value, 2 * 9);
}

// A chase that too few warps cannot saturate bounds a rate from above, and so may the stream.
TEST(MemoryPricing, OfTwoUpperBoundsTheLowerOneCounts) {
    const auto far = [](double chase, double stream) {
        GpuProfile profile = with_rows();
        for (InstructionTiming& timing : profile.instructions) {
            const bool is_chase = timing.name == "ld.global.u32";
            if (!is_chase && timing.name != "ld.global.f32") continue;
            timing.cpi = {.value = is_chase ? chase : stream, .kind = Estimate::Kind::upper_bound};
        }
        return price_of(
                   per_access("{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: []}",
                              profile))
            .cpi;
    };
    EXPECT_DOUBLE_EQ(far(12, 9), 9);
    EXPECT_DOUBLE_EQ(far(8, 9), 8);
}

PricedMemory launched(std::int64_t groups, const std::string& op, const std::string& memory) {
    Kernel kernel = kernel_of("  - {id: a, op: " + op + ", memory: " + memory + "}\n");
    kernel.launch = {.group_warps = 2, .concurrent_groups = 2, .groups = groups};
    return price_memory(kernel, with_rows(), MemoryPricing::per_access, small);
}

// The device's bandwidth belongs to the cores that are at work.
TEST(MemoryPricing, CoresWithoutWorkLeaveTheirShareOfDeviceMemory) {
    const std::string far = "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: []}";
    // On 4 cores: all have two groups; 7 of 8 places are taken; one core of four is alone, and gets
    // no more than the second level gives it.
    for (const auto& [groups, cpi] : {std::pair{8, 8.0}, {7, 7.0}, {5, 5.0}, {1, 4.0}}) {
        EXPECT_DOUBLE_EQ(price_of(launched(groups, "ld.global.f32", far)).cpi, cpi) << groups;
        EXPECT_DOUBLE_EQ(price_of(launched(groups, "ld.global.f32", far)).latency, 500) << groups;
    }
    const std::string near =
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: [[1, 1]]}";
    EXPECT_DOUBLE_EQ(price_of(launched(1, "ld.global.f32", near)).cpi, 4);
}

// At half the clock a byte of device memory takes half the cycles, and the way to the second level
// (200 cycles) as many; what is set by hand stays.
TEST(WhatIf, AnotherClockLeavesDeviceMemoryItsSeconds) {
    GpuProfile profile = with_rows();
    apply_what_ifs({"st.global.f32.cpi=7", "clock_hz=5e8"}, profile);
    EXPECT_EQ(profile.clock_hz, 5e8);
    EXPECT_DOUBLE_EQ(profile.find_instruction("ld.global.u32")->cpi.value, 5);
    EXPECT_DOUBLE_EQ(profile.find_instruction("ld.global.u32")->latency->value, 200 + 300 / 2.0);
    EXPECT_DOUBLE_EQ(profile.find_instruction("st.global.f32")->cpi.value, 7);
    EXPECT_DOUBLE_EQ(profile.find_instruction("ld.global.l2.u32")->cpi.value, 4);
    EXPECT_DOUBLE_EQ(profile.find_instruction("atom.global.add.u32")->cpi.value, 3);
}

// Bank conflicts are priced by the row's table, which a setting of the row moves.
TEST(WhatIf, TakesTheTablesOfARowAlong) {
    GpuProfile profile = with_rows();
    InstructionTiming& row = *profile.find_instruction("ld.global.l2.u32");
    const double cpi = row.cpi.value, latency = row.latency->value;
    row.tables = {
        {.over = "conflict_degree",
         .note = {},
         .rows = {{.at = 1, .cpi = Estimate{.value = 2}, .latency = Estimate{.value = 30}},
                  {.at = 2, .cpi = Estimate{.value = 4}, .latency = std::nullopt}}}};
    apply_what_ifs({fmt::format("ld.global.l2.u32.cpi={}", 3 * cpi),
                    fmt::format("ld.global.l2.u32.latency={}", latency / 2)},
                   profile);
    const std::vector<TableRow>& moved =
        profile.find_instruction("ld.global.l2.u32")->tables[0].rows;
    EXPECT_DOUBLE_EQ(moved[0].cpi->value, 6);
    EXPECT_DOUBLE_EQ(moved[1].cpi->value, 12);
    EXPECT_DOUBLE_EQ(moved[0].latency->value, 15);
    EXPECT_FALSE(moved[1].latency.has_value());
}

// 128 bytes a warp: what the second level of 4096 bytes still holds at the end was not written to
// device memory.
TEST(MemoryPricing, WhatStaysInTheCacheIsNotWrittenBack) {
    const std::string fresh = "{bytes: 128, sectors: 4, least_sectors: 4, written: []}";
    // 8 groups of 2 warps write 2048 bytes, 32 groups 8192, half of which is still there.
    const PricedMemory fits = launched(8, "st.global.f32", fresh);
    EXPECT_DOUBLE_EQ(*fits.rows[0].dram_bytes, 0);
    EXPECT_DOUBLE_EQ(price_of(fits).cpi, 2 * 4);
    const PricedMemory half = launched(32, "st.global.f32", fresh);
    EXPECT_DOUBLE_EQ(*half.rows[0].dram_bytes, 64);
    EXPECT_DOUBLE_EQ(price_of(half).cpi, std::max(0.5 * 12, 2 * 4.0));
}

TEST(MemoryPricing, CapacitiesDecideWhatIsFound) {
    const std::string memory =
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [[1025, 0.5]], device: [[4096, 0.75]]}";
    EXPECT_DOUBLE_EQ(price_of(per_access(memory)).cpi, std::max(4.0, 0.25 * 8));
    CacheSizes other = small;
    other["l2"].bytes = 4095;
    EXPECT_DOUBLE_EQ(price_of(per_access(memory, with_rows(), "ld.global.f32", other)).cpi, 8);
    other["l1"].bytes = 1e6;
    EXPECT_DOUBLE_EQ(price_of(per_access(memory, with_rows(), "ld.global.f32", other)).cpi,
                     std::max(1.0, 0.5 * 8));
}

TEST(MemoryPricing, MoreSectorsThanTheRowsTakeLonger) {
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 12, least_sectors: 4, core: [[1024, 0.5]], device: [[2048, 0.5]]}");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, std::max(3.0, 0.5 * 24));
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 0.5 * (30 + 2 * 1) + 0.5 * (500 + 2 * 8));
}

TEST(MemoryPricing, RowsOfMoreSectorsAreInterpolated) {
    const std::string found = "core: [], device: [[128, 1]]}";
    const auto at = [&](const std::string& sectors) {
        return price_of(
            per_access("{bytes: 128, sectors: " + sectors + ", least_sectors: 1, " + found));
    };
    EXPECT_DOUBLE_EQ(at("4").cpi, 4);
    EXPECT_DOUBLE_EQ(at("6").cpi, 6.5);
    EXPECT_DOUBLE_EQ(at("6").latency, 215);
    EXPECT_DOUBLE_EQ(at("8").cpi, 9);
    EXPECT_DOUBLE_EQ(at("16").cpi, 18);
    EXPECT_DOUBLE_EQ(at("16").latency, 230 + 9);
    EXPECT_DOUBLE_EQ(at("2").cpi, 2);
    EXPECT_DOUBLE_EQ(at("2").latency, 200);
    // Never quicker than a hit in the first level.
    EXPECT_DOUBLE_EQ(at("1").cpi, 1);
    GpuProfile slow = with_rows();
    slow.find_instruction("ld.global.l1.u32")->cpi.value = 3;
    EXPECT_DOUBLE_EQ(
        price_of(per_access("{bytes: 4, sectors: 1, least_sectors: 1, " + found, slow)).cpi, 3);
}

TEST(MemoryPricing, LinesAndPassesMayTakeLongerThanSectors) {
    const GpuProfile profile = with_rows(
        "  ld.global.l1.u32.stride32: {subsystem: mem, cpi: 32, latency: 92, source: measured}\n"
        "  ld.global.l2.u32.stride32: {subsystem: mem, cpi: 64, latency: 262, source: measured}\n");
    const auto at = [&](const std::string& what, const std::string& found) {
        return price_of(per_access(
            "{bytes: 128, sectors: 4, least_sectors: 4, " + what + ", " + found, profile));
    };
    const std::string first = "core: [[128, 1]], device: [[128, 1]]}";
    EXPECT_DOUBLE_EQ(at("lines: 1, bank_passes: 1", first).cpi, 1);
    EXPECT_DOUBLE_EQ(at("lines: 1, bank_passes: 1", first).latency, 30);
    EXPECT_DOUBLE_EQ(at("lines: 4, bank_passes: 8", first).cpi, 8);
    EXPECT_DOUBLE_EQ(at("lines: 4, bank_passes: 8", first).latency, 30 + 7 * 2);
    const std::string second = "core: [], device: [[128, 1]]}";
    EXPECT_DOUBLE_EQ(at("lines: 4, bank_passes: 1", second).cpi, 8);
    EXPECT_DOUBLE_EQ(at("lines: 4, bank_passes: 1", second).latency, 200 + 3 * 2);
    EXPECT_DOUBLE_EQ(at("lines: 1, bank_passes: 6", second).cpi, 6);
    // What passes the first level by does not go through its banks, and is not kept waiting by
    // them.
    EXPECT_DOUBLE_EQ(at("lines: 1, bank_passes: 6", "device: [[128, 1]]}").cpi, 4);
}

// Half of its sectors are dirty, as they were in the store before: these take the banks of the
// first level alone.
TEST(MemoryPricing, WhatIsMergedWithTheStoreBeforeTakesTheBanks) {
    const auto cpi = [](const std::string& use) {
        return price_of(
                   per_access("{bytes: 128, sectors: 8, least_sectors: 8, written: " + use + "}",
                              with_rows(), "st.global.f32"))
            .cpi;
    };
    EXPECT_DOUBLE_EQ(cpi("[]"), 24);
    EXPECT_DOUBLE_EQ(cpi("[[4096, 0.5]], merged: 4"), 12);  // the first level at the same time
    EXPECT_DOUBLE_EQ(cpi("[[4096, 0.75]], merged: 4"), std::max(0.25 * 24, 0.5 * 2 * 9));
    EXPECT_DOUBLE_EQ(cpi("[[4096, 1]], merged: 8"), 2);
    EXPECT_DOUBLE_EQ(cpi("[], merged: 8"), 24);  // more than is there
}

TEST(MemoryPricing, StoresGoToDramUnlessTheirSectorIsDirty) {
    const std::string memory =
        "{bytes: 128, sectors: 8, least_sectors: 4, written: [[4096, 0.25]]}";
    const PricedMemory priced = per_access(memory, with_rows(), "st.global.f32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, std::max(0.75 * 24, 2 * 9.0));
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 20);
    EXPECT_DOUBLE_EQ(*priced.rows[0].dram_bytes, 8 * 32 * 0.75);
    // As measured there: three times a load of the second level.
    const GpuProfile gpu = with_rows(
        "  st.global.l2.f32: {subsystem: mem, cpi: 12, latency_unknown: none, source: measured}\n");
    EXPECT_DOUBLE_EQ(price_of(per_access(memory, gpu, "st.global.f32")).cpi,
                     0.75 * 24 + 0.25 * 3 * 9.0);
    // Sectors of which one word is written take 2.5 times as long; two sectors for what one could
    // hold are a seventh of the way there.
    const GpuProfile parts = with_rows(
        "  st.global.f32.stride8: {subsystem: mem, cpi: 240, latency_unknown: none, source: "
        "measured}\n");
    EXPECT_DOUBLE_EQ(price_of(per_access("{bytes: 128, sectors: 8, least_sectors: 4, written: []}",
                                         parts, "st.global.f32"))
                         .cpi,
                     24 * (1 + 1.5 / 7));
    EXPECT_DOUBLE_EQ(
        price_of(per_access(memory, without(with_rows(), "st.global.f32"), "st.global.f32")).cpi,
        std::max(0.75 * 16, 9.0));
}

TEST(MemoryPricing, WithoutASecondLevelAbsorbedStoresCostWhatOthersDo) {
    GpuProfile bare = without(with_rows(), "ld.global.l2.u32");
    bare = without(bare, "ld.global.l2.u32.stride2");
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 4, least_sectors: 4, written: [[4096, 1]]}", bare, "st.global.f32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 12);
}

TEST(MemoryPricing, WithoutAnyLoadStoresKeepTheirUnit) {
    GpuProfile bare = with_rows();
    std::erase_if(bare.instructions,
                  [](const InstructionTiming& one) { return one.name.starts_with("ld.global"); });
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 4, least_sectors: 4, written: []}", bare, "st.global.f32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 12);
}

TEST(MemoryPricing, WhatGoesThroughTheLevelsWaitsForTheOtherAccesses) {
    const GpuProfile profile =
        with_rows("  cp.async.x1: {subsystem: shared, cpi: 1, latency: 300, source: measured}\n");
    const PricedMemory priced = per_access(
        "{bytes: 128, sectors: 4, least_sectors: 4, passes: 1, least_passes: 1, core: [], "
        "device: [[128, 1]]}",
        profile, "cp.async.x1");
    const auto& one = std::get<KernelInstruction>(priced.kernel.warps[0].instructions[0]);
    EXPECT_EQ(priced.profile.find_instruction(one.op)->subsystem, "mem");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 4);
}

// An access that the profile cannot price keeps its numbers, and the others theirs.
TEST(MemoryPricing, AnAccessWithoutAPriceLeavesTheOthersAsTheyAre) {
    const GpuProfile profile = without(without(with_rows(), "ld.global.u32"), "ld.global.f32");
    const std::string memory =
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: [[4096, 0.5]]}";
    const PricedMemory priced =
        price_memory(kernel_of("  - {id: a, op: ld.global.v4.f32, memory: " + memory +
                               "}\n  - {id: b, op: st.global.f32, memory: {bytes: 128, sectors: 4, "
                               "least_sectors: 4, written: []}}\n"),
                     profile, MemoryPricing::per_access, small);
    ASSERT_EQ(priced.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(priced.rows[1].cpi->value, 12);
}

TEST(MemoryPricing, MissingRowsAreNamedWithWhatMeasuresThem) {
    const std::string memory =
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [[1024, 0.5]], device: [[2048, 0.75]]}";
    PricedMemory priced = per_access(memory, without(with_rows(), "ld.global.l1.u32"));
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, std::max(4.0, 0.25 * 8));
    EXPECT_THAT(
        priced.said,
        Contains(HasSubstr("'occupipe measure --instructions ld.global.l1.u32' measures it")));
    GpuProfile bare = without(with_rows(), "ld.global.l2.u32");
    bare = without(bare, "ld.global.l2.u32.stride2");
    priced = per_access(memory, bare);
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, std::max(1.0, 0.5 * 8));
    EXPECT_THAT(priced.said, Contains(HasSubstr("ld.global.l2.u32' measures it")));
    // What the caches hold is not known, either: all of it comes from DRAM, and that is said.
    priced = per_access(memory, with_rows(), "ld.global.f32", {});
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 8);
    EXPECT_THAT(priced.said, Contains(HasSubstr("--cache l1=BYTES gives it")));
    EXPECT_THAT(priced.said, Contains(HasSubstr("--cache l2=BYTES gives it")));
    EXPECT_THAT(per_access(memory).said, Not(Contains(HasSubstr("measures it"))));
}

TEST(MemoryPricing, SharedMemoryTakesAPassAtATime) {
    // λ is 2 per scheduler, of which there are two: 1 per core.
    PricedMemory priced =
        per_access("{bytes: 128, passes: 3, least_passes: 1}", with_rows(), "ld.shared.u32");
    EXPECT_DOUBLE_EQ(*priced.conflict_degree, 2);
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 2 * 3);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 20 + 2 * 1);
    EXPECT_DOUBLE_EQ(priced.rows[0].cpi->value, 3);
    // Wide loads take several passes without any conflict.
    priced = per_access("{bytes: 512, passes: 4, least_passes: 4}", with_rows(), "ld.shared.u32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 2);
    // Measured conflicts go before the rule.
    GpuProfile measured = with_rows();
    measured.find_instruction("ld.shared.u32")->tables = {
        {.over = "conflict_degree",
         .note = {},
         .rows = {{.at = 1, .cpi = Estimate{.value = 2}, .latency = Estimate{.value = 20}},
                  {.at = 2, .cpi = Estimate{.value = 5}, .latency = Estimate{.value = 24}},
                  {.at = 4, .cpi = Estimate{.value = 9}, .latency = Estimate{.value = 30}}}}};
    priced = per_access("{bytes: 128, passes: 3, least_passes: 1}", measured, "ld.shared.u32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 7);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 27);
    priced = per_access("{bytes: 128, passes: 8, least_passes: 1}", measured, "ld.shared.u32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 16);
}

// Memory of a thread lies in the levels of global memory: the same bytes cost the same.
TEST(MemoryPricing, LocalStoresCostWhatGlobalOnesDo) {
    const std::string memory = "{bytes: 128, sectors: 4, least_sectors: 4, written: []}";
    const GpuProfile gpu =
        with_rows("  st.local.f32: {subsystem: mem, cpi: 1, latency: 10, source: measured}\n");
    EXPECT_DOUBLE_EQ(price_of(per_access(memory, gpu, "st.local.f32")).cpi, 12);
    EXPECT_DOUBLE_EQ(price_of(per_access(memory, gpu, "st.global.f32")).cpi, 12);
    const PricedMemory by_loads = per_access(memory, without(gpu, "st.global.f32"), "st.local.f32");
    EXPECT_DOUBLE_EQ(price_of(by_loads).cpi, 8);
    EXPECT_THAT(by_loads.said, Contains(HasSubstr("has no st.global.f32: st.local.f32 is priced")));
}

// Else 512 bytes would cost as much as 128.
TEST(MemoryPricing, AWiderLoadThatUsesANarrowOnesNumbersKeepsTheLevelsPrice) {
    const Kernel kernel = kernel_of(
        "  - {id: a, op: ld.global.v4.f32, memory: {bytes: 512, sectors: 16, least_sectors: 16, "
        "core: [], device: []}}\n");
    const auto cycles = [&](const std::vector<std::string>& uses, MemoryPricing pricing) {
        const Ready made = ready(loaded_kernel("", kernel), with_rows(), {.uses = uses},
                                 {.pricing = pricing, .caches = small});
        return std::pair(price_of(made.priced->memory).cpi, texts(made.notes));
    };
    const auto [own, nothing] = cycles({}, MemoryPricing::per_access);
    EXPECT_DOUBLE_EQ(own, 32);
    const auto [used, said] = cycles({"ld.global.v4.f32=ld.global.u32"}, MemoryPricing::per_access);
    EXPECT_DOUBLE_EQ(used, 32);
    EXPECT_THAT(said, Contains("ld.global.v4.f32 is priced by the levels of memory, not as "
                               "ld.global.u32, which moves less"));
    // Without prices of levels it has no others.
    EXPECT_DOUBLE_EQ(cycles({"ld.global.v4.f32=ld.global.u32"}, MemoryPricing::none).first, 10);
}

// R and D are those of the whole kernel: equations of the paper (docs/background/memory.md).
TEST(MemoryPricing, AggregateIsThePapersRule) {
    const auto aggregate = [](const std::string& first, const std::string& second) {
        return price_memory(
            kernel_of("  - {id: a, op: ld.global.u32, memory: " + first +
                      "}\n  - repeat: 3\n    body:\n      - {id: b, op: ld.global.u32, memory: " +
                      second + "}\n"),
            with_rows(), MemoryPricing::aggregate, small);
    };
    const std::string once = "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: []}";
    const std::string again =
        "{bytes: 128, sectors: 4, least_sectors: 4, core: [], device: [[128, 1]]}";
    const std::string spread = "{bytes: 128, sectors: 8, least_sectors: 4, device: []}";
    PricedMemory priced = aggregate(once, again);
    EXPECT_DOUBLE_EQ(*priced.dram_ratio, 0.25);
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 0.25 * 8 + 0.75 * 4);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 0.25 * 500 + 0.75 * 200);
    priced = aggregate(once, once);
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 8);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 500);
    priced = aggregate(spread, spread);
    EXPECT_DOUBLE_EQ(*priced.dram_ratio, 2);
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 16);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 500 + 8);

    priced = price_memory(
        kernel_of("  - {id: a, op: ld.shared.u32, memory: {bytes: 128, passes: 1, least_passes: "
                  "1}}\n  - {id: b, op: ld.shared.u32, memory: {bytes: 128, passes: 4, "
                  "least_passes: 1}}\n"),
        with_rows(), MemoryPricing::aggregate, small);
    EXPECT_DOUBLE_EQ(*priced.conflict_degree, 1.5);
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 2 * 2.5);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 20 + 1.5);
    EXPECT_THROW(price_memory(kernel_of("  - {id: a, op: ld.global.u32}\n"), with_rows(),
                              MemoryPricing::aggregate, small),
                 InputError);
}

// The only row of loads is a wide one, and the profile does not know the kernel's own.
TEST(MemoryPricing, AnyRowOfALevelStandsForAnUnknownLoadsUnit) {
    const GpuProfile wide = parse_profile(
        "format: occupipe-profile/2\ndevice: {name: made up}\ncores: 4\nwarp_size: 32\n"
        "clock_hz: 1000000000\nissue: {schedulers: 2}\nsubsystems:\n  mem: {scope: core}\n"
        "instructions:\n"
        "  ld.global.v4.f32: {subsystem: mem, cpi: 32, latency: 600, source: measured}\n",
        "wide.yaml");
    const PricedMemory priced =
        per_access("{bytes: 512, sectors: 16, least_sectors: 16, core: [], device: []}", wide,
                   "ld.global.v2.u64");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 32);
    EXPECT_DOUBLE_EQ(price_of(priced).latency, 600);
}

TEST(MemoryPricing, NoneLeavesKernelAndProfileAsTheyAre) {
    const Kernel kernel = kernel_of(
        "  - {id: a, op: ld.global.u32, memory: {bytes: 128, sectors: 32, least_sectors: 4, core: "
        "[], device: []}}\n");
    const PricedMemory priced = price_memory(kernel, with_rows(), MemoryPricing::none, small);
    EXPECT_EQ(priced.kernel, kernel);
    EXPECT_EQ(priced.profile, with_rows());
    EXPECT_EQ(priced.rows.size(), 1);
    const Kernel untold = kernel_of("  - {id: a, op: ld.global.u32}\n");
    EXPECT_EQ(price_memory(untold, with_rows(), MemoryPricing::per_access, small).kernel, untold);
}

TEST(MemoryPricing, WithoutAnActiveLaneAnInstructionIsAnIssueSlot) {
    const PricedMemory priced = per_access("{bytes: 0}");
    EXPECT_EQ(std::get<KernelInstruction>(priced.kernel.warps[0].instructions[0]).op, "issue.slot");
    EXPECT_NE(priced.profile.find_instruction("issue.slot"), nullptr);
}

// The row: λ 3, Λ 300 for four sectors; of a line, then of 32 lines.
TEST(MemoryPricing, AtomicOperationsCostTheirSectorsInTheSecondLevel) {
    const std::string line = "{bytes: 128, sectors: 4, least_sectors: 4, ";
    const std::string found = "device: [[1024, 1]], written: [[1024, 1]]}";
    const auto price = [&](const std::string& memory, const GpuProfile& profile = with_rows()) {
        return per_access(memory, profile, "atom.global.add.u32");
    };
    EXPECT_DOUBLE_EQ(price_of(price(line + found)).cpi, 3);
    EXPECT_DOUBLE_EQ(price_of(price(line + found)).latency, 300);
    const std::string apart = "{bytes: 128, sectors: 32, least_sectors: 4, ";
    EXPECT_DOUBLE_EQ(price_of(price(apart + found)).cpi, 24);
    EXPECT_DOUBLE_EQ(price_of(price(apart + found)).latency, 300 + 7 * 3);

    // Eight lanes' words in one sector: no cheaper where the profile has no row of it.
    const std::string sector = "{bytes: 32, sectors: 1, least_sectors: 1, ";
    EXPECT_DOUBLE_EQ(price_of(price(sector + found)).cpi, 3);
    const GpuProfile both = with_rows(
        "  atom.global.add.u32.sector: {subsystem: mem, cpi: 1.5, latency: 240, source: "
        "measured}\n");
    EXPECT_DOUBLE_EQ(price_of(price(sector + found, both)).cpi, 1.5);
    EXPECT_DOUBLE_EQ(price_of(price(sector + found, both)).latency, 240);
    const std::string half = "{bytes: 80, sectors: 2.5, least_sectors: 2.5, ";
    EXPECT_DOUBLE_EQ(price_of(price(half + found, both)).cpi, 2.25);
    EXPECT_DOUBLE_EQ(price_of(price(half + found, both)).latency, 270);
}

// A load from DRAM: λ 8 of four sectors, Λ 500, and 200 from the second level. Read and written
// back.
// 16 lanes of each request add to one word, of the same sector half of the time; four cores.
TEST(MemoryPricing, AtomicOperationsAtOneAddressTakeTurns) {
    const std::string memory =
        "{bytes: 128, sectors: 4, least_sectors: 4, device: [[128, 1]], written: [[128, 1]], "
        "same_address: 16, hottest: ";
    const auto cycles = [&](const std::string& hottest, const GpuProfile& gpu) {
        return price_of(per_access(memory + hottest + "}", gpu, "atom.global.add.u32")).cpi;
    };
    EXPECT_DOUBLE_EQ(cycles("0.5", with_rows()), 0.5 * 16 * 3.5 * 4);
    EXPECT_DOUBLE_EQ(cycles("0", with_rows()), 3);
    const GpuProfile gpu = with_rows(
        "  atom.global.add.u32.same: {subsystem: mem, cpi: 64, latency: 400, source: measured}\n");
    EXPECT_DOUBLE_EQ(cycles("0", gpu), 32);
}

TEST(MemoryPricing, AtomicOperationsWaitForWhatTheSecondLevelLacks) {
    const std::string line = "{bytes: 128, sectors: 4, least_sectors: 4, ";
    const PricedMemory none =
        per_access(line + "device: [], written: []}", with_rows(), "atom.global.add.u32");
    EXPECT_DOUBLE_EQ(price_of(none).cpi, 16);
    EXPECT_DOUBLE_EQ(price_of(none).latency, 600);
    EXPECT_DOUBLE_EQ(*none.rows[0].dram_bytes, 2 * 4 * 32);
    const PricedMemory quarter = per_access(line + "device: [[4096, 0.75]], written: [[4096, 1]]}",
                                            with_rows(), "atom.global.add.u32");
    EXPECT_DOUBLE_EQ(price_of(quarter).cpi, 3);  // 2 of DRAM: the second level is slower
    EXPECT_DOUBLE_EQ(price_of(quarter).latency, 375);
    const PricedMemory unknown =
        per_access(line + "device: [[4096, 0.75]], written: []}",
                   without(with_rows(), "atom.global.add.u32"), "atom.global.add.u32");
    EXPECT_DOUBLE_EQ(price_of(unknown).cpi, std::max(4.0, 0.25 * 8));
    EXPECT_THAT(unknown.said, Contains(HasSubstr("priced as a load by the levels behind")));
}

TEST(MemoryPricing, AsynchronousCopiesCostWhatLoadsCost) {
    const std::string memory = "{bytes: 128, sectors: 4, least_sectors: 4, ";
    const std::string reuse = "core: [[1024, 0.5]], device: [[2048, 0.75]]}";
    const PricedMemory copy =
        per_access(memory + "passes: 1, least_passes: 1, " + reuse, with_rows(), "cp.async.x1");
    const PricedMemory load = per_access(memory + reuse);
    EXPECT_DOUBLE_EQ(price_of(copy).cpi, price_of(load).cpi);
    EXPECT_DOUBLE_EQ(price_of(copy).latency, price_of(load).latency);
    EXPECT_THAT(copy.said, Contains(HasSubstr("asynchronous copies")));
}

TEST(MemoryPricing, ALoadWithoutReuseIsNoAtomicOperation) {
    const PricedMemory priced =
        per_access("{bytes: 128, sectors: 4, least_sectors: 4}", with_rows(), "ld.global.u32");
    EXPECT_DOUBLE_EQ(price_of(priced).cpi, 10);
    EXPECT_THAT(priced.said, Contains(HasSubstr("ld.global.u32 does not say")));
    EXPECT_THAT(priced.said, Not(Contains(HasSubstr("atomic"))));
}

TEST(MemoryPricing, EqualInstructionsShareATiming) {
    const std::string memory =
        "memory: {bytes: 128, sectors: 4, least_sectors: 4, core: [], device: []}}\n";
    const PricedMemory priced = price_memory(kernel_of("  - {id: a, op: ld.global.f32, " + memory +
                                                       "  - {id: b, op: ld.global.f32, " + memory),
                                             with_rows(), MemoryPricing::per_access, small);
    EXPECT_EQ(std::get<KernelInstruction>(priced.kernel.warps[0].instructions[0]).op,
              std::get<KernelInstruction>(priced.kernel.warps[0].instructions[1]).op);
    EXPECT_EQ(priced.profile.instructions.size(), with_rows().instructions.size() + 1);
    EXPECT_NO_THROW(validate(priced.profile));
    EXPECT_NO_THROW(validate(priced.kernel));
}

CacheSizes sizes_of(const std::string& capability, std::int64_t group_bytes, int groups,
                    const std::string& levels = {}) {
    GpuProfile profile = with_rows(levels);
    profile.device.compute_capability = capability;
    Kernel kernel = kernel_of("  - {id: a, op: ld.global.u32}\n");
    kernel.memory->group_shared_bytes = group_bytes;
    kernel.memory->concurrent_groups = groups;
    return cache_sizes(kernel, profile, {});
}

// CUDA C++ Programming Guide, "Shared Memory" of the compute capabilities.
TEST(MemoryPricing, FirstLevelIsWhatSharedMemoryLeaves) {
    constexpr double kib = 1024;
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("7.5", 0, 4), 0), 64 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("7.5", 10'000, 4), 0), 32 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("8.0", 0, 4), 0), 192 * kib);
    // Four groups of 24 KiB and the driver's KiB each: 100 KiB.
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("8.0", 24 * 1024, 4), 0), 92 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("8.0", 24 * 1024 + 1, 4), 0), 60 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("9.0", 227 * 1024, 1), 0), 28 * kib);
    EXPECT_FALSE(bytes_of(sizes_of("6.1", 0, 1), 0));
    EXPECT_FALSE(bytes_of(sizes_of("9.0", 0, 1), 1));
}

TEST(MemoryPricing, CapacitiesComeFromMeasuredLevels) {
    constexpr double kib = 1024;
    const std::string levels =
        "memory_levels:\n"
        "  - {instruction: ld.global.u32.working_set, latency: 30, first_bytes: 4096, last_bytes: "
        "98304}\n"
        "  - {instruction: ld.global.u32.working_set, latency: 200, first_bytes: 131072, "
        "last_bytes: 4194304}\n"
        "  - {instruction: ld.global.u32.working_set, latency: 500, first_bytes: 8388608, "
        "last_bytes: 67108864}\n";
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("6.1", 0, 1, levels), 0), 96 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("6.1", 8192, 2, levels), 0), 80 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("6.1", 0, 1, levels), 1), 4096 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("8.0", 0, 1, levels), 0), 96 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("8.0", 100 * 1024, 1, levels), 0), 60 * kib);
    // Between 64 KiB, which were seen to fit, and a mebibyte, which was seen not to.
    const std::string coarse =
        "memory_levels:\n"
        "  - {instruction: ld.global.u32.working_set, latency: 31, first_bytes: 4096, last_bytes: "
        "65536}\n"
        "  - {instruction: ld.global.u32.working_set, latency: 290, first_bytes: 1048576, "
        "last_bytes: 16777216}\n"
        "  - {instruction: ld.global.u32.working_set, latency: 683, first_bytes: 67108864, "
        "last_bytes: 1073741824}\n";
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("9.0", 0, 1, coarse), 0), 256 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("9.0", 100 * 1024, 1, coarse), 0), 124 * kib);
    EXPECT_DOUBLE_EQ(*bytes_of(sizes_of("6.1", 0, 1, coarse), 0), 64 * kib);
}

}  // namespace
}  // namespace occupipe::analysis
