// SPDX-License-Identifier: MIT
// Every kind of input that `occupipe execute` refuses: exit code 2 (4 where a limit was set), one
// message on stderr, nothing on stdout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/isa/make_cubin.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using cli::testing::ProgramRun;
using cli::testing::run_program;
using ::testing::HasSubstr;

const std::string faults = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/cli/faults/faults.cubin";

constexpr const char* good_launch =
    "occupipe_launches: 1\n"
    "buffers:\n"
    "  x: {type: f32, count: 64, fill: ones}\n"
    "  y: {type: f32, count: 64, fill: zeros}\n"
    "launches:\n"
    "  - {kernel: saxpy, grid: 1, block: 64, arguments: [{buffer: x}, {buffer: y}, {f32: 2}, "
    "{i32: 64}]}\n"
    "check: [y]\n";

struct Refusal {
    const char* name;
    // Words after "execute"; FAULTS is the machine code, DIR the folder of the files below.
    std::vector<std::string> words;
    const char* message;
    int exit_code = 2;
    // In the good launch file, DIR/l.yaml.
    const char* from = "";
    const char* to = "";
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.message; }

// A launch of one kernel on the command line.
std::vector<std::string> one(const std::string& kernel, const std::string& grid,
                             const std::string& block, const std::string& arguments,
                             const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"FAULTS",  "--kernel", kernel,   "--grid", grid,
                                      "--block", block,      "--args", arguments};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

const std::vector<std::string> launch = {"FAULTS", "--launch", "DIR/l.yaml"};

