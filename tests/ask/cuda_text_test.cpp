// SPDX-License-Identifier: MIT
#include "ask/cuda_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace occupipe::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// "tools::fill<int Width>(float* a) 3"
std::vector<std::string> listed(const std::string& text) {
    std::vector<std::string> all;
    for (const SourceKernel& one : kernels_of_text(text)) {
        std::string line = one.name;
        if (!one.template_parameters.empty()) line += "<" + one.template_parameters + ">";
        all.push_back(line + "(" + one.parameters + ") " + std::to_string(one.line));
    }
    return all;
}

using Names = std::vector<std::string>;

TEST(WithoutOtherKernels, LeavesWhatIsWantedAndWhatIsNamed) {
    const std::string text =
        "#define N 4\n"
        "__device__ int helper(int a) { return a; }\n"
        "__global__ void wanted(int* a) { a[0] = helper(N); }\n"
        "__global__ void other(int* a) {\n"
        "#if N == 4\n"
        "    a[0] = 1; // wanted\n"
        "#endif\n"
        "}\n"
        "__global__ void named(int* a) { a[0] = 2; }\n"
        "template <int I> __global__ void filled(int* a) { named(a); }\n";
    const std::string left = without_other_kernels(text, {"wanted"});
    EXPECT_THAT(left, HasSubstr("a[0] = helper(N)"));
    EXPECT_THAT(left, HasSubstr("int helper(int a)"));
    EXPECT_THAT(left, Not(HasSubstr("other")));
    EXPECT_THAT(left, Not(HasSubstr("a[0] = 1")));
    EXPECT_THAT(left, HasSubstr("#if N == 4\n"));
    EXPECT_THAT(left, HasSubstr("void named(int* a)"));
    EXPECT_THAT(left, HasSubstr("void filled(int* a)"));
    EXPECT_EQ(std::ranges::count(left, '\n'), std::ranges::count(text, '\n'));
    EXPECT_EQ(left.size(), text.size());
}

TEST(KernelsOfText, HaveTheConditionsAroundThem) {
    const std::vector<SourceKernel> kernels = kernels_of_text(
        "#ifndef FILE_CU\n"
        "#define FILE_CU 1\n"
        "__global__ void always() {}\n"
        "#ifdef USE_CUDA // of the build\n"
        "__global__ void a() {}\n"
        "# if WIDTH > 4\n"
        "__global__ void b() {}\n"
        "# else\n"
        "__global__ void c() {}\n"
        "# endif\n"
        "#elif defined(USE_HIP)\n"
        "__global__ void d() {}\n"
        "#endif\n"
        "__global__ void again() {}\n"
        "#endif\n");
    std::vector<std::string> conditions;
    for (const SourceKernel& one : kernels) conditions.push_back(one.condition);
    EXPECT_EQ(conditions, (Names{"", "#ifdef USE_CUDA (line 4)",
                                 "#ifdef USE_CUDA (line 4) and #if WIDTH > 4 (line 6)",
                                 "#ifdef USE_CUDA (line 4) and #else of #if WIDTH > 4 (line 6)",
                                 "#elif defined(USE_HIP) (line 11)", ""}));
}

TEST(KernelsOfText, AreFoundWithTheirTemplates) {
    EXPECT_EQ(listed("__global__ void a(int n) {}\n"), Names{"a(int n) 1"});
    EXPECT_EQ(listed("template <typename T,\n          int N = (3 > 2)>\n__global__ void b(T* x,\n"
                     "    int n) {}\n"),
              Names{"b<typename T, int N = (3 > 2)>(T* x, int n) 3"});
    EXPECT_EQ(listed("namespace one { namespace {\nextern \"C\" {\n"
                     "static __global__ __launch_bounds__(256, 2) void c() { if (1) { } }\n} } }\n"
                     "namespace one::two { __global__ void __cluster_dims__(2) d() {} }"),
              (Names{"one::c() 3", "one::two::d() 5"}));
    // Neither prototypes nor comments, texts, directives, or calls.
    EXPECT_EQ(
        listed("__global__ void e();\n// __global__ void f() {}\n/* __global__ void g() {}\n"
               "*/ const char* h = \"__global__ void i() {}\";\n#define J \\\n"
               " __global__ void k() {}\nconst char* l = R\"x(__global__ void m() {})\")x\";\n"
               "int host(int q) { return 1'000 + 'a' + '\"'; }\n__global__ void n() {}\n"),
        Names{"n() 9"});
    EXPECT_EQ(
        listed("struct S { int a() { return 1; } };\nenum E { x, y };\nint table[] = {1, 2};\n"
               "auto f = [](int) { return 0; };\n__global__ void o(S s) {}"),
        Names{"o(S s) 5"});
}

TEST(HostFunctions, AreLeftOut) {
    const std::string text =
        "#include <x.h>\n"
        "#define HOST_DEVICE __host__ __device__\n"
        "#define both __device__\n"
        "__device__ float half_of(float x) { return x / 2; }\n"
        "HOST_DEVICE int keep_1(int a) { return a; }\n"
        "both int keep_2(int a) { return a; }\n"
        "constexpr int keep_3(int a) { return a; }\n"
        "UNKNOWN_MACRO int keep_4(int a) { return a; }\n"
        "template <class T> void gone_1(T x) {\n"
        "#ifdef DEBUG\n"
        "    print(x);\n"
        "#endif\n"
        "}\n"
        "static inline void gone_2(const char* s) { puts(\"}\"); }\n"
        "__global__ void kernel(float* a) { a[0] = half_of(a[1]); }\n"
        "struct S { int member() { return 1; } };\n"
        "int main(int argc, char** argv) { kernel<<<1, 1>>>(0); return 0; }\n";
    const std::string left = without_host_functions(text);
    for (const char* word : {"keep_1", "keep_2", "keep_3", "keep_4", "half_of", "kernel(float* a)",
                             "member", "#ifdef DEBUG", "#endif"})
        EXPECT_THAT(left, HasSubstr(word));
    for (const char* word : {"gone", "print", "puts", "main", "<<<"})
        EXPECT_THAT(left, Not(HasSubstr(word)));
    EXPECT_EQ(left.size(), text.size());
    EXPECT_EQ(std::ranges::count(left, '\n'), std::ranges::count(text, '\n'));
    for (const char* broken :
         {"{", "}", "(", "void f() {", "/*", "\"", "R\"(", "template <", "#if\\"})
        EXPECT_EQ(without_host_functions(broken).size(), std::string(broken).size());
}

TEST(FirstError, IsTheCompilersOwn) {
    EXPECT_EQ(
        first_error("NVRTC: nvrtcCompileProgram for sm_75: NVRTC_ERROR_COMPILATION: "
                    "k.cu(2): warning #1: x\n  text\nk.cu(3): error: bad\n"
                    "k.cu(4): error: worse\n2 errors detected in the compilation of \"k.cu\".\n"),
        "k.cu(3): error: bad (and 1 more)");
    EXPECT_EQ(first_error("k.cu:1:10: fatal error: a.h: No such file or directory\n    1 | #in\n"),
              "k.cu:1:10: fatal error: a.h: No such file or directory");
    EXPECT_EQ(first_error(""), "it says nothing");
}

}  // namespace
}  // namespace occupipe::analysis
