// SPDX-License-Identifier: MIT
// Programs whose characteristics are known by hand, compiled with counters and run; skipped where
// LLVM 19 is not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "tests/automatch/counted_program.h"

namespace occupipe::automatch {
namespace {

using ::testing::HasSubstr;

// n products at once, then a chain of n sums: D = n + 1.
TEST_F(Program, DotProduct) {
    const Workload w = count("dot",
                             "double dot(int n, const double* x, const double* y) { double s = 0;"
                             " for (int i = 0; i < n; ++i) s += x[i] * y[i]; return s; }",
                             "double* x = aligned_alloc(128, 8000), *y = aligned_alloc(128, 8000);"
                             " for (int i = 0; i < 1000; ++i) x[i] = y[i] = i;"
                             " printf(\"%g\", dot(1000, x, y));");
    EXPECT_EQ(w.operations.total, 2000);
    EXPECT_EQ(w.operations.additions, 1000);
    EXPECT_EQ(w.operations.multiplications, 1000);
    EXPECT_EQ(w.operations.fused_pairs, 1000);
    EXPECT_EQ(w.operations.vectorisable, 2000);
    EXPECT_EQ(w.as_written().depth, 1001);
    EXPECT_EQ(w.as_written().widths, doubles({{1000, 1}, {1, 1000}}));
    EXPECT_EQ(w.reuse_of(8)->references, 2000);
    EXPECT_EQ(w.reuse_of(8)->first, 2000);
    EXPECT_EQ(w.reuse_of(64)->first, 250);
    EXPECT_EQ(w.reuse_of(64)->references, 250);  // successive ones to a line are one
    EXPECT_EQ(w.reuse_of(128)->first, 126 - 1 + (8000 % 128 != 0 ? 1 : 0));
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::reduction);
    EXPECT_EQ(loop_at(w, 0).iterations, 1000);
    EXPECT_EQ(w.synchronisations, 0);
}

TEST_F(Program, PrefixSumIsAChain) {
    const Workload w = count("prefix",
                             "void prefix(int n, double* x) { for (int i = 1; i < n; ++i)"
                             " x[i] = x[i] + x[i - 1]; }",
                             "double* x = calloc(500, 8); prefix(500, x);");
    EXPECT_EQ(w.operations.additions, 499);
    EXPECT_EQ(w.as_written().depth, 499);
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
    EXPECT_THAT(loop_at(w, 0).reason, HasSubstr("left in an earlier iteration"));
    EXPECT_EQ(w.operations.vectorisable, 0);
}

// The paper's Figure 6: n - 1 iterations of a sequential loop around a parallel one.
TEST_F(Program, SynchronisationsOfFigure6) {
    const Workload w = count("figure6",
                             "void figure6(int n, double (*a)[64]) { for (int i = 1; i < n; i++)"
                             " for (int j = 1; j < n; j++) a[i][j] = a[i - 1][j] + 2; }",
                             "figure6(64, calloc(64 * 64, 8));");
    EXPECT_EQ(w.synchronisations, 62);
    EXPECT_EQ(w.as_written().depth, 63);
    EXPECT_EQ(w.as_written().widths, doubles({{63, 63}}));
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
    EXPECT_EQ(loop_at(w, 1).kind, LoopKind::parallel);
    EXPECT_EQ(loop_at(w, 1).parent, loop_at(w, 0).name);
    EXPECT_EQ(loop_at(w, 1).instances, 63);
    EXPECT_EQ(loop_at(w, 1).iterations, 63 * 63);
}

// b = (a + a + a) / 3 by one product: three levels a sweep, however large n is.
TEST_F(Program, JacobiSweepsHaveADepthWithoutN) {
    for (const int n : {20, 200}) {
        const Workload w =
            count("jacobi",
                  "void jacobi(int n, int t, double* a, double* b) { for (int k = 0; k < t; ++k) {"
                  " for (int i = 1; i < n - 1; ++i) b[i] = (a[i - 1] + a[i] + a[i + 1]) * 0.25;"
                  " for (int i = 1; i < n - 1; ++i) a[i] = b[i]; } }",
                  "int n = atoi(argv[1]); jacobi(n, 7, calloc(n, 8), calloc(n, 8));",
                  {std::to_string(n)});
        EXPECT_EQ(w.as_written().depth, 3 * 7) << n;
        EXPECT_EQ(w.as_written().widths, doubles({{21, n - 2}}));
        EXPECT_EQ(w.operations.total, 21 * (n - 2));
        EXPECT_EQ(w.synchronisations, 6);
        EXPECT_EQ(w.operations.vectorisable, w.operations.total);
    }
}

// c[i][j] += a[i][k] b[k][j]: n³ products at once, then n sums one after the other, each n² wide.
TEST_F(Program, MatrixProductSumsIntoMemory) {
    counted_twice_ = true;
    const Workload w =
        count("matmul",
              "void matmul(int n, double* c, const double* a, const double* b) {"
              " for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j)"
              " for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * b[k * n + j]; }",
              "matmul(12, calloc(144, 8), calloc(144, 8), calloc(144, 8));");
    EXPECT_EQ(w.as_written().depth, 13);
    EXPECT_EQ(w.as_written().widths, doubles({{12, 144}, {1, 1728}}));
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::parallel);
    EXPECT_EQ(loop_at(w, 1).kind, LoopKind::parallel);
    EXPECT_EQ(loop_at(w, 2).kind, LoopKind::reduction);
    EXPECT_EQ(w.synchronisations, 0);
    EXPECT_EQ(w.reuse_of(8)->first, 3 * 144);
    EXPECT_EQ(w.reuse_of(8)->references, 4 * 1728);
}

