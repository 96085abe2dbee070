// SPDX-License-Identifier: MIT
// What an instrumented program calls (instrument.cpp puts the calls). Compiled to bitcode and
// inlined into the program; it has nothing of the standard library's that needs a constructor, and
// its report is written by atexit(), or when a signal ends the program.
//
// A granule of 4 bytes has a shadow of 16: when it was stored, by which instruction, at which
// level. Words of 8 bytes and lines of 64 and 128 have a shadow of 4: when they were last
// referenced.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

#define HOT __attribute__((always_inline)) inline
// Emitted for the program to be linked with, and then inlined.
#define CALLED __attribute__((always_inline))
#define COLD __attribute__((noinline, cold))
#define LIKELY(x) __builtin_expect(!!(x), 1)

// ---- memory -------------------------------------------------------------------------------------

COLD void* reserve(u64 bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        fputs(
            "occupipe-match: no address space left for the record of the program (it is reserved, "
            "not used: vm.overcommit_memory must not be 2)\n",
            stderr);
        _exit(70);
    }
    return at;
}

// Addresses have 47 bits; a chunk shadows 16 MiB of them, and takes memory where it is touched.
constexpr int chunk_bits = 24;
constexpr u64 chunks = u64{1} << (47 - chunk_bits);

template <class Entry, int unit_bits>
struct Shadow {
    Entry** table;

    HOT Entry* at(u64 address) {
        Entry*& chunk = table[address >> chunk_bits & (chunks - 1)];
        if (!LIKELY(chunk != nullptr)) grow(chunk);
        return chunk + ((address & ((u64{1} << chunk_bits) - 1)) >> unit_bits);
    }
    COLD void grow(Entry*& chunk) {
        chunk = static_cast<Entry*>(reserve(sizeof(Entry) << (chunk_bits - unit_bits)));
    }
    void open() { table = static_cast<Entry**>(reserve(chunks * sizeof(Entry*))); }
};

// ---- levels -------------------------------------------------------------------------------------

struct Store {
    u64 time;  // 0: never
    u32 level;
    u32 site;
};
Shadow<Store, 2> stores;

// As many levels as a level can count; memory is taken where they are touched.
constexpr u64 most_levels = u64{1} << 32;
struct Widths {
    u64* f64;
    u64* f32;
    u32* reach;  // by level: 0 = nothing loaded, distance + 1, or ~0 = a first reference

    void open() {
        f64 = static_cast<u64*>(reserve(most_levels * sizeof(u64)));
        f32 = static_cast<u64*>(reserve(most_levels * sizeof(u64)));
        reach = static_cast<u32*>(reserve(most_levels * sizeof(u32)));
    }
    // Every level up to the last has an operation.
    u64 depth() const {
        u64 level = 1;
        while (level < most_levels && (f64[level] | f32[level]) != 0) ++level;
        return level - 1;
    }
};
Widths widths;

// ---- loops --------------------------------------------------------------------------------------

constexpr u32 most_depth = 64;
constexpr u32 most_pairs = 32;

struct Active {
    u64 begin;
    u64 iteration;
    u32 loop;
};
struct Pair {
    u32 load;
    u32 store;
};
struct LoopCount {
    u64 instances;
    u64 iterations;
    u32 pairs;
    Pair pair[most_pairs];
};
Active active[most_depth];
u32 nested;
u64 clock_now = 1;
LoopCount* loops;
u64 calls;
u64 calls_that_read;  // what an earlier call stored
u64 call_begin;
bool call_read;

COLD void carried(u32 at, u32 load, u32 store) {
    LoopCount& loop = loops[active[at].loop];
    for (u32 i = 0; i < loop.pairs; ++i)
        if (loop.pair[i].load == load && loop.pair[i].store == store) return;
    if (loop.pairs < most_pairs) loop.pair[loop.pairs++] = {load, store};
}

// The innermost loop whose present instance had begun when it was stored carries it, if that was
// in an earlier iteration.
COLD void look_for_loop(u64 time, u32 load, u32 store) {
    for (u32 i = nested; i-- > 0;) {
        if (time < active[i].begin) continue;
        if (time < active[i].iteration) carried(i, load, store);
        return;
    }
    if (time < call_begin) call_read = true;
}

// ---- stack distances
// ------------------------------------------------------------------------------

constexpr u64 exact = 4096;
constexpr int most_buckets = 4096 + 64 * 40;
struct Bounds {
    u64 first[most_buckets];  // of a bucket; the next one's first ends it
    u32 count;
    u32 start[64 * 16];  // by octave and its sixteenth: the first bucket there
};
Bounds bounds;

