// SPDX-License-Identifier: MIT
// Kernels of the second hand against other algorithms: searches, texts, bits, groups of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/kernels/kernel_case.h"

namespace occupipe::test {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

template <typename T, typename Less>
void expect_sorted_rows(const Case& run, const std::string& name, std::size_t width, Less less) {
    auto in = run.before_of<T>(name);
    for (std::size_t at = 0; at < in.size(); at += width)
        std::stable_sort(in.begin() + static_cast<std::ptrdiff_t>(at),
                         in.begin() + static_cast<std::ptrdiff_t>(at + width), less);
    EXPECT_EQ(in, run.after_of<T>(name + "_sorted")) << name;
}

TEST(SecondHand, NetworkSort) {
    const Case run("network_sort");
    expect_sorted_rows<i64>(run, "wide", 16, [](i64 a, i64 b) {
        const auto far = [](i64 v) {
            const u64 d = static_cast<u64>(v) + 1000000007;
            return v < -1000000007 ? 0 - d : d;
        };
        return far(a) != far(b) ? far(a) < far(b) : a < b;
    });
    expect_sorted_rows<i32>(run, "words", 16, std::less<>());
    expect_sorted_rows<u8>(run, "bytes", 16, std::greater<>());
    expect_sorted_rows<float>(run, "reals", 8, std::less<>());
}

// The machine of bytecode.cu with its stack as a queue of 16 whose end is the top.
class Interpreter {
public:
    Interpreter(const std::vector<u8>& program, u32 me) : program_(program), me_(me) {
        // place 0 is the top at first, then 15, 14, …
        for (u32 i = 1; i < 16; ++i) stack_.push_back(me * 2654435761U + i);
        stack_.push_back(me * 2654435761U);
        for (u32 i = 0; i < 16; ++i) cells_[i] = i * i + me;
    }

    std::array<u32, 8> run(u32 fuel) {
        u32 pc = me_ * 37 % size(), steps = 0, reason = 2;
        while (steps < fuel) {
            const u32 op = program_[pc];
            pc = (pc + 1) % size();
            ++steps;
            if (op == 0) {
                reason = 1;
                break;
            }
            if (!arithmetic(op & 31)) pc = other(op, pc, steps);
        }
        u32 stack_hash = 2166136261U, cell_hash = 2166136261U;
        for (u32 i = 0; i < 16; ++i) {
            stack_hash = (stack_hash ^ stack_[15 - i]) * 16777619U;
            cell_hash = (cell_hash ^ cells_[i]) * 16777619U;
        }
        return {steps,      reason,    top(),    static_cast<u32>(calls_),
                stack_hash, cell_hash, deepest_, zero_divisions_};
    }

private:
    u32 size() const { return static_cast<u32>(program_.size()); }
    u32& top() { return stack_.back(); }
    void push(u32 value) {
        stack_.pop_front();
        stack_.push_back(value);
    }
    u32 pop() {
        const u32 value = stack_.back();
        stack_.pop_back();
        stack_.push_front(value);
        return value;
    }

    bool arithmetic(u32 op) {
        if (op < 7 || op > 21) return false;
        const u32 popped = pop(), a = top();
        u32 b = popped;
        if ((op == 10 || op == 11) && b == 0) {
            ++zero_divisions_;
            b = op == 10 ? 1 : 7;
        }
        if (op == 12) b = (b | 2) == 0xffffffff ? static_cast<u32>(-3) : (b | 2);
        // what was popped stays in the ring, as the operation changed it
        if (op >= 10 && op <= 12) stack_.front() = b;
        const i64 sa = static_cast<i32>(a), sb = static_cast<i32>(b);
        const u32 by = b % 32;
        const std::map<u32, u64> results = {{7, u64{a} + b},
                                            {8, u64{a} - b},
                                            {9, u64{a} * b},
                                            {10, b ? a / b : 0},
                                            {11, b ? a % b : 0},
                                            {12, op == 12 ? static_cast<u64>(sa / sb) : 0},
                                            {13, a & b},
                                            {14, a | ~b},
                                            {15, a ^ b},
                                            {16, u64{a} << by},
                                            {17, a >> by},
                                            {18, static_cast<u64>(sa >> by)},
                                            {19, std::rotl(a, static_cast<int>(by))},
                                            {20, sa < sb},
                                            {21, std::min(a, b)}};
        top() = static_cast<u32>(results.at(op));
        return true;
    }

