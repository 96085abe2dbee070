// SPDX-License-Identifier: MIT
// Kernels of the second hand against other algorithms: calls, states, spaces.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/host/half.h"
#include "tests/kernels/kernel_case.h"

namespace occupipe::test {
namespace {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

u32 collatz(u32 a, u32 b) {
    u64 v = (a & 0xffff) + 1;
    u32 rounds = 0;
    for (; v != 1 && rounds < b % 64; ++rounds) v = v % 2 ? 3 * v + 1 : v / 2;
    return static_cast<u32>(a + v * 64 + rounds);
}

u32 narrow_step(u32 which, u32 a, u32 b) {
    switch (which) {
        case 0:
            return a + b;
        case 1:
            return std::rotl(a, static_cast<int>(b % 32));
        case 2:
            return a * (b | 1);
        case 3:
            return a ^ b / 8 ^ a * 128;
        case 4:
            return a / (b % 1000 + 1);
        default:
            return collatz(a, b);
    }
}

TEST(SecondHandControl, DispatchTable) {
    const Case run("dispatch_table");
    const auto script = run.before_of<u32>("script");
    const auto narrow = run.after_of<u32>("narrow"), pairs = run.after_of<u32>("pairs");
    const auto wide = run.after_of<i64>("wide");
    for (u32 me = 0; me < 96; ++me) {
        u32 a = me * 40503 + 17, first = me;
        u64 w = u64{me} - 100;
        i64 second = -i64{me};
        float third = static_cast<float>(me) / 4;
        for (u32 i = 0; i < 60; ++i) {
            const u32 word = script[(i + me) % 60], b = word >> 8, k = word >> 12;
            if (word >> 31) {
                const u32 which = (word ^ me) % 6;
                a = narrow_step(which, narrow_step(which, a, b), b + 1);
            } else {
                a = narrow_step(word % 6, a, b);
            }
            const i64 step = static_cast<i64>(word >> 20) - 2048;
            const u32 kind = (word >> 4) % 3;
            w = kind == 0   ? w + static_cast<u64>(step)
                : kind == 1 ? w * static_cast<u64>(step)
                            : static_cast<u64>(static_cast<i64>(w) / ((step & 255) + 3));
            if ((word >> 8 & 3) == 1) continue;
            if (word >> 11 & 1) {
                third = static_cast<float>(k % 1024) - third;
                second ^= i64{k} << 17;
                first += static_cast<u32>(static_cast<i32>(third));
            } else {
                const u32 old = first;
                first = static_cast<u32>(second) + k;
                second = i64{old} * 65536 - k;
                third = third / 2 + 1;
            }
        }
        EXPECT_EQ(narrow[me], a);
        EXPECT_EQ(wide[me], static_cast<i64>(w));
        EXPECT_EQ(pairs[3 * me], first);
        EXPECT_EQ(pairs[3 * me + 1], static_cast<u32>(second >> 32 ^ second));
        EXPECT_EQ(pairs[3 * me + 2], static_cast<u32>(static_cast<i32>(third * 16)));
    }
}

TEST(SecondHandControl, VirtualCalls) {
    const Case run("virtual_calls");
    const auto signal = run.before_of<i32>("signal"), out = run.after_of<i32>("out");
    const auto order = run.before_of<u32>("order"), about = run.after_of<u32>("about");
    for (u32 me = 0; me < 64; ++me) {
        std::vector<i32> delayed;
        const std::size_t taps = 3 + me % 5;
        u32 hits = 0;
        i64 sum = 0;
        i32 last = 0;
        for (std::size_t i = 0; i < 90; ++i) {
            i32 x = signal[i] % 5000 + last / 2;
            for (u32 k = 0; k < 3; ++k) {
                switch ((order[i] ^ me * 0x9e3779b9) >> 2 * k & 3) {
                    case 0:
                        delayed.push_back(x);
                        x = delayed.size() > taps ? delayed[delayed.size() - 1 - taps] : 0;
                        break;
                    case 1: {
                        const i32 y =
                            std::clamp(x, -1000 - static_cast<i32>(me), 900 + static_cast<i32>(me));
                        hits += y != x;
                        x = y;
                        break;
                    }
                    case 2:
                        sum += x;
                        x = static_cast<i32>(sum / 3);
                        break;
                    default:
                        break;
                }
            }
            last = x;
        }
        EXPECT_EQ(out[me], last) << me;
        const std::array<u32, 4> seen = {
            0x20 + static_cast<u32>(delayed.size() % taps) + 1, 0x4000 + hits + 2,
            static_cast<u32>(static_cast<u64>(sum) % 65521 << 12) + 3, 0x10 + 4};
        u32 wanted = 0;
        for (u32 k = 0; k < 4; ++k) wanted = wanted * 31 + seen[(k + me) % 4];
        EXPECT_EQ(about[me], wanted) << me;
    }
}

// The grammar of recursive_descent.cu with a stack of open sums in place of calls.
class Evaluator {
public:
    explicit Evaluator(std::vector<u8> text) : text_(std::move(text)) {}

