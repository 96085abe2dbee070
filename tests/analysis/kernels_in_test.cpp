// SPDX-License-Identifier: MIT
// Recorded machine code → kernels for the models: names, samples, launches.
#include "analysis/kernels_in.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bench/instructions/instruction_table.h"
#include "core/error.h"
#include "core/files/launch_files.h"
#include "extract/naming.h"
#include "isa/decode.h"
#include "tests/support/thinned.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int architectures[] = {75, 80, 90, 100, 120};
const fs::path folder = OCCUPIPE_SOURCE_DIR "/tests/kernels";

std::vector<fs::path> launch_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

KernelFile recorded(const LaunchPlan& plan, int architecture) {
    return read_kernel_file((folder / fmt::format("recorded/sm_{}/{}.cubin", architecture,
                                                  fs::path(plan.source).stem().string()))
                                .string(),
                            "", {});
}

// Of no instruction in the catalogue, and known to be so: what the benchmarks have not got.
const std::set<std::string> not_in_catalogue = {
    "machine.bmsk",   "machine.hmma", "machine.imma",     "machine.fchk",      "machine.hset2",
    "machine.hsetp2", "machine.sgxt", "machine.vabsdiff", "machine.vabsdiff4", "st.local.u32",
};

// Every instruction of every kernel, executed or not, has a name that is in the catalogue, is an
// issue slot, or is listed above.
TEST(KernelsIn, NameEveryInstructionOfAllKernels) {
    std::set<std::string> used;
    for (const int architecture : architectures)
        for (const auto& entry :
             fs::directory_iterator(folder / fmt::format("recorded/sm_{}", architecture))) {
            const KernelFile file = read_kernel_file(entry.path().string(), "", {});
            for (const isa::Kernel& kernel : file.cubin.kernels)
                for (const isa::Instruction& one : isa::decode(kernel.code, architecture)) {
                    if (one.opcode.empty()) continue;  // not read yet: recorded/gaps.txt
                    const std::string name = extract::profile_names(one).front();
                    const bool known = name == issue_slot || bench::find_row(name) != nullptr ||
                                       not_in_catalogue.contains(name);
                    EXPECT_TRUE(known) << entry.path() << " " << one.opcode << " is " << name;
                    if (not_in_catalogue.contains(name)) used.insert(name);
                }
        }
    EXPECT_EQ(used, not_in_catalogue);
}

TEST(KernelsIn, SamplesStandForAllGroups) {
    for (const std::uint64_t groups : {1, 2, 3, 9, 10, 11, 12, 42, 4096, 1'000'003})
        for (const std::uint64_t random : {1, 2, 8, 100}) {
            const auto sample = extract::sampled_groups(groups, random);
            double weight = 0;
            std::set<std::uint64_t> distinct;
            for (const extract::SampledGroup& one : sample) {
                EXPECT_LT(one.group, groups);
                distinct.insert(one.group);
                weight += one.weight;
            }
            EXPECT_EQ(weight, static_cast<double>(groups));
            EXPECT_EQ(distinct.size(), sample.size());
            EXPECT_EQ(sample.size(), std::min(groups, random + 2));
            EXPECT_TRUE(std::ranges::is_sorted(sample, {}, &extract::SampledGroup::group));
            EXPECT_EQ(sample.front().group, 0U);
            EXPECT_EQ(sample.back().group, groups - 1);
        }
    EXPECT_EQ(extract::sampled_groups(~std::uint64_t{0}, 8).back().group, ~std::uint64_t{0} - 1);
    EXPECT_THROW(extract::sampled_groups(100, 0), InputError);
}

double instructions_per_warp(const KernelIn& in) {
    double warps = 0, instructions = 0;
    for (const extract::WarpClass& one : in.streams.classes) {
        warps += one.weight;
        instructions += one.weight * static_cast<double>(one.instructions);
    }
    return instructions / warps;
}

class KernelsInOf : public testing::TestWithParam<fs::path> {};

// The oracle is the executor's own count of the whole launch.
TEST_P(KernelsInOf, SampleHasTheInstructionsOfAll) {
    const LaunchPlan plan = read_launches(GetParam());
    // Groups differ too much for ten of them.
    for (const char* irregular : {"life", "mandelbrot"})
        if (GetParam().stem() == irregular) GTEST_SKIP() << "needs a larger sample";
    for (const int architecture : {80, 120}) {
        if (!thinned::all_cases() && architecture != 80) continue;
        const KernelFile file = recorded(plan, architecture);
        KernelsInOptions options;
        for (options.step = 1;; ++options.step) {
            try {
                chosen_launch(plan, file.cubin, options);
            } catch (const InputError&) {
                break;
            }
            std::optional<KernelIn> all, sampled;
            try {
                options.sample.reset();
                all = kernel_in(plan, file, options);
                options.sample = 8;
                sampled = kernel_in(plan, file, options);
            } catch (const InputError&) {
                continue;  // what is not executed stands in recorded/not_executed.txt
            }
            ASSERT_EQ(all->seen.executed, all->seen.groups);
            const double exact = static_cast<double>(all->execution.warp_instructions) /
                                 static_cast<double>(all->execution.warps);
            EXPECT_NEAR(instructions_per_warp(*all), exact, 1e-9 * exact);
            EXPECT_NEAR(instructions_per_warp(*sampled), exact, 0.02 * exact)
                << all->kernel().name << ", launch " << options.step << ", "
                << sampled->seen.watched << " of " << sampled->seen.groups << " groups";
        }
        EXPECT_GT(options.step, 1U);
    }
}

std::string stem_of(const testing::TestParamInfo<fs::path>& one) {
    std::string name = one.param.stem().string();
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelsInOf, testing::ValuesIn(launch_files()), stem_of);

}  // namespace
}  // namespace occupipe::analysis
