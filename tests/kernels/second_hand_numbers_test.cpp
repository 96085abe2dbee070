// SPDX-License-Identifier: MIT
// Kernels of the second hand against other algorithms: integers of many widths, reals, layouts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/kernels/host/half.h"
#include "tests/kernels/kernel_case.h"

namespace occupipe::test {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

TEST(SecondHandNumbers, Divide64) {
    const Case run("wide_integers");
    const auto a = run.before_of<u64>("a"), b = run.before_of<u64>("b");
    const auto out = run.after_of<u64>("divided");
    for (u32 i = 0; i < 256; ++i) {
        const u64 x = a[i] >> 16 * (i % 4), y = (b[i] >> 16 * (i / 4 % 4)) | 1;
        const u64* const o = &out[6 * i];
        EXPECT_EQ(u128{o[0]} * y + o[1], x);
        EXPECT_LT(o[1], y);
        const auto sx = static_cast<i64>(x >> 1) * (i & 16 ? -1 : 1);
        const i64 positive = static_cast<i64>(y >> 1);
        const i64 sy = positive ? positive * (i & 32 ? -1 : 1) : -5;
        const auto q = static_cast<i64>(o[2]), r = static_cast<i64>(o[3]);
        EXPECT_TRUE(static_cast<i128>(q) * sy + r == sx) << i;
        EXPECT_TRUE(r == 0 || (r < 0) == (sx < 0));  // toward zero
        EXPECT_LT(std::abs(r), std::abs(sy));
        // halves of 32 bits, as at school
        const u64 al = a[i] & 0xffffffff, ah = a[i] >> 32, bl = b[i] & 0xffffffff, bh = b[i] >> 32;
        const u64 middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffff);
        const u64 high = ah * bh + (middle >> 32) + (other >> 32);
        EXPECT_EQ(o[4], high);
        EXPECT_EQ(o[5], high - (a[i] >> 63 ? b[i] : 0) - (b[i] >> 63 ? a[i] : 0));
    }
}

// Miller and Rabin with Sinclair's seven bases, which decide below 2^64 too.
bool is_prime(u64 n) {
    if (n < 4) return n > 1;
    if (n % 2 == 0) return false;
    if (n < 1u << 22) {
        for (u64 d = 3; d * d <= n; d += 2) {
            if (n % d == 0) return false;
        }
        return true;
    }
    const int twos = std::countr_zero(n - 1);
    for (const u64 base : {2, 325, 9375, 28178, 450775, 9780504, 1795265022}) {
        u128 x = 1, power = base % n;
        if (power == 0) continue;
        for (u64 e = n >> twos; e; e >>= 1) {
            if (e & 1) x = x * power % n;
            power = power * power % n;
        }
        bool witness = x != 1;
        for (int i = 0; i < twos; ++i) {
            witness &= x != n - 1;
            x = x * x % n;
        }
        if (witness) return false;
    }
    return true;
}

TEST(SecondHandNumbers, PrimesAndRoots) {
    const Case run("wide_integers");
    const auto a = run.before_of<u64>("a"), b = run.before_of<u64>("b");
    const auto next = run.after_of<u64>("next");
    int primes = 0;
    for (u32 i = 0; i < 64; ++i) {
        const u64 n = b[i] >> i % 57;
        EXPECT_EQ(run.after_of<u8>("prime")[i], is_prime(n)) << n;
        primes += is_prime(n);
        u64 candidate = (n & 0xfffff) | 1;
        while (!is_prime(candidate)) candidate += 2;
        EXPECT_EQ(next[i], candidate);
    }
    EXPECT_GT(primes, 0);
    const auto square = run.after_of<u32>("square_root"), cube = run.after_of<u32>("cube_root");
    for (u32 i = 0; i < 256; ++i) {
        const u128 n = a[i] >> i % 64, s = square[i], c = cube[i];
        EXPECT_TRUE(s * s <= n && n < (s + 1) * (s + 1)) << i;
        EXPECT_TRUE(c * c * c <= n && n < (c + 1) * (c + 1) * (c + 1)) << i;
    }
}