    u32 other(u32 op, u32 pc, u32 steps) {
        const u32 high = op >> 5;
        switch (op & 31) {
            case 0:
                return pc;
            case 1:
                push(high);
                return pc;
            case 2:
                push(program_[pc] * 0x01010101U);
                return (pc + 1) % size();
            case 3:
                push(top());
                return pc;
            case 4:
                std::swap(stack_[15], stack_[14]);
                return pc;
            case 5:
                push(stack_[15 - high]);
                return pc;
            case 6:
                pop();
                return pc;
            case 22:
                top() = ~top();
                return pc;
            case 23:
                top() = ~top() + 1;
                return pc;
            case 24:
                return (pc + high * 5 + 1) % size();
            case 25:
                return pop() % 2 ? pc : (pc + high + 2) % size();
            case 26:
                back_[calls_++ % 8] = pc;
                deepest_ = std::max(deepest_, static_cast<u32>(calls_));
                return (pc + 16 + top() % 64) % size();
            case 27:
                return calls_ == 0 ? pc : back_[--calls_ % 8];
            case 28:
                top() = cells_[top() % 16];
                return pc;
            case 29: {
                const u32 where = pop(), what = pop();
                cells_[where % 16] = what;
                return pc;
            }
            case 30:
                return --cells_[high] % 4 ? (pc + size() - 7) % size() : pc;
            default:
                push(me_ ^ steps << 16);
                return pc;
        }
    }

