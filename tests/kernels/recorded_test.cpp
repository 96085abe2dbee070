// SPDX-License-Identifier: MIT
// The recorded machine code is that of the kernels as they stand, and all of it is understood.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "isa/cubin.h"
#include "isa/decode.h"
#include "tests/kernels/run_on_cpu.h"

namespace occupipe::test {
namespace {

constexpr int architectures[] = {75, 80, 90, 100, 120};

std::filesystem::path recorded() { return kernels_folder() / "recorded"; }

// FNV-1a, as tools/record_kernels.py computes it.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value;
}

TEST(RecordedKernels, AreOfTheTextsAsTheyStand) {
    const std::string listing = read_text_file(recorded() / "compiler.txt");
    std::size_t kernels = 0;
    for (const auto& entry : std::filesystem::directory_iterator(kernels_folder())) {
        if (entry.path().extension() != ".cu") continue;
        ++kernels;
        const std::string line = fmt::format("{:016x} {}\n", hash_of(read_text_file(entry.path())),
                                             entry.path().filename().string());
        EXPECT_NE(listing.find(line), std::string::npos)
            << entry.path().filename() << " has changed: run tools/record_kernels.py";
    }
    EXPECT_GT(kernels, 0U);
}

// What isa/ does not read yet on an architecture, from recorded/gaps.txt; a line goes when it does.
std::set<std::string> gaps_of(int architecture) {
    std::set<std::string> found;
    std::istringstream lines(read_text_file(recorded() / "gaps.txt"));
    const std::string wanted = fmt::format(" {} ", architecture);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) continue;
        const std::size_t bar = line.find('|');  // " 75 80 |BREAK: bit 72 is set"
        if (bar == std::string::npos) throw std::logic_error("gaps.txt: " + line);
        if (line.substr(0, bar).find(wanted) != std::string::npos)
            found.insert(line.substr(bar + 1));
    }
    return found;
}

class Recorded : public testing::TestWithParam<int> {};

TEST_P(Recorded, AllInstructionsAreUnderstood) {
    const std::set<std::string> gaps = gaps_of(GetParam());
    std::set<std::string> unknown;
    for (const std::filesystem::path& path : launch_files()) {
        const LaunchPlan plan = read_launches(path);
        const std::string name = std::filesystem::path(plan.source).stem().string() + ".cubin";
        const isa::Cubin cubin =
            isa::read_cubin(read_text_file(recorded() / fmt::format("sm_{}", GetParam()) / name));
        ASSERT_EQ(cubin.architecture, GetParam()) << name;
        for (const PlanStep& step : plan.steps) {
            const auto* const launch = std::get_if<KernelLaunch>(&step);
            if (!launch) continue;
            const isa::Kernel& kernel = cubin.kernel(launch->kernel);
            EXPECT_EQ(kernel.parameters.size(), launch->arguments.size()) << launch->kernel;
        }
        for (const isa::Kernel& kernel : cubin.kernels) {
            for (const isa::Instruction& one : isa::decode(kernel.code, GetParam())) {
                if (one.unknown.empty()) continue;
                const std::string what = fmt::format("{}: {}", one.opcode, one.unknown);
                if (unknown.insert(what).second && !gaps.contains(what))
                    ADD_FAILURE() << name << " " << kernel.name << ": " << what;
            }
        }
    }
    EXPECT_EQ(unknown, gaps);
}

INSTANTIATE_TEST_SUITE_P(Architectures, Recorded, testing::ValuesIn(architectures),
                         [](const auto& one) { return fmt::format("sm_{}", one.param); });

}  // namespace
}  // namespace occupipe::test
