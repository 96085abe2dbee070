// SPDX-License-Identifier: MIT
#include "bench/harness/harness.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "bench/harness/journal.h"
#include "bench/harness/sampler.h"
#include "bench/model/model_backend.h"
#include "core/error.h"
#include "core/files/files.h"
#include "tests/bench/harness/fake_backend.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using test::TemporaryFolder;
using testing::FakeBackend;

GpuProfile small_gpu() {
    GpuProfile profile;
    profile.device.name = "Small";
    profile.cores = 2;
    profile.warp_size = 32;
    profile.clock_hz = 1e9;
    profile.limits = {
        .warps = 4, .groups = 2, .group_warps = 2, .registers = {}, .shared_memory_bytes = {}};
    profile.subsystems = {{.name = "alu"}};
    for (const char* name : {"fma.f32", "cos.approx.f32", "st.global.f32"}) {
        profile.instructions.push_back({.name = name,
                                        .subsystem = "alu",
                                        .cpi = {.value = 1},
                                        .latency = Estimate{.value = 4}});
    }
    return profile;
}

double four_per_step(std::string_view, const MeasurementShape& shape) {
    return 4.0 * static_cast<double>(shape.depth);
}

TEST(Harness, WritesRowsThatTheReaderUnderstands) {
    const TemporaryFolder folder;
    const auto backend = open_model("model:small.yaml", small_gpu(), {}, four_per_step);
    const auto sweep =
        make_sweep(*backend, {.patterns = {"fma.f32", "st.*", "mix(fma.f32*4,cos.approx.f32)"}});
    const auto result = run_sweep(*backend, sweep, {.output = folder.path / "m.json"});
    EXPECT_TRUE(result.complete);
    const auto file = read_measurements(folder.path / "m.json");
    EXPECT_EQ(file.rows.size(), result.points * static_cast<std::size_t>(sweep.repetitions));
    EXPECT_EQ(file.context.at("backend"), "model");
    EXPECT_EQ(file.context.at("device_type"), "model, not hardware");
    EXPECT_TRUE(file.context.contains("not_measured.st.global.f32"));
    EXPECT_FALSE(file.context.contains("host_name"));
    for (const MeasurementRow& row : file.rows) {
        EXPECT_EQ(row.name(), measurement_name(row.subject, row.shape));
        EXPECT_DOUBLE_EQ(row.cycles.value(), 4.0 * static_cast<double>(row.shape.depth));
        EXPECT_DOUBLE_EQ(row.clock_hz.value(), 1e9);
        EXPECT_NEAR(row.seconds, 4e-9 * static_cast<double>(row.shape.depth), 1e-12);
        EXPECT_EQ(row.beta.has_value(), row.subject.starts_with("mix("));
    }
}

TEST(Harness, StoppedAndRunAgainItGoesOnToTheSameRows) {
    const TemporaryFolder folder;
    const ModelOptions noisy{.noise = 0.05, .seed = 3};
    const auto whole_run = [&](const char* name, int stop_after) {
        std::atomic<bool> stop = false;
        for (;;) {
            const auto backend = open_model("model:small.yaml", small_gpu(), noisy, four_per_step);
            const auto sweep = make_sweep(*backend, {.patterns = {"fma.f32"}, .quick = true});
            std::size_t seen = 0;
            const auto result =
                run_sweep(*backend, sweep,
                          {.output = folder.path / name,
                           .progress =
                               [&](const Progress&) {
                                   stop = ++seen == static_cast<std::size_t>(stop_after);
                               },
                           .stop = &stop});
            if (result.complete) return;
            EXPECT_EQ(seen, static_cast<std::size_t>(stop_after));
            EXPECT_FALSE(std::filesystem::exists(folder.path / name));
            stop = false;
        }
    };
    whole_run("interrupted.json", 4);
    whole_run("straight.json", -1);
    const auto a = read_measurements(folder.path / "interrupted.json");
    const auto b = read_measurements(folder.path / "straight.json");
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
        EXPECT_EQ(a.rows[i].name(), b.rows[i].name());
        EXPECT_EQ(a.rows[i].cycles, b.rows[i].cycles);
    }
}

// What comes up while measuring (kernels compiled here, for example) is said once, and kept.
TEST(Harness, RemarksAreSaidOnceAndStandInTheContext) {
    const TemporaryFolder folder;
    FakeBackend backend;
    backend.remarks_ = {{"kernels_compiled_here", "k.tar lacks some"}};
    std::vector<std::string> said;
    run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
              {.output = folder.path / "m.json",
               .note = [&](const std::string& text) { said.push_back(text); }});
    EXPECT_EQ(std::ranges::count(said, "k.tar lacks some"), 1);
    EXPECT_EQ(read_measurements(folder.path / "m.json").context.at("kernels_compiled_here"),
              "k.tar lacks some");
}