    const std::vector<u8>& program_;
    u32 me_;
    std::deque<u32> stack_;
    std::array<u32, 16> cells_;
    std::array<u32, 8> back_ = {};
    std::size_t calls_ = 0;
    u32 deepest_ = 0, zero_divisions_ = 0;
};

TEST(SecondHand, Bytecode) {
    const Case run("bytecode");
    const auto program = run.before_of<u8>("program");
    const auto state = run.after_of<u32>("state");
    std::set<u32> steps;
    for (u32 me = 0; me < 160; ++me) {
        const std::array<u32, 8> wanted = Interpreter(program, me).run(300);
        for (std::size_t k = 0; k < 8; ++k)
            ASSERT_EQ(state[8 * me + k], wanted[k]) << me << " " << k;
        steps.insert(wanted[0]);
    }
    EXPECT_GT(steps.size(), 3U);  // not all threads run out of fuel
}

// Distance without a table: memory of (i, j) from the ends.
TEST(SecondHand, EditDistance) {
    const Case run("edit_distance");
    const auto left = run.before_of<u8>("left"), right = run.before_of<u8>("right");
    const auto distance = run.after_of<i32>("distance");
    const auto path = run.after_of<u32>("path");
    for (std::size_t me = 0; me < 60; ++me) {
        const u8 *a = &left[40 * me], *b = &right[40 * me];
        const int n = 40 - (a[0] >> 4), m = 40 - (b[0] >> 5);
        std::map<std::pair<int, int>, int> known;
        const std::function<int(int, int)> from = [&](int i, int j) -> int {
            if (i == n) return m - j;
            if (j == m) return n - i;
            const auto [found, fresh] = known.try_emplace({i, j}, 0);
            if (!fresh) return found->second;
            const int changed = from(i + 1, j + 1) + ((a[i] ^ b[j]) & 3 ? 1 : 0);
            const int best = std::min({changed, from(i + 1, j) + 1, from(i, j + 1) + 1});
            return known[{i, j}] = best;
        };
        ASSERT_EQ(distance[me], from(0, 0)) << me;
        const int matches = path[me] & 255, changes = path[me] >> 8 & 255;
        const int removed = path[me] >> 16 & 255, added = static_cast<int>(path[me] >> 24);
        EXPECT_EQ(changes + removed + added, distance[me]);
        EXPECT_EQ(matches + changes + removed, n);
        EXPECT_EQ(matches + changes + added, m);
    }
}

TEST(SecondHand, Queens) {
    const Case run("backtrack");
    std::array<u32, 64> found = {};
    std::array<int, 8> column = {0, 1, 2, 3, 4, 5, 6, 7};
    do {
        bool free = true;
        for (int i = 0; i < 8; ++i) {
            for (int j = 0; j < i; ++j) free &= std::abs(column[i] - column[j]) != i - j;
        }
        if (free) ++found[static_cast<std::size_t>(8 * column[0] + column[1])];
    } while (std::ranges::next_permutation(column).found);
    EXPECT_EQ(run.after_of<u32>("solutions"), std::vector<u32>(found.begin(), found.end()));
    EXPECT_EQ(run.after_of<u32>("total")[0], 92U);
}

// Heap's algorithm as he gave it, recursive, in which the last element moves first.
void heap(std::array<u32, 8>& p, std::size_t size, const std::function<bool()>& visit, bool& done) {
    if (size == 1) {
        done = visit();
        return;
    }
    for (std::size_t i = 0; i < size && !done; ++i) {
        heap(p, size - 1, visit, done);
        if (!done && i + 1 < size) std::swap(p[size % 2 ? 0 : i], p[size - 1]);
    }
}

TEST(SecondHand, HeapPermutations) {
    const Case run("backtrack");
    const auto wanted = run.before_of<u32>("wanted"), letters = run.after_of<u32>("letters");
    const auto tries = run.after_of<i32>("tries");
    for (std::size_t me = 0; me < 64; ++me) {
        std::array<u32, 8> p;
        std::iota(p.begin(), p.end(), 0U);
        int tried = 0;
        bool hit = false;
        heap(
            p, 8,
            [&] {
                ++tried;
                u64 weight = 0;
                for (const u32 letter : p) weight = weight * 9 + letter;
                return weight % 211 == wanted[me] % 211;
            },
            hit);
        u32 packed = 0;
        for (std::size_t i = 0; i < 8; ++i) packed |= p[i] << 4 * i;
        ASSERT_TRUE(hit);
        ASSERT_EQ(tries[me], tried) << me;
        ASSERT_EQ(letters[me], packed) << me;
    }
}

TEST(SecondHand, WarpRanks) {
    const Case run("warp_ranks");
    auto keys = run.before_of<u64>("keys");
    const auto words = run.before_of<u32>("words");
    const auto moved = run.after_of<u32>("moved"), counts = run.after_of<u32>("counts");
    const auto sum = run.after_of<u32>("sum"), low = run.after_of<u32>("low");
    const auto rank = run.after_of<u32>("rank");
    for (std::size_t warp = 0; warp < 8; ++warp) {
        const auto first = static_cast<std::ptrdiff_t>(32 * warp);
        std::sort(keys.begin() + first, keys.begin() + first + 32);
        const std::vector<u32> in(words.begin() + first, words.begin() + first + 32);
        std::vector<u32> small, large;
        for (const u32 v : in) (v < 0x60000000 ? small : large).push_back(v);
        EXPECT_EQ(counts[warp], small.size());
        small.insert(small.end(), large.rbegin(), large.rend());
        EXPECT_EQ(small, std::vector<u32>(moved.begin() + first, moved.begin() + first + 32));

        std::map<u32, std::vector<std::size_t>> groups;
        std::vector<u32> order;  // of the groups' first members
        for (std::size_t i = 0; i < 32; ++i) {
            if (!groups.contains(in[i] >> 28)) order.push_back(in[i] >> 28);
            groups[in[i] >> 28].push_back(i);
        }
        for (const auto& [key, members] : groups) {
            u32 total = 0, least = ~0U;
            for (const std::size_t i : members) {
                total += in[i] & 0xffffff;
                least = std::min(least, in[i]);
            }
            const auto turn = static_cast<u32>(std::ranges::find(order, key) - order.begin() + 1);
            for (std::size_t k = 0; k < members.size(); ++k) {
                const std::size_t at = 32 * warp + members[k];
                EXPECT_EQ(sum[at], total);
                EXPECT_EQ(low[at], least);
                EXPECT_EQ(rank[at], k | members[0] << 8 | members.size() << 16 | turn << 24);
            }
        }
    }
    EXPECT_EQ(keys, run.after_of<u64>("sorted"));
}

TEST(SecondHand, WarpScans) {
    const Case run("warp_ranks");
    const auto in = run.before_of<i32>("numbers"), inclusive = run.after_of<i32>("inclusive");
    const auto widths = run.after_of<i32>("widths");
    const auto reduced = run.after_of<u32>("reduced");
    for (int at = 0; at < 256; ++at) {
        const int warp = at / 32 * 32, lane = at % 32;
        const auto v = [&](int i) { return in[warp + i] % 100000; };
        int scan = 0, total = 0, least = 1 << 30, united = 0;
        for (int i = 0; i < 32; ++i) {
            total += v(i);
            scan += i <= lane ? v(i) : 0;
            least = std::min(least, v(i));
            united |= v(i);
        }
        EXPECT_EQ(inclusive[at], scan);
        // what lane i of a segment holds after the steps 4, 2, 1, where own values come back
        std::array<int, 8> part;
        for (int i = 0; i < 8; ++i) part[i] = v(lane / 8 * 8 + i);
        for (const int d : {4, 2, 1}) {
            const std::array<int, 8> old = part;
            for (int i = 0; i < 8; ++i) part[i] += old[i + d < 8 ? i + d : i];
        }
        EXPECT_EQ(widths[2 * at], part[lane % 8]);
        EXPECT_EQ(widths[2 * at + 1], part[0] ^ v(lane / 16 * 16 + (lane * 5 + 3) % 16));
        u32 votes = 0;
        for (int i = lane / 16 * 16; i < lane / 16 * 16 + 16; ++i) {
            int odd = 0;
            for (int k = 0; k < i % 4; ++k) odd += v(i) >> k;
            votes |= (lane < 16 ? (v(i) >> 2 & 1U) << 3 : static_cast<u32>(odd) & 1U) << i;
        }
        EXPECT_EQ(reduced[3 * at], static_cast<u32>(total) ^ votes);
        EXPECT_EQ(reduced[3 * at + 1], static_cast<u32>(least));
        EXPECT_EQ(reduced[3 * at + 2], static_cast<u32>(united));
    }
}

TEST(SecondHand, PipelineRoles) {
    const Case run("pipeline_roles");
    auto in = run.before_of<u32>("in");
    const auto folded = run.after_of<u32>("folded"), statistics = run.after_of<u32>("statistics");
    for (u32& v : in) {
        for (u32 k = v % 8; k > 0; --k) v = v * 1664525 + 1013904223;
    }
    for (u32 block = 0; block < 3; ++block) {
        const u32* const rounds = &in[block * 9 * 64];
        EXPECT_EQ(statistics[block],
                  std::accumulate(rounds, rounds + 9 * 64, 0U, std::bit_xor<>()));
        for (u32 place = 0; place < 64; ++place) {
            u32 sum = 0, turned = 1;
            for (u32 r = 0; r < 9; ++r) {
                sum += rounds[64 * r + place] ^ rounds[64 * r + 63 - place];
                turned = turned * 31 + rounds[64 * r + (place * 5 + r) % 64];
            }
            EXPECT_EQ(folded[2 * (64 * block + place)], sum);
            EXPECT_EQ(folded[2 * (64 * block + place) + 1], turned);
        }
    }
}

TEST(SecondHand, NeighbourBarriers) {
    const Case run("pipeline_roles");
    auto cells = run.before_of<u32>("cells");
    const auto votes = run.after_of<u32>("votes");
    for (u32 block = 0; block < 2; ++block) {
        u32* const v = &cells[block * 256];
        for (u32 turn = 0; turn < 6; ++turn) {
            const std::vector<u32> old(v, v + 256);
            for (u32 t = 0; t < 256; ++t) {
                const u32 warp = t / 32;
                const u32 with = turn % 2 ? (warp % 2 ? (warp + 1) % 8 : (warp + 7) % 8)
                                          : (warp % 2 ? warp - 1 : warp + 1);
                v[t] = old[t] * 5 + old[with * 32 + (t + turn) % 32];
            }
        }
        u32 odd = 0, any = 0, all = 1;
        for (u32 t = 0; t < 256; ++t) {
            odd += v[t] % 2;
            any |= v[t] % 211 == 0;
            all &= v[t] % 211 != 1;
        }
        EXPECT_EQ(votes[block], odd | any << 16 | all << 17);
    }
    EXPECT_EQ(cells, run.after_of<u32>("mixed"));
}

// std::regex on whole lines and on all their parts.
TEST(SecondHand, PatternMatch) {
    const Case run("pattern_match");
    const auto lines = run.before_of<u8>("lines"), whole = run.after_of<u8>("whole");
    const auto longest = run.after_of<u16>("longest");
    const char* const patterns[] = {"a*b+c?", ".*abc.*",   "[ab]*c[cd]+",  "a?a?a?aaa",
                                    "d.d*.a", "[abcd]*dd", "b*[ac]?b+a*d", "a.*b.*c"};
    int matched = 0, parts = 0;
    for (std::size_t p = 0; p < 8; ++p) {
        const std::regex pattern(patterns[p]);
        for (std::size_t line = 0; line < 50; ++line) {
            std::string text;
            for (int i = 0; i < 24; ++i) text += static_cast<char>('a' + lines[24 * line + i] % 4);
            const bool match = std::regex_match(text, pattern);
            EXPECT_EQ(whole[50 * p + line], match) << patterns[p] << " " << text;
            matched += match;
            if (line >= 6) continue;
            int best = -1, where = 0;
            for (int from = 0; from < 24; ++from) {
                for (int size = 24 - from; size > best; --size) {
                    if (!std::regex_match(text.substr(from, size), pattern)) continue;
                    best = size;
                    where = from;
                }
            }
            EXPECT_EQ(longest[50 * p + line], best < 0 ? 0xffff : best << 8 | where)
                << patterns[p] << " " << text;
            parts += best > 0;
        }
    }
    EXPECT_GT(matched, 5);
    EXPECT_GT(parts, 20);
}

TEST(SecondHand, LifeWords) {
    const Case run("bit_games");
    auto cells = run.before_of<u32>("cells");
    for (int block = 0; block < 3; ++block) {
        std::array<std::bitset<32>, 40> rows;
        for (int y = 0; y < 40; ++y) rows[y] = cells[40 * block + y];
        for (int g = 0; g < 20; ++g) {
            const auto old = rows;
            for (int y = 0; y < 40; ++y) {
                for (int x = 0; x < 32; ++x) {
                    int near = 0;
                    for (int d = 0; d < 9; ++d) {
                        if (d != 4) near += old[(y + d / 3 + 39) % 40][(x + d % 3 + 31) % 32];
                    }
                    rows[y][x] = near == 3 || (near == 2 && old[y][x]);
                }
            }
        }
        u32 alive = 0;
        for (int y = 0; y < 40; ++y) {
            cells[40 * block + y] = static_cast<u32>(rows[y].to_ulong());
            alive += static_cast<u32>(rows[y].count());
        }
        EXPECT_EQ(run.after_of<u32>("population")[block], alive);
        EXPECT_GT(alive, 0U);
    }
    EXPECT_EQ(cells, run.after_of<u32>("later"));
}

TEST(SecondHand, HashJoin) {
    const Case run("hash_join");
    const auto keys = run.before_of<u32>("keys"), wanted = run.before_of<u32>("wanted");
    const auto sums = run.after_of<u32>("sums"), summary = run.after_of<u32>("summary");
    std::map<u32, u32> table;
    std::array<std::array<u32, 4>, 37> buckets = {};
    for (const u32 k : keys) {
        table[k % 1024 + 1] += k >> 20;
        u32 h = k;
        h = (h ^ h >> 16) * 0x85ebca6b;
        h = (h ^ h >> 13) * 0xc2b2ae35;
        auto& bucket = buckets[(h ^ h >> 16) % 37];
        ++bucket[0];
        bucket[1] += k;
        bucket[2] ^= k * 2654435761U;
        bucket[3] = std::max(bucket[3], k);
    }
    int missing = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto found = table.find(wanted[i] % 2048 + 1);
        missing += found == table.end();
        EXPECT_EQ(sums[i], found == table.end() ? ~0U : found->second);
    }
    EXPECT_GT(missing, 10);
    for (std::size_t b = 0; b < 37; ++b) {
        for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(summary[4 * b + k], buckets[b][k]);
    }
    EXPECT_EQ(run.after_of<i32>("chain"), std::vector<i32>(700, -2));
}

