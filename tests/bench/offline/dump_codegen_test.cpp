// SPDX-License-Identifier: MIT
// Every row's kernel can be carried, and holds then what it holds here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/offline/architecture.h"
#include "bench/offline/carrier.h"
#include "bench/offline/kernel_name.h"
#include "core/error.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/thinned.h"

namespace occupipe::bench {
namespace {

// Of which the ordinary run takes one.
constexpr int parts = 12;

class CarriedRows : public testing::TestWithParam<const char*> {};

TEST_P(CarriedRows, EveryRowIsPlainAndHasItsReceipt) {
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
    const auto backend = open_architecture(GetParam(), {}, {});
    int carried = 0;
    std::size_t number = 0;
    for (const Row& row : instruction_table()) {
        if (!thinned::taken(number++, 0, parts)) continue;
        if (backend->unsupported(row) || measures_launches(row.pattern)) continue;
        // Between two readings of %clock the compiler dissolves it: the dump says that it is
        // refused.
        if (row.pattern == Pattern::empty_loop) continue;
        const KernelPlan plan{
            .first = &row, .chains = 1, .unroll = default_unroll(row, nullptr, 0, 1, false)};
        try {
            const std::string name = kernel_name(plan);
            const CarriedKernel kernel =
                dynamic_cast<Carrier&>(*backend).carry(kernel_source(plan), name, true);
            const std::string& ptx = kernel.files.at(".ptx");
            EXPECT_THAT(ptx, testing::HasSubstr(".entry " + name + "(")) << row.id;
            for (const char* missing : {"globaltimer", "%clock64", ".func", "cluster("}) {
                EXPECT_EQ(ptx.find(missing), ptx.npos) << row.id << ": " << missing;
            }
            EXPECT_FALSE(kernel.counts.empty()) << row.id;
            ++carried;
        } catch (const DeviceError& error) {
            ADD_FAILURE() << row.id << ": " << error.what();
        }
    }
    EXPECT_GT(carried, thinned::all_cases() ? 200 : 200 / parts);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CarriedRows, testing::Values("sm_90"));

}  // namespace
}  // namespace occupipe::bench
