// SPDX-License-Identifier: MIT
// Operations by level, and reductions as trees.
//
// What is to be reduced comes one by one, each at the level where it is ready. Two partial results
// that are ready at the same level are combined at the next one, as digits of a binary number
// carry; what is left at the end is combined from the lowest up. That gives the least depth that
// a tree over these leaves can have, ceil(log2(sum of 2^level)).
#pragma once

#include "memory.h"

namespace {

u64 top_level;  // kept only where levels may be without operations

// As many levels as a level can count; memory is taken where they are touched.
constexpr u64 most_levels = u64{1} << 32;

template <int number>
struct Widths {
    static u64* f64() { return reinterpret_cast<u64*>(place(number)); }
    static u64* f32() { return reinterpret_cast<u64*>(place(number + 1)); }
    // By level: 0 = nothing loaded, distance + 1, or ~0 = a first reference.
    static u32* reach() { return reinterpret_cast<u32*>(place(number + 2)); }

    void open() {
        reserve(most_levels * sizeof(u64), place(number));
        reserve(most_levels * sizeof(u64), place(number + 1));
        reserve(most_levels * sizeof(u32), place(number + 2));
    }
    HOT void count(u32 level, u32 reached, u32 single, bool distances) {
        ++(single ? f32() : f64())[level];
        if (distances && reached > reach()[level]) reach()[level] = reached;
    }
    static void count_many(u32 level, u64 single, u64 times) {
        (single != 0 ? f32() : f64())[level] += times;
    }
    bool empty(u64 level) const { return (f64()[level] | f32()[level]) == 0; }
    // The last level that has an operation; but for stores that wait, all up to it have.
    u64 last() const {
        if (top_level != 0) return top_level;
        u64 level = 1;
        while (level < most_levels && !empty(level)) ++level;
        return level - 1;
    }
    u64 depth() const {
        const u64 end = last();
        if (top_level == 0) return end;
        u64 levels = 0;
        for (u64 level = 1; level <= end; ++level) levels += empty(level) ? 0 : 1;
        return levels;
    }
    // From level 1 on: operations in double precision; in single; what they reached.
    void write(Output& out) const {
        const u64 end = last();
        for (u64 level = 1; level <= end; ++level)
            if (!empty(level)) out.bytes(f64() + level, sizeof(u64));
        for (u64 level = 1; level <= end; ++level)
            if (!empty(level)) out.bytes(f32() + level, sizeof(u64));
        for (u64 level = 1; level <= end; ++level)
            if (!empty(level)) out.bytes(reach() + level, sizeof(u32));
    }
};
Widths<8> as_written;
Widths<12> with_trees;

// Partial results that wait for a partner, one at a level: bit i of `ready` for level base + i. Two
// windows, since what is added may be far above or below what waits already.
struct Tree {
    u64 ready[2];
    u32 base[2];
    u32 same;        // leaves that came at one level after the other,
    u32 same_level;  // and at which: they are put in together
    std::uint8_t single;
    std::uint8_t neutral;  // it began with what changes nothing, and nothing came since
    std::uint8_t kind;     // of those in memory: which operation,
    std::uint8_t listed;   // and whether the list of them has it

    HOT void begin(u32 level, bool from_neutral, u32 is_single) {
        single = static_cast<std::uint8_t>(is_single);
        neutral = from_neutral;
        ready[0] = from_neutral ? 0 : 1;
        ready[1] = 0;
        base[0] = level;
        same = 0;
    }
    HOT void add(u32 level, u32 reached, bool distances) {
        if (distances && reached > with_trees.reach()[level + 1])
            with_trees.reach()[level + 1] = reached;
        if (LIKELY(level == same_level && same - 1 < most_same)) {
            ++same;
            return;
        }
        add_other(level);
    }
    // The level of the whole, when all that waits is combined, from the lowest up.
    COLD u32 finish() {
        put_same();
        if ((ready[0] | ready[1]) == 0) return neutral ? base[0] : 0;
        u32 level = take_lowest();
        while ((ready[0] | ready[1]) != 0) {
            const u32 next = take_lowest();
            level = (level > next ? level : next) + 1;
            operation(level);
        }
        neutral = 0;
        ready[0] = 1;
        base[0] = level;
        return level;
    }

private:
    static constexpr u32 most_bit = 55;  // what is carried may come above it
    static constexpr u32 most_same = 1U << 30;

