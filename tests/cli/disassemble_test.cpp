// SPDX-License-Identifier: MIT
// `occupipe disassemble`: the listing, and what it refuses.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "tests/isa/make_cubin.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::cli {
namespace {

using cli::testing::program_has_nvrtc;
using cli::testing::ProgramRun;
using cli::testing::run_program;
using test::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

class Disassemble : public ::testing::Test {
protected:
    std::string cubin(const std::vector<isa::Word>& code, int architecture = 90) {
        test::MadeCubin made;
        made.code = code;
        made.architecture = architecture;
        made.shared_bytes = 1024 + 256;  // the first 1024 are the system's
        const std::string path = folder.path / "k.cubin";
        std::ofstream(path, std::ios::binary) << made.bytes();
        return path;
    }

    TemporaryFolder folder;
};

// IMAD.WIDE.U32 R6, R3, 0x4, R6; @!P1 BRA to itself; EXIT
const std::vector<isa::Word> code = {{0x0000000403067825, 0x002fca00078e0006},
                                     {0xfffffffc00fc9947, 0x000fc0000383ffff},
                                     {0x000000000000794d, 0x000fea0003800000}};

TEST_F(Disassemble, PrintsCodeWithWhatTheSchedulerIsTold) {
    const ProgramRun run = run_program({"disassemble", cubin(code)});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(
        run.out,
        "saxpy for sm_90: 3 instructions, 10 registers, no stack, 256 bytes of shared memory\n"
        "parameters: 0 at c[0x0][0x210], 8 bytes; 1 at c[0x0][0x218], 4 bytes\n"
        "address waits for  sets      stall\n"
        "0000    SB1                      5 y  IMAD.WIDE.U32 R6, R3, 0x4, R6\n"
        "0x10:\n"
        "0010                             0 y  @!P1 BRA 0x10\n"
        "0020                             5    EXIT\n");
}

TEST_F(Disassemble, PrintsBitsOnRequest) {
    const ProgramRun run = run_program({"disassemble", cubin(code), "--kernel", "saxpy", "--bits"});
    EXPECT_THAT(run.out, HasSubstr("EXIT  ; 0x000000000000794d 0x000fea0003800000\n"));
}

TEST_F(Disassemble, MarksWhatItDoesNotUnderstandAndFails) {
    const ProgramRun run =
        run_program({"disassemble", cubin({{0x00000000000071fe, 0}, {0x00000000000071ff, 0}})});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.out, HasSubstr("?\n"));
    EXPECT_THAT(run.err, HasSubstr("2 instructions are not understood (?), the first: saxpy: "
                                   "address 0x0000: an instruction of sm_90"));
    EXPECT_THAT(run.err, HasSubstr("no such opcode: 0x1fe"));
    EXPECT_THAT(run.err, HasSubstr("0x00000000000071fe 0x0000000000000000"));
}

TEST_F(Disassemble, RefusesWithOneMessage) {
    const auto refusal = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "disassemble");
        const ProgramRun run = run_program(arguments);
        EXPECT_EQ(run.exit_code, 2);
        EXPECT_EQ(run.out, "");
        return run.err;
    };
    EXPECT_THAT(refusal({cubin(code), "--kernel", "saxpi"}),
                HasSubstr("/k.cubin; near: saxpy; there is saxpy"));
    EXPECT_THAT(refusal({cubin(code), "--arch", "sm_80"}),
                HasSubstr("k.cubin: is machine code of sm_90, not of sm_80"));
    EXPECT_THAT(refusal({cubin(code, 70)}),
                HasSubstr("machine code of sm_70, which is not read; known are sm_75"));
    EXPECT_THAT(refusal({std::string(OCCUPIPE_SOURCE_DIR) + "/LICENSE"}),
                HasSubstr("LICENSE: holds no machine code"));
    const std::string source = folder.path / "k.cu";
    std::ofstream(source) << "extern \"C\" __global__ void k(int* p) { *p = 7; }\n";
    EXPECT_THAT(refusal({source}), HasSubstr("--arch sm_NN says what to compile it for"));
}

TEST_F(Disassemble, WritesTheMachineCode) {
    const std::string file = cubin(code), copy = (folder.path / "copy.cubin").string();
    ProgramRun run = run_program({"disassemble", file, "--cubin", copy});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(read_text_file(copy), read_text_file(file));
    run = run_program({"disassemble", file, "--cubin", copy});
    EXPECT_EQ(run.exit_code, 2);
    run = run_program({"disassemble", file, "--cubin", copy, "--force"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    run = run_program({"disassemble", file, "--cubin", file, "--force"});
    EXPECT_EQ(run.exit_code, 2);
}

TEST_F(Disassemble, CompilesSourceWhereNvrtcIs) {
    const std::string source = folder.path / "k.cu";
    std::ofstream(source) << "extern \"C\" __global__ void k(int* p) { *p = 7; }\n";
    const ProgramRun run = run_program({"disassemble", source, "--arch", "sm_90"});
    if (!program_has_nvrtc()) {
        EXPECT_NE(run.exit_code, 0);
        EXPECT_THAT(run.err, HasSubstr("NVRTC"));
        return;
    }
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("k for sm_90: "));
    EXPECT_THAT(run.out, HasSubstr("STG.E desc["));
    EXPECT_THAT(run.out, Not(HasSubstr("?")));
}

}  // namespace
}  // namespace occupipe::cli
