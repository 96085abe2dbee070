// SPDX-License-Identifier: MIT
// From a CPU to a profile's `match` section: what the system tells, what is measured, what is made
// of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "automatch/cpu/host.h"
#include "automatch/cpu/measure_host.h"
#include "automatch/cpu/probes.h"
#include "automatch/cpu/team.h"
#include "automatch/device.h"
#include "automatch/fit/fit_match.h"
#include "automatch/rows.h"
#include "bench/harness/journal.h"
#include "core/automatch_rows.h"
#include "core/error.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::automatch {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
}

// Two cores of two threads each: 0 and 2, 1 and 3; a cache each, and one for both.
void write_system(const fs::path& root) {
    const fs::path cpus = root / "sys/devices/system/cpu";
    for (int cpu = 0; cpu < 4; ++cpu) {
        const fs::path own = cpus / fmt::format("cpu{}", cpu);
        write(own / "topology/core_id", std::to_string(cpu % 2));
        write(own / "topology/physical_package_id", "0");
        const auto cache = [&](int index, const char* type, int level, const char* size,
                               const std::string& shared) {
            const fs::path folder = own / fmt::format("cache/index{}", index);
            write(folder / "type", type);
            write(folder / "level", std::to_string(level));
            write(folder / "size", size);
            write(folder / "shared_cpu_list", shared);
            write(folder / "coherency_line_size", "64");
        };
        const std::string pair = cpu % 2 == 0 ? "0,2" : "1,3";
        cache(0, "Data", 1, "48K", pair);
        cache(1, "Instruction", 1, "32K", pair);
        cache(2, "Unified", 2, "2048K", pair);
        cache(3, "Unified", 3, "32M", "0-3");
    }
    write(root / "proc/cpuinfo", "processor\t: 0\nvendor_id\t: Maker\nmodel name\t: A CPU @ 3 GHz");
    write(root / "proc/meminfo", "MemTotal:  16000 kB\nMemAvailable:    8000 kB");
}

TEST(Host, IsWhatTheSystemTells) {
    const TemporaryFolder folder;
    write_system(folder.path);
    const Host host = read_host(folder.path, {0, 1, 2, 3});
    EXPECT_EQ(host.name, "A CPU @ 3 GHz");
    EXPECT_EQ(host.vendor, "Maker");
    EXPECT_THAT(host.cores, ElementsAre(0, 1));
    EXPECT_EQ(host.logical.size(), 4u);
    EXPECT_EQ(host.memory_bytes, 8000 * 1024);
    ASSERT_EQ(host.caches.size(), 3u);
    EXPECT_EQ(host.caches[0].bytes, 49152);
    EXPECT_EQ(host.caches[0].instances, 2);
    EXPECT_EQ(host.caches[1].bytes, 2097152);
    EXPECT_EQ(host.caches[2].bytes, 33554432);
    EXPECT_EQ(host.caches[2].instances, 1);
    EXPECT_EQ(host.caches[2].line_bytes, 64);
    // One thread of one core.
    const Host one = read_host(folder.path, {3});
    EXPECT_THAT(one.cores, ElementsAre(3));
    EXPECT_EQ(one.caches[0].instances, 1);
    fs::remove_all(folder.path / "sys/devices/system/cpu/cpu3/cache");
    EXPECT_THROW(read_host(folder.path, {3}), DeviceError);
}

