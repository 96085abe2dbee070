// SPDX-License-Identifier: MIT
#include "bench/offline/compile_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "bench/cuda/driver/compile.h"
#include "bench/cuda/driver/nvrtc.h"
#include "bench/offline/architecture.h"
#include "bench/offline/kernel_archive.h"
#include "bench/offline/stored_compiler.h"
#include "core/error.h"
#include "core/files/files.h"
#include "tests/bench/cuda/have_nvrtc.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CompileAhead : public ::testing::Test {
protected:
    void SetUp() override {
        if (!have_nvrtc()) GTEST_SKIP() << "NVRTC is not installed: no CUDA kernel can be compiled";
        backend = open_architecture("sm_90", {}, {}, KernelUse::launched);
        sweep = make_sweep(
            *backend,
            {.patterns = {"fma.f32", "wgmma.m64n8k16.f32.f16", "barrier.cluster"}, .quick = true});
    }

    CompileAheadResult compile(const std::string& name, std::size_t stop_after = 1000) {
        stop = false;
        return compile_ahead(
            backend->facts(), sweep,
            {.output = folder.path / name,
             .version = "1",
             .threads = 2,
             .progress = [this, stop_after](std::size_t done,
                                            std::size_t) { stop = done >= stop_after; },
             .stop = &stop});
    }

    test::TemporaryFolder folder;
    std::unique_ptr<Backend> backend;
    SweepPlan sweep;
    std::atomic<bool> stop = false;
};

TEST_F(CompileAhead, HoldsEveryKernelAsItWouldBeCompiledHere) {
    const auto result = compile("k.tar");
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.kernels, 7u);  // three rows, two bodies each; fma.f32 with checkpoints, too
    EXPECT_TRUE(result.refused.empty());
    const auto stored = open_kernels(folder.path / "k.tar", "1");
    EXPECT_EQ(stored->name(), nvrtc().name() + ", ahead");
    EXPECT_EQ(stored->architecture_for(9, 0), "sm_90");
    for (const KernelPlan& plan : kernels_of(sweep)) {
        const KernelSource source = kernel_source(plan);
        const auto& tables = backend->facts().tables;
        const CompiledKernel here = compile_cuda(source, "sm_90", tables);
        const CompiledKernel ahead = compile_cuda(source, "sm_90", tables, stored.get());
        EXPECT_EQ(ahead.cubin, here.cubin) << plan.subject();
        EXPECT_TRUE(ahead.receipt.ok());
        EXPECT_EQ(format_receipt(ahead.receipt), format_receipt(here.receipt));
    }
}

TEST_F(CompileAhead, GoesOnWhereItWasStoppedAndMakesTheSameKernels) {
    const auto stopped = compile("k.tar", 1);
    EXPECT_FALSE(stopped.complete);
    EXPECT_FALSE(std::filesystem::exists(folder.path / "k.tar"));
    // A kill in the middle of a kernel's record.
    const std::filesystem::path partial = folder.path / "k.tar.partial";
    std::filesystem::resize_file(partial, std::filesystem::file_size(partial) - 700);
    const auto resumed = compile("k.tar");
    EXPECT_TRUE(resumed.complete);
    EXPECT_FALSE(std::filesystem::exists(partial));
    compile("once.tar");
    EXPECT_EQ(read_kernel_archive(folder.path / "k.tar").kernels,
              read_kernel_archive(folder.path / "once.tar").kernels);
    EXPECT_THROW(compile("k.tar"), InputError);  // never overwritten unasked
}

TEST_F(CompileAhead, WhatAnotherArchitectureLeftIsNotGoneOnWith) {
    compile("k.tar", 1);
    backend = open_architecture("sm_80", {}, {}, KernelUse::launched);
    sweep = make_sweep(*backend, {.patterns = {"fma.f32"}, .quick = true});
    EXPECT_THROW(compile("k.tar"), InputError);
}

TEST_F(CompileAhead, OtherProgramsAndArchitecturesAreNamed) {
    compile("k.tar");
    const auto words = [&](const std::function<void()>& act) {
        try {
            act();
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string("accepted");
    };
    EXPECT_THAT(words([&] { open_kernels(folder.path / "k.tar", "2"); }),
                AllOf(HasSubstr("made by occupipe 1"), HasSubstr("this is occupipe 2")));
    const auto stored = open_kernels(folder.path / "k.tar", "1");
    EXPECT_THAT(words([&] { stored->architecture_for(8, 9); }),
                AllOf(HasSubstr("kernels for sm_90"), HasSubstr("the device is sm_89")));
    KernelArchive archive = read_kernel_archive(folder.path / "k.tar");
    archive.header.texts = "xxh128:0";
    EXPECT_THAT(words([&] { StoredCompiler(archive, "k.tar", "1"); }),
                AllOf(HasSubstr("kernel texts xxh128:0"), HasSubstr(cuda_texts_hash())));
}

TEST_F(CompileAhead, AKernelThatIsMissingIsCompiledHereAndThatIsSaid) {
    KernelArchive archive;
    archive.header = {"1", cuda_texts_hash(), "sm_90", nvrtc().name()};
    const KernelPlan plan{.first = find_row("fma.f32"), .unroll = 16};
    const StoredCompiler empty(archive, "k.tar", "1");
    EXPECT_EQ(empty.remark(), "");
    EXPECT_TRUE(compile_cuda(kernel_source(plan), "sm_90", {}, &empty).receipt.ok());
    EXPECT_THAT(empty.remark(), HasSubstr("k.tar does not contain all kernels"));
    EXPECT_THAT(empty.remark(), HasSubstr(nvrtc().name()));
}

// A cubin in the place of another one has the right hash; its receipt does not agree.
TEST_F(CompileAhead, AnotherKernelsMachineCodeIsRefusedByItsReceipt) {
    compile("k.tar");
    KernelArchive archive = read_kernel_archive(folder.path / "k.tar");
    std::string cubin;
    for (auto& [key, kernel] : archive.kernels) {
        if (kernel.name.find("wgmma") != kernel.name.npos) cubin = kernel.cubin;
    }
    for (auto& [key, kernel] : archive.kernels) {
        if (kernel.name.find("fma_f32") != kernel.name.npos) kernel.cubin = cubin;
    }
    const StoredCompiler swapped(archive, "k.tar", "1");
    const KernelPlan plan = kernels_of(sweep).front();
    ASSERT_EQ(plan.subject(), "fma.f32");
    EXPECT_FALSE(
        compile_cuda(kernel_source(plan), "sm_90", backend->facts().tables, &swapped).receipt.ok());
}

}  // namespace
}  // namespace occupipe::bench
