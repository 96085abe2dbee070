// SPDX-License-Identifier: MIT
// Kernels in files as people have them: source with host code, headers and templates, what nvcc
// puts machine code into, and PTX as tools print it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using cli::testing::program_has_nvrtc;
using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Words = std::vector<std::string>;

const std::string stored = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/containers/";

constexpr const char* without_nvcc = "OCCUPIPE_NVCC=none";

class Sources : public ::testing::Test {
protected:
    std::string written(const std::string& name, const std::string& text) {
        const std::filesystem::path path = folder.path / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path;
    }

    test::TemporaryFolder folder;
};

class SourcesCompiled : public Sources {};

ProgramRun execute(const std::string& file, const Words& more, const Words& environment = {}) {
    Words words = {"execute", file};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, environment);
}

ProgramRun sums(const std::string& file, const Words& more = {}) {
    Words words = {"--kernel", "sums", "--grid", "4",
                   "--block",  "64",   "--args", "in=f32[256]:ones out=f32[4] i32:256"};
    words.insert(words.end(), more.begin(), more.end());
    return execute(stored + file, words);
}

void expect_sums(const ProgramRun& run) {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("128 128 128 128"));
}

// The instance that the file makes, and one that it does not.
void scales_by_three(const std::string& path, const Words& launch,
                     const ::testing::Matcher<std::string>& said) {
    for (const auto& [kernel, arguments] : {std::pair("scale", "a=f32[32]:ones f32:3"),
                                            std::pair("scale<double>", "a=f64[32]:ones f64:3")}) {
        Words words = launch;
        words.insert(words.end(), {"--kernel", kernel, "--args", arguments});
        const ProgramRun run = execute(path, words);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_THAT(run.out, HasSubstr("from 3 to 3, mean 3"));
        EXPECT_THAT(run.err, said);
    }
}

bool has_nvcc() {
    // The program says so where it is asked for what only nvcc compiles.
    const test::TemporaryFolder folder;
    const std::string path = folder.path / "k.cu";
    std::ofstream(path) << "#include <vector>\nstd::vector<int> host;\n__global__ void k(int* p) { "
                           "p[0] = 1; }\n";
    return execute(path, {"--arch", "sm_80", "--grid", "1", "--block", "1", "--args", "p=i32[1]"})
               .exit_code == 0;
}

TEST_F(Sources, MachineCodeInFatBinaries) {
    for (const char* file : {"zstd.fatbin", "lz4.fatbin"}) {
        for (const char* architecture : {"sm_75", "sm_90"}) {
            const ProgramRun run = sums(file, {"--arch", architecture});
            expect_sums(run);
            EXPECT_THAT(run.out, HasSubstr(std::string("for ") + architecture));
        }
        const ProgramRun refused = sums(file);
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_THAT(refused.err, HasSubstr("holds code for sm_75, sm_90 and PTX of compute_90: "
                                           "--arch says which"));
    }
}

TEST_F(Sources, MachineCodeInHostObjects) {
    expect_sums(sums("host.o"));
    const ProgramRun run = run_program({"disassemble", stored + "host.o"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("sums for sm_75: "), HasSubstr("BAR.SYNC")));
    const ProgramRun plain = run_program({"disassemble", OCCUPIPE_PROGRAM});
    EXPECT_EQ(plain.exit_code, 2);
    EXPECT_THAT(plain.err, HasSubstr("is code for the host, with no CUDA code in it"));
}

