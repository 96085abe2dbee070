// SPDX-License-Identifier: MIT
#include "program/device_history.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tests/support/random_values.h"

namespace occupipe::program {
namespace {

TEST(DeviceHistory, TellsWhatWasReferredToSince) {
    DeviceHistory history;
    EXPECT_FALSE(history.since(0));
    history.touched(1000, 100, 100);
    history.touched(5000, 40, 40);
    EXPECT_EQ(history.since(1000), 140U);
    EXPECT_EQ(history.since(1099), 41U);
    EXPECT_FALSE(history.since(1100));
    EXPECT_EQ(history.since(5000), 40U);
    EXPECT_EQ(history.bytes(), 140U);
    // Half of a range, evenly.
    history.touched(8000, 200, 100);
    EXPECT_EQ(history.since(8100), 50U);
    EXPECT_EQ(history.bytes(), 240U);
}

TEST(DeviceHistory, ALaterReferenceCountsAndMemoryThatIsFreedDoesNot) {
    DeviceHistory history;
    history.touched(0, 100, 100);
    history.touched(40, 20, 20);
    EXPECT_EQ(history.since(0), 120U);
    EXPECT_EQ(history.since(40), 20U);
    EXPECT_EQ(history.since(60), 60U);
    EXPECT_EQ(history.bytes(), 100U);
    history.forget(50, 1000);
    EXPECT_FALSE(history.since(50));
    EXPECT_FALSE(history.since(80));
    EXPECT_EQ(history.since(49), 11U);
    EXPECT_EQ(history.bytes(), 50U);
}

// Byte by byte.
TEST(DeviceHistory, AgreesWithAListOfBytes) {
    test::RandomValues random(7);
    for (int run = 0; run < 50; ++run) {
        DeviceHistory history;
        std::map<std::uint64_t, std::uint64_t> at;  // byte → referred to before it, of all
        std::uint64_t total = 0;
        for (int step = 0; step < 40; ++step) {
            const auto begin = static_cast<std::uint64_t>(random.between(0, 300));
            const auto size = static_cast<std::uint64_t>(random.between(1, 100));
            if (random.between(0, 4) == 0) {
                history.forget(begin, size);
                for (std::uint64_t i = 0; i < size; ++i) at.erase(begin + i);
                continue;
            }
            history.touched(begin, size, size);
            for (std::uint64_t i = 0; i < size; ++i) at[begin + i] = total + i;
            total += size;
            EXPECT_EQ(history.bytes(), at.size());
        }
        for (std::uint64_t byte = 0; byte < 420; ++byte) {
            const auto found = at.find(byte);
            EXPECT_EQ(history.since(byte),
                      found == at.end() ? std::nullopt : std::optional(total - found->second))
                << byte;
        }
    }
}

}  // namespace
}  // namespace occupipe::program