// LU without pivoting: step k divides a column (n-1-k) and updates (n-1-k)²: three levels a step,
// of which the division's and the product's begin when the last update is done.
TEST_F(Program, LuAlternatesBetweenColumnAndUpdate) {
    counted_twice_ = true;
    constexpr int n = 16;
    const Workload w = count("lu",
                             "void lu(int n, double* a) { for (int k = 0; k < n; ++k) {"
                             " for (int i = k + 1; i < n; ++i) a[i * n + k] /= a[k * n + k];"
                             " for (int i = k + 1; i < n; ++i) for (int j = k + 1; j < n; ++j)"
                             " a[i * n + j] -= a[i * n + k] * a[k * n + j]; } }",
                             "double* a = malloc(8 * 256); for (int i = 0; i < 256; ++i)"
                             " a[i] = i % 17 == 0 ? 40 : 1.0 / (1 + i); lu(16, a);");
    std::int64_t column = 0;
    std::int64_t update = 0;
    for (int k = 0; k < n; ++k) {
        column += n - 1 - k;
        update += (n - 1 - k) * (n - 1 - k);
    }
    EXPECT_EQ(w.operations.divisions, column);
    EXPECT_EQ(w.operations.additions, update);
    EXPECT_EQ(w.operations.multiplications, update);
    EXPECT_EQ(w.as_written().depth, 3 * (n - 1));
    EXPECT_EQ(w.synchronisations, n - 1);
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
    for (std::size_t i = 1; i < w.loops.size(); ++i)
        EXPECT_EQ(loop_at(w, i).kind, LoopKind::parallel) << w.loops[i].reason;
}

// Rows of 1, 3 and 2 elements: the longest sum is a product and three additions.
TEST_F(Program, SparseRowsAreSummedOneByOne) {
    const Workload w = count(
        "spmv",
        "void spmv(int rows, const int* begin, const int* column, const double* a,"
        " const double* x, double* y) { for (int r = 0; r < rows; ++r) { double s = 0;"
        " for (int e = begin[r]; e < begin[r + 1]; ++e) s += a[e] * x[column[e]]; y[r] = s; } }",
        "int begin[] = {0, 1, 4, 6}, column[] = {0, 0, 1, 2, 1, 2}; double a[] = {1, 2, 3, 4, 5, "
        "6},"
        " x[] = {1, 1, 1}, y[3]; spmv(3, begin, column, a, x, y); printf(\"%g\", y[1]);");
    EXPECT_EQ(w.operations.total, 12);
    EXPECT_EQ(w.as_written().depth, 4);
    EXPECT_EQ(w.as_written().widths, doubles({{1, 1}, {1, 2}, {1, 3}, {1, 6}}));
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::parallel);
    EXPECT_EQ(loop_at(w, 1).kind, LoopKind::reduction);
}

TEST_F(Program, EveryKindOfOperationIsCountedOnce) {
    const Workload w = count("kinds",
                             "double kinds(double a, double b, float c) {"
                             " double d = -a + b * a - b / a; d = sqrt(d) + sin(d) + fmod(a, b);"
                             " d = fabs(d) > 1 ? fma(a, b, d) : d; return d + (double)(c * c); }",
                             "printf(\"%g\", kinds(3, 50, 2));");
    const Operations& o = w.operations;
    EXPECT_EQ(o.multiplications, 1 + 1 + 1);  // b·a, of fma, c·c
    EXPECT_EQ(o.additions, 2 + 2 + 1 + 1);
    EXPECT_EQ(o.divisions, 2);  // with fmod, a remainder
    EXPECT_EQ(o.square_roots, 1);
    EXPECT_EQ(o.functions, 1);  // sin
    EXPECT_EQ(o.single_precision, 1);
    EXPECT_EQ(o.total, 13);
}