TEST_F(Sources, RelocatableCode) {
    for (const char* file :
         {"constants.sm_75.cubin", "constants.sm_90.cubin", "constants.sm_120.cubin"})
        EXPECT_THAT(
            execute(stored + file, {"--grid", "1", "--block", "4", "--args", "a=i32[4] i32:2"}).out,
            HasSubstr("first 37 47 57 37;"));
    for (const char* file :
         {"relocatable.sm_75.cubin", "relocatable.sm_90.cubin", "relocatable.sm_120.cubin"})
        expect_sums(sums(file));
    // Variables of zeros, of which nothing is in the file, and a function that is no kernel.
    for (const char* file :
         {"variables.sm_75.cubin", "variables.sm_90.cubin", "variables.sm_120.cubin"}) {
        EXPECT_THAT(
            execute(stored + file, {"--grid", "1", "--block", "32", "--args", "a=i32[32]:iota"})
                .out,
            HasSubstr("first 131 130 129 128"));
        const ProgramRun listed = run_program({"list", "kernels", stored + file});
        EXPECT_THAT(listed.out, Not(HasSubstr("sum(Pair)")));
    }
}

TEST_F(Sources, ArchitecturesByName) {
    expect_sums(sums("linked.sm_103.cubin"));
    const ProgramRun run = run_program({"disassemble", stored + "linked.sm_87.cubin"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("machine code of sm_87, which is not read; known are sm_75"));
}

TEST_F(Sources, ListKernels) {
    ProgramRun run = run_program({"list", "kernels", stored + "zstd.fatbin"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("sums"), HasSubstr("sm_75, sm_90, PTX of compute_90")));
    const std::string source =
        written("k.cu",
                "#include <vector>\ntemplate <int N>\n__global__ void fill(float* a) {}\n"
                "__global__ void other(int n) {}\n");
    run = run_program({"list", "kernels", source, "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("\"name\": \"fill\""), HasSubstr("\"where\": \"line 3\""),
                               HasSubstr("\"template\": \"int N\""), HasSubstr("\"other\"")));
    run = run_program({"list", "kernels", stored + "dump.ptx"});
    EXPECT_THAT(run.out, HasSubstr("PTX for sm_75, PTX for sm_90"));
    EXPECT_EQ(run_program({"list", "kernels", stored + "record.sh"}).exit_code, 2);
}

TEST_F(Sources, RacesBetweenWarpsAreTold) {
    const Words launch = {"--grid", "2",      "--block",
                          "128",    "--args", "in=f32[128]:iota out=f32[128]"};
    ProgramRun run = execute(stored + "race.sm_75.cubin", launch);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err,
                HasSubstr("warning: broadcast: shared memory that one warp reads is written by "
                          "another with no barrier in between (race.cu:8 and 9)"));
    const ProgramRun again = execute(stored + "race.sm_75.cubin", launch);
    EXPECT_EQ(again.out, run.out);
    EXPECT_EQ(again.err, run.err);
    // One warp cannot race with itself, and barriers in between are none.
    run = execute(stored + "race.sm_75.cubin",
                  {"--grid", "1", "--block", "32", "--args", "in=f32[32]:iota out=f32[32]"});
    EXPECT_THAT(run.err, Not(HasSubstr("warning")));
    EXPECT_THAT(sums("relocatable.sm_75.cubin").err, Not(HasSubstr("warning")));
}

