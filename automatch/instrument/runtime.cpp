// SPDX-License-Identifier: MIT
// What an instrumented program calls (instrument.cpp puts the calls). Compiled to bitcode and
// inlined into the program; it has nothing of the standard library's that needs a constructor, and
// its report is written by atexit(), or when a signal ends the program.
//
// A granule of memory (4 bytes, or 8 where nothing smaller is stored) has a shadow of 16: when it
// was stored and by which instruction, and at which level of either schedule; so has each byte of
// one that was stored in parts. Words of 8 bytes and lines of 64 and 128 have a shadow of 4: when
// they were last referenced (reuse.h).
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "memory.h"

// Two run times are made of this text: levels alone are counted several times as fast.
#ifdef OCCUPIPE_MATCH_LEVELS_ALONE
constexpr bool with_distances = false;
#else
constexpr bool with_distances = true;
#endif

// Defined by the pass, which knows them; what is off is not in the program.
extern "C" {
extern const u32 occupipe_match_granule_bits;  // 2 or 3
extern const u32 occupipe_match_parts;         // something smaller may be stored or loaded
extern const u32 occupipe_match_trees;         // there are reductions
extern const u32 occupipe_match_memory_sums;   // some of them into memory
extern const u32 occupipe_match_order_memory;  // a store waits for what lay there
extern const u32 occupipe_match_stretches;     // loads are looked at together (below)
// Sums, maxima and the like into memory: how many, which one an access by a site is of (from 1 on;
// 0: none), and what it does, by sum.
extern const u32 occupipe_match_sum_total;
extern const u32 occupipe_match_sum_of[];
extern const u32 occupipe_match_sum_kind[];
}

#include "patterns.h"
#include "reuse.h"
#include "tree.h"

