// SPDX-License-Identifier: MIT
// Every kernel that `measure --dump` writes for CUDA (in the ordinary run: a twelfth of them) is
// executed on the host (tests/ptx): what no receipt can show without a GPU. All memory that it
// touches is its own, no register is read before it is written, every thread leaves a result, which
// is a finite number, and between the two clock readings the instruction is executed as often as
// the table says, in the order and with the dependences of the graph that `compare` predicts the
// point from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "analysis/measured/measured_graph.h"
#include "bench/instructions/instruction_table.h"
#include "core/benchmark_kernel.h"
#include "core/files/files.h"
#include "tests/ptx/executed_graph.h"
#include "tests/ptx/machine.h"
#include "tests/support/carried.h"
#include "tests/support/run_program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thinned.h"

namespace occupipe::cli::testing {
namespace {

using test::TemporaryFolder;

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

bool checkpointed(const CarriedLaunch& row) {
    return row.fields.at("counters").find("checkpoints=") != std::string::npos;
}

// What is executed in the timed pass. The clock is read at the begin and end of an untimed pass,
// and again of the timed one; in checkpointed kernels four times more on the way, and each part
// executes as much.
std::map<std::string, std::int64_t> timed_pass(const CarriedLaunch& row,
                                               const ptx::Outcome& outcome) {
    const std::size_t readings = checkpointed(row) ? 6 : 2;
    EXPECT_EQ(outcome.intervals.size(), 2 * readings - 1);
    std::map<std::string, std::int64_t> sum;
    for (std::size_t i = readings; i < outcome.intervals.size(); ++i)
        for (const auto& [opcode, count] : outcome.intervals[i]) sum[opcode] += count;
    return sum;
}

void expect_counts(const CarriedLaunch& row, const ptx::Outcome& outcome) {
    const std::map<std::string, std::int64_t> timed = timed_pass(row, outcome);
    const std::string& arguments = row.fields.at("arguments");
    const std::int64_t iterations = std::stoll(arguments.substr(arguments.find("s32=") + 4));
    int compared = 0;
    for (const std::string& expected : split(row.fields.at("expected"), ';')) {
        const std::size_t equals = expected.rfind('=');
        const std::string opcode = expected.substr(0, equals);
        if (opcode.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos)
            continue;  // machine code
        const auto executed = timed.find(opcode);
        ASSERT_NE(executed, timed.end()) << opcode << " was not executed";
        // The loop counts and compares with instructions that a row may be about, too; so do the
        // checkpoints, which also copy what goes on.
        const bool loops_own = opcode == "add.s32" || opcode == "setp.lt.s32";
        const std::int64_t wanted = std::stoll(expected.substr(equals + 1));
        EXPECT_GE(executed->second, wanted) << opcode;
        EXPECT_LE(executed->second,
                  wanted + (loops_own ? iterations + 1 : 0) + (checkpointed(row) ? 12 : 0))
            << opcode;
        ++compared;
    }
    EXPECT_GT(compared, 0) << row.fields.at("expected");
}

// The point as a row of a file of measurements has it.
MeasurementRow measured_row(const CarriedLaunch& row) {
    MeasurementRow measured;
    const std::string& point = row.fields.at("point");
    measured.subject = point.substr(0, point.find('/'));
    for (const std::string& entry : split(row.fields.at("counters"), ';')) {
        const std::size_t equals = entry.find('=');
        measured.counters[entry.substr(0, equals)] = std::stod(entry.substr(equals + 1));
    }
    measured.shape = {
        .group_warps = static_cast<int>(measured.counters.at("group_warps")),
        .concurrent_groups = static_cast<int>(measured.counters.at("concurrent_groups")),
        .chains = static_cast<int>(measured.counters.at("chains")),
        .depth = static_cast<std::int64_t>(measured.counters.at("depth"))};
    return measured;
}

BenchmarkKernel kernel_of(const CarriedLaunch& row) {
    MeasurementFile file;
    file.context["backend"] = "cuda";
    return analysis::kernel_of(file, measured_row(row));
}

ptx::Spelling spelling(const std::string& name) {
    const bench::Row* row = bench::find_row(name);
    if (!row) throw std::runtime_error(name + " is not in the catalogue");
    int count = row->ptx_count;
    for (const bench::RowCounter& counter : row->counters)  // a lane takes one of the paths
        if (counter.name == "paths") count /= static_cast<int>(counter.value);
    return {std::string(row->ptx), count,
            row->order == bench::Order::waits || row->pattern == bench::Pattern::barrier,
            name.starts_with("wgmma.") && row->order == bench::Order::none};
}

// What the timed pass does differently from the graph of this kernel.
std::vector<std::string> differences(const BenchmarkKernel& kernel, const MeasurementShape& shape,
                                     const ptx::Program& program, const ptx::Outcome& outcome) {
    const std::vector<std::string> control = {loop_count, loop_compare, loop_branch};
    const Idg graph =
        expand(measured_graph(kernel, shape, {.loop = LoopForm::instructions}).warps.front());
    std::map<std::string, ptx::Spelling> spellings;
    for (const BenchmarkInstruction* one :
         {&kernel.first, kernel.second ? &*kernel.second : nullptr}) {
        if (!one) continue;
        spellings[one->name] = spelling(one->name);
        // Streams add up what they load, whatever the description says.
        const bench::Row* row = bench::find_row(one->name);
        if (row->pattern == bench::Pattern::global_stream && row->order == bench::Order::none)
            spellings["add.f32"] = spelling("add.f32");
    }
    return ptx::differences(program, outcome.trace, graph, spellings, control);
}

// All of the graph, to tell graphs apart.
std::string graph_text(const BenchmarkKernel& kernel, const MeasurementShape& shape) {
    const Idg graph =
        expand(measured_graph(kernel, shape, {.loop = LoopForm::instructions}).warps.front());
    std::string text;
    for (const Idg::Node& node : graph.nodes) {
        text += graph.ops[static_cast<std::size_t>(node.op)].name;
        for (int i = 0; i < node.predecessor_count; ++i) {
            const auto place = static_cast<std::size_t>(node.first_predecessor + i);
            text += ' ' + std::to_string(graph.predecessors[place]);
        }
        text += '\n';
    }
    return text;
}

void expect_graph(const CarriedLaunch& row, const ptx::Program& program,
                  const ptx::Outcome& outcome) {
    const auto found = differences(kernel_of(row), measured_row(row).shape, program, outcome);
    EXPECT_TRUE(found.empty()) << found.size()
                               << " differences from the graph, the first: " << found.front();
}

// The buffers "in", "out", "stamps".
std::vector<ptx::Buffer> buffers_of(const CarriedLaunch& row) {
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
    return buffers;
}

ptx::Program program_of(const std::filesystem::path& folder, const CarriedLaunch& row) {
    return ptx::parse(read_text_file(folder / "kernels" / (row.fields.at("kernel") + ".ptx")));
}

void execute(const std::filesystem::path& folder, const CarriedLaunch& row) {
    std::vector<ptx::Buffer> buffers = buffers_of(row);
    const ptx::Program program = program_of(folder, row);
    EXPECT_EQ(program.entry, row.fields.at("kernel"));
    ptx::Launch launch = launch_of(row, buffers);
    launch.trace = !checkpointed(row);
    const std::vector<ptx::Buffer> fresh(buffers.begin() + 1, buffers.end());
    const auto run = [&] {
        std::ranges::copy(fresh, buffers.begin() + 1);
        const ptx::Outcome outcome = ptx::run(program, launch, buffers);
        expect_results(row, buffers[1].bytes);
        expect_counts(row, outcome);
        if (!checkpointed(row)) expect_graph(row, program, outcome);
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
constexpr int parts = 48;

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
    if (!thinned::all_cases()) {
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
    EXPECT_GT(kernels.size(), thinned::all_cases() ? 400u : 400u / parts);
}

// What was wrong in graphs before, and what could be: the comparison sees each.
TEST(ExecutedGraph, PlantedFaultsAreNoticed) {
    if (!program_has_nvrtc()) GTEST_SKIP() << no_nvrtc;
    const TemporaryFolder folder;
    const auto dumped =
        run_program({"measure", "--device", "cuda", "--arch", "sm_90", "--quick", "--cores", "1",
                     "--repetitions", "1", "--dump", folder.path.string(), "--instructions",
                     "fma.f32,ld.global.f32,mix(fma.f32*1,ld.shared.u32),mix(fma.f32*2,mul.f32)"});
    ASSERT_EQ(dumped.exit_code, 0) << dumped.err;
    using Fault = std::function<void(BenchmarkKernel&)>;
    const std::map<std::string, Fault> faults = {
        {"two chains instead of one, or one instead of two",
         [](BenchmarkKernel& k) { k.separate_chains = !k.separate_chains; }},
        {"a stream whose loads wait", [](BenchmarkKernel& k) { k.first.chained = false; }},
        {"loads that do not wait",
         [](BenchmarkKernel& k) { (k.second ? *k.second : k.first).chained = true; }},
        {"another β", [](BenchmarkKernel& k) { k.beta = k.beta == 1 ? 3 : 1; }},
        {"twice the chains", [](BenchmarkKernel& k) { k.chains = 2; }},
        {"half the body", [](BenchmarkKernel& k) { k.body /= 2; }},
        {"additions of two words", [](BenchmarkKernel& k) { k.first.words *= 2; }},
        {"no additions", [](BenchmarkKernel& k) { k.first.gathered_by.clear(); }},
        {"no loop", [](BenchmarkKernel& k) { k.counted_loop = false; }}};
    std::set<std::string> noticed;
    std::set<std::string> subjects;
    for (const CarriedLaunch& row : read_launches(folder.path / "launches.csv").launches) {
        const BenchmarkKernel kernel = kernel_of(row);
        const MeasurementShape shape = measured_row(row).shape;
        if (!subjects.insert(kernel.subject()).second) continue;
        SCOPED_TRACE(kernel.subject());
        std::vector<ptx::Buffer> buffers = buffers_of(row);
        const ptx::Program program = program_of(folder.path, row);
        ptx::Launch launch = launch_of(row, buffers);
        launch.trace = true;
        const ptx::Outcome outcome = ptx::run(program, launch, buffers);
        EXPECT_TRUE(differences(kernel, shape, program, outcome).empty());
        const std::string graph = graph_text(kernel, shape);
        for (const auto& [name, plant] : faults) {
            BenchmarkKernel planted = kernel;
            plant(planted);
            if (shape.depth % planted.body != 0 || planted.body % planted.period() != 0) continue;
            if (graph_text(planted, shape) == graph) continue;  // none for this kernel
            EXPECT_FALSE(differences(planted, shape, program, outcome).empty()) << name;
            noticed.insert(name);
        }
    }
    EXPECT_EQ(subjects.size(), 4u);
    for (const auto& [name, plant] : faults) EXPECT_TRUE(noticed.contains(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryDumpedKernel, ::testing::Values("sm_75", "sm_90"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace occupipe::cli::testing
