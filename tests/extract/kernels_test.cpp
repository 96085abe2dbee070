// SPDX-License-Identifier: MIT
// Kernels out of recorded machine code: every executed instruction stands in the graph, and every
// dependence is one that the control codes protect.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "extract/kernel_graph.h"
#include "extract/naming.h"
#include "extract/run_plan.h"
#include "tests/support/thinned.h"

namespace occupipe::extract {
namespace {

namespace fs = std::filesystem;

constexpr int architectures[] = {75, 80, 90, 100, 120};
const fs::path folder = OCCUPIPE_SOURCE_DIR "/tests/kernels";

std::vector<fs::path> launch_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

struct Watched {
    StreamObserver::Streams streams;
    std::vector<isa::Instruction> code;
    std::string kernel;
    isa::Kernel machine;
    std::uint64_t warp_instructions = 0;
    std::uint64_t warps = 0;
    std::vector<isa::InstructionCount> counts;  // by the executor, per instruction of the code
};

// How often warps execute instructions of a line that have this stall count.
using LineCounts = std::map<std::pair<std::string, int>, double>;

void add_lines(const std::vector<KernelItem>& items, double times, LineCounts& sums) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item)) {
            add_lines(repeat->body, times * static_cast<double>(repeat->count), sums);
            continue;
        }
        const auto& node = std::get<KernelInstruction>(item);
        sums[{node.at, node.stall.value_or(1)}] += times;
    }
}

LineCounts lines_of(const Kernel& kernel, double warps) {
    LineCounts sums;
    for (const WarpProgram& program : kernel.warps)
        add_lines(program.instructions, program.share * warps, sums);
    return sums;
}

LineCounts executed_lines(const Watched& watched) {
    LineCounts sums;
    for (std::size_t i = 0; i < watched.code.size(); ++i) {
        if (watched.counts[i].warps == 0) continue;
        const isa::Instruction& one = watched.code[i];
        sums[{isa::source_line(watched.machine, one.address), std::max(1, one.control.stall)}] +=
            static_cast<double>(watched.counts[i].warps);
    }
    return sums;
}

// Every launch of the file, once; nothing where the executor refuses it.
std::vector<Watched> watch(const fs::path& file, int architecture, int threads) {
    const LaunchPlan plan = read_launches(file);
    const isa::Cubin cubin = isa::read_cubin(
        read_text_file(folder / fmt::format("recorded/sm_{}/{}.cubin", architecture,
                                            fs::path(plan.source).stem().string())));
    std::map<const KernelLaunch*, std::unique_ptr<StreamObserver>> observers;
    std::vector<LaunchResult> results;
    try {
        PlanRun run(plan, cubin, "");
        PlanOptions options;
        options.threads = threads;
        options.step_budget = 20'000'000;
        options.observe = [&](const KernelLaunch& launch) -> isa::Observer* {
            auto& observer = observers[&launch];
            if (observer) return nullptr;
            observer = std::make_unique<StreamObserver>(
                all_groups(std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]));
            return observer.get();
        };
        results = run.execute(options);
    } catch (const InputError&) {
        return {};
    }
    std::vector<Watched> watched;
    for (const LaunchResult& result : results)
        watched.push_back({observers.at(result.launch)->streams(), *result.execution.code,
                           result.kernel->name, *result.kernel,
                           result.times == 1 ? result.execution.warp_instructions : 0,
                           result.execution.warps, result.execution.counts});
    return watched;
}

// How a dependence is kept: by a scoreboard that is waited for, or by time.
struct Protection {
    std::uint64_t dependences = 0;
    std::uint64_t by_scoreboard = 0;
    std::map<int, std::uint64_t> by_cycles;  // least cycles between → how many
    std::vector<std::string> unprotected;
};

