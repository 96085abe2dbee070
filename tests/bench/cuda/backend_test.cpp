// SPDX-License-Identifier: MIT
// The whole CUDA backend against a driver that only pretends (fake_libcuda.cpp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "bench/cuda/cuda_backend.h"
#include "bench/cuda/driver/driver_api.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/driver/session.h"
#include "core/error.h"
#include "tests/bench/cuda/fake_driver.h"
#include "tests/bench/cuda/have_nvrtc.h"

namespace occupipe::bench {
namespace {

using ::testing::HasSubstr;

using testing::fake_driver;
using testing::FakeDriver;

KernelSource source_of(const char* id, int chains = 1) {
    const Row& row = *find_row(id);
    return kernel_source(
        {.first = &row, .second = nullptr, .beta = 0, .chains = chains, .unroll = 16});
}

LaunchRequest request(int group_warps, int groups) {
    return {.shape = {.group_warps = group_warps,
                      .concurrent_groups = groups,
                      .chains = 1,
                      .depth = 160},
            .iterations = 10,
            .start = 77};
}

std::string failure(const std::function<void()>& act) {
    try {
        act();
    } catch (const DeviceError& error) {
        return error.what();
    }
    return "nothing failed";
}

class CudaBackendTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
        fake.fault("");
    }
    void TearDown() override { EXPECT_EQ(fake.live(), 0); }

    FakeDriver fake;
};

TEST(CudaDriver, AMissingDriverMeansNoDevices) {
    EXPECT_TRUE(cuda_devices("no-such-library.so").empty());
    EXPECT_THROW(open_cuda(0, "no-such-library.so"), NothingToRunOn);
}

TEST(CudaDriver, ALibraryThatIsNoDriverIsNamed) {
    EXPECT_THAT(failure([] { Driver("libm.so.6"); }), HasSubstr("libm.so.6 has no cuInit"));
    EXPECT_TRUE(cuda_devices("libm.so.6").empty());
}

TEST(CudaDriver, ADriverWithoutGpuMeansNoDevices) {
    FakeDriver fake;
    fake.fault("no gpu");
    EXPECT_TRUE(cuda_devices(fake_driver).empty());
    EXPECT_THROW(Session(fake_driver, 0), NothingToRunOn);
}

TEST(CudaDriver, ABrokenDriverIsReportedByCallAndName) {
    FakeDriver fake;
    fake.fault("init");
    EXPECT_EQ(failure([] { Session(fake_driver, 0); }),
              "CUDA: cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)");
    EXPECT_TRUE(cuda_devices(fake_driver).empty());
}

TEST(CudaDriver, ADeviceThatIsNotThereIsNothingToRunOn) {
    FakeDriver fake;
    fake.fault("");
    EXPECT_THROW(Session(fake_driver, 1), NothingToRunOn);
    EXPECT_EQ(fake.live(), 0);
}

TEST(CudaDriver, FactsComeFromTheDriver) {
    FakeDriver fake;
    fake.fault("");
    const auto devices = cuda_devices(fake_driver);
    ASSERT_EQ(devices.size(), 1u);
    const DeviceFacts& facts = devices.front();
    EXPECT_EQ(facts.id, "cuda:0");
    EXPECT_EQ(facts.name, "Fake H0");
    EXPECT_EQ(facts.architecture, "Hopper");
    EXPECT_EQ(facts.compute_capability, "9.0");
    EXPECT_EQ(facts.cores, 4);
    EXPECT_EQ(facts.limits.warps, 64);
    EXPECT_EQ(facts.limits.groups, 32);
    EXPECT_EQ(facts.limits.group_warps, 32);
    EXPECT_EQ(facts.limits.registers, 65536);
    EXPECT_EQ(facts.limits.shared_memory_bytes, 233472);
    EXPECT_EQ(facts.nominal_clock_hz, 1.98e9);
    EXPECT_EQ(facts.more.at("ecc"), "on");
    EXPECT_EQ(facts.more.at("l2_bytes"), "1048576");
}

