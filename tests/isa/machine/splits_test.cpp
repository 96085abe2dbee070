// SPDX-License-Identifier: MIT
// Lanes of a warp that part and meet again, and the memory that kernels see, without any kernel.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "isa/machine/heap.h"
#include "isa/machine/launch.h"
#include "isa/machine/memory.h"

namespace occupipe::isa {
namespace {

class Splits : public testing::Test {
protected:
    Splits() {
        warp.alive = warp.present = all_lanes;
        warp.group = &group;
    }

    // Lanes that came to BSYNC `barrier` having set it for `mask`.
    void arrive(std::uint32_t pc, Mask lanes, std::uint8_t barrier, Mask mask) {
        each_of(lanes, [&](int lane) { warp.barriers[barrier][lane] = mask; });
        warp.splits.push_back(
            {.pc = pc, .lanes = lanes, .waits = Split::Waits::reconvergence, .barrier = barrier});
    }

    // Lanes that wait for nothing, by place.
    Mask ready(std::uint32_t pc) const {
        Mask lanes = 0;
        for (const Split& one : warp.splits) {
            if (one.waits == Split::Waits::no && one.pc == pc) lanes |= one.lanes;
        }
        return lanes;
    }

    Group group;
    Warp warp;
};

TEST_F(Splits, MeetWhenAllOfTheMaskAreThere) {
    arrive(7, 0x0f, 0, 0xff);
    release_splits(warp);
    EXPECT_EQ(ready(7), 0u);
    arrive(7, 0xf0, 0, 0xff);
    release_splits(warp);
    EXPECT_EQ(ready(7), 0xffu);
    EXPECT_EQ(warp.splits.size(), 1u);
}

TEST_F(Splits, LanesThatHaveLeftAreNotAwaited) {
    arrive(7, 0x0f, 0, 0xff);
    warp.alive = 0x0f;
    release_splits(warp);
    EXPECT_EQ(ready(7), 0x0fu);
}

TEST_F(Splits, TwoPassesThroughOneBarrierDoNotMix) {
    // 0x01 of the mask 0x03 and all of the mask 0x30, at the same place.
    arrive(7, 0x01, 2, 0x03);
    arrive(7, 0x10, 2, 0x30);
    arrive(7, 0x20, 2, 0x30);
    release_splits(warp);
    EXPECT_EQ(ready(7), 0x30u);
    ASSERT_EQ(warp.splits.size(), 2u);
    arrive(7, 0x02, 2, 0x03);
    release_splits(warp);
    EXPECT_EQ(ready(7), 0x33u);
}

TEST_F(Splits, AWarpBarrierWaitsForItsMask) {
    warp.splits.push_back(
        {.pc = 3, .lanes = 0x1, .waits = Split::Waits::warp_barrier, .awaited = 0x3});
    warp.splits.push_back(
        {.pc = 3, .lanes = 0x4, .waits = Split::Waits::warp_barrier, .awaited = 0xc});
    release_splits(warp);
    EXPECT_EQ(ready(3), 0u);
    // Another place, the same mask: released, but not made one.
    warp.splits.push_back(
        {.pc = 9, .lanes = 0x2, .waits = Split::Waits::warp_barrier, .awaited = 0x3});
    release_splits(warp);
    EXPECT_EQ(ready(3), 0x1u);
    EXPECT_EQ(ready(9), 0x2u);
}

TEST_F(Splits, TheLowestPlaceRunsFirst) {
    warp.splits = {{.pc = 9, .lanes = 1}, {.pc = 4, .lanes = 2}, {.pc = 6, .lanes = 4}};
    next_split(warp);
    EXPECT_EQ(warp.pc, 4u);
    EXPECT_EQ(warp.active, 2u);
    rotate(warp);
    EXPECT_EQ(warp.pc, 9u);
    EXPECT_EQ(warp.active, 1u);
    EXPECT_TRUE(can_run(warp));
    warp.splits.clear();
    next_split(warp);
    EXPECT_EQ(warp.active, 0u);
    EXPECT_TRUE(warp.stop);
    EXPECT_FALSE(can_run(warp));
}

TEST_F(Splits, WhoYieldsIsNotWaitedForForEver) {
    // Lane 0 holds a lock and waits for lane 1, which spins and yields.
    arrive(7, 0x1, 0, 0x3);
    warp.active = 0x2;
    warp.pc = 2;
    release_from_yielding(warp, 1024, 1024);  // it has not yielded yet
    EXPECT_EQ(ready(7), 0u);
    warp.yielded = 0x2;
    release_from_yielding(warp, 1024, 1024);
    EXPECT_EQ(ready(7), 0x1u);
    // Lane 1 does not wait for lane 0 afterwards.
    EXPECT_EQ(warp.barriers[0][1] & 0x1u, 0u);
}

// However long a turn is: several turns of many thousands of steps, or thousands of short ones.
TEST_F(Splits, AYieldIsKnownForThousandsOfStepsAndSeveralTurns) {
    for (const std::uint64_t turn : {1, 5, 1024, 100'000}) {
        const std::uint64_t turns = std::max<std::uint64_t>(8, (8192 + turn - 1) / turn);
        warp.active = 0x2;
        warp.yielded = 0x2;
        for (std::uint64_t i = 0; i < turns; ++i) release_from_yielding(warp, turn, turn);
        EXPECT_EQ(warp.yielded | warp.yielded_before, 0x2u) << turn;
        for (std::uint64_t i = 0; i < turns; ++i) release_from_yielding(warp, turn, turn);
        EXPECT_EQ(warp.yielded | warp.yielded_before, 0u) << turn;
    }
}

TEST_F(Splits, WhoWaitsForOthersThanTheYieldingStays) {
    arrive(7, 0x1, 0, 0x7);
    warp.yielded = 0x3;
    warp.splits.push_back({.pc = 1, .lanes = 0x4, .waits = Split::Waits::group_barrier});
    warp.active = 0x2;
    release_from_yielding(warp, 1024, 1024);
    EXPECT_EQ(ready(7), 0u);
}

TEST_F(Splits, AGroupBarrierGoesByThreadsThatAreAlive) {
    group.warps.resize(2);
    for (Warp& one : group.warps) {
        one.alive = one.present = all_lanes;
        one.group = &group;
    }
    group.alive = 64;
    group.barriers[1] = {.arrived = 32, .in_use = true};
    group.warps[0].splits.push_back(
        {.pc = 5, .lanes = all_lanes, .waits = Split::Waits::group_barrier, .barrier = 1});
    release_barriers(group);
    EXPECT_FALSE(can_run(group.warps[0]));
    group.alive = 32;  // the other warp leaves
    release_barriers(group);
    EXPECT_TRUE(can_run(group.warps[0]));
    EXPECT_FALSE(group.barriers[1].in_use);
}

TEST(DeviceHeap, GivesTheLowestPlaceThatIsFree) {
    GlobalMemory memory;
    memory.set_heap_bytes(64);
    DeviceHeap& heap = memory.heap();
    const std::uint64_t begin = memory.named("heap of the device")->address;
    EXPECT_EQ(heap.allocate(1), begin);
    EXPECT_EQ(heap.allocate(17), begin + 16);
    EXPECT_EQ(heap.allocate(17), 0U);
    EXPECT_EQ(heap.allocate(16), begin + 48);
    EXPECT_EQ(heap.allocate(0), 0U);
    EXPECT_TRUE(heap.release(begin + 16));
    EXPECT_FALSE(heap.release(begin + 16));
    EXPECT_FALSE(heap.release(begin + 17));
    EXPECT_EQ(heap.allocate(0), begin + 16);
    EXPECT_EQ(heap.allocate(16), begin + 32);
    EXPECT_EQ(heap.allocate(~std::uint64_t{0}), 0U);
}

// What is given back joins its neighbours, in whatever order.
TEST(DeviceHeap, IsWholeAgainWhenAllIsReleased) {
    GlobalMemory memory;
    EXPECT_TRUE(memory.set_heap_bytes(4096));
    DeviceHeap& heap = memory.heap();
    EXPECT_FALSE(memory.set_heap_bytes(64));
    for (const std::uint64_t stride : {1U, 3U, 5U}) {
        std::vector<std::uint64_t> places;
        while (const std::uint64_t place = heap.allocate(100, 64)) places.push_back(place);
        ASSERT_EQ(places.size(), 32U);
        for (const std::uint64_t place : places) EXPECT_EQ(place % 64, 0U);
        for (std::size_t i = 0; i < places.size(); ++i)
            EXPECT_TRUE(heap.release(places[i * stride % places.size()]));
        const std::uint64_t all = heap.allocate(4096);
        EXPECT_EQ(all, heap.buffer().address);
        EXPECT_TRUE(heap.release(all));
    }
    EXPECT_EQ(heap.allocate(16, 48), 0U);
    memory.remove_heap();
    EXPECT_EQ(memory.heap().buffer().size, std::uint64_t{8} << 20);
}

TEST(GlobalMemory, FindsWhatLiesWithinABuffer) {
    GlobalMemory memory;
    const GlobalMemory::Buffer& a = memory.add("a", 100);
    const GlobalMemory::Buffer& b = memory.add("b", 1 << 20);
    EXPECT_EQ(a.address % 256, 0u);
    EXPECT_GE(b.address - (a.address + a.size), 64u * 1024);
    EXPECT_EQ(memory.find(a.address, 100), &a);
    EXPECT_EQ(memory.find(a.address + 96, 4), &a);
    EXPECT_EQ(memory.find(a.address + 97, 4), nullptr);
    EXPECT_EQ(memory.find(a.address - 1, 1), nullptr);
    EXPECT_EQ(memory.find(b.address + b.size - 8, 8), &b);
    EXPECT_EQ(memory.find(0, 4), nullptr);
    EXPECT_EQ(memory.find(~std::uint64_t{0}, 16), nullptr);
    EXPECT_EQ(memory.nearest(a.address + 104), &a);
    EXPECT_EQ(memory.nearest(b.address - 4), &b);
    EXPECT_EQ(memory.named("b"), &b);
    EXPECT_EQ(memory.named("c"), nullptr);
    for (const std::byte one : GlobalMemory::bytes(a)) EXPECT_EQ(one, std::byte{0});
}

TEST(GlobalMemory, RefusesWhatCannotBe) {
    GlobalMemory memory;
    memory.add("a", 4);
    EXPECT_THROW(memory.add("a", 4), InputError);
    EXPECT_THROW(memory.add("b", 0), InputError);
    EXPECT_THROW(memory.add("c", (std::uint64_t{1} << 40) + 1), InputError);
}

}  // namespace
}  // namespace occupipe::isa
