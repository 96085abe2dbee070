// SPDX-License-Identifier: MIT
// Which loops are reductions, and which only look like one; skipped where LLVM 19 is not installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/automatch/counted_program.h"

namespace occupipe::automatch {
namespace {

// n terms are added in ceil(log2 n) levels, however the loops around are nested; what is counted
// stays the same.
TEST_F(Program, SumsOverNestsOfLoopsAreTrees) {
    const std::string text =
        "double total(int n, int m, const double* x) { double s = 0; for (int i = 0; i < n; ++i)"
        " for (int j = 0; j < m; ++j) if (x[i * m + j] >= 0) s -= x[i * m + j] * 2; return s; }";
    for (const int n : {1, 8, 33}) {
        const Workload w = count(
            "total", text, "int n = atoi(argv[1]); printf(\"%g\", total(n, 4, calloc(4 * n, 8)));",
            {std::to_string(n)});
        std::int64_t levels = 0;
        while ((1 << levels) < 4 * n) ++levels;
        EXPECT_EQ(w.as_written().depth, 1 + 4 * n);
        ASSERT_EQ(w.schedules.size(), 2u);
        EXPECT_EQ(w.best_schedule().name, "trees");
        EXPECT_EQ(w.best_schedule().depth, 1 + levels) << n;
        std::int64_t all = 0;
        for (const LevelWidth& width : w.best_schedule().widths) all += width.levels * width.f64;
        EXPECT_EQ(all, w.operations.total);
        EXPECT_EQ(loop_at(w, 0).kind, LoopKind::reduction) << loop_at(w, 0).reason;
        EXPECT_EQ(loop_at(w, 1).kind, LoopKind::reduction) << loop_at(w, 1).reason;
        EXPECT_EQ(w.synchronisations, 0);
    }
}

// 8 terms, by hand: 4 sums and the first with zero, 2, 1.
TEST_F(Program, TheWidthsOfATree) {
    const Workload w = count("total",
                             "double total(const double* x) { double s = 0;"
                             " for (int i = 0; i < 8; ++i) s += x[i]; return s; }",
                             "double x[8] = {1}; printf(\"%g\", total(x));");
    EXPECT_EQ(w.best_schedule().depth, 3);
    EXPECT_EQ(w.best_schedule().widths, doubles({{1, 1}, {1, 2}, {1, 5}}));
}

TEST_F(Program, MinimaMaximaAndTheirPlaces) {
    const std::vector<std::string> ways = {
        "if (x[i * n + j] > m) { m = x[i * n + j]; at = i * n + j; }",
        "m = x[i * n + j] > m ? x[i * n + j] : m;",
        "if (!(m < x[i * n + j])) m = x[i * n + j];",
        "m = fmin(x[i * n + j], m);",
    };
    std::string text = "double most(int n, const double* x, double* r, int at) {";
    for (const std::string& way : ways)
        text += " { double m = 3; for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) {" + way +
                "} *r++ = m; }";
    const Workload w = count("most", text + " return at; }",
                             "double r[4]; printf(\"%g\", most(10, calloc(100, 8), r, 0));");
    ASSERT_EQ(w.loops.size(), 8u);
    for (const Loop& loop : w.loops)
        EXPECT_EQ(loop.kind, LoopKind::reduction) << loop.name << ": " << loop.reason;
    EXPECT_EQ(w.synchronisations, 0);
    // Comparisons are no operations; 101 values by calls: ceil(log2 101).
    EXPECT_EQ(w.as_written().depth, 100);
    EXPECT_EQ(w.best_schedule().depth, 7);
}

TEST_F(Program, WhatOnlyLooksLikeAReduction) {
    const std::vector<std::string> ways = {
        "s += x[i]; if (s > 7) y[i] = 1;",              // a condition on what was summed so far
        "s += x[i]; y[i] = s;",                         // a prefix sum
        "s = x[i] - s;",                                // signs alternate
        "s += x[i]; s *= 2;",                           // a polynomial
        "s = s + (s + x[i]);",                          // doubled
        "if (x[i] > s) { s = x[i]; records += 1.5; }",  // counts how often it grew
        "if (x[i] > s) break; s += x[i];",              // ends by what was summed
    };
    std::string text =
        "double kernel(int n, const double* x, double* y) { double s = 0, records = 0, all = 0;";
    for (const std::string& way : ways)
        text += " s = 0; for (int i = 0; i < n; ++i) { " + way + " } all += s + records;";
    const Workload w = count("kernel", text + " return all; }",
                             "double x[9] = {1, 0, 2}, y[9]; printf(\"%g\", kernel(9, x, y));");
    ASSERT_EQ(w.loops.size(), ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        EXPECT_EQ(loop_at(w, i).kind, LoopKind::sequential) << ways[i];
}

// One loop after the other over the same arguments; of each its statement.
std::string loops_of(const std::vector<std::string>& ways, const std::string& before) {
    std::string text =
        "int kernel(int n, const double* x, const unsigned char* c, const short* h, double* y,"
        " unsigned char* d, float* g, int* z) { int all = 0;";
    for (const std::string& way : ways)
        text += " { " + before + " for (int i = 0; i < n; ++i) { " + way +
                " } all += (int)(m + b + k + f + s + s0 + one + any + every + last); }";
    return text + " return all; }";
}
constexpr const char* running =
    "double m = 1e9, last = 0; float f = 0; unsigned char b = 1; short s = 0; int k = -1, one = 1,"
    " any = 0, s0 = 0, every = 1;";
constexpr const char* call_of_loops =
    "double x[20], y[20] = {0}; unsigned char c[20], d[20] = {0}; short h[20]; float g[20] = {0};"
    " int z[20] = {0};"
    " for (int i = 0; i < 20; ++i) { x[i] = (i * 7) % 5; c[i] = i * 17; h[i] = i * 2000; }"
    " printf(\"%d\", kernel(20, x, c, h, y, d, g, z));";

// What follows from a least value so far goes on into other iterations: no order is as good as
// another one.
TEST_F(Program, WhatDependsOnAMinimumSoFarIsSequential) {
    counted_twice_ = true;
    const std::vector<std::string> ways = {
        "if (x[i] < m) { m = x[i]; y[i] = 1; }",
        "double new = 0; if (x[i] < m) { m = x[i]; new = 1; } y[i] = new;",
        "if (x[i] < m) m = x[i]; else k = i;",
        "if (k < 9 || x[i] < m) { m = x[i]; k = i; }",  // the guard may hold again
        "int wide = h[i]; if (wide > b) b = wide;",     // bits are lost
        "b = (b + c[i]) / 2;",
        "int wide = b + c[i]; if (wide > 255) any += 1; b = wide;",
        "f = (f + x[i]) * 0.5;",
        "if (x[i] > 3) every = 0; y[i] = every;",
        "d[3] = (d[3] + c[i]) / 2;",
    };
    const Workload w = count("kernel", loops_of(ways, running), call_of_loops);
    ASSERT_EQ(w.loops.size(), ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        EXPECT_EQ(loop_at(w, i).kind, LoopKind::sequential) << ways[i];
}

// Conditions on a sum so far, and minima of something else than what is compared.
TEST_F(Program, WhatIsChosenByAnotherValueThanItsOwnIsSequential) {
    counted_twice_ = true;
    const std::vector<std::string> ways = {
        "k += c[i]; if (k == 5) last = i;",
        "k += c[i] > 7 ? 1 : -1; if (k == 0) last = i;",
        "m += x[i]; if (m > 3) last = x[i];",
        "m += x[i]; if (i % 3 && m > 3) last = x[i];",
        "m += x[i]; if (m > 3) any = 1;",
        "k += c[i] > 7 ? 1 : -1; if (k < 0) every = 0;",
        "m *= x[i]; if (m < 1e-30) any = 1;",
        "int wide = b + c[i]; if (wide > 255) any = 1; b = wide;",
        // two orders
        "int p = x[i], q = -p * c[i]; if (p > k) k = p; if ((unsigned)q > (unsigned)k) k = q;",
        "int p = x[i]; k = __builtin_elementwise_max(k, p);"
        " k = __builtin_elementwise_max((unsigned)k, (unsigned)(p * h[i]));",
        "if ((signed char)c[i] > (signed char)*d) *d = c[i]; if (c[19 - i] > *d) *d = c[19 - i];",
        // compared before it is overwritten
        "double old = y[i]; y[i] = x[i]; d[i] = 0; if (old < m) m = y[i];",
        // widened in two ways
        "unsigned short p = h[i]; if ((unsigned long)p > (unsigned long)(unsigned)s) s = p;",
        // rounded to be compared
        "if (x[i] < (float)m) m = x[i];",
        // with what was least before
        "double old = m; if (x[i] < m) m = x[i]; if (x[19 - i] < old) m = x[19 - i];",
        "int old = *d; y[i] = 0; if (c[i] > *d) *d = c[i]; if (c[19 - i] > old) *d = c[19 - i];",
        // bits are lost between
        "z[0] = __builtin_elementwise_max((int)(short)z[0], c[i] * 999);",
        "z[0] = (short)z[0] + c[i] * 999;",
        // did not begin alike: what is a new least value is no greatest one
        "if (c[i] < k) k = c[i]; else if (c[i] > s0) s0 = c[i];",
        "if (c[i] > k) k = c[i]; else if (c[i] < s0) s0 = c[i];",
        // ties of something else, and in two orders
        "if (x[i] < m || (x[i] == m && k > 5)) { m = x[i]; k = i; }",
        "if (x[i] < m || (x[i] > m && i < k)) { m = x[i]; k = i; }",
        "if (c[i] < k || ((unsigned)c[i] < (unsigned)k && i < any)) { k = c[i]; any = i; }",
        // of places that are written to, or by two rules
        "if (x[i] < x[any]) any = i; y[i] = 1;",
        "if (x[i] < x[any]) any = i; if (h[i] < h[any]) any = i;",
        // what lies at the place is no yes or no of the place
        "if (z[any] >= 0 && x[i] < x[any]) any = i;",
        // looked up elsewhere each time
        "const double* q = x + i / 4; if (q[i / 4] < q[any]) any = i / 4;",
        // the least and the most in two orders
        "int p = h[i]; if ((unsigned)p < (unsigned)one) one = p; else if (p > every) every = p;",
        // the place of what is rounded
        "if (x[i] < f) { f = x[i]; k = i; }",
        "int is = x[i] < f; k = is ? i : k; f = is ? x[i] : f;",
        // taken over from before, made of what was made then
        "double now = x[i]; y[i] = now - last; last = y[i];",
        "y[i] = x[i] * 2; d[i] = last; last = y[i];",
        "int now = one; one = any; any = now;",
    };
    const Workload w = count("kernel", loops_of(ways, running), call_of_loops);
    ASSERT_EQ(w.loops.size(), ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        EXPECT_EQ(loop_at(w, i).kind, LoopKind::sequential) << ways[i];
    EXPECT_EQ(w.synchronisations, 0);  // nothing is parallel within them
}

// Of numbers that are computed with more bits than they are kept in, with guards and filters, and
// of a yes or no.
TEST_F(Program, ReductionsOfSmallNumbersAndWithGuards) {
    counted_twice_ = true;
    const std::vector<std::string> ways = {
        "b += c[i];",
        "s += h[i]; s -= 3;",
        "b *= c[i] | 1;",
        "b ^= c[i];",
        "if (c[i] > b) b = c[i];",
        "s = h[i] > s ? h[i] : s;",
        "if (x[i] > f) f = x[i];",
        "if (h[i] < k) k = h[i];",
        "if (c[i] > k) k = c[i];",
        "if ((unsigned)h[i] > (unsigned)k) k = h[i];",
        "d[i] = 0; if (x[i] < m) m = x[i];",
        "f += x[i];",
        "d[c[i] & 1] += c[i];",
        "d[2] -= c[i];",
        "g[0] += x[i];",
        "if (c[i] > d[4]) d[4] = c[i];",
        "if (i % 3 && x[i] < m) m = x[i];",
        "if (k < 0 || x[i] < m) { m = x[i]; k = i; }",
        "if (i == 0 || x[i] < m) { m = x[i]; k = i; }",
        "if (one || x[i] < m) { m = x[i]; k = i; one = 0; }",
        "every = every && x[i] < 3;",
        "any = any || x[i] > 3;",
        "if (x[i] > 2) last = x[i];",
        // ties
        "if (x[i] < m || (x[i] == m && i < k)) { m = x[i]; k = i; }",
        "if (x[i] < m) { m = x[i]; k = c[i]; } else if (x[i] == m && c[i] > k) k = c[i];",
        "if (c[i] > b || c[i] == b) { b = c[i]; k = i; }",
        // the least and the most of all
        "if (c[i] < any) any = c[i]; else if (c[i] > s0) s0 = c[i];",
        "if (c[i] > s0) { s0 = c[i]; k = i; } else if (c[i] < any) any = c[i];",
        // the place of the least
        "if (x[i] < x[any]) any = i;",
        "if (any < 0 || h[any] < h[i]) any = i;",
    };
    const Workload w = count("kernel", loops_of(ways, running), call_of_loops);
    ASSERT_EQ(w.loops.size(), ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        EXPECT_EQ(loop_at(w, i).kind, LoopKind::reduction) << ways[i] << loop_at(w, i).reason;
}

// A loop that looks for the place of the least is parallel work within a sequential one.
TEST_F(Program, SelectionSortHasParallelWork) {
    const Workload w =
        count("sort",
              "void sort(int n, double* a) { for (int i = 0; i < n - 1; ++i) { int m = i;"
              " for (int j = i + 1; j < n; ++j) if (a[j] < a[m]) m = j;"
              " double t = a[i]; a[i] = a[m]; a[m] = t; } }",
              "double a[30]; for (int i = 0; i < 30; ++i) a[i] = i * 7 % 31; sort(30, a);");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
    EXPECT_EQ(loop_at(w, 1).kind, LoopKind::reduction) << loop_at(w, 1).reason;
    EXPECT_EQ(w.synchronisations, 28);
}

// Sums in double precision kept in single are trees, too, of operations in double precision.
TEST_F(Program, SumsOfDoublesInFloatsAreTrees) {
    counted_twice_ = true;
    const Workload w =
        count("kernel",
              "float kernel(int n, const double* x, float* g) { float f = 0;"
              " for (int i = 0; i < n; ++i) f += x[i]; for (int i = 0; i < n; ++i) g[0] += x[i];"
              " for (int i = 0; i < n; ++i) g[0] += 1.0f; return f; }",
              "float g = 0; printf(\"%g\", kernel(64, calloc(64, 8), &g));");
    EXPECT_EQ(w.operations.total, 192);
    EXPECT_EQ(w.operations.single_precision, 64);
    for (const Loop& loop : w.loops) EXPECT_EQ(loop.kind, LoopKind::reduction) << loop.reason;
    EXPECT_EQ(w.as_written().depth, 128);
    // 64 and what lay there; on top of that 64 that are ready before.
    EXPECT_EQ(w.best_schedule().depth, 7 + 1);
}

// c[i][j] += …: n sums onto what lay there, n + 1 leaves; then read, which ends the tree.
TEST_F(Program, SumsIntoMemoryAreTrees) {
    const Workload w =
        count("matmul",
              "void matmul(int n, double* c, const double* a, double* d) {"
              " for (int i = 0; i < n; ++i) for (int j = 0; j < n; ++j) {"
              " for (int k = 0; k < n; ++k) c[i * n + j] += a[i * n + k] * a[k * n + j];"
              " d[i * n + j] = c[i * n + j] * 2; } }",
              "matmul(15, calloc(225, 8), calloc(225, 8), calloc(225, 8));");
    EXPECT_EQ(w.as_written().depth, 1 + 15 + 1);
    EXPECT_EQ(w.best_schedule().depth, 1 + 4 + 1);  // leaves at 0 and, fifteen times, at 1
    std::int64_t all = 0;
    for (const LevelWidth& width : w.best_schedule().widths) all += width.levels * width.f64;
    EXPECT_EQ(all, w.operations.total);
    const Workload histogram =
        count("histogram",
              "void histogram(int n, const int* b, double* h) { for (int i = 0; i < n; ++i)"
              " h[b[i]] += 1.5; }",
              "int b[64]; for (int i = 0; i < 64; ++i) b[i] = i % 2; double h[2] = {0, 0};"
              " histogram(64, b, h); printf(\"%g\", h[1]);");
    EXPECT_EQ(histogram.as_written().depth, 32);
    EXPECT_EQ(histogram.best_schedule().depth, 6);  // 33 leaves
    EXPECT_EQ(loop_at(histogram, 0).kind, LoopKind::reduction);
    const Workload greatest =
        count("greatest",
              "void greatest(int n, const double* x, double* m) { for (int i = 0; i < n; ++i)"
              " if (x[i] > *m) *m = x[i]; }",
              "double x[8] = {1, 5, 2, 7}, m = 0; greatest(8, x, &m); printf(\"%g\", m);");
    EXPECT_EQ(loop_at(greatest, 0).kind, LoopKind::reduction) << loop_at(greatest, 0).reason;
}

TEST_F(Program, ASumThatIsReadBetweenIsNoReduction) {
    const Workload w = count("running",
                             "void running(int n, const double* x, double* o, double* y) {"
                             " for (int i = 0; i < n; ++i) { o[0] += x[i]; y[i] = o[0] * 2; } }",
                             "double x[50] = {1}, o[1] = {0}, y[50]; running(50, x, o, y);"
                             " printf(\"%g\", y[49]);");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::sequential);
}

// Sums into memory over a loop, beside what only looks like one: something else reads it there. All
// in one kernel, a nest each, so that it is compiled once; what is not provably another place is
// `o`, which is full of zeros.
TEST_F(Program, ASumIntoMemoryIsAReductionWhereNothingElseReadsIt) {
    struct Nest {
        std::vector<LoopKind> kinds;
        std::string text;
    };
    constexpr LoopKind reduction = LoopKind::reduction;
    constexpr LoopKind sequential = LoopKind::sequential;
    constexpr LoopKind parallel = LoopKind::parallel;
    const std::vector<Nest> nests = {
        {{reduction}, "for (int i = 0; i < n; ++i) s[0] += x[i];"},
        {{reduction}, "for (int i = 0; i < n; ++i) { s[0] += x[i]; s[9] -= x[i] * x[i]; }"},
        {{reduction}, "for (int i = 0; i < n; ++i) *s = *s + x[i] + z[i];"},
        {{reduction}, "for (int i = 0; i < n; ++i) { s[b[i]] += x[i]; s[b[i + 1]] -= x[i]; }"},
        {{reduction}, "for (int i = 0; i < n; ++i) ++h[b[i]];"},
        {{reduction}, "*s = 0; for (int i = 0; i < n; ++i) if (x[i] > *s) { *s = x[i]; *h = i; }"},
        {{reduction, parallel},
         "for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j)"
         " if (x[i * 4 + j] > s[j]) { s[j] = x[i * 4 + j]; h[j] = i; }"},
        {{reduction}, "for (int i = 0; i < n; ++i) { s[0] += x[i]; y[i] = y[i] * 2; }"},
        {{reduction, parallel},
         "for (int i = 0; i < n; ++i) s[b[i]] += x[i];"
         " for (int j = 0; j < n; ++j) y[j] = s[j] * 2;"},
        {{parallel, reduction},
         "for (int i = 0; i < n; ++i) { s[i] = 0;"
         " for (int j = 0; j < 4; ++j) s[i] += x[j]; y[i] = s[i + o[i]]; }"},
        {{reduction, reduction},  // the one that is read begins anew in each iteration
         "for (int i = 0; i < n; ++i) { s[0] = 0;"
         " for (int j = 0; j < 4; ++j) s[0] += x[j]; y[0] += s[o[i]]; }"},
        {{sequential, parallel},
         "for (int k = 0; k < 4; ++k) { s[0] += x[k];"
         " for (int i = 0; i < 4; ++i) y[4 * k + i] = z[i] * s[o[i]]; }"},
        {{sequential, parallel, parallel},
         "for (int k = 0; k < 4; ++k) { for (int i = 0; i < n; ++i) s[i] += x[i];"
         " for (int i = 0; i < n; ++i) y[i] += s[i]; }"},
        {{sequential, reduction},
         "for (int i = 0; i < 4; ++i) { for (int j = 0; j < 4; ++j) s[0] += x[4 * i + j];"
         " y[i] = s[o[i]]; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) { s[0] += x[i]; y[i] = s[o[i]]; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) { h[0] += i; y[i] = h[o[i]]; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) { *s = fmax(*s, x[i]); y[i] = s[o[i]]; }"},
        {{sequential},
         "*s = 0; for (int i = 0; i < n; ++i) { if (x[i] > *s) *s = x[i]; y[i] = s[o[i]]; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) { s[0] += x[i]; memcpy(y, s + o[i], 8); }"},
        {{sequential}, "for (int i = 0; i < n; ++i) { s[b[i]] += x[i]; y[i] = s[b[i + 1]]; }"},
        {{sequential},  // by way of another sum into the same places
         "for (int i = 0; i < n; ++i) { s[0] += x[i]; s[o[i]] += 2; y[i] = s[o[i + 1]]; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) s[0] += x[i] * s[o[i]];"},
        {{sequential}, "for (int i = 0; i < n; ++i) { s[0] += x[i]; s[o[i]] *= z[i]; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) { h[0] ^= b[i]; h[o[i]] |= b[i] * 3; }"},
        {{sequential}, "for (int i = 0; i < n; ++i) s[0] = x[i] - s[0];"},
        {{sequential},
         "*s = 0; for (int i = 0; i < n; ++i) if (x[i] > *s) { *s = x[i]; *y += 1.5; }"},
        {{sequential},
         "*s = 0; for (int i = 0; i < n; ++i) if (x[i] > *s) { *s = x[i]; y[i] = 1; }"},
        {{sequential},
         "*s = 0; for (int i = 0; i < n; ++i) if (x[i] > *s) *s = x[i]; else y[i] = 1;"},
        {{sequential},  // by what was rounded
         "float* f = (float*)h; *f = 1e9f;"
         " for (int i = 0; i < n; ++i) if (x[i] < *f) { *f = x[i]; *y = i; }"},
        {{sequential},  // what is lost by rounding is read again
         "for (int i = 0; i < n; ++i) { double a = x[i] - s[1], t = s[0] + a;"
         " s[1] = (t - s[0]) - a; s[0] = t; }"},
        {{sequential},  // more sums than one can count by hand do not hide what is none
         [] {
             std::string text = "for (int i = 0; i < n; ++i) {";
             for (int j = 0; j < 34; ++j) text += " h[" + std::to_string(j) + "] += i;";
             return text + " y[i + 1] = y[i] * 2; }";
         }()},
    };
    std::string text =
        "#include <string.h>\nvoid kernel(int n, const double* x, const double* z, const int* b,"
        " const int* o, double* s, double* y, int* h) {\n";
    for (const Nest& nest : nests) text += "{ " + nest.text + " }\n";
    counted_twice_ = true;
    const Workload w =
        count("kernel", text + "}",
              "double x[64], z[64]; int b[64], o[64] = {0};"
              " for (int i = 0; i < 64; ++i) { x[i] = i * 37 % 19 + 40 * i; z[i] = 1 + i % 5;"
              " b[i] = i * 3 % 7; }"
              " kernel(16, x, z, b, o, calloc(64, 8), calloc(64, 8), calloc(64, 4));");
    std::size_t at = 0;
    for (const Nest& nest : nests)
        for (const LoopKind kind : nest.kinds) {
            const Loop& loop = loop_at(w, at++);
            EXPECT_EQ(loop.kind, kind) << nest.text << ": " << loop.name << " " << loop.reason;
        }
    EXPECT_EQ(w.loops.size(), at);
    // The loop over time, the sum before a loop, the sum of a sum: 3 each.
    EXPECT_EQ(w.synchronisations, 9);
}

// Bits that are set and turned over in turns are no reduction, either way alone is one.
TEST_F(Program, LogicalReductionsAreOfOneKind) {
    const Workload w = count("kernel",
                             "int kernel(int n, const int* x) { int a = 0, b = 0, c = -1, d = 0;"
                             " for (int i = 0; i < n; ++i) { a ^= x[i]; b |= x[i]; c &= x[i]; }"
                             " for (int i = 0; i < n; ++i) { d ^= x[i]; d |= x[i] * 3; }"
                             " return a + b + c + d; }",
                             "int x[9] = {1, 4, 7}; printf(\"%d\", kernel(9, x));");
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::reduction) << loop_at(w, 0).reason;
    EXPECT_EQ(loop_at(w, 1).kind, LoopKind::sequential) << loop_at(w, 1).reason;
}

// Three terms an iteration: ⌈log2 (3 n + 1)⌉ levels where they come in any order.
TEST_F(Program, SeveralTermsAtOnceIntoMemoryAreATree) {
    counted_twice_ = true;
    const Workload w =
        count("kernel",
              "void kernel(int n, const double* x, double* s) { for (int i = 0; i < n; ++i)"
              " *s = *s + x[i] - x[n + i] + x[2 * n + i]; }",
              "double s = 0; kernel(21, calloc(63, 8), &s); printf(\"%g\", s);");
    EXPECT_EQ(w.operations.additions, 63);
    EXPECT_EQ(w.as_written().depth, 63);
    EXPECT_EQ(w.best_schedule().depth, 6);
    std::int64_t all = 0;
    for (const LevelWidth& width : w.best_schedule().widths) all += width.levels * width.f64;
    EXPECT_EQ(all, 63);
    EXPECT_EQ(loop_at(w, 0).kind, LoopKind::reduction);
}

// What an iteration takes over from the one before and could make itself.
TEST_F(Program, WhatIsTakenOverFromTheIterationBefore) {
    counted_twice_ = true;
    const std::vector<std::string> ways = {
        "y[i] = x[i] - last; last = x[i];",
        "y[i] = m + last + x[i]; m = last; last = x[i];",
        "d[i] = c[i] != b; b = c[i];",
    };
    const Workload w = count("kernel", loops_of(ways, running), call_of_loops);
    ASSERT_EQ(w.loops.size(), ways.size());
    for (std::size_t i = 0; i < ways.size(); ++i)
        EXPECT_EQ(loop_at(w, i).kind, LoopKind::parallel) << ways[i] << loop_at(w, i).reason;
}

}  // namespace
}  // namespace occupipe::automatch
