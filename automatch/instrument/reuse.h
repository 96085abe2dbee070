// SPDX-License-Identifier: MIT
// LRU stack distances, exact. Time is the number of the reference; a bit at each time says whether
// its unit was not referenced since, so that a distance is how many bits are set after the time of
// the unit's last reference. They are counted by 64, 512, 32,768 and 2,097,152 times.
#pragma once

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

#include "memory.h"

namespace {

constexpr u64 exact = 4096;
constexpr int most_buckets = 4096 + 64 * 40;
struct Bounds {
    u64 first[most_buckets];  // of a bucket; the next one's first ends it
    u32 count;
    u32 start[64 * 16];  // by octave and its sixteenth: the first bucket there
};
Bounds bounds;

// Exact up to 4,096; then 16 buckets per octave, apart from powers of two and known capacities.
void open_bounds(const char* known_capacities) {
    u64 extra[64];
    int extras = 0;
    while (known_capacities != nullptr && *known_capacities != 0 && extras < 64) {
        extra[extras++] = strtoull(known_capacities, nullptr, 10);
        known_capacities = strchr(known_capacities, ',');
        if (known_capacities != nullptr) ++known_capacities;
    }
    u32 n = 0;
    for (int octave = 12; octave < 40; ++octave)
        for (u64 part = 0; part < 16; ++part) {
            const u64 low = (16 + part) << (octave - 4);
            const u64 high = low + (u64{1} << (octave - 4));
            u64 cuts[160];
            int cut = 0;
            cuts[cut++] = low;
            if (part == 0) cuts[cut++] = low + 1;
            for (int i = 0; i < extras; ++i)
                for (u64 at : {extra[i], extra[i] + 1})
                    if (at > low && at < high) cuts[cut++] = at;
            bounds.start[octave * 16 + static_cast<int>(part)] = n;
            // a few of them: sorted by selection, twice the same left out
            u64 last = 0;
            for (;;) {
                u64 next = ~u64{0};
                for (int i = 0; i < cut; ++i)
                    if (cuts[i] > last && cuts[i] < next) next = cuts[i];
                if (next == ~u64{0}) break;
                bounds.first[n++] = last = next;
            }
        }
    bounds.count = n;
    bounds.first[n] = ~u64{0};
}

struct Distances {
    u64 first;
    u64 references;
    u64 near[exact + 1];
    u64 far[most_buckets];

    HOT void count(u64 distance) {
        if (LIKELY(distance <= exact))
            ++near[distance];
        else
            count_far(distance);
    }
    COLD void count_far(u64 distance) {
        const int octave = 63 - __builtin_clzll(distance);
        u32 i = bounds.start[octave * 16 + static_cast<int>(distance >> (octave - 4) & 15)];
        while (bounds.first[i + 1] <= distance) ++i;
        ++far[i];
    }
};

HOT u64 ones(u64 word) { return static_cast<u64>(__builtin_popcountll(word)); }

template <int unit_bits, int number>
struct Reuse {
    Shadow<u32, number> last;  // time of the last reference + 1
    u64* bits;
    std::uint16_t* by512;  // of blocks that are full
    u32* by32k;            // of full blocks in them
    u32* by2m;
    u64* unit;  // by time: which unit it was
    u64 capacity;
    u64 now;
    u64 live;
    u64 in_block;  // bits set in the block that is being filled
    Distances counted;

