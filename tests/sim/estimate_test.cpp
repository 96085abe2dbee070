// SPDX-License-Identifier: MIT
// Estimates beside the full run: the bound that is printed must cover the truth.
#include "sim/engine/estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "core/files/files.h"
#include "sim/models/pipeline.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

const std::string source = OCCUPIPE_SOURCE_DIR;

// The estimate is made where the exact run is refused more instructions than it needs, so that both
// can be had at medium sizes.
void expect_covered(const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                    SimulationOptions options) {
    const SimulationResult full = simulate(profile, kernel, launch, options);
    const SimulationResult guess = extrapolated(Problem(profile, kernel, launch), options);
    EXPECT_EQ(guess.issued, full.issued);
    if (!guess.estimate) {
        EXPECT_EQ(guess.cycles, full.cycles);
        return;
    }
    EXPECT_GT(guess.estimate->error, 0);
    EXPECT_LE(std::abs(guess.cycles / full.cycles - 1), guess.estimate->error)
        << guess.cycles << " for " << full.cycles;
}

TEST(Estimate, CoversTheTruthForShippedKernelsWithSeveralGroups) {
    const GpuProfile profile = read_profile(source + "/profiles/nvidia-gtx-1060.yaml");
    for (const char* name : {"barriers", "matmul_tiled", "stencil", "transpose", "dot_product"})
        for (const Policy policy : {Policy::lrr, Policy::gto})
            for (const Order order : {Order::in_order, Order::dataflow}) {
                SCOPED_TRACE(std::string(name) + (policy == Policy::gto ? " gto" : " lrr") +
                             (order == Order::in_order ? " in_order" : " dataflow"));
                Kernel kernel = read_kernel(source + "/sim/kernels/" + name + ".yaml");
                for (KernelItem& item : kernel.warps[0].instructions)
                    if (auto* repeat = std::get_if<Repeat>(&item)) repeat->count = 300;
                expect_covered(profile, kernel, {8, 4, 70 * profile.cores},
                               {.policy = policy, .order = order});
            }
}

// What limits them differs: `alu` in the first loop, latency in the second. Cut alone, the first
// would take the second's time.
TEST(Estimate, LoopsOfUnequalLengthAreCutTogether) {
    const GpuProfile profile = read_profile(source + "/profiles/nvidia-quadro-k620.yaml");
    int estimates = 0;
    for (const auto& [first, second] : {std::pair{2000, 400}, {60, 1000}, {1500, 20}}) {
        SCOPED_TRACE(std::to_string(first) + " and " + std::to_string(second));
        const Kernel kernel =
            parse_kernel(fmt::format("format: occupipe-kernel/1\n"
                                     "name: two\n"
                                     "instructions:\n"
                                     "  - repeat: {}\n"
                                     "    body:\n"
                                     "      - {{id: a, op: mul.s32, after: [a@-1]}}\n"
                                     "      - {{id: b, op: fma.f32, after: [a]}}\n"
                                     "      - {{id: c, op: mul.s32, after: [b]}}\n"
                                     "  - repeat: {}\n"
                                     "    body:\n"
                                     "      - {{id: x, op: ld.shared.s32, after: [x@-1]}}\n"
                                     "      - {{id: y, op: fma.f32, after: [x]}}\n",
                                     first, second),
                         "two.yaml");
        const Launch launch{4, 3, 300 * profile.cores};
        for (const Policy policy : {Policy::oldest, Policy::gto}) {
            const SimulationOptions options{.policy = policy};
            expect_covered(profile, kernel, launch, options);
            const SimulationResult full = simulate(profile, kernel, launch, options);
            const SimulationResult guess = extrapolated(Problem(profile, kernel, launch), options);
            if (!guess.estimate) continue;
            ++estimates;
            for (std::size_t b = 0; b < full.bounds.size(); ++b)
                EXPECT_NEAR(guess.bounds[b].utilisation, full.bounds[b].utilisation,
                            guess.estimate->error * full.bounds[b].utilisation);
        }
    }
    EXPECT_GT(estimates, 2);
}

TEST(Estimate, CoversTheTruthInRandomCases) {
    const CaseShape shape{.max_count = 400, .max_executed = 3000, .max_groups = 60};
    int estimates = 0;
    for_each_simulable(400, shape, [&](const Case& c) {
        expect_covered(c.profile, c.kernel, c.launch, c.options);
        if (extrapolated(Problem(c.profile, c.kernel, c.launch), c.options).estimate) ++estimates;
    });
    EXPECT_GT(estimates, 10);
    // Where two steps that doubled both sizes showed nothing.
    for (const std::uint64_t seed : {640, 1081, 1401}) {
        SCOPED_TRACE(seed);
        const Case c = random_case(seed, shape);
        expect_covered(c.profile, c.kernel, c.launch, c.options);
    }
}

TEST(Estimate, IsNotMadeWhereTheAnswerIsExact) {
    const SimulationResult result =
        simulate(gpu({{"op", 1, 4}}), chain("op", 1'000'000), {8, 1, 1000}, {.estimate = true});
    EXPECT_FALSE(result.estimate);
}

// The limit of time goes on throwing once it is reached.
TEST(Estimate, IsGivenWhereTimeIsOverBeforeItIsSteady) {
    const GpuProfile profile = read_profile(source + "/profiles/nvidia-gtx-1060.yaml");
    Kernel kernel = read_kernel(source + "/sim/kernels/transpose.yaml");
    for (KernelItem& item : kernel.warps[0].instructions)
        if (auto* repeat = std::get_if<Repeat>(&item)) repeat->count = 1'000'000;
    int checks = 0;
    int most = std::numeric_limits<int>::max();
    const ModelOptions options{.policy = Policy::lrr,
                               .order = Order::in_order,
                               .checkpoint =
                                   [&](const RunProgress&) {
                                       if (++checks > most) throw LimitReached("time is over");
                                   },
                               .estimate = true};
    const auto predict = [&] {
        checks = 0;
        return predict_pipeline(Problem(profile, kernel, {8, 4, 1'000'000}), options);
    };
    EXPECT_TRUE(predict().estimate_error);
    most = checks - 1;
    EXPECT_TRUE(predict().estimate_error);
}

TEST(Estimate, EndsAtTheLimit) {
    const GpuProfile profile = read_profile(source + "/profiles/nvidia-gtx-1060.yaml");
    Kernel kernel = read_kernel(source + "/sim/kernels/bodies.yaml");
    std::get<Repeat>(kernel.warps[0].instructions[1]).count = 1'000'000;
    const SimulationOptions options{.policy = Policy::gto,
                                    .order = Order::in_order,
                                    .max_simulated = 100'000,
                                    .estimate = true};
    EXPECT_THROW(simulate(profile, kernel, {8, 4, 1'000'000}, options), LimitReached);
}

}  // namespace
}  // namespace occupipe::test
