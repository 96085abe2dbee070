// SPDX-License-Identifier: MIT
// Machine code in sweeps: rows against `occupipe predict`, one by one.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/command.h"
#include "tests/cli/sweep_rows.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using test::occupipe;
using test::Outcome;
using test::TemporaryFolder;
using ::testing::HasSubstr;

const std::string kernels = test::source + "/tests/kernels/";
const std::string recorded = kernels + "recorded/sm_75/";
const std::string saxpy = recorded + "saxpy.cubin";
const std::string head = "format: occupipe-sweep/1\n";
// What the papers' profiles lack of saxpy.
const std::string use =
    "use: {setp.lt.s32: mul.f32, mad.wide.u32: mul.f32, st.global.f32: ld.global.s32}\n";
const std::vector<std::string> uses = {"--use", "setp.lt.s32=mul.f32",
                                       "--use", "mad.wide.u32=mul.f32",
                                       "--use", "st.global.f32=ld.global.s32"};

std::string arguments_of(const std::string& n) {
    return fmt::format("x=f32[{0}]:iota y=f32[{0}] out=f32[{0}] f32:2.5 i32:{0}", n);
}

std::vector<Row> rows_of(const std::string& text, const std::string& limit = "50000") {
    const TemporaryFolder folder;
    const std::string spec = write(folder.path / "s.yaml", text);
    const std::string rows = (folder.path / "rows.csv").string();
    std::vector<std::string> arguments = {"sweep", spec, "-o", rows, "--limit", limit};
    const Outcome run = occupipe(arguments);
    EXPECT_EQ(run.code, 0) << run.err << text;
    return run.code == 0 ? table(rows) : std::vector<Row>();
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// Grid, block and arguments as ranges; other groups at once than the code's own; changed GPUs.
TEST(SweepCode, RowsAreWhatPredictSays) {
    const std::vector<Row> all =
        rows_of(head + "kernels:\n  - code: " + saxpy +
                "\n    kernel: saxpy\n    grid: ${g}\n    block: ${threads}\n    args: " +
                arguments_of("${n}") +
                "\n    with: {g: [3, 40], threads: {from: 64, to: 128, step: 64}, n: 2000}\n"
                "profiles: [rtx-2070, gtx-1060]\nmodels: [roofline, pipeline]\n" +
                use +
                "set: {cores: [4, 30]}\n"
                "launches: [{}, {concurrent_groups: [1, 3]}, {groups: 7}]\n");
    ASSERT_EQ(all.size(), 2U * 2 * 2 * 2 * 4 * 2);
    std::set<std::string> cycles;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Row& row = all[i];
        EXPECT_EQ(row.at("row"), std::to_string(i));
        EXPECT_EQ(row.at("kernel"), saxpy);
        cycles.insert(row.at("cycles"));
        if (i % 3 != 0) continue;
        std::vector<std::string> further =
            joined({"--kernel", "saxpy", "--grid", row.at("g"), "--block", row.at("threads"),
                    "--args", arguments_of(row.at("n"))},
                   uses);
        const std::size_t launch = i / 2 % 4;
        if (launch == 1 || launch == 2)
            further = joined(further, {"--concurrent-groups", launch == 1 ? "1" : "3"});
        if (launch == 3) further = joined(further, {"--groups", "7"});
        expect_as_predicted(row, {"cores"}, saxpy, further);
    }
    EXPECT_GT(cycles.size(), 20U);  // the parameters do decide
}