TEST(SecondHandNumbers, AtomicsOnGlobalMemory) {
    const Case run("atomic_zoo");
    const auto in = run.before_of<u32>("in");
    std::array<std::vector<u32>, 16> places;
    u64 tickets = 0, exchanged = 0, crossed = 0;
    for (const u32 v : in) {
        auto& place = places[v >> 9 & 15];
        tickets += place.size();
        place.push_back(v);
        exchanged += v;
        crossed ^= v * 0x9e3779b97f4a7c15;
    }
    const auto found_tickets = run.after_of<u64>("tickets");
    EXPECT_EQ(found_tickets, (std::vector<u64>{tickets, 0, exchanged, crossed}));
    const auto table = run.after_of<u32>("table");
    const auto wide = run.after_of<u64>("wide");
    const auto sums = run.after_of<float>("sums");
    const auto doubles = run.after_of<double>("double_sums");
    for (u32 p = 0; p < 16; ++p) {
        auto narrow = places[p];
        std::vector<u64> w;
        std::vector<i64> sw;
        u32 low16 = 0, all = 0, conjunction = ~0U, united = 0, differ = 0, bytes = 0;
        u64 sum = 0, both = ~u64{0}, either = 0, cross = 0, product = 1, sixteenths = 0;
        for (const u32 v : narrow) {
            w.push_back(v * 0x9e3779b97f4a7c15);
            sw.push_back(static_cast<i64>(w.back()));
            low16 += v & 0xffff;
            all += v;
            conjunction &= v | 0x00ff00ff;
            united |= v & 0x0f0f0f0f;
            differ ^= v;
            bytes += v & 255;
            sixteenths += v >> 4;
            sum += w.back();
            both &= w.back() | u64{0xff} << p * 3;
            either |= w.back() & 0x1111111111111111;
            cross ^= w.back();
            product *= w.back() | 1;
        }
        std::ranges::sort(narrow);
        const auto as_signed = [](u32 x, u32 y) {
            return static_cast<i32>(x) < static_cast<i32>(y);
        };
        const auto n = static_cast<u32>(narrow.size());
        const std::array<u32, 13> wanted = {n,
                                            0 - low16,
                                            0 - all,
                                            narrow.front(),
                                            narrow.back(),
                                            *std::ranges::min_element(narrow, as_signed),
                                            *std::ranges::max_element(narrow, as_signed),
                                            conjunction,
                                            united,
                                            differ,
                                            n % 7,
                                            (11 - n % 11) % 11,
                                            0};
        for (u32 k = 0; k < 13; ++k) EXPECT_EQ(table[16 * k + p], wanted[k]) << k << " " << p;
        const std::array<u64, 10> wide_wanted = {sum,
                                                 *std::ranges::min_element(w),
                                                 *std::ranges::max_element(w),
                                                 static_cast<u64>(*std::ranges::min_element(sw)),
                                                 static_cast<u64>(*std::ranges::max_element(sw)),
                                                 both,
                                                 either,
                                                 cross,
                                                 product,
                                                 0};
        for (u32 k = 0; k < 10; ++k) EXPECT_EQ(wide[16 * k + p], wide_wanted[k]) << k << " " << p;
        EXPECT_EQ(sums[p], static_cast<float>(bytes));
        EXPECT_EQ(sums[16 + p], static_cast<float>(narrow.back() >> 8));
        EXPECT_EQ(doubles[p], static_cast<double>(sixteenths) / 16);
    }
}

TEST(SecondHandNumbers, AtomicsOnSharedMemory) {
    const Case run("atomic_zoo");
    const auto in = run.before_of<u32>("in"), bins = run.after_of<u32>("bins");
    const auto wide = run.after_of<u64>("wide_bins");
    for (u32 block = 0; block < 2; ++block) {
        std::array<std::vector<u32>, 32> places;
        u32 tickets = 0;
        for (u32 t = 0; t < 256; ++t) {
            auto& place = places[in[256 * block + t] & 31];
            tickets +=
                static_cast<u32>(place.size()) + (place.empty() ? 0x10000 : 0) + (t * t << 4);
            place.push_back(in[256 * block + t]);
        }
        for (u32 p = 0; p < 32; ++p) {
            std::array<u32, 9> wanted = {0, 0, ~0U};
            std::array<u64, 4> wide_wanted = {0, 1};
            float largest = -1;
            for (const u32 v : places[p]) {
                ++wanted[0];
                wanted[1] = std::max(wanted[1], v);
                wanted[2] = std::min(wanted[2], v);
                wanted[3] ^= v;
                wanted[4] |= 1U << (v >> 27);
                wanted[6] -= v >> 16;
                wide_wanted[0] += u64{v} << 20;
                wide_wanted[1] *= v | 1;
                wide_wanted[2] = std::max(wide_wanted[2], u64{v} << 7);
                wide_wanted[3] ^= ~u64{v};
                largest = std::max(largest, static_cast<float>(v & 0xfffff));
            }
            wanted[5] = wanted[0] % 5;
            wanted[7] = std::bit_cast<u32>(largest);
            wanted[8] = places[p].empty() ? 0 : tickets;
            for (u32 k = 0; k < 9; ++k)
                EXPECT_EQ(bins[(9 * block + k) * 32 + p], wanted[k]) << k << " " << p;
            for (u32 k = 0; k < 4; ++k)
                EXPECT_EQ(wide[(4 * block + k) * 32 + p], wide_wanted[k]) << k << " " << p;
        }
    }
}

template <typename T>
T part(const u8* bytes, int at) {
    T value;
    std::memcpy(&value, bytes + at, sizeof value);
    return value;
}

TEST(SecondHandNumbers, WireRecords) {
    const Case run("odd_layout");
    auto bytes = run.before_of<u8>("bytes");
    const auto sums = run.after_of<u32>("sums");
    for (u32 me = 0; me < 100; ++me) {
        u8* const b = &bytes[19 * me];
        const auto length = part<u16>(b, 1);
        const auto id = part<u32>(b, 3);
        const auto delta = part<std::int8_t>(b, 7);
        const auto stamp = part<i64>(b, 8);
        u32 sum = b[0] + length * 3U + id * 5 + static_cast<u32>(delta) * 7 +
                  static_cast<u32>(stamp >> 11) * 11;
        for (u32 i = 0; i < 3; ++i) sum = sum * 13 + b[16 + (i + me) % 3];
        EXPECT_EQ(sums[me], sum);
        b[0] = std::rotl(b[0], 1);
        b[1] = static_cast<u8>(length);
        b[2] = static_cast<u8>((length >> 8) + length);
        const u32 changed = id ^ sum;
        std::memcpy(b + 3, &changed, 4);
        b[7] = static_cast<u8>(-delta);
        const i64 later = stamp / 1000 + static_cast<std::int8_t>(b[7]);
        std::memcpy(b + 8, &later, 8);
        b[16 + me % 3] = static_cast<u8>(255 - b[16 + (me + 1) % 3]);
    }
    EXPECT_EQ(bytes, run.after_of<u8>("changed"));
}

