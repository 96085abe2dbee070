// SPDX-License-Identifier: MIT
// Every row's kernel, compiled to machine code without a GPU, holds exactly the instructions that
// the row promises; planted faults are caught.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/cuda/prelude.h"
#include "bench/cuda/unsupported.h"
#include "bench/instructions/catalogue.h"
#include "core/chain_step.h"
#include "core/error.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/thinned.h"

namespace occupipe::bench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

#define NEEDS_NVRTC() \
    if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled"

KernelPlan plan_of(const Row& row, int chains) {
    return {.first = &row,
            .second = nullptr,
            .beta = 0,
            .chains = chains,
            .unroll = default_unroll(row, nullptr, 0, chains, false)};
}

KernelPlan mix_of(const char* first, int beta, const char* second) {
    const Row& a = *find_row(first);
    const Row& b = *find_row(second);
    return {.first = &a,
            .second = &b,
            .beta = beta,
            .chains = 1,
            .unroll = default_unroll(a, &b, beta, 1, false)};
}

std::size_t row_number(const Row& row) {
    return static_cast<std::size_t>(&row - instruction_table().data());
}

bool has(const std::string& architecture, const Row& row) {
    return !cuda_unsupported(row, std::stoi(architecture.substr(3)));
}

// Compiles all, two at a time, and expects every receipt to be clean.
void expect_clean(const std::vector<KernelPlan>& plans, const std::string& architecture) {
    std::atomic<std::size_t> next{0};
    std::mutex reporting;
    const auto work = [&] {
        for (std::size_t i = next++; i < plans.size(); i = next++) {
            std::string complaint;
            try {
                const Receipt receipt = compile_cuda(kernel_source(plans[i]), architecture).receipt;
                if (!receipt.ok()) complaint = format_receipt(receipt);
            } catch (const std::exception& error) {
                complaint = plans[i].subject() + ": " + error.what();
            }
            const std::lock_guard lock(reporting);
            if (!complaint.empty()) ADD_FAILURE() << complaint;
        }
    };
    std::thread other(work);
    work();
    other.join();
}

constexpr std::array architectures = {"sm_75", "sm_80",  "sm_86", "sm_89",
                                      "sm_90", "sm_100", "sm_120"};

// The rows with one chain on this architecture: all of them in the full run; in the ordinary one
// each row on one of the architectures that have it, in turn, and of products of four warps, on
// which the compiler is slow, one in four.
std::vector<KernelPlan> single_chains(const std::string& architecture) {
    std::vector<KernelPlan> plans;
    std::size_t number = 0;
    for (const Row& row : instruction_table()) {
        std::vector<std::string> with;
        std::ranges::copy_if(architectures, std::back_inserter(with),
                             [&](const char* one) { return has(one, row); });
        const auto found = std::ranges::find(with, architecture);
        if (found == with.end()) continue;
        ++number;
        const auto part = static_cast<std::size_t>(found - with.begin());
        const std::size_t parts = row.group_warps > 1 ? 4 : with.size();
        if (thinned::taken(row_number(row), part, parts)) plans.push_back(plan_of(row, 1));
    }
    EXPECT_GT(number, 100u);
    return plans;
}

class EveryArchitecture : public testing::TestWithParam<const char*> {};

// Every row with one chain; with several on architectures that differ most.
TEST_P(EveryArchitecture, EveryRowHasItsReceipt) {
    NEEDS_NVRTC();
    expect_clean(single_chains(GetParam()), GetParam());
}

