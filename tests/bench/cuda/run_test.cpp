// SPDX-License-Identifier: MIT
// Our own launches' kernels (start line, 64-bit clock, stamps), executed on the host (tests/ptx)
// and evaluated like a GPU's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/placement.h"
#include "bench/cuda/prelude.h"
#include "bench/cuda/proof/machine_code.h"
#include "bench/cuda/proof/ptx.h"
#include "bench/cuda/stamps.h"
#include "bench/cuda/walk_tables.h"
#include "bench/harness/fresh_lines.h"
#include "bench/harness/sampler.h"
#include "core/error.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/ptx/machine.h"

namespace occupipe::bench {
namespace {

constexpr const char* architecture = "sm_90";
constexpr std::uint64_t in_address = 0x7f00'0000'0000;
constexpr std::uint64_t out_address = 0x7f01'0000'0000;
constexpr std::uint64_t stamps_address = 0x7f02'0000'0000;

class CudaRun : public testing::Test {
protected:
    void SetUp() override {
        if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    }

    // Of a row that works on registers; each group counts as a core.
    Observation run(const char* id, const MeasurementShape& shape, int cores,
                    std::uint64_t iterations, int unroll = 16, bool checkpointed = false) {
        const KernelPlan plan{.first = find_row(id),
                              .chains = shape.chains,
                              .unroll = unroll,
                              .checkpointed = checkpointed};
        const KernelSource source = kernel_source(plan);
        const std::size_t warps = static_cast<std::size_t>(cores) * shape.group_warps;
        buffers = {{"in", in_address, source.operands},
                   {"out", out_address,
                    std::vector(warps * 32 * type_size(plan.first->type), std::byte{0xa5})},
                   {"stamps", stamps_address,
                    std::vector<std::byte>(sizeof(StampHeader) + warps * sizeof(WarpStamp))}};
        StampHeader header;
        header.cycles_per_1024_ns = 1024;  // both clocks count steps here
        std::memcpy(buffers[2].bytes.data(), &header, sizeof header);
        outcome = ptx::run(ptx::parse(compile_cuda(source, architecture).ptx),
                           {.groups = static_cast<unsigned>(cores),
                            .threads = static_cast<unsigned>(shape.group_warps) * 32,
                            .shared_bytes = 1024,
                            .arguments = {in_address, out_address, stamps_address, iterations, 0},
                            .most_steps = 100'000'000,
                            .short_clock_counts = checkpointed},
                           buffers);
        std::vector<WarpStamp> stamps(warps);
        std::memcpy(&header, buffers[2].bytes.data(), sizeof header);
        std::memcpy(stamps.data(), &buffers[2].bytes[sizeof header], warps * sizeof(WarpStamp));
        EXPECT_EQ(header.arrived, static_cast<std::uint64_t>(cores));
        for (std::size_t i = 0; i < warps; ++i) {
            const WarpStamp& stamp = stamps[i];
            EXPECT_EQ(stamp.wall_before > 0, i % static_cast<std::size_t>(shape.group_warps) == 0);
            EXPECT_LT(stamp.wall_before, static_cast<std::uint32_t>(header.begin));
            const std::size_t every = 32 * static_cast<std::size_t>(shape.group_warps);
            EXPECT_EQ(stamp.wall_stop > 0, i % every == 0);
        }
        notice = INT64_MAX;
        for (const WarpStamp& stamp : stamps) {
            if (stamp.wall_before == 0) continue;
            const std::int64_t own = static_cast<std::uint32_t>(header.begin) - stamp.wall_before;
            notice = std::min(notice, own);
        }
        barriers = header.barrier;
        std::optional<double> instructions;
        if (checkpointed) instructions = static_cast<double>(shape.depth) * shape.chains;
        return evaluate_stamps(header, stamps, shape, cores, 1, 4, instructions);
    }

