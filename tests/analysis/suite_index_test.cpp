// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "analysis/validation/suite.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/files/launch_files.h"
#include "tests/support/temporary_folder.h"

namespace occupipe::analysis {
namespace {

using testing::HasSubstr;

std::filesystem::path repository() { return OCCUPIPE_SOURCE_DIR; }

bool launches(const std::filesystem::path& file, const std::string& kernel) {
    const LaunchPlan plan = read_launches(file);
    return std::ranges::any_of(plan.steps, [&](const PlanStep& step) {
        if (const auto* one = std::get_if<KernelLaunch>(&step)) return one->kernel == kernel;
        const auto* repeat = std::get_if<RepeatSteps>(&step);
        return repeat && std::ranges::any_of(repeat->steps, [&](const PlanStep& inner) {
                   const auto* one = std::get_if<KernelLaunch>(&inner);
                   return one && one->kernel == kernel;
               });
    });
}

TEST(SuiteIndex, NamesKernelsThatAreThereAndLaunched) {
    const auto suite = read_suite(repository() / "kernels/suite.yaml");
    EXPECT_EQ(suite.size(), 29U);
    const std::string readme = read_text_file(repository() / "kernels/README.md");
    std::set<std::filesystem::path> sources;
    for (const SuiteKernel& one : suite) {
        EXPECT_THAT(read_text_file(one.source), HasSubstr(") " + one.name + "("));
        EXPECT_TRUE(launches(one.small, one.name)) << one.name;
        EXPECT_TRUE(launches(one.large, one.name)) << one.name;
        EXPECT_THAT(readme, HasSubstr("| `" + one.name + "` |"));
        sources.insert(one.source);
    }
    for (const auto& entry : std::filesystem::directory_iterator(repository() / "kernels"))
        if (entry.path().extension() == ".cu") {
            EXPECT_TRUE(sources.contains(entry.path())) << entry.path();
        }
}

// Table 9 of the analysis paper.
TEST(SuiteIndex, HasThePapersFourteen) {
    std::multiset<std::string> published;
    for (const SuiteKernel& one : read_suite(repository() / "kernels/suite.yaml"))
        if (!one.published.empty()) published.insert(one.published);
    EXPECT_EQ(published,
              (std::multiset<std::string>{
                  "Fan2", "nw_kernel1", "kmeans_kernel_c", "kmeans_swap", "lud_perimeter",
                  "lud_internal", "hotspot", "opt_srad1", "opt_srad2", "bpnn_layerforward_ocl",
                  "bpnn_adjust_weights_ocl", "compute_step_factor", "time_step", "compute_flux"}));
}

std::string refusal(const std::string& text) {
    const test::TemporaryFolder folder;
    write_text_file(folder.path / "suite.yaml", text, Overwrite::no);
    try {
        read_suite(folder.path / "suite.yaml");
    } catch (const InputError& error) {
        return error.what();
    }
    return "taken";
}

TEST(SuiteIndex, RefusesWhatIsWrong) {
    const std::string head = "format: occupipe-suite/1\nkernels:\n";
    EXPECT_THAT(refusal("format: occupipe-suite/2\nkernels: []\n"), HasSubstr("unknown format"));
    EXPECT_THAT(refusal(head + "  - {name: a, about: b}\n"), HasSubstr("file"));
    EXPECT_THAT(refusal(head + "  - {name: a, file: b, about: c, wrong: d}\n"),
                HasSubstr("suite.yaml:3"));
    EXPECT_THAT(
        refusal(head + "  - {name: a, file: b, about: c}\n  - {name: a, file: b, about: c}\n"),
        HasSubstr("duplicate 'a'"));
}

TEST(SuiteIndex, FindsByNameAndListsNearOnes) {
    const auto suite = read_suite(repository() / "kernels/suite.yaml");
    EXPECT_EQ(find_suite_kernel(suite, "sgemm").source.filename(), "sgemm.cu");
    try {
        find_suite_kernel(suite, "sgem");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("near: sgemm"));
    }
}

}  // namespace
}  // namespace occupipe::analysis