// The value of the lowest bits of v, with or without sign.
i64 field(u64 v, int bits, bool with_sign) {
    v &= ~u64{0} >> (64 - bits);
    return with_sign && v >> (bits - 1) ? static_cast<i64>(v | ~u64{0} << bits)
                                        : static_cast<i64>(v);
}

TEST(SecondHandNumbers, BitFields) {
    const Case run("odd_layout");
    const auto in = run.before_of<u32>("words");
    const auto hashes = run.after_of<u64>("hashes");
    for (u32 me = 0; me < 128; ++me) {
        u64 hash = 14695981039346656037U, e = 0;
        i64 a = 0, b = 0, c = 0, d = 0, f = 0;
        for (u32 i = 0; i < 12; ++i) {
            const u32 v = in[(me + 7 * i) % 128];
            a = field(static_cast<u64>(a) + v, 3, false);
            b = field(v >> 3, 5, true);
            c = field(static_cast<u64>(c) ^ v >> 9, 11, false);
            d = field(static_cast<u64>(d - (v & 0xfff) + b), 13, true);
            e = static_cast<u64>(field(e * 3 + v, 37, false));
            f = field(static_cast<u64>(f + d * 1001), 27, true);
            if (b < 0 && a > 3) e ^= static_cast<u64>(c) << 20;
            for (const u64 one : {static_cast<u64>(a), static_cast<u64>(b), static_cast<u64>(c),
                                  static_cast<u64>(d), e, static_cast<u64>(f)})
                hash = (hash ^ one) * 1099511628211U;
        }
        EXPECT_EQ(hashes[me], hash) << me;
    }
}

// Products in the field of AES, x^8 + x^4 + x^3 + x + 1.
u8 galois(u8 a, u8 b) {
    u32 product = 0;
    for (u32 i = 0; i < 8; ++i) product ^= b >> i & 1 ? u32{a} << i : 0;
    for (u32 i = 14; i > 7; --i) product ^= product >> i & 1 ? 0x11bU << (i - 8) : 0;
    return static_cast<u8>(product);
}

u8 substitute(u8 v) {
    u8 inverse = 0;
    for (u32 i = 1; i < 256; ++i) {
        if (galois(v, static_cast<u8>(i)) == 1) inverse = static_cast<u8>(i);
    }
    u8 made = 0x63;
    for (int i = 0; i < 5; ++i) made ^= std::rotl(inverse, i);
    return made;
}

using Block = std::array<u8, 16>;  // byte 4 c + r is row r of column c

Block encrypted(Block state, const Block& key) {
    static const auto box = [] {
        std::array<u8, 256> made;
        for (u32 i = 0; i < 256; ++i) made[i] = substitute(static_cast<u8>(i));
        return made;
    }();
    Block round_key = key;
    u8 constant = 1;
    for (int round = 0;; ++round) {
        for (u32 i = 0; i < 16; ++i) state[i] ^= round_key[i];
        if (round == 10) return state;
        Block next;
        for (u32 c = 0; c < 4; ++c) {
            for (u32 r = 0; r < 4; ++r) next[4 * c + r] = box[state[4 * ((c + r) % 4) + r]];
        }
        for (u32 i = 0; i < 16 && round < 9; ++i) {
            const u32 c = i / 4 * 4, r = i % 4;
            state[i] = galois(2, next[c + r]) ^ galois(3, next[c + (r + 1) % 4]) ^
                       next[c + (r + 2) % 4] ^ next[c + (r + 3) % 4];
        }
        if (round == 9) state = next;
        for (u32 i = 0; i < 16; ++i) {
            const u8 above =
                i < 4 ? static_cast<u8>(box[round_key[12 + (i + 1) % 4]] ^ (i ? 0 : constant))
                      : round_key[i - 4];
            round_key[i] ^= above;
        }
        constant = galois(constant, 2);
    }
}

TEST(SecondHandNumbers, CipherBlocks) {
    // FIPS 197, appendix C.1
    Block key, plain;
    for (u32 i = 0; i < 16; ++i) {
        key[i] = static_cast<u8>(i);
        plain[i] = static_cast<u8>(17 * i);
    }
    EXPECT_EQ(encrypted(plain, key), (Block{0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30, 0xd8,
                                            0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a}));
    const Case run("cipher_blocks");
    const auto text = run.before_of<u8>("text"), out = run.after_of<u8>("out");
    std::ranges::copy(run.before_of<u8>("key"), key.begin());
    std::ranges::copy(run.before_of<u8>("start"), plain.begin());
    for (u32 b = 0; b < 100; ++b) {
        const Block stream = encrypted(plain, key);
        for (u32 i = 0; i < 16; ++i) ASSERT_EQ(out[16 * b + i], text[16 * b + i] ^ stream[i]) << b;
        for (u32 i = 16; i-- > 0 && ++plain[i] == 0;) {
        }
    }
}

// Numbers modulo 2^255 - 19 in 16 digits of 16 bits; reduced by subtraction.
struct Number {
    std::array<u64, 16> digit = {};