// Exact up to 4,096; then 16 buckets per octave, apart from powers of two and known capacities.
void open_bounds(const char* known) {
    u64 extra[64];
    int extras = 0;
    while (known != nullptr && *known != 0 && extras < 64) {
        extra[extras++] = strtoull(known, nullptr, 10);
        known = strchr(known, ',');
        if (known != nullptr) ++known;
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

template <int unit_bits>
struct Reuse {
    Shadow<u32, unit_bits> last;  // time of the last reference + 1
    u64* bits;                    // by time: a unit's last reference
    u32* block;                   // set bits in 512 of them
    u64* tree;                    // Fenwick over blocks
    u64* unit;                    // by time: which unit it was
    u64 capacity;
    u64 now;
    u64 live;
    u64 first;
    u64 references;
    u64 near[exact + 1];
    u64 far[most_buckets];

    void open() {
        last.open();
        allocate(u64{1} << 20);
    }
    void allocate(u64 wanted) {
        capacity = wanted;
        bits = static_cast<u64*>(reserve(capacity / 8));
        block = static_cast<u32*>(reserve((capacity >> 9) * sizeof(u32)));
        tree = static_cast<u64*>(reserve(((capacity >> 9) + 1) * sizeof(u64)));
        unit = static_cast<u64*>(reserve(capacity * sizeof(u64)));
    }
    // Times are given anew, in the same order, without the gaps.
    COLD void renumber() {
        u64* const old_bits = bits;
        u32* const old_block = block;
        u64* const old_tree = tree;
        u64* const old_unit = unit;
        const u64 old_capacity = capacity;
        u64 wanted = u64{1} << 20;
        while (wanted < 4 * live) wanted *= 2;
        if (wanted > u64{1} << 32) {
            fputs("occupipe match: more memory is touched than stack distances can count\n",
                  stderr);
            _exit(70);
        }
        allocate(wanted);
        u64 fresh = 0;
        for (u64 w = 0; w < old_capacity / 64; ++w)
            for (u64 word = old_bits[w]; word != 0; word &= word - 1) {
                const u64 t = w * 64 + static_cast<u64>(__builtin_ctzll(word));
                const u64 u = old_unit[t];
                *last.at(u << unit_bits) = static_cast<u32>(fresh + 1);
                bits[fresh >> 6] |= u64{1} << (fresh & 63);
                ++block[fresh >> 9];
                unit[fresh++] = u;
            }
        const u64 blocks = capacity >> 9;
        for (u64 i = 1; i <= blocks; ++i) tree[i] = block[i - 1];
        for (u64 i = 1; i <= blocks; ++i)
            if (const u64 up = i + (i & (~i + 1)); up <= blocks) tree[up] += tree[i];
        now = fresh;
        munmap(old_bits, old_capacity / 8);
        munmap(old_block, (old_capacity >> 9) * sizeof(u32));
        munmap(old_tree, ((old_capacity >> 9) + 1) * sizeof(u64));
        munmap(old_unit, old_capacity * sizeof(u64));
    }
    HOT void add(u64 t, u64 change) {
        const u64 blocks = capacity >> 9;
        for (u64 i = (t >> 9) + 1; i <= blocks; i += i & (~i + 1)) tree[i] += change;
    }
    // Set bits at times above t.
    HOT u64 after(u64 t) {
        const u64 w = t >> 6;
        u64 sum = 0;
        const u64 shift = (t & 63) + 1;
        if (shift < 64) sum += static_cast<u64>(__builtin_popcountll(bits[w] >> shift));
        const u64 top = (now - 1) >> 6;
        if (top - w <= 64) {
            for (u64 i = w + 1; i <= top; ++i)
                sum += static_cast<u64>(__builtin_popcountll(bits[i]));
            return sum;
        }
        const u64 block_end = (w | 7);
        for (u64 i = w + 1; i <= block_end; ++i)
            sum += static_cast<u64>(__builtin_popcountll(bits[i]));
        u64 before = 0;
        for (u64 i = (t >> 9) + 1; i > 0; i &= i - 1) before += tree[i];
        return sum + live - before;
    }
    // Its distance + 1; ~0 for a first reference.
    HOT u32 touch(u64 address) {
        const u64 u = address >> unit_bits;
        u32* const seen = last.at(address);
        ++references;
        if (LIKELY(*seen == now) && now != 0) {  // the same unit again
            ++near[0];
            return 1;
        }
        if (__builtin_expect(now == capacity, 0)) renumber();
        const u32 before = *seen;
        u32 result = ~u32{0};
        if (before != 0) {
            const u64 t = before - 1;
            const u64 distance = after(t);
            bits[t >> 6] &= ~(u64{1} << (t & 63));
            --block[t >> 9];
            add(t, ~u64{0});
            if (LIKELY(distance <= exact)) {
                ++near[distance];
            } else {
                count_far(distance);
            }
            result = distance < 0xFFFFFFF0u ? static_cast<u32>(distance) + 1 : 0xFFFFFFF0u;
        } else {
            ++first;
            ++live;
        }
        bits[now >> 6] |= u64{1} << (now & 63);
        ++block[now >> 9];
        add(now, 1);
        unit[now] = u;
        ++now;
        *seen = static_cast<u32>(now);
        return result;
    }
    COLD void count_far(u64 distance) {
        const int octave = 63 - __builtin_clzll(distance);
        u32 i = bounds.start[octave * 16 + static_cast<int>(distance >> (octave - 4) & 15)];
        while (bounds.first[i + 1] <= distance) ++i;
        ++far[i];
    }
};

Reuse<3> words;
Reuse<6> lines64;
Reuse<7> lines128;
u64* last_line64;  // by site
u64* last_line128;
// Two run times are made of this text: levels alone are counted three times as fast.
#ifdef OCCUPIPE_MATCH_LEVELS_ALONE
constexpr bool with_distances = false;
#else
constexpr bool with_distances = true;
#endif

// ---- report -------------------------------------------------------------------------------------

bool opened;
bool written;
u64* block_counts;
u32 block_total;
u32 loop_total;

void write_reuse(FILE* out, int unit, const u64* near, const u64* far, u64 first, u64 references) {
    fprintf(out, "reuse %d %llu %llu\n", unit, static_cast<unsigned long long>(references),
            static_cast<unsigned long long>(first));
    for (u64 i = 0; i <= exact; ++i)
        if (near[i] != 0)
            fprintf(out, "distance %llu %llu %llu\n", static_cast<unsigned long long>(i),
                    static_cast<unsigned long long>(i), static_cast<unsigned long long>(near[i]));
    for (u32 i = 0; i < bounds.count; ++i)
        if (far[i] != 0)
            fprintf(out, "distance %llu %llu %llu\n",
                    static_cast<unsigned long long>(bounds.first[i]),
                    static_cast<unsigned long long>(bounds.first[i + 1] - 1),
                    static_cast<unsigned long long>(far[i]));
}

// Beside the record, as they lie in memory: operations in double precision by level, from level 1
// on; in single precision; what they reached.
void write_levels(const char* path, u64 depth) {
    char name[4096];
    if (snprintf(name, sizeof name, "%s.levels", path) >= static_cast<int>(sizeof name)) return;
    FILE* const out = fopen(name, "w");
    if (out == nullptr) return;  // the reader misses it
    fwrite(widths.f64 + 1, sizeof(u64), depth, out);
    fwrite(widths.f32 + 1, sizeof(u64), depth, out);
    fwrite(widths.reach + 1, sizeof(u32), depth, out);
    fclose(out);
}

void write_report(const char* partial) {
    if (!opened || written) return;
    written = true;
    const char* const path = getenv("OCCUPIPE_MATCH_RECORD");
    FILE* const out = path != nullptr ? fopen(path, "w") : nullptr;
    if (out == nullptr) {
        fputs("occupipe match: the record of the run cannot be written\n", stderr);
        return;
    }
    using ull = unsigned long long;
    fprintf(out, "occupipe-match-record 1\n");
    if (partial != nullptr) fprintf(out, "partial %s\n", partial);
    fprintf(out, "calls %llu %llu\n", static_cast<ull>(calls), static_cast<ull>(calls_that_read));
    for (u32 i = 0; i < block_total; ++i)
        if (block_counts[i] != 0)
            fprintf(out, "block %u %llu\n", i, static_cast<ull>(block_counts[i]));
    for (u32 i = 0; i < loop_total; ++i) {
        fprintf(out, "loop %u %llu %llu\n", i, static_cast<ull>(loops[i].instances),
                static_cast<ull>(loops[i].iterations));
        for (u32 p = 0; p < loops[i].pairs; ++p)
            fprintf(out, "carries %u %u %u\n", i, loops[i].pair[p].load, loops[i].pair[p].store);
    }
    const u64 depth = widths.depth();
    fprintf(out, "depth %llu\n", static_cast<ull>(depth));
    write_levels(path, depth);
    if (with_distances) {
        write_reuse(out, 8, words.near, words.far, words.first, words.references);
        write_reuse(out, 64, lines64.near, lines64.far, lines64.first, lines64.references);
        write_reuse(out, 128, lines128.near, lines128.far, lines128.first, lines128.references);
    }
    fprintf(out, "end\n");
    fclose(out);
}

void at_exit() { write_report(nullptr); }

void at_signal(int signal) {
    write_report(signal == SIGINT || signal == SIGTERM ? "interrupted" : "the program crashed");
    ::signal(signal, SIG_DFL);
    raise(signal);
}

}  // namespace

extern "C" {

COLD void occupipe_match_open(u32 block_number, u32 site_number, u32 loop_number, u64* counts) {
    if (opened) return;
    opened = true;
    block_total = block_number;
    loop_total = loop_number;
    block_counts = counts;
    stores.open();
    loops = static_cast<LoopCount*>(reserve((loop_number + 1) * sizeof(LoopCount)));
    widths.open();
    if (with_distances) {
        open_bounds(getenv("OCCUPIPE_MATCH_CAPACITIES"));
        words.open();
        lines64.open();
        lines128.open();
        last_line64 = static_cast<u64*>(reserve((site_number + 1) * sizeof(u64)));
        last_line128 = static_cast<u64*>(reserve((site_number + 1) * sizeof(u64)));
    }
    atexit(at_exit);
    for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL})
        ::signal(signal, at_signal);
}