TEST(SecondHand, SpinLocks) {
    const Case run("spin_locks");
    const auto in = run.before_of<u32>("in");
    const auto expect = [&](const std::string& name, u32 count) {
        const auto found = run.after_of<u32>(name);
        for (u32 a = 0; a < count; ++a) {
            u32 total = 0, lowest = ~0U, entries = 0;
            u64 squares = 0;
            for (const u32 v : in) {
                if (v % count != a) continue;
                total += v >> 8;
                lowest = std::min(lowest, v >> 8);
                squares += u64{v >> 8} * (v >> 8);
                ++entries;
            }
            const u32* const account = &found[8 * a];
            EXPECT_EQ(account[0], total) << name;
            EXPECT_EQ(account[1], lowest);
            EXPECT_EQ(account[2] | u64{account[3]} << 32, squares);
            EXPECT_EQ(account[4], entries);
            EXPECT_EQ(account[5], 0U);  // the lock is free
            EXPECT_EQ(account[6], account[7]);
        }
    };
    expect("tried", 5);
    expect("plain", 3);
    expect("tickets", 4);
    auto letters = run.before_of<u32>("letters");
    for (std::size_t base : {0, 32}) {
        for (std::size_t lane = 0; lane < 16; ++lane) {
            u32 &from = letters[base + lane], &to = letters[base + 31 - lane];
            for (int r = 0; r < 6; ++r) {
                from = from * 69069 + 1;
                to = std::rotl(to, 5) ^ from;
            }
        }
    }
    EXPECT_EQ(letters, run.after_of<u32>("out"));
}

