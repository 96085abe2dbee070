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
    std::uint64_t warp_instructions = 0;
};

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
                           result.kernel->name,
                           result.times == 1 ? result.execution.warp_instructions : 0});
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
        const auto [code, active] = watched.streams.instructions[number];
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
        if (!thinned::all_cases() && architecture != 80 && architecture != 120) continue;
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
            const ExtractedKernel extracted =
                extract_kernel(watched.kernel, watched.streams, watched.code, names_known_to({}));
            EXPECT_GT(extracted.represented, 0);
            EXPECT_LE(extracted.represented, 1 + 1e-12);
            std::size_t taken = 0;
            for (const ExtractedClass& one : extracted.classes) {
                if (!one.taken) continue;
                EXPECT_EQ(instruction_count(extracted.kernel.warps[taken]),
                          static_cast<std::int64_t>(one.instructions))
                    << watched.kernel << ", class " << taken;
                ++taken;
            }
            EXPECT_EQ(taken, extracted.kernel.warps.size());
            EXPECT_EQ(parse_kernel(format_kernel(extracted.kernel), "k.yaml"), extracted.kernel);
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

INSTANTIATE_TEST_SUITE_P(Kernels, ExtractKernels, testing::ValuesIn(launch_files()),
                         [](const auto& one) {
                             std::string name = one.param.stem().string();
                             std::ranges::replace_if(
                                 name, [](unsigned char c) { return !std::isalnum(c); }, '_');
                             return name;
                         });

}  // namespace
}  // namespace occupipe::extract
