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
#include <vector>

#include "bench/cuda/cuda_backend.h"
#include "bench/harness/harness.h"
#include "bench/harness/journal.h"
#include "core/error.h"
#include "core/files/files.h"
#include "tests/bench/cuda/fake_driver.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using test::TemporaryFolder;
using testing::fake_driver;
using testing::FakeDriver;
using ::testing::HasSubstr;

// Seconds: so long that a busy machine does not make a call look like a hang.
constexpr double hang_limit = 2;

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
    std::map<std::string, std::string> context() { return read_measurements(output).context; }
    // Of every row that did not fail.
    std::vector<double> counters(const std::string& name) {
        std::vector<double> all;
        for (const MeasurementRow& row : read_measurements(output).rows) {
            if (row.error) continue;
            const auto found = row.counters.find(name);
            if (found) all.push_back(*found);
        }
        return all;
    }
    // In a process of its own, which ends as a program does whose device hangs in a call.
    void measure_until_blocked() {
        measure({.hang_seconds = hang_limit, .leave = [](const std::string& reason) {
                     std::fprintf(stderr, "%s\n", reason.c_str());
                     std::_Exit(5);
                 }});
        std::_Exit(0);
    }

    // Error of each point that has one.
    std::map<std::string, std::string> failures() {
        std::map<std::string, std::string> all;
        for (const MeasurementRow& row : read_measurements(output).rows) {
            if (row.error) all[row.name()] = *row.error;
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
    const HarnessResult first = measure({.hang_seconds = hang_limit});
    EXPECT_FALSE(first.complete);
    EXPECT_EQ(first.failed, 1u);
    fake.new_process();
    EXPECT_TRUE(measure().complete);
    const auto failed = failures();
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_THAT(failed.begin()->second,
                HasSubstr("the device hangs: no answer within 2 s in cuEventQuery"));
}

// The driver call itself does not come back: only another thread can record and leave.
TEST_F(CudaFault, ACallThatNeverComesBackCostsOnePoint) {
    fake.fault("copy blocks@60");
    EXPECT_EXIT(measure_until_blocked(), ::testing::ExitedWithCode(5),
                "no answer within 2 s in cuMemcpyDtoH");
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
        while (!fake.hanging()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
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

TEST_F(CudaFault, WhatFailsByChanceIsTriedAgain) {
    for (const char* chance : {"placement@2", "missed@2", "placement@60", "missed@61"}) {
        fake.new_process();
        fake.fault(chance);
        std::filesystem::remove(output);
        EXPECT_TRUE(measure().complete);
        EXPECT_TRUE(failures().empty()) << chance;
        EXPECT_EQ(counters("retries"), std::vector<double>{1}) << chance;
    }
}

TEST_F(CudaFault, WhatAlwaysFailsIsTriedFourTimes) {
    fake.fault("placement");
    const HarnessResult result = measure();
    EXPECT_TRUE(result.complete);
    EXPECT_FALSE(result.lost);
    const auto failed = failures();
    EXPECT_EQ(failed.size(), result.points);
    EXPECT_THAT(failed.begin()->second, ::testing::EndsWith("seen (4 times)"));
}

TEST_F(CudaFault, AMovingClockIsRejectedAndNeverANumber) {
    fake.fault("clock moves");
    const HarnessResult result = measure();
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.failed, result.points);
    for (const auto& [point, error] : failures()) {
        EXPECT_THAT(error, HasSubstr("the core clock moved by up to"));
        EXPECT_THAT(error, HasSubstr("of 12 attempts; all rejected"));
    }
    EXPECT_THAT(read_text_file(output), ::testing::Not(::testing::ContainsRegex("nan|inf[^o]")));
}

TEST_F(CudaFault, AnotherClockThanTheRunsIsMarked) {
    HarnessOptions options;
    std::size_t done = 0;
    options.progress = [&](const Progress&) {
        if (++done == 10) fake.fault("throttled");
    };
    const HarnessResult result = measure(options);
    EXPECT_TRUE(result.complete);
    EXPECT_TRUE(failures().empty());
    EXPECT_EQ(context().at("reference_clock_hz"), "2000000000");
    std::size_t marked = 0;
    for (const MeasurementRow& row : read_measurements(output).rows) {
        const auto deviation = row.counters.find("clock_deviation");
        const bool slow = *row.clock_hz < 1.9e9;
        ASSERT_EQ(deviation.has_value(), slow);
        if (!slow) continue;
        EXPECT_NEAR(*deviation, -0.2, 0.01);
        ++marked;
    }
    EXPECT_GT(marked, 0u);
    EXPECT_THAT(context().at("clock_deviation"),
                ::testing::StartsWith(fmt::format("{} of ", marked)));
}

// Gone on with at another clock, what is new is measured against what was there.
TEST_F(CudaFault, ALaterSessionHasTheFirstOnesReference) {
    std::size_t done = 0;
    std::atomic<bool> stop = false;
    HarnessOptions first;
    first.stop = &stop;
    first.progress = [&](const Progress&) { stop = ++done == 10; };
    EXPECT_FALSE(measure(first).complete);
    fake.new_process();
    fake.fault("throttled");
    std::string said;
    HarnessOptions second;
    second.note = [&](const std::string& text) { said += text; };
    EXPECT_TRUE(measure(second).complete);
    EXPECT_THAT(said, HasSubstr("1600 MHz now and was 2000 MHz when this measurement began"));
    EXPECT_THAT(context().at("clock_warning"), HasSubstr("1600 MHz now"));
    EXPECT_EQ(context().at("reference_clock_hz"), "2000000000");
    for (const MeasurementRow& row : read_measurements(output).rows) {
        EXPECT_EQ(row.counters.contains("clock_deviation"), *row.clock_hz < 1.9e9);
    }
}

TEST_F(CudaFault, AClockFarBelowWhatTheDeviceClaimsIsSaid) {
    fake.fault("low clock");
    std::string said;
    HarnessOptions options;
    options.note = [&](const std::string& text) { said += text; };
    EXPECT_TRUE(measure(options).complete);
    EXPECT_THAT(said, HasSubstr("stays at 345 MHz, below half of the 1980 MHz"));
    EXPECT_THAT(context().at("clock_warning"), HasSubstr("stays at 345 MHz"));
}

TEST_F(CudaFault, AClockThatRisesFromIdleIsWaitedFor) {
    fake.fault("clock rises");
    EXPECT_TRUE(measure().complete);
    EXPECT_TRUE(failures().empty());
    EXPECT_EQ(context().at("reference_clock_hz"), "2000000000");
    EXPECT_TRUE(counters("clock_deviation").empty());
}

}  // namespace
}  // namespace occupipe::bench
