// SPDX-License-Identifier: MIT
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

// Chained through the value that was there before, which is the next one's operand.
Row atomic(std::string_view id, std::string_view step, std::string_view ptx, std::string_view sass,
           std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = chain;
    row.step = step;
    row.x = 1;
    row.ptx = ptx;
    row.sass = sass;
    row.meaning = meaning;
    if (id.starts_with("atom.shared")) row.shared_bytes = 4096;
    row.lanes_matter = true;
    // The words must not begin with the pattern of unwritten results: it would come back as one.
    if (id.starts_with("atom.global")) row.setup = "*OWN_GLOBAL = 256";
    return row;
}

// Without the value that was there before: nothing waits for it.
Row reduction(std::string_view id, std::string_view step, std::string_view sass,
              std::string_view meaning) {
    Row row = atomic(id, step, id, sass, meaning);
    row.order = Order::none;
    if (id.starts_with("red.shared")) row.shared_bytes = 4096;
    return row;
}

Row shared_store(std::string_view id, std::string_view step, std::string_view ptx,
                 std::string_view meaning, RowCounter counter = {}) {
    Row row = atomic(id, step, ptx, "STS", meaning);
    row.order = Order::none;
    row.shared_bytes = 4096 + 128;
    row.counters = {{counter, {}}};
    if (counter.name == "access_bytes") {
        row.sass_also = "some copies of the value, since a wide store takes neighbouring registers";
        row.most_chains = 1;
    }
    return row;
}

// Batches of 16-byte copies of every lane.
Row async_copy(std::string_view id, std::string_view step, int batch, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = f32;
    row.pattern = global_stream;
    row.step = step;
    row.ptx = "cp.async.cg.shared.global";
    row.sass = "LDGSTS";
    row.sass_also = "the wait for the batch";
    row.ptx_count = batch;
    row.sass_count = batch;
    row.sass_length = batch + 2;
    row.unroll = 16;
    row.least_architecture = 80;
    row.order = Order::waits;
    row.lane = "LANE * 4";
    row.spread = 4 * batch;
    row.table = Table::second_level;
    row.shared_bytes = 2048;
    row.most_chains = 1;
    row.counters = {{{"bytes_in_flight", 512.0 * batch, true}, {}}};
    row.meaning = meaning;
    return row;
}

Row bulk_copy(std::string_view id, std::string_view step, int bytes, std::string_view meaning) {
    Row row = async_copy(id, step, 1, meaning);
    row.type = u32;
    row.state = "Bulk";
    row.ptx = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    row.sass = "UBLKCP";
    row.sass_also = "the request by one lane and the wait for the copy";
    row.sass_length = 12;
    row.least_architecture = 90;
    row.lane = "0";
    row.spread = bytes / 128;
    // A body may go over the table's end by its slack (global_table_slack_words), no further.
    if (bytes > 8192) row.unroll = 8;
    row.shared_bytes = static_cast<std::size_t>(bytes);
    row.counters = {{{"bytes_in_flight", static_cast<double>(bytes), true}, {}}};
    return row;
}

Row wait(std::string_view id, std::string_view step, std::string_view ptx, std::string_view sass,
         std::string_view also, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = chain;
    row.step = step;
    row.x = 1;
    row.ptx = ptx;
    row.sass = sass;
    row.sass_also = also;
    row.order = Order::waits;
    row.most_chains = 1;
    row.meaning = meaning;
    return row;
}

