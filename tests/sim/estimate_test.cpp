// SPDX-License-Identifier: MIT
// Estimates beside the full run: the bound that is printed must cover the truth.
#include "sim/engine/estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "core/files/files.h"
#include "core/instruction.h"
#include "sim/engine/steady_rate.h"
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

// Small enough that both can be had: what a run has come to after `exact` instructions stands for
// it.
int expect_rate_covers(const Problem& problem, SimulationOptions options) {
    const SimulationResult full = simulate(problem, options);
    options.estimate = true;
    options.exact = full.simulated / 3;
    const SimulationResult guess = simulate(problem, options);
    if (!guess.estimate) {
        EXPECT_EQ(guess.cycles, full.cycles);
        return 0;
    }
    // Where groups differ, of a core that has about as many.
    EXPECT_NEAR(static_cast<double>(guess.groups) / static_cast<double>(full.groups), 1, 0.04);
    EXPECT_NEAR(static_cast<double>(guess.issued) / static_cast<double>(full.issued), 1, 0.04);
    EXPECT_LE(std::abs(guess.cycles / full.cycles - 1), guess.estimate->error)
        << guess.cycles << " for " << full.cycles;
    return 1;
}

TEST(Estimate, ASteadyRateCoversTheTruth) {
    const GpuProfile profile = read_profile(source + "/profiles/nvidia-gtx-1060.yaml");
    int estimates = 0;
    for (const char* name : {"barriers", "matmul_tiled", "stencil", "transpose", "dot_product"})
        for (const Policy policy : {Policy::lrr, Policy::gto}) {
            SCOPED_TRACE(std::string(name) + (policy == Policy::gto ? " gto" : " lrr"));
            Kernel kernel = read_kernel(source + "/sim/kernels/" + name + ".yaml");
            for (KernelItem& item : kernel.warps[0].instructions)
                if (auto* repeat = std::get_if<Repeat>(&item)) repeat->count = 7;
            // Without detection, so that something is left to estimate.
            const SimulationOptions options{
                .policy = policy, .order = Order::in_order, .detect_periods = false};
            estimates +=
                expect_rate_covers(Problem(profile, kernel, {8, 4, 3001 * profile.cores}), options);
        }
    EXPECT_GT(estimates, 5);
}

// Two kinds of groups at random, one of which executes more, and other instructions.
TEST(Estimate, ASteadyRateCoversTheTruthWhereGroupsDiffer) {
    GpuProfile profile = gpu({{"add", 2, 6}, {"ld", 4, 90, "mem"}});
    profile.cores = 6;
    int estimates = 0;
    for (const std::uint32_t seed : {1, 2, 3, 4, 5, 6}) {
        SCOPED_TRACE(seed);
        Kernel kernel{.name = "two"};
        for (const int count : {12, 20}) {
            const std::string last = count == 12 ? "add" : "ld";
            kernel.warps.push_back(
                {.share = 0.5,
                 .instructions = {repeat(
                     count, {instruction("a", "ld", {"c@-1"}), instruction("b", "add", {"a"}),
                             instruction("c", last, {"b"})})}});
        }
        kernel.groups.emplace();
        kernel.groups->kinds = {{0, 0, 0}, {0, 1, 1}};
        std::mt19937 random(seed);
        const std::int64_t groups = 6000;
        for (std::int64_t g = 0; g < groups; ++g)
            kernel.groups->order.push_back({static_cast<std::int32_t>(random() % 4 == 0), 1});
        kernel.launch = Launch{3, 5, groups};
        estimates += expect_rate_covers(Problem(profile, kernel, *kernel.launch),
                                        {.order = Order::in_order});
    }
    EXPECT_GT(estimates, 3);
}

void expect_covers(const SimulationResult& guess, const SimulationResult& full) {
    EXPECT_NEAR(guess.cycles, full.cycles,
                (guess.estimate ? guess.estimate->error : 0) * full.cycles);
}