// Goes through one warp's stream as the assembler sees it.
void check(const Watched& watched, const WarpClass& one, Protection& found) {
    struct Writer {
        std::size_t code;
        std::uint32_t lanes;
        std::int64_t cycle;
        bool waited;  // for its scoreboard, since
    };
    std::map<RegisterName, std::vector<Writer>> writers;
    std::vector<RegisterUse> uses;
    for (const isa::Instruction& instruction : watched.code)
        uses.push_back(registers_of(instruction));
    std::int64_t cycle = 0;
    unfold(one.stream, [&](std::uint32_t number) {
        const std::uint32_t code = watched.streams.instructions[number].code;
        const std::uint32_t active = watched.streams.instructions[number].active;
        const isa::Instruction& instruction = watched.code[code];
        for (auto& [name, all] : writers) {
            for (Writer& writer : all) {
                const auto& raised = watched.code[writer.code].control.result_scoreboard;
                if (raised && (instruction.control.awaited_scoreboards >> *raised & 1) != 0)
                    writer.waited = true;
            }
        }
        for (const RegisterName& name : uses[code].read) {
            for (const Writer& writer : writers[name]) {
                if ((writer.lanes & active) == 0) continue;
                ++found.dependences;
                const isa::Instruction& from = watched.code[writer.code];
                const std::int64_t between = cycle - writer.cycle;
                const bool by_scoreboard = from.control.result_scoreboard.has_value();
                if (by_scoreboard && writer.waited) ++found.by_scoreboard;
                if (!by_scoreboard)
                    ++found.by_cycles[static_cast<int>(std::min<std::int64_t>(between, 99))];
                if (by_scoreboard ? writer.waited : between >= 2) continue;
                found.unprotected.push_back(fmt::format(
                    "{}: {:#x} {}, {} cycles behind {:#x} {}", watched.kernel, instruction.address,
                    instruction.opcode, between, from.address, from.opcode));
            }
        }
        for (const RegisterName& name : uses[code].written) {
            std::vector<Writer>& all = writers[name];
            const bool one_for_all = name.file == RegisterName::File::uniform ||
                                     name.file == RegisterName::File::uniform_predicate;
            const std::uint32_t lanes = one_for_all && active != 0 ? 0xffffffff : active;
            for (Writer& writer : all) writer.lanes &= ~lanes;
            std::erase_if(all, [](const Writer& writer) { return writer.lanes == 0; });
            if (lanes != 0) all.push_back({code, lanes, cycle, false});
        }
        cycle += std::max(1, instruction.control.stall);
    });
}

class ExtractKernels : public testing::TestWithParam<fs::path> {};

TEST_P(ExtractKernels, HoldEveryExecutedInstruction) {
    for (const int architecture : architectures) {
        // One of two, by the name: the other half of the files is for the other.
        const int own = GetParam().stem().string().size() % 2 == 0 ? 80 : 120;
        if (!thinned::all_cases() && architecture != own) continue;
        SCOPED_TRACE(architecture);
        for (const Watched& watched : watch(GetParam(), architecture, 2)) {
            double executed = 0;
            for (const WarpClass& one : watched.streams.classes) {
                executed += one.weight * static_cast<double>(one.instructions);
                EXPECT_EQ(unfolded_size(one.stream), static_cast<std::int64_t>(one.instructions));
            }
            if (watched.warp_instructions != 0) {
                EXPECT_EQ(executed, static_cast<double>(watched.warp_instructions));
            }
            const ExtractedKernel extracted = extract_kernel(
                watched.kernel, watched.streams, watched.machine, watched.code, names_known_to({}));
            EXPECT_GT(extracted.represented, 0);
            EXPECT_LE(extracted.represented, 1 + 1e-12);
            std::size_t taken = 0;
            for (const ExtractedClass& one : extracted.classes) {
                if (!one.taken) continue;
                // Windows that stand for others execute about as much.
                const auto kept =
                    static_cast<double>(instruction_count(extracted.kernel.warps[taken]));
                const double all =
                    static_cast<double>(one.instructions) + static_cast<double>(one.barriers_added);
                EXPECT_NEAR(kept, all, extracted.windows_each > 1 ? 0.03 * all : 0)
                    << watched.kernel << ", class " << taken;
                ++taken;
            }
            EXPECT_EQ(taken, extracted.kernel.warps.size());
            // Reading takes most of the time: in the ordinary run, that of graphs of usual size.
            const std::string text = format_kernel(extracted.kernel);
            if (thinned::all_cases() || text.size() < 200'000) {
                EXPECT_EQ(parse_kernel(text, "k.yaml"), extracted.kernel);
            }
            if (watched.warp_instructions == 0 || extracted.represented < 1 - 1e-12) continue;
            // Barriers that were added are of no line and were not executed.
            const auto added = [](const ExtractedClass& one) { return one.barriers_added != 0; };
            if (std::ranges::any_of(extracted.classes, added)) continue;
            if (extracted.windows_each > 1) continue;  // without what is rare
            const LineCounts counted =
                lines_of(extracted.kernel, static_cast<double>(watched.warps));
            const LineCounts expected = executed_lines(watched);
            ASSERT_EQ(counted.size(), expected.size()) << watched.kernel;
            for (const auto& [key, count] : expected) {
                ASSERT_TRUE(counted.contains(key)) << watched.kernel << ", " << key.first;
                EXPECT_NEAR(counted.at(key), count, 1e-9 * count)
                    << watched.kernel << ", " << key.first << ", stall " << key.second;
            }
        }
    }
}