// A filter that matches nothing once replaced a good file by an empty one.
TEST(Harness, FlagsThatLeaveOutAllPointsReplaceNoFile) {
    const TemporaryFolder folder;
    const auto output = folder.path / "m.json";
    write_text_file(output, "a good file", Overwrite::no);
    for (const char* flag : {"--benchmark_filter=zzz", "--benchmark_list_tests=true"}) {
        FakeBackend backend;
        const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
        const auto run = [&] {
            run_sweep(backend, sweep,
                      {.output = output, .overwrite = Overwrite::yes, .benchmark_flags = {flag}});
        };
        EXPECT_THROW(run(), InputError) << flag;
        EXPECT_EQ(read_text_file(output), "a good file");
        EXPECT_FALSE(std::filesystem::exists(Journal::path_for(output)));
    }
    FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
    // Google Benchmark keeps flags from one run to the next.
    const auto whole =
        run_sweep(backend, sweep,
                  {.output = output,
                   .overwrite = Overwrite::yes,
                   .benchmark_flags = {"--benchmark_filter=.", "--benchmark_list_tests=false"}});
    EXPECT_TRUE(whole.complete);
    EXPECT_EQ(read_measurements(output).rows.empty(), false);
}

TEST(Harness, AFailedLaunchIsARowWithItsReason) {
    const TemporaryFolder folder;
    FakeBackend backend;
    backend.answer = [](const LaunchRequest&) -> Observation {
        throw DeviceError("fake: launch: OUT_OF_COFFEE");
    };
    const auto result =
        run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
                  {.output = folder.path / "m.json"});
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.failed, result.points);
    for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows) {
        EXPECT_EQ(row.error, "fake: launch: OUT_OF_COFFEE");
        EXPECT_FALSE(row.cycles.has_value());
    }
}

// Such a row once made the whole file one that no command reads.
TEST(Harness, ATimeThatNoRunCanHaveIsAFailedRow) {
    for (const auto& [cycles, seconds] :
         {std::pair(0.0, 1e-6), std::pair(-5.0, 1e-6), std::pair(std::nan(""), 1e-6),
          std::pair(8.0, -1.0), std::pair(8.0, HUGE_VAL)}) {
        const TemporaryFolder folder;
        FakeBackend backend;
        backend.answer = [cycles = cycles, seconds = seconds](const LaunchRequest&) {
            return Observation{
                .seconds = seconds, .cycles = cycles, .clock_hz = 1e9, .counters = {}};
        };
        const auto result =
            run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
                      {.output = folder.path / "m.json"});
        EXPECT_TRUE(result.complete);
        EXPECT_EQ(result.failed, result.points) << cycles;
        for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows)
            EXPECT_EQ(row.error.value_or("").substr(0, 10), "the device") << cycles;
    }
}

TEST(Harness, APointWhoseFirstRepetitionFailsIsFailedAndTheNextOnesAreNot) {
    const TemporaryFolder folder;
    FakeBackend backend;
    backend.facts_.model = true;  // no warm-up launch
    const auto good = backend.answer;
    int launches = 0;
    backend.answer = [&](const LaunchRequest& request) {
        if (launches++ == 0) throw DeviceError("fake: launch: OUT_OF_COFFEE");
        return good(request);
    };
    const auto result =
        run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
                  {.output = folder.path / "m.json"});
    EXPECT_EQ(result.failed, 1u);
    int failed = 0;
    for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows) {
        failed += row.error ? 1 : 0;
    }
    EXPECT_EQ(failed, 5);
}

// A process that dies in a point may have been killed for anything: the point is tried once more,
// behind all others. What dies there again is not tried a third time.
TEST(Harness, APointInWhichAProcessDiedComesLastAndIsTriedTwice) {
    const TemporaryFolder folder;
    FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
    const auto output = folder.path / "m.json";
    std::string deadly;
    const auto run = [&] {
        std::vector<std::string> order;
        run_sweep(backend, sweep, {.output = output, .progress = [&](const Progress& now) {
                                       order.push_back(now.point);
                                   }});
        return order;
    };
    const auto die_in = [&](std::size_t points) {
        const pid_t child = fork();
        if (child == 0) {
            std::size_t done = 0;
            run_sweep(backend, sweep, {.output = output, .progress = [&](const Progress&) {
                                           if (++done == points) {
                                               backend.answer = [](const auto&) -> Observation {
                                                   raise(SIGKILL);
                                                   return {};
                                               };
                                           }
                                       }});
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status));
    };
    const std::size_t points = run().size();
    ASSERT_GT(points, 5u);
    std::filesystem::remove(output);
    die_in(2);  // in the third point
    {
        const auto order = run();
        ASSERT_EQ(order.size(), points - 2);
        deadly = order.back();
    }
    for (const MeasurementRow& row : read_measurements(output).rows) EXPECT_FALSE(row.error);
    std::filesystem::remove(output);
    die_in(2);
    die_in(points - 3);  // all others are there; the third once more
    const auto order = run();
    EXPECT_EQ(order, std::vector<std::string>{deadly});
    std::set<std::string> failed;
    for (const MeasurementRow& row : read_measurements(output).rows) {
        if (!row.error) continue;
        failed.insert(row.name());
        EXPECT_EQ(*row.error,
                  "2 earlier runs began this point and never ended it; not tried again");
    }
    EXPECT_EQ(failed, std::set<std::string>{deadly});
}