// The counted loop of a checkpointed kernel holds what the plain one's holds, and the clock is read
// outside of it, at a price that the receipt names.
TEST_P(EveryArchitecture, CheckpointsStandOutsideTheCountedLoop) {
    NEEDS_NVRTC();
    int seen = 0;
    std::size_t number = 0;
    for (KernelPlan plan : single_chains(GetParam())) {
        const Row& row = *plan.first;
        const bool fits = row.pattern != Pattern::barrier && row.order != Order::waits &&
                          row.cluster == 1 && row.group_warps == 1 && !row.working_sets &&
                          row.pattern != Pattern::empty_loop && !measures_launches(row.pattern);
        if (!fits || !thinned::taken(number++, 0, 5)) continue;
        if (row.unroll > 1000 && !thinned::all_cases()) continue;  // takes long to compile
        const Receipt plain = compile_cuda(kernel_source(plan), GetParam()).receipt;
        plan.checkpointed = true;
        const Receipt noted = compile_cuda(kernel_source(plan), GetParam()).receipt;
        EXPECT_TRUE(noted.ok()) << format_receipt(noted);
        EXPECT_FALSE(plain.checkpoint_instructions.has_value());
        ASSERT_TRUE(noted.checkpoint_instructions.has_value()) << row.id;
        // Two moves, the reading, count, comparisons and branches; what goes on from iteration to
        // iteration in other registers is copied there, too.
        EXPECT_GE(*noted.checkpoint_instructions, 5) << format_receipt(noted);
        EXPECT_LE(*noted.checkpoint_instructions, 40) << format_receipt(noted);
        // The assembler may count and compare in other registers, not with more instructions. A
        // step that is a sequence, such as a division, it orders anew, with a few moves more; what
        // it does beside a step is not counted anyway.
        const bool sequence = plain.loop_instructions > 4 * plan.unroll;
        if (row.sass_also.empty()) {
            EXPECT_LE(noted.loop_instructions,
                      plain.loop_instructions + 4 + (sequence ? plain.loop_instructions / 20 : 0))
                << format_receipt(plain) << format_receipt(noted);
        }
        for (std::size_t i = 0; i < plain.counts.size(); ++i)
            EXPECT_EQ(noted.counts[i].sass_found, plain.counts[i].sass_found) << row.id;
        EXPECT_THAT(format_receipt(noted), HasSubstr("checkpoints: 3, each "));
        ++seen;
    }
    EXPECT_GT(seen, 3);
}

TEST_P(EveryArchitecture, MixesHaveTheirReceipts) {
    NEEDS_NVRTC();
    expect_clean({mix_of("fma.f32", 8, "cos.approx.f32"), mix_of("fma.f32", 1, "add.f32"),
                  mix_of("add.s32", 4, "mul.s32"), mix_of("mul.s32", 3, "mad.s32"),
                  mix_of("fma.f32", 2, "div.f32"), mix_of("add.f64", 2, "mul.f64"),
                  mix_of("xor.b32", 5, "shl.b32")},
                 GetParam());
}

TEST_P(EveryArchitecture, MixesOfDifferentTypesHaveTheirReceipts) {
    NEEDS_NVRTC();
    expect_clean({mix_of("fma.f32", 1, "mul.s32"), mix_of("xor.b32", 2, "fma.f64"),
                  mix_of("fma.f32", 4, "ld.shared.u32"), mix_of("fma.f32", 16, "ld.global.f32"),
                  mix_of("fma.f64", 1, "fma.f16x2"), mix_of("mul.s32", 1, "mma.m16n8k8.f32.f16")},
                 GetParam());
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryArchitecture, testing::ValuesIn(architectures));

// The ordinary run leaves no other row out.
TEST(CudaTable, TheOrdinaryRunCompilesEveryRow) {
    std::set<std::string_view> compiled;
    for (const char* architecture : architectures) {
        for (const KernelPlan& plan : single_chains(architecture)) compiled.insert(plan.first->id);
    }
    for (const Row& row : instruction_table()) {
        const bool measurable = std::ranges::any_of(
            architectures, [&](const char* architecture) { return has(architecture, row); });
        EXPECT_TRUE(!measurable || row.group_warps > 1 || compiled.contains(row.id)) << row.id;
    }
}

class SeveralChains : public testing::TestWithParam<std::pair<const char*, int>> {};

TEST_P(SeveralChains, EveryRowHasItsReceipt) {
    NEEDS_NVRTC();
    const auto [architecture, chains] = GetParam();
    std::vector<KernelPlan> plans;
    for (const Row& row : instruction_table()) {
        const bool one = row.pattern == Pattern::barrier || measures_launches(row.pattern);
        const auto part = static_cast<std::size_t>(chains);
        if (has(architecture, row) && !one && row.most_chains >= chains &&
            thinned::taken(row_number(row), part, 12)) {
            plans.push_back(plan_of(row, chains));
        }
    }
    expect_clean(plans, architecture);
}

