// SPDX-License-Identifier: MIT
// The executor's main oracle: a kernel's recorded machine code leaves the same bytes in every
// buffer as the same text compiled for the CPU, with one thread of the host and with four.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "isa/cubin.h"
#include "isa/decode.h"
#include "isa/machine/machine.h"
#include "tests/kernels/machine_code.h"
#include "tests/kernels/run_on_cpu.h"
#include "tests/support/thinned.h"

namespace occupipe::test {
namespace {

constexpr int architectures[] = {75, 80, 90, 100, 120};

struct Outcome {
    std::string refused;     // why the executor stopped
    std::string difference;  // or what it got wrong
};

Outcome run(const LaunchPlan& plan, const isa::Cubin& cubin, int threads,
            const std::vector<Buffer>& cpu) {
    try {
        MachineCode target(cubin, threads);
        return {.difference = difference(cpu, run_plan(plan, target))};
    } catch (const InputError& error) {
        return {.refused = error.what()};
    }
}

// Whether recorded/not_executed.txt says that the executor refuses this one: lines such as
// " 75 80 |spin_locks". A line goes when it is executed.
bool not_executed(const std::string& name, int architecture) {
    std::istringstream lines(read_text_file(kernels_folder() / "recorded/not_executed.txt"));
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with(" |" + name) &&
            line.find(fmt::format(" {} ", architecture)) != std::string::npos)
            return true;
    }
    return false;
}