TEST(Harness, WhatTheUserInterruptsWasNotBegun) {
    const TemporaryFolder folder;
    FakeBackend backend;
    std::atomic<bool> stop = false;
    int launches = 0;
    const auto good = backend.answer;
    backend.answer = [&](const LaunchRequest& request) {
        if (++launches == 3) stop = true;
        return good(request);
    };
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
    const auto output = folder.path / "m.json";
    const auto restart_count = [&](const Progress&) { launches = 0; };
    const auto first =
        run_sweep(backend, sweep, {.output = output, .progress = restart_count, .stop = &stop});
    EXPECT_FALSE(first.complete);
    const std::string journal = read_text_file(Journal::path_for(output));
    EXPECT_NE(journal.find("\"left\""), std::string::npos);
    stop = false;
    EXPECT_TRUE(run_sweep(backend, sweep, {.output = output}).complete);
}

TEST(Harness, AJournalThatCannotBeWrittenEndsTheRunWithItsName) {
    const TemporaryFolder folder;
    FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
    const auto output = folder.path / "out" / "m.json";
    std::size_t done = 0;
    const auto vanish = [&](const Progress&) {
        if (++done != 3) return;
        std::filesystem::remove_all(folder.path / "out");
        write_text_file(folder.path / "out", "in the folder's place", Overwrite::no);
    };
    try {
        run_sweep(backend, sweep, {.output = output, .progress = vanish});
        FAIL() << "nothing said";
    } catch (const std::runtime_error& error) {
        EXPECT_NE(std::string(error.what()).find("m.json.partial: was removed while measuring"),
                  std::string::npos)
            << error.what();
    }
    EXPECT_EQ(done, 3u);
}

TEST(Harness, AFolderRemovedWhileMeasuringLosesNothing) {
    const TemporaryFolder folder;
    FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true});
    const auto output = folder.path / "out" / "m.json";
    std::size_t done = 0;
    std::string said;
    const auto result = run_sweep(backend, sweep,
                                  {.output = output,
                                   .progress =
                                       [&](const Progress&) {
                                           if (++done == 3)
                                               std::filesystem::remove_all(folder.path / "out");
                                       },
                                   .note = [&](const std::string& text) { said = text; }});
    EXPECT_TRUE(result.complete);
    EXPECT_NE(said.find("was removed while measuring"), std::string::npos) << said;
    EXPECT_EQ(read_measurements(output).rows.size(),
              result.points * static_cast<std::size_t>(sweep.repetitions));
}

TEST(Harness, CyclesFollowFromTheWitnessedClockWhereTheDeviceHasNoCounter) {
    const TemporaryFolder folder;
    FakeBackend backend;
    backend.clock = [] { return std::optional(2e9); };
    backend.answer = [](const LaunchRequest&) {
        return Observation{.seconds = 1e-3, .cycles = {}, .clock_hz = {}, .counters = {}};
    };
    run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
              {.output = folder.path / "m.json"});
    for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows) {
        EXPECT_DOUBLE_EQ(row.cycles.value(), 2e6);
        EXPECT_DOUBLE_EQ(row.clock_hz.value(), 2e9);
    }
}

// Warps that start apart: three more tries for a shape, then the sample is kept and marked.
TEST(Harness, SamplesWhoseWarpsStartApartAreRepeatedThenKept) {
    for (const bool always : {false, true}) {
        FakeBackend backend;
        int launches = 0;
        backend.answer = [&](const LaunchRequest& request) {
            const double cycles = 4.0 * static_cast<double>(request.shape.depth);
            const bool apart = always || ++launches % 2 == 0;
            return Observation{.seconds = 1e-6,
                               .cycles = cycles,
                               .clock_hz = 1e9,
                               .counters = {{"start_skew_cycles", (apart ? 0.1 : 0.01) * cycles}}};
        };
        Sampler sampler(backend);
        const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}});
        for (int repetition = 0; repetition < 3; ++repetition) {
            const Observation seen = sampler.sample(sweep.points.front());
            EXPECT_EQ(started_apart(seen), always);
            EXPECT_EQ(seen.counters.contains("start_skew_kept"), always);
        }
        if (always) {
            EXPECT_EQ(backend.launched, 1 + 4 + 1 + 1);  // to warm up; then as it is
        }
    }
}