INSTANTIATE_TEST_SUITE_P(Cuda, SeveralChains,
                         testing::Values(std::pair{"sm_80", 4}, std::pair{"sm_90", 3},
                                         std::pair{"sm_90", 8}, std::pair{"sm_120", 2}),
                         [](const auto& one) {
                             return std::string(one.param.first) + "_chains_" +
                                    std::to_string(one.param.second);
                         });

TEST(CudaTable, MeasuresManyInstructions) {
    std::size_t count = 0;
    for (const Row& row : instruction_table()) count += !row.ptx.empty();
    EXPECT_GE(count, 320u);
}

Receipt receipt_for(const char* id, const char* architecture) {
    return compile_cuda(kernel_source(plan_of(*find_row(id), 1)), architecture).receipt;
}

// Between the untimed pass and the first reading of the clock nothing may empty what that pass has
// filled. A fence, and a load that acquires, do on every architecture.
class ColdCaches : public testing::TestWithParam<const char*> {};

TEST_P(ColdCaches, AFenceAtTheStartLineIsRefused) {
    NEEDS_NVRTC();
    const auto refused_with = [&](const std::string& from, const std::string& to) {
        const KernelSource source = kernel_source(plan_of(*find_row("ld.global.l1.u32"), 1));
        std::string text = prelude_of(source.plan, {}) + source.body;
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        text.replace(at, from.size(), to);
        return format_receipt(compile_text(source.plan, text, GetParam(), kernel_entry).receipt);
    };
    EXPECT_THAT(refused_with("PATIENCE", "PATIENCE"), HasSubstr("  ok"));
    const auto refusal = HasSubstr("REFUSED: caches are invalidated: ");
    EXPECT_THAT(refused_with("if (pass == 1) start_line(stamps);",
                             "if (pass == 1) { start_line(stamps); __threadfence(); }"),
                refusal);
    EXPECT_THAT(refused_with("atom.release.gpu", "atom.acq_rel.gpu"), refusal);
    EXPECT_THAT(refused_with("ld.relaxed.gpu", "ld.acquire.gpu"), refusal);
    EXPECT_THAT(refused_with("LD_GLOBAL_U32(x0)", "__threadfence(); LD_GLOBAL_U32(x0)"),
                HasSubstr("CCTL in the timed loop"));
}

INSTANTIATE_TEST_SUITE_P(Cuda, ColdCaches, testing::ValuesIn(architectures));

// Halves of a pair are dealt to two pipes in turn, with latencies of 10 and 6 cycles: their mean is
// nobody's. The forms with one value for both halves are one instruction throughout.
TEST(CudaReceipt, AChainOfTwoKindsOfStepSaysSo) {
    NEEDS_NVRTC();
    for (const char* architecture : {"sm_80", "sm_90"}) {
        for (const char* id : {"add.f16x2", "mul.f16x2", "fma.f16x2"}) {
            const Receipt mixed = receipt_for(id, architecture);
            EXPECT_TRUE(mixed.alternates) << id << architecture;
            EXPECT_EQ(mixed.counted_latency, std::nullopt);
            ASSERT_FALSE(mixed.step_cycles.empty());
            EXPECT_EQ(mixed.step_cycles.begin()->first, 6);
            EXPECT_EQ(mixed.step_cycles.rbegin()->first, 10);
            EXPECT_EQ(chain_counters(mixed).at("chain.HFMA2.MMA"), 0.5);
            EXPECT_THAT(format_receipt(mixed), AllOf(HasSubstr("steps are not alike"),
                                                     HasSubstr(" 6 ("), HasSubstr(" 10 (")));
            const Receipt one = receipt_for((std::string(id) + ".broadcast").c_str(), architecture);
            EXPECT_FALSE(one.alternates) << id << architecture;
            EXPECT_EQ(one.counted_latency, 4) << id << architecture;
            EXPECT_EQ(chain_step_text(one.chain), "");
        }
    }
}