class Execute : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Execute, LeavesTheSameMemoryAsTheCpu) {
    const LaunchPlan plan = read_launches(GetParam());
    const std::vector<Buffer> cpu = run_on_cpu(plan);
    for (const int architecture : architectures) {
        const isa::Cubin cubin = recorded_code(plan, architecture);
        const bool may_refuse = not_executed(GetParam().stem().string(), architecture);
        for (const int threads : {1, 4}) {
            const Outcome outcome = run(plan, cubin, threads, cpu);
            EXPECT_EQ(outcome.difference, "") << "sm_" << architecture << ", " << threads;
            if (may_refuse) {
                EXPECT_NE(outcome.refused, "") << "sm_" << architecture << ": take it out of "
                                               << "recorded/not_executed.txt";
            } else {
                EXPECT_EQ(outcome.refused, "") << "sm_" << architecture << ", " << threads;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Execute, testing::ValuesIn(launch_files()), [](const auto& one) {
    std::string name = one.param.stem().string();
    std::ranges::replace_if(
        name, [](char c) { return !std::isalnum(c); }, '_');
    return name;
});

// Architectures of which a few kernels are recorded.
TEST(ExecuteMore, LeavesTheSameMemoryAsTheCpu) {
    for (const char* name : {"options", "matmul_half", "reduction"}) {
        const LaunchPlan plan = read_launches(kernels_folder() / (std::string(name) + ".yaml"));
        const std::vector<Buffer> cpu = run_on_cpu(plan);
        for (const int architecture : {86, 89}) {
            const Outcome outcome = run(plan, recorded_code(plan, architecture), 2, cpu);
            EXPECT_EQ(outcome.refused, "") << name << " on sm_" << architecture;
            EXPECT_EQ(outcome.difference, "") << name << " on sm_" << architecture;
        }
    }
}

// Four phases in one launch, with a barrier of the grid between them, leave what four launches do.
TEST(ExecuteGridBarrier, GroupsWaitForEachOther) {
    LaunchPlan plan = read_launches(kernels_folder() / "grid_barrier.yaml");
    const std::vector<Buffer> cpu = run_on_cpu(plan);
    plan.steps.resize(1);
    auto& launch = std::get<KernelLaunch>(plan.steps.front());
    for (const int architecture : architectures) {
        const isa::Cubin cubin = recorded_code(plan, architecture);
        launch.arguments[5].text = "4";
        launch.arguments[3].text = "-1";
        const Outcome outcome = run(plan, cubin, 4, cpu);
        EXPECT_EQ(outcome.refused, "") << "sm_" << architecture;
        EXPECT_EQ(outcome.difference, "") << "sm_" << architecture;
        launch.arguments[3].text = "5";  // never comes to the barrier
        EXPECT_THAT(run(plan, cubin, 4, cpu).refused, testing::HasSubstr("goes in circles"))
            << "sm_" << architecture;
    }
}

TEST(ExecuteGridBarrier, CountsTheBarriersThatTheAssemblerNotes) {
    const LaunchPlan plan = read_launches(kernels_folder() / "grid_barrier.yaml");
    for (const int architecture : architectures) {
        const isa::Cubin cubin = recorded_code(plan, architecture);
        EXPECT_EQ(cubin.kernel("grid_barrier").barriers, 1) << "sm_" << architecture;
    }
}

TEST(ExecuteGridBarrier, TakesAllGroupsAndNoMoreThanADeviceHolds) {
    const isa::Cubin cubin =
        recorded_code(read_launches(kernels_folder() / "grid_barrier.yaml"), 90);
    const isa::Kernel& kernel = cubin.kernel("grid_barrier");
    isa::GlobalMemory memory;
    isa::LoadedModule module(cubin, memory);
    const std::vector<std::byte> parameters(static_cast<std::size_t>(*kernel.bank_0_bytes));
    const auto refusal = [&](std::uint32_t grid, std::vector<std::uint64_t> groups) -> std::string {
        try {
            isa::execute(module, kernel, {.grid = {grid, 1, 1}}, parameters, {.groups = groups});
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(refusal(3, {0, 2}).find("2 of 3 cannot run without the others"), std::string::npos);
    EXPECT_NE(refusal(8193, {}).find("no device holds more than 8192"), std::string::npos);
}

TEST(ExecuteClusters, AreRefused) {
    const isa::Cubin cubin =
        recorded_code(read_launches(kernels_folder() / "grid_barrier.yaml"), 90);
    const isa::Kernel& kernel = cubin.kernel("in_clusters");
    EXPECT_EQ(kernel.cluster, (std::array<std::uint32_t, 3>{2, 3, 1}));
    isa::GlobalMemory memory;
    isa::LoadedModule module(cubin, memory);
    const std::vector<std::byte> parameters(static_cast<std::size_t>(*kernel.bank_0_bytes));
    EXPECT_THROW(isa::execute(module, kernel, {.grid = {2, 3, 1}}, parameters), InputError);
}

// Debug builds: functions in sections of their own, called at addresses that a linker puts in, each
// with a check of the stack's end; calls of assertions that no thread makes.
TEST(ExecuteDebugBuilds, LeavesTheSameMemoryAsTheCpu) {
    for (const char* name : {"virtual_calls", "dispatch_table", "recursive_descent",
                             "half_division", "video_bytes", "linked_data"}) {
        const LaunchPlan plan = read_launches(kernels_folder() / (std::string(name) + ".yaml"));
        const std::vector<Buffer> cpu = run_on_cpu(plan);
        for (const int architecture : {75, 90, 120}) {
            const isa::Cubin cubin = recorded_code(plan, architecture, "debug/");
            const Outcome outcome = run(plan, cubin, 2, cpu);
            EXPECT_EQ(outcome.refused, "") << name << " on sm_" << architecture;
            EXPECT_EQ(outcome.difference, "") << name << " on sm_" << architecture;
            for (const isa::Kernel& kernel : cubin.kernels) {
                EXPECT_EQ(kernel.is_function, !kernel.bank_0_bytes.has_value()) << kernel.name;
                EXPECT_LE(isa::own_instructions(kernel), kernel.code.size());
            }
        }
    }
}

// A relocation that goes elsewhere shows.
TEST(ExecuteDebugBuilds, AWrongAddressIsNoticed) {
    int noticed = 0, planted = 0;
    std::string missed;
    const auto plant = [&](const char* name, std::string_view prefix) {
        const LaunchPlan plan = read_launches(kernels_folder() / name);
        const std::vector<Buffer> cpu = run_on_cpu(plan);
        const isa::Cubin right = recorded_code(plan, 90, "debug/");
        for (const auto& [section, relocations] : right.relocations) {
            if (!section.starts_with(prefix)) continue;
            for (std::size_t i = 0; i < relocations.size() && i < 12; ++i) {
                isa::Cubin wrong = right;
                isa::Relocation& one = wrong.relocations.at(section)[i];
                if (one.symbol.is_foreign_function) continue;
                // Far off in both halves of an address: relocations fill in either.
                one.addend = one.addend.value_or(0) + 0x1'0700'0010;
                ++planted;
                const Outcome outcome = run(plan, wrong, 1, cpu);
                const bool seen = !outcome.refused.empty() || !outcome.difference.empty();
                noticed += seen;
                if (!seen) missed += fmt::format("{} {:#x}\n", section, one.offset);
            }
        }
    };
    plant("dispatch_table.yaml", ".text.");
    plant("linked_data.yaml", ".nv.global.init");
    plant("linked_data.yaml", ".nv.constant3");
    EXPECT_GT(planted, 20);
    EXPECT_EQ(noticed, planted) << missed;
}

// Whatever number of steps a warp may take at a time: locks between lanes and between warps, parts
// of warps that meet elsewhere.
TEST(ExecuteTurns, OfAnyLength) {
    for (const char* name : {"spin_locks", "two_locks", "stragglers", "lookback_scan", "backtrack",
                             "pipeline_roles"}) {
        const LaunchPlan plan = read_launches(kernels_folder() / (std::string(name) + ".yaml"));
        const std::vector<Buffer> cpu = run_on_cpu(plan);
        for (const int architecture : {75, 80, 120}) {
            for (std::uint32_t turn = 1; turn <= 40; ++turn) {
                // Of 5 steps is the shortest loop of a lock, so that turns end where it ends.
                if (!thinned::all_cases() && turn != 1 && turn != 5 && turn != 37) continue;
                const isa::Cubin cubin = recorded_code(plan, architecture);
                MachineCode target(cubin, 1, turn);
                std::string what;
                try {
                    what = difference(cpu, run_plan(plan, target));
                } catch (const InputError& error) {
                    what = error.what();
                }
                EXPECT_EQ(what, "") << name << " on sm_" << architecture << ", turns of " << turn;
            }
        }
    }
}

// Each floating-point instruction of a kernel with the sign of an operand turned, one at a time.
TEST(ExecuteNotices, ATurnedSign) {
    for (const auto& [name, opcode] : {std::pair{"saxpy", "FFMA"}, std::pair{"hotspot", "FADD"},
                                       std::pair{"jacobi", "DADD"}, std::pair{"nbody", "FFMA"}}) {
        const LaunchPlan plan = read_launches(kernels_folder() / (std::string(name) + ".yaml"));
        const std::vector<Buffer> cpu = run_on_cpu(plan);
        isa::Cubin cubin = recorded_code(plan, 90);
        int noticed = 0, turned = 0;
        for (isa::Kernel& kernel : cubin.kernels) {
            for (std::size_t i = 0; i < kernel.code.size(); ++i) {
                const auto at = static_cast<std::int64_t>(i * isa::instruction_bytes);
                if (isa::decode(kernel.code[i], at, 90).opcode != opcode) continue;
                const isa::Word before = kernel.code[i];
                kernel.code[i].high ^= std::uint64_t{1} << (72 - 64);  // sign of the first source
                if (isa::decode(kernel.code[i], at, 90).unknown.empty()) {
                    ++turned;
                    noticed += run(plan, cubin, 1, cpu).difference.empty() ? 0 : 1;
                }
                kernel.code[i] = before;
                if (turned == 12) break;
            }
        }
        EXPECT_GT(turned, 0) << name;
        // A sign may not show: of a zero, of a value that a comparison leaves out.
        EXPECT_GE(noticed, (turned + 1) / 2) << name << ", of " << turned;
        RecordProperty(name, fmt::format("{} of {}", noticed, turned));
    }
}

// Barriers in shared memory: an arrival that does not take place, a count that is not set. Threads
// wait for ever then, or go on too early.
TEST(ExecuteNotices, ABarrierInMemoryThatIsNotServed) {
    const LaunchPlan plan = read_launches(kernels_folder() / "memory_barriers.yaml");
    const std::vector<Buffer> cpu = run_on_cpu(plan);
    for (const int architecture : {80, 90, 120}) {
        isa::Cubin cubin = recorded_code(plan, architecture);
        MachineCode right(cubin, 1);
        run_plan(plan, right);
        int planted = 0;
        for (isa::Kernel& kernel : cubin.kernels) {
            const std::vector<std::uint64_t>& ran = right.executed[kernel.name];
            for (std::size_t i = 0; i < ran.size(); ++i) {
                const auto at = static_cast<std::int64_t>(i * isa::instruction_bytes);
                const isa::Instruction one = isa::decode(kernel.code[i], at, architecture);
                const bool serves = one.opcode == "ARRIVES" || one.has("ARRIVE") ||
                                    (one.opcode == "SYNCS" && one.has("EXCH"));
                if (ran[i] == 0 || !serves) continue;
                const isa::Word before = kernel.code[i];
                kernel.code[i] = {0x0000000000007918, before.high};  // NOP
                ++planted;
                const Outcome outcome = run(plan, cubin, 1, cpu);
                EXPECT_FALSE(outcome.difference.empty() && outcome.refused.empty())
                    << "sm_" << architecture << " " << isa::to_text(one, architecture);
                kernel.code[i] = before;
            }
        }
        EXPECT_GT(planted, 3) << "sm_" << architecture;
    }
}

// One bit of an executed instruction turned over, where that is another instruction to the decoder:
// most of these faults leave other memory, or are refused. Those that do not read a register that
// holds zero as well, or shift by 32 more, or jump where nobody goes; instructions are also tested
// one by one for that (tests/isa/machine).
TEST(ExecuteNotices, SingleBits) {
    std::mt19937_64 random(1);
    int kernels = 0, wrong = 0, refused = 0, unnoticed = 0;
    for (const int architecture :
         thinned::all_cases() ? std::vector{75, 90, 120} : std::vector{90}) {
        for (const std::filesystem::path& path : launch_files()) {
            const LaunchPlan plan = read_launches(path);
            if (not_executed(path.stem().string(), architecture)) continue;
            isa::Cubin cubin = recorded_code(plan, architecture);
            const std::vector<Buffer> cpu = run_on_cpu(plan);
            MachineCode right(cubin, 1);
            run_plan(plan, right);
            if (right.warp_instructions > 60'000) continue;  // for the time that it takes
            ++kernels;
            for (isa::Kernel& kernel : cubin.kernels) {
                const std::vector<std::uint64_t>& ran = right.executed[kernel.name];
                const int faults = thinned::all_cases() ? 8 : 2;
                for (int made = 0, tries = 0; made < faults && tries < 200 && !ran.empty();
                     ++tries) {
                    const std::size_t i = random() % ran.size(), bit = random() % 105;
                    if (ran[i] == 0) continue;
                    const auto at = static_cast<std::int64_t>(i * isa::instruction_bytes);
                    const isa::Word before = kernel.code[i];
                    const auto text = [&] {
                        const isa::Instruction one = isa::decode(kernel.code[i], at, architecture);
                        return one.unknown.empty() ? isa::to_text(one, architecture) : "";
                    };
                    const std::string was = text();
                    (bit < 64 ? kernel.code[i].low : kernel.code[i].high) ^= std::uint64_t{1}
                                                                             << bit % 64;
                    if (!text().empty() && text() != was) {
                        ++made;
                        const Outcome outcome = run(plan, cubin, 1, cpu);
                        wrong += outcome.difference.empty() ? 0 : 1;
                        refused += outcome.refused.empty() ? 0 : 1;
                        unnoticed += outcome.difference.empty() && outcome.refused.empty();
                    }
                    kernel.code[i] = before;
                }
            }
        }
    }
    std::cout << fmt::format(
        "{} launch files: {} faults left other memory, {} were refused, {} {}\n", kernels, wrong,
        refused, unnoticed, "went unnoticed");
    EXPECT_GT(kernels, 30);
    EXPECT_GT(wrong + refused, unnoticed);
}

}  // namespace
}  // namespace occupipe::test