    static Number of(const u32* words) {
        Number made;
        for (u32 i = 0; i < 16; ++i) made.digit[i] = words[i / 2] >> 16 * (i % 2) & 0xffff;
        return made.reduced();
    }
    static Number small(u64 value) {
        Number made;
        made.digit[0] = value;
        return made;
    }
    std::array<u32, 8> words() const {
        std::array<u32, 8> made;
        for (u32 i = 0; i < 8; ++i)
            made[i] = static_cast<u32>(digit[2 * i] | digit[2 * i + 1] << 16);
        return made;
    }
    // Digits may be up to 2^60: carries, then 2^255 as 19, until nothing is above.
    Number reduced() const {
        Number r = *this;
        for (int pass = 0; pass < 6; ++pass) {
            for (u32 i = 0; i < 15; ++i) {
                r.digit[i + 1] += r.digit[i] >> 16;
                r.digit[i] &= 0xffff;
            }
            const u64 above = r.digit[15] >> 15;
            r.digit[15] &= 0x7fff;
            r.digit[0] += 19 * above;
        }
        bool prime_or_more = r.digit[15] == 0x7fff && r.digit[0] >= 0xffed;
        for (u32 i = 1; i < 15; ++i) prime_or_more &= r.digit[i] == 0xffff;
        if (prime_or_more) {
            const u64 rest = r.digit[0] - 0xffed;
            r = small(rest);
        }
        return r;
    }
    friend Number operator+(const Number& a, const Number& b) {
        Number r;
        for (u32 i = 0; i < 16; ++i) r.digit[i] = a.digit[i] + b.digit[i];
        return r.reduced();
    }
    friend Number operator*(const Number& a, const Number& b) {
        Number r;
        for (u32 i = 0; i < 16; ++i) {
            for (u32 j = 0; j < 16; ++j)
                r.digit[(i + j) % 16] += a.digit[i] * b.digit[j] * (i + j < 16 ? 1 : 38);
        }
        return r.reduced();
    }
    friend Number operator-(const Number& a, const Number& b) {
        // minus one is p - 1
        Number minus_one;
        minus_one.digit.fill(0xffff);
        minus_one.digit[0] = 0xffec;
        minus_one.digit[15] = 0x7fff;
        return a + b * minus_one;
    }
    friend bool operator==(const Number&, const Number&) = default;
};

Number inverse(const Number& a) {
    // a^(p - 2), from the upper end: 250 ones, then 0 1 0 1 1
    Number r = Number::small(1);
    for (int i = 0; i < 255; ++i) {
        r = r * r;
        if (i != 250 && i != 252) r = r * a;
    }
    return r;
}

TEST(SecondHandNumbers, FieldProducts) {
    const Case run("big_modular");
    const auto a = run.before_of<u32>("a"), b = run.before_of<u32>("b");
    const auto product = run.after_of<u32>("product"), sum = run.after_of<u32>("sum");
    const auto unity = run.after_of<u32>("unity");
    for (u32 me = 0; me < 48; ++me) {
        const Number x = Number::of(&a[8 * me]), y = Number::of(&b[8 * me]);
        const auto words = [&](const std::vector<u32>& from) {
            std::array<u32, 8> made;
            std::copy_n(&from[8 * me], 8, made.begin());
            return made;
        };
        EXPECT_EQ(words(product), (x * y).words());
        EXPECT_EQ(words(sum), (x - y - y).words());
        EXPECT_EQ(words(unity), (std::array<u32, 8>{1}));
    }
}

// Points (x, y) of y^2 = x^3 + 486662 x^2 + x, added as lines meet the curve.
TEST(SecondHandNumbers, CurveLadder) {
    const Case run("big_modular");
    const auto scalars = run.before_of<u32>("scalars"), points = run.after_of<u32>("points");
    struct Point {
        Number x, y;
    };
    const std::array<u32, 8> base_y = {0x7eced3d9, 0x29e9c5a2, 0x6d7c61b2, 0x923d4d7e,
                                       0x7748d14c, 0xe01edd2c, 0xb8a086b4, 0x20ae19a1};
    const Point base = {Number::small(9), Number::of(base_y.data())};
    const Number a = Number::small(486662);
    ASSERT_EQ(base.y * base.y, base.x * base.x * base.x + a * base.x * base.x + base.x);
    const auto add = [&](const Point& p, const Point& q) {
        const bool same = p.x == q.x;
        const Number rise =
            same ? Number::small(3) * p.x * p.x + Number::small(2) * a * p.x + Number::small(1)
                 : q.y - p.y;
        const Number slope = rise * inverse(same ? p.y + p.y : q.x - p.x);
        const Number x = slope * slope - a - p.x - q.x;
        return Point{x, slope * (p.x - x) - p.y};
    };
    for (u32 me = 0; me < 3; ++me) {
        std::array<u32, 8> k;
        std::copy_n(&scalars[8 * me], 8, k.begin());
        k[0] &= ~7U;
        k[7] = (k[7] & 0x7fffffff) | 0x40000000;
        Point r = base;  // the bit 254
        for (int t = 253; t >= 0; --t) {
            r = add(r, r);
            if (k[static_cast<u32>(t) / 32] >> t % 32 & 1) r = add(r, base);
        }
        const std::array<u32, 8> wanted = r.x.words();
        for (u32 i = 0; i < 8; ++i) EXPECT_EQ(points[8 * me + i], wanted[i]) << me << " " << i;
    }
}

using Half = host::Float16<10>;
using Brain = host::Float16<7>;

template <typename T>
T lane(u32 word, int i) {
    return T::of_bits(static_cast<u16>(word >> 16 * i));
}

