// SPDX-License-Identifier: MIT
#include "ask/host_code.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace occupipe::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// As the preprocessor leaves it: line 1 of vector, lines 1 and 2 of own.h, then those of main.cu.
constexpr const char* text = R"(# 1 "main.cu"
# 1 "vector" 1 3
template <class T> class vector { T* begin() { return 0; } };
# 1 "own.h" 1
struct Own { public: Absent member(); int n; __attribute__((device)) int of() { return n; }
    int host() { constexpr int n = 1; return absent(n); } };
# 2 "main.cu" 2
extern "C" { Absent declared(int a); }
__attribute__((global)) void kernel(float* a) { a[0] = 1; }
namespace tools { int first(Prop p) { say("}{", p.gone);
    kernel<<<1, 1>>>(0); if (p.kept) { p.gone(); p.stays(); } } }
auto lambda = [](int a) { return a; };
struct Data { Absent joined(); static constexpr int n = 1; };
struct Passed { Absent kept; __attribute__((device)) int of() { return 1; } };
__attribute__((device)) int wrong() { return absent(); }
struct Held { public: Absent member; int n; }; int behind;
)";

std::string error(const char* place) { return std::string(place) + ": error: no\n"; }

std::string left(const std::string& said, HostCode goes) {
    const auto less = without_failing_host_code(text, said, goes);
    if (!less) return "nothing";
    EXPECT_EQ(less->size(), std::string(text).size());
    EXPECT_EQ(std::ranges::count(*less, '\n'), std::ranges::count(std::string(text), '\n'));
    return *less;
}

TEST(FailingHostCode, StatementsGo) {
    EXPECT_THAT(left("main.cu(4): error: no\n"
                     "  namespace tools { int first(Prop p) { say(\"}{\", p.gone);\n"
                     "                                                  ^\n",
                     HostCode::statements),
                AllOf(Not(HasSubstr("say")), HasSubstr("int first(Prop p) {"),
                      HasSubstr("kernel<<<1, 1>>>(0);"), HasSubstr("p.gone();")));
    EXPECT_THAT(left("main.cu(5): error: no\n"
                     "  kernel<<<1, 1>>>(0); if (p.kept) { p.gone(); p.stays(); } } }\n"
                     "                                     ^\n",
                     HostCode::statements),
                AllOf(Not(HasSubstr("p.gone()")), HasSubstr("say("), HasSubstr("p.stays();")));
}

std::string left_of(const std::string& source, const std::string& at, HostCode goes) {
    const std::string line = source.substr(0, source.find('\n'));
    const auto less = without_failing_host_code(
        "# 1 \"a.cu\"\n" + source + "\n",
        "a.cu(1): error: no\n  " + line + "\n  " + std::string(line.find(at), ' ') + "^\n", goes);
    return less ? less->substr(less->find('\n') + 1) : "nothing";
}

TEST(FailingHostCode, AConditionGoesWithWhatItIsFor) {
    EXPECT_EQ(left_of("void f() { k<<<1, 1>>>(); if (gone) { a(); } else if (b) { c(); } e(); }",
                      "gone", HostCode::statements),
              "void f() { k<<<1, 1>>>(); " + std::string(24, ' ') + "if (b) { c(); } e(); }\n");
    EXPECT_EQ(left_of("void f() { if (a) gone(); else k<<<1, 1>>>(); e(); }", "gone",
                      HostCode::statements),
              "void f() {              ;      k<<<1, 1>>>(); e(); }\n");
}

// What a kernel would find in its place, or calls, stays, so that it does not compile.
TEST(FailingHostCode, NothingGoesThatAKernelMayUse) {
    const char* const device = "__attribute__((device))";
    for (const HostCode goes : {HostCode::statements, HostCode::functions}) {
        const auto stays = [&](const std::string& source, const char* at) {
            EXPECT_EQ(left_of(source, at, goes), "nothing") << source;
        };
        stays(fmt::format("void f() {{ auto g = [=] {} (int i) {{ gone(i); }}; k(g); }}", device),
              "gone");
        stays(fmt::format("float f(float x) {{ return gone(x); }} {} float f(float);", device),
              "gone");
        stays("template <> struct Acc<float> { typedef gone type; int a; };", "gone");
        stays("template <class T> struct Acc<T*> { gone a; };", "gone");
        stays("template <> float of<float>() { return gone(); }", "gone");
        stays("namespace app { typedef gone real; } typedef float real;", "gone");
        stays("namespace app { const int n = gone(); } const int n = 3;", "gone");
    }
}

TEST(FailingHostCode, AnEnumerationGoes) {
    EXPECT_EQ(left_of("enum Mode { A, B = gone }; int n;", "gone", HostCode::functions),
              std::string(25, ' ') + "; int n;\n");
}

