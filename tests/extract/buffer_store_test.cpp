// SPDX-License-Identifier: MIT
#include "extract/buffer_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/files/launch_files.h"

namespace occupipe::extract {
namespace {

BufferPlan buffer(std::uint64_t count, std::uint64_t seed = 1) {
    return {.name = "in",
            .type = ElementType::f32,
            .count = count,
            .fill = {.kind = BufferFill::Kind::random, .low = "0", .high = "1", .seed = seed},
            .where = {}};
}

TEST(BufferStore, AMemoryHasTheContentAndItsOwnCopyOfWhatItWrites) {
    BufferStore store;
    const LaunchPlan plan;
    const BufferPlan wanted = buffer(100000);
    const std::vector<std::byte> expected = buffer_contents(plan, wanted, wanted.fill);
    const auto content = store.content(plan, wanted);
    ASSERT_TRUE(content);
    EXPECT_EQ(store.content(plan, wanted), content);
    isa::GlobalMemory first, second;
    const auto& in_first = first.add("in", *content);
    EXPECT_EQ(in_first.size, 400000U);
    EXPECT_EQ(in_first.address, second.add("other", 400000).address);
    const auto& in_second = second.add("in", *content);
    EXPECT_TRUE(std::ranges::equal(isa::GlobalMemory::bytes(in_first), expected));
    std::ranges::fill(isa::GlobalMemory::bytes(in_first), std::byte{7});
    EXPECT_TRUE(std::ranges::equal(isa::GlobalMemory::bytes(in_second), expected));
    isa::GlobalMemory third;
    EXPECT_TRUE(std::ranges::equal(isa::GlobalMemory::bytes(third.add("in", *content)), expected));
}

TEST(BufferStore, TellsFillsApartAndForgetsWhenItIsFull) {
    BufferStore store(1 << 20);
    const LaunchPlan plan;
    const auto one = store.content(plan, buffer(100000, 1));
    const auto other = store.content(plan, buffer(100000, 2));
    ASSERT_TRUE(one && other);
    EXPECT_NE(one, other);
    EXPECT_EQ(store.content(plan, buffer(100000, 1)), one);
    const auto third = store.content(plan, buffer(100000, 3));  // 1.2 MB would be too much
    EXPECT_NE(store.content(plan, buffer(100000, 1)), one);
    EXPECT_FALSE(store.content(plan, buffer(10)));
    EXPECT_FALSE(store.content(plan, buffer(1 << 20)));
    BufferPlan file = buffer(100000);
    file.fill = {.kind = BufferFill::Kind::file, .path = "not here"};
    EXPECT_FALSE(store.content(plan, file));
}

}  // namespace
}  // namespace occupipe::extract