// Each function of the mathematical library is one operation, a level above what it takes.
TEST_F(Program, FunctionsOfTheMathematicalLibraryAreLinksOfAChain) {
    const Workload loop = count("kernel",
                                "double kernel(int n, const double* a) { double s = 1;"
                                " for (int i = 0; i < n; ++i) s = hypot(s, a[i]) * 2; return s; }",
                                "double a[16] = {1}; printf(\"%g\", kernel(16, a));");
    EXPECT_EQ(loop.operations.functions, 16);
    EXPECT_EQ(loop.operations.total, 32);
    EXPECT_EQ(loop.as_written().depth, 32);
    EXPECT_EQ(loop.unseen, "");

    // Roundings apart from each other, since one of what is already rounded is taken out.
    const std::vector<std::string> of_one = {
        "acos", "acosh",  "asin",  "asinh", "atan",  "atanh",  "cbrt",  "ceil",      "cos",
        "cosh", "erf",    "erfc",  "exp",   "exp10", "exp2",   "expm1", "floor",     "j0",
        "j1",   "lgamma", "log",   "log10", "log1p", "log2",   "logb",  "nearbyint", "sin",
        "rint", "sinh",   "round", "tan",   "tanh",  "tgamma", "trunc", "y0",        "y1"};
    const std::vector<std::string> of_two = {"atan2", "fdim", "fmax",      "fmin",
                                             "hypot", "pow",  "nextafter", "remainder"};
    const std::string begin =
        "#define _GNU_SOURCE\n#include <complex.h>\n#include <math.h>\n#include <stdio.h>\n";
    const std::string end =
        "int main(int argc, char** argv) { printf(\"%g\", (double)kernel(argc, 1)); }\n";
    std::string text = "double kernel(double given, int n) { int e; long double last = given;";
    std::int64_t functions = 0;
    for (const auto& [type, suffix] : std::vector<std::pair<std::string, std::string>>{
             {"double", ""}, {"float", "f"}, {"long double", "l"}}) {
        text += "{ " + type + " x, y, s = last;";
        for (const std::string& name : of_one) text += "s = " + name + suffix + "(s);";
        for (const std::string& name : of_two) text += "s = " + name + suffix + "(s, 2);";
        functions += static_cast<std::int64_t>(of_one.size() + of_two.size());
        for (const std::string name : {"ldexp", "scalbn", "scalbln"})
            text += "s = " + name + suffix + "(s, n);";
        for (const std::string name : {"ilogb", "lround", "lrint", "llround", "llrint"})
            text += "s = " + name + suffix + "(s);";
        functions += 8;
        text += "s = jn" + suffix + "(n, s);";
        // What is left in memory is as deep as what is returned.
        text += "s = frexp" + suffix + "(s, &e); s = e;";
        text += "s = modf" + suffix + "(s, &x); s = x;";
        text += "s = remquo" + suffix + "(s, 2, &e); s = e;";
        text += "s = lgamma" + suffix + "_r(s, &e); s = e;";
        text += "sincos" + suffix + "(s, &x, &y); last = x * y; }";
        functions += 6;
    }
    text += "double complex z = last; z = csqrt(z); z = cpow(z, z); return cabs(z); }\n";
    functions += 3;
    const Workload w = analyse_program(
        {.sources = {written("chain.c", begin + text + end)}, .kernel = "kernel"}, {});
    EXPECT_EQ(w.unseen, "");
    EXPECT_EQ(w.operations.functions, functions);
    EXPECT_EQ(w.operations.total, functions + 3);
    EXPECT_EQ(w.operations.single_precision, (functions - 3) / 3 + 1);
    EXPECT_EQ(w.as_written().depth, functions + 3);
}

// What a function outside of the program does is not counted, which is said whether or not it has
// effects; what comes of it waits for what went in.
TEST_F(Program, WhatIsNotCountedIsNamedAndWaitedFor) {
    const Workload w =
        count("kernel",
              "double difftime(long, long) __attribute__((const));"
              " float fadd(double, double) __attribute__((const));"
              " double kernel(double s) { s = difftime((long)(s * 2), 0) * 2; s = fadd(s, 1) * 2.0;"
              " s = ldiv((long)s, 3).quot * 2.0; return s * atof(\"2\"); }",
              "printf(\"%g\", kernel(argc));");
    EXPECT_EQ(w.unseen, "difftime, fadd, ldiv, strtod");
    EXPECT_EQ(w.operations.functions, 0);
    EXPECT_EQ(w.operations.total, 5);
    EXPECT_EQ(w.as_written().depth, 5);
}