TEST_F(CudaBackendTest, ALaunchIsMeasuredByTheStampsOfEachCore) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("fma.f32"));
    const Observation seen = backend->launch(*program, request(2, 3));
    EXPECT_EQ(fake.last_launch(0), 12u);  // 4 cores of 3 groups
    EXPECT_EQ(fake.last_launch(1), 64u);
    EXPECT_EQ(fake.last_launch(4), 10u);
    EXPECT_EQ(fake.last_launch(5), 77u);
    // Three groups fit on a core, a fourth does not: each takes more than a quarter.
    const std::uint64_t taken = fake.last_launch(2) + 16 + 1024;
    EXPECT_LE(taken * 3, 233472u);
    EXPECT_GT(taken * 4, 233472u);
    EXPECT_EQ(seen.cycles, 1001.0);  // 10 iterations of 100, and the second warp starts 1 later
    EXPECT_EQ(seen.seconds, 0.25e-3);
    EXPECT_EQ(seen.counters.at("start_skew_cycles"), 1.0);
    EXPECT_EQ(seen.counters.at("cores_used"), 4.0);
    EXPECT_EQ(seen.counters.at("achieved_warps"), 6.0);
    EXPECT_EQ(seen.counters.at("busiest_scheduler_warps"), 2.0);  // slots 0 to 5 of 4 schedulers
    EXPECT_THAT(program->receipt().text, HasSubstr("machine code 16 FFMA"));
    EXPECT_THAT(program->receipt().hash, ::testing::StartsWith("cubin xxh128:"));
    EXPECT_GT(program->receipt().registers.value_or(0), 8);
    EXPECT_FALSE(seen.clock_hz);  // 500 ns are too few steps of 32 ns to tell
}

TEST_F(CudaBackendTest, AGraphHoldsAllLaunchesAndIsTimedTheSecondTime) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("launch.graph"));
    const int before = fake.live();
    const Observation seen = backend->launch(*program, request(1, 1));
    EXPECT_EQ(fake.captured(), 10);
    EXPECT_EQ(fake.graph_launches(), 2);
    EXPECT_EQ(seen.seconds, 0.25e-3);
    EXPECT_FALSE(seen.cycles);
    fake.fault("graph");
    EXPECT_THAT(failure([&] { backend->launch(*program, request(1, 1)); }),
                HasSubstr("cuGraphInstantiate: CUDA_ERROR_OUT_OF_MEMORY"));
    EXPECT_EQ(fake.live(), before + 1);  // the buffer that the launches were given
}

TEST_F(CudaBackendTest, ALongLaunchWitnessesTheClock) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("fma.f32"));
    LaunchRequest longer = request(1, 1);
    longer.iterations = 1000;
    EXPECT_EQ(backend->launch(*program, longer).clock_hz, 2e9);
    EXPECT_EQ(backend->witness_clock(), 2e9);
    EXPECT_EQ(backend->facts().more.at("global_timer_tick_ns"), "32");
}

TEST_F(CudaBackendTest, EveryReachableShapeIsPlaced) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("ld.shared.u32"));
    for (int group_warps = 1; group_warps <= 32; group_warps *= 2) {
        for (int groups = 1; groups <= 32 && groups * group_warps <= 64; ++groups) {
            EXPECT_NO_THROW(backend->launch(*program, request(group_warps, groups)))
                << group_warps << " x " << groups;
        }
    }
}

// Whatever the driver's number of static bytes contains: with another group a core would not hold
// the start line's groups as the shape says.
TEST_F(CudaBackendTest, ExactlyTheWantedGroupsAreResident) {
    for (const char* counting : {"", "static shared memory holds the reserved"}) {
        fake.fault(counting);
        const auto backend = open_cuda(0, fake_driver);
        const auto program = backend->compile(source_of("ld.shared.u32"));
        for (int groups = 1; groups <= 32; ++groups) {
            const Observation seen = backend->launch(*program, request(1, groups));
            EXPECT_EQ(fake.resident(1), groups) << counting;
            EXPECT_EQ(seen.counters.at("static_shared_bytes"), *counting ? 1040 : 16);
            EXPECT_EQ(seen.counters.at("dynamic_shared_bytes"),
                      static_cast<double>(fake.last_launch(2)));
        }
    }
}