TEST_F(Sources, AssertionsAreToldAsAGpuDoes) {
    const ProgramRun run =
        execute(stored + "checks.sm_80.cubin",
                {"--grid", "1", "--block", "4", "--args", "a=i32[4]:values(1,2,3,-1) b=i32[4]"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("checks.cu:2: thread (3,0,0): assertion a[threadIdx.x] >= 0 "
                                   "failed\n"));
    EXPECT_THAT(run.err, HasSubstr("block: [0,0,0], thread: [3,0,0] Assertion `a[threadIdx.x] >= "
                                   "0` failed."));
    EXPECT_EQ(execute(stored + "checks.sm_80.cubin",
                      {"--grid", "1", "--block", "4", "--args", "a=i32[4]:ones b=i32[4]"})
                  .exit_code,
              0);
}

TEST_F(Sources, TexturesAreRefusedBeforehand) {
    for (const char* file : {"texture.sm_75.cubin", "texture.sm_120.cubin"}) {
        ProgramRun run = execute(stored + file, {"--kernel", "look", "--grid", "1", "--block", "32",
                                                 "--args", "out=f32[32] u64:0"});
        EXPECT_EQ(run.exit_code, 2);
        EXPECT_THAT(
            run.err,
            HasSubstr("kernel 'look': TEX, a texture fetch, is not executed (texture.cu:2)"));
        run = execute(stored + file,
                      {"--kernel", "paint", "--grid", "1", "--block", "32", "--args", "u64:0"});
        EXPECT_THAT(run.err,
                    HasSubstr("kernel 'paint': SUST, a write of a surface, is not executed"));
    }
}

TEST_F(Sources, RefusesFilesOfNoKind) {
    const std::string text = written("notes.txt", "no kernel\n");
    const ProgramRun run = execute(text, {"--grid", "1", "--block", "1"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("holds no machine code (a cubin, or what has one in it); source "
                                   "is named .cu, .cuh, .cl or .ptx"));
}

// From here on with a compiler; each says what it does without.
bool refused_without_compiler(const ProgramRun& run) {
    if (program_has_nvrtc()) return false;
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.err, HasSubstr("NVRTC"));
    return true;
}

TEST_F(SourcesCompiled, PtxAsCuobjdumpPrintsIt) {
    const Words launch = {"--arch",  "sm_75", "--grid", "4",
                          "--block", "64",    "--args", "in=f32[256]:ones out=f32[4] i32:256"};
    const ProgramRun run = execute(stored + "dump.ptx", launch);
    if (!program_has_nvrtc()) {
        EXPECT_EQ(run.exit_code, 1);
        EXPECT_THAT(run.err, HasSubstr("ptxas"));
        return;
    }
    expect_sums(run);
    EXPECT_EQ(run_program({"disassemble", stored + "dump.ptx", "--arch", "sm_75"}).exit_code, 0);
    expect_sums(execute(stored + "ptx.fatbin", launch));
}

TEST_F(SourcesCompiled, HeaderSuffix) {
    const std::string path =
        written("kernel.cuh", "__global__ void add(float* a) { a[threadIdx.x] += 1.f; }\n");
    const ProgramRun run =
        execute(path, {"--arch", "sm_75", "--grid", "1", "--block", "32", "--args", "a=f32[32]"});
    if (refused_without_compiler(run)) return;
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("from 1 to 1, mean 1"));
}

// Without nvcc as well: by NVRTC alone.
TEST_F(SourcesCompiled, NamesHeadersAndHostCode) {
    const std::string path = written("whole.cu", R"(
#include <stdio.h>
#include <stdlib.h>
#include <cstdint>
#include <cmath>
#include <vector>
#include "own.h"
#define CHECK(x) do { if ((x) != 0) { printf("no\n"); exit(EXIT_FAILURE); } } while (0)
using namespace std;
__global__ void row_max(const float* x, float* out, uint columns, uint32_t unused) {
    float best = -INFINITY;
    for (uint c = 0; c < columns; ++c) best = fmaxf(best, x[threadIdx.x * columns + c]);
    out[threadIdx.x] = best + own(0) + (FLT_HALF < M_PI ? 0.f : 1.f);
}
static void run(float* a, int n) { row_max<<<(n + 127) / 128, 128>>>(a, a, n, 0); }
int main(int argc, char** argv) {
    vector<float> host(4);
    CHECK(cudaDeviceSynchronize());
    run(nullptr, 4);
    return 0;
}
)");
    written("own.h",
            "#pragma once\n#define FLT_HALF 0.5f\n__host__ __device__ inline float own(int "
            "x) { return x; }\n");
    const Words launch = {"--arch",  "sm_75", "--grid", "1",
                          "--block", "8",     "--args", "x=f32[32]:iota out=f32[8] 4 0"};
    for (const Words& environment : {Words{}, Words{without_nvcc}}) {
        const ProgramRun run = execute(path, launch, environment);
        if (refused_without_compiler(run)) return;
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_THAT(run.out, HasSubstr("3 7 11 15"));
        EXPECT_THAT(run.err, HasSubstr("whole.cu: compiled by NVRTC "));
    }
}

