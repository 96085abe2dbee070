// SPDX-License-Identifier: MIT
// What AutoMatch asks of devices of OpenCL's and CUDA's: PoCL's CPU, and a driver that executes
// machine code on the host with a clock of its own (tests/bench/cuda/executing_driver.h).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>

#include "automatch/device.h"
#include "automatch/fit/fit_match.h"
#include "automatch/gpu/measure_device.h"
#include "automatch/rows.h"
#include "bench/devices.h"
#include "bench/harness/journal.h"
#include "core/error.h"
#include "core/files/files.h"
#include "tests/bench/cuda/executing_driver.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::automatch {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

// Tells less of itself than the device behind it is, so that it takes no time.
class Smaller : public ProbedDevice {
public:
    explicit Smaller(std::unique_ptr<ProbedDevice> device, std::int64_t last_cache_bytes)
        : device_(std::move(device)), facts_(device_->facts()) {
        facts_.lanes = facts_.lanes ? std::optional(*facts_.lanes / facts_.cores) : std::nullopt;
        facts_.cores = 1;
        facts_.last_cache_bytes = last_cache_bytes;
        facts_.shared_bytes = 65536;
    }
    const ProbedFacts& facts() const override { return facts_; }
    void set_memory(std::span<const std::byte> bytes) override { device_->set_memory(bytes); }
    void set_first_result(std::uint32_t word) override { device_->set_first_result(word); }
    void read_results(std::span<std::byte> into) override { device_->read_results(into); }
    double run(const ProbeLaunch& launch) override { return device_->run(launch); }

private:
    std::unique_ptr<ProbedDevice> device_;
    ProbedFacts facts_;
};

const MeasurementRow& row_of(const MeasurementFile& file, const std::string& begin) {
    for (const MeasurementRow& row : file.rows)
        if (row.name().starts_with(begin)) return row;
    throw std::logic_error("no row " + begin);
}

MeasurementFile measured(ProbedDevice& device, const fs::path& output) {
    std::atomic<bool> stop = false;
    ProbeOptions options{.output = output,
                         .quick = true,
                         .seconds_per_repetition = 2e-5,
                         .repetitions = 4,
                         .stop = &stop,
                         .version = "1"};
    // Stopped in the middle, and gone on with.
    options.progress = [&](std::size_t done, std::size_t, const std::string&) { stop = done == 3; };
    EXPECT_FALSE(measure_probed_device(device, options));
    EXPECT_TRUE(fs::exists(bench::Journal::path_for(output)));
    stop = false;
    options.progress = {};
    EXPECT_TRUE(measure_probed_device(device, options));
    EXPECT_THROW(measure_probed_device(device, options), InputError);  // exists
    return read_measurements(output);
}