    std::vector<ptx::Buffer> buffers;
    ptx::Outcome outcome;
    std::uint64_t barriers = 0;
    std::int64_t notice = 0;  // from the last group's look at the timer to the moment of the start
};

TEST_F(CudaRun, GroupsMeetAtTheStartLineAndLeaveTheirStamps) {
    const Observation seen =
        run("fma.f32", {.group_warps = 2, .concurrent_groups = 1, .chains = 1, .depth = 64}, 3, 4);
    ASSERT_TRUE(seen.cycles.has_value());
    EXPECT_GT(*seen.cycles, 64);
    EXPECT_EQ(seen.counters.at("achieved_warps"), 2);
    EXPECT_EQ(seen.counters.at("busiest_scheduler_warps"), 1);
    EXPECT_EQ(seen.counters.at("cores_used"), 3);
    // Untimed, between the passes (start line and all), timed.
    ASSERT_EQ(outcome.intervals.size(), 3u);
    EXPECT_EQ(outcome.intervals[0].at("fma.rn.f32"), 32);
    EXPECT_FALSE(outcome.intervals[1].contains("fma.rn.f32"));
    EXPECT_EQ(outcome.intervals[2].at("fma.rn.f32"), 64);
    float result = 0;
    std::memcpy(&result, buffers[1].bytes.data(), sizeof result);
    EXPECT_FLOAT_EQ(result, 1.5f);
}

// Between two readings each warp executes a quarter of its steps, and the window of all warps holds
// what the clock here, one tick a step, says.
TEST_F(CudaRun, CheckpointsLieAtEqualShares) {
    const MeasurementShape shape{
        .group_warps = 2, .concurrent_groups = 1, .chains = 1, .depth = 256};
    const Observation seen = run("fma.f32", shape, 3, 16, 16, true);
    // Of each pass: start, four parts, the last one up to the stop; and from pass to pass, with the
    // looks at the clock in the start line.
    const std::size_t all = outcome.intervals.size();
    ASSERT_GE(all, 11U + start_line_readings);
    for (std::size_t part = all - 4; part < all; ++part)
        EXPECT_EQ(outcome.intervals[part].at("fma.rn.f32"), 64) << part;
    for (std::size_t i = 5; i < all - 4; ++i)
        EXPECT_FALSE(outcome.intervals[i].contains("fma.rn.f32")) << i;
    ASSERT_TRUE(seen.counters.contains("window_cycles"));
    const double done = seen.counters.at("window_instructions");
    EXPECT_GT(done, 0.3 * 512);
    EXPECT_LE(done, 512);
    EXPECT_LT(seen.counters.at("window_instructions_error"), 0.2 * done);
    EXPECT_FALSE(run("fma.f32", shape, 3, 16).counters.contains("window_cycles"));
}

// All groups look at one word, so that a look takes the longer the more there are. Where it takes
// more than the notice allows for, as here where a thousand groups take turns, late groups are
// counted.
TEST_F(CudaRun, TheNoticeGrowsWithTheNumberOfGroups) {
    const MeasurementShape shape{
        .group_warps = 1, .concurrent_groups = 1, .chains = 1, .depth = 64};
    run("fma.f32", shape, 10, 1);
    EXPECT_GE(notice, 10'000);
    EXPECT_LE(notice, 15'000);
    const Observation late = run("fma.f32", shape, 1000, 1);
    EXPECT_GE(notice, 20'000);
    EXPECT_GT(late.counters.at("late_groups"), 0);
    EXPECT_TRUE(started_apart(late));
}

// The handle, here the table's address, lies behind the table; every lane goes from line to line.
TEST_F(CudaRun, ATextureIsWalkedByItsWords) {
    const KernelPlan plan{.first = find_row("tex.1d.u32"), .chains = 1, .unroll = 16};
    TableSizes sizes;
    sizes.first_level = 4096;
    std::vector<std::byte> table =
        global_table({.bytes = 4096, .line_bytes = 128, .texture = true}, false, 1);
    std::memcpy(&table[table.size() - global_table_operand_bytes], &in_address, 8);
    buffers = {{"in", in_address, std::move(table)},
               {"out", out_address, std::vector<std::byte>(32 * 4)},
               {"stamps", stamps_address,
                std::vector<std::byte>(sizeof(StampHeader) + sizeof(WarpStamp))}};
    const auto compiled = compile_cuda(kernel_source(plan), architecture, sizes);
    outcome = ptx::run(ptx::parse(compiled.ptx),
                       {.groups = 1,
                        .threads = 32,
                        .shared_bytes = 0,
                        .arguments = {in_address, out_address, stamps_address, 4, 5},
                        .short_clock_counts = false},
                       buffers);
    EXPECT_EQ(outcome.intervals.at(2).at("tex.1d.v4.u32.s32"), 64);
    std::uint32_t last = 0;
    std::memcpy(&last, &buffers[1].bytes[std::size_t{31} * 4], 4);
    EXPECT_EQ(last, (5 + (4 + 2) * 16) % 32 * 32 + 31);  // line 5, on by all steps
}

// As the host makes it for a table at in_address.
std::vector<std::byte> relocated_table(const TableRequest& request) {
    std::vector<std::byte> table = global_table(request, false, 1);
    if (request.texture || request.pattern != Pattern::global_chase) return table;
    relocate(table, in_address, request.access_words);
    return table;
}

// What a launch of two groups reads of its table, in bytes from its beginning.
struct Reads {
    std::set<std::uint64_t> untimed, timed;
    std::map<std::uint64_t, int> count;  // by all warps, in both passes
};

Reads reads_of(const char* id, const TableSizes& sizes, int chains, int unroll, unsigned threads,
               std::uint64_t iterations, std::uint64_t start, std::size_t working_set = 0) {
    const KernelPlan plan{.first = find_row(id),
                          .chains = chains,
                          .unroll = unroll,
                          .working_set_bytes = working_set};
    const Row& row = *plan.first;
    const std::size_t bytes = sizes.of(plan);
    const TableRequest request{
        row.pattern,      bytes,         static_cast<std::size_t>(walked_words(plan)) * 4,
        row.access_words, row.own_lines, row.texture};
    std::vector<std::byte> table = relocated_table(request);
    if (row.texture) {
        std::memcpy(&table[table.size() - global_table_operand_bytes], &in_address, 8);
    }
    constexpr unsigned groups = 2;
    const std::size_t warps = groups * threads / 32;
    std::vector<ptx::Buffer> buffers = {
        {"in", in_address, std::move(table)},
        {"out", out_address, std::vector<std::byte>(warps * 32 * 8)},
        {"stamps", stamps_address,
         std::vector<std::byte>(sizeof(StampHeader) + warps * sizeof(WarpStamp))}};
    Reads reads;
    const auto compiled = compile_cuda(kernel_source(plan), architecture, sizes);
    ptx::run(ptx::parse(compiled.ptx),
             {.groups = groups,
              .threads = threads,
              .shared_bytes = 0,
              .arguments = {in_address, out_address, stamps_address, iterations, start},
              .observe =
                  [&](const ptx::Access& access) {
                      if (access.address < in_address || access.address >= out_address) return;
                      if (access.clock_readings % 2 == 0) return;  // operands
                      const std::uint64_t at = access.address - in_address;
                      (access.clock_readings == 1 ? reads.untimed : reads.timed).insert(at);
                      ++reads.count[at];
                  },
              .short_clock_counts = false},
             buffers);
    return reads;
}

// The first-level cache is filled by the untimed pass, whatever the number of chains and wherever a
// walk begins; what the timed pass would have to fetch is none of its lines.
TEST_F(CudaRun, TheUntimedPassFillsTheFirstLevelCache) {
    for (const char* id : {"ld.global.l1.u32", "ld.global.l1.u64", "ld.global.l1.v2.u64",
                           "ld.global.nc.u32", "tex.1d.u32"}) {
        for (const int chains : {1, 3}) {
            const Reads reads = reads_of(id, {}, chains, 16, 32, 20, 77);
            EXPECT_TRUE(std::ranges::includes(reads.untimed, reads.timed)) << id << chains;
            EXPECT_GE(reads.timed.size(), 1000u) << id;
        }
    }
    // A working set that some first-level caches hold.
    const Reads reads = reads_of("ld.global.u32.working_set", {}, 1, 16, 32, 80, 5, 1u << 17);
    EXPECT_TRUE(std::ranges::includes(reads.untimed, reads.timed));
    EXPECT_EQ(reads.timed.size(), (1u << 17) / 4);
}

// Beyond the caches no line is read twice within a launch, wherever it begins; one iteration more
// would come back to some.
TEST_F(CudaRun, AWalkBeyondTheCachesNeverComesBack) {
    const TableSizes sizes{.beyond_caches = 1u << 20, .cache_bytes = 64u << 10};
    for (const char* id :
         {"ld.global.u32", "ld.global.u64", "ld.global.v2.u64", "ld.global.f32", "ld.global.v2.f32",
          "ld.global.v4.f32", "st.global.f32", "st.global.v4.f32"}) {
        const KernelPlan plan{.first = find_row(id), .chains = 1, .unroll = 16};
        const std::int64_t most = most_fresh_iterations(plan, sizes, 4).value();
        EXPECT_GE(most, 30) << id;
        for (const std::uint64_t start : {0u, 0xffffffffu}) {
            const Reads reads =
                reads_of(id, sizes, 1, 16, 64, static_cast<std::uint64_t>(most), start);
            int twice = 0;
            for (const auto& [address, count] : reads.count) twice += count > 1;
            EXPECT_EQ(twice, 0) << id << ' ' << start;
        }
        // A quarter of the table is a warp's share.
        const std::int64_t steps = (most + untimed_iterations) * 16;
        EXPECT_GT((steps + 16) * 128 * plan.first->spread, 1 << 18) << id;
    }
}

// The kernel that makes large tables makes what the host makes of small ones.
TEST_F(CudaRun, TheTableWriterWritesTheHostsTable) {
    const auto program = ptx::parse(nvrtc().compile(cuda_table_writer_source(), architecture).ptx);
    constexpr std::size_t bytes = 64u << 10;
    for (const int access_words : {1, 2, 4}) {
        for (const bool own_lines : {false, true}) {
            const TableRequest request{.bytes = bytes,
                                       .line_bytes = 128u * static_cast<unsigned>(access_words),
                                       .access_words = access_words,
                                       .own_lines = own_lines};
            const std::vector<std::byte> expected = relocated_table(request);
            buffers = {{"table", in_address, std::vector<std::byte>(expected.size())}};
            ptx::run(
                program,
                {.groups = 2,
                 .threads = 1024,
                 .shared_bytes = 0,
                 .arguments = {in_address, bytes / 4, global_table_slack_words,
                               request.line_bytes / 4, static_cast<std::uint64_t>(access_words),
                               own_lines, 0, in_address},
                 .most_steps = 100'000'000},
                buffers);
            const std::size_t words = (bytes / 4 + global_table_slack_words) * 4;
            EXPECT_EQ(std::memcmp(buffers[0].bytes.data(), expected.data(), words), 0)
                << access_words << own_lines;
        }
    }
    buffers = {{"table", in_address, std::vector<std::byte>(bytes)}};
    ptx::run(program,
             {.groups = 1,
              .threads = 1024,
              .shared_bytes = 0,
              .arguments = {in_address, bytes / 4, 0, 32, 1, 0, 1, in_address}},
             buffers);
    std::set<float> values;
    for (std::size_t i = 0; i < bytes; i += 4) {
        float value = 0;
        std::memcpy(&value, &buffers[0].bytes[i], 4);
        ASSERT_LE(std::abs(value), 1e-3f);
        values.insert(value);
    }
    EXPECT_GT(values.size(), bytes / 8);
}

// Exchanges and exclusive ors come back to where they began after two and three steps; whatever the
// number of steps, no result looks like one that was never written.
TEST_F(CudaRun, AtomicsLeaveAResultAtAnyDepth) {
    for (const char* id : {"atom.global.xor.b32", "atom.global.exch.b32", "atom.global.cas.b32",
                           "atom.global.max.u32", "atom.global.add.u32"}) {
        for (const int unroll : {1, 2, 3}) {
            for (const std::uint64_t iterations : {1, 2, 3, 4, 5}) {
                run(id, {.group_warps = 1, .concurrent_groups = 1, .chains = 1, .depth = 1}, 1,
                    iterations, unroll);
                for (std::size_t i = 0; i < buffers[1].bytes.size(); i += 4) {
                    std::uint32_t result = 0;
                    std::memcpy(&result, &buffers[1].bytes[i], 4);
                    ASSERT_NE(result, 0xa5a5a5a5) << id << ' ' << unroll << ' ' << iterations;
                }
            }
        }
    }
}

TEST_F(CudaRun, AGridBarrierLetsNoGroupRunAhead) {
    run("barrier.grid", {.group_warps = 1, .concurrent_groups = 1, .chains = 1, .depth = 64}, 3, 4);
    EXPECT_EQ(barriers, 3u * (4 + 2) * 16);  // groups × iterations, the untimed ones too × steps
    EXPECT_EQ(outcome.intervals.at(2).at("red.release.gpu.global.add.u64"), 64);
}

// A group that waits in vain at a barrier of all groups does so once, in the untimed pass already:
// the launch ends soon, and nothing looks measured.
TEST_F(CudaRun, AGridBarrierWaitsInVainOnlyOnce) {
    const KernelPlan plan{.first = find_row("barrier.grid"), .chains = 1, .unroll = 16};
    const KernelSource source = kernel_source(plan);
    buffers = {{"in", in_address, source.operands},
               {"out", out_address, std::vector<std::byte>(std::size_t{3} * 32 * 4)},
               {"stamps", stamps_address,
                std::vector<std::byte>(sizeof(StampHeader) + 3 * sizeof(WarpStamp))}};
    ptx::Launch launch{.groups = 3,
                       .threads = 32,
                       .shared_bytes = 1024,
                       .arguments = {in_address, out_address, stamps_address, 4, 0},
                       .absent_groups = 1};
    launch.most_steps = 30'000'000;  // two groups' whole patience, once
    ptx::run(ptx::parse(compile_cuda(source, architecture).ptx), launch, buffers);
    std::vector<WarpStamp> stamps(3);
    std::memcpy(stamps.data(), &buffers[2].bytes[sizeof(StampHeader)], 3 * sizeof(WarpStamp));
    for (const WarpStamp& stamp : stamps) EXPECT_EQ(stamp.stop, 0u);
    const MeasurementShape shape{
        .group_warps = 1, .concurrent_groups = 1, .chains = 1, .depth = 64};
    EXPECT_THROW(evaluate_stamps({}, stamps, shape, 3, 1), DeviceError);
}

// … and a copy that never arrives is not waited for without an end.
TEST_F(CudaRun, ABulkCopyThatDoesNotArriveEndsItsWarp) {
    const KernelPlan plan{.first = find_row("cp.async.bulk.512"), .chains = 1, .unroll = 16};
    TableSizes sizes;
    sizes.second_level = 65536;
    const KernelSource source = kernel_source(plan);
    for (const bool arrive : {true, false}) {
        buffers = {{"in", in_address, std::vector<std::byte>(std::size_t{4} * 65536)},
                   {"out", out_address, std::vector<std::byte>(32 * 4)},
                   {"stamps", stamps_address,
                    std::vector<std::byte>(sizeof(StampHeader) + sizeof(WarpStamp))}};
        ptx::Launch launch{.groups = 1,
                           .threads = 32,
                           .shared_bytes = 4096,
                           .arguments = {in_address, out_address, stamps_address, 4, 0},
                           .copies_arrive = arrive};
        launch.most_steps = 1'000'000;
        ptx::run(ptx::parse(compile_cuda(source, architecture, sizes).ptx), launch, buffers);
        WarpStamp stamp;
        std::memcpy(&stamp, &buffers[2].bytes[sizeof(StampHeader)], sizeof stamp);
        EXPECT_EQ(stamp.stop > stamp.start, arrive);
    }
}

TEST_F(CudaRun, TheWitnessWaitsAndCountsClocks) {
    buffers = {{"out", out_address, std::vector<std::byte>(sizeof(WitnessStamp))}};
    const auto program = ptx::parse(nvrtc().compile(cuda_witness_source(), architecture).ptx);
    ptx::run(program,
             {.groups = 1, .threads = 32, .shared_bytes = 0, .arguments = {out_address, 5000}},
             buffers);
    WitnessStamp stamp;
    std::memcpy(&stamp, buffers[0].bytes.data(), sizeof stamp);
    EXPECT_GE(stamp.nanoseconds, 5000u);
    EXPECT_LT(stamp.nanoseconds, 5100u);
    EXPECT_GE(stamp.tick, 1u);
    EXPECT_LT(stamp.tick, 20u);
    // Both clocks count instructions here.
    EXPECT_NEAR(static_cast<double>(stamp.clocks), static_cast<double>(stamp.nanoseconds), 20);
}

// The assembler removes what nothing needs: here it would be all.
TEST_F(CudaRun, TheTableReadersMachineCodeReads) {
    for (const int number : {75, 80, 86, 89, 90, 100, 120}) {
        const auto compiled =
            nvrtc().compile(cuda_table_reader_source(), fmt::format("sm_{}", number));
        const auto code =
            decode_for_receipt(isa::read_kernel(compiled.cubin, table_reader_entry).code, number);
        EXPECT_GE(std::ranges::count(code, "LDG", &Instruction::name), 1) << number;
    }
}

// What lies outside of the table would be a fault.
TEST_F(CudaRun, TheTableReaderStaysInTheTable) {
    const auto program = ptx::parse(nvrtc().compile(cuda_table_reader_source(), architecture).ptx);
    for (const std::uint64_t each_core : {0, 1}) {
        buffers = {{"table", in_address, std::vector<std::byte>(100 * 32)},
                   {"result", out_address, std::vector<std::byte>(4)}};
        const auto read = [&](std::uint64_t sectors) {
            ptx::run(program,
                     {.groups = 3,
                      .threads = 64,
                      .shared_bytes = 0,
                      .arguments = {in_address, sectors, each_core, out_address}},
                     buffers);
        };
        EXPECT_NO_THROW(read(100)) << each_core;
        EXPECT_THROW(read(101), ptx::Fault) << each_core;
    }
}

}  // namespace
}  // namespace occupipe::bench
