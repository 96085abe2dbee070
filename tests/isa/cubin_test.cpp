// SPDX-License-Identifier: MIT
#include "isa/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/error.h"
#include "isa/decode.h"
#include "tests/isa/make_cubin.h"

namespace occupipe::isa {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// EXIT; a branch to itself; NOP
const std::vector<Word> code = {{0x000000000000794d, 0x000fea0003800000},
                                {0xfffffffc00fc7947, 0x000fc0000383ffff},
                                {0x0000000000007918, 0x000fc00000000000}};

test::MadeCubin made() {
    test::MadeCubin cubin;
    cubin.code = code;
    cubin.constants = "0123";
    return cubin;
}

std::string refusal(const std::string& bytes) {
    try {
        read_cubin(bytes);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Cubin, TellsWhatIsInIt) {
    const Cubin cubin = read_cubin(made().bytes());
    EXPECT_EQ(cubin.architecture, 90);
    EXPECT_EQ(cubin.constants.at(".nv.constant3"), "0123");
    ASSERT_EQ(cubin.kernels.size(), 1u);
    const Kernel& kernel = cubin.kernel("saxpy");
    EXPECT_EQ(kernel.code, code);
    EXPECT_EQ(kernel.registers, 10);
    EXPECT_EQ(kernel.stack_bytes, 0);
    EXPECT_EQ(kernel.shared_bytes, 256);
    EXPECT_EQ(kernel.bank_0_base, 0x210);
    EXPECT_EQ(kernel.bank_0_bytes, 12);
    EXPECT_THAT(kernel.parameters, ElementsAre(Parameter{0, 0, 8}, Parameter{1, 8, 4}));
}

TEST(Cubin, RefusesAnUnknownKernelWithTheNamesOfThoseThereAre) {
    try {
        read_cubin(made().bytes()).kernel("saxpi");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no kernel 'saxpi' in it; there are: saxpy"));
    }
    EXPECT_THROW(read_kernel(made().bytes(), "saxpi"), InputError);
}

TEST(Cubin, RefusesWhatIsNotOne) {
    EXPECT_THAT(refusal(""), HasSubstr("no ELF64 header"));
    EXPECT_THAT(refusal("\177ELF"), HasSubstr("no ELF64 header"));
    EXPECT_THAT(refusal(std::string(4096, '\0')), HasSubstr("no ELF64 header"));
    EXPECT_THAT(refusal(std::string(4096, '\377')), HasSubstr("no ELF64 header"));
    test::MadeCubin huge = made();
    huge.shared_bytes = std::int64_t{1} << 40;
    EXPECT_THAT(refusal(huge.bytes()), HasSubstr("too much shared memory"));
}

TEST(Cubin, EveryTruncationIsRefused) {
    const std::string whole = made().bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("not a usable cubin")) << size;
    }
}

TEST(Cubin, BrokenBytesNeverCrash) {
    const std::string whole = made().bytes();
    std::mt19937 random(17);
    int usable = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes = whole;
        for (int n = 0; n < 1 + i % 4; ++n) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        usable += refusal(bytes).empty();
    }
    EXPECT_GT(usable, 100);
    EXPECT_LT(usable, 19000);
}

}  // namespace
}  // namespace occupipe::isa