    __attribute__((noinline)) void add_other(u32 level) {
        put_same();
        same = 1;
        same_level = level;
    }
    void put_same() {
        u64 left = same;
        same = 0;
        if (left == 0) return;
        const u32 level = same_level;
        // One by one until there is room for the rest in one window, as in a sum of binary numbers.
        while (left > 0) {
            put(level);
            --left;
            if (left > 0 && !neutral && level >= base[0] && level - base[0] <= most_bit / 2) {
                put_many(level - base[0], left);
                return;
            }
        }
    }
    void put_many(u32 bit, u64 many) {
        u32 level = base[0] + bit;
        while (many > 0) {
            const u64 here = many + (ready[0] >> bit & 1);
            many = here >> 1;
            ready[0] = (ready[0] & ~(u64{1} << bit)) | (here & 1) << bit;
            ++level;
            (single ? with_trees.f32() : with_trees.f64())[level] += many;
            ++bit;
        }
        if (ready[0] >> (most_bit + 5) != 0) make_room(0);
    }
    void put(u32 level) {
        if (neutral) {
            // The program's first operation; no other waits for it.
            neutral = 0;
            operation(level + 1);
            ready[0] = 1;
            base[0] = level;
        } else if (LIKELY(level - base[0] <= most_bit)) {
            insert(0, level);
        } else {
            add_far(level);
        }
    }
    HOT void operation(u32 level) { ++(single ? with_trees.f32() : with_trees.f64())[level]; }
    HOT void insert(int window, u32 level) {
        u64 mask = u64{1} << (level - base[window]);
        while ((ready[window] & mask) != 0) {
            ready[window] ^= mask;
            mask <<= 1;
            operation(++level);
        }
        ready[window] |= mask;
        if (__builtin_expect(mask >> (most_bit + 5) != 0, 0)) make_room(window);
    }
    static u32 lowest(u64 mask) { return static_cast<u32>(__builtin_ctzll(mask)); }
    static u32 highest(u64 mask) { return 63 - static_cast<u32>(__builtin_clzll(mask)); }
    COLD u32 take_lowest() {
        const u32 none = ~u32{0};
        const u32 a = ready[0] != 0 ? base[0] + lowest(ready[0]) : none;
        const u32 b = ready[1] != 0 ? base[1] + lowest(ready[1]) : none;
        const int window = a <= b ? 0 : 1;
        ready[window] &= ready[window] - 1;
        return window == 0 ? a : b;
    }
    // The base as high as may be; where that is not enough, what is lowest is combined.
    COLD void make_room(int window) {
        for (;;) {
            const u32 unused = lowest(ready[window]);
            ready[window] >>= unused;
            base[window] += unused;
            if (ready[window] >> (most_bit + 3) == 0) return;
            ready[window] &= ready[window] - 1;
            const u32 second = lowest(ready[window]);
            ready[window] &= ready[window] - 1;
            u64 mask = u64{2} << second;
            u32 level = base[window] + second + 1;
            operation(level);
            while ((ready[window] & mask) != 0) {
                ready[window] ^= mask;
                mask <<= 1;
                operation(++level);
            }
            ready[window] |= mask;
        }
    }
    COLD void add_far(u32 level) {
        for (const int window : {0, 1}) {
            if (ready[window] == 0) continue;
            if (level >= base[window]) {
                if (level - base[window] <= most_bit) return insert(window, level);
                const u32 unused = lowest(ready[window]);
                if (level - base[window] - unused > most_bit) continue;
                ready[window] >>= unused;
                base[window] += unused;
                return insert(window, level);
            }
            const u32 by = base[window] - level;
            if (by > most_bit || highest(ready[window]) + by > most_bit) continue;
            ready[window] <<= by;
            base[window] = level;
            return insert(window, level);
        }
        if (ready[0] != 0 && ready[1] != 0) {
            finish();
            ready[1] = ready[0];
            base[1] = base[0];
            ready[0] = 0;
        }
        const int window = ready[0] == 0 ? 0 : 1;
        ready[window] = 1;
        base[window] = level;
    }
};

}  // namespace
