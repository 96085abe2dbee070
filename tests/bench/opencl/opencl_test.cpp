// SPDX-License-Identifier: MIT
// The OpenCL backend on this machine's CPU through PoCL: it runs, and its machine code holds
// exactly the instructions that the table promises.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench/devices.h"
#include "bench/harness/sampler.h"
#include "bench/kernel/sweep.h"
#include "bench/opencl/opencl_backend.h"
#include "bench/opencl/prelude.h"
#include "bench/opencl/proof/x86_receipt.h"
#include "core/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::bench {
namespace {

using test::TemporaryFolder;

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

std::vector<MachineLoop> pocl_loops(const KernelSource& source) {
    return loops_that_pocl_makes(*pocl().backend, source, pocl().cache.path);
}

int largest_count(const std::vector<MachineLoop>& loops, const std::string& mnemonic,
                  const std::string& operand = "") {
    int largest = 0;
    for (const auto& loop : loops) largest = std::max(largest, loop.count(mnemonic, operand));
    return largest;
}

// The first instructions of the longest loop, for a failure's message.
std::string listing(const std::vector<MachineLoop>& loops) {
    std::string text;
    std::size_t longest = 0;
    for (const auto& loop : loops) {
        if (loop.instructions.size() <= longest) continue;
        longest = loop.instructions.size();
        text = fmt::format("loop of {} instructions:\n", longest);
        for (std::size_t i = 0; i < std::min<std::size_t>(24, longest); ++i)
            text.append(loop.instructions[i]).append("\n");
    }
    return text;
}

// Reasons are for people who see no source: what is missing, not where.
TEST(OpenClTable, EveryRowIsMeasurableOrSaysWhyNot) {
    NEED_POCL();
    int measurable = 0;
    for (const Row& row : opencl_table()) {
        if (const auto reason = pocl().backend->unsupported(row)) {
            EXPECT_GT(reason->size(), 20u) << row.id;
            EXPECT_EQ(reason->find("no known OpenCL C"), std::string::npos) << row.id;
            continue;
        }
        ++measurable;
        const auto doubt = pocl().backend->unproved(row);
        EXPECT_TRUE(!doubt || doubt->size() > 20) << row.id;
    }
    EXPECT_GT(measurable, 150);
}

// Every row that has a form in OpenCL C.
class EveryRow : public ::testing::TestWithParam<const Row*> {
protected:
    static std::size_t number(const Row& row) {
        return static_cast<std::size_t>(&row - opencl_table().data());
    }
};

// Of the test's row, where the device cannot measure it.
#define NEED_MEASURABLE(row)                                  \
    if (const auto reason = pocl().backend->unsupported(row)) \
    GTEST_SKIP() << (row).id << ": " << *reason

// A short launch of one chain: it stores finite results, and a step takes longer than a tenth of a
// cycle (or it was removed) and less than ten microseconds.
TEST_P(EveryRow, RunsAndTakesAPlausibleTime) {
    NEED_POCL();
    const Row& row = *GetParam();
    NEED_MEASURABLE(row);
    // Of rows whose machine code is compiled and counted below, one in eight.
    if (!row.x86.empty() && !thinned::taken(number(row), 0, 8))
        GTEST_SKIP() << row.id << ": run by tools/test.sh release -L full";
    const int unroll = default_unroll(row, nullptr, 0, 1, true);
    const KernelPlan plan{.first = &row, .chains = 1, .unroll = unroll};
    const auto program = pocl().backend->compile(kernel_source(plan));
    const auto seconds = [&](std::int64_t iterations) {
        MeasurementShape shape;
        shape.depth = iterations * unroll;
        double best = 1;
        for (int i = 0; i < 3; ++i) {
            const LaunchRequest request{.shape = shape, .iterations = iterations};
            best = std::min(best, pocl().backend->launch(*program, request).seconds);
        }
        return best;
    };
    EXPECT_GT(seconds(1), 0) << row.id;  // compiles the work-group function, too
    if (measures_launches(row.pattern)) return;
    const std::int64_t many = std::max(600, 60000 / unroll);
    const std::int64_t few = many / 6;
    const double step = (seconds(many) - seconds(few)) / static_cast<double>((many - few) * unroll);
    EXPECT_GT(step, 2e-11) << row.id;
    EXPECT_LT(step, 1e-5) << row.id;
}

// The receipt: unroll x chains of the instruction in the timed loop, no more, no less.
TEST_P(EveryRow, MachineCodeHoldsExactlyTheCountedInstructions) {
    NEED_POCL();
#if !defined(__x86_64__)
    GTEST_SKIP() << "mnemonics are known for x86-64 only";
#endif
    const Row& row = *GetParam();
    NEED_MEASURABLE(row);
    if (row.x86.empty()) GTEST_SKIP() << row.id << ": no single x86 instruction to count";
    if (row.unroll > 1000 && !thinned::all_cases())
        GTEST_SKIP() << row.id << ": takes long to compile; run by tools/test.sh release -L full";
    // Rows that differ in their working set alone: PoCL keeps one object for equal machine code.
    const auto same = std::ranges::find_if(opencl_table(), [&](const Row& other) {
        return other.step == row.step && other.pattern == row.pattern && other.type == row.type &&
               other.unroll == row.unroll;
    });
    if (&*same != &row) GTEST_SKIP() << row.id << ": the same machine code as " << same->id;
    const bool chase = row.pattern == Pattern::shared_chase || row.pattern == Pattern::global_chase;
    // The ordinary run takes one such row in three.
    const std::size_t part = number(row) / 3;
    if (!thinned::taken(number(row), 0, 3))
        GTEST_SKIP() << row.id << ": run by tools/test.sh release -L full";
    std::vector<int> numbers = {1, 3, chase ? 8 : 10};  // the last: the sweep's largest
    // Rows that differ in the body's length alone: PoCL keeps one object for equal kernels.
    if (row.unroll > 0) numbers = {1};
    for (std::size_t n = 0; n < numbers.size(); ++n) {
        // The ordinary run takes one number of chains for each row, another for the next row.
        if (!thinned::taken(n, part, numbers.size())) continue;
        const int chains = numbers[n];
        const int unroll = (row.unroll > 0 ? row.unroll + 3 : 16) + chains;
        const KernelPlan plan{.first = &row, .chains = chains, .unroll = unroll};
        const auto loops = pocl_loops(kernel_source(plan));
        const X86Receipt receipt = make_x86_receipt(plan, loops);
        EXPECT_TRUE(receipt.ok()) << row.id << " chains " << chains << "\n"
                                  << format_x86_receipt(receipt) << listing(loops);
    }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryRow, ::testing::ValuesIn([] {
                             std::vector<const Row*> rows;
                             for (const Row& row : opencl_table()) {
                                 if (row.no_opencl.empty()) rows.push_back(&row);
                             }
                             return rows;
                         }()),
                         [](const auto& instance) {
                             std::string name(instance.param->id);
                             std::ranges::replace(name, '.', '_');
                             return name;
                         });

// Compiles a body in which `from` was replaced by `to`.
X86Receipt receipt_of(KernelSource source, const std::string& from, const std::string& to) {
    int changed = 0;
    for (std::size_t at = 0; (at = source.body.find(from, at)) != std::string::npos; ++changed) {
        source.body.replace(at, from.size(), to);
        at += to.size();
    }
    EXPECT_GT(changed, 0) << from;
    return make_x86_receipt(source.plan, pocl_loops(source));
}

KernelSource simple(const char* id, int chains) {
    return kernel_source({.first = find_row(opencl_table(), id), .chains = chains, .unroll = 20});
}

// The same kernel without the fence: the optimiser folds 20 additions of a into one of 20 a.
TEST(OpenClFaults, AFoldedChainIsCaught) {
    NEED_POCL();
    const auto receipt = receipt_of(simple("add.s64", 1), "FENCE_64(x0)", "");
    ASSERT_FALSE(receipt.ok());
    EXPECT_LE(receipt.found, 2);
    EXPECT_EQ(receipt.expected, 20);
}

TEST(OpenClFaults, AMultiplyAddFoldedIntoOneIsCaught) {
    NEED_POCL();
    const auto receipt = receipt_of(simple("mad.s32", 1), "MAD_S32(x0, a, b)", "x0 = x0 * 3 + 7");
    ASSERT_FALSE(receipt.ok());
    EXPECT_LE(receipt.found, 2);
}

// Chain 1 of two is computed, but its result goes nowhere.
TEST(OpenClFaults, ADeadChainIsCaught) {
    NEED_POCL();
    const auto receipt =
        receipt_of(simple("mul.f32", 2), "MUL_F32(x1, a)", "{ float y = x1 * a; (void)y; }");
    ASSERT_FALSE(receipt.ok());
    EXPECT_EQ(receipt.found, 20);
    EXPECT_EQ(receipt.expected, 40);
}

// Two chains without fences become one of vectors: half as many instructions, of another kind.
TEST(OpenClFaults, ChainsJoinedIntoVectorsAreCaught) {
    NEED_POCL();
    auto source = simple("sub.s32", 4);
    std::string body;
    for (std::size_t i = 0; i < source.body.size(); ++i) {
        const bool fence = source.body.compare(i, 9, "FENCE_32(") == 0;
        if (fence) i = source.body.find(')', i);
        if (!fence) body += source.body[i];
    }
    source.body = body;
    EXPECT_FALSE(make_x86_receipt(source.plan, pocl_loops(source)).ok());
}

TEST(OpenClFaults, WorkBesidesTheChainIsCaught) {
    NEED_POCL();
    const auto receipt = receipt_of(simple("add.f64", 1), "ADD_F64(x0, a)",
                                    "x0 = x0 + a; FENCE_F64(x0); x0 = x0 * b; FENCE_F64(x0)");
    ASSERT_FALSE(receipt.ok());
    EXPECT_EQ(receipt.found, receipt.expected);
}

TEST(OpenClReceipt, AMixHoldsBetaOfOneToOneOfTheOther) {
    NEED_POCL();
    const KernelPlan plan{.first = find_row("fma.f32"),
                          .second = find_row("div.f32"),
                          .beta = 4,
                          .chains = 2,
                          .unroll = 20};
    const auto loops = pocl_loops(kernel_source(plan));
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