TEST_F(SourcesCompiled, TemplatesAreInstantiated) {
    const std::string path = written("tile.cu",
                                     "template <int Width>\n__global__ void fill(float* "
                                     "a) {\n    a[threadIdx.x] = Width;\n}\n");
    const auto run_with = [&](const std::string& kernel, const Words& environment = {}) {
        Words words = {"--arch", "sm_75", "--grid", "1", "--block", "32", "--args", "a=f32[32]"};
        if (!kernel.empty()) words.insert(words.end(), {"--kernel", kernel});
        return execute(path, words, environment);
    };
    const ProgramRun run = run_with("fill<4>");
    if (refused_without_compiler(run)) return;
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("from 4 to 4, mean 4"));
    EXPECT_THAT(run_with("fill<2 + 5>").out, HasSubstr("from 7 to 7, mean 7"));
    for (const char* kernel : {"", "fill"}) {
        const ProgramRun refused = run_with(kernel, {without_nvcc});
        EXPECT_EQ(refused.exit_code, 2);
        EXPECT_THAT(refused.err,
                    HasSubstr("'fill' is a template (tile.cu:2: template <int Width>): --kernel "
                              "'fill<…>' makes an instance of it"));
    }
    const ProgramRun wrong = run_with("fill<float>");
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("there is no 'fill<float>'"));
}

TEST_F(SourcesCompiled, KernelsThatADefinitionOfTheBuildHides) {
    const std::string path =
        written("hidden.cu", "#ifdef USE_CUDA\n__global__ void k(int* a) { a[0] = 1; }\n#endif\n");
    const Words words = {"--arch", "sm_80", "--grid", "1", "--block", "1", "--args", "a=i32[1]"};
    const ProgramRun run = execute(path, words);
    if (refused_without_compiler(run)) return;
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("'k' (hidden.cu:2) is compiled only where #ifdef USE_CUDA (line "
                                   "1) holds (-DNAME defines"));
    Words defined = words;
    defined.emplace_back("-DUSE_CUDA");
    EXPECT_EQ(execute(path, defined).exit_code, 0);
}

// As programs, compilers and profilers write them, and in a folder with a blank.
TEST_F(SourcesCompiled, InstancesByAllTheirNames) {
    const std::string path = written("a folder/names.cu", R"(
namespace outer { namespace inner {
template <typename T, int N, bool F> __global__ void k(T* p) { p[0] = N + F; }
} }
template <typename T> struct V {
    T v;
    __device__ V& operator=(int value) { v = value; return *this; }
};
__global__ void same(int* p) { p[0] = 1; }
__global__ void same(int* p, int n) { p[0] = n; }
__global__ void sleeps(int* p) { __nanosleep(100); p[0] = 1; }
)");
    const auto run_kernel = [&](const std::string& kernel) {
        return execute(path, {"--arch", "sm_80", "--grid", "1", "--block", "1", "--args",
                              "p=i32[1]", "--kernel", kernel});
    };
    const ProgramRun first = run_kernel("sleeps");
    if (refused_without_compiler(first)) return;
    for (const char* kernel : {"k<int,4,true>", "inner::k<int, 4, (bool)1>",
                               "outer::inner::k<int,4,1>", "outer::inner::k<int,4,(bool)1>(int*)",
                               "void outer::inner::k<V<int>, (int)4, (bool)1>(V<int> *)"}) {
        const ProgramRun run = run_kernel(kernel);
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_THAT(run.out, HasSubstr(" 5")) << kernel;
    }
    EXPECT_THAT(run_kernel("same").err,
                HasSubstr("several kernels of " + path + " are called 'same': same(int*"));
    EXPECT_THAT(run_kernel("k").err, HasSubstr("'outer::inner::k' is a template (names.cu:3: "));
    EXPECT_THAT(run_program({"predict", path, "--profile", "a100", "--grid", "1", "--block", "1",
                             "--args", "p=i32[1]", "--kernel", "sleeps"})
                    .out,
                HasSubstr("a kernel sleeps (__nanosleep)"));
}