// NVRTC's sources stand in literals of the host.
TEST(FailingHostCode, DirectivesInLiteralsGo) {
    EXPECT_EQ(left_of("int a = gone(R\"(\n#define float double\n)\");", "gone", HostCode::functions)
                  .find("define"),
              std::string::npos);
}

// The preprocessor has made one blank of those that were left before.
TEST(FailingHostCode, ColumnsCountBlanksOnce) {
    const auto less = without_failing_host_code(
        "# 1 \"a.cu\"\nvoid f() {        say(\"  \");  if (gone) { leave(); } stay(); }\n",
        "a.cu(1): error: no\n"
        "  void f() { say(\"  \"); if (gone) { leave(); } stay(); }\n"
        "                                               ^\n",
        HostCode::statements);
    ASSERT_TRUE(less);
    EXPECT_THAT(*less, AllOf(HasSubstr("say"), HasSubstr("leave();"), Not(HasSubstr("stay"))));
}

TEST(FailingHostCode, FunctionsGo) {
    EXPECT_THAT(left(error("main.cu(5)"), HostCode::functions),
                AllOf(Not(HasSubstr("say")), Not(HasSubstr("<<<")),
                      HasSubstr("int first(Prop p) {"), HasSubstr("auto lambda")));
}

TEST(FailingHostCode, WhatInstantiatesTheSystemsGoes) {
    const std::string said =
        "vector(1): error: no\n  class vector { T* begin() { return 0; } };\n"
        "                                ^\n"
        "          detected during:\n"
        "            instantiation of class \"vector<T> [with T=int]\" at line 1 of vector\n"
        "            instantiation of class \"vector<T>\" at line 2 of own.h\n"
        "            instantiation of class \"vector<T>\" at line 4 of main.cu\n";
    EXPECT_THAT(left(said, HostCode::functions),
                AllOf(HasSubstr("begin()"), Not(HasSubstr("host()")), HasSubstr("say(")));
}

TEST(FailingHostCode, DeclarationsGo) {
    EXPECT_THAT(left("own.h(1): error: no\n"
                     "  struct Own { public: Absent member(); int n;\n"
                     "                       ^\n" +
                         error("own.h(2)") +
                         "main.cu(2): error: no\n"
                         "  extern \"C\" { Absent declared(int a); }\n"
                         "               ^\n",
                     HostCode::functions),
                AllOf(Not(HasSubstr("member()")), Not(HasSubstr("host()")),
                      Not(HasSubstr("declared")), HasSubstr("public:"), HasSubstr("int n;"),
                      HasSubstr("int of() { return n; }"), HasSubstr("    };")));
}

TEST(FailingHostCode, TwoErrorsTakeOneDeclaration) {
    const std::string line = "  struct Data { Absent joined(); static constexpr int n = 1; };\n";
    EXPECT_THAT(left("main.cu(7): error: no\n" + line + "                ^\n" +
                         "main.cu(7): error: no\n" + line + "                       ^\n",
                     HostCode::functions),
                HasSubstr("struct Data {                  static constexpr int n = 1; };"));
}

// A kernel that is given one would find another layout.
TEST(FailingHostCode, DataGoWithTheirClass) {
    EXPECT_THAT(left("main.cu(10): error: no\n"
                     "  struct Held { public: Absent member; int n; }; int behind;\n"
                     "                        ^\n",
                     HostCode::functions),
                AllOf(Not(HasSubstr("Held")), Not(HasSubstr("public: int")),
                      HasSubstr("; int behind;"), HasSubstr("struct Passed")));
}

TEST(FailingHostCode, CodeForTheDeviceStays) {
    for (const char* place : {"main.cu(3)", "main.cu(9)", "other.cu(3)", "main.cu(99)"})
        EXPECT_EQ(left(error(place), HostCode::functions), "nothing") << place;
    const std::string mark =
        "\n  struct Data { Absent joined(); static constexpr int n = 1; };\n                ^\n";
    EXPECT_THAT(left("main.cu(7): error: no" + mark, HostCode::functions),
                HasSubstr("struct Data {                  static constexpr int n = 1; };"));
    EXPECT_EQ(left("main.cu(8): error: no\n  struct Passed { Absent kept;\n                  ^\n",
                   HostCode::functions),
              "nothing");
    for (const char* broken : {"", "(1): error", "main.cu: error", "main.cu(: error\n", "^"})
        EXPECT_EQ(left(broken, HostCode::statements), "nothing");
    for (const char* broken : {"# 1 \"a.cu\"\n{", "# 1 \"a.cu\"\n}", "# 1 \"a.cu\"\nvoid f() {",
                               "# 1 \"a.cu\"\n(", "# \"\nx", "# 1 \"a.cu\"\ntemplate <"})
        without_failing_host_code(broken, "a.cu(1): error: no\n", HostCode::statements);
}

}  // namespace
}  // namespace occupipe::analysis