// Integers pass levels on, addresses and conditions do not.
TEST_F(Program, WhatIsTrulyDependedOn) {
    counted_twice_ = true;
    const Workload w = count("passes",
                             "double passes(double a, double* t) { long k = (long)(a * 2);"
                             " double viaInteger = (double)(k + 1) * 3; double viaAddress ="
                             " t[k & 3] * 3; return viaInteger > viaAddress ? a * 5 : a * 7; }",
                             "double t[] = {1, 2, 3, 4}; printf(\"%g\", passes(argc, t));");
    // a·2 at 1; its integer's product at 2; the one by address, and those chosen, at 1
    EXPECT_EQ(w.as_written().depth, 2);
    EXPECT_EQ(w.operations.total, 4);
    EXPECT_EQ(w.as_written().widths, doubles({{1, 1}, {1, 3}}));
}

TEST_F(Program, ManyValuesAreTakenOverFromEachOther) {
    std::string before;
    std::string within = "y[i] = a0;";
    for (int j = 0; j < 60; ++j) {
        const std::string a = "a" + std::to_string(j);
        before += "double " + a + " = x[" + std::to_string(j) + "];";
        within += a + " = " +
                  (j < 58 ? "a" + std::to_string(j + 1) + " + a" + std::to_string(j + 2)
                          : "x[i + " + std::to_string(j) + "]") +
                  ";";
    }
    const Workload w = count("kernel",
                             "void kernel(int n, const double* x, double* y) {" + before +
                                 " for (int i = 0; i < n; ++i) {" + within + "} }",
                             "kernel(9, calloc(80, 8), calloc(80, 8));");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::parallel) << loop_at(w, 0).reason;
}

// Bytes and words of two are places of their own, whatever is loaded or copied of them at once.
TEST_F(Program, PartsOfWordsArePlaces) {
    counted_twice_ = true;
    struct Nest {
        std::vector<LoopKind> kinds;
        std::string text;
    };
    constexpr LoopKind reduction = LoopKind::reduction;
    constexpr LoopKind sequential = LoopKind::sequential;
    constexpr LoopKind parallel = LoopKind::parallel;
    const std::vector<Nest> nests = {
        {{parallel}, "for (int i = 0; i < n; ++i) c[i] = 255 - c[i];"},
        {{parallel}, "for (int i = 0; i < n; ++i) h[i] = h[i] * 0.5f;"},
        {{parallel}, "for (int i = 0; i < n; ++i) p[i].v = p[i].v + p[i].c;"},
        {{parallel}, "for (int i = 0; i < n; ++i) { p[i].c++; p[i].v += 1; }"},
        {{reduction}, "for (int i = 0; i < n; ++i) { p->c += c[i]; p->v += c[i]; }"},
        {{sequential}, "for (int i = 1; i < n; ++i) c[i] = c[i - 1] * 0.5f;"},
        {{sequential}, "for (int i = 1; i < n; ++i) h[i] = h[i - 1] + c[i];"},
        {{sequential, parallel},
         "for (int k = 1; k < 4; ++k) for (int i = 0; i < 8; ++i)"
         " c[8 * k + i] = c[8 * k + i - 8] + 1;"},
        {{sequential},
         "for (int i = 0; i + 1 < n; ++i) { unsigned short s; memcpy(&s, c + i, 2);"
         " c[i + 1] = s; }"},
        {{parallel},
         "for (int i = 0; i + 1 < n; i += 2) { unsigned short s; memcpy(&s, c + i, 2);"
         " s += 3; memcpy(c + i, &s, 2); }"},
        {{sequential}, "for (int i = 0; i + 5 < n; ++i) memmove(c + i + 1, c + i, 5);"},
        {{sequential, parallel},  // backwards
         "for (int k = 0; k < 3; ++k) for (int i = 0; i < 2; ++i) {"
         " memmove(c + 20 * i + 5, c + 20 * i, 13); h[i] = c[20 * i + 17]; c[20 * i] = h[i] + 1; "
         "}"},
        {{parallel},
         "for (int i = 0; i + 5 < n; i += 5) { memset(c + i, i, 5); h[i] = c[i + 4]; }"},
        {{sequential},
         "for (int i = 0; i + 7 < n; ++i) { c[i + 6] = 1; int w;"
         " memcpy(&w, c + i, 4); h[i] = w; }"},
    };
    std::string text =
        "#include <string.h>\nstruct __attribute__((packed)) Part { char c; double v; };"
        "void kernel(int n, unsigned char* c, short* h,"
        " struct Part* p) {\n";
    for (const Nest& nest : nests) text += "{ " + nest.text + " }\n";
    const Workload w = count("kernel", text + "}",
                             "unsigned char* c = calloc(40, 1); kernel(32, c, calloc(40, 2),"
                             " calloc(40, sizeof(struct Part)));");
    std::size_t at = 0;
    for (const Nest& nest : nests)
        for (const LoopKind kind : nest.kinds) {
            const Loop& loop = loop_at(w, at++);
            EXPECT_EQ(loop.kind, kind) << nest.text << ": " << loop.name << " " << loop.reason;
        }
    EXPECT_EQ(w.loops.size(), at);
    EXPECT_EQ(w.synchronisations, 4);
    // Levels, too: products of neighbours do not wait for each other, but where one is the other's.
    const Workload products =
        count("kernel",
              "void kernel(int n, unsigned char* c) { for (int i = 0; i < n; ++i) c[i] *= 0.5f;"
              " for (int i = 1; i < n; ++i) c[i] = c[i - 1] * 0.5f; }",
              "kernel(33, calloc(33, 1));");
    EXPECT_EQ(products.as_written().depth, 33);
    EXPECT_EQ(products.operations.total, 65);
}

