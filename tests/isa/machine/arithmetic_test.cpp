// SPDX-License-Identifier: MIT
// Arithmetic of one lane beside the host's own: its floating-point unit in four rounding modes,
// binary16 as scaled integers, and long double.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>
#include <vector>

#include "isa/machine/arithmetic/conversion.h"
#include "isa/machine/arithmetic/function.h"
#include "isa/machine/arithmetic/half.h"
#include "isa/machine/arithmetic/wide_function.h"
#include "isa/machine/atomics.h"

namespace occupipe::isa::arithmetic {
namespace {

constexpr Rounding roundings[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::zero};
constexpr int host_modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

// The host's rounding mode for one scope.
class HostRounding {
public:
    explicit HostRounding(Rounding rounding) {
        std::fesetround(host_modes[static_cast<int>(rounding)]);
    }
    ~HostRounding() { std::fesetround(FE_TONEAREST); }
    HostRounding(const HostRounding&) = delete;
    HostRounding& operator=(const HostRounding&) = delete;
};

// Random patterns with exponents near each other half of the time, and every special number.
class Patterns32 {
public:
    std::uint32_t next() {
        const std::uint32_t pattern = static_cast<std::uint32_t>(random_());
        switch (random_() % 8) {
            case 0:
                return specials[random_() % std::size(specials)];
            case 1:
                return pattern & 0x807fffff;  // denormal
            case 2:
                return (pattern & 0x80ffffff) | 0x7e800000;  // near overflow
            case 3:
            case 4:
                return (pattern & 0x8fffffff) | 0x38000000;  // near 1
            case 5:
                return (pattern & 0x81ffffff) | 0x0c000000;
            default:
                return pattern;
        }
    }

private:
    static constexpr std::uint32_t specials[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x80800000,
        0x3f800000, 0xbf800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
        0xffc12345, 0x7f812345, 0x7fffffff, 0x3f800001, 0x3f7fffff, 0x4b800000, 0x34000000};
    std::mt19937_64 random_{17};
};

std::uint32_t host(double, float value) { return std::isnan(value) ? 0x7fffffff : as_bits(value); }

std::uint32_t by_rounding(Rounding rounding, auto&& operation) {
    switch (rounding) {
        case Rounding::nearest:
            return operation.template operator()<Rounding::nearest>();
        case Rounding::down:
            return operation.template operator()<Rounding::down>();
        case Rounding::up:
            return operation.template operator()<Rounding::up>();
        case Rounding::zero:
            break;
    }
    return operation.template operator()<Rounding::zero>();
}

TEST(Binary32, RoundsAsTheHostInFourModes) {
    Patterns32 patterns;
    for (int i = 0; i < 400000; ++i) {
        const std::uint32_t a = patterns.next(), b = patterns.next(), c = patterns.next();
        const Rounding rounding = roundings[i % 4];
        const volatile float x = as_float(a), y = as_float(b), z = as_float(c);
        std::uint32_t sum = 0, product = 0, multiply_add = 0;
        {
            const HostRounding mode(rounding);
            const volatile float s = x + y, p = x * y, f = std::fma(x, y, z);
            sum = host(0, s), product = host(0, p), multiply_add = host(0, f);
        }
        ASSERT_EQ(by_rounding(rounding, [&]<Rounding r> { return added<r>(a, b); }), sum)
            << std::hex << a << " " << b << " rounding " << i % 4;
        ASSERT_EQ(by_rounding(rounding, [&]<Rounding r> { return multiplied<r>(a, b); }), product)
            << std::hex << a << " " << b << " rounding " << i % 4;
        ASSERT_EQ(by_rounding(rounding, [&]<Rounding r> { return fused<r>(a, b, c); }),
                  multiply_add)
            << std::hex << a << " " << b << " " << c << " rounding " << i % 4;
        ASSERT_EQ(total(a, b, binary32, rounding), sum) << std::hex << a << " " << b;
        ASSERT_EQ(arithmetic::product(a, b, binary32, rounding), product)
            << std::hex << a << " " << b;
        ASSERT_EQ(fused(a, b, c, binary32, rounding), multiply_add)
            << std::hex << a << " " << b << " " << c;
    }
}

TEST(Binary32, ScalesAProductWithoutASecondRounding) {
    // 1.5 * 2^-126 / 4: the product is exact, the quotient a denormal; rounding twice would differ
    // for products that need more digits.
    const std::uint32_t a = 0x00800001, b = 0x3fc00003;
    const long double exact = static_cast<long double>(as_float(a)) * as_float(b) / 4;
    EXPECT_EQ(multiplied<Rounding::nearest>(a, b, 0.25), as_bits(static_cast<float>(exact)));
    EXPECT_EQ(multiplied<Rounding::nearest>(0x3f800000, 0x40400000, 8), as_bits(24.0F));
}

TEST(Binary32, ClampsFlushesAndChooses) {
    EXPECT_EQ(saturated(as_bits(1.5F)), as_bits(1.0F));
    EXPECT_EQ(saturated(as_bits(-1.5F)), 0u);
    EXPECT_EQ(saturated(0x80000000), 0u);
    EXPECT_EQ(saturated(0x7fffffff), 0u);
    EXPECT_EQ(saturated(as_bits(0.25F)), as_bits(0.25F));
    EXPECT_EQ(flushed(0x807fffff), 0x80000000u);
    EXPECT_EQ(flushed(0x00800000), 0x00800000u);
    EXPECT_EQ(lesser(0, 0x80000000), 0x80000000u);
    EXPECT_EQ(greater(0x80000000, 0), 0u);
    EXPECT_EQ(lesser(0x7fc00000, as_bits(2.0F)), as_bits(2.0F));
    EXPECT_EQ(greater(as_bits(-2.0F), 0xffc00000), as_bits(-2.0F));
    EXPECT_EQ(greater(0xffc00000, 0x7fc00001), 0x7fffffffu);
    Patterns32 patterns;
    for (int i = 0; i < 100000; ++i) {
        const std::uint32_t a = patterns.next(), b = patterns.next();
        const float x = as_float(a), y = as_float(b);
        if (std::isnan(x) || std::isnan(y) || x == y) continue;
        ASSERT_EQ(lesser(a, b), as_bits(std::fmin(x, y)));
        ASSERT_EQ(greater(a, b), as_bits(std::fmax(x, y)));
    }
}

TEST(Comparisons, AreTheSixteenOfTheirNames) {
    const double nan = std::nan("");
    const std::pair<double, double> pairs[] = {{1, 2}, {2, 2}, {3, 2}, {nan, 2}, {0.0, -0.0}};
    for (const auto& [a, b] : pairs) {
        const bool ordered = !std::isnan(a);
        const bool expected[] = {
            false,     a<b, a == b, a <= b, a> b, ordered && a != b, a >= b,    ordered, !ordered,
            !(a >= b), !(ordered && a != b),      !(a > b),          !(a <= b), a != b,  !(a < b),
            true};
        for (unsigned code = 0; code < 16; ++code) {
            EXPECT_EQ(compared(a, b, code), expected[code]) << a << " " << b << " " << code;
        }
    }
}

std::uint64_t host64(double value) { return as_bits(value); }

TEST(Binary64, RoundsAsTheHostInFourModes) {
    std::mt19937_64 random(5);
    const auto next = [&] {
        std::uint64_t pattern = random();
        const std::uint64_t kind = random() % 8;
        if (kind == 0) pattern &= 0x800fffffffffffff;  // denormal
        if (kind >= 2 && kind < 7) pattern = (pattern & 0x83ffffffffffffff) | 0x3c00000000000000;
        if (kind == 7) pattern = (pattern & 0x801fffffffffffff) | 0x7fc0000000000000;
        return pattern;
    };
    for (int i = 0; i < 300000; ++i) {
        const std::uint64_t a = next(), b = next(), c = next();
        if (binary64.is_nan(a) || binary64.is_nan(b) || binary64.is_nan(c)) continue;
        const Rounding rounding = roundings[i % 4];
        const volatile double x = as_double(a), y = as_double(b), z = as_double(c);
        std::uint64_t sum = 0, product = 0, multiply_add = 0;
        {
            const HostRounding mode(rounding);
            const volatile double s = x + y, p = x * y, f = std::fma(x, y, z);
            sum = host64(s), product = host64(p), multiply_add = host64(f);
        }
        ASSERT_EQ(total(a, b, binary64, rounding), sum) << std::hex << a << " " << b;
        ASSERT_EQ(arithmetic::product(a, b, binary64, rounding), product)
            << std::hex << a << " " << b;
        ASSERT_EQ(fused(a, b, c, binary64, rounding), multiply_add)
            << std::hex << a << " " << b << " " << c << " " << i % 4;
    }
}

TEST(Binary64, NamesItsNaNs) {
    const std::uint64_t infinity = 0x7ff0000000000000, quiet = 0x7ff8000000000123;
    EXPECT_EQ(total(infinity, infinity | binary64.sign(), binary64, Rounding::nearest),
              0xfff8000000000000u);
    EXPECT_EQ(total(0, 0x7ff0000000000123, binary64, Rounding::nearest), quiet);
    EXPECT_EQ(fused(0, quiet, 0x7ff8000000000456, binary64, Rounding::nearest), quiet);
    EXPECT_EQ(total(1, 0x7fc00000, binary32, Rounding::nearest), 0x7fffffffu);
}

// binary16 as an integer number of 2^-48, which holds every product and sum exactly.
SignedWide scaled(std::uint16_t pattern) {
    const int exponent = pattern >> 10 & 31;
    const int fraction = pattern & 0x3ff;
    const SignedWide magnitude =
        exponent == 0 ? SignedWide{fraction} << 24 : SignedWide{fraction + 1024} << (23 + exponent);
    return (pattern & 0x8000) != 0 ? -magnitude : magnitude;
}

// The nearest binary16 by searching all of them.
std::uint16_t nearest16(SignedWide value, bool negative_zero) {
    const SignedWide magnitude = value < 0 ? -value : value;
    const std::uint16_t sign = value < 0 || (value == 0 && negative_zero) ? 0x8000 : 0;
    int low = 0, high = 0x7c00;  // patterns; infinity stands for 65536
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (scaled(static_cast<std::uint16_t>(middle)) <= magnitude ? low : high) = middle;
    }
    const SignedWide below = magnitude - scaled(static_cast<std::uint16_t>(low));
    const SignedWide above = scaled(static_cast<std::uint16_t>(high)) - magnitude;
    const bool up = above < below || (above == below && low % 2 == 1);
    return static_cast<std::uint16_t>(sign | (up ? high : low));
}

TEST(Binary16, WidensEveryPattern) {
    for (int i = 0; i < 0x10000; ++i) {
        const auto pattern = static_cast<std::uint16_t>(i);
        const float value = widened<Half::ieee>(pattern);
        if ((i & 0x7c00) == 0x7c00) {
            EXPECT_EQ(std::isnan(value), (i & 0x3ff) != 0);
            EXPECT_EQ(std::isinf(value), (i & 0x3ff) == 0);
        } else {
            EXPECT_EQ(value,
                      static_cast<float>(std::ldexp(static_cast<double>(scaled(pattern)), -48)));
        }
        EXPECT_EQ(std::signbit(value), i >= 0x8000);
        EXPECT_EQ(halved<Half::ieee>(value), std::isnan(value) ? 0x7fff : i);
        const float brain = widened<Half::brain>(pattern);
        EXPECT_EQ(halved<Half::brain>(brain), std::isnan(brain) ? 0x7fff : i);
    }
}

TEST(Binary16, SumsProductsAndFusedOnesAreTheNearest) {
    std::mt19937 random(16);
    const auto next = [&] {
        auto pattern = static_cast<std::uint16_t>(random());
        const unsigned kind = random() % 4;
        if (kind == 0) pattern &= 0x83ff;
        if (kind == 1) pattern = static_cast<std::uint16_t>((pattern & 0x8fff) | 0x3000);
        if ((pattern & 0x7c00) == 0x7c00) pattern ^= 0x4000;
        return pattern;
    };
    for (int i = 0; i < 500000; ++i) {
        const std::uint16_t a = next(), b = next(), c = next();
        const bool signs = ((a ^ b) & 0x8000) != 0;
        const SignedWide product = (scaled(a) >> 24) * (scaled(b) >> 24);  // exact
        ASSERT_EQ(half_sum<Half::ieee>(a, b),
                  nearest16(scaled(a) + scaled(b), (a & b & 0x8000) != 0))
            << std::hex << a << " " << b;
        ASSERT_EQ(half_product<Half::ieee>(a, b), nearest16(product, signs))
            << std::hex << a << " " << b;
        ASSERT_EQ(half_fused<Half::ieee>(a, b, c),
                  nearest16(product + scaled(c), signs && (c & 0x8000) != 0))
            << std::hex << a << " " << b << " " << c;
        ASSERT_EQ(half_fused<Half::ieee>(a, b, c), fused(a, b, c, binary16, Rounding::nearest));
    }
}

TEST(Bfloat16, SumsProductsAndFusedOnesAreTheExactOnes) {
    std::mt19937 random(17);
    for (int i = 0; i < 500000; ++i) {
        auto a = static_cast<std::uint16_t>(random()), b = static_cast<std::uint16_t>(random());
        auto c = static_cast<std::uint16_t>(random());
        if (i % 2 == 0) {  // exponents near each other, also far down
            b = static_cast<std::uint16_t>((b & 0x83ff) | (i % 4 == 0 ? 0x3c00 : 0x1c00));
            a = static_cast<std::uint16_t>((a & 0x83ff) | (i % 4 == 0 ? 0x3c00 : 0x2400));
            c = static_cast<std::uint16_t>((c & 0x83ff) | (i % 4 == 0 ? 0x3c00 : 0));
        }
        ASSERT_EQ(half_sum<Half::brain>(a, b), total(a, b, bfloat16, Rounding::nearest));
        ASSERT_EQ(half_product<Half::brain>(a, b), product(a, b, bfloat16, Rounding::nearest))
            << std::hex << a << " " << b;
        ASSERT_EQ(half_fused<Half::brain>(a, b, c), fused(a, b, c, bfloat16, Rounding::nearest))
            << std::hex << a << " " << b << " " << c;
    }
}

TEST(Halves, CancelInMemoryAndStayWhereNothingIsAdded) {
    for (std::uint32_t a = 0; a < 0x10000; ++a) {
        const std::uint32_t pair = a | a << 16, other = (a ^ 0x8000) | 0x8000'0000;
        if ((a & 0x7c00) != 0x7c00) {
            ASSERT_EQ(add_halves<Half::ieee>(pair, other), a << 16) << std::hex << a;
        }
        if ((a & 0x7f80) != 0x7f80) {
            ASSERT_EQ(add_halves<Half::brain>(pair, other), a << 16) << std::hex << a;
        }
    }
}

TEST(Halves, ClampAndChoose) {
    EXPECT_EQ(half_saturated<Half::ieee>(0x4000), 0x3c00);
    EXPECT_EQ(half_saturated<Half::brain>(0x4000), 0x3f80);
    EXPECT_EQ(half_saturated<Half::ieee>(0x7fff), 0);
    EXPECT_EQ(half_rectified<Half::ieee>(0x8001), 0);
    EXPECT_EQ(half_rectified<Half::ieee>(0x7e00), 0x7fff);
    EXPECT_EQ(half_rectified<Half::ieee>(0x3800), 0x3800);
    EXPECT_EQ(half_chosen<Half::ieee>(0x3c00, 0x7e00, true, false), 0x3c00);
    EXPECT_EQ(half_chosen<Half::ieee>(0x3c00, 0x7e00, true, true), 0x7fff);
    EXPECT_EQ(half_chosen<Half::brain>(0x8000, 0, false, false), 0);
    EXPECT_EQ(half_chosen<Half::ieee>(0x0001, 0x8001, true, false), 0x8001);
    EXPECT_EQ(flushed_half(0x83ff, Half::ieee), 0x8000);
    EXPECT_EQ(flushed_half(0x0400, Half::ieee), 0x0400);
    EXPECT_EQ(flushed_half(0x007f, Half::brain), 0);
}

TEST(Conversions, OfFormatsAreTheHosts) {
    std::mt19937_64 random(9);
    for (int i = 0; i < 300000; ++i) {
        std::uint64_t pattern = random();
        if (i % 2 == 0) {  // exponents of binary32, its denormals and beyond
            pattern = (pattern & 0x800fffffffffffff) | ((800 + random() % 400) << 52);
        }
        if (binary64.is_nan(pattern)) continue;
        const Rounding rounding = roundings[random() % 4];
        const volatile double value = as_double(pattern);
        std::uint32_t expected = 0;
        {
            const HostRounding mode(rounding);
            const volatile float narrow = static_cast<float>(value);
            expected = as_bits(narrow);
        }
        ASSERT_EQ(converted(pattern, binary64, binary32, rounding), expected);
        ASSERT_EQ(converted(expected, binary32, binary64, rounding),
                  as_bits(static_cast<double>(as_float(expected))));
    }
    EXPECT_EQ(converted(0x7ff8000000000001, binary64, binary32, Rounding::nearest), 0x7fffffffu);
    EXPECT_EQ(converted(0x7fffffff, binary32, binary64, Rounding::nearest), 0x7fffffffe0000000u);
    EXPECT_EQ(converted(0xff800000, binary32, binary16, Rounding::nearest), 0xfc00u);
}

TEST(Conversions, ToIntegersRoundAndSaturate) {
    std::mt19937_64 random(10);
    for (int i = 0; i < 200000; ++i) {
        const std::uint64_t pattern =
            (random() & 0x800fffffffffffff) | ((1015 + random() % 80) << 52);
        const Rounding rounding = roundings[i % 4];
        const long double value = as_double(pattern);
        const long double whole = rounding == Rounding::down   ? std::floor(value)
                                  : rounding == Rounding::up   ? std::ceil(value)
                                  : rounding == Rounding::zero ? std::trunc(value)
                                                               : std::nearbyint(value);
        ASSERT_EQ(as_double(integral(pattern, binary64, rounding)), static_cast<double>(whole));
        for (const int bits : {8, 16, 32, 64}) {
            const long double top = std::ldexp(1.0L, bits);
            const auto u = static_cast<std::uint64_t>(std::fmin(std::fmax(whole, 0.0L), top - 1));
            ASSERT_EQ(to_integer(pattern, binary64, {bits, false}, rounding, true), u);
            const auto s =
                static_cast<std::int64_t>(std::fmin(std::fmax(whole, -top / 2), top / 2 - 1));
            ASSERT_EQ(to_integer(pattern, binary64, {bits, true}, rounding, true),
                      static_cast<std::uint64_t>(s));
        }
    }
    const std::uint32_t nan = 0x7fc00000, infinity = 0xff800000;
    EXPECT_EQ(to_integer(nan, binary32, {32, true}, Rounding::zero, true), 0u);
    EXPECT_EQ(to_integer(nan, binary32, {64, true}, Rounding::zero, false), std::uint64_t{1} << 63);
    EXPECT_EQ(to_integer(nan, binary32, {32, false}, Rounding::zero, false), 0x80000000u);
    EXPECT_EQ(to_integer(infinity, binary32, {16, true}, Rounding::zero, false),
              0xffffffffffff8000u);
    EXPECT_EQ(
        as_float(static_cast<std::uint32_t>(integral(as_bits(-0.3F), binary32, Rounding::nearest))),
        0.0F);
    EXPECT_EQ(integral(as_bits(-0.3F), binary32, Rounding::nearest), 0x80000000u);
}

TEST(Conversions, FromIntegersRoundOnce) {
    std::mt19937_64 random(11);
    for (int i = 0; i < 300000; ++i) {
        const std::uint64_t value = random() >> random() % 64;
        const Rounding rounding = roundings[i % 4];
        const volatile std::int64_t s = static_cast<std::int64_t>(value);
        const volatile std::uint64_t u = value;
        std::uint64_t expected[4] = {};
        {
            const HostRounding mode(rounding);
            const volatile float fs = static_cast<float>(s), fu = static_cast<float>(u);
            const volatile double ds = static_cast<double>(s), du = static_cast<double>(u);
            expected[0] = as_bits(fs), expected[1] = as_bits(fu);
            expected[2] = as_bits(ds), expected[3] = as_bits(du);
        }
        ASSERT_EQ(from_integer(value, {64, true}, binary32, rounding), expected[0]) << value;
        ASSERT_EQ(from_integer(value, {64, true}, binary64, rounding), expected[2]) << value;
        if (value >> 63 == 0) {  // the host's own conversion of larger ones rounds twice
            ASSERT_EQ(from_integer(value, {64, false}, binary32, rounding), expected[1]) << value;
            ASSERT_EQ(from_integer(value, {64, false}, binary64, rounding), expected[3]) << value;
        }
        ASSERT_EQ(from_integer(value, {8, true}, binary32, rounding),
                  as_bits(static_cast<float>(static_cast<std::int8_t>(value))));
        ASSERT_EQ(from_integer(value, {16, false}, binary64, rounding),
                  as_bits(static_cast<double>(static_cast<std::uint16_t>(value))));
    }
    EXPECT_EQ(from_integer(~std::uint64_t{0}, {64, false}, binary32, Rounding::zero), 0x5f7fffffu);
    EXPECT_EQ(from_integer(~std::uint64_t{0}, {64, false}, binary32, Rounding::up), 0x5f800000u);
}

TEST(Functions, AreRoundedToNearest) {
    std::mt19937 random(12);
    constexpr long double turn = 6.283185307179586476925286766559005768L;
    for (int i = 0; i < 300000; ++i) {
        auto x = static_cast<std::uint32_t>(random());
        if (i % 2 == 0) x = (x & 0x80ffffff) | 0x3f000000;
        const float value = as_float(x);
        if (!std::isnormal(value)) continue;
        const long double v = value;
        const auto expect = [&](std::uint32_t got, long double exact) {
            const float nearest = static_cast<float>(exact);
            const std::uint32_t wanted = std::isnan(nearest) ? 0x7fffffff : as_bits(nearest);
            ASSERT_EQ(got, flushed(wanted)) << value;
        };
        expect(reciprocal(x), 1 / v);
        expect(reciprocal_root(x), 1 / std::sqrt(v));
        expect(square_root(x), std::sqrt(v));
        expect(power_of_two(x), std::exp2(v));
        expect(binary_logarithm(x), std::log2(v));
        if (std::fabs(v) < 0.125L) expect(sine(x), std::sin(v * turn));
        if (std::fabs(v) < 0.125L) expect(cosine(x), std::cos(v * turn));
        expect(hyperbolic_tangent(x), std::tanh(v));
    }
}

// Where the series are sure of the result, it is that of the C library; and they mostly are.
template <typename Wide>
void expect_equal(std::uint32_t (*exact)(std::uint32_t)) {
    std::uint64_t usual = 0, sure = 0;
    constexpr std::uint32_t step = 2053;
    for (std::uint64_t i = 0; i <= 0xffffffff; i += step) {
        const auto x = static_cast<std::uint32_t>(i);
        if (!Wide::usual(x)) continue;
        ++usual;
        const Rounded rounded = Rounded::of(Wide::of(as_float(x)));
        if (!rounded.sure()) continue;
        ++sure;
        ASSERT_EQ(rounded.low, exact(x)) << std::hex << x;
    }
    EXPECT_GT(usual, 250'000);
    EXPECT_GT(10 * sure, 9 * usual);
}
TEST(Functions, OfSeriesAreTheLibrarys) {
    expect_equal<WidePower>(&power_of_two);
    expect_equal<WideLogarithm>(&binary_logarithm);
    expect_equal<WideCircular<0>>(&sine);
    expect_equal<WideCircular<1>>(&cosine);
    expect_equal<WideTangent>(&hyperbolic_tangent);
}

TEST(Functions, TakeTurnsExactly) {
    EXPECT_EQ(as_float(sine(as_bits(0.25F))), 1.0F);
    EXPECT_EQ(as_float(sine(as_bits(0.5F))), 0.0F);
    EXPECT_EQ(as_float(cosine(as_bits(0.5F))), -1.0F);
    EXPECT_EQ(as_float(cosine(as_bits(1048576.25F))), 0.0F);
    EXPECT_EQ(sine(as_bits(1000.125F)), as_bits(static_cast<float>(std::sqrt(0.5L))));
    EXPECT_EQ(sine(as_bits(-0.375F)), as_bits(static_cast<float>(-std::sqrt(0.5L))));
    EXPECT_EQ(sine(0x7f800000), 0x7fffffffu);
    // 2 pi times the distance from the zero, not from the quarter.
    const float close = 0.25F + std::ldexp(1.0F, -20);
    EXPECT_NEAR(as_float(cosine(as_bits(close))) / std::ldexp(1.0, -20), -6.283185307, 1e-6);
}

TEST(Functions, KnowTheirLimits) {
    EXPECT_EQ(reciprocal(0x80000000), 0xff800000u);
    EXPECT_EQ(reciprocal(0x00000001), 0x7f800000u);  // a denormal is a zero
    EXPECT_EQ(reciprocal(0xff800000), 0x80000000u);
    EXPECT_EQ(reciprocal(0x7e800001), 0u);  // its result would be denormal
    EXPECT_EQ(reciprocal_root(0x80000000), 0xff800000u);
    EXPECT_EQ(reciprocal_root(as_bits(-1.0F)), 0x7fffffffu);
    EXPECT_EQ(reciprocal_root(0x7f800000), 0u);
    EXPECT_EQ(reciprocal_root(0x403a18e3), 0x3f16209eu);  // the nearest to a middle
    EXPECT_EQ(binary_logarithm(0), 0xff800000u);
    EXPECT_EQ(binary_logarithm(as_bits(-1.0F)), 0x7fffffffu);
    EXPECT_EQ(power_of_two(0xff800000), 0u);
    EXPECT_EQ(power_of_two(as_bits(-126.5F)), 0u);
    EXPECT_EQ(power_of_two(as_bits(128.0F)), 0x7f800000u);
    EXPECT_EQ(hyperbolic_tangent(0x00000007), 7u);
    EXPECT_EQ(reciprocal_high(0x3ff00000), 0x3ff00000u);
    EXPECT_EQ(reciprocal_high(0x40000000), 0x3fe00000u);
    EXPECT_EQ(reciprocal_high(0), 0x7ff00000u);
    EXPECT_EQ(reciprocal_high(0x7ff00000), 0u);
    EXPECT_EQ(reciprocal_high(0x7fe00000), 0u);  // denormal
    EXPECT_EQ(reciprocal_high(0x7ff80000), 0x7ff80000u);
    EXPECT_EQ(reciprocal_root_high(0x40100000), 0x3fe00000u);
    EXPECT_EQ(reciprocal_root_high(0xbff00000), 0x7ff80000u);
}

// A third is 0x3fd55555_55555555: the upper word is rounded, not cut, and 20 digits are right.
TEST(Functions, UpperWordsAreGoodToTwentyDigits) {
    std::mt19937_64 random(13);
    for (int i = 0; i < 100000; ++i) {
        const auto high = static_cast<std::uint32_t>(0x3ff00000 | (random() & 0xfffff));
        const double x = as_double(std::uint64_t{high} << 32);
        const double r = as_double(std::uint64_t{reciprocal_high(high)} << 32);
        const double q = as_double(std::uint64_t{reciprocal_root_high(high)} << 32);
        ASSERT_LE(std::fabs(r * x - 1), std::ldexp(1.0, -20));
        ASSERT_LE(std::fabs(q * q * x - 1), std::ldexp(1.0, -19));
    }
}

}  // namespace
}  // namespace occupipe::isa::arithmetic