    u64 all() {
        u64 made = 0;
        while (at_ < text_.size()) {
            made = made * 1000003 + static_cast<u64>(sum());
            if (peek() == ')') {
                ++faults_;
                ++at_;
            }
        }
        return made;
    }
    i32 deepest() const { return deepest_; }
    i32 faults() const { return faults_; }

private:
    struct Level {
        u64 total = 0;
        i64 term = 0;
        char sign = '+', op = ' ';
        int negations = 0;
    };

    char peek() const { return at_ < text_.size() ? "0123456(7)+-*/%8"[text_[at_] % 16] : '\0'; }
    static bool digit(char c) { return c >= '0' && c <= '9'; }

    i64 sum() {
        levels_ = {Level{}};
        for (;;) {
            const char c = peek();
            if (c) ++at_;
            i64 value = 1;
            if (digit(c)) {
                value = c - '0';
                while (digit(peek()) && value < 1000000) value = value * 10 + (text_digit() - '0');
            } else if ((c == '(' || c == '-') && depth_ < 12) {
                ++depth_;
                if (c == '-') {
                    ++levels_.back().negations;
                } else {
                    deepest_ = std::max(deepest_, depth_);
                    levels_.push_back({});
                }
                continue;
            } else if (c) {
                ++faults_;
                value = c == '(' || c == '-' ? 2 : static_cast<i64>(at_);
            }
            // the value closes what it can
            while (!more_after(value)) {
                value = static_cast<i64>(levels_.back().total);
                levels_.pop_back();
                if (levels_.empty()) return value;
                if (peek() == ')') {
                    ++at_;
                } else {
                    ++faults_;
                }
                --depth_;
            }
        }
    }

    char text_digit() {
        const char c = peek();
        ++at_;
        return c;
    }

    // Takes a factor into the innermost sum; whether another factor has to come.
    bool more_after(i64 value) {
        Level& level = levels_.back();
        for (; level.negations > 0; --level.negations) {
            value = static_cast<i64>(0 - static_cast<u64>(value));
            --depth_;
        }
        if (level.op == '*') {
            level.term = static_cast<i64>(static_cast<u64>(level.term) * static_cast<u64>(value));
        } else if (level.op == '/' || level.op == '%') {
            if (value == 0 || value == -1) {
                ++faults_;
                value = 7;
            }
            level.term = level.op == '/' ? level.term / value : level.term % value;
        } else {
            level.term = value;
        }
        const char c = peek();
        if (c == '*' || c == '/' || c == '%') {
            level.op = c;
            ++at_;
            return true;
        }
        level.total +=
            level.sign == '+' ? static_cast<u64>(level.term) : 0 - static_cast<u64>(level.term);
        level.op = ' ';
        if (c != '+' && c != '-') return false;
        level.sign = c;
        ++at_;
        return true;
    }