// What the head of a loop loads is made at the end of the iteration before, and carried only where
// the loop stored it.
TEST_F(Program, WhatTheHeadOfALoopLoads) {
    const std::string text =
        "#include <cstdio>\n#include <vector>\nvoid kernel(std::vector<double>& v,"
        " const std::vector<double>& w) {\n"
        " for (std::size_t i = 0; i < w.size(); ++i) v[i] += 2 * w[i];\n"
        " for (std::size_t i = 0; i < v.size(); ++i) { v[i] *= 2;"
        " if (v.size() < 60) v.push_back(1); }\n"
        " for (int i = 0; v[i] < 30; ++i) v[i + 1] = v[i] + 2;\n}\n"
        "int main() { std::vector<double> v(40, 1), w(40, 2); v.reserve(99); kernel(v, w);"
        " std::printf(\"%g\", v[1]); }\n";
    for (const bool distances : {true, false}) {
        const Workload w = analyse_program(
            {.sources = {written("program.cpp", text)}, .kernel = "kernel", .distances = distances},
            {});
        ASSERT_EQ(w.loops.size(), 3);
        EXPECT_EQ(loop_at(w, 0).kind, LoopKind::parallel) << loop_at(w, 0).reason;
        EXPECT_EQ(loop_at(w, 1).kind, LoopKind::sequential);
        EXPECT_EQ(loop_at(w, 2).kind, LoopKind::sequential);
        EXPECT_EQ(w.operations.vectorisable, 80);
    }
}

// The residual of each sweep is a tree; sweeps wait for each other as they did.
TEST_F(Program, AResidualWithinSweeps) {
    const Workload w = count(
        "solve",
        "double solve(int n, int t, double* a, double* b) { double r = 0; for (int k = 0; k < t;"
        " ++k) { r = 0; for (int i = 1; i < n - 1; ++i) for (int j = 1; j < n - 1; ++j) {"
        " b[i * n + j] = 0.5 * a[i * n + j + 1]; r += fabs(b[i * n + j] - a[i * n + j]); }"
        " for (int i = 0; i < n * n; ++i) a[i] = b[i]; if (r < 0) break; } return r; }",
        "printf(\"%g\", solve(18, 6, calloc(324, 8), calloc(324, 8)));");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
    EXPECT_EQ(loop_at(w, 1).kind, LoopKind::reduction) << loop_at(w, 1).reason;
    EXPECT_EQ(loop_at(w, 2).kind, LoopKind::reduction) << loop_at(w, 2).reason;
    EXPECT_EQ(loop_at(w, 3).kind, LoopKind::parallel);
    EXPECT_EQ(w.synchronisations, 5);
    // Product, difference, 256 terms; the last sweep's product at level 6.
    EXPECT_EQ(w.best_schedule().depth, 6 + 1 + 8);
    EXPECT_EQ(w.as_written().depth, 1 + 1 + 256 + 5);
}