TEST(SecondHandNumbers, PackedHalf) {
    const Case run("packed_half");
    const auto in = run.before_of<u32>("pairs"), mixed = run.after_of<u32>("mixed");
    const auto whole = run.after_of<i32>("whole");
    int saturated = 0, subnormal = 0;
    for (u32 me = 0; me < 192; ++me) {
        const u32* const o = &mixed[8 * me];
        const u32 words[3] = {in[me] & 0xbfffbfff, in[(me + 1) % 192] & 0xbfffbfff,
                              in[(me + 2) % 192] & 0xbfffbfff};
        for (int i = 0; i < 2; ++i) {
            const Half a = lane<Half>(words[0], i), b = lane<Half>(words[1], i),
                       c = lane<Half>(words[2], i), tiny = lane<Half>(in[me] & 0x87ff87ff, i);
            EXPECT_EQ(lane<Half>(o[0], i).bits, (a + b).bits) << me;
            EXPECT_EQ(lane<Half>(o[1], i).bits, (a - -tiny).bits) << me;
            EXPECT_EQ(lane<Half>(o[2], i).bits, (a * tiny).bits) << me;
            const Half fused = fused16(a, b, c);
            EXPECT_EQ(lane<Half>(o[3], i).bits, fused.bits) << me;
            const float clamped = std::clamp(float(fused), 0.0f, 1.0f);
            EXPECT_EQ(float(lane<Half>(o[4], i)), clamped) << me;
            saturated += clamped != float(fused);
            subnormal += std::abs(float(a * tiny)) < 6e-5f;
            Half poly = c * Half(0.125f);
            for (int k = 0; k < 4; ++k) poly = fused16(poly, a, Half(k - 2));
            EXPECT_EQ(lane<Half>(o[6], i).bits, poly.bits) << me;
        }
        // masks: 1.0 is 0x3c00; the second, one place up
        u32 masks = 0;
        for (int i = 0; i < 2; ++i) {
            masks |= (lane<Half>(words[0], i) < lane<Half>(words[1], i) ? 0x3c00U : 0) << 16 * i;
            masks |= (-lane<Half>(words[2], i) < lane<Half>(in[me] & 0x87ff87ff, i) ? 0x3c00U : 0)
                     << (16 * i + 1);
        }
        EXPECT_EQ(o[5], masks) << me;
        const float wide = float(lane<Half>(words[0], 0)) * 3.7f + float(lane<Half>(words[1], 1));
        EXPECT_EQ(o[7], Half(wide).bits * 0x10001U);
        EXPECT_EQ(whole[2 * me], static_cast<i32>(float(Half(wide * 1000.0f))));
        EXPECT_EQ(whole[2 * me + 1], Half(static_cast<i32>(in[me]) >> 14).bits);
    }
    EXPECT_GT(saturated, 20);
    EXPECT_GT(subnormal, 20);
}

TEST(SecondHandNumbers, HalfEscape) {
    const Case run("packed_half");
    const auto centres = run.before_of<float>("centres");
    const auto turns = run.after_of<i32>("turns");
    const auto last = run.after_of<u32>("last");
    int inside = 0, outside = 0;
    for (u32 me = 0; me < 128; ++me) {
        const Half cr(centres[2 * me]), ci(centres[2 * me + 1]);
        Half re = cr, im = ci;
        int n = 0;
        while (n < 40 && float(re * re) + float(im * im) <= 4.0f) {
            const Half first_re = fused16(re, re, cr), first_im = fused16(re, im, ci);
            const Half next = first_re + im * -im;
            im = first_im + im * re;
            re = next;
            ++n;
        }
        EXPECT_EQ(turns[me], n) << me;
        EXPECT_EQ(last[me], u32{im.bits} << 16 | re.bits) << me;
        (n == 40 ? inside : outside) += 1;
    }
    EXPECT_GT(inside, 5);
    EXPECT_GT(outside, 5);
}

TEST(SecondHandNumbers, BrainMixed) {
    const Case run("packed_half");
    const auto in = run.before_of<float>("reals");
    const auto out = run.after_of<u32>("brains");
    for (u32 me = 0; me < 128; ++me) {
        for (u32 i = 0; i < 2; ++i) {
            const auto value = [&](u32 k) { return Brain(in[(me + k + (i ? 0 : 3)) % 128]); };
            const Brain a = value(0), b = value(1), one(1.0f);
            Brain c = value(2);
            const auto found = [&](u32 k) {
                return lane<Brain>(out[4 * me + k], static_cast<int>(i)).bits;
            };
            EXPECT_EQ(found(0), fused16(a, b, c).bits);
            EXPECT_EQ(found(1), (a + b).bits);
            EXPECT_EQ(found(2), (float(a) < float(b) ? b : a).bits);
            for (int k = 0; k < 3; ++k) c = fused16(c, a, one);
            EXPECT_EQ(found(3), c.bits);
        }
    }
}

// Exact sums as whole numbers of 2^-53 · 2^-40: inputs are multiples of 2^-52 and 1e12 is exact.
TEST(SecondHandNumbers, CompensatedSums) {
    const Case run("compensated");
    const auto in = run.before_of<double>("in"), out = run.after_of<double>("sums");
    i128 total = 0;
    for (u32 t = 0; t < 64; ++t) {
        i128 exact = 0;
        double plain = 0;
        for (u32 i = t; i < 1000; i += 64) {
            const double big = in[i] * (i % 4 == 0 ? 1e12 : 1.0) * (i & 4 ? 1.0 : -1.0);
            plain += big;
            exact +=
                static_cast<i128>(std::ldexp(big, 60));  // below 2^100; fractions of 2^-60 drop
        }
        total += exact;
        const double wanted = std::ldexp(static_cast<double>(exact), -60);
        const double* const o = &out[6 * t];
        const double scale = std::max(1.0, std::abs(wanted));
        EXPECT_NEAR(o[0], wanted, 1e-3);
        EXPECT_NEAR(o[1], wanted, 4e-16 * scale) << t;
        EXPECT_EQ(o[2], plain);
        EXPECT_NEAR(o[3], wanted, 4e-16 * scale) << t;
    }
    // head and tail together hold twice the digits
    const auto head = static_cast<i128>(std::ldexp(out[4], 60)),
               tail = static_cast<i128>(std::ldexp(out[5], 60));
    const i128 off = head + tail - total;
    EXPECT_LT(std::abs(std::ldexp(static_cast<double>(off), -60)), 1e-15);
    EXPECT_NE(out[5], 0.0);
}