    std::vector<u8> text_;
    std::size_t at_ = 0;
    std::vector<Level> levels_;
    int depth_ = 0, deepest_ = 0, faults_ = 0;
};

TEST(SecondHandControl, RecursiveDescent) {
    const Case run("recursive_descent");
    const auto text = run.before_of<u8>("text");
    const auto value = run.after_of<u64>("value");
    const auto about = run.after_of<i32>("about");
    int deep = 0;
    for (std::size_t me = 0; me < 96; ++me) {
        const auto begin = text.begin() + static_cast<std::ptrdiff_t>(70 * me);
        Evaluator evaluator({begin, begin + 70});
        EXPECT_EQ(value[me], evaluator.all()) << me;
        EXPECT_EQ(about[2 * me], evaluator.deepest()) << me;
        EXPECT_EQ(about[2 * me + 1], evaluator.faults()) << me;
        deep = std::max(deep, evaluator.deepest());
    }
    EXPECT_GT(deep, 3);
}

// token_machine.cu with a variable for the state.
class Scanner {
public:
    Scanner(const u8* text, u32 length) : p_(text), end_(text + length) {}

    std::array<u32, 8> run() {
        State state = State::value;
        if (!next()) return counts();
        while (state != State::end) {
            state = step(state);
        }
        return counts();
    }

private:
    enum class State {
        value,
        sign,
        integer,
        integer_digits,
        fraction,
        exponent,
        after_exponent,
        text,
        escape,
        escaped,
        name,
        name_more,
        fault,
        end
    };

    bool next() {
        if (p_ == end_) return false;
        c_ = "0123456789\"\"\\{}[]:,,-.eE truefns"[*p_++ % 32];
        return true;
    }
    State then(State state) { return next() ? state : State::end; }
    bool digit() const { return c_ >= '0' && c_ <= '9'; }
    bool is(const char* any) const { return std::string(any).find(c_) != std::string::npos; }

    // What follows a character that was read as one of a number's.
    State point() {
        if (c_ == '.' && ++fractions_ % 3 == 0) return then(State::fraction);
        return State::integer_digits;
    }

    State step(State state) {
        switch (state) {
            case State::value:
                return value();
            case State::sign:
                return digit() ? State::integer : State::fault;
            case State::integer:
                ++numbers_;
                return State::integer_digits;
            case State::integer_digits:
                if (digit()) return next() ? point() : State::end;
                return is("eE") ? then(State::exponent) : State::value;
            case State::fraction:
                return digit() ? then(State::fraction) : State::value;
            case State::exponent:
                if (c_ == '-') return then(State::after_exponent);
                return c_ >= '5' ? State::fault : point();
            case State::after_exponent:
                return point();
            case State::text:
                if (c_ == '"') {
                    ++strings_;
                    return then(State::value);
                }
                return then(c_ == '\\' ? State::escape : State::text);
            case State::escape:
                ++escapes_;
                if (c_ != 'u') return then(State::text);
                if (end_ - p_ < 5) {
                    p_ = end_;
                    return State::end;
                }
                p_ += 4;
                return then(State::text);
            case State::name:
                ++names_;
                return is("rues") ? then(State::name_more) : State::value;
            case State::name_more:
                names_ += 256;
                return c_ == 'e' ? then(State::value) : State::value;
            case State::fault:
                return ++faults_ > 40 ? State::end : then(State::value);
            default:
                return State::end;
        }
    }

    State value() {
        if (digit()) return State::integer;
        if (c_ == '"') return then(State::text);
        if (c_ == '-') return then(State::sign);
        if (is("{[")) {
            open_.push_back(c_ == '{');
            deepest_ = std::max(deepest_, open_.size());
            return then(State::value);
        }
        if (is("}]")) {
            if (open_.empty()) return State::fault;
            const bool brace = open_.back();
            mismatched_ += brace != (c_ == '}');
            open_.pop_back();
            return then(State::value);
        }
        if (is(" ,:")) return then(State::value);
        return is("tfn") ? then(State::name) : State::fault;
    }

    std::array<u32, 8> counts() const {
        return {numbers_,
                strings_,
                names_,
                faults_,
                escapes_,
                mismatched_,
                static_cast<u32>(deepest_ | open_.size() << 16),
                fractions_ | static_cast<u32>(end_ - p_) << 16};
    }

