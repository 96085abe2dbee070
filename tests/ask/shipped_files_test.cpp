// SPDX-License-Identifier: MIT
#include "ask/shipped_files.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "core/error.h"
#include "core/files/files.h"

namespace occupipe::analysis {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string reason(const std::function<void()>& call) {
    try {
        call();
    } catch (const InputError& error) {
        return error.what();
    }
    return "nothing was wrong";
}

TEST(ShippedFiles, AreFoundByNameWhateverTheCase) {
    EXPECT_EQ(shipped_profile("rtx-2070").filename(), "nvidia-rtx-2070.yaml");
    EXPECT_EQ(shipped_profile("NVIDIA-RTX-2070").filename(), "nvidia-rtx-2070.yaml");
    EXPECT_EQ(shipped_kernel("saxpy").filename(), "saxpy.yaml");
    // A profile among the kernels is found as what it is.
    EXPECT_EQ(shipped_profile("mmul_fermi").filename(), "mmul_fermi.yaml");
    EXPECT_THAT(reason([] { shipped_kernel("mmul_fermi"); }),
                AllOf(HasSubstr("nor a shipped kernel"), Not(HasSubstr("mmul_pascal"))));
}

TEST(ShippedFiles, WhatLooksLikeAPathIsLeftToTheReader) {
    EXPECT_EQ(shipped_profile("none.yaml"), "none.yaml");
    EXPECT_EQ(shipped_profile("some/where"), "some/where");
}

TEST(ShippedFiles, AnUnknownNameIsRefusedWithItsNeighbours) {
    EXPECT_THAT(reason([] { shipped_profile("rtx-207"); }),
                HasSubstr("neither a file nor a shipped profile; near: nvidia-rtx-2070"));
    EXPECT_THAT(reason([] { shipped_kernel("sxpy"); }), HasSubstr("near: saxpy"));
}

// Every reader says what it was given instead.
TEST(ShippedFiles, AFileOfAnotherKindIsCalledByItsName) {
    const std::string measurements = "{\"context\": {}, \"benchmarks\": []}";
    const std::string kernel = "format: occupipe-kernel/1\nname: k\ninstructions: []\n";
    const std::string profile = "# a comment\nformat: occupipe-profile/1\n";
    EXPECT_THAT(
        reason([&] { parse_profile(measurements, "m.json"); }),
        HasSubstr("m.json:1:1: this is a measurement file; fit it first: occupipe fit m.json"));
    EXPECT_THAT(reason([&] { parse_profile(kernel, "k.yaml"); }),
                HasSubstr("k.yaml:1:9: format: unknown format: this is a kernel"));
    EXPECT_THAT(reason([&] { parse_kernel(profile, "p.yaml"); }),
                HasSubstr("p.yaml:2:9: format: unknown format: this is a GPU profile"));
    EXPECT_THAT(reason([&] { parse_kernel(measurements, "m.json"); }),
                HasSubstr("this is a measurement file, not a kernel"));
    EXPECT_THAT(reason([&] { parse_measurements(profile, "p.yaml"); }),
                HasSubstr("not valid JSON: this is a GPU profile"));
}

}  // namespace
}  // namespace occupipe::analysis