TEST(CudaFaults, AChainOfTwoKindsOfStepIsRefusedWhereTheTableDoesNotSaySo) {
    NEEDS_NVRTC();
    Row row = *find_row("fma.f16x2");
    row.alternates = false;
    EXPECT_THAT(format_receipt(compile_cuda(kernel_source(plan_of(row, 1)), "sm_90").receipt),
                HasSubstr("REFUSED: the chain's steps are not alike: 0.5 HFMA2 + 0.5 HFMA2.MMA; "
                          "cycles from step to step: 6 ("));
}

// By halves in order: the assembler adds up two steps' upper halves in one instruction.
TEST(CudaFaults, UpperHalvesThatAreMergedAreRefused) {
    NEEDS_NVRTC();
    Row row = *find_row("add.s64");
    std::string step(row.step);
    step.replace(step.find("{q, p}"), 6, "{p, q}");
    row.step = step;
    const auto receipt = [&] {
        return format_receipt(compile_cuda(kernel_source(plan_of(row, 1)), "sm_90").receipt);
    };
    EXPECT_THAT(receipt(),
                HasSubstr("REFUSED: machine code: 64 IADD3.X|IMAD.X in the timed loop, not 128"));
    row.sass_with = {};
    EXPECT_THAT(receipt(), HasSubstr("REFUSED: machine code: 64 IADD3.X in 128 steps"));
}

// All that an instruction takes is its row.
TEST(CudaReceipt, APlantedRowIsProvedOrRefusedByWhatItSays) {
    NEEDS_NVRTC();
    CatalogueRow planted = {.id = "planted.f64",
                            .type = DataType::f64,
                            .operands = {0.5, 0.75, 1},
                            .meaning = "multiply-add, rounded down",
                            .cuda = {.ptx = "fma.rm.f64 %0, %0, %1, %2;", .sass = "DFMA"}};
    const auto receipt = [&] {
        const Row row = in_cuda(planted);
        return format_receipt(compile_cuda(kernel_source(plan_of(row, 1)), "sm_90").receipt);
    };
    EXPECT_THAT(receipt(), AllOf(HasSubstr("fma.rm.f64"), HasSubstr("  ok")));
    planted.cuda.sass = "DADD";
    EXPECT_THAT(receipt(), HasSubstr("REFUSED"));
    planted.cuda.sass = "DFMA";
    planted.cuda.counted = "fma.rn.f64";
    EXPECT_THAT(receipt(), HasSubstr("REFUSED"));
}

// What a step is made of besides the counted instruction, from the registers alone.
TEST(CudaReceipt, KnowsWhatElseLiesOnTheChain) {
    NEEDS_NVRTC();
    const auto chain = [](const char* id, const char* architecture = "sm_90") {
        return chain_step_text(receipt_for(id, architecture).chain);
    };
    EXPECT_EQ(chain("fma.f32"), "");
    EXPECT_EQ(chain("add.f64"), "");
    EXPECT_EQ(chain("rsqrt.approx.ftz.f32"), "");
    EXPECT_EQ(chain("ld.shared.v2.u32"), "");  // logic stands in the loop, but off the chain
    EXPECT_EQ(chain("setp.lt.s32"), "ISETP + SEL");
    EXPECT_EQ(chain("setp.lt.f64"), "2 FSEL + DSETP");
    EXPECT_EQ(chain("abs.s32"), "IABS + IMAD.IADD");
    EXPECT_EQ(chain("clz.b32"), "FLO + IADD3");
    EXPECT_EQ(chain("bfi.b32"), "IMAD + LOP3");
    EXPECT_EQ(chain("cvt.rn.f16.f32"), "F2FP + HADD2");
    EXPECT_EQ(chain("vote.sync.ballot.b32"), "ISETP + VOTE");
    EXPECT_EQ(chain("cvt.s32.s8"), "IMAD.MOV + PRMT");
    EXPECT_EQ(chain("cvt.s32.s16"), "IMAD.MOV + PRMT");
    EXPECT_EQ(chain("min.f16x2"), "HMNMX2 + IMAD.MOV");
    EXPECT_EQ(chain("add.s64"), "IADD3 + IMAD.X");
    EXPECT_THAT(chain("redux.sync.add.s32"), HasSubstr("REDUX + "));
    EXPECT_THAT(chain("xor.b64", "sm_120"), HasSubstr("2 LOP3"));
    EXPECT_THAT(chain("xor.b64", "sm_120"), HasSubstr("2 MOV"));
}

