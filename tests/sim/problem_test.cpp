// SPDX-License-Identifier: MIT
// A Problem that is made from another one is the one that would be made anew; a run is observed
// once.
#include "sim/problem.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "sim/models/registry.h"
#include "sim/observers/run_views.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

// All that a prediction says, or why there is none.
std::string outcome(const Model& model, const Problem& problem, const ModelOptions& options) {
    try {
        const Prediction p = model.predict(problem, options);
        std::string text =
            fmt::format("{} {} {} {}", p.cycles, p.seconds, p.warps_per_cycle, p.limited_by);
        for (const Bound& bound : p.bounds)
            text += fmt::format(" {}={}", bound.name, bound.utilisation);
        for (const ModelValue& value : p.values)
            text += fmt::format(" {}={}", value.name, value.value);
        return text;
    } catch (const InputError& error) {
        return error.what();
    }
}

// Groups begin one after the other; the launch comes on top, once.
TEST(KernelSeconds, ALaunchTakesAtLeastWhatItsGroupsTakeToBegin) {
    GpuFacts gpu;
    gpu.clock_hz = 1e9;
    EXPECT_DOUBLE_EQ(kernel_seconds(gpu, 1000, 100), 1e-6);
    gpu.group_seconds = 2e-8;
    EXPECT_DOUBLE_EQ(kernel_seconds(gpu, 1000, 100), 2e-6);
    gpu.launch_seconds = 3e-6;
    EXPECT_DOUBLE_EQ(kernel_seconds(gpu, 1000, 100), 5e-6);
    EXPECT_DOUBLE_EQ(kernel_seconds(gpu, 1000, 10), 4e-6);
}

ModelOptions options_of(const Case& c) {
    return {.policy = c.options.policy, .order = c.options.order};
}

TEST(Problem, AtAnotherLaunchIsAsMadeForIt) {
    for (std::uint64_t seed = 7'600'000; seed < 7'600'100; ++seed) {
        const Case c = random_case(seed);
        Launch more = c.launch;
        more.concurrent_groups += 1;
        more.groups += 5;
        const Problem first(c.profile, c.kernel, c.launch);
        if (c.kernel.groups) continue;
        for (const Model& model : models())
            ASSERT_EQ(outcome(model, first.at(more), options_of(c)),
                      outcome(model, Problem(c.profile, c.kernel, more), options_of(c)))
                << model.name << ", seed " << seed << '\n'
                << describe(c);
    }
}

TEST(Problem, WithOtherNumbersIsAsMadeOfAProfileThatHasThem) {
    for (std::uint64_t seed = 7'700'000; seed < 7'700'100; ++seed) {
        const Case c = random_case(seed);
        const Problem first(c.profile, c.kernel, c.launch);
        GpuProfile slower = c.profile;
        std::vector<OpTiming> timings(first.timings().begin(), first.timings().end());
        for (std::size_t op = 0; op < timings.size(); ++op) {
            InstructionTiming& timing = *slower.find_instruction(first.kernel().ops[op].name);
            timing.cpi.value = timings[op].cpi =
                c.profile.find_instruction(timing.name)->cpi.value * 2;
            if (!timing.latency) continue;
            timing.latency->value = *(
                timings[op].latency = c.profile.find_instruction(timing.name)->latency->value + 3);
        }
        for (const char* name : {"pipeline", "volkov", "wfg", "mdm"})
            ASSERT_EQ(outcome(find_model(name), first.with(first.gpu(), timings), options_of(c)),
                      outcome(find_model(name), Problem(slower, c.kernel, c.launch), options_of(c)))
                << name << ", seed " << seed << '\n'
                << describe(c);
    }
}

TEST(Problem, RefusesNumbersOutOfRange) {
    const Problem problem(gpu({{"op", 1, 10}}), chain("op", 3), {});
    std::vector<OpTiming> timings(problem.timings().begin(), problem.timings().end());
    const auto refused = [&](const auto& change) {
        GpuFacts facts = problem.gpu();
        std::vector<OpTiming> changed = timings;
        change(facts, changed);
        EXPECT_THROW(static_cast<void>(problem.with(facts, changed)), InputError);
    };
    EXPECT_NO_THROW(static_cast<void>(problem.with(problem.gpu(), timings)));
    refused([](GpuFacts&, auto& t) { t[0].cpi = 0; });
    refused([](GpuFacts&, auto& t) { t[0].latency = -1; });
    refused([](GpuFacts&, auto& t) { t[0].latency_growth = -1; });
    refused([](GpuFacts&, auto& t) { t.clear(); });
    refused([](GpuFacts& g, auto&) { g.issue.limit = 0; });
    refused([](GpuFacts& g, auto&) { g.subsystems[0].contention = Estimate{.value = 1}; });
    EXPECT_THROW(static_cast<void>(problem.at({.group_warps = 0})), InputError);
}