// A launch file with a parameter in it; a limit that ends the execution; the memory not priced.
TEST(SweepCode, ALaunchFileMayHaveParameters) {
    const TemporaryFolder folder;
    const std::string launch =
        "occupipe_launches: 1\nbuffers:\n"
        "  x: {type: f32, count: ${n}, fill: {random: [-1, 1], seed: 1}}\n"
        "  y: {type: f32, count: ${n}, fill: iota}\n  out: {type: f32, count: ${n}, fill: zeros}\n"
        "launches:\n  - kernel: saxpy\n    grid: [${g}, 1, 1]\n    block: [96, 1, 1]\n"
        "    arguments: [{buffer: x}, {buffer: y}, {buffer: out}, {f32: 2.5}, {i32: ${n}}]\n";
    write(folder.path / "launch.yaml", launch);
    const std::string with = "    with:\n      - {n: 700, g: 8}\n      - {n: 150000, g: 1563}\n";
    for (const std::string memory : {"none", "per-access"}) {
        const std::string spec =
            write(folder.path / "s.yaml",
                  head + "kernels:\n  - saxpy\n  - name: axpy\n    code: " + saxpy +
                      "\n    launch: launch.yaml\n    step: 1\n    classes: 3\n    sample: all\n" +
                      with + "profiles: rtx-2070\n" + use + "memory: " + memory + "\n");
        const std::string rows = (folder.path / ("rows-" + memory + ".csv")).string();
        const Outcome run = occupipe({"sweep", spec, "-o", rows, "--limit", "50000"});
        ASSERT_EQ(run.code, 0) << run.err;
        const std::vector<Row> all = table(rows);
        ASSERT_EQ(all.size(), 3U);
        EXPECT_EQ(all[0].at("n"), "");
        EXPECT_NE(all[0].at("cycles"), "");
        EXPECT_EQ(all[2].at("refused"), "no answer within --limit 50000");
        for (std::size_t i = 1; i < 3; ++i) {
            std::string text = launch;
            for (const auto& [name, value] :
                 {std::pair("${n}", all[i].at("n")), std::pair("${g}", all[i].at("g"))})
                for (std::size_t at; (at = text.find(name)) != std::string::npos;)
                    text.replace(at, 4, value);
            const std::string file = write(folder.path / "filled.yaml", text);
            expect_as_predicted(
                all[i], {}, saxpy,
                joined({"--launch", file, "--classes", "3", "--sample", "all", "--memory", memory},
                       uses));
        }
    }
}

// Warps of several classes, barriers and shared memory; code of another architecture than the GPU.
TEST(SweepCode, KernelsOfManyKinds) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> lacking = {
        {"reduction",
         {"mad.wide.u32", "setp.lt.s32", "shf.l.wrap.b32", "shfl.sync.down.b32", "st.shared.u32"}},
        {"transpose",
         {"add.s32", "mad.wide.u32", "setp.lt.s32", "shf.l.wrap.b32", "st.shared.u32"}}};
    for (const auto& [name, ops] : lacking) {
        const std::string launch = kernels + name + ".yaml";
        const std::string code = recorded + name + ".cubin";
        const std::string limit = "100000000";
        std::string list;
        std::vector<std::string> further = {"--launch", launch};
        for (const std::string& op : ops) {
            list += (list.empty() ? "" : ", ") + op + ": fma.f32";
            further = joined(further, {"--use", op + "=fma.f32"});
        }
        const std::vector<Row> all =
            rows_of(head + "kernels: {code: " + code + ", launch: " + launch +
                        "}\nprofiles: [rtx-2070, tesla-c2050]\nmodels: [pipeline, volkov]\nuse: {" +
                        list + "}\n",
                    limit);
        ASSERT_EQ(all.size(), 4U);
        for (const Row& row : all) expect_as_predicted(row, {}, code, further, limit);
        EXPECT_NE(all[0].at("cycles"), "") << all[0].at("refused");
    }
}

// A constant of CUDA source as a parameter; code of each profile's architecture.
TEST(SweepCode, SourceIsCompiledForEachProfile) {
    if (!testing::program_has_nvrtc()) GTEST_SKIP() << testing::no_nvrtc;
    const TemporaryFolder folder;
    const std::string code =
        write(folder.path / "fill.cu",
              "extern \"C\" __global__ void fill(float* out) {\n  float a = out[threadIdx.x];\n"
              "#pragma unroll\n  for (int i = 0; i < TILE; ++i) a = fmaf(a, 1.5f, 2.5f);\n"
              "  out[threadIdx.x] = a;\n}\n");
    const std::string args = "out=f32[64]:iota";
    const std::vector<Row> all =
        rows_of(head + "kernels:\n  - {code: " + code +
                ", kernel: fill, grid: 2, block: 64, args: \"" + args +
                "\", compiler_options: \"-DTILE=${tile}\", with: {tile: [2, 5, none]}}\n"
                "profiles: [rtx-2070]\nmodels: [pipeline]\n" +
                "use: {mad.wide.u32: mul.f32, st.global.f32: ld.global.s32}\n");
    ASSERT_EQ(all.size(), 3U);
    for (std::size_t i = 0; i < 2; ++i) {
        expect_as_predicted(all[i], {}, code,
                            {"--kernel", "fill", "--grid", "2", "--block", "64", "--args", args,
                             "--compiler-option", "-DTILE=" + all[i].at("tile"), "--use",
                             "mad.wide.u32=mul.f32", "--use", "st.global.f32=ld.global.s32"});
        EXPECT_EQ(all[i].at("refused"), "");
    }
    EXPECT_NE(all[0].at("cycles"), all[1].at("cycles"));
    EXPECT_THAT(all[2].at("refused"), HasSubstr("does not compile"));
}

