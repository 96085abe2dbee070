// SPDX-License-Identifier: MIT
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

constexpr std::string_view upper_half =
    "copies of the constant upper half of addresses, off the dependent path";
constexpr std::string_view other_words =
    "logic that uses the words that are no address, off the dependent path";
constexpr std::string_view additions = "one addition per loaded word";

// A walk through memory: each address comes from the load before it.
Row walk(std::string_view id, Pattern pattern, std::string_view step, std::string_view ptx,
         std::string_view sass, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = pattern;
    row.step = step;
    row.a = 1;
    row.ptx = ptx;
    row.sass = sass;
    row.meaning = meaning;
    row.x86 = "movl?";
    if (pattern == global_chase) row.sass_also = upper_half;
    return row;
}

// Lanes of a warp meet in banks: `degree` of them want different words of one bank.
Row conflict(std::string_view id, std::string_view lane, int degree, std::string_view meaning) {
    Row row = walk(id, shared_chase, "LD_SHARED_U32($)", "ld.shared.u32", "LDS", meaning);
    row.lane = lane;
    row.spread = degree;
    row.counters = {{{"conflict_degree", static_cast<double>(degree)}, {}}};
    row.lanes_matter = true;
    return row;
}

Row shared_vector(std::string_view id, std::string_view step, std::string_view ptx, int words,
                  std::string_view meaning) {
    Row row = walk(id, shared_chase, step, ptx, "LDS", meaning);
    row.lane = words == 2 ? "LANE * 2" : "LANE * 4";
    row.spread = words;
    row.state = "Walk";
    row.sass_also = other_words;
    row.counters = {{{"access_bytes", 4.0 * words}, {}}};
    return row;
}

// `lane` and `spread` as in Row: a warp's request covers spread times 32 words.
Row global(std::string_view id, std::string_view step, std::string_view ptx, Table table,
           std::string_view lane, int spread, std::string_view meaning) {
    Row row = walk(id, global_chase, step, ptx, "LDG", meaning);
    row.table = table;
    row.lane = lane;
    row.spread = spread;
    return row;
}

Row vector_walk(std::string_view id, std::string_view step, std::string_view ptx, Table table,
                int words, std::string_view meaning) {
    Row row = global(id, step, ptx, table, words == 2 ? "LANE * 2" : "LANE * 4", words, meaning);
    row.state = "WideWalk";
    row.access_words = words;
    row.sass_also = words == 2 ? std::string_view{} : other_words;
    row.counters = {{{"access_bytes", 4.0 * words}, {}}};
    return row;
}

// The warp's lanes touch `sectors` sectors of 32 bytes.
Row strided(std::string_view id, std::string_view lane, int spread, int sectors,
            std::string_view meaning) {
    Row row = global(id, "LD_GLOBAL_CG_U32($)", "ld.global.cg.u32", Table::second_level, lane,
                     spread, meaning);
    row.counters = {{{"sectors", static_cast<double>(sectors)}, {}}};
    row.lanes_matter = true;
    return row;
}

// Every warp in a line of its own, so that a launch sees many lines from many cores: where a GPU's
// second-level cache has a near and a far half, least and greatest core show them.
Row own_line(std::string_view id, std::string_view meaning) {
    Row row = global(id, "LD_GLOBAL_CG_U32($)", "ld.global.cg.u32", Table::second_level, "LANE", 1,
                     meaning);
    row.own_lines = true;
    return row;
}

// LDG.E.NA: takes no place in the first-level cache and is weak, where `.cg` is LDG.E.STRONG.GPU,
// which the half of the second-level cache that owns the line may have to answer.
Row weak(std::string_view id, bool own_lines, std::string_view meaning) {
    Row row = global(id, "LD_GLOBAL_NA_U32($)", "ld.global.L1::no_allocate.u32",
                     Table::second_level, "LANE", 1, meaning);
    row.own_lines = own_lines;
    return row;
}