// What the table says that a model reads changes its prediction, and nothing else does.
TEST(ModelReads, AreWhatChangesAPrediction) {
    GpuProfile profile = gpu({{"fma.f32", 0.5, 6, "alu"},
                              {"ld.global.f32", 4, 100, "mem"},
                              {"add.s32", 0.5, 6, "alu"},
                              {"ld.shared.u32", 2, 30, "mem"}});
    const Kernel kernel = test::kernel(
        {repeat(10, {instruction("a", "fma.f32", {"m@-1"}), instruction("b", "fma.f32", {"a"}),
                     instruction("m", "ld.global.f32", {"b"})})});
    GpuProfile other = profile;
    other.find_instruction("ld.shared.u32")->cpi.value = 64;
    const Launch launch{.group_warps = 4, .concurrent_groups = 4, .groups = 64};
    for (const Model& model : models()) {
        const auto changes = [&](const GpuProfile& on, const MemoryBehaviour& memory) {
            const auto cycles = [&](const GpuProfile& gpu, const MemoryBehaviour& behaviour) {
                return model.predict(gpu, kernel, launch, {.memory = behaviour}).cycles;
            };
            return cycles(on, memory) != cycles(profile, {});
        };
        EXPECT_EQ(model.reads.hits, changes(profile, {.hit_rate = 0.9, .hit_latency = 20}))
            << model.name;
        EXPECT_EQ(model.reads.requests, changes(profile, {.requests_per_access = 16}))
            << model.name;
        EXPECT_EQ(model.reads.dram, changes(profile, {.dram_bytes_per_warp = 1e6})) << model.name;
        EXPECT_EQ(model.reads.references, changes(other, {})) << model.name;
    }
}

struct CountRuns : sim::Observer {
    void started(const sim::CoreLayout&) override { ++runs; }
    void issued(const sim::IssueEvent&) override { ++issues; }

    int runs = 0;
    std::int64_t issues = 0;
};

TEST(RunViews, SeeTheRunOfThePredictionAndNoOther) {
    for (std::uint64_t seed = 7'800'000; seed < 7'800'060; ++seed) {
        const Case c = random_case(seed);
        const Problem problem(c.profile, c.kernel, c.launch);
        const Model& pipeline = find_model("pipeline");
        sim::RunViews views({.stalls = true, .timeline_cycles = 50});
        CountRuns count;
        std::vector<sim::Observer*> observers(views.observers().begin(), views.observers().end());
        observers.push_back(&count);
        ModelOptions options = options_of(c);
        const std::string plain = outcome(pipeline, problem, options);
        options.observers = observers;
        ASSERT_EQ(outcome(pipeline, problem, options), plain) << describe(c);
        if (count.runs == 0) continue;  // refused
        ASSERT_EQ(count.runs, 1);
        ASSERT_GT(count.issues, 0);

        sim::StallView stalls;
        sim::TimelineView timeline(50);
        simulate(c.profile, c.kernel, c.launch, options.simulation(), stalls);
        simulate(c.profile, c.kernel, c.launch, options.simulation(), timeline);
        ASSERT_EQ(views.stalls()->end(), stalls.end());
        ASSERT_EQ(views.stalls()->waits().size(), stalls.waits().size());
        for (std::size_t i = 0; i < stalls.waits().size(); ++i)
            ASSERT_EQ(views.stalls()->waits()[i].ticks, stalls.waits()[i].ticks);
        ASSERT_EQ(sim::timeline_text(*views.timeline()), sim::timeline_text(timeline));

        // It would tell of a run.
        bool simulated = false;
        SimulationOptions again = options.simulation();
        again.checkpoint = [&](const RunProgress&) { simulated = true; };
        views.run(problem, again);
        ASSERT_FALSE(simulated);
    }
}

TEST(RunViews, SimulateWhereNoModelDoes) {
    const Problem problem(gpu({{"op", 1, 10}}), chain("op", 5), {});
    sim::RunViews views({.stalls = true, .timeline_cycles = {}});
    find_model("roofline").predict(problem, {.observers = views.observers()});
    EXPECT_EQ(views.stalls()->end(), 0);
    int runs = 0;
    SimulationOptions options;
    options.checkpoint = [&](const RunProgress& at) { runs += at.simulated == 0 ? 1 : 0; };
    views.run(problem, options);
    EXPECT_GT(views.stalls()->end(), 0);
    EXPECT_EQ(runs, 1);
    views.run(problem, options);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(views.timeline(), nullptr);
}

// An estimate skips most of the run: the views get one of their own.
TEST(RunViews, DoNotSeeEstimates) {
    const Problem problem(gpu({{"op", 1, 10}}), chain("op", 5), {});
    sim::RunViews views({.stalls = true, .timeline_cycles = {}});
    ModelOptions options{.estimate = true};
    options.observers = views.observers();
    find_model("pipeline").predict(problem, options);
    EXPECT_EQ(views.stalls()->end(), 0);
    views.run(problem, options.simulation());
    EXPECT_GT(views.stalls()->end(), 0);
}

}  // namespace
}  // namespace occupipe::test
