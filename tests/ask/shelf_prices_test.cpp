// SPDX-License-Identifier: MIT
// Every machine instruction of the recorded kernels has a price on every card of the shelf whose
// code it is.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "ask/kernel_file.h"
#include "ask/kernels_in.h"
#include "ask/shipped_files.h"
#include "core/files/files.h"
#include "extract/naming.h"
#include "isa/decode.h"
#include "published/shelf.h"

namespace occupipe::analysis {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::set<std::string> names_of(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".cubin") continue;
        const KernelFile file = read_kernel_file(entry.path().string(), "", {});
        for (const isa::Kernel& kernel : file.cubin.kernels)
            for (const isa::Instruction& one : isa::decode(kernel.code, *file.cubin.architecture))
                if (!one.opcode.empty()) names.insert(extract::profile_names(one).front());
    }
    return names;
}

TEST(ShelfPrices, EveryInstructionOfOrdinaryKernelsHasOne) {
    for (const ShelfCard& card : built_in_shelf().cards) {
        const GpuProfile profile = shelf_profile(card);
        if (profile.device.vendor != "NVIDIA") continue;
        std::string code = architecture_of(profile);
        ASSERT_FALSE(code.empty()) << card.id;
        // Recorded: sm_80 stands for 86 and 89, sm_100 for 103.
        if (code == "sm_86" || code == "sm_89") code = "sm_80";
        if (code == "sm_103") code = "sm_100";
        for (const char* const folder : {"suite", "kernels"})
            for (const std::string& name :
                 names_of(fs::path(OCCUPIPE_SOURCE_DIR) / "tests" / folder / "recorded" / code))
                EXPECT_TRUE(profile.find_instruction(name)) << card.id << " has no " << name;
    }
}

TEST(NamedProfiles, AreFilesCardsAndDataSheets) {
    EXPECT_EQ(named_profile("A100").device.name, "NVIDIA A100-SXM4-40GB");
    EXPECT_EQ(named_profile("rtx-2070").instructions.size(), 11U);  // the paper's
    EXPECT_GT(named_profile("shelf:rtx-2070").instructions.size(), 100U);
    EXPECT_EQ(shelf_spelling("rtx-2070"), "shelf:rtx-2070");
    EXPECT_EQ(shelf_spelling("a100"), "a100");
    EXPECT_EQ(shelf_spelling("h100"), "shelf:h100");  // a measured one has the name
    EXPECT_EQ(named_profile("sm_90:cores=100,clock_hz=1.5e9,dram=2e12,l2=40MiB").cores, 100);
    const fs::path file = fs::path(testing::TempDir()) / "card.yaml";
    write_text_file(file,
                    "format: occupipe-card/1\nname: mine\ncompute_capability: \"8.9\"\ncores: 3\n"
                    "clock_hz: 1e9\ndram_bytes_per_second: 1e11\nl2_bytes: 1048576\n",
                    Overwrite::yes);
    EXPECT_EQ(named_profile(file.string()).device.name, "mine");
    EXPECT_NE(named_profile_text("a100").find("occupipe-profile/"), std::string::npos);
    try {
        named_profile("a1000");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("near: a100"));
    }
}

TEST(NamedProfiles, LendAutoMatchWhatItAsksFor) {
    GpuProfile paper = named_profile("rtx-2070");
    EXPECT_TRUE(lend_match(paper));
    EXPECT_EQ(paper.match, shelf_profile("rtx-2070")->match);
    EXPECT_FALSE(lend_match(paper));
    GpuProfile other = named_profile("quadro-k620");
    EXPECT_FALSE(lend_match(other));
}

}  // namespace
}  // namespace occupipe::analysis