    void open() {
        last.open();
        allocate(u64{1} << 20);
    }
    void allocate(u64 wanted) {
        capacity = wanted;
        bits = static_cast<u64*>(reserve_dense(capacity / 8 + 64));
        by512 = static_cast<std::uint16_t*>(reserve(((capacity >> 9) + 1) * sizeof(std::uint16_t)));
        by32k = static_cast<u32*>(reserve(((capacity >> 15) + 1) * sizeof(u32)));
        by2m = static_cast<u32*>(reserve(((capacity >> 21) + 1) * sizeof(u32)));
        unit = static_cast<u64*>(reserve_dense(capacity * sizeof(u64)));
    }
    // Times are given anew, in the same order, without the gaps.
    COLD void renumber() {
        u64* const old_bits = bits;
        u64* const old_unit = unit;
        const u64 old_capacity = capacity;
        munmap(by512, ((capacity >> 9) + 1) * sizeof(std::uint16_t));
        munmap(by32k, ((capacity >> 15) + 1) * sizeof(u32));
        munmap(by2m, ((capacity >> 21) + 1) * sizeof(u32));
        u64 wanted = u64{1} << 20;
        while (wanted < 4 * live) wanted *= 2;
        if (wanted > u64{1} << 32) give_up("more memory is touched than stack distances can count");
        allocate(wanted);
        now = 0;
        in_block = 0;
        for (u64 w = 0; w < old_capacity / 64; ++w)
            for (u64 word = old_bits[w]; word != 0; word &= word - 1) {
                const u64 u = old_unit[w * 64 + static_cast<u64>(__builtin_ctzll(word))];
                append(u);
                *last.at(u << unit_bits, unit_bits) = static_cast<u32>(now);
            }
        munmap(old_bits, old_capacity / 8 + 64);
        munmap(old_unit, old_capacity * sizeof(u64));
    }
    HOT void append(u64 u) {
        bits[now >> 6] |= u64{1} << (now & 63);
        unit[now] = u;
        ++in_block;
        if ((++now & 511) == 0) {
            const u64 block = (now >> 9) - 1;
            by512[block] = static_cast<std::uint16_t>(in_block);
            by32k[block >> 6] += static_cast<u32>(in_block);
            by2m[block >> 12] += static_cast<u32>(in_block);
            in_block = 0;
        }
    }
    HOT void remove(u64 t) {
        bits[t >> 6] ^= u64{1} << (t & 63);
        const u64 block = t >> 9;
        if (block == now >> 9) {
            --in_block;
        } else {
            --by512[block];
            --by32k[block >> 6];
            --by2m[block >> 12];
        }
    }
    // Set bits at times above t.
    HOT u64 after(u64 t) const {
        const u64 word = t >> 6;
        u64 sum = ones(bits[word] >> (t & 63) >> 1);
        const u64 block = t >> 9;
        const u64 current = now >> 9;
        const u64 end = block == current ? now >> 6 : block << 3 | 7;
        for (u64 w = word + 1; w <= end; ++w) sum += ones(bits[w]);
        if (block == current) return sum;
        return sum + in_block + between(block, current);
    }
    // In full blocks, both ends left out.
    __attribute__((noinline)) u64 between(u64 block, u64 current) const {
        if (block >> 6 == current >> 6) return sum_of(by512, block + 1, current);
        u64 sum = 0;
        const u64 edge = (block >> 6) + 1;  // of what is counted by 32,768
        if ((block & 63) < 32)
            sum += by32k[block >> 6] - sum_of(by512, (edge - 1) << 6, block + 1);
        else
            sum += sum_of(by512, block + 1, edge << 6);
        const u64 last_edge = (current >> 6) + 1;
        if (edge >> 6 == (current >> 6) >> 6 || edge == last_edge)
            return sum + sum_of(by32k, edge, last_edge);
        const u64 wide = (edge + 63) >> 6;
        return sum + sum_of(by32k, edge, wide << 6) + sum_of(by2m, wide, (current >> 12) + 1);
    }
    template <class Count>
    HOT static u64 sum_of(const Count* counts, u64 from, u64 to) {
        u32 sum = 0;
        for (u64 i = from; i < to; ++i) sum += counts[i];
        return sum;
    }
    // Its distance + 1; ~0 for a first reference.
    HOT u32 touch(u64 address) {
        u32* const seen = last.at(address, unit_bits);
        ++counted.references;
        if (LIKELY(*seen == now) && now != 0) {  // the same unit again
            ++counted.near[0];
            return 1;
        }
        return touch_other(seen, address >> unit_bits);
    }
    __attribute__((noinline)) u32 touch_other(u32* seen, u64 u) {
        if (__builtin_expect(now == capacity, 0)) renumber();
        const u32 before = *seen;
        u32 result = ~u32{0};
        if (LIKELY(before != 0)) {
            const u64 distance = after(before - 1);
            remove(before - 1);
            counted.count(distance);
            result = distance < 0xFFFFFFF0u ? static_cast<u32>(distance) + 1 : 0xFFFFFFF0u;
        } else {
            ++counted.first;
            ++live;
        }
        append(u);
        *seen = static_cast<u32>(now);
        return result;
    }
};

}  // namespace