TEST(Harness, ASampleWithAGroupThatBeganLateIsRepeated) {
    FakeBackend backend;
    int launches = 0;
    backend.answer = [&](const LaunchRequest& request) {
        Observation seen{.seconds = 1e-6,
                         .cycles = 4.0 * static_cast<double>(request.shape.depth),
                         .clock_hz = 1e9};
        if (++launches == 2) seen.counters["late_groups"] = 1;  // the first one warms up
        return seen;
    };
    Sampler sampler(backend);
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}});
    const Observation seen = sampler.sample(sweep.points.front());
    EXPECT_EQ(launches, 3);
    EXPECT_FALSE(seen.counters.contains("late_groups"));
    EXPECT_FALSE(seen.counters.contains("start_skew_kept"));
}

TEST(Harness, AClockThatKeepsMovingIsReportedAsSuch) {
    const TemporaryFolder folder;
    FakeBackend backend;
    double clock = 1e9;
    backend.clock = [&clock] { return std::optional(clock *= 1.02); };
    run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
              {.output = folder.path / "m.json"});
    for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows) {
        ASSERT_TRUE(row.error.has_value());
        EXPECT_NE(row.error->find("clock moved"), std::string::npos);
    }
}

TEST(Harness, AClockThatRisesFromIdleIsWaitedFor) {
    const TemporaryFolder folder;
    FakeBackend backend;
    double clock = 0.3e9;
    backend.clock = [&clock] { return std::optional(clock = std::min(1e9, clock * 1.02)); };
    run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
              {.output = folder.path / "m.json"});
    for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows) {
        ASSERT_FALSE(row.error.has_value()) << *row.error;
        EXPECT_EQ(row.counters.at("rejected"), 0);
    }
}

TEST(Harness, NoClockMeansNoCyclesNotZeroCycles) {
    const TemporaryFolder folder;
    FakeBackend backend;
    backend.answer = [](const LaunchRequest&) {
        return Observation{.seconds = 1e-3, .cycles = {}, .clock_hz = {}, .counters = {}};
    };
    run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}, .quick = true}),
              {.output = folder.path / "m.json"});
    for (const MeasurementRow& row : read_measurements(folder.path / "m.json").rows) {
        EXPECT_FALSE(row.cycles.has_value());
        EXPECT_FALSE(row.clock_hz.has_value());
    }
}

TEST(Harness, AnExistingResultIsNotOverwritten) {
    const TemporaryFolder folder;
    FakeBackend backend;
    write_text_file(folder.path / "m.json", "precious", Overwrite::no);
    EXPECT_THROW(run_sweep(backend, make_sweep(backend, {.patterns = {"fma.f32"}}),
                           {.output = folder.path / "m.json"}),
                 InputError);
    EXPECT_EQ(backend.launched, 0);
    EXPECT_EQ(read_text_file(folder.path / "m.json"), "precious");
}

TEST(Harness, AnUnknownBenchmarkFlagIsBadInput) {
    const TemporaryFolder folder;
    FakeBackend backend;
    const auto sweep = make_sweep(backend, {.patterns = {"fma.f32"}});
    EXPECT_THROW(run_sweep(backend, sweep,
                           {.output = folder.path / "m.json", .benchmark_flags = {"--nonsense"}}),
                 InputError);
}

TEST(ModelBackend, NoiseDependsOnTheSeedAndNotOnTheOrder) {
    const auto times = [](std::uint64_t seed, const std::vector<int>& depths) {
        const auto backend = open_model("model:small.yaml", small_gpu(),
                                        {.noise = 0.1, .seed = seed}, four_per_step);
        const auto program = backend->compile(kernel_source({.first = &backend->rows()[0]}));
        std::map<int, double> cycles;
        for (const int depth : depths) {
            MeasurementShape shape;
            shape.depth = depth;
            cycles[depth] = backend->launch(*program, {.shape = shape}).cycles.value();
        }
        return cycles;
    };
    EXPECT_EQ(times(1, {10, 20}), times(1, {20, 10}));
    EXPECT_NE(times(1, {10}), times(2, {10}));
}

}  // namespace
}  // namespace occupipe::bench
