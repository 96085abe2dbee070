// SPDX-License-Identifier: MIT
// OpenCL C kernels as NVIDIA's machine code: what they leave in memory, against the same text on
// PoCL. Recorded machine code needs no compiler; where clang, libclc and ptxas are here, they
// compile anew.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/run_plan.h"
#include "isa/cubin.h"
#include "tests/opencl_c/run_on_opencl.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::test {
namespace {

namespace fs = std::filesystem;
using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::HasSubstr;

constexpr int architectures[] = {75, 80, 90, 100, 120};

fs::path folder() { return fs::path(OCCUPIPE_SOURCE_DIR) / "tests/opencl_c"; }

std::vector<fs::path> launch_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder()))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

// |found - expected| <= this (1 + |expected|): functions of the special function unit are
// approximate on a GPU, and PoCL's are another library's. Everything else agrees bit for bit.
double tolerance(const std::string& kernels) { return kernels == "nbody" ? 1e-5 : 0; }

// The first element that differs; empty: none.
std::string difference(const Buffer& expected, std::span<const std::byte> found, double tolerance) {
    if (expected.bytes.size() != found.size()) return expected.name + ": another size";
    const std::size_t size = bytes_of(expected.type);
    for (std::size_t i = 0; i < found.size() / size; ++i) {
        if (std::memcmp(&expected.bytes[i * size], &found[i * size], size) == 0) continue;
        const std::uint64_t wanted = get_element(&expected.bytes[i * size], expected.type);
        const std::uint64_t got = get_element(&found[i * size], expected.type);
        if (tolerance > 0 && expected.type == ElementType::f32) {
            float a = 0, b = 0;
            std::memcpy(&a, &expected.bytes[i * size], size);
            std::memcpy(&b, &found[i * size], size);
            if (std::abs(a - b) <= tolerance * (1 + std::abs(a))) continue;
        }
        return fmt::format("{}[{}]: PoCL {}, executed {}", expected.name, i,
                           element_text(expected.type, wanted), element_text(expected.type, got));
    }
    return {};
}

class OpenClC : public ::testing::TestWithParam<fs::path> {
protected:
    void SetUp() override {
        if (!opencl_cpu()) GTEST_SKIP() << "no OpenCL device of a processor (PoCL) to compare with";
        plan = read_launches(GetParam());
        name = GetParam().stem().string();
        expected = run_on_opencl(plan, read_text_file(plan.source));
    }

    LaunchPlan plan;
    std::string name;
    std::vector<Buffer> expected;
};

TEST_P(OpenClC, RecordedMachineCodeLeavesTheSameMemoryAsPocl) {
    bool changed = false;
    const std::vector<Buffer> before = buffers_before(plan);
    for (std::size_t b = 0; b < before.size(); ++b)
        changed = changed || before[b].bytes != expected[b].bytes;
    EXPECT_TRUE(changed);
    for (const int architecture : architectures) {
        const isa::Cubin cubin = isa::read_cubin(
            read_text_file(folder() / fmt::format("recorded/sm_{}/{}.cubin", architecture, name)));
        EXPECT_EQ(cubin.architecture, architecture);
        extract::PlanRun run(plan, cubin, "");
        const auto results = run.execute({.threads = 2});
        EXPECT_GT(results.at(0).execution.warp_instructions, 0U);
        for (const Buffer& buffer : expected)
            EXPECT_EQ(difference(buffer, run.bytes(buffer.name), tolerance(name)), "")
                << "sm_" << architecture;
    }
}

// Why OpenCL C cannot be compiled here; empty: it can.
std::string no_compiler() {
    static const std::string reason = [] {
        const ProgramRun run = run_program(
            {"execute", (folder() / "saxpy.cl").string(), "--arch", "sm_75", "--template"});
        // Anything else that goes wrong is for the tests to find.
        const bool missing = run.err.find("not found") != std::string::npos ||
                             run.err.find("not searched") != std::string::npos ||
                             run.err.find("libclc: no ") != std::string::npos;
        return run.exit_code == 1 && missing ? run.err : "";
    }();
    return reason;
}