TEST_F(CudaBackendTest, AShapeBeyondTheLimitsIsRefused) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("fma.f32"));
    EXPECT_THAT(failure([&] { backend->launch(*program, request(64, 1)); }),
                HasSubstr("64 warps per group requested, but the GPU holds 32"));
    EXPECT_THAT(failure([&] { backend->launch(*program, request(1, 33)); }),
                HasSubstr("33 groups per core"));
    EXPECT_THAT(failure([&] { backend->launch(*program, request(32, 3)); }),
                HasSubstr("96 warps per core"));
}

TEST_F(CudaBackendTest, EveryPatternRunsAndRepeats) {
    const auto backend = open_cuda(0, fake_driver);
    for (const char* id :
         {"add.f64", "add.s32", "ld.shared.u32", "ld.global.u32", "ld.global.f32", "bar.sync"}) {
        const auto program = backend->compile(source_of(id));
        for (int i = 0; i < 2; ++i) {
            EXPECT_NO_THROW(backend->launch(*program, request(4, 2))) << id;
        }
    }
}

TEST_F(CudaBackendTest, TheChaseTableHoldsTheAddressOfTheNextLine) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("ld.global.u32"));
    backend->launch(*program, request(1, 1));
    const std::uint64_t base = fake.last_launch(3);
    EXPECT_EQ(backend->facts().more.at("table_bytes"), std::to_string(16 << 20));
    const std::uint64_t upper = base >> 32 << 32;
    std::uint64_t at = base + 12;  // the third lane's walk
    for (int step = 0; step < (16 << 20) / 128; ++step) {
        std::uint32_t next = 0;
        // NOLINTNEXTLINE(performance-no-int-to-ptr): a device's address
        std::memcpy(&next, reinterpret_cast<const void*>(at), 4);
        const bool last = step == (16 << 20) / 128 - 1;
        ASSERT_EQ(upper + next, last ? base + 12 : at + 128) << step;
        at = upper + next;
    }
}

// Whatever was launched before: a table of the second-level cache lies there, read by each core; of
// one beyond it nothing does.
TEST_F(CudaBackendTest, ALaunchFindsInTheCacheWhatItsRowSays) {
    const auto backend = open_cuda(0, fake_driver);
    const auto cached = backend->compile(source_of("ld.global.l2.u32"));
    const auto beyond = backend->compile(source_of("ld.global.u32"));
    for (int i = 0; i < 2; ++i) {
        backend->launch(*cached, request(1, 1));
        EXPECT_EQ(fake.last_read(0), fake.last_launch(3));
        EXPECT_EQ(fake.last_read(1), 256u << 10);  // a quarter of the cache
        EXPECT_EQ(fake.last_read(2), 1u);
        backend->launch(*beyond, request(1, 1));
        EXPECT_NE(fake.last_read(0), fake.last_launch(3));
        EXPECT_EQ(fake.last_read(1), 4u << 20);  // four times the cache
        EXPECT_EQ(fake.last_read(2), 0u);
    }
}

// Points come in random order; a table is large.
TEST_F(CudaBackendTest, TablesAreBuiltOnceAsLongAsTheyFitAQuarterOfTheMemory) {
    const auto backend = open_cuda(0, fake_driver);
    const auto near = backend->compile(source_of("ld.global.l1.u32"));
    const auto middle = backend->compile(source_of("ld.global.l2.u32"));
    const auto far = backend->compile(source_of("ld.global.u32"));
    backend->launch(*near, request(1, 1));
    backend->launch(*middle, request(1, 1));
    const int built = fake.copies_to_device();
    for (int i = 0; i < 3; ++i) {
        backend->launch(*near, request(1, 1));
        backend->launch(*middle, request(1, 1));
    }
    // Beside the start line's words of each launch.
    EXPECT_EQ(fake.copies_to_device(), built + 6);
    backend->launch(*far, request(1, 1));  // a quarter of the memory by itself
    EXPECT_EQ(fake.copies_to_device(), built + 6 + 2);
    backend->launch(*near, request(1, 1));
    EXPECT_EQ(fake.copies_to_device(), built + 6 + 4);
}