namespace {

// ---- stores -------------------------------------------------------------------------------------

constexpr int site_bits = 24;
constexpr u64 tick = u64{1} << site_bits;
constexpr u32 of_a_sum = 1U << 23;  // the highest of them: the instruction is a sum's

struct Store {
    u64 when;  // time, and the instruction in its lowest bits; 0: never
    u32 level;
    u32 tree;  // level where reductions are trees
};
// In place of a level: the reduction that lies there is not finished.
constexpr u32 unfinished = ~u32{0};

Shadow<Store, 0> stores;
Shadow<Tree, 1> memory_trees;

// Where stretches are looked at, the shadow of an address follows from it: programs (from 0x0 or
// 0x55… on), what they take from the system and their stacks (up to 0x7fff…) lie in parts of 8 TiB
// that do not overlap when their highest bits are left out.
constexpr int window_bits = 43;
constexpr u64 window_place = 0x3000'0000'0000;

HOT Store* store_at(u64 address) {
    if (occupipe_match_stretches)
        return reinterpret_cast<Store*>(window_place + ((address & ((u64{1} << window_bits) - 1)) >>
                                                        occupipe_match_granule_bits << 4));
    return stores.at(address, static_cast<int>(occupipe_match_granule_bits));
}

// ---- loops --------------------------------------------------------------------------------------

constexpr u32 most_depth = 64;  // the pass refuses more

struct Active {
    u64 begin;
    u64 iteration;
    u64 loop;
};
struct LoopCount {
    u64 instances;
    u64 iterations;
    u32 carries;  // what makes it sequential: a load of what another iteration stored
    u32 load;
    u32 store;
};
// What is known of loads by one instruction of what another stored at times from `low` on, as long
// as *begin has not changed: nothing new.
struct Known {
    u64 low;
    u64 span;
    const u64* begin;
    u64 begun;
    u64 store;
    u64 stays;  // what is found now holds for the innermost loop's whole instance
};
Active active[most_depth];
u64 clock_now = tick;
LoopCount* loops;
Known* known;  // by load
u64 calls;
u64 calls_that_read;  // what an earlier call stored
u64 call_begin;
bool call_read;
constexpr u64 most_timed = 4096;
timespec entered;
u64 nanoseconds;
u64 synchronisations;  // annotated

// Where stretches are looked at, a store's time is when the innermost loop around it was entered,
// so that all of them within say the same; what an instruction stored last tells whether that was
// in this iteration.
struct LastStore {
    u64 from;
    u64 to;
    u64 iteration;
};
LastStore* last_stores;  // by site
// What a load found last, by site: as the shadow has it, or with a time that nothing has.
using Found = u64 __attribute__((vector_size(16)));
constexpr u64 no_time = ~u64{0};
Found* found_last;

// Of sums into memory (from 1 on). A loop that goes on with a sum of an earlier iteration folds it;
// one within whose iterations something else reads it does more than that. Sums that go on with
// each other's (f[i] += x; f[j] -= x;) are linked.
u32* folded;    // by loop and sum
u32* read_sum;  // the same: the load + 1
std::uint8_t* linked;

HOT u64 of_sum(u64 row, u32 sum) { return row * (occupipe_match_sum_total + 1) + sum; }
// Whether the load goes on with the sum that was stored; 0 as a sum is none.
HOT bool goes_on(u32 own, u32 sum) {
    if (own == 0 || occupipe_match_sum_kind[own] != occupipe_match_sum_kind[sum]) return false;
    if (own != sum) linked[of_sum(own, sum)] = 1;
    return true;
}
HOT u32 sum_stored(u64 when) {
    if (occupipe_match_sum_total == 0 || (when & of_a_sum) == 0) return 0;
    return occupipe_match_sum_of[when & (of_a_sum - 1)];
}
// Stored in the present iterations of the outermost `depth` loops.
HOT void read_within(u64 when, u32 load, u32 depth) {
    const u32 sum = sum_stored(when);
    if (sum == 0 || goes_on(occupipe_match_sum_of[load], sum) || depth == 0) return;
    read_sum[of_sum(active[depth - 1].loop, sum)] = load + 1;
}

COLD void carried(u64 loop_number, u32 load, u32 store) {
    const u32 sum = sum_stored(store);
    if (sum != 0 && goes_on(occupipe_match_sum_of[load], sum)) {
        folded[of_sum(loop_number, sum)] = 1;
        return;
    }
    LoopCount& loop = loops[loop_number];
    if (loop.carries == 0) {
        loop.carries = 1;
        loop.load = load;
        loop.store = store & (of_a_sum - 1);
    }
}

// The innermost loop whose present instance had begun when it was stored carries it, if that was
// in an earlier iteration.
COLD void look_for_loop(u64 when, u32 load, u32 depth) {
    const u32 store = static_cast<u32>(when & (tick - 1));
    Known& now = known[load];
    for (u32 i = depth; i-- > 0;) {
        if (when < active[i].begin) continue;
        if (when < active[i].iteration) {
            carried(active[i].loop, load, store);
            read_within(when, load, i);
            now = {active[i].begin,
                   active[i].iteration - active[i].begin,
                   &active[i].begin,
                   active[i].begin,
                   store,
                   false};
        } else {
            read_within(when, load, i + 1);
            now = {active[i].iteration,
                   active[i + 1].begin - active[i].iteration,
                   &active[i + 1].begin,
                   active[i + 1].begin,
                   store,
                   false};
        }
        return;
    }
    if (when < call_begin) {
        call_read = true;
        now = {0, call_begin, &call_begin, call_begin, store, false};
    } else if (depth > 0) {
        now = {call_begin, active[0].begin - call_begin, &active[0].begin, active[0].begin, store,
               false};
    }
}

// The same where stretches are looked at. Whether it is the same for as long as the innermost loop
// around the load is not left.
COLD bool look_for_loop_of(u64 when, u64 address, u32 load, u32 depth) {
    if (when == 0) return true;
    const u32 store = static_cast<u32>(when & (tick - 1));
    const u64 time = when - store;
    Known& now = known[load];
    for (u32 i = depth; i-- > 0;) {
        if (time < active[i].begin) continue;
        const bool stays = i + 1 < depth;
        if (time == active[i].begin) {  // the innermost loop around the store
            const LastStore& last = last_stores[store & (of_a_sum - 1)];
            const bool earlier = last.iteration != loops[active[i].loop].iterations ||
                                 address < last.from || address >= last.to;
            if (earlier) carried(active[i].loop, load, store);
            read_within(when, load, earlier ? i : i + 1);
            // Not of other places that the same instruction stored, in earlier iterations.
            if (!earlier) return false;
        } else if (time < active[i].iteration) {
            carried(active[i].loop, load, store);
            read_within(when, load, i);
            now = {active[i].begin + tick,
                   active[i].iteration - active[i].begin - tick,
                   &active[i].begin,
                   active[i].begin,
                   store,
                   stays};
        } else {
            read_within(when, load, i + 1);
            if (!stays) return false;
            now = {active[i].iteration,
                   active[i + 1].begin - active[i].iteration,
                   &active[i + 1].begin,
                   active[i + 1].begin,
                   store,
                   true};
        }
        return stays;
    }
    if (time < call_begin) {
        call_read = true;
        now = {0, call_begin, &call_begin, call_begin, store, true};
        return true;
    }
    if (depth > 0)
        now = {call_begin, active[0].begin - call_begin, &active[0].begin, active[0].begin, store,
               true};
    return depth > 0;
}

HOT void loaded(u64 when, u32 load, u32 depth) {
    if (when == 0) return;
    if (when >= (depth == 0 ? call_begin : active[depth - 1].iteration))
        return read_within(when, load, depth);
    const Known& now = known[load];
    if (LIKELY(when - now.low < now.span && (when & (tick - 1)) == now.store &&
               *now.begin == now.begun))
        return;
    look_for_loop(when, load, depth);
}

// ---- references ---------------------------------------------------------------------------------

Reuse<3, 3> words;
Reuse<6, 4> lines64;
Reuse<7, 5> lines128;
struct LastLines {
    u64 of64;
    u64 of128;
};
LastLines* last_lines;  // by site
u32 loaded_distance;

HOT u32 reference(u64 address, u32 site) {
    if (!with_distances) return 0;
    const u32 distance = words.touch(address);
    LastLines& last = last_lines[site];
    if (last.of64 != (address >> 6) + 1) {
        last.of64 = (address >> 6) + 1;
        lines64.touch(address);
        if (last.of128 != (address >> 7) + 1) {
            last.of128 = (address >> 7) + 1;
            lines128.touch(address);
        }
    }
    return distance;
}

// ---- reductions ---------------------------------------------------------------------------------

Tree* trees;  // of scalars, by number
u32 tree_total;
u64* memory_tree_list;  // addresses that ever had one
u64 memory_tree_total;
constexpr u64 most_memory_trees = u64{1} << 36;

HOT Tree* memory_tree_at(u64 address) {
    return memory_trees.at(address, static_cast<int>(occupipe_match_granule_bits));
}
HOT u64 granule_of(u64 address) {
    return address >> occupipe_match_granule_bits << occupipe_match_granule_bits;
}
COLD void finish_at(u64 address, Store* store) { store->tree = memory_tree_at(address)->finish(); }

// ---- parts of granules --------------------------------------------------------------------------

// In place of the time of a granule: its bytes have shadows of their own.
constexpr u64 in_parts = ~u64{1};
Shadow<Store, 6> byte_stores;

COLD void divide(u64 granule, Store* whole) {
    if (whole->tree == unfinished) finish_at(granule, whole);
    for (u64 at = granule; at < granule + (1U << occupipe_match_granule_bits); ++at)
        *byte_stores.at(at, 0) = *whole;
    whole->when = in_parts;
}
COLD void unite(u64 granule, Store* whole) {
    *whole = {0, 0, 0};
    for (u64 at = granule; at < granule + (1U << occupipe_match_granule_bits); ++at) {
        const Store& part = *byte_stores.at(at, 0);
        if (part.when > whole->when) whole->when = part.when;
        if (part.level > whole->level) whole->level = part.level;
        if (part.tree > whole->tree) whole->tree = part.tree;
    }
}
// Of a sum, that is stored whole.
HOT Store* whole_at(u64 address) {
    Store* const whole = store_at(address);
    if (occupipe_match_parts && whole->when == in_parts) unite(granule_of(address), whole);
    return whole;
}
// The shadows of what is loaded or stored, each with the address where it begins.
enum class Access { load, store };
template <Access access, class Visit>
HOT void each_shadow(u64 address, u32 bytes, const Visit& visit) {
    const u32 granule = 1U << occupipe_match_granule_bits;
    if (!occupipe_match_parts) {
        for (u32 at = 0; at < bytes; at += granule) visit(store_at(address + at), address + at);
        return;
    }
    for (u64 at = address; at < address + bytes;) {
        const u64 begin = granule_of(at);
        const u64 end = begin + granule < address + bytes ? begin + granule : address + bytes;
        Store* const whole = store_at(at);
        const bool all = end - at == granule;
        if (access == Access::store && all && whole->when == in_parts) unite(begin, whole);
        if (access == Access::store ? all : whole->when != in_parts) {
            visit(whole, begin);
        } else {
            if (whole->when != in_parts) divide(begin, whole);
            for (; at < end; ++at) visit(byte_stores.at(at, 0), at);
        }
        at = end;
    }
}

// ---- report -------------------------------------------------------------------------------------

bool opened;
bool written;
char record_path[4096];  // kept, since a program that crashes may have written over its environment
bool inside;             // of the kernel
u64* block_counts;
u32 block_total;
u32 loop_total;

void write_reuse(Output& out, u32 unit, const Distances& counted) {
    out.line("reuse %llu %llu %llu", unit, counted.references, counted.first);
    for (u64 i = 0; i <= exact; ++i)
        if (counted.near[i] != 0) out.line("distance %llu %llu %llu", i, i, counted.near[i]);
    for (u32 i = 0; i < bounds.count; ++i)
        if (counted.far[i] != 0)
            out.line("distance %llu %llu %llu", bounds.first[i], bounds.first[i + 1] - 1,
                     counted.far[i]);
}

// Nothing here takes memory: a signal may have come in the midst of malloc().
void write_report(const char* partial) {
    if (!opened || written) return;
    written = true;
    const char* const path = record_path;
    static Output out;
    if (*path == 0 || !out.open(path)) {
        complain("the record of the run cannot be written");
        return;
    }
    spread_all();
    out.line("occupipe-match-record 1");
    if (partial != nullptr) out.text("partial ", partial);
    out.line("calls %llu %llu", calls, calls_that_read);
    if (calls <= most_timed && !inside) out.line("nanoseconds %llu", nanoseconds);
    out.line("synchronisations %llu", synchronisations);
    for (u32 i = 0; i < block_total; ++i)
        if (block_counts[i] != 0) out.line("block %llu %llu", i, block_counts[i]);
    for (u32 i = 0; i < loop_total; ++i) {
        out.line("loop %llu %llu %llu", i, loops[i].instances, loops[i].iterations);
        if (loops[i].carries != 0)
            out.line("carries %llu %llu %llu", i, loops[i].load, loops[i].store);
        for (u32 sum = 1; sum <= occupipe_match_sum_total; ++sum) {
            if (folded[of_sum(i, sum)] != 0) out.line("folds %llu %llu", i, sum);
            if (const u32 load = read_sum[of_sum(i, sum)]; load != 0)
                out.line("reads %llu %llu %llu", i, sum, load - 1);
        }
    }
    for (u32 one = 1; one <= occupipe_match_sum_total; ++one)
        for (u32 other = 1; other <= occupipe_match_sum_total; ++other)
            if (linked[of_sum(one, other)] != 0) out.line("linked %llu %llu", one, other);
    // What was not finished, or is not needed, has operations, too.
    for (u32 i = 0; i < tree_total; ++i) trees[i].finish();
    for (u64 i = 0; i < memory_tree_total; ++i) memory_tree_at(memory_tree_list[i])->finish();
    const u64 depth = as_written.depth();
    const u64 tree_depth = occupipe_match_trees ? with_trees.depth() : 0;
    out.line("depth %llu", depth);
    if (occupipe_match_trees) out.line("trees %llu", tree_depth);
    if (with_distances) {
        write_reuse(out, 8, words.counted);
        write_reuse(out, 64, lines64.counted);
        write_reuse(out, 128, lines128.counted);
    }
    out.line("end");
    out.close();
    // Beside it, as they lie in memory; the reader misses the file if it cannot be written.
    char name[4096];
    if (snprintf(name, sizeof name, "%s.levels", path) >= static_cast<int>(sizeof name)) return;
    if (!out.open(name)) return;
    as_written.write(out);
    if (occupipe_match_trees) with_trees.write(out);
    out.close();
}

void at_exit() { write_report(nullptr); }

int ended_by;  // a signal that asks for an end: heeded where all counts agree

COLD void end_now() {
    write_report("interrupted");
    ::signal(ended_by, SIG_DFL);
    raise(ended_by);
}

void at_signal(int signal) {
    if ((signal == SIGINT || signal == SIGTERM) && inside && ended_by == 0) {
        ended_by = signal;
        return;
    }
    write_report(signal == SIGINT || signal == SIGTERM ? "interrupted" : "the program crashed");
    ::signal(signal, SIG_DFL);
    raise(signal);
}

// Once a second: what has been done so far, for whoever waits.
void* tell_progress(void* name) {
    const int file = open(static_cast<const char*>(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (;;) {
        const timespec second = {1, 0};
        nanosleep(&second, nullptr);
        char text[64];
        u64 iterations = 0;
        for (u32 i = 0; i < loop_total; ++i) iterations += loops[i].iterations;
        const int length = snprintf(text, sizeof text, "%20llu %20llu\n",
                                    static_cast<unsigned long long>(iterations),
                                    static_cast<unsigned long long>(words.counted.references));
        if (file < 0 || pwrite(file, text, static_cast<size_t>(length), 0) != length)
            return nullptr;
    }
}

void start_progress() {
    char* const name = getenv("OCCUPIPE_MATCH_PROGRESS");
    if (name == nullptr || *name == 0) return;
    // Signals are for the program.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, nullptr, tell_progress, name) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

extern "C" {

COLD void occupipe_match_open(u32 block_number, u32 site_number, u32 loop_number, u32 tree_number,
                              u64* counts, Found* found, LastStore* last, u64* patterns,
                              u64 words_of_patterns) {
    if (opened) return;
    opened = true;
    const char* const path = getenv("OCCUPIPE_MATCH_RECORD");
    if (path != nullptr && strlen(path) < sizeof record_path) strcpy(record_path, path);
    block_total = block_number;
    loop_total = loop_number;
    block_counts = counts;
    found_last = found;
    last_stores = last;
    pattern_words = patterns;
    pattern_total = words_of_patterns;
    if (occupipe_match_stretches)
        reserve_dense(u64{16} << (window_bits - occupipe_match_granule_bits), window_place);
    else
        stores.open();
    if (occupipe_match_parts) byte_stores.open();
    as_written.open();
    loops = static_cast<LoopCount*>(reserve((loop_number + 1) * sizeof(LoopCount)));
    known = static_cast<Known*>(reserve((site_number + 1) * sizeof(Known)));
    const u64 sums = occupipe_match_sum_total + 1;
    folded = static_cast<u32*>(reserve((loop_number + 1) * sums * sizeof(u32)));
    read_sum = static_cast<u32*>(reserve((loop_number + 1) * sums * sizeof(u32)));
    linked = static_cast<std::uint8_t*>(reserve(sums * sums));
    if (occupipe_match_trees) {
        with_trees.open();
        tree_total = tree_number;
        trees = static_cast<Tree*>(reserve((tree_number + 1) * sizeof(Tree)));
    }
    if (occupipe_match_memory_sums) {
        memory_trees.open();
        memory_tree_list = static_cast<u64*>(reserve(most_memory_trees * sizeof(u64)));
    }
    if (with_distances) {
        open_bounds(getenv("OCCUPIPE_MATCH_CAPACITIES"));
        words.open();
        lines64.open();
        lines128.open();
        last_lines = static_cast<LastLines*>(reserve((site_number + 1) * sizeof(LastLines)));
    }
    atexit(at_exit);
    // A stack of its own, for a program that has used up the other.
    constexpr size_t stack_bytes = size_t{1} << 16;
    const stack_t stack = {.ss_sp = reserve(stack_bytes), .ss_flags = 0, .ss_size = stack_bytes};
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_handler = at_signal;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGFPE, SIGABRT, SIGBUS, SIGILL})
        sigaction(signal, &action, nullptr);
    start_progress();
}

// Processor time in the kernel, with all that is counted; of few calls, since asking takes time.
COLD void occupipe_match_begin() {
    ++calls;
    if (calls <= most_timed) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &entered);
    call_begin = clock_now += tick;
    call_read = false;
    inside = true;
}
COLD void occupipe_match_end() {
    timespec left = {};
    if (calls <= most_timed) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &left);
    if (calls <= most_timed)
        nanoseconds += static_cast<u64>((left.tv_sec - entered.tv_sec) * 1'000'000'000 +
                                        (left.tv_nsec - entered.tv_nsec));
    entered = left;
    calls_that_read += call_read ? 1 : 0;
    inside = false;
    if (ended_by != 0) end_now();
}

CALLED void occupipe_match_sync() { ++synchronisations; }

CALLED void occupipe_match_enter(u32 loop, u32 depth) {
    clock_now += tick;
    active[depth] = {clock_now, clock_now, loop};
    ++loops[loop].instances;
}
CALLED void occupipe_match_iterate(u32 loop, u32 depth, u32 innermost) {
    if (!occupipe_match_stretches || !innermost) active[depth].iteration = clock_now += tick;
    if (__builtin_expect(*const_cast<const volatile int*>(&ended_by) != 0, 0)) end_now();
    ++loops[loop].iterations;
}

// Level of what is loaded, and above it the level where reductions are trees.
CALLED u64 occupipe_match_load(const void* pointer, u32 bytes, u32 site, u32 depth) {
    const u64 address = reinterpret_cast<u64>(pointer);
    loaded_distance = reference(address, site);
    u32 level = 0;
    u32 tree = 0;
    u64 last = 0;
    each_shadow<Access::load>(address, bytes, [&](Store* store, u64 at) {
        if (store->when != last) loaded(last = store->when, site, depth);
        if (store->level > level) level = store->level;
        if (!occupipe_match_trees) return;
        if (occupipe_match_memory_sums && __builtin_expect(store->tree == unfinished, 0))
            finish_at(at, store);
        if (store->tree > tree) tree = store->tree;
    });
    return u64{tree} << 32 | level;
}

// By one iteration for the next: carried if it was stored within the loop, be it in this one.
CALLED void occupipe_match_load_ahead(const void* pointer, u32 bytes, u32 site, u32 depth) {
    const Active& loop = active[depth - 1];
    each_shadow<Access::load>(reinterpret_cast<u64>(pointer), bytes, [&](Store* store, u64) {
        if (store->when >= loop.begin)
            carried(loop.loop, site, static_cast<u32>(store->when & (tick - 1)));
    });
}

// Whether memory says what the instruction found last.
CALLED Found occupipe_match_differs(const void* pointer, u32 bytes, const Found* found) {
    const u64 address = reinterpret_cast<u64>(pointer);
    const u32 granule = 1U << occupipe_match_granule_bits;
    Found all = {0, 0};
    for (u64 at = occupipe_match_parts ? granule_of(address) : address; at < address + bytes;
         at += granule)
        all |= *reinterpret_cast<const Found*>(store_at(at)) ^ *found;
    return all;
}
__attribute__((noinline)) static u32 look_closely(const void* pointer, u32 bytes, u32 site,
                                                  u32 depth, u32 sum) {
    const u64 address = reinterpret_cast<u64>(pointer);
    const u64 window = address >> window_bits;
    if (window != 0 && window != 10 && window != 15)
        give_up("the program's memory lies where its record cannot be");
    u32 level = 0;
    u32 tree = 0;
    bool stays = true;
    u64 last = no_time;
    u64 last_levels = 0;
    each_shadow<Access::load>(address, bytes, [&](Store* store, u64 at) {
        if (!sum && occupipe_match_memory_sums && store->tree == unfinished) finish_at(at, store);
        if (!look_for_loop_of(store->when, at, site, depth)) stays = false;
        const u64 levels = u64{store->tree} << 32 | store->level;
        if (last != no_time && (store->when != last || levels != last_levels)) stays = false;
        last = store->when;
        last_levels = levels;
        if (store->level > level) level = store->level;
        if (store->tree > tree) tree = store->tree;
    });
    const u64 levels = (sum ? last_levels >> 32 << 32 : u64{tree} << 32) | level;
    const u64 before = found_last[site][1];
    found_last[site] = Found{stays && levels == last_levels ? last : no_time, levels};
    return before != levels;
}
// Not: 1 where its levels are others than before.
CALLED u32 occupipe_match_look(const void* pointer, u32 bytes, u32 site, u32 depth, u32 sum) {
    const u64 address = reinterpret_cast<u64>(pointer);
    if (address + bytes <= granule_of(address) + (1U << occupipe_match_granule_bits)) {
        const Store& store = *store_at(address);
        const Known& now = known[site];
        if (LIKELY(store.when - now.low < now.span && (store.when & (tick - 1)) == now.store &&
                   *now.begin == now.begun &&
                   (sum || !occupipe_match_memory_sums || store.tree != unfinished))) {
            const u64 levels = u64{store.tree} << 32 | store.level;
            const u64 before = found_last[site][1];
            found_last[site] = Found{now.stays ? store.when : no_time, levels};
            return before != levels;
        }
    }
    return look_closely(pointer, bytes, site, depth, sum);
}
// What lies between loads, and is counted as one as long as it stays the same.
COLD void occupipe_match_spread(u64* pattern) { spread(pattern); }

// The same of a load that only goes into a sum that is stored where it was loaded from.
CALLED u64 occupipe_match_load_sum(const void* pointer, u32 site, u32 depth) {
    const u64 address = reinterpret_cast<u64>(pointer);
    loaded_distance = reference(address, site);
    const Store* const store = whole_at(address);
    loaded(store->when, site, depth);
    return store->level;
}
// Of the last load: the distance + 1; 0: nothing known.
CALLED u32 occupipe_match_loaded_distance() { return with_distances ? loaded_distance : 0; }

CALLED void occupipe_match_store(const void* pointer, u32 bytes, u32 level, u32 tree, u32 site) {
    const u64 address = reinterpret_cast<u64>(pointer);
    reference(address, site & (of_a_sum - 1));
    each_shadow<Access::store>(address, bytes, [&](Store* store, u64 at) {
        if (occupipe_match_memory_sums && __builtin_expect(store->tree == unfinished, 0))
            finish_at(at, store);
        u32 mine = level;
        if (occupipe_match_order_memory && store->when != 0 && store->level >= mine)
            mine = store->level + 1;
        *store = {clock_now | site, mine, tree};
    });
}

CALLED void occupipe_match_store_sum(const void* pointer, u32 level, u32 site) {
    const u64 address = reinterpret_cast<u64>(pointer);
    reference(address, site & (of_a_sum - 1));
    Store* const store = whole_at(address);
    u32 mine = level;
    if (occupipe_match_order_memory && store->when != 0 && store->level >= mine)
        mine = store->level + 1;
    *store = {clock_now | site, mine, unfinished};
}

// Of the innermost loop around it: its depth, from 1 on, and number; depth 0: of the call.
CALLED void occupipe_match_put(const void* pointer, u32 bytes, u32 level, u32 tree, u32 site,
                               u32 depth, u32 loop, u32 sum) {
    const u64 address = reinterpret_cast<u64>(pointer);
    const u64 when = (depth == 0 ? call_begin : active[depth - 1].begin) | site;
    each_shadow<Access::store>(address, bytes, [&](Store* store, u64 at) {
        if (!sum && occupipe_match_memory_sums && __builtin_expect(store->tree == unfinished, 0))
            finish_at(at, store);
        *reinterpret_cast<Found*>(store) = Found{when, u64{tree} << 32 | level};
    });
    last_stores[site & (of_a_sum - 1)] = {address, address + bytes,
                                          depth == 0 ? 0 : loops[loop].iterations};
}
// Where the words of a copy are taken up, one after the other: as memmove has to, backwards where
// the target overlaps what is still to be read.
static inline u64 word_of_copy(const void* to, const void* from, u64 bytes, u64 done) {
    const u64 target = reinterpret_cast<u64>(to), source = reinterpret_cast<u64>(from);
    const bool backwards = source < target && target < source + bytes;
    return backwards ? (bytes - 1 & ~u64{7}) - done : done;
}

COLD void occupipe_match_put_copy(void* to, const void* from, u64 bytes, u32 site, u32 depth,
                                  u32 loop) {
    u64 begin = ~u64{0};  // of what was put so far, from either end on
    u64 end = 0;
    for (u64 done = 0; done < bytes; done += 8) {
        const u64 at = word_of_copy(to, from, bytes, done);
        const u32 part = bytes - at < 8 ? static_cast<u32>(bytes - at) : 8;
        occupipe_match_look(static_cast<const char*>(from) + at, part, site, depth, 0);
        const u64 levels = found_last[site][1];
        occupipe_match_put(static_cast<char*>(to) + at, part, static_cast<u32>(levels),
                           static_cast<u32>(levels >> 32), site, depth, loop, 0);
        LastStore& last = last_stores[site];
        last.from = begin = begin < last.from ? begin : last.from;
        last.to = end = end > last.to ? end : last.to;
    }
}
COLD void occupipe_match_put_fill(void* to, u64 bytes, u32 site, u32 depth, u32 loop) {
    for (u64 at = 0; at < bytes; at += 8)
        occupipe_match_put(static_cast<char*>(to) + at,
                           bytes - at < 8 ? static_cast<u32>(bytes - at) : 8, 0, 0, site, depth,
                           loop, 0);
    last_stores[site].from = reinterpret_cast<u64>(to);
}

COLD void occupipe_match_copy(void* to, const void* from, u64 bytes, u32 site, u32 depth) {
    for (u64 done = 0; done < bytes; done += 8) {
        const u64 at = word_of_copy(to, from, bytes, done);
        const u32 part = bytes - at < 8 ? static_cast<u32>(bytes - at) : 8;
        const u64 loaded =
            occupipe_match_load(static_cast<const char*>(from) + at, part, site, depth);
        occupipe_match_store(static_cast<char*>(to) + at, part, static_cast<u32>(loaded),
                             static_cast<u32>(loaded >> 32), site);
    }
}
COLD void occupipe_match_fill(void* to, u64 bytes, u32 site) {
    for (u64 at = 0; at < bytes; at += 8)
        occupipe_match_store(static_cast<char*>(to) + at,
                             bytes - at < 8 ? static_cast<u32>(bytes - at) : 8, 0, 0, site);
}

// An operation, as written and where reductions are trees; reach: of what was loaded for it.
CALLED void occupipe_match_operation(u32 level, u32 tree, u32 reach, u32 single) {
    as_written.count(level, reach, single, with_distances);
    if (occupipe_match_order_memory && level > top_level) top_level = level;
    if (occupipe_match_trees) with_trees.count(tree, reach, single, with_distances);
}
// Of a reduction: in the other schedule it waits for a partner.
CALLED void occupipe_match_operation_of_sum(u32 level, u32 reach, u32 single) {
    as_written.count(level, reach, single, with_distances);
    if (occupipe_match_order_memory && level > top_level) top_level = level;
}

CALLED void occupipe_match_tree_begin(u32 number, u32 tree, u32 neutral, u32 single) {
    trees[number].begin(tree, neutral != 0, single);
}
CALLED void occupipe_match_tree_add(u32 number, u32 tree, u32 reach) {
    trees[number].add(tree, reach, with_distances);
}
CALLED u32 occupipe_match_tree_end(u32 number) { return trees[number].finish(); }

CALLED void occupipe_match_memory_add(const void* pointer, u32 kind, u32 tree, u32 reach,
                                      u32 single) {
    const u64 address = granule_of(reinterpret_cast<u64>(pointer));
    Store* const store = whole_at(address);
    Tree* const sum = memory_tree_at(address);
    if (store->tree != unfinished || sum->kind != kind) {
        if (store->tree == unfinished) finish_at(address, store);
        if (!sum->listed && memory_tree_total < most_memory_trees) {
            sum->listed = 1;
            memory_tree_list[memory_tree_total++] = address;
        }
        sum->kind = static_cast<std::uint8_t>(kind);
        sum->begin(store->tree, false, single);
        store->tree = unfinished;
    }
    sum->add(tree, reach, with_distances);
}

}  // extern "C"