TEST_P(OpenClC, CompiledHereLeavesTheSameMemoryAsPocl) {
    if (!no_compiler().empty()) GTEST_SKIP() << no_compiler();
    const TemporaryFolder work;
    for (const char* architecture : {"sm_75", "sm_120"}) {
        std::vector<std::string> words = {"execute", "--launch",   GetParam().string(),
                                          "--arch",  architecture, "--force"};
        for (const Buffer& buffer : expected) {
            words.emplace_back("--output");
            words.push_back(buffer.name + "=" + (work.path / buffer.name).string());
        }
        const ProgramRun run = run_program(words);
        ASSERT_EQ(run.exit_code, 0) << run.err;
        for (const Buffer& buffer : expected) {
            const std::string found = read_text_file(work.path / buffer.name);
            EXPECT_EQ(difference(buffer, std::as_bytes(std::span(found)), tolerance(name)), "");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, OpenClC, ::testing::ValuesIn(launch_files()),
                         [](const auto& one) { return one.param.stem().string(); });

// FNV-1a, as tools/record_opencl_c.py computes it.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value;
}

TEST(OpenClCRecorded, IsOfTheTextsAsTheyStand) {
    const std::string listing = read_text_file(folder() / "recorded/compiler.txt");
    EXPECT_GE(launch_files().size(), 9U);
    for (const fs::path& file : launch_files()) {
        const fs::path text = fs::path(file).replace_extension(".cl");
        EXPECT_THAT(listing, HasSubstr(fmt::format("{:016x} {}\n", hash_of(read_text_file(text)),
                                                   text.filename().string())))
            << "run tools/record_opencl_c.py";
    }
}

class OpenClCompiler : public ::testing::Test {
protected:
    std::string written(const std::string& name, const std::string& text) {
        const std::string path = (work.path / name).string();
        std::ofstream(path) << text;
        return path;
    }
    ProgramRun compile(const std::string& text, const std::vector<std::string>& more = {}) {
        std::vector<std::string> words = {"execute",      written("k.cl", text),
                                          "--arch",       "sm_80",
                                          "--grid",       "1",
                                          "--block",      "32",
                                          "--args",       "x=f32[32]:iota(1,1) 3.0",
                                          "--disassembly"};
        words.insert(words.end(), more.begin(), more.end());
        return run_program(words);
    }

    TemporaryFolder work;
};

TEST_F(OpenClCompiler, IsNamedWhereItIsMissing) {
    const std::string file = (folder() / "saxpy.cl").string();
    const std::vector<std::string> words = {"execute", file, "--arch", "sm_80", "--template"};
    const std::string packages = "apt-get install clang-19 libclc-19 libclc-19-dev";
    ProgramRun run = run_program(words, {"PATH=/nonexistent"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("clang: not found, and OpenCL C needs it"));
    EXPECT_THAT(run.err, HasSubstr(packages));
    run = run_program(words, {"OCCUPIPE_CLANG=none"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("because OCCUPIPE_CLANG is 'none'"));
    // Any program does until libclc has been found.
    run = run_program(words, {"OCCUPIPE_CLANG=/bin/true", "OCCUPIPE_LIBCLC=/nonexistent"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("libclc: no nvptx64--nvidiacl.bc in /nonexistent"));
    EXPECT_THAT(run.err, HasSubstr(packages));
    run = run_program({"execute", file, "--arch", "sm_80", "--template", "--clang", "/none/clang"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("--compiler clang /none/clang: there is no such program"));
    run = run_program({"execute", file, "--template"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("--arch sm_NN says what to compile it for"));
}

constexpr const char* divides =
    "__kernel void k(__global float* x, float a) {\n"
    "    const int i = get_global_id(0);\n"
    "    x[i] = a * x[i] + x[i] / a;\n"
    "}\n";

TEST_F(OpenClCompiler, SaysWhatItDid) {
    if (!no_compiler().empty()) GTEST_SKIP() << no_compiler();
    const ProgramRun run = compile(divides);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("k.cl: compiled by clang "));
    EXPECT_THAT(run.out, HasSubstr(" with libclc and ptxas with "));
    EXPECT_THAT(run.out, HasSubstr("-march=sm_80 -cl-std=CL1.2 -O3 -ffp-contract=on "
                                   "-mllvm -nvptx-prec-divf32=2 -mllvm -nvptx-prec-sqrtf32=1 "
                                   "-Xptxas=--gpu-name=sm_80 -Xptxas=--generate-line-info"));
    EXPECT_THAT(run.err, HasSubstr("note: "));
    EXPECT_THAT(run.err,
                HasSubstr("products and sums are fused within an expression (FP_CONTRACT ON); / of "
                          "f32 is correctly rounded, sqrt correctly rounded"));
    EXPECT_THAT(run.out, HasSubstr("k.cl:3"));  // source lines
    EXPECT_THAT(run.out, HasSubstr("FFMA"));
    EXPECT_THAT(run.out, HasSubstr("x: f32[32], first 3.3333333 "));
}

TEST_F(OpenClCompiler, TakesOptions) {
    if (!no_compiler().empty()) GTEST_SKIP() << no_compiler();
    // No division: its machine code has fused operations of its own.
    const std::string text =
        "#include \"factor.h\"\n"
        "#if __OPENCL_VERSION__ != 120\n#error as a driver's compiler defines it\n#endif\n"
        "__kernel void k(__global float* x, float a) {\n"
        "    const int i = get_global_id(0);\n"
        "    x[i] = a * x[i] + FACTOR * ADDED;\n"
        "}\n";
    written("factor.h", "#define FACTOR x[31]\n");
    ProgramRun run =
        compile(text, {"--compiler-option=-DADDED=x[30]", "--compiler-option=-ffp-contract=off"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, ::testing::Not(HasSubstr("FFMA")));
    EXPECT_THAT(run.out, HasSubstr("FMUL"));
    EXPECT_THAT(run.err, HasSubstr("nothing is fused; / of f32 is correctly rounded"));
    run = compile(divides, {"--compiler-option=-cl-fast-relaxed-math", "--compiler-option",
                            "-Xptxas=--maxrregcount=24"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err,
                HasSubstr("products and sums are fused and reordered; / of f32 is approximate, "
                          "sqrt approximate"));
    EXPECT_THAT(run.out, HasSubstr("-cl-fast-relaxed-math"));
    EXPECT_THAT(run.out, HasSubstr("-Xptxas=--maxrregcount=24"));
    EXPECT_THAT(run.out, ::testing::Not(HasSubstr("CALL")));  // of division's slow path
}

TEST_F(OpenClCompiler, RefusesWithItsWords) {
    if (!no_compiler().empty()) GTEST_SKIP() << no_compiler();
    ProgramRun run = compile("__kernel void k(__global float* x, float a) { x[0] = b; }\n");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("k.cl: does not compile for sm_80: clang "));
    EXPECT_THAT(run.err, HasSubstr("k.cl:1:54: error: use of undeclared identifier 'b'"));
    run = compile("__kernel void k(__global float* x, float a) { x[get_work_dim()] = a; }\n");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("neither libclc nor Occupipe has get_work_dim for NVIDIA's"));
    run = compile("__kernel void k(__global float* x, float a) { printf(\"%d\", 1); }\n");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("neither libclc nor Occupipe has printf"));
}

TEST_F(OpenClCompiler, TemplateAndKernelFileFollow) {
    if (!no_compiler().empty()) GTEST_SKIP() << no_compiler();
    ProgramRun run = run_program(
        {"execute", (folder() / "matmul.cl").string(), "--arch", "sm_90", "--template"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("source: matmul.cl\narchitecture: sm_90\n"));
    EXPECT_THAT(run.out, HasSubstr("      - {buffer: b2}  # a pointer\n      - {u32: 0}  # u32\n"));
    EXPECT_THAT(run.out, HasSubstr("      - {local: 1024}  # bytes of the group's local memory\n"));
    run = run_program({"extract", "--launch", (folder() / "matmul.yaml").string(), "--arch",
                       "sm_75", "--profile", "rtx-2070"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("format: occupipe-kernel/1"));
    EXPECT_THAT(run.out, HasSubstr("op: fma.f32"));
    EXPECT_THAT(run.out, HasSubstr("op: bar.sync"));
    EXPECT_THAT(run.err, HasSubstr("35 groups"));
    run = run_program({"predict", (folder() / "saxpy.cl").string(), "--profile", "rtx-2070",
                       "--kernel", "saxpy", "--grid", "4", "--block", "256", "--args",
                       "x=f32[1024] y=f32[1024] 2.5 1024", "--assume-latency", "all", "--use",
                       "ld.global.f32=ld.global.s32", "--use", "st.global.f32=ld.global.s32",
                       "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto prediction = nlohmann::json::parse(run.out)["predictions"][0];
    EXPECT_GT(prediction["cycles"].get<double>(), 0);
    const std::string assumptions = prediction["assumptions"].dump();
    EXPECT_THAT(assumptions, HasSubstr("compiled by clang "));
    EXPECT_THAT(assumptions, HasSubstr("-march=sm_75"));  // the profile's
    EXPECT_THAT(assumptions, HasSubstr("FP_CONTRACT ON"));
    EXPECT_THAT(assumptions, HasSubstr("Λ 4 is that of the class alu"));
}

}  // namespace
}  // namespace occupipe::test