TEST(SecondHandNumbers, TwoDoubles) {
    const Case run("compensated");
    const auto in = run.before_of<double>("in"), out = run.after_of<double>("twos");
    for (u32 me = 0; me < 200; ++me) {
        const long double a = in[me] + 3.0 + static_cast<long double>(in[me] * 1e-17);
        const long double b =
            in[(me + 1) % 200] * 7.0 + 0.1 + static_cast<long double>(in[(me + 2) % 200] * 1e-18);
        const double* const o = &out[8 * me];
        const long double product = a * b, quotient = a / b, root = std::sqrt(std::abs(product));
        const auto close = [&](int at, long double wanted) {
            const long double found = static_cast<long double>(o[at]) + o[at + 1];
            EXPECT_LT(std::abs(found / wanted - 1), 4e-19L) << me << " " << at;
            EXPECT_LE(std::abs(o[at + 1]), std::abs(o[at]) * 1.2e-16) << me << " " << at;
        };
        close(0, product);
        close(2, quotient);
        close(4, root);
        EXPECT_LT(std::abs(static_cast<double>(o[6] * b - 1)), 4e-16);
        const double head = o[2];
        ASSERT_LT(std::abs(head), 1e9);
        const double narrow = std::sqrt(static_cast<float>(std::abs(o[0])));
        EXPECT_EQ(o[7], narrow / 3.0 + std::floor(head * 16) + std::trunc(head * 1048576));
    }
}