// The clock is one nanosecond a warp-instruction of the groups that a core holds at once: rates
// have a roof that no count of ours can pass, and latencies a floor.
class ProbedCuda : public testing::Test {
protected:
    void SetUp() override {
        if (!bench::have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed";
        setenv("OCCUPIPE_CUDA_DRIVER", OCCUPIPE_FORWARDING_LIBCUDA, 1);
    }
    void TearDown() override {
        unsetenv("OCCUPIPE_CUDA_DRIVER");
        test::spoilt_byte.reset();
    }
    TemporaryFolder folder;
};

TEST_F(ProbedCuda, NumbersAreThoseOfTheDriversClock) {
    auto real = open_probed_device("cuda:0");
    EXPECT_EQ(real->facts().lanes, 36 * 64);  // of compute capability 7.5
    EXPECT_EQ(real->facts().last_cache_bytes, 4 << 20);
    Smaller device(std::move(real), 64 << 10);
    const MeasurementFile file = measured(device, folder.path / "gpu.json");
    const FitOutcome outcome = fit_match_profile({&file, 1});
    const GpuProfile again = parse_profile(format_profile(outcome.profile), "again");
    const Device fitted = device_of(again);
    EXPECT_EQ(fitted.processors, 64);
    EXPECT_EQ(fitted.line_bytes, 128);
    EXPECT_EQ(fitted.fast_bytes, 65536 + (64 << 10));
    EXPECT_EQ(fitted.vector_width, 1);
    // Four groups of 256 at once (Turing holds 1,024 threads): 4 warp-instructions a nanosecond, 64
    // operations each; the loop's own instructions are less than a tenth.
    const double peak = 4e9 * 64 / 64;
    EXPECT_LT(fitted.flops, peak);
    EXPECT_GT(fitted.flops, 0.9 * peak);
    ASSERT_TRUE(fitted.f32_flops);
    EXPECT_LT(*fitted.f32_flops, peak);
    EXPECT_GT(*fitted.f32_flops, 0.9 * peak);
    // A group of one warp of which sixteen are held at once; a step is a load and an address.
    EXPECT_GT(fitted.slow_latency, 1e-9 / 16);
    EXPECT_LT(fitted.slow_latency, 4e-9 / 16);
    EXPECT_GT(fitted.fast_latency, 1e-9 / 16);
    EXPECT_LT(fitted.fast_latency, 4e-9 / 4);
    // A load instruction of a warp is 512 bytes, and each word goes into a sum.
    EXPECT_LT(fitted.slow_bandwidth, 4e9 * 512);
    EXPECT_GT(fitted.slow_bandwidth, 4e9 * 512 / 16);
    EXPECT_LT(fitted.fast_bandwidth, 4e9 * 512);
    EXPECT_GT(fitted.fast_bandwidth, 4e9 * 512 / 16);
    // Four groups of 32 warps, one at once, of a kernel of n instructions: a whole number.
    const double instructions = fitted.synchronisation / (4 * 32 * 1e-9);
    EXPECT_NEAR(instructions, std::round(instructions), 1e-3);
    EXPECT_GE(instructions, 2);
    EXPECT_LE(instructions, 32);
}

TEST_F(ProbedCuda, AKernelThatDoesNotDoItsWorkIsFound) {
    Smaller device(open_probed_device("cuda:0"), 64 << 10);
    test::spoilt_byte = 2;
    const ProbeOptions options{
        .output = folder.path / "gpu.json", .seconds_per_repetition = 2e-5, .repetitions = 2};
    try {
        measure_probed_device(device, options);
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("match.peak.f64"), HasSubstr("it should be")));
    }
}

TEST(ProbedDevices, WrongWordsAndMissingDevices) {
    for (const char* wrong : {"gpu", "cuda", "cuda:", "cuda:0x", "opencl:0", "opencl:0.0.0"})
        EXPECT_THROW(open_probed_device(wrong), InputError) << wrong;
    EXPECT_THROW(open_probed_device("opencl:99.0"), NothingToRunOn);
    setenv("OCCUPIPE_CUDA_DRIVER", "none", 1);
    EXPECT_THROW(open_probed_device("cuda:0"), NothingToRunOn);
    unsetenv("OCCUPIPE_CUDA_DRIVER");
}

// 32-bit additions a clock and core (CUDA C++ Programming Guide 13.0, table of throughputs).
TEST(ProbedDevices, LanesOfNvidiasCores) {
    for (const auto& [major, minor, lanes] : {std::tuple{5, 2, 128},
                                              {6, 0, 64},
                                              {6, 1, 128},
                                              {7, 0, 64},
                                              {7, 5, 64},
                                              {8, 0, 64},
                                              {8, 6, 128},
                                              {8, 9, 128},
                                              {9, 0, 128},
                                              {10, 0, 128},
                                              {12, 0, 128}})
        EXPECT_EQ(nvidia_lanes(major, minor), lanes) << major << "." << minor;
    EXPECT_FALSE(nvidia_lanes(3, 5));
    EXPECT_FALSE(nvidia_lanes(13, 0));
}

