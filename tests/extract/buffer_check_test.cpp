// SPDX-License-Identifier: MIT
#include "extract/buffer_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace occupipe::extract {
namespace {

template <typename T>
std::span<const std::byte> bytes_of_values(const std::vector<T>& values) {
    return std::as_bytes(std::span(values));
}

const BufferPlan floats{.name = "x", .type = ElementType::f32, .count = 4, .fill = {}};

TEST(BufferSummary, LeavesOutWhatIsNotFinite) {
    const std::vector<float> values = {1, NAN, -3, INFINITY, 8};
    const BufferSummary found = summary(floats, bytes_of_values(values));
    EXPECT_EQ(found.first, (std::vector<std::string>{"1", "nan", "-3", "inf"}));
    EXPECT_EQ(found.least, -3);
    EXPECT_EQ(found.greatest, 8);
    EXPECT_EQ(found.mean, 2);
    EXPECT_EQ(found.not_a_number, 1U);
    EXPECT_EQ(found.infinite, 1U);
    const std::vector<float> none = {NAN};
    EXPECT_FALSE(summary(floats, bytes_of_values(none)).mean);
}

TEST(BufferComparison, IsBitForBitWithoutATolerance) {
    const std::vector<float> found = {1, 2, 0.0F, 4};
    const std::vector<float> expected = {1, 2.5F, -0.0F, 4};
    const BufferComparison result =
        compare(floats, bytes_of_values(found), bytes_of_values(expected), 0, 0);
    EXPECT_EQ(result.elements, 4U);
    EXPECT_EQ(result.different, 2U);
    EXPECT_EQ(result.equal_bits, 2U);
    EXPECT_EQ(result.first, 1U);
    EXPECT_EQ(result.found, "2");
    EXPECT_EQ(result.expected, "2.5");
    EXPECT_EQ(result.greatest_difference, 0.5);
    EXPECT_EQ(result.greatest_at, 1U);
}

TEST(BufferComparison, TakesTolerances) {
    const std::vector<float> found = {101, 2, NAN, INFINITY};
    const std::vector<float> expected = {100, 2, -NAN, 4};
    const auto different = [&](double absolute, double relative) {
        return compare(floats, bytes_of_values(found), bytes_of_values(expected), absolute,
                       relative)
            .different;
    };
    EXPECT_EQ(different(0, 0), 3U);
    EXPECT_EQ(different(0, 0.01), 1U);  // twice not a number agrees; infinity stays wrong
    EXPECT_EQ(different(0, 0.0099), 2U);
    EXPECT_EQ(different(1, 0), 1U);
    EXPECT_EQ(different(1e30, 0), 1U);
}

TEST(BufferComparison, KnowsIntegersThatABinary64DoesNot) {
    const BufferPlan wide{.name = "x", .type = ElementType::i64, .count = 1, .fill = {}};
    const std::vector<std::int64_t> found = {INT64_MAX};
    const std::vector<std::int64_t> expected = {INT64_MAX - 1};
    const BufferComparison result =
        compare(wide, bytes_of_values(found), bytes_of_values(expected), 0, 0);
    EXPECT_EQ(result.greatest_difference, 1);
    EXPECT_FALSE(result.agrees());
    const std::vector<std::int64_t> two(2);
    EXPECT_THROW(compare(wide, bytes_of_values(found), bytes_of_values(two), 0, 0), InputError);
}

}  // namespace
}  // namespace occupipe::extract