COLD void occupipe_match_begin() {
    ++calls;
    nested = 0;
    call_begin = ++clock_now;
    call_read = false;
}
COLD void occupipe_match_end() { calls_that_read += call_read ? 1 : 0; }

CALLED void occupipe_match_enter(u32 loop) {
    if (nested == most_depth) {
        fputs("occupipe match: loops are nested more than 64 deep\n", stderr);
        _exit(70);
    }
    ++clock_now;
    active[nested++] = {clock_now, clock_now, loop};
    ++loops[loop].instances;
}
CALLED void occupipe_match_iterate(u32 loop) {
    active[nested - 1].iteration = ++clock_now;
    ++loops[loop].iterations;
}
CALLED void occupipe_match_leave() { --nested; }

static HOT u32 reference(u64 address, u32 site) {
    if (!with_distances) return 0;
    const u32 distance = words.touch(address);
    if (last_line64[site] != (address >> 6) + 1) {
        last_line64[site] = (address >> 6) + 1;
        lines64.touch(address);
    }
    if (last_line128[site] != (address >> 7) + 1) {
        last_line128[site] = (address >> 7) + 1;
        lines128.touch(address);
    }
    return distance;
}

// Level of what is loaded, and above it the distance + 1 (0: nothing known).
CALLED u64 occupipe_match_load(const void* pointer, u32 bytes, u32 site) {
    const u64 address = reinterpret_cast<u64>(pointer);
    const u64 distance = reference(address, site);
    const Store* const store = stores.at(address);
    u32 level = store->level;
    if (store->time != 0 && store->time < active[nested ? nested - 1 : 0].iteration)
        look_for_loop(store->time, site, store->site);
    else if (nested == 0 && store->time != 0)
        look_for_loop(store->time, site, store->site);
    for (u32 more = 4; more < bytes; more += 4) {
        const Store* const next = stores.at(address + more);
        if (next->level > level) level = next->level;
    }
    return distance << 32 | level;
}

