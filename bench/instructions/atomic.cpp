// SPDX-License-Identifier: MIT
// Atomic operations. atom: chained through the value that was there before, which is the next one's
// operand. red: without that value; nothing waits.
#include "bench/instructions/catalogue.h"
#include "bench/instructions/reasons.h"

namespace occupipe::bench {
namespace {

using enum DataType;

constexpr std::string_view own_shared_word =
    "SHARED_RING(1024, 1); volatile __local uint* word = shared + get_local_id(0)";
constexpr std::string_view accumulator_moves =
    "moves to and from the register that the instruction compares with";
constexpr std::string_view retry_loop =
    "x86-64 has no such atomic operation that returns the old value: a load, the operation and a "
    "compare-and-exchange in a loop of its own, once around where nobody else writes";

// clang-format off
constexpr CatalogueRow rows[] = {
    {.id = "atom.shared.cluster.add.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in the shared memory of another core's group, each lane its own "
                "word",
     .most_chains = 4, .lanes_matter = true,
     .cuda = {.ptx = "atom.add.u32 %0, [%1], %0;", .step = "ATOM_CLUSTER(ptx, $)",
              .sass = "ATOM", .since = 90, .state = "ClusterWord<1, 1>",
              .setup = "CLUSTER_MEMORY()", .shared_bytes = 16384, .cluster = 2},
     .opencl = {.none = no_clusters}},
    {.id = "atom.shared.cluster.add.u32.own", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in the group's own shared memory by its address in the cluster, "
                "each lane its own word",
     .most_chains = 4, .lanes_matter = true,
     .cuda = {.ptx = "atom.add.u32 %0, [%1], %0;", .step = "ATOM_CLUSTER(ptx, $)",
              .sass = "ATOM", .since = 90, .state = "ClusterWord<0, 1>",
              .setup = "CLUSTER_MEMORY()", .shared_bytes = 16384, .cluster = 2},
     .opencl = {.none = no_clusters}},
    {.id = "red.shared.cluster.add.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in the shared memory of another core's group, old value unwanted",
     .order = Order::none, .most_chains = 1, .lanes_matter = true,
     .cuda = {.ptx = "red.add.u32 [%0], %1;", .step = "RED_CLUSTER(ptx, $)", .sass = "ATOM|RED",
              .since = 90, .state = "ClusterWord<1, 1>", .setup = "CLUSTER_MEMORY()",
              .shared_bytes = 16384, .cluster = 2},
     .opencl = {.none = no_clusters}},
    {.id = "atom.shared.add.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in shared memory, each lane its own word",
     .cuda = {.ptx = "atom.shared.add.u32 %0, [%1], %0;", .step = "ATOM_SHARED_OWN(ptx, $)",
              .sass = "ATOMS", .shared_bytes = 4096},
     .opencl = {.step = "$ = atomic_add(word, $)", .setup = own_shared_word,
                .x86 = "lock xadd.*", .operands = Operands{0, 0, 7},
                .meaning = "atomic addition in shared (OpenCL local) memory, each work-item to a "
                           "word of its own, old value returned"}},
    {.id = "atom.shared.add.u32.same", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in shared memory, all lanes of a group one word",
     .lanes_matter = true,
     .cuda = {.ptx = "atom.shared.add.u32 %0, [%1], %0;", .step = "ATOM_SHARED_SAME(ptx, $, a)",
              .sass = "ATOMS", .shared_bytes = 4096},
     .opencl = {.step = "$ = atomic_add(word, $)",
                .setup = "SHARED_RING(1024, 1); volatile __local uint* word = shared",
                .x86 = "lock xadd.*", .operands = Operands{0, 0, 7},
                .meaning = "atomic addition in shared (OpenCL local) memory, all work-items of a "
                           "group to one word, old value returned"}},
    {.id = "atom.shared.exch.b32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic exchange in shared memory, each lane its own word",
     .cuda = {.ptx = "atom.shared.exch.b32 %0, [%1], %0;", .step = "ATOM_SHARED_OWN(ptx, $)",
              .sass = "ATOMS", .shared_bytes = 4096},
     .opencl = {.step = "$ = atomic_xchg(word, $)", .setup = own_shared_word, .x86 = "xchgl?",
                .operands = Operands{0, 0, 7},
                .meaning = "atomic exchange in shared (OpenCL local) memory, each work-item with "
                           "a word of its own"}},
    {.id = "atom.shared.cas.b32", .type = u32, .operands = {0, 0, 1},
     .meaning = "compare and swap in shared memory, each lane its own word",
     .cuda = {.ptx = "atom.shared.cas.b32 %0, [%1], %0, 7;", .step = "ATOM_SHARED_OWN(ptx, $)",
              .sass = "ATOMS.CAS", .shared_bytes = 4096},
     .opencl = {.step = "$ = atomic_cmpxchg(word, $, a)", .setup = own_shared_word,
                .x86 = "lock cmpxchg.*", .also = accumulator_moves,
                .operands = Operands{5, 0, 7},
                .meaning = "atomic compare-and-exchange in shared (OpenCL local) memory, each "
                           "work-item with a word of its own"}},
    // The words must not begin with the pattern of unwritten results: it would come back as one.
    {.id = "atom.global.add.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in global memory, each lane its own word",
     .cuda = {.ptx = "atom.global.add.u32 %0, [%1], %0;", .step = "ATOM_GLOBAL_OWN(ptx, $)",
              .sass = "ATOMG", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.step = "$ = atomic_add(word, $)", .setup = own_global_word,
                .x86 = "lock xadd.*", .operands = Operands{0, 0, 7},
                .meaning = "atomic addition in global memory, each work-item to a word of its "
                           "own, old value returned"}},
    {.id = "atom.global.add.u32.sector", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in global memory, a warp's lanes share the words of one sector",
     .lanes_matter = true,
     .cuda = {.ptx = "atom.global.add.u32 %0, [%1], %0;", .step = "ATOM_GLOBAL_SECTOR(ptx, $)",
              .sass = "ATOMG", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.none = nothing_known}},
    {.id = "atom.global.add.u32.same", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in global memory, all lanes of a group one word",
     .lanes_matter = true,
     .cuda = {.ptx = "atom.global.add.u32 %0, [%1], %0;", .step = "ATOM_GLOBAL_SAME(ptx, $, a)",
              .sass = "ATOMG", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.step = "$ = atomic_add(word, $)",
                .setup = "volatile __global uint* word = (volatile __global uint*)(out + THREAD "
                         "- get_local_id(0)); *word = 0; barrier(CLK_GLOBAL_MEM_FENCE)",
                .x86 = "lock xadd.*", .operands = Operands{0, 0, 7},
                .meaning = "atomic addition in global memory, all work-items of a group to one "
                           "word, old value returned"}},
    {.id = "atom.global.exch.b32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic exchange in global memory, each lane its own word",
     .cuda = {.ptx = "atom.global.exch.b32 %0, [%1], %0;", .step = "ATOM_GLOBAL_OWN(ptx, $)",
              .sass = "ATOMG", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.step = "$ = atomic_xchg(word, $)", .setup = own_global_word, .x86 = "xchgl?",
                .operands = Operands{0, 0, 7},
                .meaning = "atomic exchange in global memory, each work-item with a word of its "
                           "own"}},
    {.id = "atom.global.cas.b32", .type = u32, .operands = {0, 0, 1},
     .meaning = "compare and swap in global memory, each lane its own word",
     .cuda = {.ptx = "atom.global.cas.b32 %0, [%1], %0, 7;", .step = "ATOM_GLOBAL_OWN(ptx, $)",
              .sass = "ATOMG.CAS", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.step = "$ = atomic_cmpxchg(word, $, a)", .setup = own_global_word,
                .x86 = "lock cmpxchg.*", .also = accumulator_moves,
                .operands = Operands{5, 0, 7},
                .meaning = "atomic compare-and-exchange in global memory, each work-item with a "
                           "word of its own"}},
    {.id = "atom.shared.max.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic maximum in shared memory, each lane its own word",
     .cuda = {.ptx = "atom.shared.max.u32 %0, [%1], %0;", .step = "ATOM_SHARED_OWN(ptx, $)",
              .sass = "ATOMS", .shared_bytes = 4096},
     .opencl = {.step = "$ = atomic_max(word, $)", .setup = own_shared_word,
                .x86 = "lock cmpxchg.*", .also = retry_loop, .operands = Operands{0, 0, 7},
                .meaning = "atomic maximum in shared (OpenCL local) memory, each work-item with "
                           "a word of its own"}},
    {.id = "atom.shared.xor.b32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic exclusive or in shared memory, each lane its own word",
     .cuda = {.ptx = "atom.shared.xor.b32 %0, [%1], %0;", .step = "ATOM_SHARED_OWN(ptx, $)",
              .sass = "ATOMS", .shared_bytes = 4096},
     .opencl = {.step = "$ = atomic_xor(word, $)", .setup = own_shared_word,
                .x86 = "lock cmpxchg.*", .also = retry_loop, .operands = Operands{0, 0, 7},
                .meaning = "atomic exclusive or in shared (OpenCL local) memory, each work-item "
                           "with a word of its own"}},
    {.id = "atom.global.max.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic maximum in global memory, each lane its own word",
     .cuda = {.ptx = "atom.global.max.u32 %0, [%1], %0;", .step = "ATOM_GLOBAL_OWN(ptx, $)",
              .sass = "ATOMG", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.step = "$ = atomic_max(word, $)", .setup = own_global_word,
                .x86 = "lock cmpxchg.*", .also = retry_loop, .operands = Operands{0, 0, 7},
                .meaning = "atomic maximum in global memory, each work-item with a word of its "
                           "own"}},
    {.id = "atom.global.xor.b32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic exclusive or in global memory, each lane its own word",
     .cuda = {.ptx = "atom.global.xor.b32 %0, [%1], %0;", .step = "ATOM_GLOBAL_OWN(ptx, $)",
              .sass = "ATOMG", .setup = "*OWN_GLOBAL = 256"},
     .opencl = {.step = "$ = atomic_xor(word, $)", .setup = own_global_word,
                .x86 = "lock cmpxchg.*", .also = retry_loop, .operands = Operands{0, 0, 7},
                .meaning = "atomic exclusive or in global memory, each work-item with a word of "
                           "its own"}},
    {.id = "red.shared.add.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in shared memory, each lane its own word, old value unwanted",
     .order = Order::none,
     .cuda = {.ptx = "red.shared.add.u32 [%0], %1;", .step = "RED_SHARED_OWN(ptx, $)",
              .sass = "ATOMS", .shared_bytes = 4096},
     .opencl = {.step = "atomic_add(word, a)", .setup = own_shared_word,
                .x86 = "lock (add|inc|xadd).*", .operands = Operands{3, 0, 7},
                .meaning = "atomic addition in shared (OpenCL local) memory, each work-item to a "
                           "word of its own; the old value is not asked for, and nothing waits "
                           "but the memory itself"}},
    {.id = "red.global.add.u32", .type = u32, .operands = {0, 0, 1},
     .meaning = "atomic addition in global memory, each lane its own word, old value unwanted",
     .order = Order::none,
     .cuda = {.ptx = "red.global.add.u32 [%0], %1;", .step = "RED_GLOBAL_OWN(ptx, $)",
              .sass = "RED|REDG"},
     .opencl = {.step = "atomic_add(word, a)", .setup = own_global_word,
                .x86 = "lock (add|inc|xadd).*", .operands = Operands{3, 0, 7},
                .meaning = "atomic addition in global memory, each work-item to a word of its "
                           "own; the old value is not asked for, and nothing waits but the "
                           "memory itself"}},
};
// clang-format on

}  // namespace

std::span<const CatalogueRow> atomic_rows() { return rows; }

}  // namespace occupipe::bench