TEST(ProbedDevices, WorkingSetsReachBeyondTheLastCache) {
    ProbedFacts facts{.cores = 10, .most_items = 1024, .memory_bytes = std::int64_t{8} << 30};
    const auto largest = [&] {
        std::size_t bytes = 0;
        for (const auto& point : probe_points(facts, true)) bytes = std::max(bytes, point.bytes);
        return bytes;
    };
    facts.last_cache_bytes = 3 << 20;
    EXPECT_EQ(largest(), std::size_t{16} << 20);
    facts.last_cache_bytes.reset();
    EXPECT_EQ(largest(), std::size_t{256} << 20);
    facts.memory_bytes = 64 << 20;
    EXPECT_EQ(largest(), std::size_t{16} << 20);
    std::set<std::string> names;
    for (const auto& point : probe_points(facts, false))
        EXPECT_TRUE(names.insert(point.name).second) << point.name;
    EXPECT_THAT(names, Contains("match.launch/launches:512"));
    EXPECT_THAT(names, Not(Contains(HasSubstr("shared"))));  // it has none
    facts.f64 = false;
    for (const auto& point : probe_points(facts, false))
        EXPECT_THAT(point.name, Not(HasSubstr("f64")));
}

// Times on a busy machine are nobody's oracle: that kernels do what they say is, which measuring
// checks itself.
TEST(ProbedDevices, PoclsCpuFromTheKernelsToAProfile) {
    const TemporaryFolder folder, cache;
    setenv("POCL_CACHE_DIR", cache.path.c_str(), 1);
    std::string pocl;
    for (const bench::DeviceFacts& facts : bench::list_devices())
        if (facts.backend == "opencl" && facts.cpu) pocl = facts.id;
    if (pocl.empty()) GTEST_SKIP() << "no OpenCL CPU on this machine (package pocl-opencl-icd)";
    Smaller device(open_probed_device(pocl), 64 << 10);
    const MeasurementFile file = measured(device, folder.path / "cpu.json");
    EXPECT_EQ(row_of(file, "match.peak.f64").counters.at(match_vector_width), 1);
    for (const MeasurementRow& row : file.rows) EXPECT_GT(row.seconds, 0) << row.name();
    const auto fit = fit_match({&file, 1});
    ASSERT_TRUE(fit);
    EXPECT_THAT(fit->notes, Contains(HasSubstr("a CPU through OpenCL")));
    EXPECT_EQ(fit->device.processors, 1);
    EXPECT_EQ(fit->device.fast_bytes, 65536 + (64 << 10));
    // Vector units do more than one work-item at a time: no peak, and no bound follows from it.
    ASSERT_TRUE(fit->device.flops_per_second);
    EXPECT_EQ(fit->device.flops_per_second->kind, Estimate::Kind::lower_bound);
    GpuProfile profile;
    profile.match = fit->device;
    EXPECT_THAT([&] { device_of(profile); },
                ThrowsMessage<InputError>(HasSubstr("π0, of which only a bound is known")));
    for (const auto* number :
         {&fit->device.fast_bytes_per_second, &fit->device.fast_latency_seconds,
          &fit->device.slow_bytes_per_second, &fit->device.slow_latency_seconds}) {
        ASSERT_TRUE(*number);
        EXPECT_GT((*number)->value, 0);
        EXPECT_TRUE((*number)->std_error);
    }
}