TEST(SecondHand, TwoLocks) {
    const auto sums = Case("two_locks").after_of<u32>("sums");
    EXPECT_EQ(sums[0], 32U * 32U);                  // 1 + 3 + … + 63
    EXPECT_EQ(sums[1], 3U * 2U * 31U * 16U + 32U);  // 3 (0 + 2 + … + 62), and 1 for each
    for (u32 t = 0; t < 64; ++t) EXPECT_EQ(sums[2 + t], t % 2 ? 7U : 2U) << t;
}

TEST(SecondHand, LookbackScan) {
    const Case run("lookback_scan");
    auto in = run.before_of<u32>("in");
    std::partial_sum(in.begin(), in.end(), in.begin());
    EXPECT_EQ(in, run.after_of<u32>("out"));
    const auto numbers = run.before_of<i32>("numbers");
    std::array<i64, 128> sums = {};
    for (i64 b = 0; b < 9; ++b) {
        i64 partial = 0;
        for (i64 i = 0; i < 300; ++i) partial += i64{numbers[300 * b + i]} * (i + 1);
        EXPECT_EQ(run.after_of<i64>("partial")[b], partial);
        sums[b] = partial * (b + 1);
    }
    std::array<i64, 2> result = {};
    for (i64 t = 0; t < 128; ++t) result[t % 2] ^= sums[t] * 3 + t;
    EXPECT_EQ(run.after_of<i64>("result")[0], result[0]);
    EXPECT_EQ(run.after_of<i64>("result")[1], result[1]);
}