// The fixed latency that the assembler counts with.
TEST(CudaReceipt, TellsTheLatencyThatTheAssemblerCounts) {
    NEEDS_NVRTC();
    const auto latency = [](const char* id, const char* architecture) {
        return receipt_for(id, architecture).counted_latency;
    };
    for (const char* architecture : architectures) {
        EXPECT_EQ(latency("fma.f32", architecture), 4) << architecture;
    }
    EXPECT_EQ(latency("fma.f64", "sm_90"), 8);
    EXPECT_EQ(latency("rsqrt.approx.ftz.f32", "sm_90"), std::nullopt);  // awaited by a scoreboard
}

TEST(CudaReceipt, SaysWhatItCounted) {
    NEEDS_NVRTC();
    const CompiledKernel kernel =
        compile_cuda(kernel_source(mix_of("fma.f32", 8, "cos.approx.f32")), "sm_90");
    ASSERT_EQ(kernel.receipt.counts.size(), 2u);
    EXPECT_EQ(kernel.receipt.counts[0].sass_found, 8 * kernel.receipt.unroll / 9);
    EXPECT_EQ(kernel.receipt.counts[1].sass_found, kernel.receipt.unroll / 9);
    EXPECT_EQ(kernel.receipt.stack_bytes, 0);
    EXPECT_GT(kernel.receipt.registers.value_or(0), 8);
    EXPECT_THAT(format_receipt(kernel.receipt),
                AllOf(HasSubstr("mix(fma.f32*8,cos.approx.f32) chains:1"), HasSubstr("MUFU.COS"),
                      HasSubstr("brings the angle to turns"), HasSubstr("cubin xxh128:"),
                      Not(HasSubstr("REFUSED"))));
}

// Compiles a body that was tampered with and returns the receipt's text.
std::string receipt_of(KernelSource source, const std::string& from, const std::string& to) {
    std::size_t at = 0;
    int changed = 0;
    while ((at = source.body.find(from, at)) != std::string::npos) {
        source.body.replace(at, from.size(), to);
        at += to.size();
        ++changed;
    }
    EXPECT_GT(changed, 0) << from;
    return format_receipt(compile_cuda(source, "sm_90").receipt);
}

KernelSource simple(const char* id, int chains = 1) {
    return kernel_source(
        {.first = find_row(id), .second = nullptr, .beta = 0, .chains = chains, .unroll = 32});
}

TEST(CudaFaults, AChainWhoseResultNobodyStoresIsCaught) {
    NEEDS_NVRTC();
    KernelSource source = simple("fma.f32");
    source.body.replace(source.body.find("TIMED_END(x0)"), 13, "TIMED_END(a)");
    EXPECT_THAT(receipt_of(source, "out[THREAD] = x0", "out[THREAD] = a"),
                AllOf(HasSubstr("REFUSED"), Not(HasSubstr("  ok"))));
}

TEST(CudaFaults, OneDeadChainOfTwoIsCaught) {
    NEEDS_NVRTC();
    EXPECT_THAT(receipt_of(simple("fma.f32", 2), "x0 + x1", "x0"),
                HasSubstr("REFUSED: machine code: 32 FFMA in the timed loop, not 64"));
}

TEST(CudaFaults, AFoldedChainIsCaught) {
    NEEDS_NVRTC();
    EXPECT_THAT(
        receipt_of(simple("mad.s32"), "MAD_S32(x0, a, b)", "x0 = x0 * 3 + 7"),
        AllOf(HasSubstr("REFUSED: PTX: 0 mad.lo.s32"), HasSubstr("REFUSED: machine code: 1 IMAD")));
}

TEST(CudaFaults, AChainThatTheAssemblerMergesIsCaught) {
    NEEDS_NVRTC();
    // PTX holds all 32 additions; the three-operand adder takes two of them at a time.
    EXPECT_THAT(receipt_of(simple("add.s32"), "ADD_S32(x0, a)",
                           R"(asm volatile("add.s32 %0, %0, %1;" : "+r"(x0) : "r"(a)))"),
                AllOf(HasSubstr("PTX 32 add.s32; expected 32, machine code 16 IADD3"),
                      HasSubstr("REFUSED: machine code: 16 IADD3 in the timed loop, not 32")));
}

