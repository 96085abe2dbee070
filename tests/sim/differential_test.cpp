// SPDX-License-Identifier: MIT
// The fast simulator against the reference: the same ticks, instructions and busy times, or the
// same refusal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/in_order_engine.h"
#include "sim/engine/simulate.h"
#include "sim/observers/observer.h"
#include "sim/reference/simulate_reference.h"
#include "tests/sim/random_case.h"
#include "tests/support/thinned.h"

namespace occupipe::test {
namespace {

// The ordinary run takes an eighth of the cases.
const int eighth = thinned::all_cases() ? 1 : 8;

using Simulator = SimulationResult (*)(const GpuProfile&, const Kernel&, const Launch&,
                                       const SimulationOptions&);

std::optional<SimulationResult> outcome(Simulator simulator, const Case& c) {
    try {
        return simulator(c.profile, c.kernel, c.launch, c.options);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

bool same(const std::optional<SimulationResult>& a, const std::optional<SimulationResult>& b) {
    if (!a || !b) return a.has_value() == b.has_value();
    return a->ticks == b->ticks && a->issued == b->issued && a->bounds == b->bounds;
}

// An observer, even one that does nothing, is served by code of its own
// (sim/engine/general_loop.cpp).
SimulationResult simulate_observed(const GpuProfile& profile, const Kernel& kernel,
                                   const Launch& launch, const SimulationOptions& options) {
    sim::Observer nobody;
    return simulate(profile, kernel, launch, options, nobody);
}

// The in-order engine's vector loop, which is meant for long bodies, on any.
using sim::InOrderEngine;
template <InOrderEngine::Loop loop = InOrderEngine::Loop::vectors>
SimulationResult simulate_in_vectors(const GpuProfile& profile, const Kernel& kernel,
                                     const Launch& launch, const SimulationOptions& options) {
    const sim::CoreLayout layout = sim::build_layout(Problem(profile, kernel, launch), options);
    InOrderEngine engine(layout, options.detect_periods, nullptr, loop);
    // In two parts, as a run with limits is.
    const bool done = engine.run(20) || engine.run(std::numeric_limits<std::int64_t>::max() / 2);
    EXPECT_TRUE(done);
    const sim::RunLimits::State end = engine.progress();
    SimulationResult result;
    result.ticks = end.now;
    result.issued = end.issued;
    result.simulated = end.issued - end.skipped;
    const sim::Machine& machine = layout.machine;
    std::vector<std::int64_t> busy(machine.unit_count());
    std::vector<std::int64_t> beyond_end(busy.size());
    for (int j = 0; j < machine.schedulers; ++j)
        for (int s = 0; s < static_cast<int>(machine.subsystems.size()); ++s) {
            busy[machine.unit(s, j)] += engine.busy(j, s);
            beyond_end[machine.unit(s, j)] =
                std::max<std::int64_t>(0, engine.free_at(j, s) - end.now);
        }
    for (std::size_t u = 0; u < busy.size(); ++u) busy[u] -= beyond_end[u];
    result.bounds = sim::utilisations(machine, busy, end.issued, end.now);
    return result;
}

bool vectors_can_run(const Case& c) {
    if (c.options.order != Order::in_order || !sim::has_wide_vectors()) return false;
    try {
        const sim::CoreLayout layout =
            sim::build_layout(Problem(c.profile, c.kernel, c.launch), c.options);
        return sim::InOrderEngine::can_run(layout) && sim::InOrderEngine::fits_lanes(layout);
    } catch (const InputError&) {
        return false;
    }
}

bool differs(const Case& c) {
    const auto reference = outcome(&simulate_reference, c);
    return !same(outcome(&simulate, c), reference) ||
           !same(outcome(&simulate_observed, c), reference) ||
           (vectors_can_run(c) && !same(outcome(&simulate_in_vectors<>, c), reference));
}

// Where warps diverge, the fast simulator asks that barriers depend on one another; the reference
// does not. Such refusals are no difference, but must stay the exception.
bool refused_for_divergence(const Case& c) {
    if (c.kernel.warps.size() < 2) return false;
    try {
        simulate(c.profile, c.kernel, c.launch, c.options);
    } catch (const InputError& error) {
        return std::string_view(error.what()).find("must depend on the one before") !=
               std::string_view::npos;
    }
    return false;
}

struct Tally {
    int compared = 0;
    int in_vectors = 0;  // of these, in the vector loop, too
    int refused = 0;
};

Tally compare_cases(std::uint64_t first_seed, std::uint64_t count, const CaseShape& shape,
                    std::optional<Order> order = std::nullopt) {
    Tally tally;
    for (const std::uint64_t seed : thinned::seeds(first_seed, count, 8)) {
        Case c = random_case(seed, shape);
        if (order) c.options.order = *order;
        if (refused_for_divergence(c)) {
            ++tally.refused;
            continue;
        }
        ++tally.compared;
        tally.in_vectors += vectors_can_run(c);
        if (!differs(c)) continue;
        const Case small =
            shrink(c, [](const Case& s) { return !refused_for_divergence(s) && differs(s); });
        const auto fast = outcome(&simulate, small);
        const auto slow = outcome(&simulate_reference, small);
        ADD_FAILURE() << "seed " << seed << ": fast " << (fast ? fast->ticks : -1)
                      << " ticks, reference " << (slow ? slow->ticks : -1) << " ticks\n"
                      << describe(small);
        return tally;
    }
    return tally;
}

TEST(Differential, SmallCasesEqualTheReference) {
    const Tally tally = compare_cases(1, 16'000, {});
    EXPECT_GT(tally.compared, 15'000 / eighth);
}

TEST(Differential, LongerProgramsEqualTheReference) {
    const Tally tally =
        compare_cases(1'000'000, 3'000, {.max_instructions = 16, .max_count = 3, .max_groups = 4});
    EXPECT_GT(tally.compared, 2'700 / eighth);
}

TEST(Differential, MoreIterationsEqualTheReference) {
    const Tally tally =
        compare_cases(2'000'000, 2'000, {.max_instructions = 4, .max_count = 12, .max_groups = 12});
    EXPECT_GT(tally.compared, 1'850 / eighth);
}

// More instructions than one word holds.
TEST(Differential, LongBodiesEqualTheReference) {
    const Tally tally = compare_cases(
        8'000'000, 400,
        {.max_instructions = 150, .max_count = 2, .max_executed = 300, .max_groups = 2});
    EXPECT_GT(tally.compared, 300 / eighth);
}

// In order has an engine of its own.
TEST(Differential, CasesInOrderEqualTheReference) {
    const Tally small = compare_cases(4'000'000, 16'000, {}, Order::in_order);
    EXPECT_GT(small.compared, 15'000 / eighth);
    EXPECT_TRUE(!sim::has_wide_vectors() || small.in_vectors > 5'000 / eighth);
    const Tally longer =
        compare_cases(5'000'000, 3'000, {.max_instructions = 16, .max_count = 3, .max_groups = 4},
                      Order::in_order);
    EXPECT_GT(longer.compared, 2'700 / eighth);
    const Tally looping =
        compare_cases(6'000'000, 2'000, {.max_instructions = 4, .max_count = 12, .max_groups = 12},
                      Order::in_order);
    EXPECT_GT(looping.compared, 1'850 / eighth);
}

// Warps and groups enough that each scheduler has several, and more than a word of lanes.
TEST(Differential, ManyWarpsInOrderEqualTheReference) {
    if (!sim::has_wide_vectors()) GTEST_SKIP() << "this processor has no wide vectors";
    int compared = 0;
    for (const std::uint64_t seed : thinned::seeds(9'000'000, 1'200, 8)) {
        Case c = random_case(seed, {.max_instructions = 6, .max_count = 3, .max_executed = 20});
        c.options.order = Order::in_order;
        const std::array shapes = {Launch{16, 4, 5},  Launch{8, 8, 9}, Launch{32, 2, 3},
                                   Launch{1, 64, 70}, Launch{5, 7, 9}, Launch{3, 11, 13}};
        c.launch = shapes[seed % shapes.size()];
        if (refused_for_divergence(c) || !vectors_can_run(c)) continue;
        ++compared;
        const auto fast = outcome(&simulate_in_vectors<>, c);
        const auto slow = outcome(&simulate_reference, c);
        ASSERT_TRUE(
            same(outcome(&simulate_in_vectors<InOrderEngine::Loop::short_vectors>, c), slow))
            << "seed " << seed << " in short vectors\n"
            << describe(c);
        ASSERT_TRUE(same(fast, slow))
            << "seed " << seed << ": vectors " << (fast ? fast->ticks : -1) << " ticks, reference "
            << (slow ? slow->ticks : -1) << '\n'
            << describe(c);
    }
    EXPECT_GT(compared, 400 / eighth);
}

// The vector loop counts ticks in 22 bits, and begins anew after 2^21 of them.
TEST(Differential, ManyTicksInOrderEqualTheReference) {
    if (!sim::has_wide_vectors()) GTEST_SKIP() << "this processor has no wide vectors";
    int compared = 0;
    std::int64_t longest = 0;
    for (const std::uint64_t seed : thinned::seeds(9'500'000, 800, 8)) {
        Case c = random_case(seed, {.max_instructions = 6, .max_count = 12});
        c.options.order = Order::in_order;
        for (InstructionTiming& timing : c.profile.instructions)
            if (timing.name == "ld.a" || timing.name == "mul") timing.latency->value = 400.001;
        if (refused_for_divergence(c) || !vectors_can_run(c)) continue;
        ++compared;
        const auto fast = outcome(&simulate_in_vectors<>, c);
        const auto slow = outcome(&simulate_reference, c);
        ASSERT_TRUE(same(fast, slow)) << "seed " << seed << '\n' << describe(c);
        if (slow) longest = std::max(longest, slow->ticks);
    }
    EXPECT_GT(compared, 200 / eighth);
    EXPECT_GT(longest, std::int64_t{1} << 23);
}

// All that an observer hears, but for how a wait is cut into parts and when it is told.
class Record : public sim::Observer {
public:
    void issued(const sim::IssueEvent& e) override {
        issues_.insert({e.time, e.warp, e.stream, e.instance, e.scheduler});
    }
    void completed(const sim::CompletionOf& e) override {
        completions_.insert({e.time, e.warp, e.stream, e.instance});
    }
    void waited(const sim::WaitEvent& e) override {
        EXPECT_LT(e.from, e.until);
        waits_[{e.warp, e.wait.reason, e.wait.stream.value_or(-1), e.wait.producer.value_or(-1)}] +=
            e.until - e.from;
    }
    void group_started(const sim::GroupEvent& e) override {
        groups_.push_back({e.time, e.slot, e.group, 0});
    }
    void group_ended(const sim::GroupEvent& e) override {
        groups_.push_back({e.time, e.slot, e.group, 1});
    }
    bool operator==(const Record& other) const {
        return issues_ == other.issues_ && waits_ == other.waits_ && groups_ == other.groups_ &&
               completions_ == other.completions_;
    }
    // Of stores whose group ended before: not every engine tells of them.
    void drop_late_completions(const sim::CoreLayout& layout) {
        std::erase_if(completions_, [&](const auto& c) {
            const auto& program = layout.programs[layout.program_of[c[1]]].program;
            return layout.machine.ops[program.streams[c[2]].op].kind == InstructionKind::store;
        });
    }

private:
    std::set<std::array<std::int64_t, 5>> issues_;
    std::set<std::array<std::int64_t, 4>> completions_;
    std::map<std::tuple<std::int32_t, sim::WaitReason, std::int32_t, std::int32_t>, std::int64_t>
        waits_;
    std::vector<std::array<std::int64_t, 4>> groups_;
};

template <typename Engine>
void run_observed(const sim::CoreLayout& layout, Record& record) {
    EXPECT_TRUE(Engine(layout, false, &record).run(std::numeric_limits<std::int64_t>::max()));
    record.drop_late_completions(layout);
}

TEST(Differential, ObserversHearTheSameOfAllEngines) {
    std::array<int, 3> compared{};  // per EngineKind
    for (const std::uint64_t seed : thinned::seeds(7'000'000, 6'000, 8)) {
        Case c = random_case(seed);
        c.options.order = seed % 3 == 0 ? Order::dataflow : Order::in_order;
        try {
            const sim::CoreLayout layout =
                sim::build_layout(Problem(c.profile, c.kernel, c.launch), c.options);
            const sim::EngineKind kind = sim::engine_kind(layout);
            sim::CoreLayout any_size = layout;
            any_size.narrow = false;
            Record general;
            run_observed<sim::EventEngine>(any_size, general);
            ++compared[static_cast<std::size_t>(kind)];
            Record word;
            if (layout.narrow) run_observed<sim::EventEngine>(layout, word);
            ASSERT_TRUE(!layout.narrow || general == word) << "seed " << seed << '\n'
                                                           << describe(c);
            Record scoreboard;
            const bool fits = kind == sim::EngineKind::scoreboard;
            if (fits) run_observed<sim::InOrderEngine>(layout, scoreboard);
            ASSERT_TRUE(!fits || general == scoreboard) << "seed " << seed << '\n' << describe(c);
        } catch (const InputError&) {
        }
    }
    EXPECT_GT(compared[0], 3'500 / eighth);
    EXPECT_GT(compared[1], 1'000 / eighth);
}

// Long loops and many groups, so that most of the work is skipped: against the same simulator with
// nothing skipped, which the tests above compare with the reference.
TEST(Differential, SkippedRepetitionsChangeNothing) {
    const auto fully = [](const GpuProfile& profile, const Kernel& kernel, const Launch& launch,
                          const SimulationOptions& options) {
        SimulationOptions all = options;
        all.detect_periods = false;
        return simulate(profile, kernel, launch, all);
    };
    const auto skips_wrongly = [&](const Case& c) {
        const auto full = outcome(fully, c);
        return !same(outcome(&simulate, c), full) ||
               (vectors_can_run(c) && !same(outcome(&simulate_in_vectors<>, c), full));
    };
    std::int64_t issued = 0;
    std::int64_t simulated = 0;
    for (const std::uint64_t seed : thinned::seeds(3'000'000, 6'000, 8)) {
        Case c = random_case(seed, {.max_instructions = 6,
                                    .max_count = seed % 2 == 0 ? 400 : 30,
                                    .max_executed = 3000,
                                    .max_groups = seed % 3 == 0 ? 200 : 8});
        if (seed % 5 < 2) c.options.order = Order::in_order;
        if (skips_wrongly(c)) {
            ADD_FAILURE() << "seed " << seed << '\n' << describe(shrink(c, skips_wrongly));
            return;
        }
        if (const auto result = outcome(&simulate, c)) {
            issued += result->issued;
            simulated += result->simulated;
        }
    }
    EXPECT_LT(simulated, issued / 2);  // else the test would compare nothing
    RecordProperty("issued", std::to_string(issued));
    RecordProperty("simulated", std::to_string(simulated));
}

TEST(Differential, ShrinkingKeepsTheFaultAndDropsTheRest) {
    const auto has_barrier = [](const Case& c) {
        return describe(c).find("op: bar.sync") != std::string::npos;
    };
    std::uint64_t seed = 1;
    while (!has_barrier(random_case(seed))) ++seed;
    const Case small = shrink(random_case(seed), has_barrier);
    EXPECT_EQ(small.launch, Launch());
    EXPECT_EQ(instruction_count(small.kernel.warps[0]), 1);
}

}  // namespace
}  // namespace occupipe::test
