// SPDX-License-Identifier: MIT
#include "fit/laws/fit_contention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>

#include "core/error.h"
#include "core/files/files.h"
#include "fit/curves/curve.h"
#include "fit/import/gpu_stream.h"

namespace occupipe {
namespace {

std::vector<OccupancyPoint> curve(double saturated, double unloaded, double growth, double noise,
                                  std::uint64_t seed, int first = 2, int last = 64) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<OccupancyPoint> out;
    for (int w = first; w <= last; w += 2) {
        const double x = saturated * std::min(w / (unloaded + growth * w), 1.0);
        out.push_back({static_cast<double>(w), x * (1 + noise * normal(random))});
    }
    return out;
}

TEST(Contention, RecoversItsParameters) {
    int inside = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        const ContentionFit f = fit_contention(curve(1500, 12, 0.4, 0.01, seed));
        ASSERT_TRUE(f.ok()) << f.reason;
        const ContentionLawFit& law = f.laws[static_cast<std::size_t>(ContentionLaw::linear)];
        EXPECT_NEAR(law.saturated.value, 1500, 15);
        EXPECT_NEAR(law.unloaded.value, 12, 0.6);
        EXPECT_NEAR(law.growth.value, 0.4, 0.05);
        EXPECT_NE(f.best, ContentionLaw::none);
        inside += std::abs(law.unloaded.value - 12) <= 1.96 * law.unloaded.std_error.value();
    }
    EXPECT_GE(inside, 43);
}

// As published: the plateau repeats to the last digit, before the ridge throughput scatters.
TEST(Contention, AnExactPlateauDoesNotMakeTheOtherSideSure) {
    int inside = 0;
    constexpr int curves = 100;
    for (std::uint64_t seed = 1; seed <= curves; ++seed) {
        std::vector<OccupancyPoint> points = curve(2016, 19, 0, 0.03, seed);
        for (OccupancyPoint& p : points)
            if (p.warps > 19) p.throughput = seed % 3 == 0 ? 2016 : 2016 + p.warps / 40;
        const ContentionLawFit law = fit_contention(points).laws[0];
        ASSERT_TRUE(law.ok);
        EXPECT_NEAR(law.saturated.value, 2016, 4);
        inside += std::abs(law.unloaded.value - 19) <= 2 * law.unloaded.std_error.value();
    }
    EXPECT_GE(inside, 90);
    EXPECT_LE(inside, 99);
}

TEST(Contention, ConstantLatencyNeedsNoGrowth) {
    int plain = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        plain += fit_contention(curve(1500, 20, 0, 0.01, seed)).best == ContentionLaw::none;
    EXPECT_GE(plain, 15);
}

TEST(Contention, APlateauThatIsNotReachedIsABound) {
    const ContentionFit f = fit_contention(curve(1500, 40, 0.1, 0.002, 1, 2, 30));
    ASSERT_TRUE(f.ok()) << f.reason;
    EXPECT_NE(f.best, ContentionLaw::none);
    EXPECT_EQ(f.chosen().saturated.kind, Estimate::Kind::lower_bound);
    EXPECT_NEAR(f.chosen().saturated.value, 1500 * 30 / 43.0, 20);
}

TEST(Contention, BadPointsAreRefusedWithAReason) {
    EXPECT_FALSE(fit_contention(curve(1, 10, 0, 0, 1, 2, 6)).ok());
    std::vector<OccupancyPoint> points = curve(1, 10, 0, 0, 1);
    points[3].throughput = 0;
    EXPECT_THAT(fit_contention(points).reason, ::testing::HasSubstr("positive"));
}

std::filesystem::path published() {
    return std::filesystem::path(OCCUPIPE_SOURCE_DIR) / ".." / "shared" / "data" / "gpu-stream";
}

struct ErrorSummary {
    double sum = 0;
    double worst = 0;
    int curves = 0;

    void add(double e) {
        sum += e;
        worst = std::max(worst, e);
        ++curves;
    }
    double mean() const { return sum / curves; }
};