    const u8 *p_, *end_;
    char c_ = ' ';
    std::vector<bool> open_;
    std::size_t deepest_ = 0;
    u32 numbers_ = 0, strings_ = 0, names_ = 0, faults_ = 0, escapes_ = 0, mismatched_ = 0,
        fractions_ = 0;
};

TEST(SecondHandControl, TokenMachine) {
    const Case run("token_machine");
    const auto text = run.before_of<u8>("text");
    const auto counts = run.after_of<u32>("counts");
    std::array<u64, 8> total = {};
    for (std::size_t me = 0; me < 96; ++me) {
        const std::array<u32, 8> wanted = Scanner(&text[150 * me], 150).run();
        for (std::size_t k = 0; k < 8; ++k) {
            EXPECT_EQ(counts[8 * me + k], wanted[k]) << me << " " << k;
            total[k] += wanted[k];
        }
    }
    for (const u64 one : total) EXPECT_GT(one, 0U);  // every kind of token was there
}

TEST(SecondHandControl, AnySpace) {
    const Case run("any_space");
    const auto in = run.before_of<u32>("in"), out = run.after_of<u32>("out");
    std::array<u32, 8> tally = {};
    std::vector<u8> scratch(16 * 256);
    for (u32 block = 0; block < 2; ++block) {
        std::array<std::array<u8, 16>, 128> shared, global;
        std::array<u32, 128> hash;
        for (u32 t = 0; t < 128; ++t) {
            const u32 me = 128 * block + t, v = in[me];
            std::array<u8, 16> own;
            for (u32 i = 0; i < 16; ++i) {
                own[i] = static_cast<u8>(i * 3 + t);
                shared[t][i] = static_cast<u8>(i ^ t);
                global[t][i] = static_cast<u8>(i + me);
            }
            u32 h = 17;
            for (u32 i = 0; i < 16; ++i) {
                const u32 j = i * (v % 16) % 16;
                const std::array<u32, 4> source = {in[128 * block + j] ^ 0x55, v >> j, j * j,
                                                   j * j * j};
                h = h * 31 + source[v >> 30];
            }
            std::array<u8, 16>* const spaces[3] = {&own, &shared[t], &global[t]};
            auto& bytes = *spaces[(v >> 20) % 3];
            for (u32 i = 0; i < 16; ++i) bytes[(v + 7 * i) % 16] += static_cast<u8>(v >> i % 16);
            for (u32 k = 0; k < 4; ++k) {
                u32 word = 0;
                for (u32 i = 4; i-- > 0;) word = word << 8 | bytes[4 * k + i];
                hash[t] = k == 0 ? word : hash[t] + word * (2 * k + 1);
            }
            hash[t] ^= h;
            tally[(v & 0x100 ? 4 : 0) + (v >> 30)] += v & 255;
        }
        for (u32 t = 0; t < 128; ++t) {
            const u32 from = (5 * t + 3) % 128;
            const auto& theirs = in[128 * block + from] % 2 ? shared[from] : global[from];
            u32 h = hash[t];
            for (u32 i = 0; i < 16; i += 5) h = h * 257 + theirs[i];
            EXPECT_EQ(out[128 * block + t], h) << t;
            std::ranges::copy(global[t], scratch.begin() + (128 * block + t) * 16);
        }
    }
    EXPECT_EQ(scratch, run.after_of<u8>("scratch"));
    EXPECT_EQ(run.after_of<u32>("tally"), std::vector<u32>(tally.begin(), tally.end()));
}

// Single precision by way of double, where rounding twice changes nothing.
TEST(SecondHandControl, RealCorners) {
    const Case run("conversions");
    const auto in = run.before_of<u32>("bits"), out = run.after_of<u32>("single_bits");
    int subnormal = 0, infinite = 0;
    for (u32 me = 0; me < 400; ++me) {
        const auto number = [](u32 bits) {
            const auto v = std::bit_cast<float>(bits);
            return std::isnan(v) ? std::numeric_limits<float>::quiet_NaN() : v;
        };
        const double a = number(in[me]);
        const double b = number(in[(me + 1) % 400] & (me & 2 ? 0xffffffff : 0x80ffffff));
        const double tiny = static_cast<float>(a * static_cast<double>(1.0e-20f));
        const double triple = static_cast<float>(b * 3);
        const std::array<double, 8> wanted = {
            a / b,           std::sqrt(std::abs(a)), a * b,        a + b, host::fused(a, b, -a),
            std::fmin(a, b), std::fmax(a, b),        tiny - triple};
        for (u32 k = 0; k < 8; ++k) {
            const auto value = static_cast<float>(wanted[k]);
            EXPECT_EQ(out[8 * me + k], std::isnan(value) ? 0x7fc00000 : std::bit_cast<u32>(value))
                << me << " " << k;
            subnormal += std::fpclassify(value) == FP_SUBNORMAL;
            infinite += std::isinf(value);
        }
    }
    EXPECT_GT(subnormal, 50);
    EXPECT_GT(infinite, 20);
}

// m · 2^e for a finite number, m whole.
struct Scaled {
    i64 mantissa;
    int exponent;
};
Scaled scaled(float v) {
    int exponent;
    const float fraction = std::frexp(v, &exponent);
    return {static_cast<i64>(std::ldexp(fraction, 24)), exponent - 24};
}

// Remainders by whole numbers: (m1 · 2^d) mod m2, one bit at a time.
TEST(SecondHandControl, ExactRemainders) {
    const Case run("exact_functions");
    const auto in = run.before_of<u32>("bits"), out = run.after_of<u32>("floats");
    int large = 0;
    for (u32 me = 0; me < 300; ++me) {
        const u32 a = in[me], b = in[(me + 1) % 300];
        const auto x =
            std::bit_cast<float>((a & 0x807fffff) | (a >> 23 & 127) << 23 | (a & 1) << 29);
        const auto y = std::bit_cast<float>((b & 0x807fffff) | (b >> 23 & 127) << 23);
        const auto found = [&](u32 k) { return std::bit_cast<float>(out[16 * me + k]); };
        EXPECT_EQ(std::signbit(found(0)), std::signbit(x));
        const Scaled p = scaled(std::abs(x)), q = scaled(std::abs(y));
        const int steps = p.exponent - q.exponent;
        if (steps < 0 || q.mantissa == 0) {
            if (std::abs(x) < std::abs(y)) {
                EXPECT_EQ(found(0), x) << me;
            }
            continue;
        }
        i64 rest = p.mantissa % q.mantissa;
        bool odd = p.mantissa / q.mantissa % 2 != 0;
        for (int i = 0; i < steps; ++i) {
            rest *= 2;
            odd = rest >= q.mantissa;
            rest -= odd ? q.mantissa : 0;
        }
        const auto value = [&](i64 m) { return std::ldexp(static_cast<float>(m), q.exponent); };
        EXPECT_EQ(std::abs(found(0)), value(rest)) << me;
        const bool up = 2 * rest > q.mantissa || (2 * rest == q.mantissa && odd);
        EXPECT_EQ(std::abs(found(1)), value(up ? q.mantissa - rest : rest)) << me;
        large += steps > 20;
        // taken apart and put together
        const auto fraction = found(3);
        EXPECT_TRUE(std::abs(fraction) >= 0.5f && std::abs(fraction) < 1.0f);
        EXPECT_EQ(std::ldexp(fraction, run.after_of<i32>("whole")[6 * me]), x);
        EXPECT_EQ(found(4) + found(5),
                  std::bit_cast<float>((a & 0x807fffff) | (120 + (a >> 24 & 15)) << 23));
        EXPECT_EQ(found(5), std::trunc(found(5)));
    }
    EXPECT_GT(large, 50);
}

template <typename T>
void expect_tight(const std::vector<T>& out, const std::vector<T>& in) {
    for (std::size_t me = 0; me < in.size(); ++me) {
        const long double x = in[me], square = std::sqrt(x * x + 1);
        long double poly = static_cast<T>(0.1f);
        for (int k = 0; k < 6; ++k) poly = poly * x + (k - 2);
        const T* const o = &out[8 * me];
        const long double exact[3] = {poly, square, 3 / (square + 1)};
        for (int k = 0; k < 3; ++k) {
            const T low = o[2 * k], high = o[2 * k + 1];
            const long double slack = std::abs(exact[k]) * 0x1p-60L;
            EXPECT_LE(low, exact[k] + slack) << me << " " << k;
            EXPECT_GE(high, exact[k] - slack) << me << " " << k;
            EXPECT_LT(low, high);
            const T unit = std::numeric_limits<T>::epsilon() * std::max<T>(1, std::abs(high));
            EXPECT_LT(high - low, unit * static_cast<T>(k == 0 ? 4000 : 8)) << me << " " << k;
        }
    }
}

TEST(SecondHandControl, IntervalsHoldTheirNumbers) {
    const Case run("intervals");
    expect_tight(run.after_of<float>("floats"), run.before_of<float>("in"));
    expect_tight(run.after_of<double>("doubles"), run.before_of<double>("wide"));
    const auto in = run.before_of<float>("in"), fused = run.after_of<float>("fused");
    for (std::size_t me = 0; me < 160; ++me) {
        const float c = in[(me + 2) % 160] * 1e-5f;
        const double a = in[me], b = in[(me + 1) % 160], near = host::fused(a, b, c),
                     far = host::fused(a, b, -c);
        const float* const o = &fused[6 * me];
        // 0: toward zero, 1: up; 2: down, of the other sum: neighbours of the exact values
        EXPECT_TRUE(o[0] <= near && near < std::nextafter(o[0], 1e9f)) << me;
        EXPECT_TRUE(o[1] >= near && near > std::nextafter(o[1], -1e9f)) << me;
        EXPECT_TRUE(o[2] <= far && far < std::nextafter(o[2], 1e9f)) << me;
        EXPECT_TRUE(o[4] <= a * b && a * b < std::nextafter(o[4], 1e9f)) << me;
    }
}

// The manual's loops over single bits.
TEST(SecondHandControl, PtxFields) {
    const Case run("ptx_odds");
    const auto in = run.before_of<u32>("in"), out = run.after_of<u32>("out");
    const auto field = [](u64 a, u32 from, u32 length, u32 bits, bool with_sign) {
        u64 made = 0;
        const u32 last = std::min(from + length - 1, bits - 1);
        const u64 sign = with_sign && length ? a >> last & 1 : 0;
        for (u32 i = 0; i < bits; ++i)
            made |= (i < length && from + i < bits ? a >> (from + i) & 1 : sign) << i;
        return made;
    };
    for (u32 k = 0; k < 256; ++k) {
        const u32 a = in[k] >> k % 4 * 7, b = in[(k + 1) % 256], c = in[(k + 2) % 256];
        const u32* const o = &out[32 * k];
        EXPECT_EQ(o[0], field(a, k & 63, k >> 3 & 63, 32, false)) << k;
        EXPECT_EQ(o[1], field(a, k & 31, k >> 2 & 63, 32, true)) << k;
        EXPECT_EQ(o[30], field(b, 28, 8, 32, true) ^ field(b, 31, 200, 32, false)) << k;
        const u64 x = u64{a} << 32 | b;
        EXPECT_EQ(run.after_of<u64>("wide")[4 * k + 1], field(x, k & 127, k >> 2 & 127, 64, false))
            << k;
        EXPECT_EQ(o[11], static_cast<u32>((u64{b} << 32 | a) >> std::min(k & 63, 32U))) << k;
        EXPECT_EQ(o[19], (a ^ b ^ c) ^ ((a & b) | (b & c) | (a & c)));
        EXPECT_EQ(o[10], c >> 31 ? b : a);
        EXPECT_EQ(o[27], (x + (u64{b} << 32 | c)) < x);
    }
}

}  // namespace
}  // namespace occupipe::test