TEST(SweepCode, ThreadsShardsAndInterruptionsDoNotChangeAByte) {
    const TemporaryFolder folder;
    const std::string spec = write(
        folder.path / "s.yaml",
        head + "kernels:\n  - code: " + saxpy +
            "\n    kernel: saxpy\n    grid: ${g}\n    block: 64\n    args: " + arguments_of("500") +
            "\n    with: {g: {from: 1, to: 12}}\n" +
            "profiles: [rtx-2070, gtx-1060]\nmodels: [roofline, pipeline]\n" + use +
            "launches: {concurrent_groups: [1, 2, 5]}\n");
    const auto path = [&](const std::string& name) { return (folder.path / name).string(); };
    ASSERT_EQ(occupipe({"sweep", spec, "-o", path("1.csv"), "--threads", "1"}).code, 0);
    const std::string whole = read_text_file(path("1.csv"));
    EXPECT_EQ(table(path("1.csv")).size(), 12U * 2 * 3 * 2);
    ASSERT_EQ(occupipe({"sweep", spec, "-o", path("3.csv"), "--threads", "3"}).code, 0);
    EXPECT_TRUE(read_text_file(path("3.csv")) == whole);
    for (const std::string i : {"1", "2"})
        ASSERT_EQ(occupipe({"sweep", spec, "-o", path("s" + i + ".csv"), "--shard", i + "/2"}).code,
                  0);
    ASSERT_EQ(
        occupipe({"sweep", "--join", path("s1.csv"), path("s2.csv"), "-o", path("all.csv")}).code,
        0);
    EXPECT_TRUE(read_text_file(path("all.csv")) == whole);
    std::filesystem::resize_file(path("3.csv"), whole.size() / 3);
    ASSERT_EQ(occupipe({"sweep", spec, "-o", path("3.csv")}).code, 0);
    EXPECT_TRUE(read_text_file(path("3.csv")) == whole);
}