// With three parameters the thirty curves here come to 1.3 % (the 40 of which they are a part are
// said to come to 1.0 %); the round knee, chosen where it earns its place, brings them below 1.2 %.
TEST(Contention, PublishedCurvesAreFittedWithinTwelvePerMille) {
    if (!std::filesystem::is_directory(published()))
        GTEST_SKIP() << "no published curves at " << published();
    ErrorSummary chosen;
    ErrorSummary linear;
    for (const auto& entry : std::filesystem::directory_iterator(published())) {
        const std::string path = entry.path().string();
        for (const GpuStreamKernel& kernel : parse_gpu_stream(read_text_file(path), path)) {
            const ContentionFit f = fit_contention(kernel.points);
            ASSERT_TRUE(f.ok()) << path << " " << kernel.name << ": " << f.reason;
            chosen.add(f.chosen().mean_relative_error);
            linear.add(f.laws[static_cast<std::size_t>(ContentionLaw::linear)].mean_relative_error);
        }
    }
    ASSERT_GT(chosen.curves, 0);
    std::printf(
        "%d curves: mean error %.2f %%, worst %.2f %% (three parameters: %.2f %%, %.2f %%)\n",
        chosen.curves, 100 * chosen.mean(), 100 * chosen.worst, 100 * linear.mean(),
        100 * linear.worst);
    EXPECT_LE(chosen.mean(), 0.012);
    EXPECT_LE(chosen.worst, 0.035);
    EXPECT_LE(linear.mean(), 0.014);
    EXPECT_LE(linear.worst, 0.035);
}

constexpr const char* good =
    "blockSize   threads       %occ  |                init       read\n"
    "       32        3456      3 %  |  GB/s:         159         81\n"
    "       64        6912    6.2 %  |  GB/s:         407        158\n";

TEST(GpuStream, ReadsKernelsAndWarps) {
    const auto kernels = parse_gpu_stream(good, "a.txt");
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[1].name, "read");
    ASSERT_EQ(kernels[1].points.size(), 2U);
    EXPECT_EQ(kernels[1].points[1].warps, 4);  // two blocks of 64 threads
    EXPECT_EQ(kernels[1].points[1].throughput, 158);
}

TEST(GpuStream, WavesOf64ThreadsAreNotCountedAs32) {
    EXPECT_EQ(gpu_stream_warp_size("data/mi210.txt"), 64);
    EXPECT_EQ(gpu_stream_warp_size("MI300X.txt"), 64);
    EXPECT_EQ(gpu_stream_warp_size("a100_40.txt"), 32);
    EXPECT_EQ(gpu_stream_warp_size("mine.txt"), 32);
    const auto narrow = parse_gpu_stream(good, "mi210.txt", 64);
    EXPECT_EQ(narrow[1].points[1].warps, 2);
    EXPECT_EQ(narrow[1].points[0].warps, 1);  // two blocks of half a wave
}

TEST(GpuStream, BrokenFilesNameLineAndColumn) {
    const auto error_of = [](const std::string& text) -> std::string {
        try {
            parse_gpu_stream(text, "a.txt");
        } catch (const InputError& e) {
            return e.what();
        }
        return "no error";
    };
    using ::testing::HasSubstr;
    EXPECT_THAT(error_of(""), HasSubstr("not a gpu-stream result"));
    EXPECT_THAT(error_of("32 3456 3 % | GB/s: 1 2\n"), HasSubstr("a.txt:1:1"));
    EXPECT_THAT(error_of("blockSize threads\n"), HasSubstr("names no kernel"));
    const std::string text = good;
    EXPECT_THAT(error_of(text + "96 1 2 % | GB/s: 5\n"), HasSubstr("a.txt:4:"));
    EXPECT_THAT(error_of(text + "96 1 2 % | GB/s: 5 -3\n"), HasSubstr("'-3'"));
    EXPECT_THAT(error_of(text + "96 1 2 % | GB/s: 5 nan\n"), HasSubstr("'nan'"));
    EXPECT_THAT(error_of(text + "xx 1 2 % | GB/s: 5 6\n"), HasSubstr("'xx'"));
    EXPECT_THAT(error_of(text + good), HasSubstr("second header"));
    EXPECT_THAT(error_of("blockSize threads %occ | read\n"), HasSubstr("no measurements"));
}

}  // namespace
}  // namespace occupipe
