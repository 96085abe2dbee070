// SPDX-License-Identifier: MIT
#include <vector>

#include "bench/cuda/cuda_rows.h"

namespace occupipe::bench {
namespace {

using enum DataType;
using enum Pattern;

Row of_cluster(std::string_view id, std::string_view state, std::string_view step,
               std::string_view ptx, std::string_view sass, std::string_view meaning) {
    Row row{};
    row.id = id;
    row.type = u32;
    row.pattern = chain;
    row.state = state;
    row.step = step;
    row.ptx = ptx;
    row.sass = sass;
    row.least_architecture = 90;
    row.cluster = 2;
    row.shared_bytes = 16 * 1024;
    row.lanes_matter = true;
    row.meaning = meaning;
    return row;
}

Row walk(std::string_view id, std::string_view state, std::string_view meaning) {
    Row row = of_cluster(id, state, "LD_CLUSTER_U64($)", "ld.u64", "LD", meaning);
    row.setup = "CLUSTER_RING(); ClusterEnd cluster_end";
    row.most_chains = 4;
    return row;
}

Row word(std::string_view id, std::string_view state, std::string_view step, std::string_view ptx,
         std::string_view sass, std::string_view meaning, Order order = Order::registers) {
    Row row = of_cluster(id, state, step, ptx, sass, meaning);
    row.setup = "CLUSTER_MEMORY()";
    row.x = 1;
    row.order = order;
    row.most_chains = order == Order::none ? 1 : 4;
    return row;
}

Row bulk(std::string_view id, std::string_view step, std::string_view ptx, int bytes,
         std::string_view meaning) {
    Row row = of_cluster(id, "ClusterBulk", step, ptx, "UBLKCP", meaning);
    row.pattern = global_stream;
    row.sass_also = "the request by one lane and the wait for the copies";
    row.sass_length = 12;
    row.unroll = 16;
    row.order = Order::waits;
    row.lane = "0";
    row.spread = bytes / 128;
    row.table = Table::second_level;
    row.shared_bytes = static_cast<std::size_t>(bytes);
    row.most_chains = 1;
    row.counters = {{{"bytes_in_flight", static_cast<double>(bytes), true}, {}}};
    // The assembler's own advice: slow without the architecture's name. sm_120 calls a function.
    row.architecture_features = true;
    row.last_architecture = 119;
    return row;
}

Row to_neighbour(std::string_view id, std::string_view step, int bytes, std::string_view meaning) {
    Row row =
        bulk(id, step, "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
             bytes, meaning);
    row.pattern = chain;
    row.architecture_features = false;
    row.last_architecture = 999;
    row.x = 1;
    row.shared_bytes *= 2;  // where it comes from and where it goes
    return row;
}

std::vector<Row> make_rows() {
    std::vector<Row> rows = {
        walk("ld.shared.cluster.u64", "NeighbourWalk",
             "dependent load from the shared memory of another core's group in the cluster"),
        walk("ld.shared.cluster.u64.own", "OwnWalk",
             "dependent load from the group's own shared memory by its address in the cluster"),
        word("st.shared.cluster.u32", "ClusterWord<1, 1>",
             R"(ST_CLUSTER("st.u32 [%0+%1], %2;", $, #))", "st.u32", "ST",
             "32-bit store to the shared memory of another core's group in the cluster",
             Order::none),
        word("st.shared.cluster.u32.own", "ClusterWord<0, 1>",
             R"(ST_CLUSTER("st.u32 [%0+%1], %2;", $, #))", "st.u32", "ST",
             "32-bit store to the group's own shared memory by its address in the cluster",
             Order::none),
        word("atom.shared.cluster.add.u32", "ClusterWord<1, 1>",
             R"(ATOM_CLUSTER("atom.add.u32 %0, [%1], %0;", $))", "atom.add.u32", "ATOM",
             "atomic addition in the shared memory of another core's group, each lane its own "
             "word"),
        word("atom.shared.cluster.add.u32.own", "ClusterWord<0, 1>",
             R"(ATOM_CLUSTER("atom.add.u32 %0, [%1], %0;", $))", "atom.add.u32", "ATOM",
             "atomic addition in the group's own shared memory by its address in the cluster, each "
             "lane its own word"),
        word("red.shared.cluster.add.u32", "ClusterWord<1, 1>",
             R"(RED_CLUSTER("red.add.u32 [%0], %1;", $))", "red.add.u32", "ATOM|RED",
             "atomic addition in the shared memory of another core's group, old value unwanted",
             Order::none),
        bulk("cp.async.bulk.multicast.2048", "BULK_MULTICAST(2048, $, #)",
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
             2048, "bulk copy of 2 KiB to both groups of a cluster, half of it asked for by each"),
        bulk("cp.async.bulk.multicast.8192", "BULK_MULTICAST(8192, $, #)",
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster",
             8192, "bulk copy of 8 KiB to both groups of a cluster, half of it asked for by each"),
        to_neighbour("cp.async.bulk.cluster.512", "BULK_TO_NEIGHBOUR(512, $, #)", 512,
                     "bulk copy of 512 bytes to the other group of the cluster and back"),
        to_neighbour("cp.async.bulk.cluster.8192", "BULK_TO_NEIGHBOUR(8192, $, #)", 8192,
                     "bulk copy of 8 KiB to the other group of the cluster and back"),
    };
    Row barrier{};
    barrier.id = "barrier.cluster.relaxed";
    barrier.type = u32;
    barrier.pattern = chain;
    barrier.step = "CLUSTER_BARRIER_RELAXED($)";
    barrier.ptx = "barrier.cluster.arrive.relaxed.aligned";
    barrier.sass = "UCGABAR";
    barrier.sass_count = 2;  // arrival and wait
    barrier.sass_also = "a no-operation, and invalidation of the first-level cache by the wait";
    barrier.order = Order::waits;
    barrier.least_architecture = 90;
    barrier.cluster = 2;
    barrier.most_chains = 1;
    barrier.meaning = "barrier of a cluster of two groups whose arrival is no fence";
    rows.push_back(barrier);
    return rows;
}

}  // namespace

std::span<const Row> cuda_cluster_rows() {
    static const std::vector<Row> rows = make_rows();
    return rows;
}

}  // namespace occupipe::bench
