// SPDX-License-Identifier: MIT
#include "bench/cuda/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/cuda/driver/facts.h"
#include "core/error.h"

namespace occupipe::bench {
namespace {

using testing::HasSubstr;

CoreLimits hopper() { return {64, 32, 32, 233472, 232448, 1024}; }
CoreLimits turing() { return {32, 16, 32, 65536, 65536, 0}; }
CoreLimits ada() { return {48, 24, 32, 102400, 101376, 1024}; }

MeasurementShape shape(int group_warps, int groups) {
    return {.group_warps = group_warps, .concurrent_groups = groups, .chains = 1, .depth = 1};
}

// Groups that fit on a core when each takes this much, as the hardware hands it out.
std::int64_t fitting(const CoreLimits& limits, std::int64_t dynamic, std::int64_t unit) {
    const std::int64_t taken = dynamic + limits.reserved_shared_bytes;
    return std::min(limits.shared_bytes / ((taken + unit - 1) / unit * unit), limits.groups);
}

TEST(CudaPlacement, ExactlyTheWantedGroupsFit) {
    for (const CoreLimits& limits : {hopper(), turing(), ada()}) {
        for (int groups = 1; groups <= limits.groups; ++groups) {
            const std::int64_t bytes = dynamic_shared_bytes(limits, shape(1, groups), 0, 0);
            EXPECT_LE(bytes, limits.group_shared_bytes);
            for (const std::int64_t unit : {128, 256}) {
                EXPECT_EQ(fitting(limits, bytes, unit), groups) << limits.shared_bytes;
            }
        }
    }
}

TEST(CudaPlacement, TheDriverDecidesHowManyGroupsAreResident) {
    // 1 KiB more or less than was thought.
    for (const std::int64_t surprise : {-1024, 0, 1024}) {
        for (int groups = 1; groups <= 32; ++groups) {
            const auto resident = [&](std::int64_t bytes) {
                return static_cast<int>(fitting(hopper(), bytes + surprise, 128));
            };
            const std::int64_t guess = dynamic_shared_bytes(hopper(), shape(1, groups), 1024, 0);
            const auto bytes =
                shared_bytes_for_residency(guess, 0, 232448 - 1024, groups, resident);
            ASSERT_TRUE(bytes.has_value()) << groups;
            EXPECT_EQ(resident(*bytes), groups);
            EXPECT_EQ(*bytes == guess, resident(guess) == groups);
        }
    }
}

TEST(CudaPlacement, ResidencyThatNoAmountGivesIsRefused) {
    const auto pairs = [](std::int64_t bytes) { return bytes < 1000 ? 4 : 2; };
    EXPECT_EQ(shared_bytes_for_residency(500, 0, 5000, 3, pairs), std::nullopt);
    EXPECT_EQ(shared_bytes_for_residency(2000, 0, 5000, 3, pairs), std::nullopt);
    EXPECT_EQ(shared_bytes_for_residency(2000, 0, 5000, 4, pairs).value(), 976);
    EXPECT_EQ(shared_bytes_for_residency(2000, 1500, 5000, 4, pairs), std::nullopt);
    EXPECT_EQ(shared_bytes_for_residency(500, 0, 5000, 1, pairs), std::nullopt);
    EXPECT_EQ(shared_bytes_for_residency(500, 0, 5000, 5, pairs), std::nullopt);
}

TEST(CudaPlacement, AKernelsOwnSharedMemoryMustFit) {
    EXPECT_GE(dynamic_shared_bytes(hopper(), shape(1, 32), 0, 4096), 4096);
    EXPECT_THROW(dynamic_shared_bytes(turing(), shape(1, 16), 0, 4097), DeviceError);
    EXPECT_EQ(dynamic_shared_bytes(turing(), shape(1, 16), 96, 4000), 4000);
}

std::vector<WarpStamp> stamps(int cores, int groups, int group_warps) {
    std::vector<WarpStamp> all;
    for (int group = 0; group < cores * groups; ++group) {
        for (int warp = 0; warp < group_warps; ++warp) {
            WarpStamp stamp;
            stamp.core = static_cast<std::uint32_t>(group % cores);
            stamp.start = 100 + 10 * stamp.core;
            stamp.stop = stamp.start + 1000 + static_cast<std::uint64_t>(warp);
            stamp.wall_before = 7000;
            stamp.clock_before = static_cast<std::uint32_t>(stamp.start);
            stamp.wall_stop = 7500;
            stamp.slot = static_cast<std::uint32_t>(group / cores * group_warps + warp);
            all.push_back(stamp);
        }
    }
    return all;
}

std::string failure(const std::vector<WarpStamp>& all, const MeasurementShape& form) {
    try {
        evaluate_stamps({}, all, form, 4, 1);
    } catch (const DeviceError& error) {
        return error.what();
    }
    return "nothing failed";
}

TEST(CudaPlacement, CyclesReachFromTheFirstStartToTheLastStopOfACore) {
    auto all = stamps(4, 2, 2);
    all[0].start -= 50;    // core 0 begins earlier
    all[15].stop += 2000;  // core 3 ends later
    const Observation seen = evaluate_stamps({}, all, shape(2, 2), 4, 1);
    EXPECT_EQ(seen.cycles, 1026);  // median of 1051, 1001, 1001 and 3001
    EXPECT_EQ(seen.counters.at("cycles_min"), 1001);
    EXPECT_EQ(seen.counters.at("cycles_max"), 3001);
    EXPECT_EQ(seen.counters.at("start_skew_cycles"), 0);
}

TEST(CudaPlacement, WarpsAreDealtToSchedulersByTheirSlots) {
    auto all = stamps(4, 3, 2);
    const auto busiest = [&] { return evaluate_stamps({}, all, shape(2, 3), 4, 1, 4).counters; };
    EXPECT_EQ(busiest().at("busiest_scheduler_warps"), 2);  // slots 0 to 5
    for (WarpStamp& stamp : all) stamp.slot *= 4;           // all on one scheduler
    EXPECT_EQ(busiest().at("busiest_scheduler_warps"), 6);
    for (WarpStamp& stamp : all) stamp.slot = stamp.core == 2 ? stamp.slot : stamp.slot / 4;
    EXPECT_EQ(busiest().at("busiest_scheduler_warps"), 2);  // core 2 is the exception
    all[0].slot = all[8].slot;  // two warps of core 0 in one slot: the numbers are no slots
    EXPECT_FALSE(busiest().contains("busiest_scheduler_warps"));
}

TEST(CudaPlacement, WithoutANumberOfSchedulersNothingIsSaidOfThem) {
    const Observation seen = evaluate_stamps({}, stamps(4, 2, 2), shape(2, 2), 4, 1);
    EXPECT_FALSE(seen.counters.contains("busiest_scheduler_warps"));
    EXPECT_EQ(schedulers_per_core(9), 4);
    EXPECT_EQ(schedulers_per_core(13), std::nullopt);
}

TEST(CudaPlacement, AchievedResidencyIsTheMostWarpsAtOneMoment) {
    auto all = stamps(4, 2, 2);
    EXPECT_EQ(evaluate_stamps({}, all, shape(2, 2), 4, 1).counters.at("achieved_warps"), 4);
    for (std::size_t i = 8; i < all.size(); ++i) {  // each core's second group comes later
        all[i].start += 1001;
        all[i].stop += 1001;
    }
    EXPECT_EQ(evaluate_stamps({}, all, shape(2, 2), 4, 1).counters.at("achieved_warps"), 2);
}

// Of the core whose cycles are the row's: how many warps ran for how long, and in what order they
// stopped.
TEST(CudaPlacement, WarpsThatStopApartAreTold) {
    auto all = stamps(4, 8, 1);
    EXPECT_EQ(evaluate_stamps({}, all, shape(1, 8), 4, 1, 4).counters.at("stop_spread_cycles"), 0);
    EXPECT_FALSE(evaluate_stamps({}, all, shape(1, 8), 4, 1, 4).counters.contains("running_01"));
    for (WarpStamp& stamp : all) stamp.stop = stamp.start + (stamp.slot < 4 ? 500 : 1000);
    const auto counters = evaluate_stamps({}, all, shape(1, 8), 4, 1, 4).counters;
    EXPECT_EQ(counters.at("stop_spread_cycles"), 500);
    EXPECT_EQ(counters.at("running_01"), 1000);
    EXPECT_EQ(counters.at("running_08"), 1000);
    EXPECT_EQ(counters.at("running_09"), 500);
    EXPECT_EQ(counters.at("running_16"), 500);
    EXPECT_EQ(counters.at("stop_order"), 1);  // on each of four schedulers the lower slot is first
    for (WarpStamp& stamp : all) stamp.slot = 7 - stamp.slot;
    EXPECT_EQ(evaluate_stamps({}, all, shape(1, 8), 4, 1, 4).counters.at("stop_order"), -1);
}

// A slow warp and three quick ones: while all ran, in 3000 cycles, three did all their 400
// instructions each and one 300. 32 bits of clock have gone round meanwhile.
TEST(CudaPlacement, CheckpointsGiveTheWindowInWhichAllRan) {
    auto all = stamps(4, 4, 1);
    for (WarpStamp& stamp : all) {
        const std::uint64_t part = stamp.slot == 2 ? 1000 : 750;
        stamp.start = 0xffff'ff00;
        for (std::size_t i = 0; i < stamp.checkpoints.size(); ++i)
            stamp.checkpoints[i] = static_cast<std::uint32_t>(stamp.start + (i + 1) * part);
        stamp.stop = stamp.start + 4 * part;
    }
    const auto counters = evaluate_stamps({}, all, shape(1, 4), 4, 1, 4, 400.0).counters;
    const double cpi = counters.at("window_cycles") / counters.at("window_instructions");
    EXPECT_NEAR(cpi, 3000.0 / (3 * 400 + 300), 1e-9);
    EXPECT_GE(counters.at("window_cycles"), 1000);
    EXPECT_FALSE(evaluate_stamps({}, all, shape(1, 4), 4, 1, 4).counters.contains("window_cycles"));
    all[5].checkpoints[1] = all[5].checkpoints[0];
    EXPECT_THROW(evaluate_stamps({}, all, shape(1, 4), 4, 1, 4, 400.0), DeviceError);
}

TEST(CudaPlacement, TheClockNeedsAnIntervalOfManyTicks) {
    const auto all = stamps(4, 1, 1);
    EXPECT_EQ(evaluate_stamps({}, all, shape(1, 1), 4, 1).clock_hz, 2e9);
    EXPECT_EQ(evaluate_stamps({}, all, shape(1, 1), 4, 32).clock_hz, std::nullopt);
    EXPECT_EQ(evaluate_stamps({}, all, shape(1, 1), 4, 0).clock_hz, std::nullopt);
}

TEST(CudaPlacement, AGlobalTimerThatGoesBackGivesNoClock) {
    auto all = stamps(4, 1, 1);
    for (WarpStamp& stamp : all) stamp.wall_before = 7501;
    EXPECT_EQ(evaluate_stamps({}, all, shape(1, 1), 4, 1).clock_hz, std::nullopt);
}

TEST(CudaPlacement, GroupsElsewhereThanAskedAreRefused) {
    EXPECT_EQ(failure(stamps(4, 2, 2), shape(2, 2)), "nothing failed");
    EXPECT_THAT(failure(stamps(3, 2, 2), shape(2, 2)),
                HasSubstr("2 on each of 4 cores expected, 2 to 2 on 3 cores seen"));
    EXPECT_THAT(failure(stamps(4, 3, 2), shape(2, 2)), HasSubstr("3 to 3 on 4 cores seen"));
    auto all = stamps(4, 2, 1);
    all[1].stop = all[1].start;
    EXPECT_THAT(failure(all, shape(1, 2)), HasSubstr("warp 1 wrote no times"));
}

// Cores of a near and a far half: the quartiles tell two values from a spread about one.
TEST(CudaPlacement, QuartilesOverCoresShowTwoHalves) {
    auto all = stamps(8, 1, 1);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].stop = all[i].start + (i < 4 ? 300 : 500);
    const Observation seen = evaluate_stamps({}, all, shape(1, 1), 8, 1);
    EXPECT_EQ(seen.counters.at("core_cycles_q1"), 300);
    EXPECT_EQ(seen.counters.at("core_cycles_q3"), 500);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].stop = all[i].start + 300 + 30 * i;
    const Observation spread = evaluate_stamps({}, all, shape(1, 1), 8, 1);
    EXPECT_EQ(spread.counters.at("core_cycles_q1"), 360);
    EXPECT_EQ(spread.counters.at("core_cycles_q3"), 450);
}