// A barrier, a store and a read of shared memory whose condition never holds.
TEST_F(SourcesCompiled, WhatNoLaneExecutesIsAnIssueSlot) {
    const std::string path = written("rare.cu", R"(
__global__ void k(float* out, int n, int rare) {
    __shared__ float shared[256];
    shared[threadIdx.x] = 0;
    float x = threadIdx.x, y = 1;
#pragma unroll 1
    for (int r = 0; r < n; ++r) {
        if ((r & 7) == (threadIdx.x >> 5)) {
#pragma unroll 1
            for (int k = 0; k < 32; ++k) y = y * 0.5f + x;
        }
#if WHAT == 1
        if (r == rare) __syncthreads();
#elif WHAT == 2
        if (r == rare) out[threadIdx.x * 32] = 1;
#elif WHAT == 3
        if (r == rare) y += shared[threadIdx.x * 32 & 255];
#else
        if (r == rare) y += n;
#endif
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}
)");
    const auto cycles = [&](int what) {
        const ProgramRun run = run_program({"predict", path, "--profile", "a100", "--grid", "108",
                                            "--block", "256", "--args", "out=f32[27648] 256 -1",
                                            "-DWHAT=" + std::to_string(what), "--json"});
        if (refused_without_compiler(run)) return 0.0;
        EXPECT_EQ(run.exit_code, 0) << run.err;
        return nlohmann::json::parse(run.out)["predictions"][0]["cycles"].get<double>();
    };
    const double plain = cycles(0);
    for (const int what : {1, 2, 3}) EXPECT_NEAR(cycles(what), plain, 0.15 * plain) << what;
}

TEST_F(SourcesCompiled, OptionsOfTheProject) {
    const std::string path = written(
        "src/k.cu", "#include \"wide.h\"\n__global__ void k(int* a) { a[0] = WIDTH + MORE; }\n");
    written("include/wide.h", "#define WIDTH 40\n");
    written(
        "compile_commands.json",
        "[{\"directory\": \"" + folder.path.string() +
            "\", \"file\": \"src/k.cu\", \"command\": \"nvcc -Iinclude -DMORE=2 -c src/k.cu\"}]");
    const ProgramRun run =
        execute(path, {"--arch", "sm_80", "--grid", "1", "--block", "1", "--args", "a=i32[1]"});
    if (refused_without_compiler(run)) return;
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("42"));
    // Without such a file the header is found beside the folders above.
    std::filesystem::remove(folder.path / "compile_commands.json");
    const ProgramRun found = execute(path, {"--arch", "sm_80", "--grid", "1", "--block", "1",
                                            "--args", "a=i32[1]", "--compiler-option", "-DMORE=2"});
    EXPECT_EQ(found.exit_code, 0) << found.err;
    EXPECT_THAT(found.err, HasSubstr("with -I" + (folder.path / "include").string()));
    // As a compiler is told.
    const ProgramRun alone =
        execute(path, {"--arch", "sm_80", "--grid", "1", "--block", "1", "--args", "a=i32[1]",
                       "-DMORE=2", "-I", (folder.path / "include").string()});
    EXPECT_EQ(alone.exit_code, 0) << alone.err;
    EXPECT_THAT(alone.out, HasSubstr("42"));
}

TEST_F(SourcesCompiled, HeadersOfOtherProjectsMayBeMissing) {
    const std::string path = written(
        "k.cu",
        "#include <no/such_header.h>\n__global__ void k(int* a) { a[0] = 3; }\nvoid run(no::"
        "Tensor t) { k<<<1, 1>>>(t.data()); }\n");
    const ProgramRun run =
        execute(path, {"--arch", "sm_80", "--grid", "1", "--block", "1", "--args", "a=i32[1]"});
    if (refused_without_compiler(run)) return;
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("headers that are not here are taken to be empty: "
                                   "no/such_header.h"));
}

