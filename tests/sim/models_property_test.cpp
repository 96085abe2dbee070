// SPDX-License-Identifier: MIT
// What must hold of the models' predictions, on seeded random cases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "sim/machine/machine.h"
#include "sim/models/registry.h"
#include "sim/models/shared_work.h"
#include "tests/sim/build.h"
#include "tests/sim/random_case.h"

namespace occupipe::test {
namespace {

Prediction predicted(std::string_view model, const Case& c) {
    return find_model(model).predict(c.profile, c.kernel, c.launch,
                                     {.policy = c.options.policy, .order = c.options.order});
}

template <typename Check>
void for_random_cases(int count, const Check& check) {
    for (std::uint64_t seed = 8'000'000; seed < 8'000'000U + count; ++seed) {
        const Case c = random_case(seed, {.divergence = false});
        check(c);
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "seed " << seed << '\n' << describe(c);
            return;
        }
    }
}

// Σλ of one warp on one side, by going through the flat graph.
struct Loads {
    double comp = 0;
    double mem = 0;
    double busiest_comp = 0;
    double busiest_mem = 0;
};

Loads loads_of(const Case& c) {
    std::map<std::string, double> comp;
    std::map<std::string, double> mem;
    const Idg graph = expand(c.kernel.warps[0]);
    for (const Idg::Node& node : graph.nodes) {
        const Idg::Op& op = graph.ops[node.op];
        const InstructionTiming& timing = *c.profile.find_instruction(op.name);
        const InstructionKind kind = op.kind ? *op.kind : timing.effective_kind();
        const Subsystem& subsystem = *c.profile.find_subsystem(timing.subsystem);
        const double cpi =
            timing.cpi.value / (subsystem.per_scheduler() ? c.profile.issue.schedulers : 1);
        const bool access = kind == InstructionKind::load || kind == InstructionKind::store;
        (access ? mem : comp)[timing.subsystem] += cpi;
    }
    Loads loads;
    for (const auto& [name, cycles] : comp) {
        loads.comp += cycles;
        loads.busiest_comp = std::max(loads.busiest_comp, cycles);
    }
    for (const auto& [name, cycles] : mem) {
        loads.mem += cycles;
        loads.busiest_mem = std::max(loads.busiest_mem, cycles);
    }
    return loads;
}

TEST(ModelsProperty, EveryPredictionIsFiniteAndConsistent) {
    for (std::uint64_t seed = 7'000'000; seed < 7'000'400; ++seed) {
        const Case c = random_case(seed);
        for (const Model& model : models()) {
            Prediction p;
            try {
                p = predicted(model.name, c);
            } catch (const InputError&) {
                continue;  // warps of a group that do not all reach a barrier
            }
            const auto warps = static_cast<double>(
                std::min<std::int64_t>(c.launch.warps(), c.launch.group_warps * c.launch.groups));
            EXPECT_EQ(p.model, model.name);
            EXPECT_GT(p.warps_per_cycle, 0) << model.name << seed;
            EXPECT_GT(p.cycles, 0) << model.name;
            EXPECT_NEAR(p.cycles_per_run * p.warps_per_cycle, warps, 1e-9 * warps) << model.name;
            EXPECT_GT(p.instructions_per_cycle, 0) << model.name;
            EXPECT_FALSE(p.limited_by.empty()) << model.name;
            EXPECT_FALSE(p.bounds.empty()) << model.name;
            for (const double number : {p.cycles, p.seconds, p.warps_per_cycle, p.cycles_per_run,
                                        p.instructions_per_cycle})
                EXPECT_TRUE(std::isfinite(number)) << model.name;
            for (const Bound& bound : p.bounds) EXPECT_TRUE(std::isfinite(bound.utilisation));
            for (const ModelValue& value : p.values)
                EXPECT_TRUE(std::isfinite(value.value)) << model.name << ' ' << value.name;
        }
        ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed << '\n' << describe(c);
    }
}

// In any order of models and launches, with programs of a group that differ, and where one refuses.
TEST(ModelsProperty, WhatModelsShareChangesNoPrediction) {
    for (std::uint64_t seed = 7'500'000; seed < 7'500'150; ++seed) {
        const Case c = random_case(seed);
        SharedWork shared;
        ModelOptions options{.policy = c.options.policy, .order = c.options.order};
        const auto outcome = [&](const Model& model, const Launch& launch, SharedWork* with) {
            options.shared = with;
            try {
                const Prediction p = model.predict(c.profile, c.kernel, launch, options);
                return fmt::format("{} {} {}", p.cycles, p.warps_per_cycle, p.limited_by);
            } catch (const InputError& error) {
                return std::string(error.what());
            }
        };
        Launch more = c.launch;
        more.groups += 3;
        for (const Launch& launch : {c.launch, more})
            for (const Model& model : models())
                ASSERT_EQ(outcome(model, launch, &shared), outcome(model, launch, nullptr))
                    << model.name << ", seed " << seed << '\n'
                    << describe(c);
    }
}

// Each model's roof is that of the subsystems it knows. WFG* knows no issue limit, GPUMech no
// throughput of the memory; the original GPUMech and MWP-CWP break through
// (docs/background/analytical-models.md).
TEST(ModelsProperty, NoThroughputModelAndNoCorrectedModelPredictsMoreThanItsRoof) {
    for_random_cases(400, [](const Case& c) {
        const Loads loads = loads_of(c);
        const auto below = [&](std::string_view model, double cycles_per_warp) {
            EXPECT_LE(predicted(model, c).warps_per_cycle * cycles_per_warp, 1 + 1e-9) << model;
        };
        const double roof = 1 / predicted("roofline", c).warps_per_cycle;
        below("volkov", roof);
        for (const char* model : {"boat-hull", "mwp-cwp-corrected", "wfg", "wfg-corrected"})
            below(model, std::max(loads.comp, loads.mem));
        for (const char* model : {"transit", "x-model", "gpuperf"})
            below(model, std::max(loads.busiest_comp, loads.busiest_mem));
        below("gpumech-rr-corrected", loads.comp);
        if (c.profile.issue.limit)
            below("mwp-cwp-corrected", static_cast<double>(instruction_count(c.kernel.warps[0])) /
                                           *c.profile.issue.limit);
    });
}

// Lemeire et al., "Analysis of the analytical performance models for GPUs", theorem 1.
TEST(ModelsProperty, TransitEqualsVolkovForChains) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::mt19937_64 random(seed);
        const auto uniform = [&](double low, double high) {
            return std::uniform_real_distribution<double>(low, high)(random);
        };
        // Quarters, so that the simulation behind Λ_app has a coarse tick.
        const auto quarter = [&](int most) {
            return 0.25 * std::uniform_int_distribution<int>(1, most)(random);
        };
        const double comp = quarter(8);
        const double mem = quarter(40);
        const GpuProfile profile = gpu(
            {{"add", comp, comp + quarter(80), "alu"}, {"ld.x", mem, mem + quarter(900), "mem"}});
        std::vector<KernelItem> items;
        const int count = 2 + static_cast<int>(random() % 8);
        for (int i = 0; i < count; ++i)
            items.push_back(instruction(
                "i" + std::to_string(i), uniform(0, 1) < 0.6 ? "add" : "ld.x",
                i == 0 ? std::vector<std::string>{"i" + std::to_string(count - 1) + "@-1"}
                       : std::vector<std::string>{"i" + std::to_string(i - 1)}));
        const Kernel chain = kernel({repeat(1 + static_cast<int>(random() % 50), items)});
        const int warps = 1 + static_cast<int>(random() % 64);
        const Launch launch{.group_warps = 1, .concurrent_groups = warps, .groups = warps};
        const double volkov =
            find_model("volkov").predict(profile, chain, launch, {}).warps_per_cycle;
        for (const char* model : {"transit", "x-model"})
            EXPECT_NEAR(find_model(model).predict(profile, chain, launch, {}).warps_per_cycle,
                        volkov, 1e-9 * volkov)
                << model << " seed " << seed;
    }
}

