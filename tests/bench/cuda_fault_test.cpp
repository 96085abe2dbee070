// SPDX-License-Identifier: MIT
// Whole sweeps against a driver that fails, hangs or lies (fake_libcuda.cpp): at most the point
// under way is lost, and nothing that was not measured looks measured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "bench/cuda/cuda_backend.h"
#include "bench/harness.h"
#include "bench/journal.h"
#include "core/error.h"
#include "core/files.h"
#include "fake_driver.h"
#include "have_nvrtc.h"
#include "temporary_folder.h"

namespace occupipe::bench {
namespace {

using testing::fake_driver;
using testing::FakeDriver;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

class CudaFault : public ::testing::Test {
protected:
    void SetUp() override {
        if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
        fake.new_process();
    }
    void TearDown() override { fake.new_process(); }

    HarnessResult measure(HarnessOptions options = {}) {
        const auto backend = open_cuda(0, fake_driver);
        const auto sweep = make_sweep(*backend, {.patterns = {"fma.f32"}, .quick = true});
        options.output = output;
        return run_sweep(*backend, sweep, options);
    }
    // In a process of its own, which ends as a program does whose device hangs in a call.
    void measure_until_blocked() {
        measure({.hang_seconds = 0.2, .leave = [](const std::string& reason) {
                     std::fprintf(stderr, "%s\n", reason.c_str());
                     std::_Exit(5);
                 }});
        std::_Exit(0);
    }

    // Error of each point that has one.
    std::map<std::string, std::string> failures() {
        std::map<std::string, std::string> all;
        for (const MeasurementRow& row : read_measurements(output).rows) {
            if (row.error) all[row.name] = *row.error;
        }
        return all;
    }

    FakeDriver fake;
    TemporaryFolder folder;
    std::filesystem::path output = folder.path / "m.json";
};

TEST_F(CudaFault, AStickyFaultCostsOnePointAndTheNextProcessGoesOn) {
    fake.fault("illegal address@60");
    const HarnessResult first = measure();
    EXPECT_FALSE(first.complete);
    EXPECT_EQ(first.failed, 1u);
    EXPECT_FALSE(std::filesystem::exists(output));
    fake.new_process();
    const HarnessResult second = measure();
    EXPECT_TRUE(second.complete);
    EXPECT_EQ(second.failed, 0u);
    EXPECT_GT(second.resumed, 0u);
    const auto failed = failures();
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_THAT(failed.begin()->second, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
}

TEST_F(CudaFault, TheLastPointsFaultLeavesAWholeFile) {
    const HarnessResult whole = measure();
    ASSERT_TRUE(whole.complete);
    const auto launches = fake.kernels();
    std::filesystem::remove(output);
    fake.new_process();
    fake.fault(fmt::format("sticky@{}", launches).c_str());
    const HarnessResult result = measure();
    EXPECT_TRUE(result.complete);
    EXPECT_TRUE(result.lost.has_value());
    EXPECT_EQ(failures().size(), 1u);
}

TEST_F(CudaFault, AHangCostsOnePointAndIsNotMetAgain) {
    fake.fault("hang@60");
    const HarnessResult first = measure({.hang_seconds = 0.2});
    EXPECT_FALSE(first.complete);
    EXPECT_EQ(first.failed, 1u);
    fake.new_process();
    EXPECT_TRUE(measure().complete);
    const auto failed = failures();
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_THAT(failed.begin()->second,
                HasSubstr("the device hangs: no answer within 0.2 s in cuEventQuery"));
}

// The driver call itself does not come back: only another thread can record and leave.
TEST_F(CudaFault, ACallThatNeverComesBackCostsOnePoint) {
    fake.fault("copy blocks@60");
    EXPECT_EXIT(measure_until_blocked(), ::testing::ExitedWithCode(5),
                "no answer within 0.2 s in cuMemcpyDtoH");
    EXPECT_FALSE(std::filesystem::exists(output));
    fake.new_process();
    const HarnessResult second = measure();
    EXPECT_TRUE(second.complete);
    EXPECT_GT(second.resumed, 0u);
    EXPECT_EQ(second.failed, 1u);
    const auto failed = failures();
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_THAT(failed.begin()->second, HasSubstr("cuMemcpyDtoH; not tried again"));
}

TEST_F(CudaFault, TheUserDoesNotWaitForAHangAndThePointIsTriedOnceMore) {
    fake.fault("hang@60");
    std::size_t done = 0;
    std::atomic<bool> stop = false;
    HarnessOptions options;
    options.stop = &stop;
    options.progress = [&](const Progress&) { ++done; };
    std::thread user([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        stop = true;
    });
    const HarnessResult first = measure(options);
    user.join();
    EXPECT_FALSE(first.complete);
    EXPECT_TRUE(first.lost.has_value());
    EXPECT_EQ(first.failed, 0u);
    fake.new_process();
    const HarnessResult second = measure();
    EXPECT_TRUE(second.complete);
    EXPECT_EQ(second.resumed, done);
    EXPECT_TRUE(failures().empty());
}

}  // namespace
}  // namespace occupipe::bench