CALLED void occupipe_match_store(const void* pointer, u32 bytes, u32 level, u32 site) {
    const u64 address = reinterpret_cast<u64>(pointer);
    reference(address, site);
    for (u32 at = 0; at < bytes; at += 4) {
        Store* const store = stores.at(address + at);
        // Of bytes that share a granule, the deepest counts.
        *store = {clock_now, bytes < 4 && store->level > level ? store->level : level, site};
    }
}

COLD void occupipe_match_copy(void* to, const void* from, u64 bytes, u32 site) {
    for (u64 at = 0; at < bytes; at += 8) {
        const u32 part = bytes - at < 8 ? static_cast<u32>(bytes - at) : 8;
        const u64 loaded = occupipe_match_load(static_cast<const char*>(from) + at, part, site);
        occupipe_match_store(static_cast<char*>(to) + at, part, static_cast<u32>(loaded), site);
    }
}
COLD void occupipe_match_fill(void* to, u64 bytes, u32 site) {
    for (u64 at = 0; at < bytes; at += 8)
        occupipe_match_store(static_cast<char*>(to) + at,
                             bytes - at < 8 ? static_cast<u32>(bytes - at) : 8, 0, site);
}

CALLED void occupipe_match_f64(u32 level, u32 reach) {
    ++widths.f64[level];
    if (with_distances && reach > widths.reach[level]) widths.reach[level] = reach;
}
CALLED void occupipe_match_f32(u32 level, u32 reach) {
    ++widths.f32[level];
    if (with_distances && reach > widths.reach[level]) widths.reach[level] = reach;
}

}  // extern "C"
