// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/files/files.h"
#include "isa/containers/decompress.h"
#include "isa/containers/device_images.h"
#include "isa/cubin.h"

namespace occupipe::isa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string folder = std::string(OCCUPIPE_SOURCE_DIR) + "/tests/containers/";

std::string stored(const std::string& name) { return read_text_file(folder + name); }

std::vector<std::string> names(const std::vector<DeviceImage>& images) {
    std::vector<std::string> all;
    for (const DeviceImage& one : images) all.push_back(one.name());
    return all;
}

// What broken input is refused with; "fine" where it is read.
template <typename Read>
std::string refusal(Read read) {
    try {
        read();
    } catch (const InputError& error) {
        return error.what();
    }
    return "fine";
}

TEST(DeviceImages, AreUnpacked) {
    const auto zstd = device_images(stored("zstd.fatbin"));
    const auto lz4 = device_images(stored("lz4.fatbin"));
    EXPECT_THAT(names(zstd), ElementsAre("sm_75", "sm_90", "PTX of compute_90"));
    ASSERT_EQ(names(lz4), names(zstd));
    // Machine code lies there as it is with LZ4, so that what zstd gives can be compared.
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(lz4[i].bytes, zstd[i].bytes);
        const Cubin cubin = read_cubin(zstd[i].bytes);
        ASSERT_EQ(cubin.kernels.size(), 1u);
        EXPECT_EQ(cubin.kernels[0].name, "sums");
        EXPECT_FALSE(zstd[i].relocatable);
    }
    EXPECT_EQ(lz4[2].bytes, zstd[2].bytes);
    EXPECT_THAT(lz4[2].bytes, HasSubstr(".visible .entry sums("));
    EXPECT_EQ(ptx_target(lz4[2].bytes), "sm_90");
}

TEST(DeviceImages, AreFoundInHostFiles) {
    const std::string object = stored("host.o");
    EXPECT_TRUE(is_host_object(object));
    EXPECT_THAT(names(device_images(object)), ElementsAre("sm_75", "PTX of compute_75"));
    // Of an archive, or a program of another system: whatever stands around them.
    const auto two =
        device_images("!<arch>\n" + stored("zstd.fatbin") + "\x50\xed\x55\xba" + object);
    EXPECT_EQ(two.size(), 5u);
    EXPECT_EQ(two.back().container, 1u);
    EXPECT_TRUE(is_cubin(stored("linked.sm_87.cubin")));
    EXPECT_TRUE(device_images(stored("linked.sm_87.cubin")).empty());
    EXPECT_TRUE(device_images("").empty());
}

TEST(DeviceImages, RefuseWhatIsBroken) {
    const std::string whole = stored("zstd.fatbin");
    const auto read = [](const std::string& bytes) {
        return refusal([&] { device_images(bytes); });
    };
    EXPECT_EQ(read(whole), "fine");
    EXPECT_THAT(read(whole.substr(0, whole.size() - 8)), HasSubstr("beyond the end of the file"));
    std::string longer = whole;
    longer[16 + 8] = '\xff';  // of the first entry
    longer[16 + 9] = '\xff';
    EXPECT_THAT(read(longer), HasSubstr("entries reach beyond its end"));
    std::string garbled = whole;
    garbled[16 + 64] ^= 1;  // zstd's own magic number
    EXPECT_THAT(read(garbled), HasSubstr("compressed code is broken"));
    std::string larger = whole;
    larger[16 + 56 + 3] = '\x7f';  // claims 2 GB
    EXPECT_THAT(read(larger), HasSubstr("compressed code is broken"));
}

TEST(Lz4, FollowsItsFormat) {
    using namespace std::string_literals;
    EXPECT_EQ(unpack_lz4("\x50hello", 5), "hello");
    // Four letters, then 4 + 15 + 2 bytes from 4 before, which overlap what they make.
    EXPECT_EQ(unpack_lz4("\x4f\x61\x62\x63\x64\x04\x00\x02"s, 25), "abcdabcdabcdabcdabcdabcda");
    EXPECT_THAT(refusal([] { unpack_lz4("\x50hell", 5); }), HasSubstr("broken"));
    EXPECT_THAT(refusal([] { unpack_lz4("\x50hello", 4); }), HasSubstr("broken"));
    EXPECT_THAT(refusal([] { unpack_lz4("\x10\x61\x02\x00"s, 9); }), HasSubstr("broken"));
    EXPECT_THAT(refusal([] { unpack_lz4("\x10\x61\x00\x00"s, 9); }), HasSubstr("broken"));
    EXPECT_THAT(refusal([] { unpack_lz4("", 1); }), HasSubstr("broken"));
}

TEST(PtxTexts, PassOverWhatCuobjdumpPrints) {
    const std::vector<std::string> texts = ptx_texts(stored("dump.ptx"));
    ASSERT_EQ(texts.size(), 2u);
    EXPECT_EQ(ptx_target(texts[0]), "sm_75");
    EXPECT_EQ(ptx_target(texts[1]), "sm_90");
    for (const std::string& one : texts) {
        EXPECT_THAT(one, StartsWith(".version"));
        EXPECT_THAT(one, Not(HasSubstr("Fatbin")));
        EXPECT_THAT(one, HasSubstr("ret;"));
    }
    // A comment, or a name, that has the word in it begins nothing.
    const std::string plain =
        "// .version 1.0\n.version 8.0\n.target sm_75\n// of .version .target\n";
    EXPECT_THAT(ptx_texts("\n" + plain), ElementsAre(plain.substr(plain.find('\n') + 1)));
    EXPECT_THAT(ptx_texts("no PTX"), ElementsAre("no PTX"));
    EXPECT_EQ(ptx_target("no PTX"), "");
}

TEST(RelocatableCode, HasPlacesForSharedArrays) {
    for (const int number : {75, 90, 120}) {
        const Cubin cubin =
            read_cubin(stored("relocatable.sm_" + std::to_string(number) + ".cubin"));
        EXPECT_EQ(own_shared_bytes(cubin.kernels.at(0), number), 256);
    }
}

TEST(CubinHeaders, NameArchitecturesThatAreNotRead) {
    const Cubin cubin = read_cubin(stored("linked.sm_87.cubin"));
    EXPECT_FALSE(cubin.architecture);
    EXPECT_EQ(cubin.named_architecture, 87);
}

}  // namespace
}  // namespace occupipe::isa
