// SPDX-License-Identifier: MIT
// Every kernel that `measure --dump` writes for CUDA (in the ordinary run: an eighth of them) is
// executed on the host (tests/ptx): what no receipt can show without a GPU. All memory that it
// touches is its own, no register is read before it is written, every thread leaves a result, which
// is a finite number, and between the two clock readings the instruction is executed as often as
// the table says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "core/files/files.h"
#include "tests/ptx/machine.h"
#include "tests/support/carried.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli::testing {
namespace {

using bench::testing::TemporaryFolder;

ptx::Launch launch_of(const CarriedLaunch& row, const std::vector<ptx::Buffer>& buffers) {
    ptx::Launch launch{.groups = static_cast<unsigned>(row.number("grid")),
                       .threads = static_cast<unsigned>(row.number("block")),
                       .shared_bytes = row.number("shared_bytes"),
                       .arguments = {}};
    for (const std::string& argument : split(row.fields.at("arguments"), ';')) {
        const std::size_t equals = argument.find('=');
        if (equals != std::string::npos) {
            launch.arguments.push_back(std::stoull(argument.substr(equals + 1)));
        }
        for (const ptx::Buffer& buffer : buffers) {
            if (buffer.name == argument) launch.arguments.push_back(buffer.address);
        }
    }
    return launch;
}

template <typename T>
void expect_finite(const Bytes& bytes) {
    for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
        T value;
        std::memcpy(&value, &bytes[i], sizeof value);
        ASSERT_TRUE(std::isfinite(value)) << "result " << i / sizeof(T) << " is " << value;
    }
}

void expect_results(const CarriedLaunch& row, const Bytes& out) {
    const std::size_t threads = row.number("grid") * row.number("block");
    const std::size_t width = out.size() / threads;
    const Bytes poison(width, std::byte{0xa5});
    for (std::size_t i = 0; i < threads; ++i) {
        ASSERT_NE(std::memcmp(&out[i * width], poison.data(), width), 0)
            << "thread " << i << " left no result";
    }
    // An instruction's name ends with the type of its result, unless a variant follows.
    std::string name = row.fields.at("point").substr(0, row.fields.at("point").find('/'));
    if (name.starts_with("mix(")) name = name.substr(4, name.find('*') - 4);
    if (name.ends_with(".f32")) expect_finite<float>(out);
    // (A product of matrices leaves a word, whatever its elements are.)
    if (name.ends_with(".f64") && width == sizeof(double)) expect_finite<double>(out);
}

// The clock is read at the begin and end of an untimed pass, and again of the timed one.
void expect_counts(const CarriedLaunch& row, const ptx::Outcome& outcome) {
    ASSERT_EQ(outcome.intervals.size(), 3u);
    const std::string& arguments = row.fields.at("arguments");
    const std::int64_t iterations = std::stoll(arguments.substr(arguments.find("s32=") + 4));
    int compared = 0;
    for (const std::string& expected : split(row.fields.at("expected"), ';')) {
        const std::size_t equals = expected.rfind('=');
        const std::string opcode = expected.substr(0, equals);
        if (opcode.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos)
            continue;  // machine code
        const auto executed = outcome.intervals.back().find(opcode);
        ASSERT_NE(executed, outcome.intervals.back().end()) << opcode << " was not executed";
        // The loop counts and compares with instructions that a row may be about, too.
        const bool loops_own = opcode == "add.s32" || opcode == "setp.lt.s32";
        const std::int64_t wanted = std::stoll(expected.substr(equals + 1));
        EXPECT_GE(executed->second, wanted) << opcode;
        EXPECT_LE(executed->second, wanted + (loops_own ? iterations + 1 : 0)) << opcode;
        ++compared;
    }
    EXPECT_GT(compared, 0) << row.fields.at("expected");
}

void execute(const std::filesystem::path& folder, const CarriedLaunch& row) {
    std::vector<ptx::Buffer> buffers;
    std::uint64_t address = 0x7f00'0000'0000;
    for (const char* name : {"in", "out", "stamps"}) {
        const std::string prefix = name;
        buffers.push_back({.name = name,
                           .address = address,
                           .bytes = contents(row.number(prefix + "_bytes"),
                                             row.fields.at(prefix + "_contents"), address)});
        address += 0x1'0000'0000;
    }
    const ptx::Program program =
        ptx::parse(read_text_file(folder / "kernels" / (row.fields.at("kernel") + ".ptx")));
    EXPECT_EQ(program.entry, row.fields.at("kernel"));
    ptx::Launch launch = launch_of(row, buffers);
    const std::vector<ptx::Buffer> fresh(buffers.begin() + 1, buffers.end());
    const auto run = [&] {
        std::ranges::copy(fresh, buffers.begin() + 1);
        const ptx::Outcome outcome = ptx::run(program, launch, buffers);
        expect_results(row, buffers[1].bytes);
        expect_counts(row, outcome);
    };
    run();
    if (row.fields.at("in_contents").starts_with("hex@")) return;
    // Our own launches begin anywhere in a table; here on its last line, over the end of which a
    // walk goes.
    launch.arguments.back() = 0xffffffff;
    SCOPED_TRACE("from the table's last line on");
    run();
}

// Of which the ordinary run takes one, another on each architecture.
constexpr int parts = 8;

// What the ordinary run dumps: a part of the rows that the architecture has, and mixes of one type,
// of two, and with a walk through memory.
std::string part_of_the_rows(const std::string& architecture) {
    const ProgramRun listed =
        run_program({"list", "instructions", "--json", "--arch", architecture});
    EXPECT_EQ(listed.exit_code, 0) << listed.err;
    std::string names =
        "mix(fma.f32*8,cos.approx.f32),mix(fma.f32*1,mul.s32),mix(fma.f32*16,ld.global.f32)";
    std::size_t number = 0;
    for (const auto& row : nlohmann::json::parse(listed.out)) {
        if (!row.at("architectures").at(architecture).at("measurable")) continue;
        if (thinned::taken(number++, architecture == "sm_90" ? 1 : 0, parts))
            names += "," + row.at("name").get<std::string>();
    }
    return names;
}

class EveryDumpedKernel : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryDumpedKernel, DoesWhatItsTableSays) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const TemporaryFolder folder;
    std::vector<std::string> command = {
        "measure", "--device", "cuda",          "--arch", GetParam(), "--quick",
        "--cores", "1",        "--repetitions", "1",      "--dump",   folder.path.string()};
    if (!thinned::all_cases) {
        command.insert(command.end(), {"--instructions", part_of_the_rows(GetParam())});
    }
    const auto dumped = run_program(command);
    ASSERT_EQ(dumped.exit_code, 0) << dumped.err;
    std::set<std::string> kernels;
    for (const CarriedLaunch& row : read_launches(folder.path / "launches.csv").launches) {
        // Each kernel once, with one and with more warps; a core's full occupancy shows nothing
        // new.
        const std::size_t threads = row.number("grid") * row.number("block");
        const std::string key = row.fields.at("kernel") + (threads > 128 ? " full" : "");
        if (threads > 256 && !row.fields.at("point").starts_with("mix(")) continue;
        if (!kernels.insert(key).second) continue;
        SCOPED_TRACE(row.fields.at("point"));
        try {
            execute(folder.path, row);
        } catch (const std::runtime_error& error) {
            ADD_FAILURE() << error.what();
        }
    }
    EXPECT_GT(kernels.size(), thinned::all_cases ? 400u : 400u / parts);
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryDumpedKernel, ::testing::Values("sm_75", "sm_90"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace occupipe::cli::testing