TEST(Host, ListsOfCpus) {
    EXPECT_THAT(cpu_list("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
    EXPECT_THAT(cpu_list("5"), ElementsAre(5));
    for (const char* wrong : {"", "a", "3-1", "-1", "1-", "0,x", "1K"})
        EXPECT_THAT(cpu_list(wrong), IsEmpty()) << wrong;
    for (const char* wrong : {"cpu:", "cpu0", "cpu:x", "cpu:0/2", "gpu", "cpu:65535"})
        EXPECT_THROW(host_of(wrong), InputError) << wrong;
}

TEST(Probes, AChaseVisitsEveryLineOnce) {
    constexpr std::size_t bytes = 64 * 1000, line = 64;
    std::vector<std::byte> memory(bytes);
    make_chase(memory.data(), bytes, line);
    std::set<void*> seen;
    void* at = memory.data();
    for (std::size_t i = 0; i < bytes / line; ++i) {
        EXPECT_TRUE(seen.insert(at).second);
        at = *static_cast<void**>(at);
    }
    EXPECT_EQ(at, memory.data());
    EXPECT_EQ(chase(memory.data(), 1000), memory.data());  // all the way round
    EXPECT_NE(chase(memory.data(), 992), memory.data());
}

TEST(Probes, WiderVectorsOfBothTypes) {
    std::set<std::string> names;
    for (const PeakLoop& loop : peak_loops()) {
        EXPECT_TRUE(names.insert(fmt::format("{} {}", loop.type, loop.width)).second);
        EXPECT_EQ(loop.operations(), (loop.fused ? 2 : 1) * loop.width * loop.chains);
        loop.run(10);
    }
    EXPECT_TRUE(names.contains("f64 1"));
    EXPECT_TRUE(names.contains("f32 4"));
}

TEST(Team, EachThreadWorksOnceAndBarriersHold) {
    const int cpu = read_host().cores.front();
    Team team({cpu, cpu, cpu});  // all on one: nothing may wait for another's processor
    SpinBarrier barrier(3);
    std::vector<int> calls(3);
    std::atomic<int> step = 0;
    std::atomic<bool> wrong = false;
    for (int round = 0; round < 3; ++round) {
        step = 0;
        const TeamRun run = team.run([&](int thread) {
            ++calls[static_cast<std::size_t>(thread)];
            for (int i = 1; i <= 5; ++i) {
                ++step;
                barrier.wait();
                if (step != 3 * i) wrong = true;
                barrier.wait();
            }
        });
        EXPECT_GE(run.seconds, 0);
        EXPECT_LE(run.cpu_share, 1.05);
    }
    EXPECT_FALSE(wrong);
    EXPECT_THAT(calls, ElementsAre(3, 3, 3));
}

// Rows of a device whose numbers are given, each repetition with some noise, and some of them
// interrupted, which made them take longer.
struct Given {
    double peak = 50e9;  // of a core
    double scatter = 0;
    int disturbed = 0;  // of 15 repetitions
    double largest = 256e6;
    double told_last = 16777216;  // what the system tells of the last cache
    double last = 16777216;       // where it ends
};

MeasurementFile made(const Given& given) {
    std::mt19937 random(7);
    std::normal_distribution<double> normal(0, 1);
    MeasurementFile file;
    file.path = "made.json";
    file.context = {{"device_name", "made"},
                    {"cores", "2"},
                    {"warp_size", "1"},
                    {match_line_context, "64"},
                    {match_threads_context, "2"},
                    {match_caches_context,
                     fmt::format("L1:32768x2 L2:1048576x2 L3:{:.0f}x1", given.told_last)}};
    int place = 0;
    const auto add = [&](const std::string& name, const char* counter, double amount,
                         double seconds, std::map<std::string, double> more) {
        for (int i = 0; i < 15; ++i) {
            MeasurementRow row;
            row.other_name = name;
            row.subject = name.substr(0, name.find('/'));
            row.repetition = i;
            const bool hit = i < given.disturbed;
            row.seconds = seconds * (1 + given.scatter * std::abs(normal(random))) * (hit ? 3 : 1);
            row.clock_hz = 3e9;
            row.counters = more;
            row.counters[counter] = amount;
            row.counters["cpu_share"] = hit ? 0.33 : 0.999;
            row.counters["place"] = place++;
            file.rows.push_back(row);
        }
    };
    for (const auto& [width, part] : {std::pair{1, 0.125}, {2, 0.25}, {4, 1.0}, {8, 1.02}})
        add(fmt::format("match.peak.f64/vector_width:{}/threads:2", width), match_operations, 1e8,
            1e8 / (2 * given.peak * part), {{match_vector_width, width}});
    add("match.peak.f32/vector_width:16/threads:2", match_operations, 1e8, 1e8 / (4 * given.peak),
        {{match_vector_width, 16}});
    const auto level = [&](double bytes, int copies) {
        return bytes <= 32768.0 * copies     ? 0
               : bytes <= 1048576.0 * copies ? 1
               : bytes <= given.last         ? 2
                                             : 3;
    };
    constexpr double bandwidth[] = {400e9, 200e9, 100e9, 20e9};
    constexpr double latency[] = {1e-9, 4e-9, 10e-9, 90e-9};
    for (double bytes = 16384; bytes <= given.largest; bytes *= 2)
        add(fmt::format("match.read/working_set_bytes:{:.0f}/threads:2", bytes), match_bytes, 1e7,
            1e7 / bandwidth[level(bytes, 2)], {{match_working_set, bytes}});
    for (double bytes = 8192; bytes <= given.largest; bytes *= 2)
        add(fmt::format("match.chase/working_set_bytes:{:.0f}/threads:1", bytes), match_steps, 1e5,
            1e5 * latency[level(bytes, 1)], {{match_working_set, bytes}});
    add("match.barrier/threads:2", match_barriers, 1000, 1000 * 2e-7, {});
    return file;
}

// By hand: harmonic mean of 400, 200 and 100; arithmetic mean of 1, 4 and 10.
TEST(MatchFit, GivesBackWhatWasPutIn) {
    const MeasurementFile file = made({});
    const auto fit = fit_match({&file, 1});
    ASSERT_TRUE(fit);
    const MatchDevice& d = fit->device;
    EXPECT_EQ(d.processors, 2);
    EXPECT_EQ(d.vector_width, 4);  // 8 is within 5 % of it
    EXPECT_EQ(d.fast_bytes, 16777216);
    EXPECT_EQ(d.line_bytes, 64);
    EXPECT_NEAR(d.flops_per_second->value, 1.02 * 50e9, 1e3);
    EXPECT_NEAR(d.f32_flops_per_second->value, 100e9, 1e3);
    EXPECT_NEAR(d.fast_bytes_per_second->value, 3e9 / (1 / 400. + 1 / 200. + 1 / 100.), 1);
    EXPECT_NEAR(d.fast_latency_seconds->value, 5e-9, 1e-15);
    EXPECT_NEAR(d.slow_bytes_per_second->value, 20e9, 1);
    EXPECT_NEAR(d.slow_latency_seconds->value, 90e-9, 1e-15);
    EXPECT_NEAR(d.synchronisation_seconds->value, 2e-7, 1e-15);
    EXPECT_THAT(d.fast_latency_seconds->note, AllOf(HasSubstr("L1 1"), HasSubstr("L3 10")));
    EXPECT_THAT(fit->notes, Contains(HasSubstr("chases leave the last cache between 16 MiB and 32 "
                                               "MiB; the system tells 16 MiB")));
    EXPECT_THAT(fit->notes, Not(Contains(HasSubstr("busy"))));
}

// What disturbs makes slower: the truth is at the fast end, and stated errors reach it.
TEST(MatchFit, ErrorsReachTheTruth) {
    constexpr double scatter = 0.05;
    const MeasurementFile file = made({.scatter = scatter});
    const auto fit = fit_match({&file, 1});
    const MatchDevice& d = fit->device;
    const auto near = [](const std::optional<Estimate>& e, double truth) {
        ASSERT_TRUE(e && e->std_error);
        EXPECT_NEAR(e->value, truth, 4 * *e->std_error);
        EXPECT_NEAR(e->value, truth, 0.5 * scatter * truth);
        EXPECT_GT(*e->std_error, 0.01 * scatter * truth);
        EXPECT_LT(*e->std_error, scatter * truth);
    };
    near(d.f32_flops_per_second, 100e9);
    near(d.synchronisation_seconds, 2e-7);
    near(d.slow_latency_seconds, 90e-9);
    near(d.fast_latency_seconds, 5e-9);
    EXPECT_THAT(fit->notes, Not(Contains(HasSubstr("scatter"))));
    const MeasurementFile wild = made({.scatter = 1});
    EXPECT_THAT(fit_match({&wild, 1})->notes,
                Contains(HasSubstr("scatter although their threads ran")));
}

TEST(MatchFit, InterruptedRepetitionsDoNotCount) {
    const MeasurementFile file = made({.disturbed = 9});
    const auto some = fit_match({&file, 1});
    EXPECT_NEAR(some->device.synchronisation_seconds->value, 2e-7, 1e-15);
    EXPECT_THAT(some->notes, Not(Contains(HasSubstr("busy"))));
    const MeasurementFile worse = made({.disturbed = 12});
    const auto few = fit_match({&worse, 1});
    EXPECT_THAT(few->notes, Contains(AllOf(HasSubstr("the machine was busy"),
                                           HasSubstr("match.peak.f64/vector_width:1 (3 of 15)"),
                                           HasSubstr("not to be trusted"))));
}

TEST(MatchFit, ABoundWhereMemoryIsNotReached) {
    const MeasurementFile file = made({.largest = 33554432});
    const auto fit = fit_match({&file, 1});
    EXPECT_EQ(fit->device.slow_latency_seconds->kind, Estimate::Kind::lower_bound);
    EXPECT_EQ(fit->device.slow_bytes_per_second->kind, Estimate::Kind::upper_bound);
}

TEST(MatchFit, ACacheThatIsSmallerThanToldIsSaid) {
    const MeasurementFile file = made({.last = 2097152});
    const auto fit = fit_match({&file, 1});
    EXPECT_THAT(fit->notes, Contains(AllOf(HasSubstr("between 2 MiB and 4 MiB"),
                                           HasSubstr("does not have to itself"))));
    EXPECT_EQ(fit->device.fast_bytes, 16777216);
}

TEST(MatchFit, ADriftOfTheClockIsSaid) {
    MeasurementFile file = made({});
    for (MeasurementRow& row : file.rows)
        if (row.counters.at("place") > 0.5 * static_cast<double>(file.rows.size()))
            row.clock_hz = 2.7e9;
    EXPECT_THAT(fit_match({&file, 1})->notes, Contains(HasSubstr("the clock drifted by -10.0 %")));
}

TEST(MatchFit, WrongContextsAreRefused) {
    for (const auto& [key, value] : {std::pair{match_caches_context, "L1:32768"},
                                     {match_caches_context, "32768x2"},
                                     {match_caches_context, "L1:0x1"},
                                     {match_line_context, "long"}}) {
        MeasurementFile file = made({});
        file.context[key] = value;
        EXPECT_THROW(fit_match({&file, 1}), InputError) << value;
    }
}

TEST(MatchFit, RowsOfInstructionsAreLeftAlone) {
    MeasurementFile file = made({});
    const std::size_t rows = file.rows.size();
    MeasurementRow other;
    other.subject = "fma.f32";
    file.rows.push_back(other);
    const auto rest = without_automatch_rows({&file, 1});
    ASSERT_EQ(rest.front().rows.size(), 1u);
    EXPECT_EQ(rest.front().rows.front().subject, "fma.f32");
    EXPECT_EQ(file.rows.size(), rows + 1);
    EXPECT_FALSE(has_automatch_rows(rest));
    EXPECT_FALSE(fit_match(rest));
}

// This computer, with caches said to be small so that it takes no time; times are not looked at.
TEST(MeasureHost, FromTheProcessorToADevice) {
    const TemporaryFolder folder;
    Host host = read_host();
    if (host.cores.size() > 2) host.cores.resize(2);
    host.logical = host.cores;
    host.caches = {{.level = 1, .bytes = 32768, .instances = 2, .line_bytes = 64},
                   {.level = 2, .bytes = 131072, .instances = 1, .line_bytes = 64}};
    const fs::path output = folder.path / "cpu.json";
    std::atomic<bool> stop = false;
    HostOptions options{.output = output, .quick = true, .stop = &stop, .version = "1"};
    // Stopped in the middle, and gone on with.
    options.progress = [&](std::size_t done, std::size_t, const std::string&) { stop = done == 4; };
    EXPECT_FALSE(measure_host(host, options).complete);
    EXPECT_TRUE(fs::exists(bench::Journal::path_for(output)));
    EXPECT_FALSE(fs::exists(output));
    stop = false;
    options.progress = {};
    const HostResult result = measure_host(host, options);
    ASSERT_TRUE(result.complete);
    EXPECT_EQ(result.points, host_points(host, true).size());
    EXPECT_THROW(measure_host(host, options), InputError);  // exists

    const MeasurementFile file = read_measurements(output);
    std::set<std::string> points;
    for (const MeasurementRow& row : file.rows) {
        points.insert(row.name());
        EXPECT_TRUE(row.subject.starts_with(automatch_prefix)) << row.name();
        EXPECT_GT(row.seconds, 0) << row.name();
        EXPECT_TRUE(row.counters.contains("cpu_share")) << row.name();
    }
    EXPECT_EQ(points.size(), result.points);

    const FitOutcome outcome = fit_match_profile({&file, 1});
    const GpuProfile again = parse_profile(format_profile(outcome.profile), "again");
    EXPECT_TRUE(again.instructions.empty());
    const Device device = device_of(again);
    EXPECT_EQ(device.processors, static_cast<double>(host.cores.size()));
    EXPECT_EQ(device.fast_bytes, 131072);
    EXPECT_GT(device.flops, 0);
    EXPECT_GT(device.synchronisation, 0);
    EXPECT_TRUE(again.match.slow_latency_seconds->std_error);
}

TEST(MeasureHost, WithoutVectorsThereAreNone) {
    Host host = read_host();
    host.one_by_one = true;
    for (const HostPoint& point : host_points(host, false))
        EXPECT_THAT(point.name, Not(AllOf(HasSubstr("vector_width"), Not(HasSubstr(":1/")))));
}

}  // namespace
}  // namespace occupipe::automatch