// What the beginning of a launch does not tell: the second half, one long group later on or under
// way, and few groups of slow instructions.
TEST(Estimate, CoversGroupsUnlikeTheFirst) {
    GpuProfile profile = gpu({{"add", 2, 6}, {"ld", 4, 90, "mem"}});
    profile.cores = 6;
    struct Case {
        const char* name;
        std::int64_t adds, loads;  // of a warp of kind 0 and of kind 1
        std::vector<GroupKinds::Run> order;
    };
    const std::vector<Case> cases = {
        {"halves", 10, 10, {{0, 3000}, {1, 3000}}},
        {"one long group later", 10, 20'000, {{0, 3000}, {1, 1}, {0, 2999}}},
        {"one long group at first", 10, 20'000, {{1, 1}, {0, 5999}}},
        {"some long groups", 10, 200, {{0, 3000}, {1, 20}, {0, 2980}}},
        {"some slow groups", 200, 100, {{0, 3000}, {1, 100}, {0, 2900}}},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.name);
        Kernel kernel{.name = "kinds"};
        for (const auto& [op, count] : {std::pair{"add", one.adds}, {"ld", one.loads}})
            kernel.warps.push_back(
                {.share = 0.5, .instructions = {repeat(count, {instruction("a", op, {"a@-1"})})}});
        kernel.groups.emplace();
        kernel.groups->kinds = {{0}, {1}};
        kernel.groups->order = one.order;
        kernel.launch = Launch{1, 5, 6000};
        const Problem problem(profile, kernel, *kernel.launch);
        const SimulationResult full = simulate(problem, {.order = Order::in_order});
        const SimulationResult guess = simulate(
            problem, {.order = Order::in_order, .estimate = true, .exact = full.simulated / 4});
        expect_covers(guess, full);
    }
}

struct FullAndGuess {
    SimulationResult full, guess;
};

// The guess after a twentieth of what the full run simulates.
FullAndGuess full_and_guess(const Problem& problem) {
    SimulationOptions options{.order = Order::in_order, .detect_periods = false};
    FullAndGuess both;
    both.full = simulate(problem, options);
    options.estimate = true;
    options.exact = both.full.simulated / 20;
    both.guess = simulate(problem, options);
    return both;
}

// The rate of each part of a launch is found in its own groups.
TEST(Estimate, SkipsInEachPartOfALaunch) {
    GpuProfile profile = gpu({{"add", 2, 6}, {"ld", 4, 90, "mem"}});
    profile.cores = 6;
    Kernel kernel{.name = "parts"};
    for (const std::string op : {"add", "ld"})
        kernel.warps.push_back(
            {.share = 0.5, .instructions = {repeat(20, {instruction("a", op, {"a@-1"})})}});
    kernel.groups.emplace();
    kernel.groups->kinds = {{0}, {1}};
    kernel.groups->order = {{0, 30'000}, {1, 20'000}};
    kernel.launch = Launch{1, 5, 50'000};
    const Problem problem(profile, kernel, *kernel.launch);
    const auto [full, guess] = full_and_guess(problem);
    ASSERT_TRUE(guess.estimate);
    EXPECT_LT(guess.simulated, full.simulated / 4);
    expect_covers(guess, full);
}

// By turns they share two units; one kind after the other, each waits for its own.
TEST(Estimate, KnowsThatGroupsDoNotMeetOthersLater) {
    GpuProfile profile = gpu({{"add", 2, 6}, {"ld", 2, 6, "mem"}});
    profile.cores = 3;
    Kernel kernel{.name = "turns"};
    for (const std::string op : {"add", "ld"})
        kernel.warps.push_back(
            {.share = 0.5, .instructions = {repeat(50, {instruction("a", op, {})})}});
    kernel.groups.emplace();
    kernel.groups->kinds = {{0}, {1}};
    for (int i = 0; i < 5000; ++i)
        for (const std::int32_t kind : {0, 1}) kernel.groups->order.push_back({kind, 1});
    for (const std::int32_t kind : {0, 1}) kernel.groups->order.push_back({kind, 5000});
    kernel.launch = Launch{1, 8, 20'000};
    const Problem problem(profile, kernel, *kernel.launch);
    const auto [full, guess] = full_and_guess(problem);
    expect_covers(guess, full);
}

// Two kinds of groups with long loops, in an order that no rate can be steady in: the loops are
// cut, less where what stands behind them would decide.
TEST(Estimate, CutsLongLoopsOfGroupsThatDiffer) {
    GpuProfile profile = gpu({{"add", 2, 6}, {"ld", 4, 90, "mem"}, {"st", 20, 9, "out"}});
    profile.cores = 6;
    for (const auto& [count, behind] : {std::pair{900, 1}, {3600, 118}, {30, 1}}) {
        Kernel kernel{.name = "long"};
        for (const std::int64_t iterations : {8000, 6000}) {
            kernel.warps.push_back(
                {.share = 0.5,
                 .instructions = {
                     instruction("s", "add"),
                     repeat(iterations * count / 900, {instruction("a", "ld", {"b@-1"}),
                                                       repeat(5, {instruction("b", "add", {"a"})}),
                                                       instruction("c", "add", {"c@-1"})})}});
            for (int i = 0; i < behind; ++i)
                kernel.warps.back().instructions.push_back(
                    instruction(fmt::format("e{}", i), "st", {"s"}));
        }
        kernel.groups.emplace();
        kernel.groups->kinds = {{0, 0, 0, 0, 0}, {1, 1, 1, 0, 0}};
        kernel.groups->order = {{0, 70}, {1, 80}, {0, 3}};
        kernel.launch = Launch{5, 3, 153};
        const Problem problem(profile, kernel, *kernel.launch);
        const SimulationResult full = simulate(problem, {.order = Order::in_order});
        const SimulationResult guess =
            simulate(problem, {.order = Order::in_order, .estimate = true});
        EXPECT_EQ(guess.estimate.has_value(), count != 30);
        if (!guess.estimate) continue;
        EXPECT_LT(guess.simulated, full.simulated / 4);
        EXPECT_NEAR(guess.cycles, full.cycles, guess.estimate->error * full.cycles);
        EXPECT_NEAR(static_cast<double>(guess.issued), static_cast<double>(full.issued),
                    0.05 * static_cast<double>(full.issued));
        for (const Bound& bound : guess.bounds) EXPECT_LE(bound.utilisation, 1);
    }
}

// One group has a long loop and ends last; the others, which cannot be cut, decide where it is cut.
TEST(Estimate, LeavesALaunchWhoseLongestGroupAloneCanBeCut) {
    GpuProfile profile = gpu({{"add", 2, 6}, {"ld", 4, 90, "mem"}});
    profile.cores = 2;
    Kernel kernel{.name = "outlier"};
    for (const std::int64_t iterations : {60, 400'000})
        kernel.warps.push_back(
            {.share = 0.5,
             .instructions = {repeat(
                 iterations, {instruction("a", "ld", {"b@-1"}), instruction("b", "add", {"a"})})}});
    kernel.groups.emplace();
    kernel.groups->kinds = {{0}, {1}};
    kernel.groups->order = {{0, 500}, {1, 1}, {0, 499}};
    kernel.launch = Launch{1, 1, 1000};
    const Problem problem(profile, kernel, *kernel.launch);
    const SimulationResult full = simulate(problem, {.order = Order::in_order});
    const SimulationResult guess = simulate(problem, {.order = Order::in_order, .estimate = true});
    EXPECT_NEAR(guess.cycles, full.cycles,
                (guess.estimate ? guess.estimate->error : 0) * full.cycles);
}

// What groups wait for the place of another is taken off once.
TEST(Estimate, TheStartIsTakenOffOnce) {
    const GpuProfile profile = gpu({{"add", 1, 4}, {std::string(group_start), 1, 300, "start"}});
    Kernel kernel = chain("add", 50);
    auto& items = kernel.warps[0].instructions;
    items.insert(items.begin(), instruction(std::string(group_start_id), std::string(group_start)));
    for (const std::int64_t groups : {1, 5}) {
        const Problem problem(profile, kernel, {1, 2, groups});
        EXPECT_EQ(simulate(problem, {.order = Order::in_order, .estimate = true}).cycles,
                  simulate(problem, {.order = Order::in_order}).cycles);
    }
}

TEST(SteadyRate, IsTheMeanBehindTheFirstQuarter) {
    // Ten times as slow until then.
    std::vector<sim::RunPoint> points;
    for (int i = 0; i <= 400; ++i)
        points.push_back({1.0 * i, i < 100 ? 20.0 * i : 2000 + 2.0 * (i - 100)});
    const auto rate = sim::steady_rate(points, 10);
    ASSERT_TRUE(rate);
    EXPECT_DOUBLE_EQ(rate->time_each, 2);
    EXPECT_NEAR(rate->standard_error, 0, 1e-12);
    EXPECT_NEAR(rate->time_at_end, 2600, 1e-9);
    EXPECT_NEAR(rate->scatter, 0, 1e-9);
    EXPECT_FALSE(sim::steady_rate(points, 38));  // batches are of 37.5
    EXPECT_FALSE(sim::steady_rate({}, 0));
    EXPECT_DOUBLE_EQ(sim::time_at(points, 100.5), 2001);
    EXPECT_DOUBLE_EQ(sim::time_at(points, 500), 2600);
}

// Every second batch ends late.
TEST(SteadyRate, ItsLineGoesThroughTheEndsOfBatches) {
    std::vector<sim::RunPoint> points{{8, 8}};
    for (int b = 1; b <= 8; ++b)
        points.push_back({8.0 + 3 * b, 8 + 6.0 * b + (b % 2 == 1 ? 9 : 0)});
    const auto rate = sim::steady_rate(points, 1);
    ASSERT_TRUE(rate);
    EXPECT_DOUBLE_EQ(rate->time_each, 2);
    EXPECT_DOUBLE_EQ(rate->time_at_end, 8 + 48 + 4);  // the mean of 0, 9, 0, 9, … 0
    EXPECT_DOUBLE_EQ(rate->scatter, std::sqrt((5 * 16 + 4 * 25) / 9.0));
}

// Eight batches of 1, 3, 1, 3, …: pairs hide what alternates, so that the larger error counts; and
// where pairs differ, theirs.
TEST(SteadyRate, HasTheLargerErrorOfBatchesAndPairs) {
    const auto error_of = [](const std::vector<double>& each) {
        std::vector<sim::RunPoint> points{{8, 8}};  // a first quarter of 8/32
        for (const double one : each)
            points.push_back({points.back().work + 3, points.back().time + 3 * one});
        return sim::steady_rate(points, 1).value().standard_error;
    };
    EXPECT_NEAR(error_of({1, 3, 1, 3, 1, 3, 1, 3}), std::sqrt(8.0 / (8 * 7)), 1e-12);
    EXPECT_NEAR(error_of({1, 1, 3, 3, 1, 1, 3, 3}), std::sqrt(4.0 / (4 * 3)), 1e-12);
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
    const SimulationOptions options{
        .policy = Policy::lrr, .order = Order::in_order, .checkpoint = [&](const RunProgress&) {
            if (++checks > most) throw LimitReached("time is over");
        }};
    const auto guess = [&] {
        checks = 0;
        return extrapolated(Problem(profile, kernel, {8, 4, 1'000'000}), options);
    };
    EXPECT_TRUE(guess().estimate);
    most = checks - 1;
    EXPECT_TRUE(guess().estimate);
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