TEST(SecondHandNumbers, BitGames) {
    const Case run("bit_games");
    const auto in = run.before_of<u32>("in"), out = run.after_of<u32>("out");
    for (u32 k = 0; k < 200; ++k) {
        const u32 v = in[k], w = in[(k + 1) % 200] >> k % 32;
        const u64 x = u64{v} << 32 | w,
                  y = u64{w} << 32 | v;  // y: __byte_perm and shifts see v below
        const u32* const o = &out[24 * k];
        const auto bit = [](u64 a, u32 i) { return static_cast<u32>(a >> i & 1); };
        u32 reversed = 0, ones = 0, ones64 = 0, gray = 0, morton = 0;
        u64 reversed64 = 0;
        for (u32 i = 0; i < 32; ++i) {
            reversed |= bit(v, i) << (31 - i);
            ones += bit(v, i);
            gray |= (bit(v, 31 - i) ^ (i ? bit(gray, 32 - i) : 0)) << (31 - i);
            if (i < 16) morton |= bit(v, i) << 2 * i | bit(w, i) << (2 * i + 1);
        }
        for (u32 i = 0; i < 64; ++i) {
            ones64 += bit(x, i);
            reversed64 |= u64{bit(x, i)} << (63 - i);
        }
        const auto leading = [&](u64 a, u32 bits) {
            u32 n = 0;
            while (n < bits && !bit(a, bits - 1 - n)) ++n;
            return n;
        };
        const auto first = [&](u64 a, u32 bits) {
            for (u32 i = 0; i < bits; ++i) {
                if (bit(a, i)) return i + 1;
            }
            return 0U;
        };
        const auto permuted = [&](u32 selector) {
            u32 made = 0;
            for (u32 i = 0; i < 4; ++i)
                made |= static_cast<u32>(y >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
            return made;
        };
        EXPECT_EQ(o[0], reversed);
        EXPECT_EQ(o[1], ones | ones64 << 8);
        EXPECT_EQ(o[2], leading(w, 32) | leading(x >> k % 64, 64) << 8);
        EXPECT_EQ(o[3], first(w, 32) | first(x << k % 64, 64) << 8);
        EXPECT_EQ(o[4], permuted(k & 0x7777));
        EXPECT_EQ(o[5], permuted(0x7531));
        EXPECT_EQ(o[6], static_cast<u32>(y << k % 32 >> 32));
        EXPECT_EQ(o[7], static_cast<u32>(y >> k % 32));
        const u32 clamped = std::min(k % 64, 32U);
        EXPECT_EQ(o[8], static_cast<u32>(static_cast<u128>(y) << clamped >> 32));
        EXPECT_EQ(o[9], static_cast<u32>(y >> clamped));
        EXPECT_EQ(o[10], v ^ v / 2);
        EXPECT_EQ(o[11], gray);
        EXPECT_EQ(o[12], morton);
        const i64 sv = static_cast<i32>(v), sw = static_cast<i32>(w);
        EXPECT_EQ(o[14], static_cast<u32>(u64{v} * w >> 32) ^
                             static_cast<u32>(static_cast<u64>(sv * sw) >> 32));
        const auto low24 = [](u32 a) {
            return static_cast<i64>((a & 0xffffff) ^ 0x800000) - 0x800000;
        };
        EXPECT_EQ(o[15], static_cast<u32>(low24(v) * low24(w)));
        EXPECT_EQ(o[16], static_cast<u32>(std::abs(static_cast<i64>(v / 2) - sw) + 5 +
                                          std::abs(static_cast<i64>(v) - static_cast<i64>(w)) + 9));
        const u64 both = u64{v} + w;
        const i64 signed_both = sv + sw;
        EXPECT_EQ(o[17], static_cast<u32>(signed_both >> 1) ^ static_cast<u32>(both / 2) ^
                             static_cast<u32>((both + 1) / 2));
        EXPECT_EQ(o[20], static_cast<u32>(reversed64 >> 17) ^ static_cast<u32>(reversed64));
        u32 select = 0, third = 0;
        for (u32 i = 0; i < 32; ++i) {
            const u32 a = bit(v, i), b = bit(w, i), c = bit(k, i);
            select |= ((a && b) || (!a && c) || (a != b && !c) ? 1U : 0) << i;
            third |= (a + b + c >= 2 ? 1U : 0) << i;
        }
        EXPECT_EQ(o[21], select);
        EXPECT_EQ(o[22], third + ((v | w) & k));
        // the next number with as many ones, by trying
        const u32 even = (v & 0x7ffffffe) | 2;
        EXPECT_EQ(std::popcount(o[23]), std::popcount(even));
        EXPECT_GT(o[23], even);
        for (u32 n = even + 1; n < std::min<u64>(o[23], u64{even} + 5000); ++n)
            ASSERT_NE(std::popcount(n), std::popcount(even));
    }
}

TEST(SecondHandNumbers, ByteFilters) {
    const Case run("video_bytes");
    const auto in = run.before_of<u32>("words"), out = run.after_of<u32>("filtered");
    const auto dots = run.after_of<i32>("dots");
    using Pair = std::function<int(int, int)>;
    const auto parts = [](u32 a, u32 b, int bits, bool with_sign, const Pair& f) {
        u32 made = 0;
        for (int at = 0; at < 32; at += bits) {
            const auto x = static_cast<int>(field(a >> at, bits, with_sign));
            const auto y = static_cast<int>(field(b >> at, bits, with_sign));
            made |= (static_cast<u32>(f(x, y)) & ((1U << bits) - 1)) << at;
        }
        return made;
    };
    const Pair sum = std::plus<>(), difference = std::minus<>(),
               average = [](int x, int y) { return (x + y + 1) >> 1; };
    const Pair least = [](int x, int y) { return std::min(x, y); },
               most = [](int x, int y) { return std::max(x, y); };
    const auto within = [](const Pair& f, int low, int high) -> Pair {
        return [=](int x, int y) { return std::clamp(f(x, y), low, high); };
    };
    for (u32 me = 0; me < 160; ++me) {
        const u32 a = in[me], b = in[(me + 1) % 160], c = in[(me + 7) % 160];
        const u32 down = parts(a, c, 8, false, [](int x, int y) { return (x + y) >> 1; });
        const u32 median =
            parts(parts(a, b, 8, false, least),
                  parts(parts(a, b, 8, false, most), c, 8, false, least), 8, false, most);
        const std::array<u32, 16> wanted = {
            parts(a, b, 8, false, sum),
            parts(a, b, 16, false, difference),
            parts(a, b, 8, false, within(sum, 0, 255)),
            parts(a, b, 8, false, within(difference, 0, 255)),
            parts(a, b, 16, true, within(sum, -32768, 32767)),
            parts(a, b, 8, true, within(difference, -128, 127)),
            parts(a, b, 8, false, average),
            parts(a, b, 8, false, [](int x, int y) { return std::abs(x - y); }),
            parts(a, b, 8, true, most) ^ parts(b, c, 8, false, least),
            parts(a, b, 16, false, most) ^ parts(b, c, 16, true, least),
            parts(a, b, 8, false, [](int x, int y) { return x > y ? 255 : 0; }) ^
                parts(a, b, 16, false, [](int x, int y) { return x % 2 == y % 2 ? 65535 : 0; }),
            parts(a, 0, 16, true, [](int x, int) { return std::min(std::abs(x), 32767); }) +
                parts(b, 0, 8, false, [](int x, int) { return -x; }),
            parts(down, b, 8, false, average),
            median,
            parts(a, b, 8, false, [](int x, int y) { return x < 128 ? y : 0; }),
            parts(a, b, 8, false, [](int x, int y) { return x % 4 == y % 4; })};
        for (u32 k = 0; k < 16; ++k) EXPECT_EQ(out[16 * me + k], wanted[k]) << me << " " << k;
        std::array<i64, 4> dot = {static_cast<i32>(c), c, me, -static_cast<i64>(me)};
        for (int i = 0; i < 4; ++i) {
            const auto byte = [&](u32 w, int at, bool s) { return field(w >> 8 * at, 8, s); };
            dot[0] += byte(a, i, true) * byte(b, i, true);
            dot[1] += byte(a, i, false) * byte(b, i, false);
            if (i < 2) {
                const i64 half = field(a >> 16 * i, 16, true);
                dot[2] += half * byte(b, i, true);
                dot[3] += half * byte(c, i + 2, true);
            }
        }
        for (u32 k = 0; k < 4; ++k)
            EXPECT_EQ(dots[4 * me + k], static_cast<i32>(dot[k])) << me << " " << k;
    }
}

// The host's own directions of rounding, where the kernel's host functions step to neighbours.
template <typename To, typename From>
To rounded(From value, int direction) {
    const int before = std::fegetround();
    std::fesetround(direction);
    const volatile From from = value;
    const volatile To to = static_cast<To>(from);
    std::fesetround(before);
    return to;
}

TEST(SecondHandNumbers, IntegersToReal) {
    const Case run("conversions");
    const auto in = run.before_of<u64>("in");
    const auto single = run.after_of<float>("single");
    const auto wide = run.after_of<double>("double");
    int differ = 0;
    for (u32 me = 0; me < 400; ++me) {
        const u64 u = in[me] >> me % 64;
        const i64 s = static_cast<i64>(in[me]) >> me % 64;
        const auto w = static_cast<u32>(in[me] >> me % 32);
        const auto i = static_cast<i32>(w);
        const float* const o = &single[16 * me];
        const std::array<float, 16> wanted = {
            rounded<float>(i, FE_TONEAREST),
            rounded<float>(i, FE_TOWARDZERO),
            rounded<float>(i, FE_UPWARD),
            rounded<float>(i, FE_DOWNWARD),
            rounded<float>(u64{w}, FE_TONEAREST),
            rounded<float>(i64{w}, FE_UPWARD),
            rounded<float>(s, FE_TONEAREST),
            rounded<float>(s, FE_TOWARDZERO),
            rounded<float>(s, FE_UPWARD),
            rounded<float>(s, FE_DOWNWARD),
            rounded<float>(static_cast<long double>(u), FE_TONEAREST),
            rounded<float>(static_cast<long double>(u), FE_DOWNWARD),
            static_cast<float>(static_cast<std::int16_t>(w)) / 3,
            static_cast<float>(static_cast<std::int8_t>(w)) * 0.1f,
            static_cast<float>(w >> 8 & 255),
            static_cast<float>(w >> 3 & 65535)};
        for (u32 k = 0; k < 16; ++k) ASSERT_EQ(o[k], wanted[k]) << me << " " << k;
        differ += o[2] != o[3];
        const double* const d = &wide[8 * me];
        EXPECT_EQ(d[0], i);
        EXPECT_EQ(d[1], w);
        EXPECT_EQ(d[2], rounded<double>(s, FE_TONEAREST));
        EXPECT_EQ(d[3], rounded<double>(s, FE_TOWARDZERO));
        EXPECT_EQ(d[4], rounded<double>(s, FE_UPWARD));
        EXPECT_EQ(d[5], rounded<double>(static_cast<long double>(u), FE_DOWNWARD));
        EXPECT_EQ(std::bit_cast<u64>(d[6]), u64{w & 0x3fffffff} << 32 | (u & 0xffffffff));
        EXPECT_EQ(d[7], static_cast<double>(u) / (w | 1));
    }
    EXPECT_GT(differ, 100);
}

TEST(SecondHandNumbers, RealToIntegers) {
    const Case run("conversions");
    const auto in = run.before_of<u64>("in");
    const auto narrow = run.after_of<i32>("narrow");
    const auto wide = run.after_of<i64>("wide");
    int inside = 0, outside = 0;
    for (u32 me = 0; me < 400; ++me) {
        const auto bits = static_cast<u32>(in[me]);
        const u32 chosen = me % 2 ? (bits & 0x807fffff) | (118 + (bits >> 23) % 76) << 23 : bits;
        const float x = me % 97 ? std::bit_cast<float>(chosen) : std::nanf("");
        const double y = me % 89 ? static_cast<double>(x) * (1.0 + 1e-9)
                                 : -std::numeric_limits<double>::infinity();
        // to an integer of so many bits, in a direction; what does not fit becomes the nearest end
        const auto convert = [](auto source, int width, bool with_sign, int direction) -> u64 {
            constexpr bool wide_source = sizeof source == 8;
            const long double v = source;
            if (std::isnan(v)) return width == 64 || wide_source ? u64{1} << (width - 1) : 0;
            const long double low = with_sign ? -std::ldexp(1.0L, width - 1) : 0;
            const long double end = std::ldexp(1.0L, with_sign ? width - 1 : width);
            const int before = std::fegetround();
            std::fesetround(direction);
            const volatile long double from = v, to = std::rint(from);
            std::fesetround(before);
            const long double kept = to < low ? low : to > end - 1 ? end - 1 : to;
            return with_sign ? static_cast<u64>(static_cast<i64>(kept)) : static_cast<u64>(kept);
        };
        const i32* const o = &narrow[12 * me];
        const std::array<u64, 9> wanted = {
            convert(x, 32, true, FE_TONEAREST),  convert(x, 32, true, FE_TOWARDZERO),
            convert(x, 32, true, FE_UPWARD),     convert(x, 32, true, FE_DOWNWARD),
            convert(x, 32, false, FE_TONEAREST), convert(x, 32, false, FE_TOWARDZERO),
            convert(y, 32, true, FE_TONEAREST),  convert(y, 32, true, FE_UPWARD),
            convert(y, 32, false, FE_TOWARDZERO)};
        for (u32 k = 0; k < 9; ++k) EXPECT_EQ(o[k], static_cast<i32>(wanted[k])) << me << " " << k;
        const i64* const p = &wide[8 * me];
        EXPECT_EQ(static_cast<u64>(p[0]), convert(x, 64, true, FE_TONEAREST)) << me;
        EXPECT_EQ(static_cast<u64>(p[1]), convert(x, 64, true, FE_TOWARDZERO)) << me;
        EXPECT_EQ(static_cast<u64>(p[2]), convert(x, 64, false, FE_TOWARDZERO)) << me;
        if (std::isnan(y)) continue;
        EXPECT_EQ(o[9], std::bit_cast<i32>(rounded<float>(y, FE_TONEAREST)));
        EXPECT_EQ(o[10], std::bit_cast<i32>(rounded<float>(y, FE_TOWARDZERO)));
        EXPECT_EQ(static_cast<u64>(p[3]), convert(y, 64, true, FE_TONEAREST)) << me;
        EXPECT_EQ(static_cast<u64>(p[4]), convert(y, 64, true, FE_DOWNWARD)) << me;
        EXPECT_EQ(static_cast<u64>(p[5]), convert(y, 64, false, FE_TOWARDZERO)) << me;
        (std::abs(x) < 2e9f ? inside : outside) += 1;
    }
    EXPECT_GT(inside, 50);
    EXPECT_GT(outside, 50);
}

}  // namespace
}  // namespace occupipe::test