// A place that is used again and again: only memory's order makes one use wait for the other.
TEST_F(Program, OrderOfMemory) {
    const std::string text =
        "void reuse(int n, const double* x, volatile double* t, double* y) { for (int i = 0; i < "
        "n; ++i)"
        " { t[0] = x[i] * 2; y[i] = t[0] + 1; } }";
    const std::string body = "double x[20] = {1}, t[1], y[20]; reuse(20, x, t, y);";
    EXPECT_EQ(count("reuse", text, body).as_written().depth, 2);
    const Workload w = analyse_program(
        {.sources = {folder.path / "program.c"}, .kernel = "reuse", .order_memory = true}, {});
    EXPECT_EQ(w.as_written().name, "memory-order");
    // The i-th use of the place is visible at level i; products are at level 1 all the same.
    EXPECT_EQ(w.as_written().depth, 21);
    EXPECT_EQ(w.schedules.size(), 1u);
    EXPECT_EQ(w.operations.total, 40);
}

TEST_F(Program, SynchronisationsAreAnnotated) {
    const std::string begin =
        "void sweep(int n, double* a) {\n  for (int k = 0; k < n; ++k) {\n"
        "    for (int i = 0; i < 8; ++i) a[i] = a[i] + 1;\n";
    const std::string end = "  }\n}\n";
    const std::string body = "double a[8] = {0}; sweep(7, a);";
    EXPECT_EQ(count("sweep", begin + end, body).synchronisations_from, "loops");
    const Workload w = count("sweep", begin + "    // occupipe: sync\n" + end, body);
    EXPECT_EQ(w.synchronisations, 7);
    EXPECT_EQ(w.synchronisations_from, "annotation");
    EXPECT_EQ(w.operations.total, 56);
    EXPECT_THAT(refusal("sweep", begin + "// occupipe: synk\n" + end, body),
                HasSubstr("program.c:7: there is no annotation 'synk'"));
    EXPECT_THAT(refusal("sweep",
                        "void sweep(int n, double* a) { for (int k = 0; k < n; ++k)\n"
                        "// occupipe: sync\n a[k] = 1; }",
                        body),
                HasSubstr("program.c:5: `// occupipe: sync` does not stand between two"));
}

// The iteration that it comes in is done to its end, so that all counts agree.
TEST_F(Program, InterruptedByTheUser) {
    const Workload w = count("kernel",
                             "#include <signal.h>\nvoid kernel(int n, double* a) {"
                             " for (int i = 0; i < n; ++i) { a[0] = a[0] * 2;"
                             " if (i == 99) raise(SIGINT); a[1] = a[1] + 1; } }",
                             "double a[2] = {1}; kernel(1000, a);");
    EXPECT_EQ(w.operations.total, 200);
    EXPECT_EQ(w.operations.additions, 100);
    EXPECT_EQ(w.as_written().depth, 100);
    EXPECT_THAT(w.partial, HasSubstr("interrupted"));
}

TEST_F(Program, ACrashInTheMidstOfTheKernel) {
    const Workload w = count("kernel",
                             "void kernel(int n, double* a, double** b) {"
                             " for (int i = 0; i < n; ++i) { a[i] = a[i] + 1.5; b[i][0] = a[i] * 2;"
                             " } }",
                             "double a[50] = {0}; double* b[50]; for (int i = 0; i < 50; ++i)"
                             " b[i] = i < 30 ? a + i : (double*)8; kernel(50, a, b);");
    EXPECT_EQ(w.partial, "the program crashed");
    EXPECT_GE(w.operations.total, 60);
    EXPECT_LE(w.operations.total, 62);
}

// Copies of whole structures are made between places of memory, not through local ones: 3 words
// are loaded from each of two, added, stored to one, and copied to the other.
TEST_F(Program, CopiesOfStructures) {
    counted_twice_ = true;
    const Workload w = count(
        "move",
        "struct P { double x, y, z; }; static struct P add(struct P a, struct P b) {"
        " struct P c = {a.x + b.x, a.y + b.y, a.z + b.z}; return c; }"
        " void move(int n, struct P* a, struct P* b) { for (int i = 0; i < n; ++i) {"
        " struct P p = a[i]; struct P q = b[i]; a[i] = add(p, q); struct P t = a[i]; b[i] = t; } }",
        "move(100, calloc(100, 24), calloc(100, 24));");
    EXPECT_EQ(w.operations.total, 300);
    EXPECT_EQ(w.reuse_of(8)->first, 600);
    EXPECT_LE(w.reuse_of(8)->references, 1500);
}

