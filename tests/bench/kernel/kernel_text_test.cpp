// SPDX-License-Identifier: MIT
// Kernel text of typical rows of each dialect, word for word.
#include <gtest/gtest.h>

#include "bench/kernel/kernel_source.h"

namespace occupipe::bench {
namespace {

std::string opencl_text(const char* id, int chains, int unroll) {
    const Row* row = find_row(opencl_table(), id);
    return row ? kernel_source({.first = row, .chains = chains, .unroll = unroll}).body : "no row";
}

std::string cuda_text(const char* id, int chains, int unroll) {
    const Row* row = find_row(id);
    return row ? kernel_source({.first = row, .chains = chains, .unroll = unroll}).body : "no row";
}

TEST(OpenClText, AChoiceHidesItsConstantFromTheCompiler) {
    EXPECT_EQ(opencl_text("min.s32", 2, 1), R"(// min.s32 chains:2 unroll:1
KERNEL(int)
{
    const int a = in[0];
    const int b = in[1];
    (void)a; (void)b;
    int x0 = in[2];
    int x1 = in[3];
    TIMED_BEGIN
        LOOP(i, iterations) {
            { int m = a; FENCE_BOTH(x0, m); x0 = min(x0, m); FENCE_32(x0); };
            { int m = a; FENCE_BOTH(x1, m); x1 = min(x1, m); FENCE_32(x1); };
        }
    TIMED_END(x0 + x1)
    out[THREAD] = x0 + x1;
}
)");
}

TEST(OpenClText, AVectorIsOneVariable) {
    EXPECT_EQ(opencl_text("fma.f32x4", 1, 2), R"(// fma.f32x4 chains:1 unroll:2
KERNEL(float4)
{
    const float4 a = in[0];
    const float4 b = in[1];
    (void)a; (void)b;
    float4 x0 = in[2];
    TIMED_BEGIN
        LOOP(i, iterations) {
            x0 = fma(x0, a, b); FENCE_VECTOR(x0);
            x0 = fma(x0, a, b); FENCE_VECTOR(x0);
        }
    TIMED_END(x0)
    out[THREAD] = x0;
}
)");
}

TEST(OpenClText, AnAtomicOperationSaysWhichWord) {
    EXPECT_EQ(opencl_text("atom.shared.add.u32", 1, 1), R"(// atom.shared.add.u32 chains:1 unroll:1
KERNEL(uint)
{
    const uint a = in[0];
    const uint b = in[1];
    (void)a; (void)b;
    uint x0 = in[2];
    SHARED_RING(1024, 1); volatile __local uint* word = shared + get_local_id(0);
    TIMED_BEGIN
        LOOP(i, iterations) {
            x0 = atomic_add(word, x0);
        }
    TIMED_END(x0)
    out[THREAD] = x0;
}
)");
}

TEST(CudaText, AConversionIsPtxInTheRow) {
    EXPECT_EQ(cuda_text("cvt.rn.f32.s32", 1, 1), R"x(// cvt.rn.f32.s32 chains:1 unroll:1
KERNEL(uint)
{
    const uint a = in[0];
    const uint b = in[1];
    (void)a; (void)b;
    uint x0 = in[2];
    TIMED_BEGIN
        LOOP(i, iterations) {
            OP_R("{ .reg .f32 f; cvt.rn.f32.s32 f, %0; mov.b32 %0, f; }", x0, a, b);
        }
    TIMED_END(x0)
    out[THREAD] = x0;
}
)x");
}

TEST(CudaText, ADivisionIsTheMacroOfBothDialects) {
    const char* text = R"(// div.f64 chains:1 unroll:2
KERNEL(double)
{
    const double a = in[0];
    const double b = in[1];
    (void)a; (void)b;
    double x0 = in[2];
    TIMED_BEGIN
        LOOP(i, iterations) {
            DIV_F64(x0, a);
            DIV_F64(x0, a);
        }
    TIMED_END(x0)
    out[THREAD] = x0;
}
)";
    EXPECT_EQ(cuda_text("div.f64", 1, 2), text);
    EXPECT_EQ(opencl_text("div.f64", 1, 2), text);
}

// What OpenCL adds to the table stands in it once, under the name that CUDA's rows have.
TEST(OpenClTable, IsTheWholeTable) {
    ASSERT_EQ(opencl_table().size(), instruction_table().size());
    for (std::size_t i = 0; i < opencl_table().size(); ++i) {
        const Row& own = opencl_table()[i];
        EXPECT_EQ(own.id, instruction_table()[i].id);
        EXPECT_FALSE(own.meaning.empty()) << own.id;
        EXPECT_EQ(own.step.find("asm"), std::string_view::npos) << own.id;
        EXPECT_NE(own.step.empty(), own.no_opencl.empty()) << own.id;
        const bool steps = own.pattern == Pattern::chain && !own.step.empty();
        if (steps && own.x86.empty()) {
            EXPECT_FALSE(own.x86_also.empty()) << own.id << ": why is its count not proved?";
        }
    }
}

}  // namespace
}  // namespace occupipe::bench