TEST(CudaFaults, AnUnrolledOuterLoopIsCaught) {
    NEEDS_NVRTC();
    EXPECT_THAT(receipt_of(simple("fma.f32"), "LOOP(i, iterations)",
                           "_Pragma(\"unroll 4\") for (int i = 0; i < iterations; ++i)"),
                HasSubstr("REFUSED"));
}

TEST(CudaFaults, StepsThatDoNotNeedEachOtherAreCaught) {
    NEEDS_NVRTC();
    // The right number of instructions, but two chains where one was asked for.
    KernelSource source = simple("fma.f32", 2);
    KernelPlan one = source.plan;
    one.chains = 1;
    one.unroll = 64;
    source.plan = one;
    EXPECT_THAT(format_receipt(compile_cuda(source, "sm_90").receipt),
                HasSubstr("REFUSED: 32 dependent steps in the timed loop, not 64"));
}

TEST(CudaFaults, AClockReadTooEarlyIsCaught) {
    NEEDS_NVRTC();
    EXPECT_THAT(receipt_of(simple("rsqrt.approx.ftz.f32"), "TIMED_END(x0)", "TIMED_END(a)"),
                HasSubstr("REFUSED: the clock is read before the last results are available"));
}

TEST(CudaFaults, ACheckpointInTheCountedLoopIsCaught) {
    NEEDS_NVRTC();
    KernelSource source = simple("fma.f32");
    source.plan.checkpointed = true;
    source = kernel_source(source.plan);
    EXPECT_TRUE(compile_cuda(source, "sm_90").receipt.ok());
    // The same clock readings, but in the loop that is counted; and none at all.
    EXPECT_THAT(receipt_of(source, "        LOOP(i, segment_iterations) {",
                           "        LOOP(i, segment_iterations) { checkpoint_3 = short_clock();"),
                HasSubstr("REFUSED: PTX: the clock is read 4 times, not three times"));
    KernelSource plain = source;
    plain.plan.checkpointed = false;
    EXPECT_THAT(format_receipt(compile_cuda(plain, "sm_90").receipt),
                HasSubstr("REFUSED: the core clock is read 3 times, not twice"));
    EXPECT_THAT(receipt_of(source, "        SEGMENTS_BEGIN",
                           "        const int segment_iterations = iterations; checkpoint_3 = "
                           "short_clock(); {"),
                HasSubstr("REFUSED: the checkpoint's clock reading is in no loop of its own"));
}

TEST(CudaFaults, LocalMemoryIsCaught) {
    NEEDS_NVRTC();
    EXPECT_THAT(receipt_of(simple("fma.f32"), "    const float a = in[0];",
                           "    volatile float local[64];\n"
                           "    for (int i = 0; i < 64; ++i) local[i] = in[i];\n"
                           "    const float a = local[start & 63];"),
                AllOf(HasSubstr("REFUSED: registers spilled: 256 bytes of stack per thread"),
                      HasSubstr("local loads and stores")));
}

TEST(CudaFaults, BadTextIsReportedInTheCompilersWords) {
    NEEDS_NVRTC();
    KernelSource source = simple("fma.f32");
    source.body += "no C++\n";
    try {
        compile_cuda(source, "sm_90");
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("nvrtcCompileProgram"), HasSubstr("error:")));
    }
    EXPECT_THROW(compile_cuda(simple("fma.f32"), "sm_1"), DeviceError);
}

TEST(CudaCompiler, PicksTheNewestArchitectureThatTheGpuRuns) {
    NEEDS_NVRTC();
    EXPECT_EQ(nvrtc().architecture_for(9, 0), "sm_90");
    EXPECT_EQ(nvrtc().architecture_for(8, 6), "sm_86");
    EXPECT_THROW(nvrtc().architecture_for(3, 5), DeviceError);
}

}  // namespace
}  // namespace occupipe::bench