TEST_F(Program, CallsAreOneScheduleAndSynchroniseWhereOneReadsAnothersResult) {
    const std::string text =
        "void step(int n, double* a) { for (int i = 0; i < n; ++i) a[i] = a[i] + 1; }";
    const Workload chained =
        count("step", text, "double* a = calloc(10, 8); for (int k = 0; k < 5; ++k) step(10, a);");
    EXPECT_EQ(chained.calls, 5);
    EXPECT_EQ(chained.as_written().depth, 5);
    EXPECT_EQ(chained.synchronisations, 4);
    const Workload apart =
        count("step", text,
              "double* a = calloc(50, 8); for (int k = 0; k < 5; ++k) step(10, a + 10 * k);");
    EXPECT_EQ(apart.as_written().depth, 1);
    EXPECT_EQ(apart.synchronisations, 0);
}

// Points are independent: the search for the nearest of some centres is one processor's own.
TEST_F(Program, SequentialLoopsWithinParallelOnesNeedNoSynchronisation) {
    const Workload w =
        count("assign",
              "void assign(int n, int k, const double* p, const double* c, int* nearest) {"
              " for (int i = 0; i < n; ++i) { double least = 1e300; for (int j = 0; j < k; ++j) {"
              " double d = 0; for (int x = 0; x < 4; ++x) d += (p[i * 4 + x] - c[j * 4 + x]) *"
              " (p[i * 4 + x] - c[j * 4 + x]); if (d < least) { least = d; nearest[i] = j; } } } }",
              "double* p = malloc(8 * 400); for (int i = 0; i < 400; ++i) p[i] = i % 13;"
              " int nearest[100]; assign(100, 8, p, p, nearest); printf(\"%d\", nearest[7]);");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::parallel) << loop_at(w, 0).reason;
    EXPECT_EQ(w.synchronisations, 0);
}

// What is found first in a row is of this iteration, all behind it of earlier ones.
TEST_F(Program, OneLoopReadsWhatManyIterationsLeft) {
    counted_twice_ = true;
    const Workload w =
        count("kernel",
              "void kernel(int n, const double* x, volatile double* s, double* y) { for (int i = "
              "0; i < n;"
              " ++i) { s[i] = x[i]; for (int j = 0; j <= i; ++j) y[i * n + j] = s[i - j] * 2; } }",
              "kernel(16, calloc(16, 8), calloc(16, 8), calloc(256, 8));");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
    EXPECT_EQ(w.synchronisations, 15);
}

TEST_F(Program, SquareRootsCanBeVectorised) {
    const Workload w = count("roots",
                             "void roots(int n, const double* x, double* y) {"
                             " for (int i = 0; i < n; ++i) y[i] = sqrt(x[i] * x[i] + 1); }",
                             "double* x = calloc(64, 8); roots(64, x, malloc(8 * 64));");
    EXPECT_EQ(w.operations.vectorisable, w.operations.total);
}

TEST_F(Program, SeveralFilesAndCpp) {
    const auto one = written("one.cpp",
                             "template <class T> static T square(T x) { return x * x; }\n"
                             "double other(double);\n"
                             "void work(int n, double* a) { for (int i = 0; i < n; ++i)"
                             " a[i] = square(a[i]) + other(a[i]); }\n"
                             "int main() { double a[8] = {}; work(8, a); }\n");
    const auto two = written("two.cpp", "double other(double x) { return x * 2; }\n");
    const Workload w = analyse_program({.sources = {one, two}, .kernel = "work"}, {});
    EXPECT_EQ(w.operations.multiplications, 16);
    EXPECT_EQ(w.operations.additions, 8);
    EXPECT_EQ(w.as_written().depth, 2);
    EXPECT_EQ(w.program, "one.cpp two.cpp");
}