TEST(SecondHand, CubeAutomaton) {
    const Case run("cube_automaton");
    const auto cube = run.before_of<u8>("cube"), next = run.after_of<u8>("next");
    const auto distances = run.after_of<std::int16_t>("distances");
    const std::array<int, 3> size = {23, 17, 11};
    const auto at = [&](std::array<int, 3> p) { return (p[2] * 17 + p[1]) * 23 + p[0]; };
    const auto cell = [&](std::array<int, 3> p) {
        for (int k = 0; k < 3; ++k) {
            if (p[k] < 0 || p[k] >= size[k]) return 0;
        }
        return int{cube[at(p)]};
    };
    for (int i = 0; i < 23 * 17 * 11; ++i) {
        const std::array<int, 3> p = {i % 23, i / 23 % 17, i / 23 / 17};
        int sum = -cell(p);
        for (int d = 0; d < 27; ++d)
            sum += cell({p[0] + d % 3 - 1, p[1] + d / 3 % 3 - 1, p[2] + d / 9 - 1});
        const int rule = cube[i] ? 0x3fc0 : 0x1f00;
        ASSERT_EQ(next[i], static_cast<u8>((rule >> sum & 1) | sum << 1)) << i;
        for (int axis = 0; axis < 3; ++axis) {
            int best = 30000;
            auto q = p;
            for (q[axis] = 0; q[axis] < size[axis]; ++q[axis]) {
                if (cell(q)) best = std::min(best, std::abs(q[axis] - p[axis]));
            }
            ASSERT_EQ(distances[axis * 23 * 17 * 11 + i], best) << axis << " " << i;
        }
    }
}

