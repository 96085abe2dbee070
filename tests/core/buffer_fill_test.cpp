// SPDX-License-Identifier: MIT
#include "core/buffer_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "core/error.h"

namespace occupipe {
namespace {

template <typename T>
std::vector<T> elements(const BufferFill& fill, ElementType type, std::uint64_t count) {
    const std::vector<std::byte> bytes = filled(fill, type, count);
    std::vector<T> values(count);
    EXPECT_EQ(bytes.size(), count * sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

BufferFill random(const char* low, const char* high, std::uint64_t seed) {
    return {.kind = BufferFill::Kind::random,
            .low = low,
            .high = high,
            .listed = {},
            .seed = seed,
            .path = {}};
}

// The first outputs of the reference implementation (prng.di.unimi.it/splitmix64.c) from the seed
// 1234567, as other implementations test themselves with them.
TEST(BufferFill, RandomBitsAreThoseOfSplitmix64) {
    EXPECT_EQ(random_bits(1234567, 0), 6457827717110365317U);
    EXPECT_EQ(random_bits(1234567, 1), 3203168211198807973U);
    EXPECT_EQ(random_bits(1234567, 2), 9817491932198370423U);
    EXPECT_EQ(random_bits(1234567, 3), 4593380528125082431U);
    EXPECT_EQ(random_bits(1234567, 4), 16408922859458223821U);
}

TEST(BufferFill, RandomFloatsAreWhatTheDocumentSays) {
    const auto values = elements<float>(random("-1", "1", 7), ElementType::f32, 1000);
    for (std::uint64_t i = 0; i < values.size(); ++i) {
        const double share = std::ldexp(static_cast<double>(random_bits(7, i) / 2048), -53);
        EXPECT_EQ(values[i], static_cast<float>(2 * share - 1));  // exact but for the last step
    }
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1000;
    EXPECT_NEAR(mean, 0, 0.06);
}

TEST(BufferFill, RandomIntegersReachBothEnds) {
    const auto values = elements<std::int8_t>(random("-2", "3", 1), ElementType::i8, 600);
    EXPECT_EQ(std::set<int>(values.begin(), values.end()), (std::set<int>{-2, -1, 0, 1, 2, 3}));
    const auto all =
        elements<std::uint64_t>(random("0", "18446744073709551615", 9), ElementType::u64, 3);
    EXPECT_EQ(all, (std::vector{random_bits(9, 0), random_bits(9, 1), random_bits(9, 2)}));
    const auto wide =
        elements<std::int32_t>(random("-2147483648", "2147483647", 9), ElementType::i32, 2);
    EXPECT_EQ(wide[1], static_cast<std::int32_t>((random_bits(9, 1) >> 32) - 0x80000000));
}

TEST(BufferFill, DoesNotDependOnTheOtherElements) {
    const auto few = elements<float>(random("0", "1", 3), ElementType::f32, 5);
    const auto many = elements<float>(random("0", "1", 3), ElementType::f32, 50);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
    EXPECT_NE(few, elements<float>(random("0", "1", 4), ElementType::f32, 5));
}

TEST(BufferFill, PermutationsHoldEveryNumberOnce) {
    const BufferFill fill = {.kind = BufferFill::Kind::permutation,
                             .low = {},
                             .high = {},
                             .listed = {},
                             .seed = 5,
                             .path = {}};
    auto values = elements<std::uint32_t>(fill, ElementType::u32, 1000);
    EXPECT_FALSE(std::ranges::is_sorted(values));
    std::ranges::sort(values);
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(values[i], i);
    // Three elements by hand: i = 2, then i = 1.
    std::vector<std::uint32_t> expected = {0, 1, 2};
    std::swap(expected[2], expected[(random_bits(5, 2) >> 32) * 3 >> 32]);
    std::swap(expected[1], expected[(random_bits(5, 1) >> 32) * 2 >> 32]);
    EXPECT_EQ(elements<std::uint32_t>(fill, ElementType::u32, 3), expected);
}

TEST(BufferFill, IotaWrapsAroundInIntegers) {
    const auto values =
        elements<std::uint8_t>({.kind = BufferFill::Kind::iota}, ElementType::u8, 258);
    EXPECT_EQ(values[255], 255);
    EXPECT_EQ(values[257], 1);
}

TEST(BufferFill, IotaTakesStartAndStep) {
    const BufferFill fill = {
        .kind = BufferFill::Kind::iota, .low = "-3", .high = "5", .listed = {}, .path = {}};
    EXPECT_EQ(elements<std::int32_t>(fill, ElementType::i32, 3),
              (std::vector<std::int32_t>{-3, 2, 7}));
    EXPECT_EQ(elements<float>(fill, ElementType::f32, 3), (std::vector<float>{-3, 2, 7}));
    EXPECT_EQ(fill_fault(fill, ElementType::f16, 20000),
              "the last of 20000 elements is too large for f16");
}

TEST(BufferFill, WholeNumbersFollowTheRuleOfIntegers) {
    BufferFill whole = random("-4", "4", 11);
    const auto integers = elements<std::int32_t>(whole, ElementType::i32, 100);
    whole.kind = BufferFill::Kind::whole;
    const auto floats = elements<float>(whole, ElementType::f32, 100);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(floats[i], static_cast<float>(integers[i]));
    whole.high = "2049";
    EXPECT_EQ(fill_fault(whole, ElementType::f16, 1), "2049: f16 counts to 2048");
    EXPECT_TRUE(fill_fault(whole, ElementType::i32, 1));
}

TEST(BufferFill, RefusesWhatDoesNotFit) {
    const auto fault = [](const BufferFill& fill, ElementType type, std::uint64_t count) {
        return fill_fault(fill, type, count).value_or("none");
    };
    EXPECT_EQ(fault({.kind = BufferFill::Kind::value, .low = "256"}, ElementType::u8, 4),
              "256 is not from 0 to 255 (u8)");
    EXPECT_EQ(fault({.kind = BufferFill::Kind::value, .low = "70000"}, ElementType::f16, 4),
              "70000 is too large for f16");
    EXPECT_EQ(fault({.kind = BufferFill::Kind::value, .low = "2.5"}, ElementType::i32, 4),
              "'2.5' is not a whole number");
    EXPECT_EQ(fault({.kind = BufferFill::Kind::permutation}, ElementType::f16, 2050),
              "a permutation of 2050 elements: f16 counts to 2048");
    EXPECT_EQ(fault({.kind = BufferFill::Kind::values, .listed = {"1"}}, ElementType::i8, 2),
              "1 value for a buffer of 2");
    EXPECT_EQ(fault(random("1", "-1", 1), ElementType::f32, 2), "1 is greater than -1");
    EXPECT_EQ(fault(random("1", "-1", 1), ElementType::i64, 2), "1 is greater than -1");
    EXPECT_EQ(fault(random("-1e308", "1e308", 1), ElementType::f64, 2),
              "-1e308 and 1e308 are too far apart");
    EXPECT_THROW(filled({.kind = BufferFill::Kind::file}, ElementType::u8, 1), InputError);
}

// Every pattern of binary16 and bfloat16 survives, and halfway cases go to the even one.
TEST(ElementType, HalvesAreRoundedOnceToNearestEven) {
    for (const ElementType type : {ElementType::f16, ElementType::bf16}) {
        for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
            const double value = floating_value(type, bits);
            if (std::isnan(value)) continue;
            ASSERT_EQ(floating_bits(type, value), bits);
            const std::uint64_t next = bits + 1;
            const double above = floating_value(type, next);
            if (!std::isfinite(value) || !std::isfinite(above) || (next & 0x7fff) == 0) continue;
            const double middle = value + (above - value) / 2;  // exact in binary64
            ASSERT_EQ(floating_bits(type, middle), (bits & 1) == 0 ? bits : next);
            ASSERT_EQ(floating_bits(type, std::nextafter(middle, value)), bits);
            ASSERT_EQ(floating_bits(type, std::nextafter(middle, above)), next);
        }
    }
    EXPECT_EQ(floating_bits(ElementType::f16, 65519.99), 0x7bffU);
    EXPECT_EQ(floating_bits(ElementType::f16, 65520), 0x7c00U);
    EXPECT_EQ(floating_bits(ElementType::f16, -1e-9), 0x8000U);
}

TEST(ElementType, TextsReadBack) {
    std::string why;
    EXPECT_EQ(parse_element(ElementType::i8, "-128", why), 0xffffffffffffff80U);
    EXPECT_FALSE(parse_element(ElementType::i8, "-129", why));
    EXPECT_EQ(why, "-129 is not from -128 to 127 (i8)");
    EXPECT_EQ(parse_element(ElementType::u64, "0xffffffffffffffff", why),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(parse_element(ElementType::i64, "-9223372036854775808", why), 1ULL << 63);
    for (const char* bad : {"", "-", "0x", "1_", "--1", "+-1", "1e3", " 1", "99999999999999999999"})
        EXPECT_FALSE(parse_element(ElementType::i64, bad, why)) << bad;
    for (const char* bad : {"", "nan", "inf", "1e999", "1.5f", "--1"})
        EXPECT_FALSE(parse_element(ElementType::f64, bad, why)) << bad;
    EXPECT_EQ(element_text(ElementType::i16, 0xfffe), "-2");
    EXPECT_EQ(element_text(ElementType::f32, 0x3dcccccd), "0.1");
    EXPECT_EQ(element_text(ElementType::f16, 0x3c00), "1");
}

}  // namespace
}  // namespace occupipe
