// SPDX-License-Identifier: MIT
// How long a profile takes to fit, and how that grows with the number of points. Not a test: run by
// hand. The aim is a full profile (150 instructions, 100 points each) in two seconds.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "fit/profile/build_profile.h"
#include "tests/fit/synthetic_device.h"

namespace occupipe {
namespace {

MeasurementFile profile_file(int instructions, int shapes) {
    MeasurementFile file = test::empty_file();
    std::vector<MeasurementShape> sweep;
    for (int w = 1; w <= shapes; ++w)
        for (const int n : {512, 1024, 2048})
            sweep.push_back({1, 1 + (w - 1) * 64 / shapes, 1, n + w});
    std::mt19937_64 random(1);
    const std::vector<test::Truth> truths = test::gtx_1060();
    for (int i = 0; i < instructions; ++i) {
        test::Truth truth = truths[static_cast<std::size_t>(i) % truths.size()];
        if (truth.name == "bar.sync") truth = truths[0];
        test::add_rows(
            file, "i" + std::to_string(i) + ".f32", sweep,
            [&](const auto& s) { return 300 + test::hull_time(truth, s); }, {0.02, 5}, random);
    }
    return file;
}

void fit_profile(benchmark::State& state) {
    const std::vector files{
        profile_file(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)))};
    for (auto _ : state) benchmark::DoNotOptimize(fit_measurements(files));
    state.counters["points"] = static_cast<double>(3 * state.range(0) * state.range(1));
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    state.counters["max_rss_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

BENCHMARK(fit_profile)
    ->Args({150, 33})
    ->Args({15, 33})
    ->Args({15, 66})
    ->Args({15, 132})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace occupipe
