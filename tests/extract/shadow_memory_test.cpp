// SPDX-License-Identifier: MIT
#include "extract/shadow_memory.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace occupipe::extract {
namespace {

struct Memory {
    isa::GlobalMemory memory;
    ShadowMemory shadow{memory};

    std::uint64_t unwritten(const char* name, std::uint64_t size) {
        const auto& buffer = memory.add(name, size);
        shadow.begins_unwritten(buffer);
        return buffer.address;
    }
};

TEST(WrittenBytes, AreThoseThatWereSet) {
    constexpr std::uint64_t size = 1000;
    WrittenBytes bytes(size);
    std::vector<bool> expected(size);
    std::mt19937 random(20261127);
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t begin = random() % size;
        const std::uint64_t end =
            begin + random() % (std::min<std::uint64_t>(200, size - begin) + 1);
        const bool sets = i % 3 != 0;
        if (sets)
            bytes.set(begin, end);
        else
            bytes.clear(begin, end);
        for (std::uint64_t at = begin; at < end; ++at) expected[at] = sets;
        const std::uint64_t from = random() % size, to = std::min(size, from + random() % 90);
        bool all = true;
        for (std::uint64_t at = from; at < to; ++at) all = all && expected[at];
        EXPECT_EQ(bytes.all(from, to), all) << "step " << i;
    }
}

TEST(ShadowMemory, BeginsUnwrittenOnlyWhereItWasTold) {
    Memory of;
    const std::uint64_t known = of.memory.add("variable", 100).address;
    const std::uint64_t fresh = of.unwritten("fresh", 100);
    EXPECT_TRUE(of.shadow.is_written(known, 100));
    EXPECT_FALSE(of.shadow.is_written(fresh, 1));
    of.shadow.set_written(fresh + 10, 20);
    EXPECT_TRUE(of.shadow.is_written(fresh + 10, 20));
    EXPECT_FALSE(of.shadow.is_written(fresh + 9, 2));
    EXPECT_FALSE(of.shadow.is_written(fresh + 29, 2));
    of.shadow.set_written(fresh, 100);
    EXPECT_TRUE(of.shadow.is_written(fresh, 100));
}

TEST(ShadowMemory, CopiesAreAsUnwrittenAsWhatTheyAreOf) {
    Memory of;
    const std::uint64_t from = of.unwritten("from", 64), to = of.unwritten("to", 64);
    of.shadow.set_written(to, 64);
    of.shadow.set_written(from + 8, 8);
    of.shadow.copied(to + 16, from, 32);
    EXPECT_TRUE(of.shadow.is_written(to, 16));
    EXPECT_FALSE(of.shadow.is_written(to + 16, 1));
    EXPECT_FALSE(of.shadow.is_written(to + 23, 1));
    EXPECT_TRUE(of.shadow.is_written(to + 24, 8));
    EXPECT_FALSE(of.shadow.is_written(to + 32, 16));
    EXPECT_TRUE(of.shadow.is_written(to + 48, 16));
    // The host's memory is written, whatever is in it.
    const std::uint64_t host = 0x1234;
    of.shadow.copied(to + 16, host, 32);
    EXPECT_TRUE(of.shadow.is_written(to, 64));
}

TEST(ShadowMemory, CopiesThatOverlapAreMadeAsMemmoveMakesThem) {
    Memory of;
    const std::uint64_t at = of.unwritten("buffer", 16);
    of.shadow.set_written(at, 4);
    of.shadow.copied(at + 2, at, 8);
    EXPECT_TRUE(of.shadow.is_written(at, 6));
    for (std::uint64_t i = 6; i < 16; ++i) EXPECT_FALSE(of.shadow.is_written(at + i, 1)) << i;
}

TEST(ShadowMemory, TellsGroupsOfALaunchApart) {
    Memory of;
    const std::uint64_t at = of.unwritten("buffer", 64);
    of.shadow.begin_launch(4, 4);
    BufferShadow& in = *of.shadow.find(at, 64);
    const auto write = [&](std::uint64_t begin, std::uint64_t end, std::uint64_t group) {
        const auto others = of.shadow.others(in, begin, end, group);
        of.shadow.write(in, begin, end, group);
        return others;
    };
    EXPECT_FALSE(of.shadow.read(in, 0, 4, 0).wrote);
    EXPECT_FALSE(write(0, 4, 0).read);               // its own
    EXPECT_TRUE(write(3, 4, 1).wrote);               // group 0 did
    EXPECT_TRUE(write(2, 3, 1).read);                // group 0 did
    EXPECT_TRUE(of.shadow.read(in, 3, 4, 2).wrote);  // group 1 did
    EXPECT_FALSE(of.shadow.read(in, 4, 8, 2).wrote);
    EXPECT_FALSE(of.shadow.read(in, 4, 8, 3).wrote);
    EXPECT_TRUE(write(4, 5, 2).read);  // group 3 did, too
    // Nothing of it is left in the next one.
    of.shadow.begin_launch(4, 4);
    EXPECT_FALSE(of.shadow.read(in, 0, 16, 0).wrote);
    const auto others = write(0, 16, 0);
    EXPECT_FALSE(others.read || others.wrote);
}

// The host writes pinned memory as it likes, whatever was copied there.
TEST(ShadowMemory, WhatTheHostWritesStaysWritten) {
    Memory of;
    const std::uint64_t from = of.unwritten("device", 64);
    const isa::GlobalMemory::Buffer& pinned = of.memory.add("pinned", 64);
    of.shadow.copied(pinned.address, from, 64);
    EXPECT_TRUE(of.shadow.is_written(pinned.address, 64));
    of.shadow.set_written(from, 4);
    EXPECT_TRUE(of.shadow.is_any_written(from, 16));
    EXPECT_FALSE(of.shadow.is_written(from, 16));
    EXPECT_FALSE(of.shadow.is_any_written(from + 4, 16));
}

TEST(ShadowMemory, NumbersOfGroupsMayRunOut) {
    Memory of;
    const std::uint64_t at = of.unwritten("buffer", 64);
    constexpr std::uint64_t most = (std::uint64_t{1} << 31) - 1;
    of.shadow.begin_launch(most, 4);
    of.shadow.write(*of.shadow.find(at, 64), 0, 16, most - 1);
    of.shadow.begin_launch(most, 4);
    EXPECT_FALSE(of.shadow.read(*of.shadow.find(at, 64), 0, 16, most - 1).wrote);
    EXPECT_FALSE(of.shadow.read(*of.shadow.find(at, 64), 0, 16, 0).wrote);
    EXPECT_TRUE(of.shadow.others(*of.shadow.find(at, 64), 0, 16, 5).read);
}

TEST(ShadowMemory, ForgetsWhatIsReleased) {
    Memory of;
    const std::uint64_t at = of.unwritten("buffer", 64);
    of.shadow.begin_launch(1, 1);
    EXPECT_NE(of.shadow.find(at + 63, 1), nullptr);
    EXPECT_EQ(of.shadow.find(at + 63, 2), nullptr);
    const auto& buffer = *of.memory.find(at, 64);
    of.shadow.remove(buffer);
    of.memory.remove(buffer);
    EXPECT_EQ(of.shadow.find(at, 1), nullptr);
    of.shadow.begin_launch(1, 1);
    EXPECT_EQ(of.shadow.find(at, 1), nullptr);
}

}  // namespace
}  // namespace occupipe::extract