constexpr std::string_view fence_also = "error barrier and invalidation of the first-level cache";

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Row> make_rows() {
    return {
        atomic("atom.shared.add.u32", R"(ATOM_SHARED_OWN("atom.shared.add.u32 %0, [%1], %0;", $))",
               "atom.shared.add.u32", "ATOMS",
               "atomic addition in shared memory, each lane its own word"),
        atomic("atom.shared.add.u32.same",
               R"(ATOM_SHARED_SAME("atom.shared.add.u32 %0, [%1], %0;", $, a))",
               "atom.shared.add.u32", "ATOMS",
               "atomic addition in shared memory, all lanes of a group one word"),
        atomic("atom.shared.exch.b32",
               R"(ATOM_SHARED_OWN("atom.shared.exch.b32 %0, [%1], %0;", $))",
               "atom.shared.exch.b32", "ATOMS",
               "atomic exchange in shared memory, each lane its own word"),
        atomic("atom.shared.cas.b32",
               R"(ATOM_SHARED_OWN("atom.shared.cas.b32 %0, [%1], %0, 7;", $))",
               "atom.shared.cas.b32", "ATOMS.CAS",
               "compare and swap in shared memory, each lane its own word"),
        atomic("atom.global.add.u32", R"(ATOM_GLOBAL_OWN("atom.global.add.u32 %0, [%1], %0;", $))",
               "atom.global.add.u32", "ATOMG",
               "atomic addition in global memory, each lane its own word"),
        atomic("atom.global.add.u32.sector",
               R"(ATOM_GLOBAL_SECTOR("atom.global.add.u32 %0, [%1], %0;", $))",
               "atom.global.add.u32", "ATOMG",
               "atomic addition in global memory, a warp's lanes share the words of one sector"),
        atomic("atom.global.add.u32.same",
               R"(ATOM_GLOBAL_SAME("atom.global.add.u32 %0, [%1], %0;", $, a))",
               "atom.global.add.u32", "ATOMG",
               "atomic addition in global memory, all lanes of a group one word"),
        atomic("atom.global.exch.b32",
               R"(ATOM_GLOBAL_OWN("atom.global.exch.b32 %0, [%1], %0;", $))",
               "atom.global.exch.b32", "ATOMG",
               "atomic exchange in global memory, each lane its own word"),
        atomic("atom.global.cas.b32",
               R"(ATOM_GLOBAL_OWN("atom.global.cas.b32 %0, [%1], %0, 7;", $))",
               "atom.global.cas.b32", "ATOMG.CAS",
               "compare and swap in global memory, each lane its own word"),
        atomic("atom.shared.max.u32", R"(ATOM_SHARED_OWN("atom.shared.max.u32 %0, [%1], %0;", $))",
               "atom.shared.max.u32", "ATOMS",
               "atomic maximum in shared memory, each lane its own word"),
        atomic("atom.shared.xor.b32", R"(ATOM_SHARED_OWN("atom.shared.xor.b32 %0, [%1], %0;", $))",
               "atom.shared.xor.b32", "ATOMS",
               "atomic exclusive or in shared memory, each lane its own word"),
        atomic("atom.global.max.u32", R"(ATOM_GLOBAL_OWN("atom.global.max.u32 %0, [%1], %0;", $))",
               "atom.global.max.u32", "ATOMG",
               "atomic maximum in global memory, each lane its own word"),
        atomic("atom.global.xor.b32", R"(ATOM_GLOBAL_OWN("atom.global.xor.b32 %0, [%1], %0;", $))",
               "atom.global.xor.b32", "ATOMG",
               "atomic exclusive or in global memory, each lane its own word"),
        reduction("red.shared.add.u32", R"(RED_SHARED_OWN("red.shared.add.u32 [%0], %1;", $))",
                  "ATOMS",
                  "atomic addition in shared memory, each lane its own word, old value unwanted"),
        reduction("red.global.add.u32", R"(RED_GLOBAL_OWN("red.global.add.u32 [%0], %1;", $))",
                  "RED|REDG",
                  "atomic addition in global memory, each lane its own word, old value unwanted"),
        shared_store("st.shared.u32", R"(ST_SHARED("st.shared.u32 [%0+%1], %2;", $, LANE, #))",
                     "st.shared.u32", "32-bit store to shared memory, no bank conflicts"),
        shared_store("st.shared.v2.u32",
                     R"(ST_SHARED("st.shared.v2.u32 [%0+%1], {%2, %2};", $, LANE * 2, #))",
                     "st.shared.v2.u32", "64-bit store to shared memory", {"access_bytes", 8}),
        shared_store("st.shared.v4.u32",
                     R"(ST_SHARED("st.shared.v4.u32 [%0+%1], {%2, %2, %2, %2};", $, LANE * 4, #))",
                     "st.shared.v4.u32", "128-bit store to shared memory", {"access_bytes", 16}),
        shared_store("st.shared.u32.conflict2",
                     R"(ST_SHARED("st.shared.u32 [%0+%1], %2;", $, LANE * 2, #))", "st.shared.u32",
                     "32-bit store to shared memory, two lanes on each bank they use",
                     {"conflict_degree", 2}),
        shared_store("st.shared.u32.conflict8",
                     R"(ST_SHARED("st.shared.u32 [%0+%1], %2;", $, LANE * 8, #))", "st.shared.u32",
                     "32-bit store to shared memory, eight lanes on each bank they use",
                     {"conflict_degree", 8}),
        shared_store("st.shared.u32.conflict32",
                     R"(ST_SHARED("st.shared.u32 [%0+%1], %2;", $, LANE * 32, #))", "st.shared.u32",
                     "32-bit store to shared memory, all lanes on one bank",
                     {"conflict_degree", 32}),
        async_copy("cp.async.x1", "CP_ASYNC_1($, #)", 1,
                   "asynchronous copy of 512 bytes from the second-level cache to shared memory, "
                   "awaited"),
        async_copy("cp.async.x2", "CP_ASYNC_2($, #)", 2,
                   "two asynchronous copies of 512 bytes, awaited together"),
        async_copy("cp.async.x4", "CP_ASYNC_4($, #)", 4,
                   "four asynchronous copies of 512 bytes, awaited together"),
        async_copy("cp.async.x8", "CP_ASYNC_8($, #)", 8,
                   "eight asynchronous copies of 512 bytes, awaited together"),
        bulk_copy("cp.async.bulk.128", "BULK_COPY(128, $, #)", 128,
                  "bulk copy of 128 bytes from the second-level cache to shared memory, awaited"),
        bulk_copy("cp.async.bulk.512", "BULK_COPY(512, $, #)", 512,
                  "bulk copy of 512 bytes from the second-level cache to shared memory, awaited"),
        bulk_copy("cp.async.bulk.2048", "BULK_COPY(2048, $, #)", 2048,
                  "bulk copy of 2 KiB from the second-level cache to shared memory, awaited"),
        bulk_copy("cp.async.bulk.8192", "BULK_COPY(8192, $, #)", 8192,
                  "bulk copy of 8 KiB from the second-level cache to shared memory, awaited"),
        bulk_copy("cp.async.bulk.32768", "BULK_COPY(32768, $, #)", 32768,
                  "bulk copy of 32 KiB from the second-level cache to shared memory, awaited"),
        wait("fence.acq_rel.gpu", R"(asm volatile("fence.acq_rel.gpu;" ::: "memory"))",
             "fence.acq_rel.gpu", "MEMBAR", fence_also,
             "memory fence for all threads of the GPU, nothing outstanding"),
        wait("fence.acq_rel.sys", R"(asm volatile("fence.acq_rel.sys;" ::: "memory"))",
             "fence.acq_rel.sys", "MEMBAR", fence_also,
             "memory fence for the whole system, nothing outstanding"),
        wait("fence.sc.gpu", R"(asm volatile("fence.sc.gpu;" ::: "memory"))", "fence.sc.gpu",
             "MEMBAR", fence_also,
             "sequentially consistent fence for all threads of the GPU, nothing outstanding"),
        wait("bar.warp.sync", R"(asm volatile("bar.warp.sync -1;" ::: "memory"))", "bar.warp.sync",
             "WARPSYNC|NOP", "a move and a call on GPUs of compute capability 8.6 and 8.9",
             "barrier of a warp's lanes: a no-operation where they are known to be together"),
    };
}

}  // namespace

std::span<const Row> cuda_unit_rows() {
    static const std::vector<Row> rows = make_rows();
    return rows;
}

}  // namespace occupipe::bench