// One warp of dependent instructions takes the sum of its latencies; GPUMech and the original
// MWP-CWP see λ where others see Λ_comp.
TEST(ModelsProperty, OneWarpOfAChainTakesItsLatencies) {
    const GpuProfile profile = gpu({{"add", 0.5, 6, "alu"}, {"ld.x", 4, 100, "mem"}});
    const Kernel alternating =
        kernel({repeat(10, {instruction("a", "add", {"m@-1"}), instruction("b", "add", {"a"}),
                            instruction("m", "ld.x", {"b"})})});
    const Launch launch{.group_warps = 1, .concurrent_groups = 1, .groups = 1};
    const auto cycles = [&](const char* model) {
        return find_model(model).predict(profile, alternating, launch, {}).cycles;
    };
    for (const char* model : {"volkov", "transit", "x-model", "mwp-cwp-corrected", "gpuperf", "wfg",
                              "wfg-corrected", "pipeline"})
        EXPECT_NEAR(cycles(model), 10 * (6 + 6 + 100), 1e-6) << model;
    for (const char* model : {"mwp-cwp", "gpumech-rr", "gpumech-rr-corrected", "gpumech-gto"})
        EXPECT_NEAR(cycles(model), 10 * (0.5 + 0.5 + 100), 1e-6) << model;
}

