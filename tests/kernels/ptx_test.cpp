// SPDX-License-Identifier: MIT
// A second oracle of the executor: the kernels' PTX, interpreted (tests/ptx, written from the PTX
// ISA and apart from isa/machine), leaves the same bytes in every buffer as the machine code that
// was made from it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "tests/kernels/machine_code.h"
#include "tests/ptx/machine.h"
#include "tests/ptx/program.h"
#include "tests/support/thinned.h"

namespace occupipe::test {
namespace {

constexpr int architecture = 80;  // what the PTX was made for

std::filesystem::path ptx_folder() { return kernels_folder() / "recorded/ptx"; }

class Interpreted : public PlanTarget {
public:
    explicit Interpreted(std::string text) : text_(std::move(text)) {}

    void add(const Buffer& buffer) override { place(buffer.name, buffer.bytes); }
    std::span<std::byte> content(const std::string& buffer) override {
        return memory(buffer).bytes;
    }
    std::uint64_t address(const std::string& buffer) override { return memory(buffer).address; }
    std::span<std::byte> symbol(const std::string& name) override {
        place_variables(ptx::parse(text_));
        return memory("variable:" + name).bytes;
    }

    void launch(const KernelLaunch& launch, const std::vector<Argument>& arguments) override {
        const auto [found, is_new] = programs_.try_emplace(launch.kernel);
        if (is_new) found->second = ptx::parse(text_, launch.kernel);
        place_variables(found->second);
        ptx::Launch how;
        how.grid = {launch.grid[0], launch.grid[1], launch.grid[2]};
        how.block = {launch.block[0], launch.block[1], launch.block[2]};
        how.shared_bytes = launch.shared_bytes;
        how.reads_unwritten = true;
        how.most_steps = most_steps;
        for (const Argument& one : arguments) how.argument_bytes.push_back(one.bytes);
        ptx::run(found->second, how, buffers_);
    }

    static constexpr std::int64_t most_steps = 400'000;  // instructions of warps

private:
    ptx::Buffer& memory(const std::string& name) {
        const auto found = std::ranges::find(buffers_, name, &ptx::Buffer::name);
        if (found == buffers_.end()) throw ptx::NotUnderstood("no memory " + name);
        return *found;
    }

    void place(const std::string& name, const std::vector<std::byte>& bytes) {
        buffers_.push_back({.name = name, .address = next_, .bytes = bytes});
        next_ += (bytes.size() + 0xffff) / 0x10000 * 0x10000 + 0x10000;
    }

    // Variables of the module keep their values from launch to launch.
    void place_variables(const ptx::Program& program) {
        for (const auto& [name, variable] : program.variables) {
            if (variable.space != "global" && variable.space != "const") continue;
            const std::string own = "variable:" + name;
            if (std::ranges::find(buffers_, own, &ptx::Buffer::name) != buffers_.end()) continue;
            std::vector<std::byte> bytes = variable.content;
            bytes.resize(variable.bytes);
            place(own, bytes);
        }
    }

    std::string text_;
    std::map<std::string, ptx::Program> programs_;
    std::vector<ptx::Buffer> buffers_;
    std::uint64_t next_ = 0x7000'0000'0000;
};

// Lines of recorded/ptx/not_interpreted.txt: "NAME: why".
std::map<std::string, std::string> not_interpreted() {
    std::map<std::string, std::string> all;
    std::istringstream lines(read_text_file(ptx_folder() / "not_interpreted.txt"));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (colon != line.npos) all[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return all;
}

class PtxOracle : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PtxOracle, LeavesTheSameMemoryAsTheMachineCode) {
    const LaunchPlan plan = read_launches(GetParam());
    const std::string name = std::filesystem::path(plan.source).stem().string();
    const auto excused = not_interpreted();
    const auto why_not = excused.find(GetParam().stem().string());
    if (why_not != excused.end() && !thinned::all_cases()) GTEST_SKIP() << why_not->second;
    const isa::Cubin cubin = recorded_code(plan, architecture);
    MachineCode machine(cubin, 1);
    std::string found;
    try {
        const std::vector<Buffer> executed = run_plan(plan, machine);
        if (machine.warp_instructions > 40'000 && !thinned::all_cases()) {
            GTEST_SKIP() << "takes long: in the full run alone";
        }
        Interpreted target(read_text_file(ptx_folder() / (name + ".ptx")));
        found = difference(run_plan(plan, target), executed, "PTX");
    } catch (const std::exception& error) {
        found = error.what();
    }
    if (why_not == excused.end()) {
        EXPECT_EQ(found, "");
    } else {
        EXPECT_NE(found, "") << "take it out of recorded/ptx/not_interpreted.txt";
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PtxOracle, testing::ValuesIn(launch_files()),
                         [](const auto& one) {
                             std::string name = one.param.stem().string();
                             std::ranges::replace_if(
                                 name, [](char c) { return !std::isalnum(c); }, '_');
                             return name;
                         });

}  // namespace
}  // namespace occupipe::test