Row stream(std::string_view id, std::string_view step, std::string_view ptx, Table table,
           std::string_view lane, int words, std::string_view meaning) {
    Row row = walk(id, global_stream, step, ptx, "LDG", meaning);
    row.type = f32;
    row.a = 0;
    row.x86 = "v?addss";
    row.sass_also = additions;
    row.table = table;
    row.lane = lane;
    row.spread = words;
    row.order = Order::none;
    row.counters = {{{"access_bytes", 4.0 * words}, {}}};
    return row;
}

Row store(std::string_view id, std::string_view step, std::string_view ptx, std::string_view lane,
          int words, std::string_view meaning) {
    Row row = stream(id, step, ptx, Table::beyond_caches, lane, words, meaning);
    row.pattern = global_store;
    row.sass = "STG";
    row.x86 = {};
    row.sass_also = {};
    return row;
}

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Row> make_rows() {
    return {
        conflict("ld.shared.u32.conflict2", "LANE / 2 + LANE % 2 * 32", 2,
                 "32-bit load from shared memory, two lanes on each bank they use"),
        conflict("ld.shared.u32.conflict4", "LANE / 4 + LANE % 4 * 32", 4,
                 "32-bit load from shared memory, four lanes on each bank they use"),
        conflict("ld.shared.u32.conflict8", "LANE / 8 + LANE % 8 * 32", 8,
                 "32-bit load from shared memory, eight lanes on each bank they use"),
        conflict("ld.shared.u32.conflict16", "LANE / 16 + LANE % 16 * 32", 16,
                 "32-bit load from shared memory, sixteen lanes on each bank they use"),
        conflict("ld.shared.u32.conflict32", "LANE * 32", 32,
                 "32-bit load from shared memory, all lanes on one bank"),
        [] {
            Row row =
                walk("ld.shared.u32.broadcast", shared_chase, "LD_SHARED_U32($)", "ld.shared.u32",
                     "LDS", "32-bit load from shared memory, all lanes at one word");
            row.lane = "0";
            row.lanes_matter = true;
            return row;
        }(),
        shared_vector("ld.shared.v2.u32", "LD_SHARED_V2_U32($)", "ld.shared.v2.u32", 2,
                      "64-bit load from shared memory, no bank conflicts"),
        shared_vector("ld.shared.v4.u32", "LD_SHARED_V4_U32($)", "ld.shared.v4.u32", 4,
                      "128-bit load from shared memory, no bank conflicts"),

        global("ld.global.l1.u32", "LD_GLOBAL_U32($)", "ld.global.u32", Table::first_level, "LANE",
               1, "32-bit load from global memory that hits the first-level cache, coalesced"),
        vector_walk("ld.global.l1.u64", "LD_GLOBAL_U64($)", "ld.global.u64", Table::first_level, 2,
                    "64-bit load from global memory that hits the first-level cache, coalesced"),
        vector_walk("ld.global.l1.v2.u64", "LD_GLOBAL_V2_U64($)", "ld.global.v2.u64",
                    Table::first_level, 4,
                    "128-bit load from global memory that hits the first-level cache, coalesced"),
        global("ld.global.l2.u32", "LD_GLOBAL_CG_U32($)", "ld.global.cg.u32", Table::second_level,
               "LANE", 1,
               "32-bit load from global memory that hits the second-level cache and passes the "
               "first by, coalesced"),
        vector_walk("ld.global.l2.u64", "LD_GLOBAL_CG_U64($)", "ld.global.cg.u64",
                    Table::second_level, 2,
                    "64-bit load from global memory that hits the second-level cache and passes "
                    "the first by, coalesced"),
        vector_walk("ld.global.l2.v2.u64", "LD_GLOBAL_CG_V2_U64($)", "ld.global.cg.v2.u64",
                    Table::second_level, 4,
                    "128-bit load from global memory that hits the second-level cache and passes "
                    "the first by, coalesced"),
        vector_walk("ld.global.u64", "LD_GLOBAL_U64($)", "ld.global.u64", Table::beyond_caches, 2,
                    "64-bit load from global memory beyond the last cache, coalesced (chase)"),
        vector_walk("ld.global.v2.u64", "LD_GLOBAL_V2_U64($)", "ld.global.v2.u64",
                    Table::beyond_caches, 4,
                    "128-bit load from global memory beyond the last cache, coalesced (chase)"),
        strided("ld.global.l2.u32.broadcast", "0", 1, 1,
                "32-bit load that hits the second-level cache, all lanes at one word"),
        strided("ld.global.l2.u32.stride2", "LANE * 2", 2, 8,
                "32-bit load that hits the second-level cache, every second word (8 sectors)"),
        strided("ld.global.l2.u32.stride4", "LANE * 4", 4, 16,
                "32-bit load that hits the second-level cache, every fourth word (16 sectors)"),
        strided("ld.global.l2.u32.stride8", "LANE * 8", 8, 32,
                "32-bit load that hits the second-level cache, every eighth word (32 sectors)"),
        strided("ld.global.l2.u32.stride32", "LANE * 32", 32, 32,
                "32-bit load that hits the second-level cache, a line of 128 bytes for each lane "
                "(32 sectors)"),
        own_line("ld.global.l2.u32.line",
                 "32-bit load that hits the second-level cache, each warp ever in one line of its "
                 "own: how far lines lie from cores"),
        weak("ld.global.l2.u32.weak", false,
             "weak 32-bit load that hits the second-level cache and takes no place in the first, "
             "coalesced"),
        weak("ld.global.l2.u32.weak.line", true,
             "weak 32-bit load that hits the second-level cache, each warp ever in one line of its "
             "own"),
        global("ld.global.nc.u32", "LD_GLOBAL_NC_U32($)", "ld.global.nc.u32", Table::first_level,
               "LANE", 1,
               "32-bit load by the read-only (texture) path that hits the first-level cache"),
        [] {
            Row row = global("tex.1d.u32", "TEX_1D_U32($)", "tex.1d.v4.u32.s32", Table::first_level,
                             "LANE", 1,
                             "32-bit texel of a texture in linear memory that hits the first-level "
                             "cache, by its index, unfiltered");
            row.sass = "TLD";
            row.sass_also = {};
            row.texture = true;
            row.most_chains = 3;  // more, and waits for older ones come between
            row.state = "TextureWalk";
            return row;
        }(),

        stream("ld.global.l2.f32", "LD_GLOBAL_CG_F32($, #)", "ld.global.cg.f32",
               Table::second_level, "LANE", 1,
               "32-bit load from global memory that hits the second-level cache, streaming"),
        stream("ld.global.l2.v4.f32", "LD_GLOBAL_CG_V4_F32($, #)", "ld.global.cg.v4.f32",
               Table::second_level, "LANE * 4", 4,
               "128-bit load from global memory that hits the second-level cache, streaming"),
        stream("ld.global.v2.f32", "LD_GLOBAL_V2_F32($, #)", "ld.global.v2.f32",
               Table::beyond_caches, "LANE * 2", 2,
               "64-bit load from global memory beyond the last cache, streaming"),
        stream("ld.global.v4.f32", "LD_GLOBAL_V4_F32($, #)", "ld.global.v4.f32",
               Table::beyond_caches, "LANE * 4", 4,
               "128-bit load from global memory beyond the last cache, streaming"),
        store("st.global.f32", "ST_GLOBAL_F32($, #)", "st.global.f32", "LANE", 1,
              "32-bit store to global memory beyond the last cache, coalesced, in order"),
        store("st.global.v4.f32", "ST_GLOBAL_V4_F32($, #)", "st.global.v4.f32", "LANE * 4", 4,
              "128-bit store to global memory beyond the last cache, coalesced, in order"),

        walk("ld.const.u32", constant_chase, "LD_CONST_U32($)", "ld.const.u32", "LDC",
             "32-bit load from constant memory that hits its cache, all lanes at one word"),
        walk("ld.local.u32", local_chase, "LD_LOCAL_U32($)", "ld.local.u32", "LDL",
             "32-bit load from local memory (where spilled registers live) that hits the cache"),
    };
}

}  // namespace

std::span<const Row> cuda_memory_rows() {
    static const std::vector<Row> rows = make_rows();
    return rows;
}

}  // namespace occupipe::bench