TEST_F(Program, WhatIsNotCountedIsRefusedOrNamed) {
    EXPECT_THAT(refusal("other", "void kernel(void) {}", "kernel();"),
                HasSubstr("there is no function other in the program; it has kernel, main"));
    EXPECT_THAT(
        refusal("kernel", "double kernel(int n) { return n < 2 ? n : kernel(n - 1) + 1.5; }",
                "printf(\"%g\", kernel(4));"),
        HasSubstr("recursion: kernel calls itself"));
    EXPECT_THAT(refusal("kernel", "double kernel(double (*f)(double)) { return f(2); }",
                        "printf(\"%g\", kernel(sin));"),
                HasSubstr("calls through a pointer at program.c:4"));
    EXPECT_THAT(refusal("kernel",
                        "#include <pthread.h>\nvoid kernel(pthread_t* t, void* (*f)(void*)) {"
                        " pthread_create(t, 0, f, 0); }",
                        "(void)kernel;"),
                HasSubstr("uses threads (pthread_create)"));
    EXPECT_THAT(refusal("kernel", "void kernel(void) {}", ""), HasSubstr("kernel was not called"));
    EXPECT_THAT(refusal("kernel", "void kernel(void) { no such thing }", ""),
                HasSubstr("program.c:4"));
    EXPECT_THAT(refusal("kernel",
                        "#include <emmintrin.h>\nvoid kernel(double* a) { _mm_storeu_pd(a,"
                        " _mm_add_pd(_mm_loadu_pd(a), _mm_loadu_pd(a + 2))); }",
                        "double a[4] = {1}; kernel(a);"),
                HasSubstr("vector code at program.c:5"));
    EXPECT_THAT(
        refusal("kernel", "#include <setjmp.h>\njmp_buf b; int kernel(void) { return setjmp(b); }",
                "kernel();"),
        HasSubstr("uses _setjmp at program.c:5"));
    const auto none = written("none.c", "void kernel(double* a) { a[0] *= 2; }\n");
    try {
        ProgramRun run;
        run.sources = {none};
        run.kernel = "kernel";
        analyse_program(run, {});
        ADD_FAILURE() << "it has no main()";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("undefined reference to `main'"));
    }
    const Workload w = count("kernel", "int kernel(void) { return rand(); }", "kernel();");
    EXPECT_EQ(w.unseen, "rand");
}

TEST_F(Program, ACrashKeepsWhatWasCounted) {
    const Workload w = count("kernel",
                             "void kernel(int n, double* a) { for (int i = 0; i < n; ++i)"
                             " a[i] = a[i] + 1; }",
                             "double* a = calloc(100, 8); kernel(100, a); abort();");
    EXPECT_EQ(w.operations.total, 100);
    EXPECT_EQ(w.partial, "the program crashed");
}

// What is beyond the end of a local array is the program's arguments and its environment.
TEST_F(Program, ACrashBehindTheEnvironmentKeepsWhatWasCounted) {
    counted_twice_ = false;  // where the stack ends is another place in each run
    const Workload w = count("kernel",
                             "void kernel(long n, double* a) { for (long i = 0; i < n; ++i)"
                             " a[i] = a[i] * 2; }",
                             "double a[8] = {1}; kernel(100000000, a);");
    EXPECT_EQ(w.partial, "the program crashed");
    EXPECT_GT(w.operations.multiplications, 8);
}

// Distances of a program against a plain stack (the paper's Figure 5, and random traces).
TEST_F(Program, StackDistancesAreThoseOfAPlainStack) {
    std::mt19937 random(11);
    for (int round = 0; round < 2; ++round) {
        const int words = round == 0 ? 7 : 20000;
        const int references = round == 0 ? 10 : 60000;
        std::vector<int> trace;
        if (round == 0) {
            for (const char c : std::string("acdbcegedd")) trace.push_back(c - 'a');
        } else {
            for (int i = 0; i < references; ++i)
                trace.push_back(static_cast<int>(random() % (i % 3 == 0 ? 50U : 20000U)));
        }
        std::list<int> stack;
        std::map<std::int64_t, std::int64_t> wanted;
        std::int64_t first = 0;
        for (const int word : trace) {
            std::int64_t distance = 0;
            auto at = stack.begin();
            for (; at != stack.end() && *at != word; ++at) ++distance;
            if (at == stack.end()) {
                ++first;
            } else {
                ++wanted[distance];
                stack.erase(at);
            }
            stack.push_front(word);
        }
        std::string list;
        for (const int word : trace) list += std::to_string(word) + " ";
        written("trace.txt", list);
        // The loop over the trace is in main, so that only its words are referenced.
        const Workload w =
            count("touch", "double touch(volatile double* a) { return *a; }",
                  "double* a = calloc(20000, 8); FILE* f = fopen(argv[1], \"r\"); int word;"
                  " while (fscanf(f, \"%d\", &word) == 1) touch(a + word);",
                  {(folder.path / "trace.txt").string()});
        const ReuseDistances& found = *w.reuse_of(8);
        EXPECT_EQ(found.references, static_cast<std::int64_t>(trace.size()));
        EXPECT_EQ(found.first, first);
        std::map<std::int64_t, std::int64_t> in_buckets;
        for (const DistanceCount& count : found.distances) {
            std::int64_t sum = 0;
            for (auto it = wanted.lower_bound(count.from);
                 it != wanted.end() && it->first <= count.to; ++it)
                sum += it->second;
            EXPECT_EQ(count.count, sum) << count.from << " to " << count.to;
            if (count.from <= 4096) {
                EXPECT_EQ(count.from, count.to);
            }
        }
        EXPECT_LE(words, 20000);
    }
}

}  // namespace
}  // namespace occupipe::automatch