TEST(CudaPlacement, GroupsThatBeganAfterTheMomentAreCounted) {
    StampHeader header;
    const auto counters = [&] {
        return evaluate_stamps(header, stamps(4, 1, 1), shape(1, 1), 4, 1).counters;
    };
    EXPECT_FALSE(counters().contains("late_groups"));
    header.late = 2;
    EXPECT_EQ(counters().at("late_groups"), 2);
}

TEST(CudaPlacement, AMissedStartLineIsRefused) {
    StampHeader header;
    header.missed = 1;
    EXPECT_THROW(evaluate_stamps(header, stamps(4, 1, 1), shape(1, 1), 4, 1), DeviceError);
}

TEST(CudaFacts, TheTableIsTwoGibibytesButFitsTheMemory) {
    constexpr std::int64_t mib = 1 << 20;
    const auto beyond = [](std::int64_t cache, std::int64_t memory) {
        return cuda_tables(cache, memory).beyond_caches;
    };
    EXPECT_EQ(beyond(50 * mib, 140000 * mib), 2048u * mib);
    EXPECT_EQ(beyond(126 * mib, 180000 * mib), 2048u * mib);
    EXPECT_EQ(beyond(4 * mib, 4000 * mib), 512u * mib);
    EXPECT_EQ(beyond(4 * mib, 256 * mib), 64u * mib);
    EXPECT_EQ(beyond(0, 0), 1u * mib);
    EXPECT_EQ(carried_tables(4 * mib).beyond_caches, 128u * mib);
    EXPECT_EQ(carried_tables(50 * mib).beyond_caches, 256u * mib);
}

}  // namespace
}  // namespace occupipe::bench