// Slower instructions never speed up a model that is monotone in them. Not among them: the
// original WFG, whose longer computations hide more than there is, and GPUMech's GTO and MDM,
// whose mean interval differs from each interval.
TEST(ModelsProperty, LongerLatenciesAndSpacingsNeverHelp) {
    const GpuProfile before = gpu({{"add", 0.5, 6, "alu"}, {"ld.x", 4, 100, "mem"}});
    const Kernel alternating =
        kernel({repeat(10, {instruction("a", "add", {"m@-1"}), instruction("b", "add", {"a"}),
                            instruction("m", "ld.x", {"b"})})});
    for (int warps = 1; warps <= 64; ++warps)
        for (int what = 0; what < 4; ++what) {
            GpuProfile after = before;
            InstructionTiming& timing = after.instructions[what / 2];
            (what % 2 == 0 ? timing.cpi : *timing.latency).value *= 1.5;
            const Launch launch{.group_warps = 1, .concurrent_groups = warps, .groups = warps};
            for (const char* name : {"roofline", "boat-hull", "volkov", "transit", "x-model",
                                     "mwp-cwp-corrected", "wfg-corrected", "pipeline"}) {
                const Model& model = find_model(name);
                EXPECT_GE(model.predict(after, alternating, launch, {}).cycles * (1 + 1e-9),
                          model.predict(before, alternating, launch, {}).cycles)
                    << name << ' ' << warps << ' ' << what;
            }
        }
}

// A kernel of one kind only still gets an answer from each model.
TEST(ModelsProperty, KernelsWithoutAccessesOrWithoutComputationsArePredicted) {
    const GpuProfile profile = gpu({{"add", 0.5, 6, "alu"},
                                    {"ld.x", 4, 100, "mem"},
                                    {"st.x", 4, 50, "mem"},
                                    {"bar.sync", 1, 20, "bar"}});
    for (const char* op : {"add", "ld.x", "st.x", "bar.sync"})
        for (const int warps : {1, 7, 64})
            for (const Model& model : models()) {
                const Launch launch{.group_warps = 1, .concurrent_groups = warps, .groups = warps};
                const Prediction p = model.predict(profile, chain(op, 20), launch, {});
                EXPECT_TRUE(std::isfinite(p.warps_per_cycle)) << model.name << op;
                EXPECT_GT(p.warps_per_cycle, 0) << model.name << op;
                EXPECT_FALSE(p.limited_by.empty()) << model.name << op;
                for (const ModelValue& value : p.values)
                    EXPECT_TRUE(std::isfinite(value.value)) << model.name << op << value.name;
            }
}

// Fewer misses and fewer requests cannot slow down the models that ask for them.
TEST(ModelsProperty, HitsHelpAndFurtherRequestsDoNot) {
    const GpuProfile profile = gpu({{"add", 0.5, 6, "alu"}, {"ld.x", 4, 100, "mem"}});
    const Kernel alternating =
        kernel({repeat(10, {instruction("a", "add", {"m@-1"}), instruction("m", "ld.x", {"a"})})});
    for (const int warps : {1, 8, 40}) {
        const Launch launch{.group_warps = 1, .concurrent_groups = warps, .groups = warps};
        const auto cycles = [&](const char* model, const MemoryBehaviour& memory) {
            return find_model(model)
                .predict(profile, alternating, launch, {.memory = memory})
                .cycles;
        };
        for (const char* model : {"x-model", "gpuperf"})
            EXPECT_LT(cycles(model, {.hit_rate = 0.5, .hit_latency = 20}), cycles(model, {}))
                << model << warps;
        for (const char* model : {"gpuperf", "mdm", "mdm-divergent"})
            EXPECT_GT(cycles(model, {.requests_per_access = 8}), cycles(model, {}))
                << model << warps;
    }
    for (const char* model : {"x-model", "gpuperf", "mdm", "mdm-divergent"})
        for (const MemoryBehaviour& wrong :
             {MemoryBehaviour{.hit_rate = 1}, MemoryBehaviour{.hit_rate = 0.5},
              MemoryBehaviour{.requests_per_access = 0.5}})
            EXPECT_THROW(find_model(model).predict(profile, alternating, {}, {.memory = wrong}),
                         InputError)
                << model;
}

}  // namespace
}  // namespace occupipe::test