TEST_P(ExtractKernels, DependOnlyOnWhatTheControlCodesProtect) {
    Protection found;
    for (const int architecture : architectures) {
        if (!thinned::all_cases() && architecture != 90) continue;
        for (const Watched& watched : watch(GetParam(), architecture, 2))
            for (const WarpClass& one : watched.streams.classes) {
                if (one.instructions < 100'000) check(watched, one, found);
            }
    }
    std::string times;
    for (const auto& [cycles, count] : found.by_cycles)
        if (cycles < 8) times += fmt::format(" {}:{}", cycles, count);
    RecordProperty("dependences", std::to_string(found.dependences));
    RecordProperty("by_cycles", times);
    std::set<std::string> distinct(found.unprotected.begin(), found.unprotected.end());
    EXPECT_TRUE(distinct.empty()) << fmt::format("{}", fmt::join(distinct, "\n"));
}

// As 'nvdisasm -g -hex' of CUDA 13 says of matmul.cubin for sm_80: lines, and bits 105 to 108 of
// the words.
TEST(ExtractKernel, NodesSayTheirLineAndStallCount) {
    const std::vector<Watched> watched = watch(folder / "matmul.yaml", 80, 1);
    ASSERT_EQ(watched.size(), 1U);
    const ExtractedKernel extracted = extract_kernel(
        "matmul", watched[0].streams, watched[0].machine, watched[0].code, names_known_to({}));
    std::map<std::string, std::string> line_of;
    std::map<std::string, int> stall_of;
    for_each_instruction(extracted.kernel, [&](const KernelInstruction& node) {
        line_of[node.id] = node.at;
        if (node.stall) {
            EXPECT_GT(*node.stall, 1);
            stall_of[node.id] = *node.stall;
        }
    });
    const auto expect = [&](const std::string& id, const std::string& at, int stall) {
        ASSERT_TRUE(line_of.contains(id)) << id;
        EXPECT_EQ(line_of.at(id), at) << id;
        EXPECT_EQ(stall_of.contains(id) ? stall_of.at(id) : 1, stall) << id;
    };
    expect("s2r.0010", "matmul.cu:8", 1);
    expect("sts.0270", "matmul.cu:11", 4);
    expect("sts.0280", "matmul.cu:12", 4);
    expect("bar.0290", "matmul.cu:13", 6);
    expect("lds.02a0", "matmul.cu:15", 4);
    expect("ffma.0340", "matmul.cu:15", 3);
    expect("imad.04b0", "matmul.cu:10", 2);
    expect("ffma.04f0", "matmul.cu:15", 1);
    expect("bar.0500", "matmul.cu:16", 6);
    expect("bra.0510", "matmul.cu:10", 5);
    expect("stg.0560", "matmul.cu:18", 1);
    expect("exit.0570", "matmul.cu:19", 5);
}

// What a profile has decides which rows stand for branches and multiply-adds.
TEST(ExtractKernel, BranchesAndOperandsTakeTheRowsThatTheProfileHas) {
    const auto ops_of = [](const char* file, const std::set<std::string>& known) {
        const std::vector<Watched> watched = watch(folder / file, 80, 1);
        std::map<std::string, KernelInstruction> nodes;
        const ExtractedKernel extracted = extract_kernel(
            "k", watched.at(0).streams, watched[0].machine, watched[0].code, names_known_to(known));
        for_each_instruction(extracted.kernel,
                             [&](const KernelInstruction& node) { nodes[node.id] = node; });
        return nodes;
    };
    auto nodes = ops_of("matmul.yaml", {});
    EXPECT_EQ(nodes.at("bra.0510").op, "issue.slot");
    nodes = ops_of("matmul.yaml", {"branch", "fma.f32", "fma.f32.same"});
    EXPECT_EQ(nodes.at("bra.0510").op, "branch");
    // It goes back to 0160, in each iteration but the last.
    const auto waits = [&](const KernelInstruction& node) {
        return std::ranges::any_of(node.after,
                                   [](const Dependence& on) { return on.id == "bra.0510"; });
    };
    int waiting = 0;
    for (const auto& [id, node] : nodes) {
        if (!waits(node)) continue;
        EXPECT_NE(id.find(".0160"), std::string::npos) << id;
        ++waiting;
    }
    EXPECT_GT(waiting, 0);
    // FFMA R4, R29, R8, R5: of three registers two are in one bank, and none was kept.
    EXPECT_EQ(nodes.at("ffma.0340").op, "fma.f32");
    const auto count = [&](const char* op) {
        return std::ranges::count_if(nodes, [&](const auto& one) { return one.second.op == op; });
    };
    EXPECT_EQ(count("fma.f32.same"), 0);
    nodes = ops_of("nbody.yaml", {"fma.f32", "fma.f32.same"});
    EXPECT_GT(count("fma.f32"), 0);
    EXPECT_GT(count("fma.f32.same"), 0);
}

// Times that a program executes each op.
void add_ops(const std::vector<KernelItem>& items, std::int64_t times,
             std::map<std::string, std::int64_t>& counts) {
    for (const KernelItem& item : items) {
        if (const auto* repeat = std::get_if<Repeat>(&item))
            add_ops(repeat->body, times * repeat->count, counts);
        else
            counts[std::get<KernelInstruction>(item).op] += times;
    }
}

// Against the streams, one instruction after the other.
TEST(ExtractKernel, BranchesAtWhichLanesPartAreRowsOfTheirOwn) {
    std::int64_t all_parts = 0, all_indirect = 0;
    for (const char* file : {"token_machine.yaml", "mandelbrot.yaml", "backtrack.yaml"}) {
        const std::vector<Watched> watched = watch(folder / file, 80, 1);
        const Watched& one = watched.at(0);
        const ExtractedKernel extracted =
            extract_kernel("k", one.streams, one.machine, one.code,
                           names_known_to({"branch", "branch.parts", "branch.indirect"}), 1000);
        ASSERT_EQ(extracted.kernel.warps.size(), one.streams.classes.size());
        for (std::size_t i = 0; i < one.streams.classes.size(); ++i) {
            std::int64_t parts = 0, indirect = 0, meets = 0;
            std::map<int, std::uint32_t> lanes;  // of the last BSSY of each barrier
            std::uint32_t of_indirect = 0;       // lanes, where that was the instruction before
            unfold(one.streams.classes[i].stream, [&](std::uint32_t number) {
                const StreamInstruction what = one.streams.instructions[number];
                const isa::Instruction& is = one.code[what.code];
                indirect += what.active > 0 && what.active < of_indirect;
                of_indirect = is.opcode == "BRX" ? what.active : 0;
                for (const isa::Operand& operand : is.operands) {
                    if (operand.kind != isa::Operand::Kind::barrier) continue;
                    if (is.opcode == "BSSY") lanes[*operand.number] = what.active;
                    if (is.opcode != "BSYNC") continue;
                    ++meets;
                    parts += what.active > 0 && what.active < lanes[*operand.number];
                }
            });
            std::map<std::string, std::int64_t> counts;
            add_ops(extracted.kernel.warps[i].instructions, 1, counts);
            // The first round of a loop may differ; that of the machine has many of two rounds.
            const double differ = file == std::string("token_machine.yaml") ? 0.5 : 0.02;
            const auto expect_near = [&](const char* op, std::int64_t count) {
                EXPECT_NEAR(static_cast<double>(counts[op]), static_cast<double>(count),
                            2 + differ * static_cast<double>(count))
                    << file << ' ' << i << ' ' << op;
            };
            expect_near("branch.parts", parts);
            expect_near("branch.indirect", indirect);
            EXPECT_GE(counts["branch"] + 2, meets - parts) << file << ' ' << i;
            all_parts += parts;
            all_indirect += indirect;
        }
    }
    EXPECT_GT(all_parts, 100);
    EXPECT_GT(all_indirect, 10);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ExtractKernels, testing::ValuesIn(launch_files()),
                         [](const auto& one) {
                             std::string name = one.param.stem().string();
                             std::ranges::replace_if(
                                 name, [](unsigned char c) { return !std::isalnum(c); }, '_');
                             return name;
                         });

// What stands in a loop is told apart for its first iteration alone.
TEST(Streams, FirstExecutionsAreMarked) {
    StreamObserver::Streams streams;
    streams.instructions = {
        {.code = 4, .active = 32}, {.code = 5, .active = 32}, {.code = 5, .active = 0}};
    const FoldedLoop loop{.count = 9, .body = {0U, 1U}};
    streams.classes.push_back({.stream = {0U, loop}});
    streams.classes.push_back({.stream = {2U, 1U}});  // at first by no lane
    const std::size_t size = unfolded_size(streams.classes[0].stream);
    std::vector<bool> of(6, false);
    of[5] = true;
    mark_first(streams, of);
    std::vector<std::uint32_t> numbers;
    unfold(streams.classes[0].stream, [&](std::uint32_t number) { numbers.push_back(number); });
    ASSERT_EQ(numbers.size(), size);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const StreamInstruction what = streams.instructions[numbers[i]];
        EXPECT_EQ(what.code, i > 0 && i % 2 == 0 ? 5U : 4U) << i;
        EXPECT_EQ(what.first, i == 2) << i;
    }
    ASSERT_EQ(streams.classes[1].stream.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        const auto one = std::get<std::uint32_t>(streams.classes[1].stream[i]);
        EXPECT_EQ(streams.instructions[one].first, i == 1) << i;
    }
}

}  // namespace
}  // namespace occupipe::extract