// Rows of another content must not be gone on with.
TEST(SweepCode, ChangedInputIsAnotherSweep) {
    const TemporaryFolder folder;
    std::filesystem::copy_file(saxpy, folder.path / "k.cubin");
    write(folder.path / "x.bin", std::string(2000, '\0'));
    const auto spec_with = [&](const std::string& args) {
        return write(folder.path / "s.yaml",
                     head + "kernels: {code: k.cubin, kernel: saxpy, grid: 2, block: 64, args: \"" +
                         args + "\"}\nprofiles: rtx-2070\nmodels: roofline\n" + use);
    };
    const std::string spec =
        spec_with("x=f32[500]:file(x.bin) y=f32[500] out=f32[500] f32:2.5 i32:500");
    const std::string rows = (folder.path / "rows.csv").string();
    ASSERT_EQ(occupipe({"sweep", spec, "-o", rows}).code, 0);
    EXPECT_EQ(occupipe({"sweep", spec, "-o", rows}).code, 0);
    write(folder.path / "x.bin", std::string(2000, '\1'));
    EXPECT_THAT(occupipe({"sweep", spec, "-o", rows}).err, HasSubstr("of files that have changed"));
    write(folder.path / "x.bin", std::string(2000, '\0'));
    EXPECT_EQ(occupipe({"sweep", spec, "-o", rows}).code, 0);
    std::filesystem::copy_file(kernels + "recorded/sm_80/saxpy.cubin", folder.path / "k.cubin",
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(occupipe({"sweep", spec, "-o", rows}).code, 2);
}

// It was passed over: no row said that nothing took the other's numbers.
TEST(SweepCode, AUseOfAnOpThatNoCodeHasIsRefused) {
    const TemporaryFolder folder;
    const std::string code = head + "kernels:\n  - {code: " + saxpy +
                             ", kernel: saxpy, grid: 1, block: 32, args: \"" + arguments_of("32") +
                             "\"}\nprofiles: rtx-2070\nmodels: roofline\n";
    const std::string wrong = write(folder.path / "s.yaml", code + "use: {setp.lt.s23: mul.f32}\n");
    expect_refused(wrong, ":6:20: use: no kernel has the op 'setp.lt.s23'; near: setp.lt.s32");
    const std::string right = write(folder.path / "t.yaml", code + use);
    EXPECT_EQ(occupipe({"sweep", right, "--dry-run"}).err, "");
}

// A parameter may take the op away from some of the launches.
TEST(SweepCode, AUseOfAnOpThatSomeCodeHasIsWarnedOf) {
    const TemporaryFolder folder;
    const std::string spec = write(
        folder.path / "s.yaml",
        head + "kernels:\n  - {code: " + saxpy + ", kernel: saxpy, grid: 1, block: 32, args: \"" +
            arguments_of("32") + "\"}\n  - mix\nprofiles: rtx-2070\nmodels: roofline\n" + use);
    const Outcome run = occupipe({"sweep", spec, "--count"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("use: 1 of 2 combinations of kernel, parameters and profile "
                                   "have the op 'setp.lt.s32'"));
}

struct BadCode {
    const char* name;
    const char* text;  // of `kernels`, with saxpy.cubin in CODE
    const char* says;
};

class BadSweepCode : public ::testing::TestWithParam<BadCode> {};

TEST_P(BadSweepCode, GetsFileLineAndKey) {
    const TemporaryFolder folder;
    std::string text = head + "profiles: rtx-2070\nkernels:\n" + GetParam().text;
    for (std::size_t at; (at = text.find("CODE")) != std::string::npos;) text.replace(at, 4, saxpy);
    write(folder.path / "l.yaml", "occupipe_launches: 1\nlaunches: []\n");
    const std::string spec = write(folder.path / "s.yaml", text);
    expect_refused(spec, GetParam().says);
}

#define LAUNCHED "kernel: saxpy, grid: 1, block: 32"
INSTANTIATE_TEST_SUITE_P(
    Kernels, BadSweepCode,
    ::testing::Values(
        BadCode{"NotLaunched", "  - saxpy.cubin\n", ":4:5: kernels[0]: how is it launched?"},
        BadCode{"NoGrid", "  - {code: CODE, block: 32}\n", "grid is missing"},
        BadCode{"NoCode", "  - {grid: 2, block: 32}\n", "code is missing"},
        BadCode{"Both", "  - {code: CODE, launch: l.yaml, grid: 2}\n", "is in the launch file"},
        BadCode{"Key", "  - {code: CODE, " LAUNCHED ", blocks: 3}\n", "blocks: unknown key"},
        BadCode{"NotCode", "  - {code: saxpy.yaml, " LAUNCHED "}\n",
                "must be one of .cu, .cl, .ptx"},
        BadCode{"NoSuchFile", "  - {code: no.cubin, " LAUNCHED "}\n", "no.cubin"},
        BadCode{"NoSuchKernel", "  - {code: CODE, kernel: saxpi, grid: 1, block: 32}\n", "saxpi"},
        BadCode{"NoSuchLaunch", "  - {code: CODE, launch: m.yaml}\n", "m.yaml"},
        BadCode{"LaunchesNothing", "  - {code: CODE, launch: l.yaml}\n", "launches"},
        BadCode{"Block", "  - {code: CODE, kernel: saxpy, grid: 1, block: 2048}\n",
                "x is at most 1024"},
        BadCode{"Step", "  - {code: CODE, " LAUNCHED ", step: 0}\n", "step: "},
        BadCode{"Sample", "  - {code: CODE, " LAUNCHED ", sample: some}\n", "sample: "},
        BadCode{"UnknownParameter", "  - {code: CODE, kernel: saxpy, grid: \"${g}\", block: 32}\n",
                "'${g}' is not a parameter"},
        BadCode{"UnusedParameter", "  - {code: CODE, " LAUNCHED ", with: {g: [1, 2]}}\n",
                "'g' is used nowhere"},
        BadCode{"ParameterOfAColumn", "  - {code: CODE, " LAUNCHED ", with: {groups: 1}}\n",
                "with.groups: is the name of something else"},
        BadCode{"ParameterName", "  - {code: CODE, " LAUNCHED ", with: {a-b: 1}}\n",
                "letters, digits and _"},
        BadCode{"OtherParameters", "  - {code: CODE, " LAUNCHED ", with: [{a: 1}, {b: 1}]}\n",
                "the same parameters in the same order: a"},
        BadCode{"TooMany", "  - {code: CODE, " LAUNCHED ", with: {a: {from: 1, to: 10001}}}\n",
                "more than 10000"},
        BadCode{"Duplicate", "  - {code: CODE, " LAUNCHED "}\n  - {code: CODE, " LAUNCHED "}\n",
                "'name' tells them apart"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace occupipe::cli
