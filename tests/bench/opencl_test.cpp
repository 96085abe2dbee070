// SPDX-License-Identifier: MIT
// The OpenCL backend on this machine's CPU through PoCL: it runs, and its machine code holds
// exactly the instructions that the table promises.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "bench/devices.h"
#include "bench/opencl/opencl_backend.h"
#include "bench/opencl/prelude.h"
#include "bench/sampler.h"
#include "bench/sweep.h"
#include "core/error.h"
#include "temporary_folder.h"
#include "x86_loop.h"

namespace occupipe::bench {
namespace {

using testing::TemporaryFolder;

// One PoCL device for all tests, compiling into a cache of its own.
struct Pocl {
    Pocl() {
        setenv("POCL_CACHE_DIR", cache.path.c_str(), 1);
        for (const DeviceFacts& facts : opencl_devices()) {
            if (facts.cpu &&
                facts.more.at("opencl_platform").starts_with("Portable Computing Language")) {
                backend = open_device(facts.id);
                return;
            }
        }
    }
    TemporaryFolder cache;
    std::unique_ptr<Backend> backend;
};

Pocl& pocl() {
    static Pocl device;
    return device;
}

#define NEED_POCL() \
    if (!pocl().backend) GTEST_SKIP() << "no PoCL on this machine (package pocl-opencl-icd)"

Observation run_once(const KernelPlan& plan, std::int64_t iterations) {
    const auto program = pocl().backend->compile(kernel_source(plan));
    MeasurementShape shape;
    shape.chains = plan.chains;
    shape.depth = iterations * plan.unroll;
    return pocl().backend->launch(*program, {.shape = shape, .iterations = iterations});
}

// The loop of the shared object made last that holds the most of `mnemonic`; PoCL may leave several
// variants of a kernel, all made in this call.
std::vector<testing::MachineLoop> loops_made_by(const std::function<void()>& work) {
    const auto before = testing::shared_objects(pocl().cache.path);
    work();
    std::vector<testing::MachineLoop> loops;
    for (const auto& object : testing::shared_objects(pocl().cache.path)) {
        if (std::ranges::find(before, object) != before.end()) continue;
        for (auto& loop : testing::loops_of(object)) loops.push_back(std::move(loop));
    }
    return loops;
}

int largest_count(const std::vector<testing::MachineLoop>& loops, const std::string& mnemonic,
                  const std::string& operand = "") {
    int largest = 0;
    for (const auto& loop : loops) largest = std::max(largest, loop.count(mnemonic, operand));
    return largest;
}

class EveryRow : public ::testing::TestWithParam<const Row*> {};

TEST_P(EveryRow, RunsAndStoresFiniteResults) {
    NEED_POCL();
    const Row& row = *GetParam();
    if (const auto reason = pocl().backend->unsupported(row)) {
        EXPECT_FALSE(reason->empty()) << row.id;
        return;
    }
    const int chains = std::min(4, row.most_chains);
    const int unroll = default_unroll(row, nullptr, 0, chains, true);
    EXPECT_GT(run_once({.first = &row, .chains = chains, .unroll = unroll}, 8).seconds, 0);
}

// The receipt: unroll x chains of the instruction in the timed loop, no more, no less.
TEST_P(EveryRow, MachineCodeHoldsExactlyTheCountedInstructions) {
    NEED_POCL();
#if !defined(__x86_64__)
    GTEST_SKIP() << "mnemonics are known for x86-64 only";
#endif
    const Row& row = *GetParam();
    if (row.x86.empty() || pocl().backend->unsupported(row))
        return;  // no single instruction to count
    // Rows that differ in working set or loop body only compile to the machine code of the first
    // of them, which the runtime keeps.
    const auto same = std::ranges::find_if(instruction_table(), [&](const Row& other) {
        return other.step == row.step && other.pattern == row.pattern && other.type == row.type;
    });
    if (&*same != &row) return;
    const bool chase = row.pattern == Pattern::shared_chase || row.pattern == Pattern::global_chase;
    // A link of a chase is a load with a scaled index; other moves are not.
    const std::string operand = chase ? ",4)," : "";
    for (const int chains : {1, 3, chase ? 8 : 10}) {  // the sweep's largest
        const KernelPlan plan{.first = &row, .chains = chains, .unroll = 16 + chains};
        const auto loops = loops_made_by([&] { run_once(plan, 2); });
        EXPECT_EQ(largest_count(loops, std::string(row.x86), operand), plan.unroll * chains)
            << row.id << " chains " << chains;
        if (row.x86_also.empty() && row.pattern != Pattern::global_stream) {
            for (const auto& loop : loops) {
                if (loop.count(std::string(row.x86), operand) < plan.unroll * chains) continue;
                // apart from the counted ones: loop counter, comparison, jump, a few moves
                EXPECT_LE(static_cast<int>(loop.instructions.size()), plan.unroll * chains + 6)
                    << row.id << " chains " << chains;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRow, ::testing::ValuesIn([] {
                             std::vector<const Row*> rows;
                             for (const Row& row : instruction_table()) rows.push_back(&row);
                             return rows;
                         }()),
                         [](const auto& instance) {
                             std::string name(instance.param->id);
                             std::ranges::replace(name, '.', '_');
                             return name;
                         });

TEST(OpenClReceipt, AFoldedChainWouldBeSeen) {
    NEED_POCL();
    // The same kernel without the fence: the optimiser folds 20 additions of a into one of 20 a.
    const Row& row = *find_row("add.s32");
    Row unfenced = row;
    unfenced.step = "$ = $ + a";
    const auto loops =
        loops_made_by([&] { run_once({.first = &unfenced, .chains = 1, .unroll = 20}, 2); });
    EXPECT_NE(largest_count(loops, std::string(row.x86)), 20);
}

TEST(OpenClReceipt, ADeadChainWouldBeSeen) {
    NEED_POCL();
    // Chain 1 is computed but its result goes nowhere: without the fence it would vanish; a body
    // that overwrites it shows that the count notices.
    Row dead = *find_row("mul.f32");
    dead.step = "{ float y = $ * a; (void)y; }";
    const auto loops =
        loops_made_by([&] { run_once({.first = &dead, .chains = 2, .unroll = 20}, 2); });
    EXPECT_EQ(largest_count(loops, "v?mulss"), 0);
}

TEST(OpenClReceipt, AMixHoldsBetaOfOneToOneOfTheOther) {
    NEED_POCL();
    const KernelPlan plan{.first = find_row("fma.f32"),
                          .second = find_row("div.f32"),
                          .beta = 4,
                          .chains = 2,
                          .unroll = 20};
    const auto loops = loops_made_by([&] { run_once(plan, 2); });
    EXPECT_EQ(largest_count(loops, "vfn?madd\\d+ss"), 16 * 2);
    EXPECT_EQ(largest_count(loops, "v?divss"), 4 * 2);
}

TEST(OpenClBackend, SaysWhatItIs) {
    NEED_POCL();
    const DeviceFacts& facts = pocl().backend->facts();
    EXPECT_TRUE(facts.cpu);
    EXPECT_EQ(facts.warp_size, 1);
    EXPECT_GE(facts.cores, 1);
    EXPECT_FALSE(facts.clock_source.empty());
}

TEST(OpenClBackend, WitnessesAPlausibleClock) {
    NEED_POCL();
    const auto clock = pocl().backend->witness_clock();
#if defined(__x86_64__)
    ASSERT_TRUE(clock.has_value());
#else
    if (!clock) GTEST_SKIP() << "no fence for this CPU";
#endif
    EXPECT_GT(*clock, 2e8);  // any CPU of this century, however throttled
    EXPECT_LT(*clock, 2e10);
}

TEST(OpenClBackend, ACompilerErrorCarriesTheCompilersWords) {
    NEED_POCL();
    KernelSource source = kernel_source({.first = find_row("fma.f32")});
    source.body = "KERNEL(float) { no_such_function(); }";
    try {
        pocl().backend->compile(source);
        FAIL() << "compiled";
    } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("no_such_function"), std::string::npos)
            << error.what();
    }
}

TEST(OpenClBackend, AKernelThatStoresNothingOrNoNumberIsCaught) {
    NEED_POCL();
    KernelSource source = kernel_source({.first = find_row("fma.f32")});
    const LaunchRequest request{.shape = {}, .iterations = 1};
    for (const char* body : {"KERNEL(float) { }", "KERNEL(float) { out[THREAD] = NAN; }"}) {
        source.body = body;
        const auto program = pocl().backend->compile(source);
        EXPECT_THROW(pocl().backend->launch(*program, request), DeviceError) << body;
    }
}

TEST(Devices, WordsThatAreNoDeviceAreBadInput) {
    for (const char* word : {"", "gpu", "cuda", "cuda:", "cuda:x", "cuda:-1", "opencl:0",
                             "opencl:0.", "opencl:0.0x", "opencl:.0", "cuda:0.0"}) {
        EXPECT_THROW(open_device(word), InputError) << word;
    }
    EXPECT_THROW(open_device("opencl:97.0"), NothingToRunOn);
}

}  // namespace
}  // namespace occupipe::bench
