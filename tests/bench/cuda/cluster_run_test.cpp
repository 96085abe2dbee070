// SPDX-License-Identifier: MIT
// What `measure --dump` does not carry (clusters), and what its tests' architectures have not: the
// rows' own kernels, executed on the host (tests/ptx).
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/stamps.h"
#include "bench/cuda/unsupported.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/ptx/machine.h"

namespace occupipe::bench {
namespace {

constexpr std::uint64_t in_address = 0x7f00'0000'0000;
constexpr std::uint64_t out_address = 0x7f01'0000'0000;
constexpr std::uint64_t stamps_address = 0x7f02'0000'0000;
constexpr unsigned groups = 4;
constexpr std::uint64_t iterations = 3;

struct Executed {
    std::vector<std::byte> out;
    ptx::Outcome outcome;
    KernelPlan plan;
    WarpStamp first;

    std::uint32_t word(std::size_t thread) const {
        std::uint32_t value = 0;
        std::memcpy(&value, &out[4 * thread], 4);
        return value;
    }
};

// Compiled once for all numbers of warps.
const CompiledKernel& compiled_for(const KernelPlan& plan, const KernelSource& source,
                                   const std::string& architecture, const TableSizes& sizes) {
    static std::map<std::pair<std::string, std::string>, CompiledKernel> known;
    const std::pair key{plan.subject(), architecture};
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    return known.emplace(key, compile_cuda(source, architecture, sizes)).first->second;
}

Executed execute(const Row& row, const std::string& architecture, unsigned warps,
                 bool copies_arrive = true) {
    Executed result;
    result.plan = {.first = &row, .chains = 1, .unroll = default_unroll(row, nullptr, 0, 1, false)};
    TableSizes sizes;
    sizes.second_level = 64 << 10;
    const KernelSource source = kernel_source(result.plan);
    const CompiledKernel& compiled = compiled_for(result.plan, source, architecture, sizes);
    EXPECT_TRUE(compiled.receipt.ok()) << format_receipt(compiled.receipt);
    const std::size_t all = std::size_t{warps} * groups;
    std::vector<ptx::Buffer> buffers = {
        {"in", in_address,
         walking_row(result.plan)
             ? global_table({.pattern = Pattern::global_stream, .bytes = sizes.second_level}, false,
                            1)
             : source.operands},
        {"out", out_address, std::vector(all * 32 * type_size(row.type), std::byte{0xa5})},
        {"stamps", stamps_address,
         std::vector<std::byte>(sizeof(StampHeader) + all * sizeof(WarpStamp))}};
    result.outcome =
        ptx::run(ptx::parse(compiled.ptx),
                 {.groups = groups,
                  .threads = warps * 32,
                  .shared_bytes = source.shared_bytes,
                  .arguments = {in_address, out_address, stamps_address, iterations, 0},
                  .copies_arrive = copies_arrive,
                  .short_clock_counts = false},
                 buffers);
    result.out = buffers[1].bytes;
    std::memcpy(&result.first, &buffers[2].bytes[sizeof(StampHeader)], sizeof result.first);
    return result;
}

void expect_count(const Row& row, const Executed& seen) {
    ASSERT_EQ(seen.outcome.intervals.size(), 3u);
    EXPECT_EQ(seen.outcome.intervals[2].at(std::string(row.ptx)),
              static_cast<std::int64_t>(iterations) * seen.plan.unroll * row.ptx_count);
    const std::vector<std::byte> poison(type_size(row.type), std::byte{0xa5});
    for (std::size_t at = 0; at < seen.out.size(); at += poison.size()) {
        ASSERT_NE(std::memcmp(&seen.out[at], poison.data(), poison.size()), 0)
            << "thread " << at / poison.size() << " left no result";
    }
}

// A group's memory may not be used before it is prepared nor after the group has left, and no one
// waits for what never comes: each would be a fault of the interpreter.
TEST(CudaClusters, EveryRowsKernelMeetsItsNeighbour) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    int rows = 0;
    for (const Row& row : instruction_table()) {
        if (row.cluster < 2) continue;
        for (const unsigned warps : {1u, 3u, 8u}) {
            SCOPED_TRACE(std::string(row.id) + " " + std::to_string(warps));
            try {
                expect_count(row, execute(row, "sm_90", warps));
            } catch (const std::runtime_error& error) {
                ADD_FAILURE() << error.what();
            }
        }
        ++rows;
    }
    EXPECT_GE(rows, 13);
}

// A warp that waits in vain ends, and what it leaves does not look measured.
TEST(CudaClusters, ACopyThatNeverComesLeavesNoStamp) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    for (const char* id : {"cp.async.bulk.cluster.512", "cp.async.bulk.multicast.2048"}) {
        for (const bool arrive : {true, false}) {
            const Executed seen = execute(*find_row(id), "sm_90", 1, arrive);
            EXPECT_EQ(seen.first.stop > seen.first.start, arrive) << id;
        }
    }
}

// An address in the cluster's window says whose memory it is (tests/ptx/state.h).
TEST(CudaClusters, AWalkStaysInTheMemoryThatTheRowNames) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    const Executed neighbour = execute(*find_row("ld.shared.cluster.u64"), "sm_90", 1);
    const Executed own = execute(*find_row("ld.shared.cluster.u64.own"), "sm_90", 1);
    for (unsigned group = 0; group < groups; ++group) {
        EXPECT_EQ(neighbour.word(group * 32) >> 24, (group % 2 ^ 1) + 1) << group;
        EXPECT_EQ(own.word(group * 32) >> 24, group % 2 + 1) << group;
        // A step goes 32 words of 8 bytes on, in a ring of 512.
        const std::uint32_t steps =
            static_cast<std::uint32_t>((iterations + 2) * neighbour.plan.unroll);
        EXPECT_EQ((neighbour.word(group * 32 + 7) & 0xffffff) - 0x400, 8 * (7 + steps * 32 % 512));
    }
}

// One wait for each step, and one more for what is on its way at the end.
TEST(CudaGroupProducts, WhatIsStillOnItsWayIsAwaitedBeforeTheClockIsRead) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    const Row& row = *find_row("wgmma.m64n8k16.f32.f16.flight4");
    const Executed seen = execute(row, "sm_90", 4);
    expect_count(row, seen);
    EXPECT_EQ(seen.outcome.intervals.at(2).at("wgmma.wait_group.sync.aligned"),
              static_cast<std::int64_t>(iterations) * seen.plan.unroll + 1);
    // The same products as those that are awaited one by one.
    const Executed awaited = execute(*find_row("wgmma.m64n8k16.f32.f16"), "sm_90", 4);
    EXPECT_EQ(seen.out, awaited.out);
}

class LaterArchitecture : public testing::TestWithParam<const char*> {};

TEST_P(LaterArchitecture, RowsThatHopperHasNotComputeFiniteNumbers) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    const int number = std::stoi(std::string(GetParam()).substr(3));
    int rows = 0;
    for (const Row& row : instruction_table()) {
        if (row.cluster > 1 || !cuda_unsupported(row, 90) || cuda_unsupported(row, number)) {
            continue;
        }
        SCOPED_TRACE(row.id);
        try {
            expect_count(row, execute(row, GetParam(), 2));
        } catch (const std::runtime_error& error) {
            ADD_FAILURE() << error.what();
        }
        ++rows;
    }
    EXPECT_GE(rows, 1);
}

INSTANTIATE_TEST_SUITE_P(Cuda, LaterArchitecture,
                         testing::Values("sm_80", "sm_89", "sm_100", "sm_120"));

}  // namespace
}  // namespace occupipe::bench