TEST_F(CudaBackendTest, ATextureLiesOverItsTableAndIsGivenBack) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("tex.1d.u32"));
    backend->launch(*program, request(1, 1));
    const std::uint64_t base = fake.last_launch(3);
    std::uint32_t first = 0;
    std::uint64_t handle = 0;
    const std::uint64_t behind = base + (16u << 10) + global_table_slack_words * 4;
    // NOLINTBEGIN(performance-no-int-to-ptr): a device's addresses
    std::memcpy(&first, reinterpret_cast<const void*>(base), 4);
    std::memcpy(&handle, reinterpret_cast<const void*>(behind), 8);
    // NOLINTEND(performance-no-int-to-ptr)
    EXPECT_EQ(first, 32u);    // the next line's first word, by its index
    EXPECT_EQ(handle, base);  // the pretended driver's handles are addresses
}

TEST_F(CudaBackendTest, WhatGoesWrongOnTheGpuIsReported) {
    const auto backend = open_cuda(0, fake_driver);
    const auto program = backend->compile(source_of("fma.f32"));
    const auto with = [&](const char* fault) {
        fake.fault(fault);
        std::string words = failure([&] { backend->launch(*program, request(2, 2)); });
        fake.fault("");
        return words;
    };
    EXPECT_EQ(with("launch"), "CUDA: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)");
    EXPECT_THAT(with("registers"), HasSubstr("24 registers per thread and 16 bytes of static"));
    EXPECT_THAT(with("missed"), HasSubstr("3 of 8 groups waited for the common start in vain"));
    EXPECT_THAT(with("placement"),
                HasSubstr("2 on each of 4 cores expected, 1 to 3 on 4 cores seen"));
    EXPECT_THAT(with("no stamp"), HasSubstr("warp 14 wrote no times"));
    EXPECT_THAT(with("unwritten"), HasSubstr("thread 3 left no result"));
    EXPECT_THAT(with("infinite"), HasSubstr("thread 1's result is not finite"));
    EXPECT_EQ(with(""), "nothing failed");
    EXPECT_EQ(with("execution"), "CUDA: cuEventQuery: CUDA_ERROR_LAUNCH_FAILED (719)");
    // Nothing is asked of a context that has ended.
    EXPECT_THAT(with(""), HasSubstr("the device was lost earlier"));
    fake.new_process();
}

TEST_F(CudaBackendTest, OpeningFailsCleanly) {
    fake.fault("memory");
    EXPECT_EQ(failure([] { open_cuda(0, fake_driver); }),
              "CUDA: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");
    fake.fault("pascal");
    EXPECT_THAT(failure([] { open_cuda(0, fake_driver); }), HasSubstr("older than Volta"));
}

TEST_F(CudaBackendTest, ADriverOlderThanTheCompilerIsNamed) {
    if (nvrtc().version() < "13") GTEST_SKIP() << "the pretended driver is for CUDA 12.4";
    fake.fault("old");
    EXPECT_THAT(
        failure([] { open_cuda(0, fake_driver); }),
        ::testing::AllOf(HasSubstr("cuModuleLoadData"),
                         HasSubstr("the driver is for CUDA 12.4, the machine code is by NVRTC 13."),
                         HasSubstr("use an NVRTC of CUDA 12.4")));
}

TEST_F(CudaBackendTest, AKernelWithoutAProperReceiptIsNotLoaded) {
    const auto backend = open_cuda(0, fake_driver);
    KernelSource source = source_of("fma.f32");
    const std::string step = "FMA_F32(x0, a, b);";
    source.body.erase(source.body.find(step), step.size());
    EXPECT_THAT(failure([&] { backend->compile(source); }),
                HasSubstr("REFUSED: machine code: 15 FFMA in the timed loop, not 16"));
}

}  // namespace
}  // namespace occupipe::bench