// By hand, of times that are given: 64 launches in 100 µs and 512 in 548 µs are 1 µs each.
MeasurementFile given(bool tells) {
    MeasurementFile file;
    file.path = "given.json";
    file.context = {{"backend", "opencl"},
                    {"device_name", "given"},
                    {"device_type", "gpu"},
                    {"cores", "4"},
                    {"warp_size", "32"},
                    {match_line_context, "128"},
                    {match_shared_context, "65536"}};
    if (tells) {
        file.context[match_lanes_context] = "256";
        file.context[match_lanes_source_context] = "64 a core, its table";
        file.context[match_last_cache_context] = "4194304";
    }
    const auto add = [&](const std::string& name, const char* counter, double amount,
                         double seconds, std::map<std::string, double> more) {
        for (int i = 0; i < 12; ++i) {
            MeasurementRow row;
            row.other_name = name;
            row.subject = name.substr(0, name.find('/'));
            row.repetition = i;
            row.seconds = seconds * (i < 4 ? 1 : 1.2);  // the fastest count
            row.counters = more;
            row.counters[counter] = amount;
            file.rows.push_back(row);
        }
    };
    add("match.peak.f64/vector_width:1/groups:32", match_operations, 1e9, 1e9 / 512e9,
        {{match_vector_width, 1}});
    add("match.peak.f32/vector_width:1/groups:32", match_operations, 1e9, 1e9 / 1024e9,
        {{match_vector_width, 1}});
    add("match.read_shared/groups:32", match_bytes, 1e6, 1e6 / 1200e9, {});
    add("match.chase_shared/groups:1", match_steps, 1e3, 1e3 * 20e-9, {});
    for (double bytes = 16384; bytes <= 16777216; bytes *= 2) {
        const bool inside = bytes <= 4194304;
        add(fmt::format("match.read/working_set_bytes:{:.0f}/groups:32", bytes), match_bytes, 1e6,
            1e6 / (inside ? 400e9 : 100e9), {{match_working_set, bytes}});
        add(fmt::format("match.chase/working_set_bytes:{:.0f}/groups:1", bytes), match_steps, 1e3,
            1e3 * (inside ? 200e-9 : 500e-9), {{match_working_set, bytes}});
    }
    add("match.launch/launches:64", match_launches, 64, 100e-6, {});
    add("match.launch/launches:512", match_launches, 512, 548e-6, {});
    return file;
}

TEST(ProbedDevices, GivesBackWhatWasPutIn) {
    const MeasurementFile file = given(true);
    const auto fit = fit_match({&file, 1});
    ASSERT_TRUE(fit);
    const MatchDevice& d = fit->device;
    EXPECT_EQ(d.processors, 256);
    EXPECT_EQ(d.vector_width, 1);
    EXPECT_EQ(d.fast_bytes, 4 * 65536 + 4194304);
    EXPECT_NEAR(d.flops_per_second->value, 2e9, 1);
    EXPECT_NEAR(d.f32_flops_per_second->value, 4e9, 1);
    EXPECT_NEAR(d.fast_bytes_per_second->value, 600e9, 1);  // harmonic mean of 1200 and 400
    EXPECT_NEAR(d.fast_latency_seconds->value, 110e-9, 1e-15);
    EXPECT_NEAR(d.slow_bytes_per_second->value, 100e9, 1);
    EXPECT_NEAR(d.slow_latency_seconds->value, 500e-9, 1e-15);
    EXPECT_NEAR(d.synchronisation_seconds->value, 1e-6, 1e-13);
    EXPECT_THAT(d.fast_latency_seconds->note,
                AllOf(HasSubstr("shared memory 20"), HasSubstr("last cache 200")));
    EXPECT_THAT(d.flops_per_second->note, HasSubstr("64 a core"));
    EXPECT_THAT(fit->notes, Contains(HasSubstr("leave the last cache between 4 MiB and 8 MiB")));
}

TEST(ProbedDevices, WhatIsNotToldIsNotKnown) {
    const MeasurementFile file = given(false);
    const auto fit = fit_match({&file, 1});
    const MatchDevice& d = fit->device;
    EXPECT_FALSE(d.processors);
    EXPECT_FALSE(d.flops_per_second);
    EXPECT_FALSE(d.fast_bytes);
    EXPECT_FALSE(d.fast_bytes_per_second);
    EXPECT_EQ(d.slow_latency_seconds->kind, Estimate::Kind::lower_bound);
    EXPECT_EQ(d.slow_bytes_per_second->kind, Estimate::Kind::upper_bound);
    EXPECT_THAT(fit->notes, AllOf(Contains(HasSubstr("Z is not known")),
                                  Contains(HasSubstr("all together reach 512 GFLOP/s"))));
    GpuProfile profile;
    profile.device.name = "given";
    profile.match = d;
    EXPECT_THROW(device_of(profile), InputError);
}

}  // namespace
}  // namespace occupipe::automatch
