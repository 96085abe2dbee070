// SPDX-License-Identifier: MIT
#include "bench/cuda/driver/nvml.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace occupipe::bench {
namespace {

using State = std::map<std::string, double>;
constexpr const char* fake = OCCUPIPE_FAKE_LIBNVML;

TEST(GpuState, IsWhatTheLibraryTellsInBaseUnits) {
    GpuState gpu("0000:01:00.0", fake);
    const State expected = {{"nvml_sm_clock_hz", 1980e6},
                            {"nvml_memory_clock_hz", 3201e6},
                            {"nvml_power_w", 345.678},
                            {"nvml_temperature_c", 61},
                            {"nvml_throttle_reasons", 4}};
    EXPECT_EQ(gpu.sample(), expected);
}

TEST(GpuState, WhatAGpuDoesNotTellIsLeftOut) {
    GpuState gpu("0000:02:00.0", fake);
    EXPECT_EQ(gpu.sample(), (State{{"nvml_temperature_c", 61}}));
}

TEST(GpuState, IsSampledNowAndThen) {
    GpuState gpu("0000:01:00.0", fake);
    EXPECT_FALSE(gpu.sample().empty());
    EXPECT_TRUE(gpu.sample(std::chrono::hours(1)).empty());
    EXPECT_FALSE(gpu.sample(std::chrono::milliseconds(0)).empty());
}

TEST(GpuState, NoLibraryAndNoSuchGpuAreNoState) {
    EXPECT_TRUE(GpuState("0000:01:00.0", "no-such-library.so").sample().empty());
    EXPECT_TRUE(GpuState("0000:01:00.0", "none").sample().empty());
    EXPECT_TRUE(GpuState("0000:01:00.0", "libm.so.6").sample().empty());
    EXPECT_TRUE(GpuState("0000:09:00.0", fake).sample().empty());
    EXPECT_TRUE(GpuState("", fake).sample().empty());
}

TEST(GpuState, TheLibraryIsGivenBack) {
    void* library = dlopen(fake, RTLD_NOW);
    auto* users = reinterpret_cast<int (*)()>(dlsym(library, "fake_nvml_users"));
    {
        GpuState gpu("0000:01:00.0", fake);
        GpuState none("0000:09:00.0", fake);
        EXPECT_EQ(users(), 1);
    }
    EXPECT_EQ(users(), 0);
    dlclose(library);
}

}  // namespace
}  // namespace occupipe::bench