TEST(SecondHand, MotionSearch) {
    const Case run("video_bytes");
    const auto before = run.before_of<u8>("before"), now = run.before_of<u8>("now");
    const auto vectors = run.after_of<u32>("vectors");
    for (int block = 0; block < 24; ++block) {
        const int bx = block % 6 * 8, by = block / 6 * 8;
        u32 best = ~0U;
        for (int code = 0; code < 64; ++code) {
            const int x0 = std::clamp(bx + code % 8 - 4, 0, 40),
                      y0 = std::clamp(by + code / 8 - 4, 0, 24);
            u32 sum = 0;
            for (int i = 0; i < 64; ++i)
                sum += static_cast<u32>(std::abs(now[(by + i / 8) * 48 + bx + i % 8] -
                                                 before[(y0 + i / 8) * 48 + x0 + i % 8]));
            best = std::min(best, sum << 8 | static_cast<u32>(code));
        }
        EXPECT_EQ(vectors[block], best) << block;
    }
}

TEST(SecondHand, Stragglers) {
    const Case run("stragglers");
    const auto in = run.before_of<u32>("in"), out = run.after_of<u32>("out");
    std::array<u32, 2> gone = {};
    for (std::size_t warp = 0; warp < 10; ++warp) {
        std::vector<std::size_t> fives, overs, alive;
        std::map<std::size_t, u32> turns;
        for (std::size_t at = 32 * warp; at < std::min<std::size_t>(32 * warp + 32, 300); ++at) {
            if (in[at] % 5 == 0) {
                fives.push_back(at);
                continue;
            }
            u64 c = (in[at] >> 12) + 3;
            u32& n = turns[at];
            bool over = false;
            while (c != 1 && n < 250 && !over) {
                c = c % 2 ? 3 * c + 1 : c / 2;
                ++n;
                over = n > 60 && c > 100000;
            }
            (over ? overs : alive).push_back(at);
        }
        for (const std::size_t at : fives) EXPECT_EQ(out[at], 0x50000000 + fives.size());
        for (const std::size_t at : overs) EXPECT_EQ(out[at], 0x60000000 | turns[at]);
        gone[0] += static_cast<u32>(fives.size());
        gone[1] += static_cast<u32>(overs.size());
        std::vector<u32> token;
        for (const std::size_t at : alive) token.push_back(turns[at]);
        for (int r = 0; r < 5; ++r) {
            std::rotate(token.begin(), token.begin() + (token.empty() ? 0 : 1), token.end());
            for (std::size_t i = 0; i < token.size(); ++i)
                token[i] = token[i] * 3 + turns[alive[i]];
        }
        const u32 sum = std::accumulate(token.begin(), token.end(), 0U);
        for (std::size_t i = 0; i < token.size(); ++i)
            EXPECT_EQ(out[alive[i]], token[i] ^ sum << 5);
    }
    EXPECT_EQ(run.after_of<u32>("gone")[0], gone[0]);
    EXPECT_EQ(run.after_of<u32>("gone")[1], gone[1]);
    EXPECT_GT(gone[0], 10U);
    EXPECT_GT(gone[1], 10U);
}