TEST_F(SourcesCompiled, SaysTheFirstErrorAndHowToGetNvcc) {
    const std::string path =
        written("broken.cu", "#include <no_such_header.h>\n__global__ void k(Absent a) {}\n");
    const Words launch = {"--arch", "sm_80", "--grid", "1", "--block", "1"};
    const ProgramRun run = execute(path, launch, {without_nvcc});
    if (refused_without_compiler(run)) return;
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr("broken.cu: does not compile for sm_80: broken.cu(1): "));
    EXPECT_THAT(run.err, HasSubstr("\"no_such_header.h\""));
    EXPECT_THAT(run.err, HasSubstr("pip install nvidia-cuda-nvcc "));
    const ProgramRun with = execute(path, launch);
    EXPECT_EQ(with.exit_code, 2);
    EXPECT_THAT(with.err, HasSubstr("no_such_header.h"));
}

TEST_F(SourcesCompiled, NvccTakesWhatNvrtcDoesNot) {
    if (!has_nvcc()) GTEST_SKIP() << "nvcc is not here";
    const std::string path = written("whole.cu", R"(
#include <iostream>
#include <map>
template <typename T> __global__ void scale(T* a, T by) { a[threadIdx.x] *= by; }
struct Table { std::map<int, float> values; float at(int i) { return values[i]; } };
Table table;
int main() { scale<float><<<1, 32>>>(nullptr, table.at(1)); std::cout << "done\n"; }
)");
    scales_by_three(path, {"--arch", "sm_75", "--grid", "1", "--block", "32"},
                    HasSubstr("whole.cu: compiled by nvcc "));
}

TEST_F(SourcesCompiled, HostCodeThatDoesNotCompileIsLeftOut) {
    if (!has_nvcc()) GTEST_SKIP() << "nvcc is not here";
    const std::string path = written("old.cu", R"(
#include <map>
#include <no/such_header.h>
#include "own.h"
template <typename T> __global__ void scale(T* a, T by) {
    uint32_t i = threadIdx.x;
    a[i] *= by;
}
struct Table { std::map<int, float> values; no::Handle handle; float at(int i) { return handle[i]; } };
int main() {
    cudaDeviceProp properties;
    show(properties.noSuchMember);
    no::Handle handle = no::open();
    scale<float><<<1, 32>>>(nullptr, 1);
}
)");
    written("own.h", "#pragma once\ninline int own() { return no::such_function(); }\n");
    const Words launch = {"--arch", "sm_80", "--grid", "1", "--block", "32"};
    scales_by_three(path, launch,
                    AllOf(HasSubstr("code for the host that does not compile is left out: "),
                          HasSubstr("taken to be empty: no/such_header.h")));
    const std::string gone = written(
        "gone.cu", "gone<float> table;\n__global__ void k(float* a) { a[0] = fetch(table); }\n");
    EXPECT_THAT(execute(gone, launch).err,
                HasSubstr("; without code for the host that is wrong: "));
    const std::string broken =
        written("broken.cu", "#include <no/such_header.h>\n__global__ void k(no::Such a) {}\n");
    EXPECT_THAT(execute(broken, launch).err,
                AllOf(HasSubstr("no/such_header.h: No such file"),
                      HasSubstr("with an empty file in its place: "), HasSubstr("name followed by"),
                      HasSubstr("; -IFOLDER says where no/such_header.h is")));
    const std::string defined_elsewhere =
        written("tuned.cu", "__global__ void k(float* a) { a[0] = TILE; }\n");
    EXPECT_THAT(execute(defined_elsewhere, launch).err,
                HasSubstr("identifier \"TILE\" is undefined; -DTILE=VALUE, if it is the build "));
}

}  // namespace
}  // namespace occupipe::cli