std::vector<std::string> launch_and(const std::vector<std::string>& more) {
    std::vector<std::string> words = launch;
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<Refusal> of_the_command_line() {
    return {
        {"NoKernels",
         {"--grid", "1", "--block", "32"},
         "which kernels? name a .cu, .cl, .ptx or .cubin"},
        {"NoLaunch", {"FAULTS"}, "how is it launched? --launch FILE, or --grid and --block"},
        {"NoSuchFile",
         {"DIR/none.cubin", "--grid", "1", "--block", "1"},
         "none.cubin: cannot read: No such file or directory"},
        {"NoSuchFileAndNoLaunch",
         {"DIR/none.cubin"},
         "none.cubin: cannot read: No such file or directory"},
        {"OneOptionTwice",
         {"FAULTS", "--grid", "1", "--grid", "2"},
         "--grid: takes one value, 2 are given"},
        {"NoSuchLaunchFile",
         {"FAULTS", "--launch", "DIR/none.yaml"},
         "none.yaml: cannot read: No such file or directory"},
        {"BothLaunches", launch_and({"--grid", "1"}),
         "--grid, --block, --shared-bytes and --args describe a launch themselves"},
        {"UnknownArchitecture",
         {"DIR/k.cu", "--arch", "sm_70", "--grid", "1", "--block", "1"},
         "--arch sm_70: is not an architecture that is executed; known are sm_75, 80"},
        {"NoArchitecture",
         {"DIR/k.cu", "--grid", "1", "--block", "1"},
         "k.cu: --arch sm_NN says what to compile it for"},
        {"OtherArchitecture", launch_and({"--arch", "sm_80"}),
         "faults.cubin: is machine code of sm_90, not of sm_80"},
        {"CompilerOption", launch_and({"--compiler-option", "-G"}),
         "faults.cubin: is compiled already; --compiler option is for source"},
        {"ZeroGrid", one("saxpy", "0", "32", ""),
         "--grid 0: expected one to three whole numbers of at least 1"},
        {"FourDimensions", one("saxpy", "1,1,1,1", "32", ""),
         "--grid 1,1,1,1: expected one to three whole numbers"},
        {"TallGrid", one("saxpy", "1,70000", "32", ""), "--grid 1,70000: y is at most 65535"},
        {"LargeBlock", one("saxpy", "1", "64x32", ""),
         "--block 64x32: 2048 threads; a group has at most 1024"},
        {"MuchSharedMemory", one("saxpy", "1", "32", "", {"--shared-bytes", "999999"}),
         "--shared-bytes: Value 999999 not in range"},
        {"WrongLimit", launch_and({"--limit", "soon"}),
         "--limit soon: expected a positive number of warp-instructions, such as 1000000, or of "
         "seconds"},
        {"NoThreads", launch_and({"--threads", "0"}), "--threads: Value 0 not in range"},
        {"UnknownOption", launch_and({"--cores", "2"}), "unexpected argument '--cores'"},
        {"OutputWithoutName", launch_and({"--output", "y.bin"}),
         "--output y.bin: expected NAME=FILE"},
        {"OutputOfNoBuffer", launch_and({"--output", "z=DIR/z.bin"}),
         "no buffer 'z'; near: x, y; there are x, y"},
        {"OutputThatExists", launch_and({"--output", "y=DIR/k.cu"}),
         "k.cu: exists already; --force replaces it"},
        {"OutputOverInput", launch_and({"--force", "--output", "y=DIR/l.yaml"}),
         "l.yaml, which is read (--launch); choose another name"},
        {"CheckOfNoBuffer", launch_and({"--check-against", "why=DIR/k.cu"}), "no buffer 'why'"},
        {"CheckOfOtherSize", launch_and({"--check-against", "y=DIR/k.cu"}),
         "k.cu: 34 bytes to compare buffer 'y' with, which has 256"},
        {"CheckThatIsNotThere", launch_and({"--check-against", "y=DIR/none.bin"}),
         "none.bin: cannot read: No such file or directory"},
        {"ToleranceOfNothing", launch_and({"--tolerance", "relative=1e-3"}),
         "--tolerance is of --check-against, which is missing"},
        {"CheckWithoutName",
         one("saxpy", "1", "32", "x=f32[32] y=f32[32] f32:1 i32:32",
             {"--check-against", "DIR/k.cu"}),
         "which buffer? write NAME="},
        {"WrongPattern", one("saxpy", "1", "32", "x=f32[32]:onse"),
         "--args: 'f32[32]:onse': 'onse' is not one of zeros, ones, iota"},
        {"UnknownWord", one("saxpy", "1", "32", "x=f32[32] z"),
         "--args: 'z': neither a number nor a buffer named before"},
    };
}

std::vector<Refusal> of_files() {
    return {
        {"UnknownKernel", one("saxpi", "1", "32", ""), "faults.cubin; near: saxpy"},
        {"UnknownKernelInTheFile", launch, "/faults.cubin; near: saxpy", 2, "kernel: saxpy",
         "kernel: saxpi"},
        {"WhichKernel",
         {"FAULTS", "--grid", "1", "--block", "32"},
         "/faults.cubin? --kernel NAME; there are: "},
        {"MissingArgument", launch,
         "l.yaml:6:5: kernel 'saxpy': it takes 4 parameters, and 3 arguments are given; missing is "
         "parameter 3 (4 bytes)",
         2, ", {i32: 64}]", "]"},
        {"ArgumentTooMany", launch, "it takes 4 parameters, and 5 arguments are given", 2,
         "{i32: 64}]", "{i32: 64}, {i32: 1}]"},
        {"ArgumentOfOtherSize", launch,
         "kernel 'saxpy': argument 2: f64 (8 bytes) does not fit parameter 2 (4 bytes)", 2,
         "{f32: 2}", "{f64: 2}"},
        {"BufferForANumber", launch,
         "argument 2: the address of a buffer (8 bytes) does not fit parameter 2 (4 bytes)", 2,
         "{f32: 2}", "{buffer: x}"},
        {"NumberOfUnknownType", one("saxpy", "1", "32", "x=f32[32] y=f32[32] 2 i32:32"),
         "argument 2: of parameter 2 (4 bytes) only the size is known; write the type, such as "
         "i32:2"},
        {"StructOfOtherSize", one("takes_struct", "1", "32", "bytes:00ff"),
         "argument 0: bytes (2 bytes) does not fit parameter 0 (16 bytes)"},
        {"LocalMemoryOfAnotherSize", one("takes_struct", "1", "32", "local:16"),
         "argument 0: local memory (8 bytes) does not fit parameter 0 (16 bytes)"},
        {"TooMuchLocalMemory", one("takes_local", "1", "32", "local:200000 local:100000 i32[32]"),
         "bytes of dynamic shared memory; at most 232448"},
        {"OutsideOfLocalMemory", one("takes_local", "1", "32", "local:128 local:64 i32[32]"),
         "thread (16,0,0): writes 4 bytes at 0x4c0 of the group's shared memory, which reaches "
         "from 0x400 to 0x4c0"},
        {"UnknownBuffer", launch, "launches[0].arguments[0].buffer: no buffer 'z'; near: x, y", 2,
         "{buffer: x}", "{buffer: z}"},
        {"UnknownKey", launch, "launches[0].gird: unknown key; known here: kernel, grid", 2,
         "kernel: saxpy, grid: 1", "gird: 1, kernel: saxpy"},
        {"UnknownSymbol", launch,
         "symbols.weigths: the machine code has no such variable; near: weights", 2, "launches:\n",
         "symbols: {weigths: {type: f32, count: 3}}\nlaunches:\n"},
        {"SymbolTooSmall", launch, "symbols.weights: the variable has 12 bytes, and 16 are given",
         2, "launches:\n", "symbols: {weights: {type: f32, count: 4}}\nlaunches:\n"},
        {"ContentsOfOtherSize", launch, "64 elements of f32 are 256", 2, "fill: ones",
         "fill: {file: k.cu}"},
        {"NoContents", launch, "none.bin: cannot read: No such file", 2, "fill: ones",
         "fill: {file: none.bin}"},
        {"NotYaml", launch, "l.yaml:", 2, "occupipe_launches: 1", "[1, 2"},
        {"NoMachineCode",
         {"DIR/l.yaml", "--grid", "1", "--block", "32"},
         "holds no machine code (a cubin, or what has one in it); source is named .cu, .cuh"},
        {"TruncatedCubin",
         {"DIR/short.cubin", "--grid", "1", "--block", "32"},
         "short.cubin: not a usable cubin: "},
        {"OldArchitecture",
         {"DIR/old.cubin", "--grid", "1", "--block", "32"},
         "old.cubin: machine code of sm_70, which is not read; known are sm_75"},
    };
}

std::vector<Refusal> of_execution() {
    return {
        {"UnknownOpcode",
         {"DIR/unknown.cubin", "--grid", "1", "--block", "32", "--args",
          "bytes:0000000000000000 i32:0"},
         "no such opcode: 0x1fe"},
        {"ReadOutsideABuffer", one("reads_outside", "2", "64", "x=f32[128] y=f32[128] i32:100"),
         "kernel 'reads_outside', 0x00b0 LDG.E R3, desc[UR4][R2.64] (faults.cu:15), group (0,0,0), "
         "thread (28,0,0): reads 4 bytes at "},
        {"WriteOutsideABuffer", one("writes_outside", "1", "32", "y=f32[32] i32:2"),
         "(faults.cu:19), group (0,0,0), thread (16,0,0): writes 4 bytes at "},
        {"AtomicOutsideABuffer", one("adds_outside", "1", "32", "y=i32[32] i32:5"),
         "(faults.cu:23), group (0,0,0), thread (27,0,0): changes 4 bytes at "},
        {"ReadOfNothing", one("reads_outside", "1", "32", "u64:0 y=f32[32] i32:0"),
         "reads 4 bytes at 0x0"},
        {"MisalignedRead", one("misaligned", "1", "32", "x=u8[64] y=f32[32]"),
         "(faults.cu:27), group (0,0,0), thread (1,0,0): reads 4 bytes at "},
        {"OutsideOfSharedMemory",
         one("shared_outside", "1", "32", "y=f32[32] i32:3", {"--shared-bytes", "128"}),
         "(faults.cu:32), group (0,0,0), thread (11,0,0): writes 4 bytes at 0x484 of the group's "
         "shared memory"},
        {"Spinning", one("spins", "1", "32", "f=i32[1] y=i32[1]"),
         "the group goes in circles: it waits in a loop for a change that only a later group, or "
         "none, could make"},
        {"WaitingForALaterGroup",
         one("waits_for_later_group", "2", "32", "f=i32[1]", {"--threads", "1"}),
         "kernel 'waits_for_later_group', "},
        {"WaitingForALaterGroupBesideIt",
         one("waits_for_later_group", "2", "32", "f=i32[1]", {"--threads", "4"}),
         "group (0,0,0), thread (0,0,0): the group goes in circles: it waits in a loop for a "
         "change that only a later group, or none, could make"},
        {"WaitingForALaterGroupAtBarriers",
         one("waits_at_barriers", "2", "32", "f=i32[1]", {"--threads", "4"}),
         "the group goes in circles: it waits in a loop for a change that only a later group"},
        {"GroupThatNeverComesToTheGridsBarrier",
         one("leaves_the_grid", "4", "64", "o=u32[4]", {"--limit", "20s"}),
         "group (0,0,0), thread (0,0,0): the group goes in circles: it waits in a loop for a "
         "change that no group that is still at work could make"},
        {"TooManyGroupsForTheGridsBarrier", one("leaves_the_grid", "8193", "64", "o=u32[8193]"),
         "'leaves_the_grid': it asks for a barrier of the grid, of 8193 groups; no device holds "
         "more than 8192 at once"},
        {"OutsideOfAVariable", one("counts", "1", "32", "i32:16"),
         "bytes past the end of variable 'histogram' (64 bytes from"},
        {"BarrierThatNotAllReach", one("half_at_barrier", "1", "64", "y=i32[64]"),
         "(faults.cu:58), group (0,0,0), thread (0,0,0): waits at barrier 1 for 64 threads; 32 "
         "arrived"},
        {"TwoBarriers", one("different_barriers", "1", "64", "y=i32[64]"),
         "waits at barrier 1 for 64 threads; 32 arrived"},
        {"Trap", one("traps", "1", "32", "y=i32[64] i32:7"),
         "(faults.cu:72), group (0,0,0), thread (0,0,0): the kernel stops itself"},
        {"SharedMemoryOfAGroup",
         one("holds_much_shared", "1", "32", "y=f32[64]", {"--shared-bytes", "200000"}),
         "'holds_much_shared': a group needs "},
        {"RegistersOfAGroup", one("needs_registers", "1", "1024", "x=f32[4096] y=f32[4096]"),
         "registers; one on sm_90 can have 65536"},
        {"StepBudget", one("never_ends", "1", "32", "y=i32[32]", {"--limit", "100000"}),
         "kernel 'never_ends': more than the 100000 warp-instructions that it may take", 4},
        {"TimeLimit", one("never_ends", "1", "32", "y=i32[32]", {"--limit", "0.2s"}),
         "no end after 0.2 s (--limit): launch 1 of 1 (never_ends), 0 of 1 groups", 4},
    };
}

class ExecuteRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(ExecuteRefuses, WithOneClearMessage) {
    const Refusal& refusal = GetParam();
    const test::TemporaryFolder folder;
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.path / name, std::ios::binary) << text;
    };
    std::string text = good_launch;
    if (refusal.from[0] != '\0') {
        const std::size_t at = text.find(refusal.from);
        ASSERT_NE(at, std::string::npos);
        text.replace(at, std::string(refusal.from).size(), refusal.to);
    }
    write("l.yaml", text);
    write("k.cu", "extern \"C\" __global__ void k() {}\n");
    write("short.cubin", read_text_file(faults).substr(0, 5000));
    test::MadeCubin made;
    made.code = {{0x00000000000071fe, 0}};
    write("unknown.cubin", made.bytes());
    made.architecture = 70;
    write("old.cubin", made.bytes());

    std::vector<std::string> words = {"execute"};
    for (std::string word : refusal.words) {
        if (word == "FAULTS") word = faults;
        if (const std::size_t at = word.find("DIR"); at != std::string::npos)
            word.replace(at, 3, folder.path.string());
        words.push_back(word);
    }
    const ProgramRun run = run_program(words);
    EXPECT_EQ(run.exit_code, refusal.exit_code) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr(refusal.message));
    // One line, but for notes and progress before it.
    std::vector<std::string> lines;
    std::size_t begin = 0;
    while (begin < run.err.size()) {
        const std::size_t end = std::min(run.err.find('\n', begin), run.err.size());
        lines.push_back(run.err.substr(begin, end - begin));
        begin = end + 1;
    }
    std::erase_if(lines, [](const std::string& line) {
        return line.starts_with("occupipe: note:") ||
               line.find(" s: launch 1 of 1 (") != std::string::npos;
    });
    ASSERT_EQ(lines.size(), 1U) << run.err;
    EXPECT_TRUE(lines[0].starts_with("occupipe")) << lines[0];
}

std::string name_of(const ::testing::TestParamInfo<Refusal>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(CommandLine, ExecuteRefuses, ::testing::ValuesIn(of_the_command_line()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Files, ExecuteRefuses, ::testing::ValuesIn(of_files()), name_of);
INSTANTIATE_TEST_SUITE_P(Execution, ExecuteRefuses, ::testing::ValuesIn(of_execution()), name_of);

}  // namespace
}  // namespace occupipe::cli