TEST(SecondHand, HalfBlock) {
    const Case run("stragglers");
    const auto in = run.before_of<u32>("words"), out = run.after_of<u32>("halves");
    for (u32 at = 0; at < 512; ++at) {
        const u32 base = at & ~255U, t = at & 255U;
        const auto cell = [&](u32 i) { return in[base + i] >> 1; };
        if (t / 32 % 2) {
            EXPECT_EQ(out[at], cell(255 - t));
            continue;
        }
        const u32 other = (t / 64 * 32 + t % 32 + 17) % 128, place = other / 32 * 64 + other % 32;
        EXPECT_EQ(out[at], 2 * (cell(place) + cell(255 - place)) + 1);
    }
}

TEST(SecondHand, LabelledGroups) {
    const Case run("tiles");
    const auto in = run.before_of<u32>("words"), sizes = run.after_of<u32>("sizes");
    std::array<u32, 8> counters = {};
    for (std::size_t warp = 0; warp < 8; ++warp) {
        std::map<u32, std::vector<std::size_t>> groups;
        std::size_t those = 0;
        for (std::size_t at = 32 * warp; at < 32 * warp + 32; ++at) {
            if (in[at] % 3 == 1) continue;
            groups[in[at] >> 29].push_back(at);
            ++those;
        }
        for (const auto& [label, members] : groups) {
            counters[label] += static_cast<u32>(members.size());
            for (std::size_t k = 0; k < members.size(); ++k)
                EXPECT_EQ(sizes[members[k]], members.size() | k << 8 | members.size() << 16);
        }
        for (std::size_t at = 32 * warp; at < 32 * warp + 32; ++at) {
            if (in[at] % 3 != 1) continue;
            EXPECT_EQ(sizes[at], 0x80000000 | those);
        }
    }
    u32 places = 0;
    for (std::size_t label = 0; label < 8; ++label) {
        EXPECT_EQ(run.after_of<u32>("counters")[label], counters[label]);
        places += counters[label] * (counters[label] - 1) / 2;
    }
    EXPECT_EQ(run.after_of<u32>("place_sum")[0], places);
}

TEST(SecondHand, Tiles) {
    const Case run("tiles");
    const auto in = run.before_of<i64>("in");
    for (const std::size_t width : {4, 8, 16, 32}) {
        const auto out = run.after_of<i64>("out" + std::to_string(width));
        const auto votes = run.after_of<u32>("votes" + std::to_string(width));
        for (std::size_t first = 0; first < 256; first += width) {
            i64 top = INT64_MIN, either = 0, total = 0;
            u32 ballot = 0, any = 0, all = 1;
            const auto v = [&](std::size_t i) { return in[first + i] >> 20; };
            for (std::size_t i = 0; i < width; ++i) {
                top = std::max(top, v(i));
                either |= v(i);  // (a ^ b) + (a & b)
                total += v(i);
                ballot |= static_cast<u32>(v(i) >> 1 & 1) << i;
                any |= v(i) % 9 == 0;
                all &= (v(i) & 7) != 5;
            }
            const auto mean =
                static_cast<i64>(static_cast<double>(total) / static_cast<double>(width));
            i64 before = 0;
            for (std::size_t i = 0; i < width; ++i) {
                const auto spread = static_cast<i64>(
                    static_cast<float>(static_cast<i32>(v((3 * i + 1) % width) >> 16)));
                EXPECT_EQ(out[first + i], top - either * 3 + before * 5 + mean * 7 + spread)
                    << width << " " << first + i;
                const u32 last = i + 1 == width ? static_cast<u32>(first % 128 / width) << 20 : 0;
                EXPECT_EQ(votes[first + i], (ballot << 2 | any | all << 1) ^ last);
                before += v(i);
            }
        }
    }
}

}  // namespace
}  // namespace occupipe::test
